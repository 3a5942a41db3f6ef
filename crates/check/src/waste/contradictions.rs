//! Events that cannot all be true.

use wastenot_model::{
    Contradiction, Entry, History, Loss, LossKind, Missing, Observer, State, Time,
};

/// Events that contradict what was known: lost events that nobody reported, or skewed clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contradictions {
    /// A switch names a `prev` that did not run there.
    pub other_prev: u64,
    /// A sleeping task ran without a wakeup.
    pub ran_asleep: u64,
    /// A task ran on two CPUs.
    pub ran_twice: u64,
    /// A dead task ran.
    pub undead: u64,
    /// When the first of all came.
    pub first: Option<Time>,
}

impl Contradictions {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.other_prev + self.ran_asleep + self.ran_twice + self.undead
    }

    /// Everything in `history`, where they were found, that was lost or is suspect.
    pub fn losses(&self, history: &History) -> Vec<Loss> {
        let mut losses = history.losses().to_vec();
        losses.extend(Missing::find(history).iter().map(|missing| missing.loss(history)));
        losses.extend((self.total() > 0).then(|| self.loss()));
        losses
    }

    fn loss(&self) -> Loss {
        let note = format!(
            "events of the recording contradict each other: another previous task in a switch {}, \
             runs of sleeping tasks {}, on two CPUs {}, after death {}",
            self.other_prev, self.ran_asleep, self.ran_twice, self.undead
        );
        let mut loss = Loss::new(LossKind::Contradiction, note);
        (loss.count, loss.time) = (Some(self.total()), self.first);
        loss
    }
}

impl Observer for Contradictions {
    fn contradiction(&mut self, _: &State, entry: &Entry, what: Contradiction) {
        self.first.get_or_insert(entry.time);
        match what {
            Contradiction::OtherPrev => self.other_prev += 1,
            Contradiction::RanAsleep => self.ran_asleep += 1,
            Contradiction::RanTwice => self.ran_twice += 1,
            Contradiction::Undead => self.undead += 1,
        }
    }
}
