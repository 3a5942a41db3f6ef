//! Tests, asked one after the other until one accepts.

use super::Test;
use crate::Answer;

/// What tests show of a set, where one is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// No job is late, by this test.
    By(Test),
    /// No test accepts.
    Nothing,
    /// None does, and one exceeded its budget.
    Spent,
}

/// Asks `tests` until one accepts. On one CPU the exact test goes first if it is among them, or
/// partitioned EDF, which is the same there: what it rejects no other test accepts.
pub(super) fn shown(tests: &[Test], cpus: u32, mut ask: impl FnMut(Test) -> Answer) -> Shown {
    let mut shown = Shown::Nothing;
    if tests.iter().any(|test| test.is_exact(cpus)) {
        match ask(Test::Qpa) {
            Answer::Accept => return Shown::By(Test::Qpa),
            Answer::Reject => return Shown::Nothing,
            Answer::Unknown | Answer::NotApplicable(_) => shown = Shown::Spent,
        }
    }
    let others = |test: &&Test| test.is_of_global_edf(cpus) && !test.is_exact(cpus);
    for &test in tests.iter().filter(others) {
        match ask(test) {
            Answer::Accept => return Shown::By(test),
            Answer::Unknown => shown = Shown::Spent,
            Answer::Reject | Answer::NotApplicable(_) => {}
        }
    }
    shown
}
