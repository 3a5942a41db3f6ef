//! What the kernel says of schedulers: its log, from a moment on.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// A line of the kernel's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Since the boot.
    pub(crate) us: u64,
    /// Without its prefix.
    pub(crate) text: String,
}

/// The log from when this was made.
pub(crate) struct Log(Option<File>);

/// A record has at most so many bytes (kernel/printk: PRINTK_MESSAGE_MAX).
const RECORD: usize = 8192;

impl Log {
    pub(crate) fn from_now() -> Log {
        let flags = OFlags::NONBLOCK.bits() as i32;
        let file = File::options().read(true).custom_flags(flags).open("/dev/kmsg").ok();
        Log(file.and_then(|mut file| file.seek(SeekFrom::End(0)).ok().map(|_| file)))
    }

    /// What was said of sched_ext since the last call.
    pub(crate) fn read(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        let Some(file) = &mut self.0 else { return lines };
        let mut record = [0; RECORD];
        loop {
            match file.read(&mut record) {
                Ok(0) => break,
                Ok(length) => lines.extend(line(&String::from_utf8_lossy(&record[..length]))),
                // Records that were overwritten before they were read.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(_) => break,
            }
        }
        lines
    }
}

/// `4,711,8123456,-;sched_ext: ...` (Documentation/ABI/testing/dev-kmsg); lines of sched_ext only,
/// and not the hints, which it gives by the hundred.
fn line(record: &str) -> Option<Line> {
    let (prefix, text) = record.split_once(';')?;
    let us = prefix.split(',').nth(2)?.parse().ok()?;
    let text = text.lines().next()?.strip_prefix("sched_ext: ")?;
    let is_hint = text.contains(" is deprecated");
    (!is_hint).then(|| Line { us, text: text.to_owned() })
}

/// Why the kernel unloaded a scheduler, in a line that says so: `BPF scheduler "nest" disabled
/// (scx_bpf_error)`.
pub(crate) fn disabled(text: &str) -> Option<&str> {
    let (_, reason) = text.strip_prefix("BPF scheduler \"")?.split_once("\" disabled (")?;
    reason.strip_suffix(')')
}

/// Each reason for which a scheduler was unloaded, with the message that follows it: `unregistered
/// from the main kernel: cpu 9 going offline, exiting scheduler`.
pub(crate) fn reasons(lines: &[Line]) -> Vec<String> {
    let mut reasons = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let Some(reason) = disabled(&line.text) else { continue };
        reasons.push(match lines.get(n + 1).and_then(|it| message(&it.text)) {
            Some(message) => format!("{reason}: {message}"),
            None => reason.to_owned(),
        });
    }
    reasons
}

/// What follows a reason: `nest: foo.bpf.c:361: no timer`; frames of a stack are indented.
pub(crate) fn message(text: &str) -> Option<&str> {
    let (name, message) = text.split_once(": ")?;
    (!name.contains([' ', '\"'])).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::{Line, line, reasons};

    #[test]
    fn a_reason_comes_with_its_message() {
        let lines = |texts: &[&str]| -> Vec<Line> {
            texts.iter().map(|text| Line { us: 1, text: (*text).to_owned() }).collect()
        };
        let disabled = "BPF scheduler \"foo\" disabled (unregistered from the main kernel)";
        let enabled = "BPF scheduler \"foo\" enabled";
        let said = lines(&[disabled, "foo: cpu 9 going offline", "   frame+0x1/0x2", enabled]);
        assert_eq!(reasons(&said), ["unregistered from the main kernel: cpu 9 going offline"]);
        assert_eq!(reasons(&lines(&[disabled, enabled])), ["unregistered from the main kernel"]);
    }

    #[test]
    fn lines_of_schedulers_are_told_from_others() {
        let said = line("6,9,12073798,-;sched_ext: BPF scheduler \"n\" enabled\n SUBSYSTEM=x\n");
        let said = said.expect("a line of sched_ext");
        assert_eq!((said.us, &*said.text), (12_073_798, "BPF scheduler \"n\" enabled"));
        for other in ["4,10,12,-;usb 1-1: new", "4,10,12,-;sched_ext: X is deprecated, use Y", ""] {
            assert_eq!(line(other), None);
        }
    }
}
