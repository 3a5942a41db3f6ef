//! The messages of libbpf while it loads: which program the kernel refused, and the end of what the
//! verifier said.

use std::sync::Mutex;

use libbpf_rs::{PrintCallback, PrintLevel, set_print};

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
    /// The program that was refused, and the last words of its verifier.
    pub(crate) fn refusal(&self) -> Option<(String, String)> {
        let said = SAID.lock().ok()?;
        let program = |line: &String| {
            let rest = line.strip_prefix("libbpf: prog '")?;
            rest.contains("load failed").then(|| rest.split('\'').next().map(str::to_owned))?
        };
        let program = said.iter().rev().find_map(program)?;
        let end = said.iter().rposition(|line| line.ends_with("END PROG LOAD LOG --"));
        let before = &said[..end.unwrap_or(said.len())];
        let is_word = |line: &&String| {
            !line.is_empty() && !line.starts_with("processed ") && !line.starts_with("libbpf:")
        };
        let word = before.iter().rev().find(is_word).cloned();
        Some((program, word.unwrap_or_else(|| "the verifier says nothing".to_owned())))
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
