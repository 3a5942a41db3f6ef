//! Random texts from the grammar, for tests: they need not compile, but must parse.

use std::collections::BTreeMap;

use wastenot_model::workload::Random;
use wastenot_rota::syntax::words;

use crate::grammar::RULES;

/// Below this depth every choice takes the alternative that ends soonest.
const DEPTH: usize = 14;
/// Names, most of which are also words of the language.
const NAMES: [&str; 36] = [
    "t",
    "c",
    "me",
    "v",
    "q",
    "ready",
    "vt",
    "x_1",
    "slice",
    "wake",
    "level",
    "task",
    "idle",
    "cpu",
    "rest",
    "policy",
    "partition",
    "on",
    "let",
    "queue",
    "else",
    "near",
    "by",
    "tie",
    "from",
    "into",
    "where",
    "rebase",
    "within",
    "owner",
    "shared",
    "preempt",
    "if",
    "take",
    "balance",
    "forever",
];
const COMMENTS: [&str; 4] = ["// a comment", "//", "// größe } {", "//x;"];

/// The text for a seed; the same seed always gives the same text.
pub fn sample(seed: u64) -> String {
    let forms: BTreeMap<&str, Form> =
        RULES.iter().map(|rule| (rule.name, Form::of(rule.form))).collect();
    let heights = heights(&forms);
    let random = Random::new(seed);
    let mut sampler = Sampler { forms: &forms, heights, random, text: String::new() };
    sampler.form(&forms[RULES[0].name], 0);
    sampler.text
}

/// The right-hand side of a rule.
enum Form {
    Word(String),
    /// A rule, or a kind of token.
    Rule(String),
    All(Vec<Form>),
    One(Vec<Form>),
    Maybe(Box<Form>),
    Many(Box<Form>),
}

impl Form {
    fn of(text: &str) -> Form {
        Form::choice(&mut text.split_whitespace())
    }

    /// A choice, up to the end or to the closing bracket.
    fn choice<'a>(words: &mut impl Iterator<Item = &'a str>) -> Form {
        let mut choices = vec![Vec::new()];
        while let Some(word) = words.next() {
            let form = match word {
                ")" | "]" | "}" => break,
                "|" => {
                    choices.push(Vec::new());
                    continue;
                }
                "(" => Form::choice(words),
                "[" => Form::Maybe(Box::new(Form::choice(words))),
                "{" => Form::Many(Box::new(Form::choice(words))),
                _ => match word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) {
                    Some(word) => Form::Word(word.to_string()),
                    None => Form::Rule(word.to_string()),
                },
            };
            if let Some(choice) = choices.last_mut() {
                choice.push(form);
            }
        }
        Form::One(choices.into_iter().map(Form::All).collect())
    }

    /// The nesting depth of the shortest text.
    fn height(&self, heights: &BTreeMap<String, usize>) -> usize {
        let of = |form: &Form| form.height(heights);
        match self {
            Form::Word(_) | Form::Maybe(_) | Form::Many(_) => 0,
            Form::Rule(name) => heights.get(name).copied().unwrap_or(0),
            Form::All(forms) => forms.iter().map(of).max().unwrap_or(0),
            Form::One(forms) => forms.iter().map(of).min().unwrap_or(0),
        }
    }
}

/// The heights of all rules, computed bottom-up.
fn heights(forms: &BTreeMap<&str, Form>) -> BTreeMap<String, usize> {
    let never = RULES.len() + 1;
    let mut heights: BTreeMap<String, usize> =
        forms.keys().map(|name| (name.to_string(), never)).collect();
    for _ in RULES {
        for (name, form) in forms {
            let height = form.height(&heights).saturating_add(1).min(never);
            heights.insert(name.to_string(), height);
        }
    }
    heights
}

struct Sampler<'a> {
    forms: &'a BTreeMap<&'a str, Form>,
    heights: BTreeMap<String, usize>,
    random: Random,
    text: String,
}

impl<'a> Sampler<'a> {
    fn form(&mut self, form: &'a Form, depth: usize) {
        match form {
            Form::Word(word) => self.token(word),
            Form::Rule(name) => match self.forms.get(name.as_str()) {
                Some(form) => self.form(form, depth + 1),
                None => self.terminal(name),
            },
            Form::All(forms) => forms.iter().for_each(|form| self.form(form, depth)),
            Form::One(forms) => {
                let one = self.choose(forms, depth);
                self.form(one, depth);
            }
            Form::Maybe(form) => {
                if depth < DEPTH && self.below(3) == 0 {
                    self.form(form, depth);
                }
            }
            Form::Many(form) => {
                while depth < DEPTH && self.below(5) < 3 {
                    self.form(form, depth);
                }
            }
        }
    }

    fn choose(&mut self, forms: &'a [Form], depth: usize) -> &'a Form {
        let shortest = forms.iter().min_by_key(|form| form.height(&self.heights));
        match shortest {
            Some(form) if depth >= DEPTH => form,
            _ => &forms[self.below(forms.len())],
        }
    }

    fn terminal(&mut self, kind: &str) {
        let token = match kind {
            "NAME" => NAMES[self.below(NAMES.len())].to_string(),
            "INTEGER" => self.below(300).to_string(),
            "QUOTED" => "\"web*\"".to_string(),
            "TIME" => format!("{}{}", self.below(1_000), self.one(&words::UNITS[..4])),
            "END" => {
                let end = self.one(&["\n", ";", " ; \n\n", " // end\n"]);
                return self.text.push_str(end);
            }
            _ => {
                let unit = self.one(&["", "", "ns", "us", "ms", "s", "%"]);
                format!("{}{unit}", self.one(&["0", "1", "2_000", "99"]))
            }
        };
        self.token(&token);
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.bits() as usize % bound.max(1)
    }

    fn one(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    /// A token after blanks, line ends or a comment, or directly after the token before.
    fn token(&mut self, token: &str) {
        let joins = |letter: Option<char>| {
            letter
                .is_some_and(|letter| letter.is_alphanumeric() || "_\"+-*/<>=:!%".contains(letter))
        };
        let tight = !joins(self.text.chars().last()) || !joins(token.chars().next());
        match self.below(24) {
            0 => self.text.push('\n'),
            1 => self.text.push_str("\n\n\t "),
            2 => {
                let comment = self.one(&COMMENTS);
                self.text.push_str(&format!(" {comment}\n"));
            }
            3..9 if tight => {}
            _ => self.text.push(' '),
        }
        self.text.push_str(token);
    }
}
