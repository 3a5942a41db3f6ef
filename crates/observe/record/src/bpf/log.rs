//! The messages of libbpf, kept for our own errors: libbpf would write them to stderr.

use std::sync::Mutex;

use libbpf_rs::{PrintLevel, set_print};

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// A verifier's log has thousands of lines; only the last ones matter.
const KEPT: usize = 40;

/// From now on libbpf sends its messages only to us.
pub(super) fn listen() {
    set_print(Some((PrintLevel::Warn, |_, text| {
        let Ok(mut said) = SAID.lock() else { return };
        said.extend(text.lines().map(|line| line.trim_end().to_owned()));
        let excess = said.len().saturating_sub(KEPT);
        said.drain(..excess);
    })));
}

/// The first message since the last call that is not part of a log.
pub(super) fn last_word() -> Option<String> {
    let said = std::mem::take(&mut *SAID.lock().ok()?);
    let line =
        said.iter().find(|line| line.starts_with("libbpf: ") && !line.ends_with("LOG --"))?;
    Some(line.trim_start_matches("libbpf: ").to_owned())
}

/// Drops the messages so far.
pub(super) fn forget() {
    last_word();
}
