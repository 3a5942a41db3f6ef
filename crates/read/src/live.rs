//! Events as they happen: the ring-buffer pages of a running kernel, read by what reads files.
//!
//! A recorder puts pages into a [`Decoder`], orders the [`Record`]s that come out across CPUs, and
//! hands them to an [`Assembler`], which pushes.

use std::collections::HashMap;

use wastenot_model::{Carries, CpuId, Loss, Sink, Time};

use crate::assemble::{self, placed};
use crate::ftrace::event::all_read;
use crate::ftrace::format::PageLayout;
use crate::ftrace::{self, Format, Native, Order, Walk};
use crate::raw::{Raw, RawEvent};

/// The events that are read, with their systems: what a recorder switches on.
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

/// Gives tids their tasks and pushes what happened.
pub struct Assembler {
    assembler: assemble::Assembler,
}

impl Decoder {
    /// By what the kernel says of its pages (`events/header_page`) and of its events
    /// (`events/SYSTEM/NAME/format`, each with its system); `None` when that does not suffice.
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

    /// What the events that are described can tell.
    pub fn carries(&self) -> Carries {
        placed(self.decoder.carries() | self.decoder.kinds()) | Carries::LOSSES
    }

    /// Events whose descriptions lack what is needed to read them.
    pub fn unread(&self) -> &[String] {
        &self.decoder.unread
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

    /// What could not be decoded.
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
    /// Holds its time at `time`, where it would go back.
    pub fn hold(&mut self, time: Time) {
        self.raw.time = self.raw.time.max(time.0);
    }
    /// On which CPU.
    pub fn cpu(&self) -> CpuId {
        self.cpu
    }
    /// Whether it is a switch: at equal time across CPUs what queues comes before what switches.
    pub fn switches(&self) -> bool {
        self.raw.event.rank() > 0
    }
    /// The tid of the task that it says was created.
    pub fn child(&self) -> Option<i32> {
        match self.raw.event {
            RawEvent::Fork { child, .. } => Some(child),
            _ => None,
        }
    }
    /// Whether it says that others were lost, and how many where that is known.
    pub fn lost(&self) -> Option<Option<u32>> {
        match self.raw.event {
            RawEvent::Lost { count } => Some(count),
            _ => None,
        }
    }
}

impl Assembler {
    /// Knowing names and process ids by tid: of tasks that are there before their first event.
    pub fn new(names: HashMap<i32, String>, pids: HashMap<i32, i32>) -> Assembler {
        Assembler { assembler: assemble::Assembler::new(names, pids) }
    }

    /// A task `tid` was created, of process `pid` where that is known.
    pub fn meet(&mut self, tid: i32, pid: Option<i32>) {
        self.assembler.meet(tid, pid);
    }

    /// Pushes what a record tells. Times must not go back.
    pub fn push(&mut self, record: &Record, sink: &mut dyn Sink) {
        self.assembler.push(record.cpu.0, &record.raw, sink);
    }

    /// Tells what is odd about all of it.
    pub fn end(&mut self, sink: &mut dyn Sink) {
        self.assembler.end(sink);
    }
}
