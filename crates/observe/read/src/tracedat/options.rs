//! The options of a trace.dat (trace-cmd.dat(5)).

use crate::ftrace::{Cursor, Endian};

/// A version 7 section and the place of its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) id: u16,
    pub(super) offset: u64,
}

/// The place of one CPU's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) cpu: u32,
    pub(super) offset: u64,
    pub(super) len: u64,
    /// Earlier data may also belong to this CPU, in a file whose index is gone.
    pub(super) late: bool,
}

/// A buffer as its option describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BufferOption {
    /// Empty for the top buffer.
    pub(super) name: String,
    /// The offset of its head.
    pub(super) offset: u64,
    pub(super) clock: String,
    pub(super) page_size: u32,
    pub(super) extents: Vec<Extent>,
    /// Version 6: its number of CPUs, if it differs from the machine's.
    pub(super) cpus: Option<u32>,
}

/// The contents of all options.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) clock: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) recorder: Option<String>,
    pub(super) cpus: Option<u32>,
    /// `mult`, `shift`, offset of the conversion from a TSC.
    pub(super) tsc: Option<(u32, u32, u64)>,
    /// Nanoseconds that the recorder wants to be added.
    pub(super) offset: i64,
    /// Shifts against a host's clock, which a guest's trace holds; they are not applied.
    pub(super) time_shift: bool,
    /// Guests that were recorded together with this host.
    pub(super) guests: Vec<String>,
    pub(super) stats: Vec<Stat>,
    pub(super) buffers: Vec<BufferOption>,
    pub(super) sections: Vec<Section>,
}

/// How many events one CPU of one buffer lost, by the recorder's statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) buffer: String,
    pub(super) cpu: u16,
    pub(super) lost: u64,
}

const DATE: u16 = 1;
const CPUSTAT: u16 = 2;
pub(super) const BUFFER: u16 = 3;
const TRACECLOCK: u16 = 4;
const UNAME: u16 = 5;
const OFFSET: u16 = 7;
const CPUCOUNT: u16 = 8;
const VERSION: u16 = 9;
const TIME_SHIFT: u16 = 12;
const GUEST: u16 = 13;
const TSC2NSEC: u16 = 14;
/// Sections of version 7 that are read.
pub(super) const HEADER_INFO: u16 = 16;
pub(super) const EVENT_FORMATS: u16 = 18;
pub(super) const CMDLINES: u16 = 21;

impl Facts {
    /// Reads one option. Options that are unknown, or too short, are ignored.
    pub(super) fn option(&mut self, id: u16, data: &[u8], endian: Endian, version: u32) {
        let mut cursor = Cursor::new(data, 0, endian);
        match id {
            DATE => self.offset = self.offset.wrapping_add(integer(data).wrapping_mul(1000)),
            OFFSET => self.offset = self.offset.wrapping_add(integer(data)),
            CPUSTAT => self.stat(&text(data)),
            BUFFER if version >= 7 => self.buffers.extend(buffer(&mut cursor)),
            BUFFER => {
                let (offset, name) = (cursor.u64(), cursor.text());
                let Some(offset) = offset else { return };
                let name = name.unwrap_or_default();
                self.buffers.push(BufferOption { name, offset, ..BufferOption::default() });
            }
            TRACECLOCK => self.clock = Some(super::clock::selected(&text(data))),
            UNAME => self.kernel = Some(text(data)),
            // Behind a buffer's option it is the number of CPUs of that buffer.
            CPUCOUNT => match self.buffers.last_mut() {
                Some(buffer) if version < 7 => buffer.cpus = cursor.u32(),
                _ => self.cpus = cursor.u32(),
            },
            VERSION => self.recorder = Some(text(data)),
            TIME_SHIFT => self.time_shift = true,
            GUEST => self.guests.extend(cursor.text()),
            TSC2NSEC => self.tsc = tsc(&mut cursor),
            HEADER_INFO | EVENT_FORMATS | CMDLINES if version >= 7 => {
                self.sections.extend(cursor.u64().map(|offset| Section { id, offset }));
            }
            _ => {}
        }
    }

    /// `CPU: 3`, `overrun: 17`, ... of one CPU; a text with `Buffer: name` precedes those of an
    /// instance.
    fn stat(&mut self, text: &str) {
        let mut stat = Stat { buffer: String::new(), cpu: u16::MAX, lost: 0 };
        let last = self.stats.last().map(|stat| stat.buffer.clone());
        stat.buffer = last.unwrap_or_default();
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let number = value.trim().parse::<u64>().unwrap_or(0);
            match key.trim() {
                "Buffer" => value.trim().clone_into(&mut stat.buffer),
                "CPU" => stat.cpu = u16::try_from(number).unwrap_or(u16::MAX),
                "overrun" | "commit overrun" | "dropped events" => {
                    stat.lost = stat.lost.saturating_add(number);
                }
                _ => {}
            }
        }
        self.stats.push(stat);
    }

    /// Events lost on `cpu` of `buffer`.
    pub(super) fn lost(&self, buffer: &str, cpu: u16) -> u64 {
        let of = |stat: &&Stat| stat.cpu == cpu && stat.buffer == buffer;
        self.stats.iter().filter(of).map(|stat| stat.lost).fold(0, u64::saturating_add)
    }
}

fn buffer(cursor: &mut Cursor) -> Option<BufferOption> {
    let offset = cursor.u64()?;
    let (name, clock) = (cursor.text()?, cursor.text()?);
    let page_size = cursor.u32()?;
    let mut extents = Vec::new();
    for _ in 0..cursor.u32()? {
        let cpu = cursor.u32()?;
        let (offset, len) = (cursor.u64()?, cursor.u64()?);
        extents.push(Extent { cpu, offset, len, late: false });
    }
    Some(BufferOption { name, offset, clock, page_size, extents, cpus: None })
}

fn tsc(cursor: &mut Cursor) -> Option<(u32, u32, u64)> {
    let (mult, shift, offset) = (cursor.u32()?, cursor.u32()?, cursor.u64()?);
    (mult != 0).then_some((mult, shift, offset))
}

/// A text option: up to its NUL, without line ends.
fn text(data: &[u8]) -> String {
    let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    String::from_utf8_lossy(&data[..end]).trim().to_owned()
}

/// A number in text, decimal or hexadecimal; 0 if it is not a number.
fn integer(data: &[u8]) -> i64 {
    let text = text(data);
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    number.unwrap_or(0).wrapping_mul(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_belong_to_the_buffer_named_before_them() {
        let mut facts = Facts::default();
        let mut stat = |text: &[u8]| facts.option(CPUSTAT, text, Endian::Little, 7);
        stat(b"CPU: 1\nentries: 4\noverrun: 10\ncommit overrun: 1\ndropped events: 2\n\0");
        stat(b"\nBuffer: work\n\n\0");
        stat(b"CPU: 1\noverrun: 7\n\0");
        assert_eq!((facts.lost("", 1), facts.lost("work", 1), facts.lost("", 0)), (13, 7, 0));
    }

    #[test]
    fn offsets_are_decimal_or_hexadecimal_texts() {
        let numbers = [&b"123\0"[..], b"-0x10", b"0x7f\0", b"junk"].map(integer);
        assert_eq!(numbers, [123, -16, 127, 0]);
    }

    #[test]
    fn short_options_say_nothing() {
        let mut facts = Facts::default();
        for id in 0..40 {
            for len in 0..12 {
                facts.option(id, &[0xff; 12][..len], Endian::Big, 7);
                facts.option(id, &[0xff; 12][..len], Endian::Little, 6);
            }
        }
        assert_eq!(facts.tsc, None);
    }
}
