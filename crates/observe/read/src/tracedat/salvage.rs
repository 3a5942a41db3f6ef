//! Finds the events of a version 7 file whose index of buffers was cut off.
//!
//! trace-cmd writes a buffer's data as one section, and behind it the options with the start of
//! each CPU's data. Without them, two things remain. The writer always orders its data in the same
//! way: CPUs ascend, packed streams begin at multiples of the page size, pages follow one another,
//! and stamps of one CPU never go backwards. And some events name their CPU: the idle task of CPU 5
//! is called `swapper/5`. Together they often leave only one possible CPU for a part. A part with
//! several possible CPUs is left out.

use wastenot_model::{CpuId, Loss, LossKind};

use super::clock::Stamps;
use super::codec::Codec;
use super::contents::Contents;
use super::options::{BufferOption, Extent};
use super::pages::chunk_head;
use super::ring::Ring;
use crate::ftrace::{Big, Cursor, Decoder, Endian, Little, Order};
use crate::merge::Stream;
use crate::raw::{Raw, RawEvent};

/// Sections by id (trace-cmd.dat(5)).
const OPTIONS: u16 = 0;
const DATA: u16 = 3;
/// No kernel has smaller pages. Smaller ones would make many parts of a few bytes.
const PAGE_MIN: u32 = 4096;
/// A file has a few buffers; a file of many tiny sections is not worth the time.
const SECTIONS: usize = 256;

/// Adds the buffers whose data is there but whose options are not; sections begin at `first`.
/// Reports how much was found, if anything was.
pub(super) fn buffers(contents: &mut Contents, first: usize) -> Vec<Loss> {
    match contents.endian {
        Endian::Little => find(contents, first, Little),
        Endian::Big => find(contents, first, Big),
    }
}

fn find<O: Order>(contents: &mut Contents, first: usize, order: O) -> Vec<Loss> {
    let decoder = Decoder::new(&contents.formats, contents.endian);
    let Some(decoder) = decoder.filter(|_| contents.page_size >= PAGE_MIN) else {
        return Vec::new();
    };
    let (mut cpus, mut left_out) = (0, 0);
    for section in sections(contents, first) {
        if contents.buffers.iter().any(|buffer| buffer.offset == section.offset as u64) {
            continue;
        }
        let parts = match contents.codec {
            Codec::None => pages(contents, &decoder, &section, order),
            _ => streams(contents, &decoder, &section, order),
        };
        let owners = owners(&parts, contents.facts.cpus.unwrap_or(CpuId::LIMIT as u32));
        let (extents, unclear) = extents(&parts, &owners);
        left_out += unclear;
        if extents.is_empty() {
            continue;
        }
        cpus += extents.len();
        // The top buffer comes first; the names of others are in the options that are gone.
        let name = if contents.buffers.is_empty() { "" } else { "unknown" }.to_owned();
        let offset = section.offset as u64;
        contents.buffers.push(BufferOption { name, offset, extents, ..BufferOption::default() });
    }
    losses(cpus, contents.facts.cpus, left_out)
}

fn losses(cpus: usize, of: Option<u32>, left_out: u64) -> Vec<Loss> {
    let of = of.map_or(String::new(), |of| format!(" of {of}"));
    let note =
        format!("the file ends before its buffer index, but has the data of {cpus}{of} CPUs");
    let mut losses = vec![Loss::new(LossKind::Cut, note)];
    if left_out > 0 {
        let note = "parts of the data were skipped, because the file does not say to which CPU \
                    they belong";
        losses.push(Loss { count: Some(left_out), ..Loss::new(LossKind::Damaged, note) });
    }
    losses
}

/// A section of data: the place of its head, and where its content begins and should end.
struct Section {
    offset: usize,
    start: usize,
    end: usize,
}

/// The sections of data, up to where the file ends. Sections follow one another.
fn sections(contents: &Contents, first: usize) -> Vec<Section> {
    let mut cursor = Cursor::new(contents.bytes, first, contents.endian);
    let mut found = Vec::new();
    loop {
        let offset = cursor.at();
        let Some((id, len)) = section_head(&mut cursor) else { return found };
        let mut ahead = cursor;
        let ends = matches!(section_head(&mut ahead), Some((OPTIONS, len)) if len > 0);
        let start = cursor.at();
        let end = match usize::try_from(len) {
            // A buffer without data; or the writer died before it knew the amount of data.
            Ok(0) if ends => start,
            Ok(0) if id == DATA => usize::MAX,
            Ok(len) => start.saturating_add(len),
            Err(_) => usize::MAX,
        };
        if id == DATA && end > start {
            found.push(Section { offset, start, end });
        }
        if found.len() == SECTIONS || cursor.take(end - start).is_none() {
            return found;
        }
    }
}

fn section_head(cursor: &mut Cursor) -> Option<(u16, u64)> {
    let (id, _flags, _name) = (cursor.u16()?, cursor.u16()?, cursor.u32()?);
    Some((id, cursor.u64()?))
}

/// Data that certainly belongs to one CPU: a page, or a packed stream.
struct Part {
    offset: u64,
    len: u64,
    /// The CPU that its events name.
    named: Option<u32>,
    /// It belongs to a later CPU than the part before it.
    apart: bool,
}

/// The pages of a section, without those that are empty.
fn pages<O: Order>(
    contents: &Contents,
    decoder: &Decoder,
    section: &Section,
    order: O,
) -> Vec<Part> {
    let page_size = contents.page_size as usize;
    let mut parts = Vec::new();
    let Some(start) = section.start.checked_next_multiple_of(page_size) else { return parts };
    let mut last_stamp = 0;
    for at in (start..section.end.min(contents.bytes.len())).step_by(page_size) {
        let (offset, len) = (at as u64, page_size as u64);
        let Some(told) = told(contents, decoder, (offset, len), order) else { continue };
        let apart = told.first < last_stamp;
        last_stamp = told.last;
        parts.push(Part { offset, len, named: told.cpu, apart });
    }
    parts
}

/// The packed streams of a section, without those that are empty.
fn streams<O: Order>(
    contents: &Contents,
    decoder: &Decoder,
    section: &Section,
    order: O,
) -> Vec<Part> {
    let mut parts = Vec::new();
    let bytes = &contents.bytes[..section.end.min(contents.bytes.len())];
    let mut cursor = Cursor::new(bytes, section.start, contents.endian);
    loop {
        let Some(at) = cursor.at().checked_next_multiple_of(contents.page_size as usize) else {
            return parts;
        };
        cursor = Cursor::new(bytes, at, contents.endian);
        let Some(chunks) = cursor.u32() else { return parts };
        let whole = (0..chunks).all(|_| chunk_head(&mut cursor).is_some());
        // The length does not include the number of chunks, so that of a cut stream ends past the
        // file.
        let len = if whole { cursor.at() - at - 4 } else { bytes.len() - at };
        let (offset, len) = (at as u64, len as u64);
        let told = told(contents, decoder, (offset, len), order);
        // Damaged streams count for the order; one of which the cut left no event is gone.
        if chunks > 0 && (whole || told.is_some()) {
            let named = told.and_then(|told| told.cpu);
            parts.push(Part { offset, len, named, apart: true });
        }
        if !whole {
            return parts;
        }
    }
}

/// The information in the events of a part.
struct ToldBy {
    cpu: Option<u32>,
    first: u64,
    last: u64,
}

/// `None` if there are none.
fn told<O: Order>(
    contents: &Contents,
    decoder: &Decoder,
    (offset, len): (u64, u64),
    order: O,
) -> Option<ToldBy> {
    let extent = Extent { cpu: 0, offset, len, late: false };
    let part = BufferOption { extents: vec![extent], ..BufferOption::default() };
    let (cpu, pages, room) = contents.pages(&part, &mut Vec::new()).pop()?;
    let mut ring = Ring::new((cpu, pages), decoder, contents.page, Stamps::default(), order);
    ring.limit(room);
    let mut told: Option<ToldBy> = None;
    let mut batch = Vec::new();
    loop {
        batch.clear();
        ring.fill(&mut batch);
        let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return told };
        let known = told.get_or_insert(ToldBy { cpu: None, first: first.time, last: 0 });
        known.last = last.time;
        known.cpu = known.cpu.or_else(|| batch.iter().find_map(idle_cpu));
    }
}

/// The CPU whose idle task takes part in a switch.
fn idle_cpu(raw: &Raw) -> Option<u32> {
    let RawEvent::Switch { prev, next, prev_comm, next_comm, .. } = raw.event else { return None };
    let idle = match (prev, next) {
        (0, _) => prev_comm,
        (_, 0) => next_comm,
        _ => return None,
    };
    let cpu = idle.text().strip_prefix("swapper/")?.parse().ok()?;
    ((cpu as usize) < CpuId::LIMIT).then_some(cpu)
}

/// The CPU of each part for which only one of `cpus` is possible: parts between two named ones have
/// CPU numbers between theirs as well.
fn owners(parts: &[Part], cpus: u32) -> Vec<Option<u32>> {
    let mut highest = vec![0; parts.len()];
    let mut most = i64::from(cpus) - 1;
    for (part, highest) in parts.iter().zip(&mut highest).rev() {
        *highest = part.named.map_or(most, i64::from);
        most = *highest - i64::from(part.apart);
    }
    let mut least = -1;
    let owner = |(index, (part, highest)): (usize, (&Part, &i64))| {
        let step = part.apart || index == 0;
        least = part.named.map_or(least + i64::from(step), i64::from);
        (least == *highest).then(|| u32::try_from(least).ok()).flatten()
    };
    parts.iter().zip(&highest).enumerate().map(owner).collect()
}

/// The extent of each CPU, and how many parts are in none.
fn extents(parts: &[Part], owners: &[Option<u32>]) -> (Vec<Extent>, u64) {
    let mut extents: Vec<Extent> = Vec::new();
    let mut left_out = 0;
    // Whether the part before this one went into the last extent.
    let mut joined = true;
    for (part, &owner) in parts.iter().zip(owners) {
        let last = extents.last_mut();
        let before = last.as_ref().map(|last| last.cpu);
        match (owner, last) {
            // Only pages are joined: the end of each stream is known.
            (Some(cpu), Some(last)) if last.cpu == cpu && joined && !part.apart => {
                last.len = part.offset + part.len - last.offset;
            }
            (Some(cpu), _) if before.is_none_or(|before| before < cpu) => {
                let late = !joined && !part.apart;
                extents.push(Extent { cpu, offset: part.offset, len: part.len, late });
                joined = true;
            }
            _ => {
                left_out += 1;
                joined = false;
            }
        }
    }
    (extents, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(named: Option<u32>, apart: bool) -> Part {
        Part { offset: 0, len: 1, named, apart }
    }

    #[test]
    fn a_part_between_named_ones_is_of_the_only_cpu_between_them() {
        let named = |cpus: [Option<u32>; 4], count| owners(&cpus.map(|cpu| part(cpu, true)), count);
        assert_eq!(named([None, Some(1), None, Some(3)], 9), [0, 1, 2, 3].map(Some));
        assert_eq!(named([None, Some(2), None, Some(4)], 9), [None, Some(2), Some(3), Some(4)]);
        assert_eq!(named([Some(0), None, None, Some(4)], 9), [Some(0), None, None, Some(4)]);
        assert_eq!(named([Some(5), Some(6), Some(7), None], 9), [5, 6, 7, 8].map(Some));
        assert_eq!(named([Some(5), Some(6), Some(7), None], 10)[3], None);
    }

    #[test]
    fn a_page_that_could_be_of_either_neighbour_is_left_out() {
        let middle = |apart, next| {
            let parts = [part(Some(1), false), part(None, apart), part(Some(next), false)];
            owners(&parts, 9)[1]
        };
        assert_eq!(middle(false, 1), Some(1), "between two pages of one CPU");
        assert_eq!(middle(false, 2), None);
        assert_eq!(middle(true, 2), Some(2), "its stamps went back: a new CPU");
        assert_eq!(middle(true, 3), None);
    }

    #[test]
    fn the_page_behind_one_left_out_may_lack_events_before_it() {
        let parts = [part(Some(1), false), part(None, false), part(Some(2), false)];
        let (extents, left_out) = extents(&parts, &owners(&parts, 9));
        assert_eq!(extents.iter().map(|extent| extent.late).collect::<Vec<_>>(), [false, true]);
        assert_eq!(left_out, 1);
    }

    #[test]
    fn parts_that_do_not_ascend_are_left_out() {
        let parts = [Some(2), Some(1), Some(2), Some(3)].map(|cpu| part(cpu, true));
        let (extents, left_out) = extents(&parts, &owners(&parts, 9));
        assert_eq!(extents.iter().map(|extent| extent.cpu).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(left_out, 2);
    }
}
