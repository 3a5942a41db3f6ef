//! Which records of a perf.data matter, whose they are, and when and where they happened.

use std::collections::HashMap;

use super::attr::{Attr, Flag, Layout};
use super::bytes::Bytes;
use super::records::{Record, kind};
use crate::Error;
use crate::ftrace::head::Head;
use crate::ftrace::{Decoder, Format};

/// The attrs of a file, and the decoder of their tracepoints.
pub(super) struct Events {
    opened: Vec<Opened>,
    finder: Finder,
    pub(super) decoder: Decoder,
    /// Names of the tracepoints that are read.
    names: Vec<String>,
    /// perf's own records that stand in for tracepoints that were not recorded.
    pub(super) forks: bool,
    pub(super) execs: bool,
    pub(super) exits: bool,
    pub(super) comms: bool,
}

/// One attr.
#[derive(Clone, Copy)]
pub(super) struct Opened {
    pub(super) layout: Layout,
    /// Where the samples that are read have time and CPU.
    stamp: Option<(u16, u16)>,
}

/// How to tell whose a sample is.
enum Finder {
    /// There is only one attr.
    One,
    /// By the id at this place of a sample.
    ById(usize, Ids),
    /// By the tracepoint's own id: files of old perfs, all of whose attrs have one layout.
    ByType(HashMap<u16, u32>),
}

/// When and where a record of a CPU's stream was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) cpu: u32,
    pub(super) time: u64,
}

impl Events {
    /// Holds what was opened against the descriptions of the tracepoints.
    pub(super) fn new(attrs: &[Attr], head: &Head) -> Result<Events, Error> {
        let decoder = Decoder::new(&head.formats, head.preamble.endian);
        let decoder = decoder.ok_or_else(|| no_events("no tracepoint that is read"))?;
        let find = |attr: &Attr| -> Option<&Format> {
            let formats = head.formats.iter().map(|(_, format)| format);
            let mut of_attr = formats
                .filter(|format| attr.is_tracepoint() && u64::from(format.id) == attr.config);
            of_attr.find(|format| !decoder.unread.contains(&format.name))
        };
        let mut names = Vec::new();
        let mut opened = Vec::with_capacity(attrs.len());
        for attr in attrs {
            let (layout, format) = (Layout::of(attr), find(attr));
            if let Some(format) = format {
                complete(&layout, &format.name)?;
                names.push(format.name.clone());
            }
            let stamp = format.and(layout.time.zip(layout.cpu));
            opened.push(Opened { layout, stamp });
        }
        if !names.iter().any(|name| name == "sched_switch") {
            return Err(no_events("sched_switch was not recorded"));
        }
        let has = |name: &str| names.iter().any(|known| known == name);
        let stamped = opened.iter().all(|opened| {
            opened.layout.trailer.time.is_some() && opened.layout.trailer.cpu.is_some()
        });
        let any = |flag| stamped && attrs.iter().any(|attr| attr.has(flag));
        Ok(Events {
            forks: any(Flag::Task) && !has("sched_process_fork"),
            exits: any(Flag::Task) && !has("sched_process_exit"),
            execs: any(Flag::CommExec) && any(Flag::Comm) && !has("sched_process_exec"),
            comms: any(Flag::Comm),
            finder: Finder::new(attrs, &opened),
            opened,
            decoder,
            names,
        })
    }

    /// Whether this tracepoint was recorded, even if it never occurred.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    #[inline(always)]
    fn find(&self, sample: Bytes<'_>) -> Option<&Opened> {
        let index = match &self.finder {
            Finder::ById(at, ids) => ids.get(sample.u64(*at)?)?,
            Finder::One => 0,
            Finder::ByType(types) => {
                let raw = self.opened.first()?.layout.raw(sample)?;
                let raw = Bytes { data: raw, endian: sample.endian };
                *types.get(&raw.u16(0)?)?
            }
        };
        self.opened.get(index as usize)
    }

    /// A sample that is read: its attr, and when and where it was taken.
    #[inline(always)]
    pub(super) fn sample(&self, sample: Bytes<'_>) -> Option<(&Opened, Stamp)> {
        let opened = self.find(sample)?;
        let (time, cpu) = opened.stamp?;
        let (time, cpu) = (sample.u64(usize::from(time))?, sample.u32(usize::from(cpu))?);
        Some((opened, Stamp { cpu, time }))
    }

    /// When and where a record was made; `None` when it is not part of a CPU's stream.
    #[inline]
    pub(super) fn stamp(&self, record: &Record<'_>) -> Option<Stamp> {
        match record.kind {
            kind::SAMPLE => self.sample(record.bytes).map(|(_, stamp)| stamp),
            _ => self.own_stamp(record),
        }
    }

    /// The stamp of a record that is no sample. Records that perf itself wrote, of what was there
    /// before it began, have none.
    #[cold]
    pub(super) fn own_stamp(&self, record: &Record<'_>) -> Option<Stamp> {
        let wanted = match record.kind {
            kind::FORK => self.forks,
            kind::EXIT => self.exits,
            kind::COMM => self.comms,
            kind::LOST | kind::LOST_SAMPLES => true,
            _ => false,
        };
        let trailer = self.opened.first()?.layout.trailer;
        let stamp =
            || Some(Stamp { time: trailer.time(record.bytes)?, cpu: trailer.cpu(record.bytes)? });
        wanted.then(stamp).flatten()
    }
    /// The event id in the trailer.
    pub(super) fn trailer_id(&self, record: &Record<'_>) -> Option<u64> {
        self.opened.first()?.layout.trailer.id(record.bytes)
    }
    /// The current task of a record that is no sample.
    pub(super) fn trailer_tid(&self, record: &Record<'_>) -> Option<i32> {
        self.opened.first()?.layout.trailer.tid(record.bytes)
    }
    /// Size of the trailer.
    pub(super) fn trailer_size(&self) -> usize {
        self.opened.first().map_or(0, |opened| opened.layout.trailer.size)
    }
}

/// A sample must say when, where and what.
fn complete(layout: &Layout, name: &str) -> Result<(), Error> {
    let missing = match (layout.time, layout.cpu, layout.raw) {
        (None, ..) => "time",
        (_, None, _) => "CPU",
        (.., false) => "fields",
        _ => return Ok(()),
    };
    Err(Error::Unusable {
        format: "perf.data",
        what: format!("samples of {name} do not hold their {missing}"),
        help: "record with `perf sched record -- CMD`, or add `-a -R -T --sample-cpu` to `perf \
               record`",
    })
}

pub(super) fn no_events(what: &str) -> Error {
    Error::NoEvents { format: "perf.data", what: what.to_owned() }
}

impl Finder {
    fn new(attrs: &[Attr], opened: &[Opened]) -> Finder {
        if attrs.len() == 1 {
            return Finder::One;
        }
        let place = opened.first().and_then(|opened| opened.layout.id);
        match place {
            Some(at) if attrs.iter().any(|attr| !attr.ids.is_empty()) => {
                Finder::ById(at, Ids::new(attrs))
            }
            _ => {
                let typed = attrs.iter().enumerate().filter(|(_, attr)| attr.is_tracepoint());
                let types = typed.map(|(index, attr)| (attr.config as u16, index as u32));
                Finder::ByType(types.collect())
            }
        }
    }
}

/// Which attr an id belongs to. The kernel counts ids up, so a table is mostly dense.
enum Ids {
    Dense(u64, Vec<u32>),
    Sparse(HashMap<u64, u32>),
}

const NONE: u32 = u32::MAX;

impl Ids {
    fn new(attrs: &[Attr]) -> Ids {
        let all = || {
            let attrs = attrs.iter().enumerate();
            attrs.flat_map(|(index, attr)| attr.ids.iter().map(move |&id| (id, index as u32)))
        };
        let (low, high) =
            all().fold((u64::MAX, 0), |(low, high), (id, _)| (id.min(low), id.max(high)));
        let room = 4 * all().count() as u64 + 1024;
        if low > high || high - low >= room {
            return Ids::Sparse(all().collect());
        }
        let mut dense = vec![NONE; (high - low + 1) as usize];
        all().for_each(|(id, index)| dense[(id - low) as usize] = index);
        Ids::Dense(low, dense)
    }

    #[inline]
    fn get(&self, id: u64) -> Option<u32> {
        match self {
            Ids::Dense(low, dense) => {
                let index = usize::try_from(id.checked_sub(*low)?).ok()?;
                dense.get(index).copied().filter(|&index| index != NONE)
            }
            Ids::Sparse(map) => map.get(&id).copied(),
        }
    }
}
