//! Makes texts from files harmless: a task's name may hold any bytes, and a terminal obeys some, as
//! a browser does.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is visible. Invisible characters act on the terminal or editor: control
/// characters (C0, DEL and C1) drive terminals, marks of writing direction reorder lines, and some
/// have no width.
pub fn is_printable(letter: char) -> bool {
    let acts = matches!(letter,
        '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{e007f}');
    !letter.is_control() && !acts
}

/// `text` as one line in which every character is visible: `\x1b[2J`, `a\nb`, `\u{202e}`. Printable
/// text stays unchanged, so that escaping twice is the same as escaping once.
pub fn printable(text: &str) -> Cow<'_, str> {
    escape(text, is_printable)
}

/// The same for a text of several lines, whose line feeds and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escape(text, |letter| matches!(letter, '\n' | '\t') || is_printable(letter))
}

/// Shortens a text that a user typed, so that it fits into a message.
pub fn shortened(typed: &str) -> String {
    const CHARS: usize = 100;
    match typed.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &typed[..end]),
        None => typed.to_owned(),
    }
}

fn escape(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        // Writing to a String cannot fail.
        _ = match letter {
            letter if stays(letter) => out.write_char(letter),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\0'..='\u{ff}' => write!(out, "\\x{:02x}", u32::from(letter)),
            _ => write!(out, "{}", letter.escape_unicode()),
        };
    }
    Cow::Owned(out)
}

/// `text` with the characters escaped that XML and HTML treat as markup, in elements and in quoted
/// attributes.
pub fn escape_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_seen_instead() {
        for (text, shown) in [
            ("kworker/3:1-events", "kworker/3:1-events"),
            ("Größe 漢字 ░ é", "Größe 漢字 ░ é"),
            ("\u{1b}[2J\u{1b}]0;x\u{7}", "\\x1b[2J\\x1b]0;x\\x07"),
            ("\u{9b}31m\u{7f}", "\\x9b31m\\x7f"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{202e}gnp.exe\u{2066}\u{200b}", "\\u{202e}gnp.exe\\u{2066}\\u{200b}"),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(shown), shown, "twice is once");
            assert!(printable(text).chars().all(is_printable));
        }
        assert_eq!(printable_lines("a\n\tb\u{1b}\r\n"), "a\n\tb\\x1b\\r\n");
    }
}
