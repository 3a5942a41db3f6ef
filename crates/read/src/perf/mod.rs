//! perf.data: what `perf sched record` and `perf record -e sched:...` write, to a file or a pipe.
//!
//! Facts from the kernel's `include/uapi/linux/perf_event.h` and perf's
//! `tools/perf/Documentation/perf.data-file-format.txt`. [`file`] reads the head, [`events`] holds
//! what was opened against the tracepoints' descriptions, [`index`] finds each CPU's records in a
//! first pass, [`stream`] decodes them in a second.

mod attr;
mod bytes;
mod events;
mod features;
mod file;
mod index;
mod inflate;
mod records;
mod stream;
#[cfg(test)]
mod tests;

use wastenot_model::{Carries, Clock, Head, History, Loss, LossKind};

use crate::assemble::{Known, assemble};
use crate::ftrace::head::Head as Descriptions;
use crate::ftrace::{Big, Endian, Little, Order};
use crate::{Error, Options};
use attr::{Attr, Flag};
use bytes::Bytes;
use events::{Events, no_events};
use file::PerfFile;
use index::Index;
use inflate::{Inflated, inflate};
use records::Stop;
use stream::CpuStream;

const FORMAT: &str = "perf.data";

/// Reads a perf.data.
pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<History, Error> {
    let file = PerfFile::read(bytes)?;
    if file.features.directory {
        return Err(Error::Unusable {
            format: FORMAT,
            what: "recorded with --threads: its samples lie in other files".into(),
            help: "record without --threads",
        });
    }
    let descriptions = descriptions(&file)?;
    let events = Events::new(&file.attrs, &descriptions)?;
    let mut losses = Vec::new();
    let Ok(index) = Index::build(&events, file.records) else {
        let inflated = inflate(&events, file.records);
        inflated_losses(&inflated, &mut losses);
        let records = Bytes { data: &inflated.records, ..file.records };
        let Ok(index) = Index::build(&events, records) else {
            return Err(file::damaged("compressed records within compressed ones", 0));
        };
        return finish(&file, &descriptions, &events, index, records, losses, options);
    };
    let records = file.records;
    finish(&file, &descriptions, &events, index, records, losses, options)
}

/// The tracepoints' descriptions; perf writes them after the samples, so a cut file has none.
fn descriptions(file: &PerfFile<'_>) -> Result<Descriptions, Error> {
    const PIPE: &str = "record into a pipe, which keeps them in front: `perf sched record -o - -- \
                        CMD > FILE`";
    if let Some(data) = file.features.tracing_data {
        return Descriptions::parse(data, FORMAT);
    }
    let what = match () {
        () if file.unfinished => "perf ended before it wrote the descriptions of the events",
        () if file.cut => "the file is cut before the descriptions of the events",
        () if !file.attrs.iter().any(Attr::is_tracepoint) => {
            return Err(no_events("no tracepoint was recorded"));
        }
        () => "the descriptions of the events are missing",
    };
    Err(Error::Unusable { format: FORMAT, what: what.into(), help: PIPE })
}

fn finish(
    file: &PerfFile<'_>,
    descriptions: &Descriptions,
    events: &Events,
    mut index: Index,
    records: Bytes<'_>,
    losses: Vec<Loss>,
    options: &Options,
) -> Result<History, Error> {
    if index.samples == 0 {
        return Err(no_events("nothing was sampled"));
    }
    let mut known = Known::new(head(file, events, &index, options));
    known.until = options.until;
    known.losses = losses;
    index_losses(&index, file, &mut known.losses);
    sampling_losses(file, events, &mut known.losses);
    known.names = descriptions.names.clone();
    known.names.extend(index.names.drain());
    known.pids = std::mem::take(&mut index.pids);
    Ok(match descriptions.preamble.endian {
        Endian::Little => merged::<Little>(known, events, index, records),
        Endian::Big => merged::<Big>(known, events, index, records),
    })
}

fn merged<O: Order>(known: Known, events: &Events, index: Index, records: Bytes<'_>) -> History {
    let lanes = index.lanes.into_iter().enumerate();
    let lanes = lanes.filter(|(_, lane)| !lane.runs.is_empty());
    let stream = |(cpu, lane)| {
        let cpu = cpu as u16;
        (cpu, CpuStream::<O>::new(events, records, cpu, lane))
    };
    assemble(known, lanes.map(stream).collect())
}

fn head(file: &PerfFile<'_>, events: &Events, index: &Index, options: &Options) -> Head {
    let mut head = Head::new(file.features.machine());
    head.source.format = match file.pipe {
        true => "perf.data (pipe)".into(),
        false => FORMAT.into(),
    };
    head.source.name.clone_from(&options.name);
    head.source.kernel = file.features.kernel();
    head.source.notes.clone_from(&file.features.notes);
    let clock = file.attrs.iter().find(|attr| attr.is_tracepoint()).map_or("", Attr::clock);
    head.clock = Clock { name: clock.into(), nanoseconds: true };
    head.carries = carries(events);
    if head.machine.topology_known() {
        head.carries |= Carries::TOPOLOGY;
    }
    if !index.pids.is_empty() {
        head.carries |= Carries::TGID;
    }
    head
}

/// What was recorded is carried, even if it never occurred.
fn carries(events: &Events) -> Carries {
    const ALWAYS: [Carries; 6] = [
        Carries::WAKERS,
        Carries::CONTEXT,
        Carries::LEFT,
        Carries::PRIO,
        Carries::NAMES,
        Carries::LOSSES,
    ];
    let enabled = [
        (Carries::WAKINGS, events.has("sched_waking")),
        (Carries::WAKEUPS, events.has("sched_wakeup")),
        (Carries::NEW, events.has("sched_wakeup_new")),
        (Carries::MIGRATIONS, events.has("sched_migrate_task")),
        (Carries::FORKS, events.forks || events.has("sched_process_fork")),
        (Carries::EXECS, events.execs || events.has("sched_process_exec")),
        (Carries::EXITS, events.exits || events.has("sched_process_exit")),
        (Carries::FREQ, events.has("cpu_frequency")),
        (Carries::HOTPLUG, events.has("cpuhp_enter")),
    ];
    let enabled = enabled.into_iter().filter(|(_, is)| *is).map(|(carry, _)| carry);
    ALWAYS.into_iter().chain(enabled).fold(Carries::NONE, |all, carry| all | carry)
}

fn stop_loss(stop: Stop, file_cut: bool) -> Option<Loss> {
    Some(match stop {
        Stop::End if !file_cut => return None,
        Stop::End => Loss::new(LossKind::Cut, "the file ends before the end of its data"),
        Stop::Cut(at) => {
            Loss::new(LossKind::Cut, format!("the data ends within the record at byte {at} of it"))
        }
        Stop::Damaged(at) => {
            let note = format!("the record at byte {at} of the data has an impossible size");
            Loss::new(LossKind::Damaged, note)
        }
    })
}

fn inflated_losses(inflated: &Inflated, losses: &mut Vec<Loss>) {
    losses.extend(stop_loss(inflated.stop, false));
    if let Some(at) = inflated.damaged {
        let note = format!("the compressed record at byte {at} of the data is damaged");
        losses.push(Loss::new(LossKind::Damaged, note));
    }
    if inflated.too_much {
        let note = "the compressed records hold more than a trace can: not read to their end";
        losses.push(Loss::new(LossKind::Cut, note));
    }
}

fn index_losses(index: &Index, file: &PerfFile<'_>, losses: &mut Vec<Loss>) {
    let mut counted = |kind, count: u64, note: &str| {
        if count > 0 {
            let mut loss = Loss::new(kind, note);
            loss.count = Some(count);
            losses.push(loss);
        }
    };
    counted(LossKind::Damaged, index.damaged, "samples of CPUs that no kernel has");
    counted(LossKind::Damaged, file.features.damaged, "sections that describe the machine");
    counted(LossKind::LostEvents, index.lost_somewhere, "lost on a CPU that is not told");
    losses.extend(index.stop.and_then(|stop| stop_loss(stop, file.cut)));
    if file.unfinished {
        let note = "perf did not end properly: read to the end of the file";
        losses.push(Loss::new(LossKind::Cut, note));
    }
}

/// Events that were left out on purpose.
fn sampling_losses(file: &PerfFile<'_>, events: &Events, losses: &mut Vec<Loss>) {
    if file.attrs.iter().any(|attr| attr.is_tracepoint() && attr.is_sampled()) {
        let note = "not every event was recorded: record with `-c 1`";
        losses.push(Loss::new(LossKind::LostEvents, note));
    }
    // Set only when perf starts a command and was not told to look at all CPUs.
    if file.attrs.iter().any(|attr| attr.is_tracepoint() && attr.has(Flag::EnableOnExec)) {
        let note = "one program was recorded, not its CPUs: record with `perf record -a`";
        losses.push(Loss::new(LossKind::LostEvents, note));
    }
    if !events.decoder.unread.is_empty() {
        let note =
            format!("events without the needed fields: {}", events.decoder.unread.join(", "));
        losses.push(Loss::new(LossKind::Unread, note));
    }
}
