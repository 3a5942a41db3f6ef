//! The records of the BPF programs, laid out as in `bpf/wire.h`.

use wastenot_model::{Context, CpuId, CpuSet, Left, Prio, Time};

use crate::merge::Timed;

/// One record of one CPU's ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    /// CLOCK_MONOTONIC.
    pub(crate) time: Time,
    /// The CPU of its ring.
    pub(crate) cpu: CpuId,
    pub(crate) kind: Kind,
    pub(crate) task: u32,
    pub(crate) other: u32,
    pub(crate) on: u16,
    pub(crate) from: u16,
    pub(crate) flags: u8,
    pub(crate) prio: u8,
    pub(crate) other_prio: u8,
}

/// The kind of a record. The numbers are those of `enum kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Switch,
    Waking,
    Wakeup,
    New,
    Migrate,
    Fork,
    Exec,
    Exit,
    Cpu,
    Freq,
    Lost,
    Facts,
    Decided,
    Served,
    Dump,
}

/// What a CPU does while its task stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Occupied {
    Hardirq,
    Softirq,
    IdleState,
}

/// The facts about a task that change seldom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) time: Time,
    pub(crate) tid: u32,
    pub(crate) tgid: u32,
    /// Distinguishes two tasks of one tid.
    pub(crate) start_time: u64,
    /// Its node in cgroupfs.
    pub(crate) cgroup: u64,
    pub(crate) name: String,
    pub(crate) policy: u8,
    pub(crate) nice: i8,
    pub(crate) throttled: bool,
    pub(crate) migration_disabled: bool,
    /// Its affinity, 64 CPUs per word.
    pub(crate) mask: Vec<u64>,
    /// The CPU where it runs, waits or ran last.
    pub(crate) on: CpuId,
    pub(crate) running: bool,
    pub(crate) queued: bool,
}

/// The size of a record without facts or sets, in bytes.
pub(crate) const EVENT: usize = 24;
const FACTS: usize = EVENT + 8 + 8 + 16 + 8;

const KINDS: [Kind; 15] = [
    Kind::Switch,
    Kind::Waking,
    Kind::Wakeup,
    Kind::New,
    Kind::Migrate,
    Kind::Fork,
    Kind::Exec,
    Kind::Exit,
    Kind::Cpu,
    Kind::Freq,
    Kind::Lost,
    Kind::Facts,
    Kind::Decided,
    Kind::Served,
    Kind::Dump,
];

const PREEMPTED: u8 = 1;
const QUEUED: u8 = 2;
const UP: u8 = 4;
const RUNNING: u8 = 8;
const SOFTIRQ: u8 = 16;
const HARDIRQ: u8 = 32;
const CONTEXT_KNOWN: u8 = 64;
const IDLE_STATE: u8 = 128;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// `count` words from `at` on.
pub(crate) fn words_at(bytes: &[u8], at: usize, count: usize) -> Vec<u64> {
    (0..count).map_while(|word| u64_at(bytes, at + word * 8)).collect()
}

/// The CPUs whose bits are set.
pub(crate) fn cpus(words: &[u64]) -> CpuSet {
    let bits = words.iter().enumerate().flat_map(|(index, &word)| {
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
    });
    bits.map(|cpu| CpuId(cpu as u16)).collect()
}

impl Wire {
    /// The record at the start of `bytes`; `None` if it is not of this build.
    #[inline]
    pub(crate) fn read(cpu: CpuId, bytes: &[u8]) -> Option<Wire> {
        let bytes: &[u8; EVENT] = bytes.get(..EVENT)?.try_into().ok()?;
        Some(Wire {
            time: Time(u64_at(bytes, 0)?),
            cpu,
            kind: *KINDS.get(usize::from(bytes[20]))?,
            task: u32_at(bytes, 8)?,
            other: u32_at(bytes, 12)?,
            on: u16_at(bytes, 16)?,
            from: u16_at(bytes, 18)?,
            flags: bytes[21],
            prio: bytes[22],
            other_prio: bytes[23],
        })
    }

    /// `count` events of `cpu` were lost from `time` on.
    pub(crate) fn lost(time: Time, cpu: CpuId, count: u32) -> Wire {
        let (task, other, on, from) = (count, 0, 0, 0);
        let (flags, prio, other_prio) = (0, 0, 0);
        let kind = Kind::Lost;
        Wire { time, cpu, kind, task, other, on, from, flags, prio, other_prio }
    }

    /// How the task of a switch left its CPU, by `prev_state` of `sched_switch`
    /// (include/linux/sched.h; unchanged since 4.20).
    pub(crate) fn left(&self) -> Left {
        const NOLOAD: u16 = 0x400;
        match self.on {
            _ if self.flags & PREEMPTED != 0 => Left::Preempted,
            0 => Left::Runnable,
            state if state & 0xb0 != 0 => Left::Dead,
            state if state & 0x40 != 0 => Left::Parked,
            state if state & 0x0c != 0 => Left::Stopped,
            state if state & 0x02 != 0 && state & NOLOAD != 0 => Left::Idle,
            state if state & 0x02 != 0 => Left::Blocked,
            state if state & 0x01 != 0 => Left::Sleeping,
            // Waiting for a lock that is a mutex on PREEMPT_RT, or frozen.
            _ => Left::Blocked,
        }
    }

    /// The context in which a wakeup or move was done.
    pub(crate) fn context(&self) -> Context {
        match self.flags {
            flags if flags & CONTEXT_KNOWN == 0 => Context::Unknown,
            flags if flags & HARDIRQ != 0 => Context::Hardirq,
            flags if flags & SOFTIRQ != 0 => Context::Softirq,
            _ => Context::Task,
        }
    }

    /// For what was served: which kind it was.
    pub(crate) fn occupied(&self) -> Occupied {
        match self.flags {
            flags if flags & IDLE_STATE != 0 => Occupied::IdleState,
            flags if flags & SOFTIRQ != 0 => Occupied::Softirq,
            _ => Occupied::Hardirq,
        }
    }
    /// For a waking: the task was still queued.
    pub(crate) fn queued(&self) -> bool {
        self.flags & QUEUED != 0
    }
    /// For a CPU: it came online.
    pub(crate) fn up(&self) -> bool {
        self.flags & UP != 0
    }
    /// Priority of `task`.
    pub(crate) fn prio(&self) -> Prio {
        prio(self.prio)
    }
    /// Priority of the other task of a switch.
    pub(crate) fn other_prio(&self) -> Prio {
        prio(self.other_prio)
    }
}

impl Timed for Wire {
    #[inline]
    fn order(&self) -> (Time, bool, CpuId) {
        (self.time, self.kind == Kind::Switch, self.cpu)
    }
    fn time(&self) -> Time {
        self.time
    }
    fn hold(&mut self, time: Time) {
        self.time = self.time.max(time);
    }
}

/// Priorities are sent one higher, since a deadline task has -1.
fn prio(byte: u8) -> Prio {
    Prio(Some(i16::from(byte) - 1))
}

impl Facts {
    /// The size of facts whose mask has `words` words, in bytes.
    pub(crate) fn size(words: usize) -> usize {
        FACTS + words * 8
    }

    /// The facts at the start of `bytes`, with a mask of `words` words.
    pub(crate) fn read(bytes: &[u8], words: usize) -> Option<Facts> {
        let bytes = bytes.get(..Facts::size(words))?;
        let event = Wire::read(CpuId(0), bytes).filter(|event| event.kind == Kind::Facts)?;
        let name = &bytes[40..56];
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        Some(Facts {
            time: event.time,
            tid: event.task,
            tgid: u32_at(bytes, 56)?,
            start_time: u64_at(bytes, 24)?,
            cgroup: u64_at(bytes, 32)?,
            name: String::from_utf8_lossy(&name[..end]).into_owned(),
            policy: bytes[60],
            nice: bytes[61] as i8,
            throttled: bytes[62] != 0,
            migration_disabled: bytes[63] != 0,
            mask: words_at(bytes, FACTS, words),
            on: CpuId(event.on),
            running: event.flags & RUNNING != 0,
            queued: event.flags & QUEUED != 0,
        })
    }
}

/// The line of a dump at the start of `bytes`.
pub(crate) fn line(bytes: &[u8]) -> String {
    let line = bytes.get(EVENT..).unwrap_or_default();
    let end = line.iter().position(|&byte| byte == 0).unwrap_or(line.len());
    String::from_utf8_lossy(&line[..end]).into_owned()
}

/// A record of `cpu` for tests, which fill in the rest.
#[cfg(test)]
pub(crate) fn wire(time: u64, cpu: u16, kind: Kind, task: u32, other: u32) -> Wire {
    let (on, from, flags, prio, other_prio) = (0, 0, 0, 121, 121);
    let (time, cpu) = (Time(time), CpuId(cpu));
    Wire { time, cpu, kind, task, other, on, from, flags, prio, other_prio }
}

#[cfg(test)]
impl Wire {
    pub(crate) fn still_queued(self) -> Wire {
        Wire { flags: self.flags | QUEUED, ..self }
    }
    pub(crate) fn of_softirq(self) -> Wire {
        Wire { flags: self.flags | SOFTIRQ, ..self }
    }
    pub(crate) fn in_hardirq(self) -> Wire {
        Wire { flags: self.flags | CONTEXT_KNOWN | HARDIRQ, ..self }
    }
    pub(crate) fn of_idle_state(self) -> Wire {
        Wire { flags: self.flags | IDLE_STATE, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_task_left_is_told_by_the_bits_of_its_state() {
        let left =
            |state, flags| Wire { on: state, flags, ..wire(0, 0, Kind::Switch, 1, 2) }.left();
        for (state, expected) in [
            (0x0000, Left::Runnable),
            (0x0001, Left::Sleeping),
            (0x2001, Left::Sleeping), // freezable
            (0x0002, Left::Blocked),
            (0x0402, Left::Idle),
            (0x0102, Left::Blocked), // killable
            (0x0004, Left::Stopped),
            (0x0108, Left::Stopped),
            (0x0040, Left::Parked),
            (0x0080, Left::Dead),
            (0x0020, Left::Dead),    // zombie
            (0x1000, Left::Blocked), // waiting for a lock, PREEMPT_RT
            (0x8000, Left::Blocked), // frozen
        ] {
            assert_eq!(left(state, 0), expected, "{state:#x}");
        }
        assert_eq!(left(0x0001, PREEMPTED), Left::Preempted);
    }

    #[test]
    fn what_is_too_short_or_of_no_known_kind_is_no_record() {
        let mut bytes = vec![0; Facts::size(2)];
        assert!(Wire::read(CpuId(0), &bytes[..EVENT]).is_some());
        assert_eq!(Wire::read(CpuId(0), &bytes[..EVENT - 1]), None);
        assert_eq!(Facts::read(&bytes, 2), None, "a switch");
        bytes[20] = 11;
        bytes[40..43].copy_from_slice(b"sh\0");
        (bytes[64], bytes[72]) = (5, 1);
        let facts = Facts::read(&bytes, 2).expect("facts");
        assert_eq!((&*facts.name, &facts.mask[..]), ("sh", &[5, 1][..]));
        assert_eq!(Facts::read(&bytes, 3), None);
        bytes[20] = 15;
        assert_eq!(Wire::read(CpuId(0), &bytes), None);
    }
}
