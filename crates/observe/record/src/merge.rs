//! Puts the events of all CPUs into time order.

use std::collections::VecDeque;

use wastenot_model::{CpuId, Loss, LossKind, Span, Time};

/// How long after it happened an event may still arrive from another CPU: a virtual CPU may be
/// descheduled between reading the clock and writing the event.
pub(crate) const LATE: Span = Span::ms(100);

/// A record that can be ordered.
pub(crate) trait Timed {
    /// Time first; at equal time what queues a task or sends facts comes before what switches, then
    /// by CPU.
    fn order(&self) -> (Time, bool, CpuId);
    fn time(&self) -> Time;
    /// Replaces a time that went backwards.
    fn hold(&mut self, time: Time);
}

/// Records that a record of another CPU may still precede.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    /// Records that were taken and are not in order yet.
    pub(crate) fresh: Vec<T>,
    /// By CPU: its records, in order.
    lanes: Vec<VecDeque<T>>,
    /// The records to hand on next; kept for its memory.
    batch: Vec<T>,
    begun: Time,
    told: Time,
    late: u64,
}

impl<T: Timed> Pending<T> {
    /// For a recording that begins at `begun`: earlier records are dropped.
    pub(crate) fn since(begun: Time) -> Pending<T> {
        let (fresh, lanes, batch) = (Vec::new(), Vec::new(), Vec::new());
        Pending { fresh, lanes, batch, begun, told: begun, late: 0 }
    }

    /// Sorts the fresh records into their lanes. Each CPU's records are almost in order: few have
    /// to move.
    pub(crate) fn sort(&mut self) {
        for record in self.fresh.drain(..).filter(|record| record.time() >= self.begun) {
            let key = record.order();
            let cpu = key.2.index();
            if self.lanes.len() <= cpu {
                self.lanes.resize_with(cpu + 1, VecDeque::new);
            }
            let lane = &mut self.lanes[cpu];
            match lane.back().is_none_or(|last| last.order() <= key) {
                true => lane.push_back(record),
                false => lane.insert(lane.partition_point(|it| it.order() <= key), record),
            }
        }
    }

    /// After `sort`: hands on the records before `until`. A record that arrives too late gets the
    /// last stamp.
    pub(crate) fn tell(&mut self, until: Time, mut each: impl FnMut(&T)) {
        for lane in &mut self.lanes {
            let count = lane.partition_point(|record| record.time() < until);
            self.batch.extend(lane.drain(..count));
        }
        // There are as many sorted runs as CPUs: a stable sort merges them.
        self.batch.sort_by_key(T::order);
        for mut record in self.batch.drain(..) {
            if record.time() < self.told {
                record.hold(self.told);
                self.late += 1;
            }
            self.told = record.time();
            each(&record);
        }
    }

    /// After `sort`: all records, in order.
    pub(crate) fn all(&self) -> Vec<&T> {
        let mut all: Vec<&T> = self.lanes.iter().flatten().collect();
        all.sort_by_key(|record| record.order());
        all
    }

    /// The loss for records that arrived too late.
    pub(crate) fn loss(&self) -> Option<Loss> {
        let note = format!(
            "events arrived more than {LATE} late; they got the timestamp of the previous event"
        );
        let mut loss = Loss::new(LossKind::ClockStep, note);
        loss.count = Some(self.late);
        (self.late > 0).then_some(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Timed for (u64, char) {
        fn order(&self) -> (Time, bool, CpuId) {
            (self.time(), false, CpuId(0))
        }
        fn time(&self) -> Time {
            Time(self.0)
        }
        fn hold(&mut self, time: Time) {
            self.0 = time.0;
        }
    }

    #[test]
    fn what_comes_late_is_held_and_counted_and_nothing_is_told_early() {
        let mut pending = Pending::since(Time(3));
        let mut told = Vec::new();
        pending.fresh.extend([(5, 'b'), (9, 'd'), (2, 'x'), (3, 'a'), (5, 'c')]);
        pending.sort();
        pending.tell(Time(9), |record| told.push(*record));
        assert_eq!(told, [(3, 'a'), (5, 'b'), (5, 'c')]);
        assert_eq!(pending.loss(), None);
        pending.fresh.extend([(4, 'l'), (1, 'y')]);
        pending.sort();
        pending.tell(Time::MAX, |record| told.push(*record));
        assert_eq!(told[3..], [(5, 'l'), (9, 'd')]);
        assert_eq!(pending.loss().and_then(|loss| loss.count), Some(1));
    }
}
