//! Knobs of a scenario: every number and length of time in it, to be turned one by one.

use toml::{Table, Value};
use wastenot_model::Span;

/// A number or a length of time in a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Knob {
    /// Where it stands: `tasks.cg.grain`.
    pub(crate) name: String,
    path: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// Tables in which there are knobs. The others name things.
const TABLES: [&str; 4] = ["parameters", "tasks", "costs", "scheduler"];
/// Keys whose numbers are names.
const NAMES: [&str; 4] = ["from", "from-node", "job", "cpus"];
/// A turn: so much more.
pub(crate) const TURN: f64 = 0.25;

/// The knobs of a scenario, in the order of its text.
pub(crate) fn of(scenario: &Table) -> Vec<Knob> {
    let mut knobs = Vec::new();
    for table in TABLES {
        if let Some(value) = scenario.get(table) {
            walk(value, table, &mut vec![Step::Key(table.to_owned())], &mut knobs);
        }
    }
    knobs
}

fn walk(value: &Value, name: &str, path: &mut Vec<Step>, knobs: &mut Vec<Knob>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table.iter().filter(|(key, _)| !NAMES.contains(&key.as_str())) {
                path.push(Step::Key(key.clone()));
                walk(value, &format!("{name}.{key}"), path, knobs);
                path.pop();
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                let called = value.get("name").and_then(Value::as_str);
                let name = called.map_or(format!("{name}[{index}]"), str::to_owned);
                path.push(Step::Index(index));
                walk(value, &name, path, knobs);
                path.pop();
            }
        }
        value if turned(value).is_some() => {
            knobs.push(Knob { name: name.to_owned(), path: path.clone() });
        }
        _ => {}
    }
}

impl Knob {
    /// The scenario with this knob turned up; `None` if that changes nothing.
    pub(crate) fn turn(&self, scenario: &Table) -> Option<Table> {
        let mut turned_up = Value::Table(scenario.clone());
        let mut place = &mut turned_up;
        for step in &self.path {
            place = match step {
                Step::Key(key) => place.get_mut(key.as_str())?,
                Step::Index(index) => place.get_mut(*index)?,
            };
        }
        *place = turned(place).filter(|value| value != place)?;
        match turned_up {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }
}

/// A number or a length of time, so much more; a length of time may be followed by how it varies.
fn turned(value: &Value) -> Option<Value> {
    match value {
        Value::Integer(number) => {
            Some(Value::Integer((*number as f64 * (1.0 + TURN)).round() as i64))
        }
        Value::Float(number) => Some(Value::Float(number * (1.0 + TURN))),
        Value::String(text) => {
            let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
            let span = Span::parse(first)?;
            let more = (span.0 as f64 * (1.0 + TURN)).round() as u64;
            Some(Value::String(format!("{more}ns {rest}").trim_end().to_owned()))
        }
        _ => None,
    }
}
