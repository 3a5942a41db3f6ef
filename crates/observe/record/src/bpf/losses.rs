//! Lost events: reported as soon as they are known, and once more with the final count.

use wastenot_model::{CpuId, Loss, LossKind, Sink, Time};

use crate::clock::Suspended;
use crate::wire::{Kind, Wire};

/// The losses of a recording.
#[derive(Debug)]
pub(super) struct Losses {
    /// By CPU: the overrun that was reported before its end, with the count at that time.
    announced: Vec<Overrun>,
    /// The counters when the recording began.
    before: Tally,
    suspended: Suspended,
}

/// Consecutive events of one CPU that were dropped because the ring was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Overrun {
    /// When the first of them happened.
    pub(super) since: Time,
    /// How many so far; 0: none.
    pub(super) count: u32,
}

/// Counters since the programs were loaded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// How often the kernel skipped one of our programs.
    pub(super) misses: u64,
    /// For how many tasks no facts could be sent.
    pub(super) untold: u64,
}

impl Losses {
    /// The losses of a recording of `cpus` CPUs that begins now.
    pub(super) fn since(before: Tally, cpus: usize) -> Losses {
        let announced = vec![Overrun::default(); cpus];
        Losses { announced, before, suspended: Suspended::so_far() }
    }

    /// Reports overruns in the records just `taken` from the rings. `seen`, by CPU, holds the
    /// overruns that were open before the records were taken. Read later, it would miss the
    /// overruns that ended because taking made room, and they would be reported too late.
    ///
    /// The programs can report an overrun only once there is room again, and events of other CPUs
    /// in the meantime are reported before that: so an open overrun is announced. At its end a
    /// record with its final count is in a ring: the rest of the count is reported where the CPU is
    /// known again.
    pub(super) fn settle(&mut self, mut seen: Vec<Overrun>, taken: &mut Vec<Wire>) {
        for at in 0..taken.len() {
            let wire = taken[at];
            if wire.kind != Kind::Lost {
                continue;
            }
            let (Some(seen), Some(announced)) =
                (seen.get_mut(wire.cpu.index()), self.announced.get_mut(wire.cpu.index()))
            else {
                continue;
            };
            if seen.since == wire.time {
                *seen = Overrun::default();
            }
            if announced.is_told_by(&wire) {
                let next = taken.get(at + 1).filter(|next| next.cpu == wire.cpu);
                // No record if the next event was lost, too.
                let again = (seen.count > 0).then_some(seen.since);
                let time = next.map(|next| next.time).or(again).unwrap_or(wire.time);
                let rest = wire.task.saturating_sub(announced.count);
                taken[at] = Wire { time, task: rest, ..wire };
                *announced = Overrun::default();
            }
        }
        for (cpu, (seen, announced)) in seen.into_iter().zip(&mut self.announced).enumerate() {
            if seen.count > 0 && announced.count == 0 {
                *announced = seen;
                taken.push(Wire::lost(seen.since, CpuId(cpu as u16), seen.count));
            }
        }
    }

    /// Reports the losses that no event reported, once the recording has ended. Returns how many
    /// events these are.
    pub(super) fn tell(&self, seen: &[Overrun], now: Tally, sink: &mut dyn Sink) -> u64 {
        let mut lost = 0;
        for (cpu, (seen, announced)) in seen.iter().zip(&self.announced).enumerate() {
            // No later event of that CPU reports this overrun; most of it was announced.
            let told = if seen.since == announced.since { announced.count } else { 0 };
            let rest = seen.count.saturating_sub(told);
            if rest > 0 {
                lost += u64::from(rest);
                sink.loss(Loss::dropped(CpuId(cpu as u16), seen.since, Some(rest)));
            }
        }
        let mut tell = |count: u64, note: &str| {
            let loss = Loss { count: Some(count), ..Loss::new(LossKind::LostEvents, note) };
            if count > 0 {
                sink.loss(loss);
            }
            count
        };
        let misses = now.misses.saturating_sub(self.before.misses);
        lost += tell(misses, "events are missing, because a BPF program cannot interrupt itself");
        let untold = now.untold.saturating_sub(self.before.untold);
        tell(
            untold,
            "the kernel had no memory to follow some tasks, so their changes were not recorded; \
             the count is the number of these tasks",
        );
        self.suspended.loss().into_iter().for_each(|loss| sink.loss(loss));
        lost
    }
}

impl Overrun {
    /// Whether `wire` is the end of this overrun.
    fn is_told_by(&self, wire: &Wire) -> bool {
        self.count > 0 && self.since == wire.time
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::{Builder, Head, History, Machine};

    use super::*;
    use crate::wire::wire;

    const NONE: Overrun = Overrun { since: Time(0), count: 0 };

    fn overrun(since: u64, count: u32) -> Overrun {
        Overrun { since: Time(since), count }
    }

    fn lost(time: u64, cpu: u16, count: u32) -> Wire {
        Wire::lost(Time(time), CpuId(cpu), count)
    }

    fn switch(time: u64, cpu: u16) -> Wire {
        wire(time, cpu, Kind::Switch, 1, 2)
    }

    /// A recording of two CPUs, and how many events it reports as lost.
    struct Desk {
        losses: Losses,
        told: u32,
    }

    impl Desk {
        fn new() -> Desk {
            Desk { losses: Losses::since(Tally::default(), 2), told: 0 }
        }

        /// The result for `taken` if overruns were `seen`.
        fn settle(&mut self, seen: [Overrun; 2], taken: &[Wire]) -> Vec<Wire> {
            let mut taken = taken.to_vec();
            self.losses.settle(seen.to_vec(), &mut taken);
            let losses = taken.iter().filter(|wire| wire.kind == Kind::Lost);
            self.told += losses.map(|wire| wire.task).sum::<u32>();
            taken
        }

        fn tell(&self, seen: [Overrun; 2], now: Tally) -> (u64, History) {
            let mut sink = Builder::new(Head::new(Machine::flat(2)));
            let lost = self.losses.tell(&seen, now, &mut sink);
            (lost, sink.finish())
        }
    }

    #[test]
    fn an_overrun_is_announced_once_and_its_rest_stands_where_the_cpu_is_known_again() {
        let mut desk = Desk::new();
        let other = [switch(15, 0)];
        assert_eq!(
            desk.settle([NONE, overrun(10, 3)], &other),
            [switch(15, 0), lost(10, 1, 3)],
            "before its end"
        );
        assert_eq!(desk.settle([NONE, overrun(10, 5)], &other), other, "it goes on");
        let end = [lost(10, 1, 7), switch(40, 1)];
        assert_eq!(desk.settle([NONE, NONE], &end), [lost(40, 1, 4), switch(40, 1)]);
        assert_eq!(desk.told, 7);
    }

    #[test]
    fn of_two_overruns_each_counts_once_though_the_second_is_seen_before_the_end_of_the_first() {
        let mut desk = Desk::new();
        desk.settle([overrun(10, 3), NONE], &[]);
        let taken = [lost(10, 0, 5), switch(40, 0)];
        assert_eq!(
            desk.settle([overrun(50, 2), NONE], &taken),
            [lost(40, 0, 2), switch(40, 0), lost(50, 0, 2)]
        );
        let taken = [lost(50, 0, 9), switch(70, 0)];
        assert_eq!(desk.settle([NONE, NONE], &taken), [lost(70, 0, 7), switch(70, 0)]);
        assert_eq!(desk.told, 5 + 9);
    }

    #[test]
    fn what_is_full_again_at_once_is_known_nowhere_between() {
        let mut desk = Desk::new();
        desk.settle([overrun(10, 3), NONE], &[]);
        // There was room for this record only.
        let taken = [lost(10, 0, 5)];
        let told = desk.settle([overrun(40, 1), NONE], &taken);
        assert_eq!(told, [lost(40, 0, 2), lost(40, 0, 1)]);
    }

    #[test]
    fn an_overrun_that_ends_while_the_rings_are_emptied_is_not_announced() {
        let mut desk = Desk::new();
        let taken = [lost(10, 0, 5), switch(40, 0)];
        assert_eq!(desk.settle([overrun(10, 3), NONE], &taken), taken);
        // Its end was written between the two reads of its CPU: the count is that of the next
        // overrun.
        assert_eq!(desk.settle([overrun(10, 1), NONE], &taken), taken);
        assert_eq!(desk.settle([overrun(50, 2), NONE], &[]), [lost(50, 0, 2)]);
    }

    #[test]
    fn an_end_that_cannot_be_taken_yet_is_waited_for() {
        let mut desk = Desk::new();
        desk.settle([overrun(10, 3), NONE], &[]);
        // It is behind a record that is being written.
        assert_eq!(desk.settle([overrun(50, 2), NONE], &[]), []);
        let taken = [lost(10, 0, 5), switch(40, 0)];
        desk.settle([overrun(50, 4), NONE], &taken);
        desk.settle([NONE, NONE], &[lost(50, 0, 6), switch(70, 0)]);
        assert_eq!(desk.told, 5 + 6);
    }

    #[test]
    fn the_overrun_that_ends_the_recording_counts_once() {
        let mut desk = Desk::new();
        desk.settle([overrun(10, 3), overrun(20, 1)], &[]);
        desk.settle([overrun(10, 4), NONE], &[lost(20, 1, 2), switch(30, 1)]);
        let (lost, history) = desk.tell([overrun(10, 9), overrun(60, 5)], Tally::default());
        assert_eq!((desk.told, lost), (3 + 2, 6 + 5));
        let told: Vec<_> = history.losses().iter().map(|it| (it.cpu, it.time, it.count)).collect();
        assert_eq!(
            told,
            [(Some(CpuId(0)), Some(Time(10)), Some(6)), (Some(CpuId(1)), Some(Time(60)), Some(5))]
        );
    }

    #[test]
    fn what_was_counted_before_the_recording_is_no_loss_of_it() {
        let mut desk = Desk::new();
        desk.losses.before = Tally { misses: 7, untold: 2 };
        assert_eq!(desk.tell([NONE; 2], Tally { misses: 7, untold: 2 }).1.losses(), []);
        let (lost, history) = desk.tell([NONE; 2], Tally { misses: 9, untold: 2 });
        assert_eq!((lost, history.losses()[0].count), (2, Some(2)));
        let (lost, history) = desk.tell([NONE; 2], Tally { misses: 7, untold: 5 });
        assert_eq!((lost, history.losses()[0].count), (0, Some(3)), "tasks are no events");
    }
}
