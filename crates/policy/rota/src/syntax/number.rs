//! Numbers: digits, `_` between them, and a unit, which has the letters of names.

use super::ast::Unit;
use super::words::UNITS;
use wastenot_model::{nearest, shortened};

/// The largest number that may be written: about a thousand days in ns, so that sums stay far below
/// 64 bits.
const LARGEST: u64 = 100_000_000_000_000_000;

/// A number at the beginning of a text.
pub(crate) struct Digits {
    /// Its length in bytes.
    pub(crate) length: usize,
    /// Its value.
    pub(crate) value: Result<(u64, Option<Unit>), Fault>,
}

/// Why it has no value.
pub(crate) struct Fault {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) help: String,
    /// The unit that was probably meant.
    pub(crate) unit: Option<Unit>,
}

/// Units as other languages write them, and Rota's.
const ALIASES: [(&str, &str); 16] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("millis", "ms"),
    ("milliseconds", "ms"),
    ("usec", "us"),
    ("usecs", "us"),
    ("micros", "us"),
    ("microseconds", "us"),
    ("nsec", "ns"),
    ("nsecs", "ns"),
    ("nanos", "ns"),
    ("nanoseconds", "ns"),
];

/// Reads the number at the beginning of a text.
pub(crate) fn read(text: &str) -> Digits {
    let digits = until(text, |letter| letter == '_' || letter.is_ascii_digit());
    let rest = &text[digits..];
    if rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return broken(text, digits);
    }
    let suffix = match rest.chars().next() {
        Some('%') => 1,
        Some('µ' | 'μ') => 2 + until(&rest[2..], is_of_name),
        _ => until(rest, is_of_name),
    };
    let (length, unit) = (digits + suffix, &rest[..suffix]);
    let value = match unit {
        "" => Ok(None),
        _ => named(unit).map(Some).ok_or_else(|| no_unit(&text[..digits], unit)),
    };
    let value = value.and_then(|unit| {
        let value = text[..digits].replace('_', "").parse::<u64>().ok();
        let all = value.and_then(|value| value.checked_mul(size(unit)));
        let fits = all.is_some_and(|all| all <= LARGEST);
        value.filter(|_| fits).map(|value| (value, unit)).ok_or_else(|| too_large(unit))
    });
    Digits { length, value }
}

/// The factor to the smallest unit: nanoseconds, per cent, pieces.
fn size(unit: Option<Unit>) -> u64 {
    match unit {
        Some(Unit::Microsecond) => 1_000,
        Some(Unit::Millisecond) => 1_000_000,
        Some(Unit::Second) => 1_000_000_000,
        None | Some(Unit::Nanosecond | Unit::Percent) => 1,
    }
}

fn named(unit: &str) -> Option<Unit> {
    match unit {
        "ns" => Some(Unit::Nanosecond),
        "us" => Some(Unit::Microsecond),
        "ms" => Some(Unit::Millisecond),
        "s" => Some(Unit::Second),
        "%" => Some(Unit::Percent),
        _ => None,
    }
}

fn no_unit(digits: &str, unit: &str) -> Fault {
    let lower = unit.to_lowercase();
    let micro = unit.starts_with(['µ', 'μ']).then_some("us");
    let alias = ALIASES.iter().find(|(other, _)| *other == lower).map(|(_, own)| *own);
    let own = micro.or(alias).or_else(|| nearest(unit, UNITS));
    let help = match own {
        Some(own) => format!("write `{digits}{own}`"),
        None => format!("use one of the units {}", UNITS.join(", ")),
    };
    Fault {
        code: "R004",
        message: format!("there is no unit `{}`", shortened(unit)),
        label: "unknown unit".into(),
        help,
        unit: own.and_then(named),
    }
}

/// `1.5ms`
fn broken(text: &str, digits: usize) -> Digits {
    let fraction = 1 + until(&text[digits + 1..], |letter| letter.is_ascii_digit());
    let unit = &text[digits + fraction..];
    let unit = &unit[..until(unit, is_of_name)];
    let length = digits + fraction + unit.len();
    let help = match in_smaller(&text[..digits], &text[digits + 1..digits + fraction], unit) {
        Some(number) => format!("write `{number}`"),
        None => "write a whole number, or a percentage: `x * 150%` multiplies by 1.5".into(),
    };
    let fault = Fault {
        code: "R004",
        message: format!("`{}` is not a whole number", shortened(&text[..length])),
        label: "a decimal point".into(),
        help,
        unit: named(unit),
    };
    Digits { length, value: Err(fault) }
}

/// A number with a decimal point, as a whole number of a smaller unit.
fn in_smaller(whole: &str, fraction: &str, unit: &str) -> Option<String> {
    let at = ["s", "ms", "us", "ns"].iter().position(|known| *known == unit)?;
    let smaller = ["ms", "us", "ns"].iter().skip(at).zip([3, 6, 9]);
    let (smaller, digits) = smaller.into_iter().find(|(_, digits)| fraction.len() <= *digits)?;
    let number = format!("{whole}{fraction:0<digits$}");
    let number = number.trim_start_matches(['0', '_']);
    (number.len() < 20).then(|| format!("{number}{smaller}"))
}

fn too_large(unit: Option<Unit>) -> Fault {
    let most = LARGEST / size(unit);
    let name = unit.map_or("", |unit| match unit {
        Unit::Nanosecond => "ns",
        Unit::Microsecond => "us",
        Unit::Millisecond => "ms",
        Unit::Second => "s",
        Unit::Percent => "%",
    });
    Fault {
        code: "R203",
        message: "the number is too large".into(),
        label: "too large".into(),
        help: format!("write at most {most}{name}"),
        unit,
    }
}

/// The length in bytes of the prefix of such characters.
fn until(text: &str, such: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !such(letter)).unwrap_or(text.len())
}

/// Whether a name can continue with this character.
pub(crate) fn is_of_name(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}
