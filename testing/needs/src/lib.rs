//! What a test needs: time, which [`effort`] scales, and programs on the machine ([`program`]).

/// The number of cases that a randomised test runs: `usual`, times the variable `WASTENOT_EFFORT`.
/// `make test` runs the usual number (1), `make long-soak-NAME` a hundred times as many (100).
///
/// # Panics
/// `WASTENOT_EFFORT` is not a number.
pub fn effort(usual: u64) -> u64 {
    let factor = std::env::var("WASTENOT_EFFORT").ok();
    usual * factor.map_or(1, |text| text.parse().expect("WASTENOT_EFFORT is a number"))
}

/// Whether `command` is in PATH. If it is not, this prints that `test` is skipped, and how to
/// install the command: `how` is a shell command.
#[allow(clippy::print_stdout, reason = "`make test` counts these lines")]
pub fn program(test: &str, command: &str, how: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_installed = std::env::split_paths(&path).any(|folder| folder.join(command).is_file());
    if !is_installed {
        println!("SKIPPED {test}: {command} is not installed: {how}");
    }
    is_installed
}
