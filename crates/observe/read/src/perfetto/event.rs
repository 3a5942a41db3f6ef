//! One full ftrace event.

use wastenot_model::{Context, CpuId, How, Left, Prio};

use super::cpu_id;
use super::fields::{cpuhp, event, fork, frequency, hotplug, life, migrate, rename, switch, wake};
use super::states::States;
use super::wire::{Fields, Wire};
use crate::raw::{Comm, Raw, RawEvent};

/// Decodes an event that `cpu` recorded; `None` for an event that is not read, or has no stamp. As
/// in all of protobuf a missing integer is 0, except where 0 would be a claim.
#[inline]
pub(super) fn decode(cpu: u16, message: &[u8], states: States) -> Option<Raw> {
    let (mut time, mut current, mut flags) = (None, None, None);
    let mut found = None;
    for (number, wire) in Fields::of(message) {
        match number {
            event::TIMESTAMP => time = wire.int(),
            event::PID => current = Some(wire.int32()),
            event::COMMON_FLAGS => flags = wire.int(),
            _ => found = payload(cpu, number, wire, states).or(found),
        }
    }
    let current = current.unwrap_or(-1);
    Some(Raw { time: time?, current, context: context(flags), event: found? })
}

/// Bits of the kernel's `common_flags` (`include/linux/trace_events.h`).
pub(super) fn context(flags: Option<u64>) -> Context {
    const HARDIRQ_OR_NMI: u64 = 0x08 | 0x40;
    const SOFTIRQ: u64 = 0x10;
    match flags {
        None => Context::Unknown,
        Some(flags) if flags & HARDIRQ_OR_NMI != 0 => Context::Hardirq,
        Some(flags) if flags & SOFTIRQ != 0 => Context::Softirq,
        Some(_) => Context::Task,
    }
}

pub(super) fn prio(value: Option<u64>) -> Prio {
    Prio(value.and_then(|value| i16::try_from(value as i32).ok()))
}

fn payload(cpu: u16, number: u32, wire: Wire<'_>, states: States) -> Option<RawEvent> {
    let fields = Fields::of(wire.bytes());
    match number {
        event::SCHED_SWITCH => Some(switch_event(fields, states)),
        event::SCHED_WAKING => Wake::of(fields).waking(),
        event::SCHED_WAKEUP => Wake::of(fields).queued(How::Wakeup),
        event::SCHED_WAKEUP_NEW => Wake::of(fields).queued(How::New),
        event::SCHED_MIGRATE_TASK => migrate_event(fields),
        event::SCHED_PROCESS_FORK => Some(fork_event(fields)),
        event::SCHED_PROCESS_EXEC | event::SCHED_PROCESS_EXIT => Some(life_event(number, fields)),
        event::TASK_RENAME => Some(rename_event(fields)),
        event::CPU_FREQUENCY => frequency_event(fields),
        event::SCHED_CPU_HOTPLUG => hotplug_event(fields),
        event::CPUHP_ENTER | event::CPUHP_MULTI_ENTER => cpuhp_event(cpu, fields),
        _ => None,
    }
}

#[inline]
fn switch_event(fields: Fields<'_>, states: States) -> RawEvent {
    let (mut prev, mut next, mut left) = (0, 0, Left::Unknown);
    let (mut prev_prio, mut next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
    let (mut prev_comm, mut next_comm) = (Comm::default(), Comm::default());
    for (number, wire) in fields {
        match number {
            switch::PREV_COMM => prev_comm = Comm::new(wire.bytes()),
            switch::PREV_PID => prev = wire.int32(),
            switch::PREV_PRIO => prev_prio = prio(wire.int()),
            switch::PREV_STATE => left = wire.int().map_or(left, |bits| states.left(bits)),
            switch::NEXT_COMM => next_comm = Comm::new(wire.bytes()),
            switch::NEXT_PID => next = wire.int32(),
            switch::NEXT_PRIO => next_prio = prio(wire.int()),
            _ => {}
        }
    }
    RawEvent::Switch { prev, next, left, prev_prio, next_prio, prev_comm, next_comm }
}

/// The common fields of wakeup events.
struct Wake {
    tid: i32,
    target: Option<CpuId>,
    prio: Prio,
    comm: Comm,
    /// Kernels before 4.3 also report wakeups of tasks that were awake: `success` is 0 then.
    in_vain: bool,
}

impl Wake {
    #[inline]
    fn of(fields: Fields<'_>) -> Wake {
        let comm = Comm::default();
        let mut event = Wake { tid: 0, target: None, prio: Prio::UNKNOWN, comm, in_vain: false };
        for (number, wire) in fields {
            match number {
                wake::COMM => event.comm = Comm::new(wire.bytes()),
                wake::PID => event.tid = wire.int32(),
                wake::PRIO => event.prio = prio(wire.int()),
                wake::SUCCESS => event.in_vain = wire.int() == Some(0),
                wake::TARGET_CPU => event.target = wire.int().and_then(cpu_id),
                _ => {}
            }
        }
        event
    }
    fn waking(self) -> Option<RawEvent> {
        let Wake { tid, target, prio, comm, in_vain } = self;
        (!in_vain).then_some(RawEvent::Waking { tid, prev: target, prio, comm })
    }
    fn queued(self, how: How) -> Option<RawEvent> {
        let Wake { tid, target, prio, comm, in_vain } = self;
        (!in_vain).then_some(RawEvent::Queued { tid, on: target, how, prio, comm })
    }
}

fn migrate_event(fields: Fields<'_>) -> Option<RawEvent> {
    let (mut tid, mut from, mut to, mut comm) = (0, None, None, Comm::default());
    for (number, wire) in fields {
        match number {
            migrate::COMM => comm = Comm::new(wire.bytes()),
            migrate::PID => tid = wire.int32(),
            migrate::ORIG_CPU => from = wire.int().and_then(cpu_id),
            migrate::DEST_CPU => to = wire.int().and_then(cpu_id),
            _ => {}
        }
    }
    Some(RawEvent::Migrate { tid, from, to: to?, comm })
}

fn fork_event(fields: Fields<'_>) -> RawEvent {
    let (mut parent, mut child, mut child_comm) = (0, 0, Comm::default());
    for (number, wire) in fields {
        match number {
            fork::PARENT_PID => parent = wire.int32(),
            fork::CHILD_COMM => child_comm = Comm::new(wire.bytes()),
            fork::CHILD_PID => child = wire.int32(),
            _ => {}
        }
    }
    RawEvent::Fork { parent, child, child_comm }
}

fn life_event(kind: u32, fields: Fields<'_>) -> RawEvent {
    let (mut tid, mut comm) = (0, Comm::default());
    for (number, wire) in fields {
        match number {
            life::NAME => comm = Comm::new(wire.bytes()),
            life::PID => tid = wire.int32(),
            _ => {}
        }
    }
    match kind {
        event::SCHED_PROCESS_EXEC => RawEvent::Exec { tid },
        _ => RawEvent::Exit { tid, comm },
    }
}

fn rename_event(fields: Fields<'_>) -> RawEvent {
    let (mut tid, mut comm) = (0, Comm::default());
    for (number, wire) in fields {
        match number {
            rename::PID => tid = wire.int32(),
            rename::NEW => comm = Comm::new(wire.bytes()),
            _ => {}
        }
    }
    RawEvent::Rename { tid, comm }
}

fn frequency_event(fields: Fields<'_>) -> Option<RawEvent> {
    let (mut cpu, mut khz) = (0, 0);
    for (number, wire) in fields {
        match number {
            frequency::KHZ => khz = wire.int_or(0) as u32,
            frequency::CPU => cpu = wire.int_or(0),
            _ => {}
        }
    }
    Some(RawEvent::Freq { cpu: cpu_id(cpu)?, khz })
}

fn hotplug_event(fields: Fields<'_>) -> Option<RawEvent> {
    let (mut cpu, mut failed, mut up) = (0, false, false);
    for (number, wire) in fields {
        match number {
            hotplug::CPU => cpu = wire.int_or(0),
            hotplug::ERROR => failed = wire.int_or(0) != 0,
            hotplug::UP => up = wire.int_or(0) != 0,
            _ => {}
        }
    }
    let cpu = cpu_id(cpu).filter(|_| !failed)?;
    Some(RawEvent::Cpu { cpu, up })
}

/// A step of the kernel's state machine for hotplug. An upward step that a CPU takes itself means
/// that it is online; a downward step that another CPU takes for it means that it is dying or dead.
fn cpuhp_event(by: u16, fields: Fields<'_>) -> Option<RawEvent> {
    let (mut cpu, mut step, mut target) = (0, 0, 0);
    for (number, wire) in fields {
        match number {
            cpuhp::CPU => cpu = wire.int_or(0),
            cpuhp::STEP => step = wire.int32(),
            cpuhp::TARGET => target = wire.int32(),
            _ => {}
        }
    }
    let cpu = cpu_id(cpu)?;
    match target > step {
        true if cpu.0 == by => Some(RawEvent::Cpu { cpu, up: true }),
        false if cpu.0 != by && target < step => Some(RawEvent::Cpu { cpu, up: false }),
        _ => None,
    }
}
