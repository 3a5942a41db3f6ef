//! The messages of libbpf while it loads: which program the kernel refused, and the end of what the
//! verifier said.

use std::sync::Mutex;

use libbpf_rs::{PrintCallback, PrintLevel, set_print};

use crate::Refusal;

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// The end of a verifier's log says why; it has up to a million lines before.
const KEPT: usize = 60;

/// Takes the messages until it is dropped.
pub(crate) struct Listener(Option<(PrintLevel, PrintCallback)>);

/// From now on the messages are kept.
pub(crate) fn listen() -> Listener {
    if let Ok(mut said) = SAID.lock() {
        said.clear();
    }
    Listener(set_print(Some((PrintLevel::Warn, |_, text| {
        let Ok(mut said) = SAID.lock() else { return };
        for line in text.lines() {
            // The rest of one log goes, not what was said before it.
            let log = said.iter().rposition(|it| it.ends_with("BEGIN PROG LOAD LOG --"));
            let begin = log.map_or(0, |at| at + 1);
            if said.len() >= begin + KEPT {
                said.remove(begin);
            }
            said.push(line.trim_end().to_owned());
        }
    }))))
}

impl Listener {
    /// The program that was refused, if one was.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        Refusal::of(&self.all())
    }

    /// The first message.
    pub(crate) fn first(&self) -> Option<String> {
        let said = SAID.lock().ok()?;
        let line = said.iter().find(|line| line.starts_with("libbpf: "))?;
        Some(line.trim_start_matches("libbpf: ").to_owned())
    }

    /// All that is kept.
    pub(crate) fn all(&self) -> String {
        SAID.lock().map(|said| said.join("\n")).unwrap_or_default()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        set_print(self.0.take());
    }
}
