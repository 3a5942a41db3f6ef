//! Checks whether bytes are a text.

use super::Span;
use crate::Diagnostic;

/// The maximum length of a text.
pub const BYTES: usize = 1 << 20;

/// The byte order mark that some editors write before UTF-8; it is skipped.
pub(crate) const MARK: char = '\u{feff}';

/// The text in a file.
pub fn text(bytes: &[u8]) -> Result<&str, Diagnostic> {
    if bytes.len() > BYTES {
        return Err(too_long());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let message =
            format!("the file is not text: byte {:#04x} in line {line} is not UTF-8", bytes[at]);
        let help = "save it as UTF-8, and check that this is a Rota file";
        Diagnostic::new("R001", Span::default(), message, "", help)
    })?;
    check(text).map(|()| text)
}

/// Checks whether a text is acceptable.
pub(crate) fn check(text: &str) -> Result<(), Diagnostic> {
    if text.len() > BYTES {
        return Err(too_long());
    }
    let binary =
        |&(at, letter): &(usize, char)| letter.is_control() && !is_layout(&text[at..], letter);
    match text.char_indices().find(binary) {
        None => Ok(()),
        Some((at, letter)) => {
            let span = Span { start: at as u32, end: (at + letter.len_utf8()) as u32 };
            let message =
                format!("the file is not text: it contains the control character {letter:?}");
            let help = match letter {
                '\r' => "end lines with a line feed; a carriage return alone does not end a line",
                _ => "remove this character, and check that this is a Rota file",
            };
            Err(Diagnostic::new("R001", span, message, "here", help))
        }
    }
}

/// Whether a control character is a layout character.
fn is_layout(rest: &str, letter: char) -> bool {
    matches!(letter, '\t' | '\n') || rest.starts_with("\r\n")
}

fn too_long() -> Diagnostic {
    let message = "the file is too long for a policy: the limit is 1 MiB";
    let help = "split the policy, or check that this is a Rota file";
    Diagnostic::new("R001", Span::default(), message, "", help)
}
