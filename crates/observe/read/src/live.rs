//! Events as they happen: the ring-buffer pages of a running kernel, read by the readers of files.
//!
//! A recorder puts pages into a [`Decoder`], orders the resulting [`Record`]s across CPUs, and
//! hands them to an [`Assembler`], which pushes events.

use std::collections::HashMap;

use wastenot_model::{Carries, CpuId, Loss, Sink, Time};

use crate::assemble::{self, placed};
use crate::ftrace::event::all_read;
use crate::ftrace::format::PageLayout;
use crate::ftrace::{self, Format, Native, Order, Walk};
use crate::raw::{Raw, RawEvent};

/// The events that are read, with their systems: a recorder enables them.
pub fn events() -> impl Iterator<Item = (&'static str, &'static str)> {
    all_read()
}

/// One record of one CPU.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    cpu: CpuId,
    raw: Raw,
}

/// Decodes pages.
#[derive(Debug)]
pub struct Decoder {
    decoder: ftrace::Decoder,
    layout: PageLayout,
    walks: Vec<Walk>,
    raws: Vec<Raw>,
}

/// Resolves tids to tasks and pushes the events.
pub struct Assembler {
    assembler: assemble::Assembler,
}

impl Decoder {
    /// From the kernel's descriptions of its pages (`events/header_page`) and of its events
    /// (`events/SYSTEM/NAME/format`, each with its system); `None` if they do not suffice.
    pub fn new<'t>(
        header_page: &[u8],
        formats: impl IntoIterator<Item = (&'t str, &'t [u8])>,
    ) -> Option<Decoder> {
        let layout = PageLayout::parse(header_page)?;
        let parse = |(system, text): (&str, &[u8])| Some((system.to_owned(), Format::parse(text)?));
        let formats: Vec<(String, Format)> = formats.into_iter().filter_map(parse).collect();
        let decoder = ftrace::Decoder::new(&formats, Native::ENDIAN)?;
        Some(Decoder { decoder, layout, walks: Vec::new(), raws: Vec::new() })
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> usize {
        self.layout.data + self.layout.data_size
    }

    /// What the described events can carry.
    pub fn carries(&self) -> Carries {
        placed(self.decoder.carries() | self.decoder.kinds()) | Carries::LOSSES
    }

    /// Decodes the next page of `cpu`.
    pub fn page(&mut self, cpu: CpuId, page: &[u8], out: &mut Vec<Record>) {
        if cpu.index() >= CpuId::LIMIT {
            return;
        }
        for next in self.walks.len()..=cpu.index() {
            self.walks.push(Walk::new(next as u16, self.layout, self.page_size()));
        }
        self.walks[cpu.index()].page::<Native>(&self.decoder, page, &mut self.raws);
        out.extend(self.raws.drain(..).map(|raw| Record { cpu, raw }));
    }

    /// The losses for what could not be decoded.
    pub fn losses(&self) -> impl Iterator<Item = Loss> {
        self.walks.iter().enumerate().filter_map(|(cpu, walk)| {
            let cpu = Some(CpuId(cpu as u16));
            walk.damage().map(|loss| Loss { cpu, ..loss })
        })
    }
}

impl Record {
    /// When it was recorded.
    pub fn time(&self) -> Time {
        Time(self.raw.time)
    }
    /// Sets its time to `time` if it would go backwards.
    pub fn hold(&mut self, time: Time) {
        self.raw.time = self.raw.time.max(time.0);
    }
    /// The CPU that recorded it.
    pub fn cpu(&self) -> CpuId {
        self.cpu
    }
    /// Whether it is a switch: at equal time across CPUs, wakeups and migrations come before
    /// switches.
    pub fn switches(&self) -> bool {
        self.raw.event.rank() > 0
    }
    /// The tid of the task whose creation it reports.
    pub fn child(&self) -> Option<i32> {
        match self.raw.event {
            RawEvent::Fork { child, .. } => Some(child),
            _ => None,
        }
    }
    /// Whether it reports lost events, and how many if that is known.
    pub fn lost(&self) -> Option<Option<u32>> {
        match self.raw.event {
            RawEvent::Lost { count } => Some(count),
            _ => None,
        }
    }
}

impl Assembler {
    /// With names and process ids by tid, for tasks that exist before their first event.
    pub fn new(names: HashMap<i32, String>, pids: HashMap<i32, i32>) -> Assembler {
        Assembler { assembler: assemble::Assembler::new(names, pids) }
    }

    /// A task `tid` was created, of process `pid` if that is known.
    pub fn meet(&mut self, tid: i32, pid: Option<i32>) {
        self.assembler.meet(tid, pid);
    }

    /// Pushes the event of a record. Times must not go backwards.
    pub fn push(&mut self, record: &Record, sink: &mut dyn Sink) {
        self.assembler.push(record.cpu.0, &record.raw, sink);
    }

    /// Reports the oddities of the whole recording.
    pub fn end(&mut self, sink: &mut dyn Sink) {
        self.assembler.end(sink);
    }
}
