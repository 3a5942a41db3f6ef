//! One format description of the kernel: `name:`, `ID:`, `field:` lines, `print fmt:`.
//!
//! Layouts differ between kernels (6.18 made `sched_migrate_task.comm` a `__data_loc`), so every
//! offset and the letters of `prev_state` come from here. Described in the kernel's
//! `Documentation/trace/events.rst`, section 2.2.

use wastenot_model::Left;

use super::field::CommField;
use super::{Endian, Field};

/// An event's description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) name: String,
    pub(crate) id: u16,
    fields: Vec<Declared>,
    print: String,
}

/// One `field:` line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declared {
    name: String,
    place: Place,
    offset: usize,
    size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Here,
    DataLoc,
    RelLoc,
}

/// The descriptions of events in a recording.
#[derive(Clone, Debug)]
pub struct Formats {
    /// The name of the recording.
    pub(crate) name: String,
    pub(crate) endian: Endian,
    pub(crate) events: Vec<(String, Format)>,
}

impl Format {
    /// `None` when there is no name or id in the text.
    pub(crate) fn parse(text: &[u8]) -> Option<Format> {
        let text = String::from_utf8_lossy(text);
        let mut format = Format::default();
        let mut id = None;
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix("name:") {
                name.trim().clone_into(&mut format.name);
            } else if let Some(number) = line.strip_prefix("ID:") {
                id = number.trim().parse().ok();
            } else if let Some(print) = line.strip_prefix("print fmt:") {
                print.trim().clone_into(&mut format.print);
            } else if line.starts_with("field:") {
                format.fields.extend(Declared::parse(line));
            }
        }
        format.id = id?;
        (!format.name.is_empty()).then_some(format)
    }

    fn find(&self, name: &str) -> Option<&Declared> {
        self.fields.iter().find(|field| field.name == name)
    }
    /// An integer field.
    pub(crate) fn field(&self, name: &str) -> Option<Field> {
        let found = self.find(name).filter(|field| field.place == Place::Here)?;
        Field::new(found.offset, found.size)
    }
    /// Where an integer of `size` bytes among the first 8 of every record begins.
    pub(crate) fn common(&self, name: &str, size: usize) -> Option<usize> {
        let found = self.find(name).filter(|field| field.size == size)?;
        (found.offset <= 8 - size).then_some(found.offset)
    }
    /// A text field.
    pub(crate) fn comm(&self, name: &str) -> CommField {
        let Some(found) = self.find(name) else { return CommField::Absent };
        let Ok(offset) = u16::try_from(found.offset) else { return CommField::Absent };
        match (found.place, Field::new(found.offset, found.size)) {
            // Only the first 16 bytes can be a command name.
            (Place::Here, _) => CommField::Fixed { offset, len: found.size.min(16) as u16 },
            (Place::DataLoc, Some(field)) => CommField::DataLoc(field),
            (Place::RelLoc, Some(field)) => {
                CommField::RelLoc(field, offset.saturating_add(found.size as u16))
            }
            (_, None) => CommField::Absent,
        }
    }

    /// What the bits of `prev_state` mean, by the `{ bit, "letter" }` pairs of `print fmt`.
    pub(crate) fn states(&self) -> States {
        let mut states = States { mask: 0, plus: 0, left: [Left::Unknown; 32] };
        for pair in self.print.split('{').skip(1) {
            let Some((bit, rest)) = pair.split_once(',') else { continue };
            let Some(bit) = number(bit.trim()).filter(|bit| bit.is_power_of_two()) else {
                continue;
            };
            let letter = rest.trim_start().strip_prefix('"').and_then(|name| name.chars().next());
            let Some(letter) = letter else { continue };
            states.left[bit.trailing_zeros() as usize] = Left::from_letter(letter);
            states.mask |= bit;
        }
        // Above the reported states stands the bit that `print fmt` shows as `+`.
        states.plus = states.mask.checked_next_power_of_two().unwrap_or(0);
        states
    }
}

/// The letters of `prev_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct States {
    mask: u32,
    plus: u32,
    left: [Left; 32],
}

impl States {
    #[inline(always)]
    pub(crate) fn left(&self, state: u32) -> Left {
        let bits = state & self.mask;
        if bits != 0 {
            return self.left[bits.trailing_zeros() as usize];
        }
        match state {
            0 => Left::Runnable,
            _ if state & self.plus != 0 => Left::Preempted,
            _ => Left::Unknown,
        }
    }
}

impl Declared {
    /// A line such as `field:__data_loc char[] comm; offset:8; size:4; signed:0;`
    fn parse(line: &str) -> Option<Declared> {
        let mut parts = line.split(';').map(str::trim);
        let declaration = parts.next()?.strip_prefix("field:")?;
        let (mut offset, mut size) = (None, None);
        for part in parts {
            match part.split_once(':') {
                Some(("offset", number)) => offset = number.trim().parse().ok(),
                Some(("size", number)) => size = number.trim().parse().ok(),
                _ => {}
            }
        }
        let place = match declaration.split_whitespace().next()? {
            "__data_loc" => Place::DataLoc,
            "__rel_loc" => Place::RelLoc,
            _ => Place::Here,
        };
        // The name is the last word, without the bounds of an array.
        let last = declaration.split_whitespace().next_back()?;
        let name = last.split('[').next()?.trim_start_matches('*').to_owned();
        Some(Declared { name, place, offset: offset?, size: size? })
    }
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Offsets and sizes of the parts of a ring-buffer page, from `header_page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageLayout {
    pub(crate) timestamp: usize,
    pub(crate) commit: usize,
    pub(crate) commit_size: usize,
    pub(crate) data: usize,
    /// Bytes of data, with the page size of the kernel that wrote the description; a file states
    /// the size of its own pages.
    pub(crate) data_size: usize,
}

impl PageLayout {
    /// `None` when the description lacks a part or its parts overlap the data.
    pub(crate) fn parse(text: &[u8]) -> Option<PageLayout> {
        let text = String::from_utf8_lossy(text);
        let fields: Vec<Declared> =
            text.lines().filter_map(|line| Declared::parse(line.trim())).collect();
        let find = |name: &str| fields.iter().find(|field| field.name == name);
        let (timestamp, commit, data) = (find("timestamp")?, find("commit")?, find("data")?);
        let fits = |end: Option<usize>| end.is_some_and(|end| end <= data.offset);
        let sound = data.offset <= 4096
            && timestamp.size == 8
            && matches!(commit.size, 4 | 8)
            && fits(timestamp.offset.checked_add(8))
            && fits(commit.offset.checked_add(commit.size));
        sound.then_some(PageLayout {
            timestamp: timestamp.offset,
            commit: commit.offset,
            commit_size: commit.size,
            data: data.offset,
            data_size: data.size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: &str = "(REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", \
        { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000080, \"I\" }) : \"R\", \
        REC->prev_state & 0x100 ? \"+\" : \"\"";

    #[test]
    fn states_come_from_the_text() {
        let text = format!("name: sched_switch\nID: 310\nformat:\nprint fmt: \"%s\", {PAIRS}\n");
        let states = Format::parse(text.as_bytes()).expect("a format").states();
        let lefts = [0, 0x100, 1, 2, 0x80, 0x81, 0x200].map(|state| states.left(state));
        let want = ["R", "R+", "S", "D", "I", "S", "?"];
        assert_eq!(lefts.map(Left::letters), want);
    }

    #[test]
    fn old_kernels_write_decimal_bits_without_spaces() {
        let print = "__print_flags(x, \"|\", { 1, \"S\"} , { 2, \"D\" }, { 1024, \"N\" })";
        let text = format!("name: sched_switch\nID: 1\nprint fmt: \"%s\", {print}");
        let states = Format::parse(text.as_bytes()).expect("a format").states();
        assert_eq!(states.left(2048), Left::Preempted);
        assert_eq!(states.left(2), Left::Blocked);
    }

    #[test]
    fn a_text_without_name_or_id_is_no_format() {
        assert_eq!(Format::parse(b"name: x\n"), None);
        assert_eq!(Format::parse(b"ID: 4\n"), None);
        assert_eq!(Format::parse(b"name: x\nID: 70000\n"), None);
        assert_eq!(Format::parse(b""), None);
    }

    #[test]
    fn a_page_whose_parts_overlap_is_refused() {
        let page = |data: u64| {
            let text = format!(
                "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                 \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
                 \tfield: char data;\toffset:{data};\tsize:4080;\tsigned:1;\n"
            );
            PageLayout::parse(text.as_bytes())
        };
        let (data, data_size) = (16, 4080);
        let want = PageLayout { timestamp: 0, commit: 8, commit_size: 8, data, data_size };
        assert_eq!(page(16), Some(want));
        assert_eq!(page(12), None);
        assert_eq!(page(1u64 << 40), None);
    }
}
