//! Windows: times in which the kernel did what the model assumes that it does not. Each begins and
//! ends with a step of the log.

use std::collections::HashMap;

use wastenot_rota::step_log::{Step, What};

use super::Conformance;

/// What the kernel did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A waiting task was taken out and put again: its wakeup came before it was in the queue.
    Requeued,
    /// A task stopped and waits, and no other CPU can take it yet: the program of the tracepoint
    /// runs on it, and the kernel disables its migration meanwhile.
    Switched,
    /// A CPU was claimed while a task above the fair class had it.
    Above,
    /// A CPU that was given a task directly took another one first.
    Direct,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Requeued, Kind::Switched, Kind::Above, Kind::Direct];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Requeued => "a waiting task is enqueued again",
            Kind::Switched => "a BPF program runs in the context of a waiting task",
            Kind::Above => "a higher class runs on a claimed CPU",
            Kind::Direct => "a CPU takes another task before the task that it was given directly",
        }
    }

    /// The steps that begin and end it.
    pub fn events(self) -> (&'static str, &'static str) {
        match self {
            Kind::Requeued => {
                ("early", "the next step of that CPU that is neither a claim nor a kick")
            }
            Kind::Switched => {
                ("in", "the next step of that CPU that is neither a claim nor a kick")
            }
            Kind::Above => {
                ("a claim of the CPU, or `above` with the value 1", "attempt or busy of the CPU")
            }
            Kind::Direct => ("run", "start of the task"),
        }
    }

    /// How long it may be, in ns: stated before it was measured.
    pub(crate) fn most_ns(self) -> u64 {
        match self {
            Kind::Requeued | Kind::Switched => 1_000_000,
            Kind::Above => 50_000_000,
            Kind::Direct => 100_000_000,
        }
    }
}

/// A window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// What it is.
    pub kind: Kind,
    /// The step that begins it, and the one that ends it.
    pub steps: (usize, usize),
    /// How long it was.
    pub span_ns: u64,
}

/// What may become a window on a CPU.
#[derive(Default)]
struct Cpu {
    early: Option<(usize, Kind)>,
    stopped: Option<i32>,
    above: bool,
    claimed: Option<usize>,
    /// Tasks that were given to it, with the step, and whether it took another one since.
    given: HashMap<i32, (usize, bool)>,
}

/// Finds all windows.
pub(super) fn find(steps: &[Step], found: &mut Conformance) {
    let mut cpus: HashMap<u16, Cpu> = HashMap::new();
    let mut add = |kind, from: usize, until: usize| {
        let span_ns = steps[until].time_ns.saturating_sub(steps[from].time_ns);
        found.windows.push(Window { kind, steps: (from, until), span_ns });
    };
    for (at, step) in steps.iter().enumerate() {
        let own = cpus.entry(step.cpu).or_default();
        // Until then the rules regard the task as one that others may not find yet.
        if let Some((from, kind)) = own.early
            && !matches!(step.what, What::Claim | What::Kick)
        {
            own.early = None;
            add(kind, from, at);
        }
        match step.what {
            What::Early => own.early = Some((at, Kind::Requeued)),
            What::In if own.stopped == step.task => own.early = Some((at, Kind::Switched)),
            What::Stop => own.stopped = step.task,
            _ => {}
        }
        let Some(to) = step.to else { continue };
        let cpu = cpus.entry(to).or_default();
        match (step.what, step.task) {
            (What::Above, _) => {
                cpu.above = step.value == 1;
                if cpu.above && cpu.claimed.is_some() {
                    cpu.claimed = Some(at);
                }
            }
            (What::Claim, _) => cpu.claimed = Some(at),
            (What::Idle | What::Busy, _) => {
                if let Some(from) = cpu.claimed.take().filter(|_| cpu.above) {
                    add(Kind::Above, from, at);
                }
            }
            (What::Attempt, _) if step.value == 1 => {
                cpu.given.values_mut().for_each(|(_, met)| *met = true);
            }
            (What::Run, Some(task)) => {
                cpu.given.insert(task, (at, false));
            }
            (What::Start, Some(task)) => {
                if let Some((from, true)) = cpu.given.remove(&task) {
                    add(Kind::Direct, from, at);
                }
            }
            _ => {}
        }
    }
}
