//! trace-cmd's trace.dat, versions 6 and 7: the kernel's ring-buffer pages unchanged.
//!
//! [`v6`] and [`v7`] find what [`contents`] holds; [`pages`] returns the pages of one CPU, unpacked
//! by [`codec`]; [`ring`] walks their records; [`salvage`] finds pages whose index is cut off;
//! [`glance`] chooses a few of all pages. Layouts come from the descriptions in the file.
//!
//! Events that are not read show only which task a CPU ran, so a CPU's first one is kept as
//! [`RawEvent::Seen`](crate::raw::RawEvent) if that CPU has no other event.

mod clock;
mod codec;
mod contents;
mod glance;
#[cfg(test)]
mod golden;
mod options;
mod pages;
mod ring;
mod salvage;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
mod v6;
mod v7;

use wastenot_model::{Carries, Change, Event, Head, History, Loss, LossKind, Machine};

use self::clock::{Scale, Stamps};
use self::contents::Contents;
use self::options::BufferOption;
use self::ring::Ring;
use crate::assemble::{Known, assemble};
use crate::ftrace::head::Preamble;
use crate::ftrace::{Big, Decoder, Endian, Format, Little, Order};
use crate::{Error, Options};

/// The name of the format in errors.
const NAME: &str = "trace.dat";

/// Reads a trace.dat.
pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<History, Error> {
    part(bytes, options, None)
}

/// Reads stretches that have about `room` bytes together; `None` if that is not much less than all,
/// and for what cannot be read.
pub(crate) fn glance(bytes: &[u8], options: &Options, room: usize) -> Option<History> {
    part(bytes, options, Some(room)).ok()
}

fn part(bytes: &[u8], options: &Options, room: Option<usize>) -> Result<History, Error> {
    let contents = contents(bytes)?;
    match contents.endian {
        Endian::Little => history(&contents, options, room, Little),
        Endian::Big => history(&contents, options, room, Big),
    }
}

fn contents(bytes: &[u8]) -> Result<Contents<'_>, Error> {
    let (preamble, cursor) = Preamble::parse(bytes, NAME)?;
    match preamble.version.as_str() {
        "6" => v6::read(bytes),
        "7" => v7::read(bytes, &preamble, cursor),
        _ => Err(Error::Version { format: NAME, version: preamble.version }),
    }
}

/// The descriptions of events in a trace.dat.
pub(crate) fn formats(bytes: &[u8]) -> Result<(Endian, Vec<(String, Format)>), Error> {
    let contents = contents(bytes)?;
    Ok((contents.endian, contents.formats))
}

fn history<O: Order>(
    contents: &Contents,
    options: &Options,
    room: Option<usize>,
    order: O,
) -> Result<History, Error> {
    let Some(decoder) = Decoder::new(&contents.formats, contents.endian) else {
        return Err(no_events("it has no description of any scheduling event"));
    };
    let buffer = choose(contents, options, &decoder, order)?;
    let (stamps, unit) = stamps(contents, buffer, options);
    let mut known = Known::new(head(contents, buffer, options, &decoder, stamps));
    known.until = options.until;
    known.losses = contents.losses.clone();
    known.losses.extend(unit);
    for name in &decoder.unread {
        let note =
            format!("the description of {name} lacks fields that are needed to read this event");
        known.losses.push(Loss::new(LossKind::Unread, note));
    }
    known.names.clone_from(&contents.names);
    let mut pages = contents.pages(buffer, &mut known.losses);
    if let Some(room) = room {
        let chosen = glance::choose::<O>(&mut pages, contents.page, room);
        chosen.ok_or_else(|| no_events("the file is too small for a quick preview"))?;
    }
    let stream = |(cpu, pages, room)| {
        let mut ring = Ring::new((cpu, pages), &decoder, contents.page, stamps, order);
        ring.limit(room);
        ring.count_lost(contents.facts.lost(&buffer.name, cpu));
        (cpu, ring)
    };
    let history = assemble(known, pages.into_iter().map(stream).collect());
    let tells = |event| !matches!(event, Event::Changed { what: Change::Name(_), .. });
    let empty = !history.entries().any(|entry| tells(entry.event));
    if empty { Err(no_events("its buffers have no scheduling event")) } else { Ok(history) }
}

fn no_events(what: &str) -> Error {
    Error::NoEvents { format: NAME, what: what.to_owned() }
}

/// The requested buffer, or else the first that holds events.
fn choose<'c, O: Order>(
    contents: &'c Contents,
    options: &Options,
    decoder: &Decoder,
    order: O,
) -> Result<&'c BufferOption, Error> {
    if let Some(name) = &options.buffer {
        let names: Vec<&str> = contents.buffers.iter().map(title).collect();
        let found = contents.buffers.iter().find(|buffer| title(buffer) == name);
        let missing =
            || format!("there is no buffer {name:?}; the buffers are {}", names.join(", "));
        return found.ok_or_else(|| no_events(&missing()));
    }
    let full = |buffer: &&BufferOption| buffer.extents.iter().any(|extent| extent.len > 0);
    let full: Vec<&BufferOption> = contents.buffers.iter().filter(full).collect();
    let told = |buffer: &&&BufferOption| {
        let pages = contents.pages(buffer, &mut Vec::new());
        pages.into_iter().any(|(cpu, pages, _)| {
            let stamps = Stamps::default();
            Ring::new((cpu, pages), decoder, contents.page, stamps, order).has_events()
        })
    };
    let first = full.first().copied();
    let found = match full.len() {
        0 | 1 => first,
        _ => full.iter().find(told).copied().or(first),
    };
    found.ok_or_else(|| no_events("all its buffers are empty"))
}

/// The name of the top buffer in messages.
fn title(buffer: &BufferOption) -> &str {
    match buffer.name.as_str() {
        "" => "top",
        name => name,
    }
}

/// How stamps are converted to times, and what to report if they cannot.
fn stamps(contents: &Contents, buffer: &BufferOption, options: &Options) -> (Stamps, Option<Loss>) {
    let name = clock_name(contents, buffer);
    let mut stamps = Stamps { scale: Scale::Same, offset: contents.facts.offset };
    if !clock::needs_scale(name) {
        return (stamps, None);
    }
    match (contents.facts.tsc, options.clock_hz) {
        (_, Some(hz)) => stamps.scale = Scale::Hz(hz),
        (Some((mult, shift, _)), None) if name.contains("tsc") => {
            stamps.scale = Scale::Mult { mult, shift };
        }
        _ => {
            let note = format!(
                "the timestamps come from the clock {name:?}, which does not count nanoseconds"
            );
            return (stamps, Some(Loss::new(LossKind::UnknownUnit, note)));
        }
    }
    (stamps, None)
}

fn clock_name<'c>(contents: &'c Contents, buffer: &'c BufferOption) -> &'c str {
    match buffer.clock.as_str() {
        "" => contents.facts.clock.as_deref().unwrap_or(""),
        name => name,
    }
}

fn head(
    contents: &Contents,
    buffer: &BufferOption,
    options: &Options,
    decoder: &Decoder,
    stamps: Stamps,
) -> Head {
    let facts = &contents.facts;
    let highest = buffer.extents.iter().filter(|extent| extent.len > 0).map(|extent| extent.cpu);
    let cpus = facts.cpus.unwrap_or(0).max(highest.max().map_or(0, |cpu| cpu.saturating_add(1)));
    let mut head = Head::new(Machine::flat(cpus as usize));
    head.clock = clock::clock(clock_name(contents, buffer), stamps.scale);
    head.carries = Carries::LOSSES | decoder.carries();
    head.source.format = format!("{NAME} v{}", contents.version);
    head.source.name.clone_from(&options.name);
    head.source.kernel.clone_from(&facts.kernel);
    let notes = &mut head.source.notes;
    let mut note = |key: &str, value: String| notes.push((key.to_owned(), value));
    if let Some(recorder) = &facts.recorder {
        note("recorder", format!("trace-cmd {recorder}"));
    }
    if !contents.packer.is_empty() {
        note("compression", contents.packer.clone());
    }
    if !buffer.name.is_empty() {
        note("buffer", buffer.name.clone());
    }
    let full = contents.buffers.iter().filter(|other| other.extents.iter().any(|e| e.len > 0));
    let others: Vec<&str> = full.filter(|other| other.name != buffer.name).map(title).collect();
    if !others.is_empty() {
        note("other buffers, not read", others.join(", "));
    }
    if facts.time_shift {
        note("guest", "its clock was not shifted to the clock of its host".into());
    }
    if !facts.guests.is_empty() {
        note("recorded together with guests", facts.guests.join(", "));
    }
    head
}
