//! What libbpf has to say, kept for our own errors: it would write to stderr.

use std::sync::Mutex;

use libbpf_rs::{PrintLevel, set_print};

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// A verifier's log has thousands of lines; those that matter are its last.
const KEPT: usize = 40;

/// From now on libbpf speaks to us alone.
pub(super) fn listen() {
    set_print(Some((PrintLevel::Warn, |_, text| {
        let Ok(mut said) = SAID.lock() else { return };
        said.extend(text.lines().map(|line| line.trim_end().to_owned()));
        let excess = said.len().saturating_sub(KEPT);
        said.drain(..excess);
    })));
}

/// The first thing it said since it was asked last that is no part of a log.
pub(super) fn last_word() -> Option<String> {
    let said = std::mem::take(&mut *SAID.lock().ok()?);
    let line =
        said.iter().find(|line| line.starts_with("libbpf: ") && !line.ends_with("LOG --"))?;
    Some(line.trim_start_matches("libbpf: ").to_owned())
}

/// What it said so far concerns nobody.
pub(super) fn forget() {
    last_word();
}
