//! Tasks that compute and sleep in turn, and the results of their runs.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template, Variate};
use wastenot_model::{CpuId, CpuSet, Event, History, Machine, Span, TaskId, Time, Workload};
use wastenot_sim::{End, Options, checkers, scheduler, simulate};

/// A task that computes, then sleeps, for `rounds` rounds.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) run: Span,
    pub(crate) sleep: Span,
    /// `None` is for ever.
    pub(crate) rounds: Option<u32>,
    pub(crate) at: Time,
    pub(crate) from: CpuId,
    pub(crate) affinity: Option<CpuSet>,
    pub(crate) priority: f64,
    pub(crate) nice: i8,
    pub(crate) job: Option<u32>,
}

impl Life {
    pub(crate) fn hog() -> Life {
        Life {
            run: Span::s(1000),
            sleep: Span::ZERO,
            rounds: Some(1),
            at: Time(0),
            from: CpuId(0),
            affinity: None,
            priority: 1.0,
            nice: 0,
            job: None,
        }
    }
    pub(crate) fn in_turn(run: Span, sleep: Span) -> Life {
        Life { run, sleep, rounds: None, ..Life::hog() }
    }
    fn template(&self) -> Template {
        let fixed = Variate::Fixed;
        let steps = vec![
            Step::Loop(self.rounds),
            Step::Compute(fixed(self.run)),
            Step::Sleep(fixed(self.sleep)),
            Step::End { of: 0 },
        ];
        let program = Program::new(steps).expect("a program");
        let Life { nice, ref affinity, priority, job, .. } = *self;
        Template {
            nice,
            affinity: affinity.clone(),
            priority,
            job,
            ..Template::new("life", program)
        }
    }
}

/// The result of a run.
pub(crate) struct Seen {
    pub(crate) history: History,
    /// Each run of a task: on which CPU, from when, and until when.
    pub(crate) runs: Vec<Run>,
    ended: Vec<Option<Time>>,
    own: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) task: TaskId,
    pub(crate) cpu: CpuId,
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Seen {
    /// The task of the `n`th life; the tasks of the policy come first.
    pub(crate) fn task(&self, n: usize) -> TaskId {
        TaskId::nth(self.own + n)
    }
    pub(crate) fn ended(&self, n: usize) -> Option<Time> {
        self.ended[self.own + n]
    }
    pub(crate) fn runs_of(&self, n: usize) -> impl Iterator<Item = &Run> + '_ {
        let task = self.task(n);
        self.runs.iter().filter(move |run| run.task == task)
    }
    /// CPU time that it had between two instants.
    pub(crate) fn used_between(&self, n: usize, from: Time, to: Time) -> Span {
        let spans = self.runs_of(n).map(|run| run.to.min(to) - run.from.max(from));
        spans.fold(Span::ZERO, |sum, span| sum + span)
    }
    pub(crate) fn used(&self, n: usize) -> Span {
        self.used_between(n, Time(0), Time::MAX)
    }
    /// CPU time that CPUs were idle while tasks waited that they may run.
    pub(crate) fn waste(&self) -> Span {
        let options = wastenot_check::Options::default();
        Span(wastenot_check::check(&self.history, &options).waste.cpu_ns)
    }
    /// Mean length of its uninterrupted runs, in milliseconds.
    pub(crate) fn slice_ms(&self, n: usize) -> f64 {
        self.used(n).0 as f64 / 1e6 / self.runs_of(n).count() as f64
    }
}

/// Runs the lives on `machine` under the scheduler of this name with these tunables.
pub(crate) fn live(
    machine: &Machine,
    name: &str,
    set: &[(&str, &str)],
    lives: &[Life],
    s: u64,
) -> Seen {
    live_with(machine, name, set, lives, s, 1)
}

pub(crate) fn live_with(
    machine: &Machine,
    name: &str,
    set: &[(&str, &str)],
    lives: &[Life],
    seconds: u64,
    seed: u64,
) -> Seen {
    let set: Vec<(String, String)> =
        set.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    let policy = scheduler(name, &set).expect("a scheduler with its switches");
    let mut load = Workload::new();
    assert!(lives.is_sorted_by_key(|life| life.at), "tasks are numbered as they are launched");
    for life in lives {
        let template = load.template(life.template());
        load.launch(template, life.from);
        load.launches.last_mut().expect("one").at = life.at;
    }
    let options = Options { limit: Time(Span::s(seconds).0), seed, ..Options::default() };
    let (history, outcome) = simulate(machine, &Costs::default(), &load, policy, &options);
    assert!(matches!(outcome.end, End::Done | End::Limit), "{:?}", outcome.end);
    assert_eq!(checkers::wrong(&history), Vec::<String>::new(), "{name}");
    let own = history.task_count() - lives.len();
    Seen { runs: runs(&history, outcome.time), history, ended: outcome.ended, own }
}

fn runs(history: &History, end: Time) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut on: Vec<Option<usize>> = vec![None; history.cpu_count()];
    for entry in history.entries() {
        let Event::Switch { cpu, next, .. } = entry.event else { continue };
        if let Some(last) = on[cpu.index()].take() {
            runs[last].to = entry.time;
        }
        if !next.is_idle() {
            on[cpu.index()] = Some(runs.len());
            runs.push(Run { task: next, cpu, from: entry.time, to: end });
        }
    }
    runs
}

pub(crate) fn assert_near(got: f64, want: f64, share: f64) {
    assert!((got / want - 1.0).abs() <= share, "{got} where {want} was expected");
}
