//! Selects the records of a perf.data that matter, and finds their attr, time and CPU.

use super::attr::{Attr, Fields, Flag, Layout};
use super::bytes::Bytes;
use super::finder::Finder;
use super::records::{Record, kind};
use crate::Error;
use crate::ftrace::head::Head;
use crate::ftrace::{Decoder, Format};

/// The attrs of a file, and the decoder of their tracepoints.
pub(super) struct Events {
    /// By attr.
    layouts: Vec<Layout>,
    /// By attr; `None` if it is not read.
    fields: Vec<Option<Fields>>,
    finder: Finder,
    pub(super) decoder: Decoder,
    /// Names of the tracepoints that are read.
    names: Vec<String>,
    /// Whether perf's own records replace tracepoints that were not recorded.
    pub(super) forks: bool,
    pub(super) execs: bool,
    pub(super) exits: bool,
    pub(super) comms: bool,
}

/// Attrs from this number on are not read; the number itself stands for no attr.
pub(super) const ATTRS_MAX: u16 = u16::MAX;

/// When and on which CPU a record of a CPU's stream was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) cpu: u32,
    pub(super) time: u64,
}

impl Events {
    /// Matches the opened events with the descriptions of the tracepoints.
    pub(super) fn new(attrs: &[Attr], head: &Head) -> Result<Events, Error> {
        let decoder = Decoder::new(&head.formats, head.preamble.endian);
        let decoder = decoder.ok_or_else(|| no_events("no tracepoint that wastenot uses"))?;
        let find = |attr: &Attr| -> Option<&Format> {
            let formats = head.formats.iter().map(|(_, format)| format);
            let mut of_attr = formats
                .filter(|format| attr.is_tracepoint() && u64::from(format.id) == attr.config);
            of_attr.find(|format| !decoder.unread.contains(&format.name))
        };
        let layouts: Vec<Layout> = attrs.iter().map(Layout::of).collect();
        let (mut names, mut fields) = (Vec::new(), vec![None; attrs.len()]);
        // No recording has more attrs than a u16 has values: attrs beyond that are not read.
        for (index, (attr, layout)) in (0..ATTRS_MAX).zip(attrs.iter().zip(&layouts)) {
            if let Some(format) = find(attr) {
                complete(layout, &format.name)?;
                names.push(format.name.clone());
                fields[usize::from(index)] = layout.fields(index);
            }
        }
        if !names.iter().any(|name| name == "sched_switch") {
            return Err(no_events("sched_switch was not recorded"));
        }
        let has = |name: &str| names.iter().any(|known| known == name);
        let stamped = layouts
            .iter()
            .all(|layout| layout.trailer.time.is_some() && layout.trailer.cpu.is_some());
        let any = |flag| stamped && attrs.iter().any(|attr| attr.has(flag));
        Ok(Events {
            forks: any(Flag::Task) && !has("sched_process_fork"),
            exits: any(Flag::Task) && !has("sched_process_exit"),
            execs: any(Flag::CommExec) && any(Flag::Comm) && !has("sched_process_exec"),
            comms: any(Flag::Comm),
            finder: Finder::new(attrs, &layouts, &fields),
            layouts,
            fields,
            decoder,
            names,
        })
    }

    /// Whether this tracepoint was recorded, even if it never occurred.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// A sample that is read: its attr, time and CPU.
    #[inline(always)]
    pub(super) fn sample(&self, sample: Bytes<'_>) -> Option<(u16, Stamp)> {
        let fields = self.finder.find(sample)?;
        let (time, cpu) = (sample.u64(fields.time.into())?, sample.u32(fields.cpu.into())?);
        Some((fields.attr, Stamp { cpu, time }))
    }

    /// The fields of the samples of an attr that is read.
    #[inline(always)]
    pub(super) fn fields(&self, attr: u16) -> Option<Fields> {
        *self.fields.get(usize::from(attr))?
    }

    /// The tracepoint's own bytes in a sample.
    #[inline(always)]
    pub(super) fn raw<'a>(&self, fields: Fields, sample: Bytes<'a>) -> Option<&'a [u8]> {
        if fields.varying {
            return self.layouts.get(usize::from(fields.attr))?.raw(sample);
        }
        let at = usize::from(fields.raw);
        let size = sample.u32(at)? as usize;
        Some(sample.part(at + 4, size)?.data)
    }

    /// The stamp of a record that is not a sample. Records that perf synthesised, for what existed
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
        let trailer = self.layouts.first()?.trailer;
        let stamp =
            || Some(Stamp { time: trailer.time(record.bytes)?, cpu: trailer.cpu(record.bytes)? });
        wanted.then(stamp).flatten()
    }
    /// The event id in the trailer.
    pub(super) fn trailer_id(&self, record: &Record<'_>) -> Option<u64> {
        self.layouts.first()?.trailer.id(record.bytes)
    }
    /// The current task of a record that is no sample.
    pub(super) fn trailer_tid(&self, record: &Record<'_>) -> Option<i32> {
        self.layouts.first()?.trailer.tid(record.bytes)
    }
    /// Size of the trailer.
    pub(super) fn trailer_size(&self) -> usize {
        self.layouts.first().map_or(0, |layout| layout.trailer.size)
    }
}

/// A sample must have a time, a CPU and an event.
fn complete(layout: &Layout, name: &str) -> Result<(), Error> {
    let missing = match (layout.time, layout.cpu, layout.raw) {
        (None, ..) => "time",
        (_, None, _) => "CPU",
        (.., false) => "fields",
        _ => return Ok(()),
    };
    Err(Error::Unusable {
        format: "perf.data",
        what: format!("samples of {name} do not contain their {missing}"),
        help: "record with `perf sched record -- CMD`, or add `-a -R -T --sample-cpu` to `perf \
               record`",
    })
}

pub(super) fn no_events(what: &str) -> Error {
    Error::NoEvents { format: "perf.data", what: what.to_owned() }
}
