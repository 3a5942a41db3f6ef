//! The text form of distributions: names from a table, ranges with a unit.

use crate::Error;
use wastenot_model::{shortened, suggest_of};

/// Values, each with its name and meaning.
pub(super) type Names<T> = [(T, &'static str, &'static str)];

/// The error `what`, and what to do.
pub(super) fn wrong<T>(what: impl Into<String>, help: impl Into<String>) -> Result<T, Error> {
    Err(Error::TaskSets { what: what.into(), help: help.into() })
}

/// The value with the name `text`; `kind` is the kind of all of them.
pub(super) fn named<T: Copy>(text: &str, kind: &str, names: &Names<T>) -> Result<T, Error> {
    let text = text.trim();
    if let Some((value, ..)) = names.iter().find(|(_, name, _)| *name == text) {
        return Ok(*value);
    }
    let known = || names.iter().map(|(_, name, _)| *name);
    let help = suggest_of(text, known(), "use one of");
    wrong(format!("`{}` is not one of the {kind}", shortened(text)), help)
}

/// The name of `value`.
pub(super) fn name_of<T: PartialEq>(value: &T, names: &Names<T>) -> &'static str {
    names.iter().find(|(known, ..)| known == value).map_or("", |(_, name, _)| name)
}

/// `10-100 ms` or `10-100ms`: from, to and the unit.
pub(super) fn range(text: &str) -> Option<(u64, u64, &str)> {
    let (numbers, unit) = with_unit(text)?;
    let (from, to) = numbers.split_once('-')?;
    Some((whole(from)?, whole(to)?, unit))
}

/// `5 ms` or `5ms`: the number and the unit.
pub(super) fn amount(text: &str) -> Option<(u64, &str)> {
    let (number, unit) = with_unit(text)?;
    Some((whole(number)?, unit))
}

fn with_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_alphabetic())?;
    let (number, unit) = text.split_at(at);
    Some((number.trim_end(), unit))
}

/// A text of digits only.
fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
