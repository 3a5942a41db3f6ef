//! Perfetto traces: protobuf messages, one `TracePacket` after the other.
//!
//! Scheduling events come from the kernel's ftrace buffers in bundles, each of one CPU. A bundle
//! holds full events, or the compact form (arrays of switches and wakings), or both. The compact
//! form names only the next task; the previous task is the one that was switched to before, on that
//! CPU. Its wakings name the *previous* CPU of the task, so where a task waits stays unknown unless
//! the bundle also has full `sched_wakeup` or `sched_migrate_task` events.
//!
//! The recorded window begins where the bundles of all CPUs state that they begin
//! (`previous_bundle_end_timestamp`): from then on nothing is missing, while at `tracing_started`
//! and, in a ring buffer, at `all_data_sources_started` much may be missing. It ends with the last
//! `all_data_sources_flushed`.
//!
//! Stamps are of the boot clock unless a bundle names another; see [`clock`]. Numbers of fields are
//! in [`fields`].
//!
//! Source: the public protocol definitions, `protos/perfetto/trace/**/*.proto`.

mod bundle;
mod clock;
mod compact;
mod event;
pub(crate) mod fields;
mod packets;
pub(crate) mod states;
mod system;
pub(crate) mod wire;

#[cfg(test)]
mod tests;

use wastenot_model::{
    Carries, Clock, CpuId, CpuMode, Head, History, Loss, LossKind, Machine, Source, Start, Time,
    Window,
};

use crate::assemble::{Known, assemble};
use crate::{Error, Options};
use bundle::Bundles;
use packets::Trace;
use states::States;

pub(crate) use packets::is_trace;

/// Reads a Perfetto trace.
pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<History, Error> {
    let unpacked = packets::unpack(bytes);
    let mut trace = Trace::scan(bytes, &unpacked);
    if trace.cpus.is_empty() {
        let what = format!("{} packets, but none with ftrace events", trace.packets);
        return Err(Error::NoEvents { format: "perfetto", what });
    }
    let conversion = trace.clocks.conversion();
    trace.order(&conversion);
    let states = States::of(trace.system.release.as_deref());
    let mut known = Known::new(head(&trace, &conversion, options));
    known.losses = losses(&trace, &conversion);
    known.names = std::mem::take(&mut trace.system.names);
    known.pids = std::mem::take(&mut trace.system.pids);
    let streams = trace
        .cpus
        .into_iter()
        .map(|(cpu, recorded)| (cpu, Bundles::new(cpu, recorded, &conversion, states)));
    Ok(assemble(known, streams.collect()))
}

fn head(trace: &Trace<'_>, clocks: &clock::Conversion, options: &Options) -> Head {
    let mut machine = Machine::flat(trace.system.cpu_count);
    trace.system.describe(&mut machine);
    let mut carries = Carries::NAMES | Carries::LEFT;
    let mut add = |when: bool, what: Carries| carries |= if when { what } else { Carries::NONE };
    add(!trace.compact, Carries::PRIO);
    add(trace.compact || trace.current, Carries::WAKERS);
    add(trace.context, Carries::CONTEXT);
    add(!trace.system.pids.is_empty(), Carries::TGID);
    add(machine.topology_known(), Carries::TOPOLOGY);
    let mut head = Head::new(machine);
    head.carries = carries;
    head.clock = Clock { name: clocks.name().to_owned(), nanoseconds: true };
    head.source = Source {
        format: "perfetto".to_owned(),
        name: options.name.clone(),
        kernel: trace.system.kernel(),
        notes: trace.system.notes.clone(),
    };
    // The compact form does not give the previous task of a CPU's first switch: the CPU's start is
    // unknown, and must not be taken for the placeholder that such a switch has.
    if trace.compact {
        let cpus = trace.cpus.keys().next_back().map_or(0, |&cpu| usize::from(cpu) + 1);
        head.start = Some(Start { cpus: vec![CpuMode::Unknown; cpus], ..Start::default() });
    }
    // Without these the window goes from the first event to the last.
    let (from, to) = (trace.valid_from(clocks), trace.valid_to(clocks));
    head.window = Window { from: from.map_or(Time::MAX, Time), to: Time(to.unwrap_or(0)) };
    head
}

fn losses(trace: &Trace<'_>, clocks: &clock::Conversion) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut counted = |kind, count: u64, note: &str| {
        if count > 0 {
            losses.push(Loss { count: Some(count), ..Loss::new(kind, note) });
        }
    };
    counted(LossKind::Damaged, trace.damaged, "packets that cannot be decoded");
    counted(LossKind::Damaged, trace.unpackable, "compressed packets that cannot be unpacked");
    counted(LossKind::Unread, trace.errors, "pages that the recorder could not parse");
    counted(LossKind::Unread, trace.odd_cpus, "ftrace bundles with an invalid CPU number");
    if trace.cut {
        losses.push(Loss::new(LossKind::Cut, "the file ends inside a packet"));
    }
    if let Some(note) = clocks.note() {
        losses.push(Loss::new(LossKind::UnknownUnit, note));
    }
    losses
}

/// A CPU as protobuf numbers it; `None` if no kernel has that number.
fn cpu_id(cpu: u64) -> Option<CpuId> {
    (cpu < CpuId::LIMIT as u64).then_some(CpuId(cpu as u16))
}
