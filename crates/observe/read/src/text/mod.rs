//! Trace text: ftrace's own `trace` file, `trace-cmd report`, `perf script`.
//!
//! [`line`] reads the part before an event's fields, [`fields`] the fields, [`head`] all lines that
//! are not events. A first pass finds each CPU's lines, a second decodes them per CPU.

mod fields;
mod head;
mod line;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::BufRead;

use wastenot_model::{Carries, Clock, Context, Head, History, Loss, LossKind, Machine, Span};

use crate::assemble::{Known, assemble};
use crate::merge::Stream;
use crate::raw::{Raw, RawEvent};
use crate::{Error, Options};
use fields::{Told, fields};
use line::Line;

const FORMAT: &str = "trace text";

/// Whether text begins like a trace: one of its first lines is an event, or a header that only
/// these tools write.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    const LINES: usize = 200;
    let begin = &bytes[..bytes.len().min(64 << 10)];
    begin.split(|&byte| byte == b'\n').take(LINES).any(|line| {
        line.starts_with(b"# tracer: ") || line.starts_with(b"cpus=") || Line::parse(line).is_some()
    })
}

/// Reads trace text.
pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<History, Error> {
    let mut index = Index::new(options);
    let mut at = 0;
    while at < bytes.len() {
        let line = line_at(bytes, at);
        index.line(at, line);
        at += line.len() + 1;
    }
    let cut = !bytes.ends_with(b"\n");
    let lanes = std::mem::take(&mut index.lanes);
    let known = index.finish(cut)?;
    let lanes = lanes.into_iter().enumerate().filter(|(_, lines)| !lines.is_empty());
    let streams = lanes.map(|(cpu, lines)| (cpu as u16, Lines::new(bytes, lines))).collect();
    Ok(assemble(known, streams))
}

/// The line that begins at `at`, without its end.
fn line_at(bytes: &[u8], at: usize) -> &[u8] {
    let mut rest = &bytes[at..];
    // Uses the platform's fast search; reading from memory does not fail.
    let len = rest.skip_until(b'\n').unwrap_or(bytes.len() - at);
    let line = &bytes[at..at + len];
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// The result of the first pass.
struct Index {
    head: Head,
    /// By CPU: the start of each of its lines, and how much its stamp is moved.
    lanes: Vec<Vec<LineRef>>,
    names: HashMap<i32, String>,
    pids: HashMap<i32, i32>,
    order: FileOrder,
    /// Lines of events that are read, and how many of them are not understood.
    read: u64,
    odd: u64,
    /// Lines that are neither events nor remarks.
    foreign: u64,
    first_foreign: String,
    other_events: u64,
    perf: bool,
    /// All lines print the flags.
    flagged: bool,
    /// The value of the last digit of the least exact stamp; 0: the stamps are not seconds.
    unit: Option<u32>,
    /// The last tid whose name was noted.
    noted: i32,
}

impl Index {
    fn new(options: &Options) -> Index {
        let mut head = Head::new(Machine::flat(0));
        head.source.name.clone_from(&options.name);
        Index {
            head,
            lanes: Vec::new(),
            names: HashMap::new(),
            pids: HashMap::new(),
            order: FileOrder::default(),
            read: 0,
            odd: 0,
            foreign: 0,
            first_foreign: String::new(),
            other_events: 0,
            perf: false,
            flagged: true,
            unit: None,
            noted: i32::MIN,
        }
    }

    fn line(&mut self, at: usize, line: &[u8]) {
        if let Some(event) = Line::parse(line) {
            return self.event(at, &event);
        }
        match head::lost(line) {
            Some(Some((cpu, _))) => self.push(cpu.index(), at, 0),
            Some(None) => {}
            None if head::remark(line, &mut self.head) => {}
            None if self.perf && is_frame(line) => {}
            None => {
                if self.foreign == 0 {
                    let begin = &line[..line.len().min(60)];
                    self.first_foreign = String::from_utf8_lossy(begin).trim().to_owned();
                }
                self.foreign += 1;
            }
        }
    }

    fn event(&mut self, at: usize, line: &Line<'_>) {
        let told = fields(line);
        if told == Told::Nothing {
            self.other_events += 1;
            return;
        }
        self.note(line);
        self.read += 1;
        self.odd += u64::from(told == Told::Odd);
        let rank = match told {
            Told::Event(event) => event.rank(),
            _ => 0,
        };
        let later = self.order.later(line, rank);
        self.push(line.cpu.index(), at, later);
    }

    fn push(&mut self, cpu: usize, at: usize, later_ns: u16) {
        if cpu >= self.lanes.len() {
            self.lanes.resize_with(cpu + 1, Vec::new);
        }
        self.lanes[cpu].push(LineRef::new(at, later_ns));
    }

    fn note(&mut self, line: &Line<'_>) {
        self.perf |= line.perf;
        self.flagged &= line.context != Context::Unknown;
        let unit = line.stamp.unit;
        self.unit = Some(match self.unit {
            Some(least) if least == 0 || unit == 0 => 0,
            Some(least) => least.max(unit),
            None => unit,
        });
        if line.tid == self.noted {
            return;
        }
        self.noted = line.tid;
        if !matches!(line.comm, b"<...>" | b"<idle>" | b"") {
            let name = || String::from_utf8_lossy(line.comm).into_owned();
            self.names.entry(line.tid).or_insert_with(name);
        }
        if let Some(pid) = line.pid {
            self.pids.insert(line.tid, pid);
        }
    }

    fn finish(mut self, cut: bool) -> Result<Known, Error> {
        if self.read == self.odd {
            let what = match (self.odd, self.other_events) {
                (0, 0) => format!("the first line is `{}`", self.first_foreign),
                (0, count) => format!("only {count} events of other types"),
                (count, _) => format!("{count} scheduling events in an unknown form"),
            };
            return Err(Error::NoEvents { format: FORMAT, what });
        }
        self.head.source.format = match self.perf {
            true => "perf script text".into(),
            false => "ftrace text".into(),
        };
        self.head.clock = Clock { name: String::new(), nanoseconds: self.unit != Some(0) };
        self.head.carries = self.carries();
        let losses = self.losses(cut);
        let mut known = Known::new(self.head);
        (known.names, known.pids, known.losses) = (self.names, self.pids, losses);
        Ok(known)
    }

    fn carries(&self) -> Carries {
        let mut carries = Carries::WAKERS | Carries::LEFT | Carries::PRIO | Carries::NAMES;
        if self.flagged {
            carries |= Carries::CONTEXT;
        }
        if !self.perf {
            carries |= Carries::LOSSES; // perf script prints no lost events
        }
        if !self.pids.is_empty() {
            carries |= Carries::TGID;
        }
        carries
    }

    fn losses(&self, cut: bool) -> Vec<Loss> {
        let mut losses = Vec::new();
        let mut notes = Vec::new();
        match self.unit {
            Some(0) => {
                losses.push(Loss::new(LossKind::UnknownUnit, "the timestamps are not in seconds"));
            }
            Some(unit) if unit > 1 => notes.push(format!(
                "the timestamps have a resolution of {} only; print nanoseconds with `trace-cmd \
                 report -t` or `perf script --ns`",
                Span(unit.into())
            )),
            _ => {}
        }
        let odd = self.odd + self.foreign;
        if odd > 0 {
            notes.push(format!("{odd} lines could not be parsed"));
        }
        if self.foreign > 0 {
            notes.push(format!("the first of these lines is `{}`", self.first_foreign));
        }
        if !notes.is_empty() {
            let mut loss = Loss::new(LossKind::Unread, notes.join("; "));
            loss.count = (odd > 0).then_some(odd);
            losses.push(loss);
        }
        if cut {
            losses.push(Loss::new(LossKind::Cut, "the last line has no line feed"));
        }
        losses
    }
}

/// A line of a call chain, as `perf script` prints them below an event.
fn is_frame(line: &[u8]) -> bool {
    let word = line.trim_ascii_start();
    let digits = word.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    word.len() < line.len() && digits >= 4 && word.get(digits) == Some(&b' ')
}

/// The start of a line (48 bits), and by how much its stamp is moved (16 bits).
#[derive(Clone, Copy, Debug)]
struct LineRef(u64);

impl LineRef {
    fn new(at: usize, later_ns: u16) -> LineRef {
        LineRef(at as u64 | u64::from(later_ns) << 48)
    }
    fn at(self) -> usize {
        (self.0 & ((1 << 48) - 1)) as usize
    }
    fn later_ns(self) -> u64 {
        self.0 >> 48
    }
}

/// Keeps the order of the file where stamps are too coarse to show it.
///
/// The tools print events in the order of their exact times. For events of several CPUs in one
/// microsecond the merge would make another order, and a task could be woken before it sleeps. Such
/// an event is moved by the fewest nanoseconds that keep it behind the one before.
#[derive(Default)]
struct FileOrder {
    last: (u64, u32, u16),
}

impl FileOrder {
    fn later(&mut self, line: &Line<'_>, rank: u32) -> u16 {
        let (time, unit) = (line.stamp.time, u64::from(line.stamp.unit));
        let key = (time, rank, line.cpu.0);
        let (last, ..) = self.last;
        if unit <= 1 || key >= self.last || time / unit != last / unit {
            self.last = key;
            return 0;
        }
        let moved = (last, rank, line.cpu.0);
        let moved = if moved >= self.last { moved } else { (last + 1, rank, line.cpu.0) };
        if moved.0 / unit != time / unit || moved.0 - time > u64::from(u16::MAX) {
            return 0;
        }
        self.last = moved;
        (moved.0 - time) as u16
    }
}

/// The second pass over one CPU's lines.
struct Lines<'a> {
    bytes: &'a [u8],
    lines: std::vec::IntoIter<LineRef>,
    /// The time of the last event; a gap begins there.
    last: Option<u64>,
    /// Gaps before the first event.
    first: Vec<Option<u32>>,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8], lines: Vec<LineRef>) -> Lines<'a> {
        Lines { bytes, lines: lines.into_iter(), last: None, first: Vec::new() }
    }

    fn decode(&mut self, line: LineRef, out: &mut Vec<Raw>) {
        let text = line_at(self.bytes, line.at());
        let Some(header) = Line::parse(text) else {
            let count = head::lost(text).flatten().and_then(|(_, count)| count);
            return self.gap(count, out);
        };
        let time = header.stamp.time.saturating_add(line.later_ns());
        self.last = Some(time);
        for count in std::mem::take(&mut self.first) {
            self.gap(count, out);
        }
        match fields(&header) {
            Told::Event(event) => {
                out.push(Raw { time, current: header.tid, context: header.context, event });
            }
            Told::Odd => self.gap(Some(1), out),
            Told::Nothing => {}
        }
    }

    fn gap(&mut self, count: Option<u32>, out: &mut Vec<Raw>) {
        let Some(time) = self.last else {
            self.first.push(count);
            return;
        };
        let event = RawEvent::Lost { count };
        out.push(Raw { time, current: -1, context: Context::Unknown, event });
    }
}

impl Stream for Lines<'_> {
    fn fill(&mut self, out: &mut Vec<Raw>) {
        const BATCH: usize = 512;
        let full = out.len() + BATCH;
        while out.len() < full {
            let Some(line) = self.lines.next() else { break };
            self.decode(line, out);
        }
    }
}
