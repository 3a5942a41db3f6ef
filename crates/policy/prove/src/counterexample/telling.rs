//! Builds a History of steps.

use wastenot_model::{
    Annex, Builder, By, Carries, Clock, Context, CpuId, Entry, Event, Head, History, Left, Machine,
    Prio, Sink, Source, Start, Table, TaskId, Time, Window,
};

use super::STEP_NS;
use super::annexes::{self, AT_FIRST, FORMAT, Row, SO, Tables};

/// Collects the events and the words of each step.
pub(super) struct Telling {
    pub(super) builder: Builder,
    now: Time,
    steps: Table,
    why: String,
}

impl Telling {
    /// Begins with the initial state, also in words.
    pub(super) fn new(
        machine: &Machine,
        tables: &Tables,
        start: Start,
        at_first: Vec<String>,
    ) -> Telling {
        let mut head = Head::new(machine.clone());
        head.clock = Clock { name: "steps".into(), nanoseconds: true };
        let all = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, ..)| all | *carry);
        head.carries = all.without(Carries::FREQ | Carries::LOSSES);
        let (policy, why) = (tables.about.policy.clone(), tables.about.why.clone());
        head.source = Source {
            format: FORMAT.into(),
            name: format!("{policy}: {why}"),
            kernel: None,
            notes: vec![("policy".into(), policy)],
        };
        head.window = Window { from: Time(0), to: Time(0) };
        head.start = Some(start);
        let mut builder = Builder::new(head);
        tables.write().into_iter().for_each(|table| builder.annex(Annex { table }));
        let mut steps = annexes::steps();
        for words in at_first {
            annexes::push(&mut steps, Time(0), Row::words(AT_FIRST, words));
        }
        Telling { builder, now: Time(STEP_NS), steps, why }
    }

    /// Tasks of these names, numbered in order.
    pub(super) fn tasks(&mut self, called: impl Iterator<Item = String>) {
        for (n, called) in called.enumerate() {
            let name = self.builder.name(&called);
            self.builder.task(wastenot_model::Task::new(n as i32 + 1, name));
        }
    }

    /// Adds an event of this step.
    pub(super) fn event(&mut self, cpu: CpuId, event: Event) {
        let by = By { task: None, context: Context::Task };
        self.builder.push(Entry { time: self.now, cpu, by, event });
    }

    /// A CPU runs another task from now on.
    pub(super) fn switch(&mut self, cpu: CpuId, prev: TaskId, next: TaskId, left: Left) {
        let (prev_prio, next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
        self.event(cpu, Event::Switch { cpu, prev, next, left, prev_prio, next_prio });
    }

    /// The step is over.
    pub(super) fn step(&mut self, row: Row) {
        annexes::push(&mut self.steps, self.now, row);
        self.now.0 += STEP_NS;
    }

    /// Ends the History a while after the last step, so that its outcome is visible.
    pub(super) fn finish(mut self) -> History {
        annexes::push(&mut self.steps, self.now, Row::words(SO, self.why));
        self.builder.head().window.to = Time(self.now.0 + AFTER_NS);
        self.builder.annex(Annex { table: self.steps });
        self.builder.finish()
    }
}

/// The time after the last step until the History ends, in ns.
const AFTER_NS: u64 = 2 * STEP_NS;
