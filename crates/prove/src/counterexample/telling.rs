//! A History of steps, on its way.

use wastenot_model::report::Unit;
use wastenot_model::{
    Annex, Builder, By, Carries, Clock, Context, CpuId, Entry, Event, Head, History, Left, Machine,
    Prio, Sink, Source, Start, Table, TaskId, Time, Value, Window,
};
use wastenot_rota::ir::Policy;

use super::STEP_NS;

/// Takes events and the words of each step.
pub(super) struct Telling {
    pub(super) builder: Builder,
    now: Time,
    steps: Table,
}

impl Telling {
    pub(super) fn new(machine: &Machine, policy: &Policy, why: &str, start: Start) -> Telling {
        let mut head = Head::new(machine.clone());
        head.clock = Clock { name: "steps".into(), nanoseconds: true };
        let all = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, ..)| all | *carry);
        head.carries = all.without(Carries::FREQ | Carries::LOSSES);
        head.source = Source {
            format: "prove".into(),
            name: format!("{}: {why}", policy.name),
            kernel: None,
            notes: vec![("policy".into(), policy.name.clone())],
        };
        head.window = Window { from: Time(0), to: Time(0) };
        head.start = Some(start);
        let columns = [
            ("time_ns", "time", Unit::At),
            ("cpu", "CPU", Unit::None),
            ("task", "task", Unit::None),
            ("step", "step", Unit::None),
        ];
        let steps = Table::new("steps", "Steps", &columns);
        Telling { builder: Builder::new(head), now: Time(STEP_NS), steps }
    }

    /// Tasks of these names, numbered in order.
    pub(super) fn tasks(&mut self, called: impl Iterator<Item = String>) {
        for (n, called) in called.enumerate() {
            let name = self.builder.name(&called);
            self.builder.task(wastenot_model::Task::new(n as i32 + 1, name));
        }
    }

    /// Something that happens in this step.
    pub(super) fn event(&mut self, cpu: CpuId, event: Event) {
        let by = By { task: None, context: Context::Task };
        self.builder.push(Entry { time: self.now, cpu, by, event });
    }

    /// A CPU runs somebody else from now on.
    pub(super) fn switch(&mut self, cpu: CpuId, prev: TaskId, next: TaskId, left: Left) {
        let (prev_prio, next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
        self.event(cpu, Event::Switch { cpu, prev, next, left, prev_prio, next_prio });
    }

    /// The step is over.
    pub(super) fn step(&mut self, cpu: Option<CpuId>, task: Option<usize>, words: String) {
        let task = task.map(Value::from);
        self.steps.push(vec![self.now.into(), cpu.into(), task.into(), words.into()]);
        self.now.0 += STEP_NS;
    }

    /// What follows from the last step is seen for as long as all before.
    pub(super) fn finish(mut self) -> History {
        self.builder.head().window.to = Time(self.now.0 * 2);
        self.builder.annex(Annex { table: self.steps });
        self.builder.finish()
    }
}
