//! The calendar: the one event queue, ordered by (time, kind, sequence).
//!
//! Each event that may be due has a slot of its own. So no event is in the queue twice, none is
//! stale, and no memory is allocated once the tasks exist.

use wastenot_model::dsq::Ordered;
use wastenot_model::policy::TimerId;
use wastenot_model::{CpuId, TaskId, Time};

/// Events that may be due. At one instant they happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The next launch.
    Launch,
    /// The next CPU goes off or comes back.
    Hotplug,
    /// A task's sleep is over.
    Alarm(TaskId),
    /// A kick reaches a CPU.
    Kick(CpuId),
    /// The running task of a CPU has completed its work, or has spun for long enough.
    Segment(CpuId),
    /// A timer of the policy.
    Timer(TimerId),
    /// The tick of a CPU.
    Tick(CpuId),
    /// The current step of a CPU's kernel path is done.
    Path(CpuId),
    /// A message reaches a CPU.
    Mail(CpuId),
}

/// The last instant that is distinct from others: some 73 years. Events that are due later are due
/// then.
pub(crate) const LAST: Time = Time(u64::MAX >> KIND_BITS);
const KIND_BITS: u32 = 3;

const LAUNCH: u32 = 0;
const HOTPLUG: u32 = 1;
const FIRST_CPU: u32 = 2;
const SLOTS_OF_CPU: u32 = 5;

/// The queue.
#[derive(Debug)]
pub(crate) struct Calendar {
    queue: Ordered<u64>,
    cpus: u32,
    timers: u32,
}

impl Calendar {
    pub(crate) fn new(cpus: usize) -> Calendar {
        Calendar { queue: Ordered::new(1), cpus: cpus as u32, timers: 0 }
    }
    /// Makes room for `timers` timers, before the first task.
    pub(crate) fn reserve_timers(&mut self, timers: u32) {
        self.timers = timers;
    }
    /// Schedules `due` at `time`; an earlier setting of it is dropped.
    #[inline]
    pub(crate) fn set(&mut self, due: Due, time: Time) {
        let slot = self.slot(due);
        self.queue.remove(slot);
        self.queue.insert(0, slot, due.key(time));
    }
    /// Whether `due`, if it were set to `time`, would be the next event.
    #[inline]
    pub(crate) fn would_be_next(&self, due: Due, time: Time) -> bool {
        self.queue.first(0).is_none_or(|(first, _)| due.key(time) < first)
    }
    /// Cancels `due`.
    #[inline]
    pub(crate) fn clear(&mut self, due: Due) {
        let slot = self.slot(due);
        self.queue.remove(slot);
    }
    /// Whether `due` is scheduled.
    #[inline]
    pub(crate) fn is_set(&self, due: Due) -> bool {
        self.queue.queue_of(self.slot(due)).is_some()
    }
    /// The next event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, Due)> {
        let (key, slot) = self.queue.pop(0)?;
        Some((Time(key >> KIND_BITS), self.due(slot)))
    }

    #[inline]
    fn slot(&self, due: Due) -> u32 {
        let of_cpu = |cpu: CpuId, n: u32| FIRST_CPU + u32::from(cpu.0) * SLOTS_OF_CPU + n;
        let timers = FIRST_CPU + self.cpus * SLOTS_OF_CPU;
        match due {
            Due::Launch => LAUNCH,
            Due::Hotplug => HOTPLUG,
            Due::Kick(cpu) => of_cpu(cpu, 0),
            Due::Segment(cpu) => of_cpu(cpu, 1),
            Due::Tick(cpu) => of_cpu(cpu, 2),
            Due::Path(cpu) => of_cpu(cpu, 3),
            Due::Mail(cpu) => of_cpu(cpu, 4),
            Due::Timer(timer) => timers + timer.0,
            Due::Alarm(task) => timers + self.timers + task.ordinal() as u32,
        }
    }

    #[inline]
    fn due(&self, slot: u32) -> Due {
        let timers = FIRST_CPU + self.cpus * SLOTS_OF_CPU;
        if slot >= timers + self.timers {
            return Due::Alarm(TaskId::nth((slot - timers - self.timers) as usize));
        }
        if slot >= timers {
            return Due::Timer(TimerId(slot - timers));
        }
        if slot < FIRST_CPU {
            return if slot == LAUNCH { Due::Launch } else { Due::Hotplug };
        }
        let cpu = CpuId(((slot - FIRST_CPU) / SLOTS_OF_CPU) as u16);
        match (slot - FIRST_CPU) % SLOTS_OF_CPU {
            0 => Due::Kick(cpu),
            1 => Due::Segment(cpu),
            2 => Due::Tick(cpu),
            3 => Due::Path(cpu),
            _ => Due::Mail(cpu),
        }
    }
}

impl Due {
    /// The key of the order.
    #[inline]
    fn key(self, time: Time) -> u64 {
        time.min(LAST).0 << KIND_BITS | self.kind()
    }

    /// Order at one instant, in [`KIND_BITS`] bits.
    #[inline]
    fn kind(self) -> u64 {
        match self {
            Due::Launch | Due::Hotplug => 0,
            Due::Alarm(_) => 1,
            Due::Kick(_) => 2,
            Due::Segment(_) => 3,
            Due::Timer(_) => 4,
            Due::Tick(_) => 5,
            Due::Path(_) => 6,
            Due::Mail(_) => 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_dues_are_one_to_one() {
        let mut calendar = Calendar::new(3);
        calendar.reserve_timers(2);
        let mut all =
            vec![Due::Launch, Due::Hotplug, Due::Timer(TimerId(0)), Due::Timer(TimerId(1))];
        all.extend((0..5).map(|n| Due::Alarm(TaskId::nth(n))));
        for cpu in (0..3).map(CpuId) {
            all.extend([Due::Kick(cpu), Due::Segment(cpu), Due::Tick(cpu)]);
            all.extend([Due::Path(cpu), Due::Mail(cpu)]);
        }
        for (n, &due) in all.iter().enumerate() {
            assert_eq!(calendar.due(calendar.slot(due)), due);
            assert!(all[..n].iter().all(|&other| calendar.slot(other) != calendar.slot(due)));
        }
    }

    #[test]
    fn what_is_due_after_the_last_instant_is_due_then() {
        let mut calendar = Calendar::new(1);
        calendar.set(Due::Tick(CpuId(0)), Time(1 << 61));
        calendar.set(Due::Launch, Time(7));
        assert_eq!(calendar.pop(), Some((Time(7), Due::Launch)));
        assert_eq!(calendar.pop(), Some((LAST, Due::Tick(CpuId(0)))));
    }

    #[test]
    fn at_one_instant_kinds_then_sequence_decide() {
        let mut calendar = Calendar::new(2);
        let (early, late) = (Time(5), Time(6));
        let task = TaskId::nth;
        calendar.set(Due::Tick(CpuId(0)), early);
        calendar.set(Due::Alarm(task(1)), early);
        calendar.set(Due::Alarm(task(0)), early);
        calendar.set(Due::Launch, late);
        calendar.set(Due::Segment(CpuId(1)), late);
        calendar.set(Due::Segment(CpuId(1)), early);
        calendar.set(Due::Hotplug, early);
        calendar.clear(Due::Hotplug);
        let order: Vec<Due> = std::iter::from_fn(|| calendar.pop()).map(|(_, due)| due).collect();
        let (alarms, segment) =
            ([Due::Alarm(task(1)), Due::Alarm(task(0))], Due::Segment(CpuId(1)));
        let expected = [alarms[0], alarms[1], segment, Due::Tick(CpuId(0)), Due::Launch];
        assert_eq!(order, expected);
    }
}
