//! Versions of packages, ordered as dpkg orders them (Debian policy, 5.6.12).

use std::cmp::Ordering;
use std::fmt;
use std::iter;

use serde::{Deserialize, Serialize};

/// The version of a package: `6.16.3-1~bpo13+1`. It is that of a kernel, `6.16.3`, and what Debian
/// adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(String);

impl Version {
    /// The version of the kernel.
    pub fn kernel(&self) -> &str {
        self.parts().1
    }

    /// Whether kernels of this version can run policies: they have what docs/explain/emit.md needs.
    pub fn has_sched_ext(&self) -> bool {
        *self >= Version::from("6.13~")
    }

    /// Whether `wanted` is this version, or the first components of the kernel's: `7.2` is of
    /// `7.2.13`, never of `7.20`.
    pub(super) fn matches(&self, wanted: &str) -> bool {
        let rest = self.kernel().strip_prefix(wanted).filter(|_| !wanted.is_empty());
        self.0 == wanted || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '~']))
    }

    /// Epoch, version of the kernel, and Debian's revision.
    fn parts(&self) -> (&str, &str, &str) {
        let (epoch, rest) = self.0.split_once(':').unwrap_or(("0", &self.0));
        let (kernel, revision) = rest.rsplit_once('-').unwrap_or((rest, "0"));
        (epoch, kernel, revision)
    }
}

impl From<&str> for Version {
    fn from(text: &str) -> Version {
        Version(text.to_owned())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        let (ours, theirs) = (self.parts(), other.parts());
        compare(ours.0, theirs.0)
            .then_with(|| compare(ours.1, theirs.1))
            .then_with(|| compare(ours.2, theirs.2))
            // 1.0 and 1.00 are the same to dpkg, but not equal.
            .then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By turns what is no number, and a number.
fn compare(mut a: &str, mut b: &str) -> Ordering {
    while !(a.is_empty() && b.is_empty()) {
        let ((word_a, rest_a), (word_b, rest_b)) = (word(a), word(b));
        let ((number_a, rest_a), (number_b, rest_b)) = (number(rest_a), number(rest_b));
        let order = weights(word_a)
            .cmp(weights(word_b))
            .then_with(|| number_a.len().cmp(&number_b.len()))
            .then_with(|| number_a.cmp(number_b));
        if order.is_ne() {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
    Ordering::Equal
}

/// What comes before the first digit, and the rest.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The digits at the start, without zeros before them, and the rest.
fn number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

/// A tilde comes before the end of the word, which comes before letters, which come before all
/// else.
fn weights(word: &str) -> impl Iterator<Item = i32> {
    let weight = |byte: u8| match byte {
        b'~' => -1,
        letter if letter.is_ascii_alphabetic() => i32::from(letter),
        other => i32::from(other) + 256,
    };
    word.bytes().map(weight).chain(iter::once(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(text: &str) -> Version {
        Version::from(text)
    }

    #[test]
    fn versions_are_ordered_as_dpkg_orders_them() {
        let ordered = [
            "5.10.9-1",
            "5.10.223-1",
            "6.1.192-2",
            "6.9-1",
            "6.10~rc1-1~exp1",
            "6.10-1",
            "6.10.1-1",
            "6.12.107-1~deb12u1",
            "6.12.107-1",
            "6.12.107-1+b1",
            "6.12.115-1",
            "6.12.115-2",
            "7.2.13-1~bpo13+1",
            "7.2.13-1",
            "7.2.13a-1",
            "7.20.1-1",
            "1:1.0-1",
        ];
        for (at, low) in ordered.iter().enumerate() {
            for high in &ordered[at + 1..] {
                assert!(version(low) < version(high), "{low} < {high}");
                assert!(version(high) > version(low), "{high} > {low}");
            }
        }
    }

    #[test]
    fn a_version_is_wanted_by_components() {
        for (wanted, has) in [
            ("7.2", "7.2.13-1"),
            ("7", "7.2.13-1"),
            ("7.2.13", "7.2.13-1"),
            ("7.2.13-1", "7.2.13-1"),
            ("6.16.3-1~bpo13+1", "6.16.3-1~bpo13+1"),
            ("7.4", "7.4~rc2-1~exp1"),
        ] {
            assert!(version(has).matches(wanted), "{wanted} is of {has}");
        }
        for (wanted, has) in [
            ("7.2", "7.20.1-1"),
            ("7.2", "17.2-1"),
            ("7.2.1", "7.2.13-1"),
            ("7.2.13-1", "7.2.13-10"),
            ("7.2.", "7.2.13-1"),
            ("", "7.2.13-1"),
            ("sid", "7.2.13-1"),
        ] {
            assert!(!version(has).matches(wanted), "{wanted} is not of {has}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_its_place(a in "[0-9a~.:+é-]{0,9}", b in "[0-9a~.:+é-]{0,9}") {
            let (a, b) = (version(&a), version(&b));
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert_eq!(a == b, a.cmp(&b).is_eq());
        }
    }
}
