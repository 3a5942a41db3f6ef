//! Axes: the values of a key in `[points]`, each with its position.

use std::str::FromStr;

use wastenot_model::Help;

use super::schema::STEPS;
use crate::Error;
use crate::scenario::fields::{Fields, number, text};
use crate::scenario::node::{Node, Value, Wrong, wrong};

/// The maximum number of values of an axis.
const MOST: usize = 10_000;
/// How far a value may exceed `to`, in steps, since sums of 0.1 are not exact.
const SLACK: f64 = 1e-6;

/// A value and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<T> {
    pub(super) at: usize,
    pub(super) value: T,
}

/// Numbers in the forms in which they can be written.
pub(super) enum Numbers {
    Listed(Vec<Placed<f64>>),
    Steps { at: usize, from: f64, step: f64, to: Option<f64> },
}

impl Numbers {
    pub(super) fn read(node: &Node, key: &str) -> Result<Numbers, Wrong> {
        let placed = |node: &Node| Ok(Placed { at: node.at, value: number(node, key)? });
        match &node.value {
            Value::Table(table) => Numbers::steps(&Fields::new(&STEPS, node.at, table)),
            Value::Array(nodes) => {
                some(node, nodes, key)?;
                Ok(Numbers::Listed(nodes.iter().map(placed).collect::<Result<_, _>>()?))
            }
            _ => Ok(Numbers::Listed(vec![placed(node)?])),
        }
    }

    fn steps(fields: &Fields) -> Result<Numbers, Wrong> {
        fields.check()?;
        let from = number(fields.need("from", "1")?, "from")?;
        let node = fields.need("step", "0.5")?;
        let step = number(node, "step")?;
        if step <= 0.0 {
            return Err(wrong(node.at, "`step` is 0 or negative", "write a step above 0"));
        }
        Ok(Numbers::Steps { at: fields.at(), from, step, to: fields.number("to")? })
    }

    /// The values; steps without `to` end at `end`.
    pub(super) fn values(&self, end: Option<f64>) -> Result<Vec<Placed<f64>>, Wrong> {
        let (at, from, step, to) = match self {
            Numbers::Listed(values) => return Ok(values.clone()),
            Numbers::Steps { at, from, step, to } => (*at, *from, *step, to.or(end)),
        };
        let to = to.ok_or_else(|| {
            wrong(
                at,
                "the range has no end",
                "add the last value of the range, for example `to = 10`",
            )
        })?;
        let steps = (to - from) / step + SLACK;
        if steps < 0.0 {
            let what = format!("the range from {from} to {to} is empty");
            return Err(wrong(at, what, "make `to` at least as large as `from`"));
        }
        if steps >= MOST as f64 {
            let help = format!("make `step` larger: an axis may have at most {MOST} values");
            return Err(wrong(at, "the range has too many steps", help));
        }
        let value = |n: u32| Placed { at, value: from + f64::from(n) * step };
        Ok((0..=steps as u32).map(value).collect())
    }
}

/// Reports lists that are empty or too long.
fn some(node: &Node, nodes: &[Node], key: &str) -> Result<(), Wrong> {
    match nodes.len() {
        0 => {
            Err(wrong(node.at, format!("`{key}` has no value"), "write a value, or remove the key"))
        }
        1..=MOST => Ok(()),
        _ => Err(wrong(
            node.at,
            format!("`{key}` has more than {MOST} values"),
            "write fewer values",
        )),
    }
}

/// The nodes of a list; a single value counts as a list of one.
pub(super) fn nodes<'n>(node: &'n Node, key: &str) -> Result<&'n [Node], Wrong> {
    match &node.value {
        Value::Array(nodes) => some(node, nodes, key).map(|()| nodes.as_slice()),
        _ => Ok(std::slice::from_ref(node)),
    }
}

/// The parsed values of texts.
pub(super) fn texts<T: FromStr<Err = Error>>(
    node: &Node,
    key: &str,
) -> Result<Vec<Placed<T>>, Wrong> {
    let read = |node: &Node| match text(node, key)?.parse() {
        Ok(value) => Ok(Placed { at: node.at, value }),
        Err(error) => Err(placed(node.at, &error)),
    };
    nodes(node, key)?.iter().map(read).collect()
}

/// An error in what was written at `at`.
pub(super) fn placed(at: usize, error: &Error) -> Wrong {
    wrong(at, error.to_string(), error.help())
}
