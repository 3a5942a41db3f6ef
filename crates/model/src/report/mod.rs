//! Reports: the first figures, measures, tables, pictures, findings, losses and assumptions. One
//! value has several output formats.

mod json;
mod number;
mod picture;
mod proportion;
mod table;
mod text;

use crate::{Loss, Window};

pub use number::{counted, number, ranges};
pub use picture::{Frame, Picture};
pub use proportion::Proportion;
pub use table::{Audience, Column, Row, Table};
pub use text::COLUMNS;

/// What a verb answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The verb and the version of its JSON: `check/1`.
    pub schema: String,
    /// One line over everything.
    pub title: String,
    /// The answer in a sentence or two.
    pub verdict: String,
    /// The answer in a word, where programs want one: then `verdict` in JSON is this, and the
    /// sentence is `summary`.
    pub word: Option<&'static str>,
    /// The figures that stand first, each as a part of a whole: about five.
    pub proportions: Vec<Proportion>,
    /// The moment to look at first.
    pub worst: Option<Moment>,
    /// Single figures. Dots in a name nest in JSON: `waste.cpu_ns`.
    pub measures: Vec<Measure>,
    /// Tables, in the order in which they are read.
    pub tables: Vec<Table>,
    /// Pictures, in the order in which they are seen. JSON has none.
    pub pictures: Vec<Picture>,
    /// What was found, worst first.
    pub findings: Vec<Finding>,
    /// What was lost or is suspect.
    pub losses: Vec<Loss>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
    /// A command to try next.
    pub next: Option<String>,
}

/// What a number counts. Decides how it is shown; JSON holds the bare number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: a name, a count.
    None,
    /// Nanoseconds, as a length.
    Ns,
    /// Nanoseconds, as an instant.
    At,
    /// A fraction of 1, shown as per cent.
    Share,
    /// Numbers in words already, as an interval is: shown where numbers stand.
    Words,
}

/// A value in a measure or a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not known, or not asked.
    Unknown,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Num(f64),
    /// A text.
    Text(String),
    /// A list, such as the CPUs that were idle.
    List(Vec<Value>),
    /// Named values, in this order.
    Map(Vec<(String, Value)>),
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its name; the last word is the unit (`waste.cpu_ns`). Empty if it is only for people.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// How to show it.
    pub unit: Unit,
    /// What it says, for people: "CPU time wasted".
    pub label: String,
}

/// Something that was found at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its kind, stable: `waste`, `not-started`.
    pub code: String,
    /// When.
    pub window: Window,
    /// One line.
    pub message: String,
    /// What to try, where there is something.
    pub help: Option<String>,
}

/// The moment to look at first.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// When.
    pub window: Window,
    /// What happened, in a sentence. In JSON `verdict` ends with it.
    pub message: String,
    /// What it looks like, where that was drawn.
    pub picture: Option<Picture>,
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}
impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}
impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}
impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Num(value)
    }
}
macro_rules! from_int {
    ($($int:ty)*) => {$(
        impl From<$int> for Value {
            fn from(value: $int) -> Value {
                Value::Int(i64::try_from(value).unwrap_or(i64::MAX))
            }
        }
    )*};
}
from_int!(u8 u16 u32 u64 usize i32 i64);
impl From<crate::Span> for Value {
    fn from(span: crate::Span) -> Value {
        span.0.into()
    }
}
impl From<crate::Time> for Value {
    fn from(time: crate::Time) -> Value {
        time.0.into()
    }
}
impl From<crate::CpuId> for Value {
    fn from(cpu: crate::CpuId) -> Value {
        cpu.0.into()
    }
}
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Unknown, Into::into)
    }
}
impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        Value::List(values.into_iter().map(Into::into).collect())
    }
}

impl Report {
    /// An empty report of a verb: `Report::new("check/1", ...)`.
    pub fn new(schema: &str, title: impl Into<String>) -> Report {
        Report { schema: schema.to_owned(), title: title.into(), ..Report::default() }
    }
    /// Adds a figure.
    pub fn measure(&mut self, name: &str, label: &str, value: impl Into<Value>, unit: Unit) {
        self.measures.push(Measure {
            name: name.to_owned(),
            value: value.into(),
            unit,
            label: label.to_owned(),
        });
    }
    /// A figure by name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.measures.iter().find(|measure| measure.name == name).map(|measure| &measure.value)
    }
    /// The figures that are for people, each with a label that says it all where it stands alone:
    /// an indented label goes on the one above it.
    pub fn shown_measures(&self) -> impl Iterator<Item = (String, &Measure)> {
        let mut above = "";
        self.measures.iter().filter(|measure| !measure.label.is_empty()).map(move |measure| {
            let Some(rest) = measure.label.strip_prefix("  ") else {
                above = &measure.label;
                return (measure.label.clone(), measure);
            };
            // What comes behind a comma is of the one above alone: its median, its beginning.
            let label = match above.rsplit_once(", ") {
                Some((what, _)) => format!("{what}, {}", rest.trim_start()),
                None => format!("{above}: {}", rest.trim_start()),
            };
            (label, measure)
        })
    }
    /// A table by name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

impl Value {
    /// As a whole number, where it is one that the type holds.
    pub fn int<T: TryFrom<i64>>(&self) -> Option<T> {
        match self {
            Value::Int(n) => T::try_from(*n).ok(),
            _ => None,
        }
    }
    /// As a text, where it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
    /// As yes or no, where it is that.
    pub fn flag(&self) -> Option<bool> {
        match self {
            Value::Bool(yes) => Some(*yes),
            _ => None,
        }
    }
    /// As people read it.
    pub fn show(&self, unit: Unit) -> String {
        match (self, unit) {
            (Value::Unknown, _) => "?".to_owned(),
            (Value::Int(n), Unit::Ns) => match u64::try_from(*n) {
                Ok(n) => crate::Span(n).to_string(),
                Err(_) => format!("-{}", crate::Span(n.unsigned_abs())),
            },
            (Value::Int(n), Unit::At) => crate::Time(u64::try_from(*n).unwrap_or(0)).to_string(),
            (Value::Num(n), Unit::Share) => format!("{:.2} %", n * 100.0),
            (Value::Num(n), Unit::Ns) => crate::Span(n.max(0.0) as u64).to_string(),
            (Value::Num(n), _) => format!("{n:.3}"),
            (Value::Int(n), _) => n.to_string(),
            (Value::Bool(yes), _) => if *yes { "yes" } else { "no" }.to_owned(),
            (Value::Text(text), _) => text.clone(),
            (Value::List(values), unit) => {
                values.iter().map(|value| value.show(unit)).collect::<Vec<_>>().join(",")
            }
            (Value::Map(values), unit) => {
                let show = |(name, value): &(String, Value)| format!("{name} {}", value.show(unit));
                values.iter().map(show).collect::<Vec<_>>().join(", ")
            }
        }
    }
}
