//! One line of trace text: task, CPU, time, event.
//!
//! ```text
//!             bash-2773    (   2773) [000] d..2.  2958.164448: sched_waking: comm=...   ftrace
//!             init-1     [009]     7.912904142: sched_process_fork:   comm=...   trace-cmd report
//!             init-1       9d..2.     7.912918018: sched_wakeup_new:  comm=...   report -l
//!             perf 26583 [000]  2341.994533:       sched:sched_waking: comm=...      perf script
//! ```
//! A command may contain anything, even spaces, brackets and colons, but at most 15 bytes. So the
//! reader searches for all that follows it as a whole, and of several places it takes the last that
//! leaves the command short enough.

use wastenot_model::{Context, CpuId};

/// Longest command: `TASK_COMM_LEN` less its NUL.
pub(super) const COMM_MAX: usize = 15;

/// A line with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) comm: &'a [u8],
    pub(super) tid: i32,
    pub(super) pid: Option<i32>,
    pub(super) cpu: CpuId,
    /// Unknown if the flags are not printed.
    pub(super) context: Context,
    pub(super) stamp: Stamp,
    /// Without its system.
    pub(super) event: &'a [u8],
    pub(super) payload: &'a [u8],
    /// The event's system is printed: this is `perf script`.
    pub(super) perf: bool,
}

/// A printed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Nanoseconds; for a stamp without a point, the clock's own unit.
    pub(super) time: u64,
    /// The value of the last printed digit; 0 for a stamp without a point.
    pub(super) unit: u32,
}

/// The part between the command with its tid and the event's fields.
#[derive(Clone, Copy)]
struct Middle<'a> {
    cpu: CpuId,
    context: Context,
    stamp: Stamp,
    event: &'a [u8],
    perf: bool,
    payload: &'a [u8],
}

impl<'a> Line<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Option<Line<'a>> {
        let begin = line.iter().position(|&byte| byte != b' ' && byte != b'\t')?;
        let line = &line[begin..];
        // Command, tid, process.
        let near = &line[..line.len().min(COMM_MAX + 48)];
        let mut found = None;
        for (at, _) in near.iter().enumerate().filter(|(_, byte)| **byte == b'[') {
            let Some(middle) = Middle::parse(&line[at + 1..]) else { continue };
            let Some(whole) = Line::join(&line[..at], middle) else { continue };
            if found.is_none() || whole.comm.len() <= COMM_MAX {
                found = Some(whole);
            }
        }
        found.or_else(|| Line::parse_latency(line, near.len()))
    }

    /// `report -l`: CPU and flags in one word, without brackets.
    #[cold]
    fn parse_latency(line: &'a [u8], near: usize) -> Option<Line<'a>> {
        let mut found = None;
        for at in 1..near {
            if line[at - 1] != b' ' || !line[at].is_ascii_digit() {
                continue;
            }
            let Some(middle) = Middle::parse_latency(&line[at..]) else { continue };
            let Some(whole) = Line::join(&line[..at], middle) else { continue };
            if found.is_none() || whole.comm.len() <= COMM_MAX {
                found = Some(whole);
            }
        }
        found
    }

    /// `bash-2773`, `bash-2773 ( 2773)`, `bash-2773 (-----)`, `bash 2773`, `bash 2773/2773`.
    fn join(who: &'a [u8], middle: Middle<'a>) -> Option<Line<'a>> {
        let mut who = who.trim_ascii_end();
        let mut pid = None;
        if let Some(inner) = who.strip_suffix(b")") {
            let open = inner.iter().rposition(|&byte| byte == b'(')?;
            pid = whole_number(inner[open + 1..].trim_ascii());
            who = inner[..open].trim_ascii_end();
        }
        let digits = who.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (rest, digits) = who.split_at(who.len() - digits);
        let mut tid: i32 = whole_number(digits)?;
        let (&before, mut comm) = rest.split_last()?;
        match before {
            // perf prints -1 for an unknown tid.
            b'-' if middle.perf && comm.last() == Some(&b' ') => tid = -1,
            b'-' | b' ' => {}
            b'/' => {
                let digits = comm.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
                pid = whole_number(&comm[comm.len() - digits..]);
                comm = &comm[..comm.len() - digits];
            }
            _ => return None,
        }
        let comm = if middle.perf { comm.trim_ascii_end() } else { comm };
        let Middle { cpu, context, stamp, event, perf, payload } = middle;
        Some(Line { comm, tid, pid, cpu, context, stamp, event, payload, perf })
    }
}

impl<'a> Middle<'a> {
    /// From behind the `[`.
    fn parse(text: &'a [u8]) -> Option<Middle<'a>> {
        let (cpu, rest) = number(text)?;
        let rest = rest.strip_prefix(b"]")?;
        let (word, mut rest) = word(rest)?;
        let mut context = Context::Unknown;
        let mut time = word;
        if !word.ends_with(b":") {
            context = flags(word)?;
            (time, rest) = self::word(rest)?;
        }
        Middle::ending(cpu, context, time, rest)
    }

    fn parse_latency(text: &'a [u8]) -> Option<Middle<'a>> {
        let (cpu, rest) = number(text)?;
        let (flags_word, rest) = word(rest)?;
        let context = flags(flags_word)?;
        let (time, rest) = word(rest)?;
        Middle::ending(cpu, context, time, rest)
    }

    fn ending(cpu: i64, context: Context, time: &[u8], rest: &'a [u8]) -> Option<Middle<'a>> {
        let cpu = u16::try_from(cpu).ok().filter(|&cpu| usize::from(cpu) < CpuId::LIMIT)?;
        let stamp = Stamp::parse(time.strip_suffix(b":")?)?;
        let (mut event, mut rest) = word(rest)?;
        if event.iter().all(u8::is_ascii_digit) {
            (event, rest) = word(rest)?; // perf script can print a period
        }
        let event = event.strip_suffix(b":")?;
        let system = event.iter().position(|&byte| byte == b':');
        let name = &event[system.map_or(0, |at| at + 1)..];
        let named = name.first().is_some_and(|first| first.is_ascii_alphabetic());
        let payload = rest.trim_ascii();
        let perf = system.is_some();
        named.then_some(Middle { cpu: CpuId(cpu), context, stamp, event: name, perf, payload })
    }
}

impl Stamp {
    fn parse(text: &[u8]) -> Option<Stamp> {
        let (whole, rest) = digits(text)?;
        if rest.is_empty() {
            return Some(Stamp { time: whole, unit: 0 });
        }
        let rest = rest.strip_prefix(b".")?;
        let (fraction, end) = digits(rest)?;
        if !end.is_empty() || rest.len() > 9 {
            return None;
        }
        let unit = 10u32.pow(9 - rest.len() as u32);
        let time = whole.checked_mul(1_000_000_000)?.checked_add(fraction * u64::from(unit))?;
        Some(Stamp { time, unit })
    }
}

/// The context in `d..2.`: interrupts off, need to reschedule, hard or soft interrupt, depth of
/// disabled preemption, of disabled migration (`print_entry` in `kernel/trace/trace_output.c`).
fn flags(word: &[u8]) -> Option<Context> {
    let known = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.' || *byte == b'#';
    if !(4..=6).contains(&word.len()) || !word.iter().all(known) {
        return None;
    }
    match word[2] {
        b'H' | b'h' | b'Z' | b'z' => Some(Context::Hardirq),
        b's' => Some(Context::Softirq),
        b'.' => Some(Context::Task),
        _ => None,
    }
}

/// The next word and what follows it.
#[inline]
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let begin = text.iter().position(|&byte| byte != b' ' && byte != b'\t')?;
    let text = &text[begin..];
    let end = text.iter().position(|&byte| byte == b' ' || byte == b'\t').unwrap_or(text.len());
    Some(text.split_at(end))
}

/// Decimal digits at the start, and what follows them.
#[inline]
fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    let mut len = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        len += 1;
    }
    (len > 0).then_some((value, &text[len..]))
}

/// A decimal number at the start, signed, and what follows it.
#[inline]
pub(super) fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let (minus, unsigned) = match text.strip_prefix(b"-") {
        Some(unsigned) => (true, unsigned),
        None => (false, text),
    };
    let (value, rest) = digits(unsigned)?;
    let value = i64::try_from(value).ok()?;
    Some((if minus { -value } else { value }, rest))
}

/// A text that is one number.
pub(super) fn whole_number(text: &[u8]) -> Option<i32> {
    let (value, rest) = number(text)?;
    rest.is_empty().then_some(i32::try_from(value).ok()?)
}
