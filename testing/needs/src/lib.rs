//! The amount of work that randomised tests do.

/// The number of cases that a randomised test runs: `usual`, times the variable `WASTENOT_EFFORT`.
/// `make test` runs the usual number (1), `make long-soak-NAME` a hundred times as many (100).
///
/// # Panics
/// `WASTENOT_EFFORT` is not a number.
pub fn effort(usual: u64) -> u64 {
    let factor = std::env::var("WASTENOT_EFFORT").ok();
    usual * factor.map_or(1, |text| text.parse().expect("WASTENOT_EFFORT is a number"))
}
