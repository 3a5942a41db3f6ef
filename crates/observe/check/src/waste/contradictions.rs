//! Events that contradict each other.

use wastenot_model::{
    Contradiction, CpuId, Entry, Event, History, Loss, LossKind, Missing, Observer, State, TaskId,
    Time, Window,
};

/// Events that contradict what was known: lost events without a report, or skewed clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradictions {
    /// A switch names a `prev` that did not run there.
    pub other_prev: u64,
    /// A sleeping task ran without a wakeup.
    pub ran_asleep: u64,
    /// A task ran on two CPUs.
    ran_twice: u64,
    /// A dead task ran.
    undead: u64,
    /// The first of all.
    pub first: Option<Contradicted>,
    /// How many came in the counted time, where they make figures doubtful.
    pub counted: u64,
    window: Window,
    missing: Vec<Missing>,
}

/// An event that contradicts what was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradicted {
    /// When it came.
    pub time: Time,
    /// On which CPU.
    pub cpu: CpuId,
    /// Of which task; an idle task where the CPU was thought to be busy.
    pub task: TaskId,
    /// What it contradicts.
    pub what: Contradiction,
}

/// Why events contradict each other, and what to do.
const CAUSE: &str = "probably, the recorder lost events without reporting them, or the clocks of \
    the CPUs differ. Record again with larger buffers (`record --buffer`, `trace-cmd record -b`, \
    `perf record -m`), or with the monotonic clock (`trace-cmd record -C mono`, `perf record -k \
    mono`)";

impl Contradicted {
    fn of(entry: &Entry, what: Contradiction) -> Option<Contradicted> {
        let Event::Switch { cpu, prev, next, .. } = entry.event else { return None };
        let task = if what == Contradiction::OtherPrev { prev } else { next };
        Some(Contradicted { time: entry.time, cpu, task, what })
    }

    /// In words, as the end of a sentence.
    pub fn words(&self, history: &History) -> String {
        let (task, cpu) = (history.task_label(self.task), self.cpu);
        match self.what {
            Contradiction::OtherPrev => {
                format!("{task} left CPU {cpu}, but another task ran there")
            }
            Contradiction::RanAsleep => format!("{task} ran on CPU {cpu} while it was asleep"),
            Contradiction::RanTwice => format!("{task} ran on CPU {cpu} and another CPU at once"),
            Contradiction::Undead => format!("{task} ran on CPU {cpu} after its exit"),
        }
    }
}

impl Contradictions {
    /// Of a whole recording of which `window` counts; where it reaches the end of `history`, the
    /// last event counts, too.
    pub fn within(mut window: Window, history: &History) -> Contradictions {
        if window.to >= history.window().to {
            window.to = Time::MAX;
        }
        Contradictions {
            other_prev: 0,
            ran_asleep: 0,
            ran_twice: 0,
            undead: 0,
            first: None,
            counted: 0,
            window,
            missing: Missing::find(history),
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.other_prev + self.ran_asleep + self.ran_twice + self.undead
    }

    /// Everything in `history`, where they were found, that was lost or is suspect.
    pub fn losses(&self, history: &History) -> Vec<Loss> {
        let mut losses = history.losses().to_vec();
        losses.extend(self.missing.iter().map(|missing| missing.loss(history)));
        losses.extend((self.total() > 0).then(|| self.loss(history)));
        losses
    }

    fn loss(&self, history: &History) -> Loss {
        let mut note = format!(
            "events contradict each other: switches with a wrong previous task {}, runs of \
             sleeping tasks {}, runs on two CPUs at once {}, runs after exit {}",
            self.other_prev, self.ran_asleep, self.ran_twice, self.undead
        );
        if let Some(first) = self.first {
            note += &format!("; first contradiction: {}", first.words(history));
        }
        note += &format!("; {CAUSE}");
        let mut loss = Loss::new(LossKind::Contradiction, note);
        (loss.count, loss.time) = (Some(self.total()), self.first.map(|first| first.time));
        loss
    }
}

impl Observer for Contradictions {
    fn contradiction(&mut self, _: &State, entry: &Entry, what: Contradiction) {
        let this = Contradicted::of(entry, what);
        self.first = self.first.or(this);
        if self.window.holds(entry.time) {
            self.counted += 1;
        }
        match what {
            Contradiction::OtherPrev => self.other_prev += 1,
            Contradiction::RanAsleep => self.ran_asleep += 1,
            Contradiction::RanTwice => self.ran_twice += 1,
            Contradiction::Undead => self.undead += 1,
        }
    }
}
