//! What a solver answers with when everything can hold at once: what each function is.

use std::collections::BTreeMap;

use super::sexp::Sexp;
use super::term::symbol;

/// More steps than any instance that is worth looking at takes.
const STEPS_MAX: usize = 100_000;

/// What each function is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    functions: BTreeMap<String, Function>,
}

#[derive(Clone, Debug, PartialEq)]
struct Function {
    parameters: Vec<String>,
    body: Sexp,
}

/// What a term comes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A number.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// A member of a declared sort, by the name that the solver gave it.
    Element(String),
}

impl Model {
    /// Takes the definitions out of an answer to `(get-model)`; `None` if it is none.
    pub(crate) fn read(answer: &Sexp) -> Option<Model> {
        let mut members = answer.members()?;
        if answer.begins("model") {
            members = &members[1..];
        }
        let mut functions = BTreeMap::new();
        for member in members.iter().filter(|member| member.begins("define-fun")) {
            let [_, name, parameters, _, body] = member.members()? else { return None };
            let parameter = |pair: &Sexp| Some(pair.members()?.first()?.word()?.to_owned());
            let parameters = parameters.members()?.iter().map(parameter).collect::<Option<_>>()?;
            let function = Function { parameters, body: body.clone() };
            functions.insert(name.word()?.to_owned(), function);
        }
        Some(Model { functions })
    }

    /// What a declared function comes to for these; `None` if the model does not say. A constant is
    /// a function of nothing.
    pub fn value(&self, name: &str, arguments: &[Value]) -> Option<Value> {
        let mut reading = Reading { model: self, steps: STEPS_MAX };
        reading.call(&symbol(name), arguments.to_vec(), 0)
    }

    /// The number that a function comes to.
    pub fn int(&self, name: &str, arguments: &[Value]) -> Option<i64> {
        match self.value(name, arguments)? {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }

    /// Whether a relation holds.
    pub fn holds(&self, name: &str, arguments: &[Value]) -> Option<bool> {
        match self.value(name, arguments)? {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }
}

/// An evaluation. A model is text from outside: what it does not say plainly is `None`.
struct Reading<'a> {
    model: &'a Model,
    steps: usize,
}

type Names<'a> = Vec<(&'a str, Value)>;

/// Calls and terms nested deeper than this are no model of a script of ours.
const DEPTH_MAX: usize = 1_500;

impl<'a> Reading<'a> {
    fn call(&mut self, name: &str, arguments: Vec<Value>, depth: usize) -> Option<Value> {
        let function = self.model.functions.get(name)?;
        if function.parameters.len() != arguments.len() {
            return None;
        }
        let names = function.parameters.iter().map(String::as_str).zip(arguments).collect();
        self.term(&function.body, &names, depth + 1)
    }

    fn term(&mut self, term: &'a Sexp, names: &Names<'a>, depth: usize) -> Option<Value> {
        self.steps = self.steps.checked_sub(1)?;
        if depth > DEPTH_MAX {
            return None;
        }
        match term {
            Sexp::Text(_) => None,
            Sexp::Atom(word) => self.atom(word, names, depth),
            Sexp::List(members) => {
                let (head, rest) = members.split_first()?;
                match head.word()? {
                    "let" => self.bind(rest, names, depth),
                    "as" => Some(Value::Element(rest.first()?.word()?.to_owned())),
                    "ite" => {
                        let [condition, then, otherwise] = rest else { return None };
                        let chosen = match self.term(condition, names, depth + 1)? {
                            Value::Bool(true) => then,
                            Value::Bool(false) => otherwise,
                            _ => return None,
                        };
                        self.term(chosen, names, depth + 1)
                    }
                    word => {
                        let value = |one| self.term(one, names, depth + 1);
                        let values = rest.iter().map(value).collect::<Option<Vec<Value>>>()?;
                        match self.model.functions.contains_key(word) {
                            true => self.call(word, values, depth),
                            false => operate(word, &values),
                        }
                    }
                }
            }
        }
    }

    fn atom(&mut self, word: &str, names: &Names<'a>, depth: usize) -> Option<Value> {
        if let Some((_, value)) = names.iter().rev().find(|(name, _)| *name == word) {
            return Some(value.clone());
        }
        match word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => {
                word.parse().ok().map(Value::Int)
            }
            _ if self.model.functions.contains_key(word) => self.call(word, Vec::new(), depth),
            _ => Some(Value::Element(word.to_owned())),
        }
    }

    fn bind(&mut self, rest: &'a [Sexp], names: &Names<'a>, depth: usize) -> Option<Value> {
        let [pairs, body] = rest else { return None };
        let mut inner = names.clone();
        for pair in pairs.members()? {
            let [name, term] = pair.members()? else { return None };
            inner.push((name.word()?, self.term(term, names, depth + 1)?));
        }
        self.term(body, &inner, depth + 1)
    }
}

fn operate(word: &str, values: &[Value]) -> Option<Value> {
    let ints = || values.iter().map(int).collect::<Option<Vec<i64>>>();
    let bools = || values.iter().map(truth).collect::<Option<Vec<bool>>>();
    let in_order = |holds: fn(i64, i64) -> bool| {
        Some(Value::Bool(ints()?.windows(2).all(|pair| holds(pair[0], pair[1]))))
    };
    match word {
        "and" => Some(Value::Bool(bools()?.into_iter().all(|truth| truth))),
        "or" => Some(Value::Bool(bools()?.into_iter().any(|truth| truth))),
        "not" => Some(Value::Bool(!truth(values.first()?)?)),
        "=>" => {
            let (last, before) = values.split_last()?;
            let before = before.iter().map(truth).collect::<Option<Vec<bool>>>()?;
            Some(Value::Bool(before.contains(&false) || truth(last)?))
        }
        "=" => Some(Value::Bool(values.windows(2).all(|pair| pair[0] == pair[1]))),
        "distinct" => {
            let mut sorted = values.to_vec();
            sorted.sort();
            sorted.dedup();
            Some(Value::Bool(sorted.len() == values.len()))
        }
        "<" => in_order(|left, right| left < right),
        "<=" => in_order(|left, right| left <= right),
        ">" => in_order(|left, right| left > right),
        ">=" => in_order(|left, right| left >= right),
        "+" => ints()?.into_iter().try_fold(0, i64::checked_add).map(Value::Int),
        "*" => ints()?.into_iter().try_fold(1, i64::checked_mul).map(Value::Int),
        "-" => match ints()?.split_first()? {
            (only, []) => only.checked_neg().map(Value::Int),
            (first, rest) => {
                rest.iter().try_fold(*first, |left, right| left.checked_sub(*right)).map(Value::Int)
            }
        },
        _ => None,
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn model(text: &str) -> Model {
        Model::read(&read(text).0[0]).unwrap()
    }

    #[test]
    fn both_solvers_ways_of_writing_are_understood() {
        let z3 = model(
            "((declare-fun Cpu!val!0 () Cpu) (define-fun a () Cpu Cpu!val!0)
              (define-fun f ((x!0 Cpu)) Int (ite (= x!0 Cpu!val!0) (- 3) (+ 1 1))))",
        );
        let a = z3.value("a", &[]).unwrap();
        assert_eq!(z3.int("f", std::slice::from_ref(&a)), Some(-3));
        assert_eq!(z3.int("f", &[Value::Element("Cpu!val!1".into())]), Some(2));
        assert_eq!(z3.int("f", &[]), None);
        assert_eq!(z3.int("g", &[a]), None);
        let cvc5 = model(
            "((define-fun a () Cpu (as @Cpu_0 Cpu))
              (define-fun g (($x1 Cpu)) Bool
                (let ((b (= (as @Cpu_0 Cpu) $x1))) (and b (not false)))))",
        );
        let a = cvc5.value("a", &[]).unwrap();
        assert_eq!(cvc5.holds("g", &[a]), Some(true));
    }

    #[test]
    fn a_model_that_calls_itself_says_nothing() {
        assert_eq!(model("((define-fun f () Int (+ (f) 1)))").int("f", &[]), None);
        assert_eq!(model("((define-fun f () Int f))").int("f", &[]), None);
        let twice = "((define-fun f ((x Int)) Int (+ (f x) (f x))))";
        assert_eq!(model(twice).int("f", &[Value::Int(1)]), None);
    }
}
