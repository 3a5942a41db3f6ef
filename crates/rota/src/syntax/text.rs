//! Which bytes are a text at all.

use super::Span;
use crate::Diagnostic;

/// The longest text.
pub const BYTES: usize = 1 << 20;

/// The text that a file holds.
pub fn text(bytes: &[u8]) -> Result<&str, Diagnostic> {
    if bytes.len() > BYTES {
        return Err(too_long());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("not a text: byte {:#04x} in line {line} is not UTF-8", bytes[at]);
        let help = "save it as UTF-8; is this a Rota file?";
        Diagnostic::new("R001", Span::default(), message, "", help)
    })?;
    check(text).map(|()| text)
}

/// Whether a text is one that is read.
pub(crate) fn check(text: &str) -> Result<(), Diagnostic> {
    if text.len() > BYTES {
        return Err(too_long());
    }
    match text.char_indices().find(|(_, letter)| is_binary(*letter)) {
        None => Ok(()),
        Some((at, letter)) => {
            let span = Span { start: at as u32, end: (at + letter.len_utf8()) as u32 };
            let message = format!("not a text: it holds the control character {letter:?}");
            let help = "leave it out; is this a Rota file?";
            Err(Diagnostic::new("R001", span, message, "here", help))
        }
    }
}

fn is_binary(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\t' | '\n' | '\r')
}

fn too_long() -> Diagnostic {
    let message = "too long for a policy: at most 1 MiB is read";
    let help = "a policy is a page long; split it, or check that this is a Rota file";
    Diagnostic::new("R001", Span::default(), message, "", help)
}
