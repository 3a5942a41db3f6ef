//! What if: the work of a History under another scheduler, and what none could beat.

use wastenot_check::waste::Figures;
use wastenot_check::{Movable, Recorder, waste};
use wastenot_model::machine::Costs;
use wastenot_model::report::Unit;
use wastenot_model::workload::{Group, GroupId};
use wastenot_model::{
    History, Loss, Machine, Report, Silent, Span, Table, TaskId, Time, Value, replay,
};
use wastenot_scenario::extract::{self, Bound, Chain, Extracted};
use wastenot_scenario::scenario::Choice;
use wastenot_sim::{Options, scheduler, simulate};

use crate::Error;
use crate::cell::{Run, bad_end};

/// The scheduler that is shown beside every other.
const YARDSTICK: &str = "work-conserving";
/// Schedulers that look at cgroups and sessions.
const GROUPING: [&str; 4] = ["cfs-4.1", "cfs-5.10", "cfs-6.1", "eevdf-6.12"];
/// A run that takes so many times as long as the recorded one is given up.
const PATIENCE: u64 = 100;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The scheduler; the yardstick if none is named.
    pub scheduler: Option<Choice>,
    /// Another machine than the one it ran on.
    pub machine: Option<Machine>,
    /// The run is over when these are done, instead of all that are no kernel threads.
    pub awaited: Option<Vec<TaskId>>,
    /// Seed of what schedulers draw.
    pub seed: u64,
}

/// The answer.
#[derive(Debug)]
pub struct WhatIf {
    /// What the trace is called.
    pub name: String,
    /// The work, on the machine where it is run.
    pub extracted: Extracted,
    /// What no scheduler beats there.
    pub bound: Bound,
    /// Whether that is another machine than the one it ran on.
    pub moved: bool,
    /// What was wasted in the History.
    pub waste: Figures,
    /// What of it was lost or is suspect.
    pub losses: Vec<Loss>,
    /// The run under the scheduler that was asked for.
    pub asked: Replayed,
    /// The run under the yardstick, where that is another one.
    pub yardstick: Option<Replayed>,
}

/// The work under a scheduler.
#[derive(Debug)]
pub struct Replayed {
    /// The scheduler, with its switches.
    pub scheduler: String,
    /// From the start until the last task that is waited for had done its work; unknown if the
    /// run was given up.
    pub makespan: Option<Span>,
    /// What was wasted.
    pub waste: Figures,
    /// The run.
    pub run: Run,
}

/// Answers `question` about `history`.
pub fn what_if(history: &History, question: &Question) -> Result<WhatIf, Error> {
    let choice = question.scheduler.clone();
    let choice = choice.unwrap_or(Choice { name: YARDSTICK.into(), switches: Vec::new() });
    scheduler(&choice.name, &choice.switches).map_err(Error::Scheduler)?;
    let movable = Movable::survey(history);
    let recorder = Recorder::of(history);
    let options = extract::Options {
        awaited: question.awaited.as_deref(),
        recorder: &|task| is_recorder(history, recorder.as_ref(), task),
        pinned: &|task| movable.pinned(task).is_some(),
    };
    let mut extracted = extract::extract(history, &options).map_err(Error::Extract)?;
    if let Some(machine) = &question.machine {
        extracted = extracted.on(machine.clone());
    }
    let name = history.head.source.name.clone();
    let other = choice.name != YARDSTICK || !choice.switches.is_empty();
    let yardstick = Choice { name: YARDSTICK.into(), switches: Vec::new() };
    Ok(WhatIf {
        bound: extracted.bound(),
        moved: question.machine.is_some(),
        waste: waste::measure(history, &wastenot_check::Options::default()),
        losses: losses(history),
        asked: replayed(&extracted, &choice, question.seed, &name)?,
        yardstick: match other {
            true => Some(replayed(&extracted, &yardstick, question.seed, &name)?),
            false => None,
        },
        extracted,
        name,
    })
}

/// What of `history` was lost or is suspect.
fn losses(history: &History) -> Vec<Loss> {
    let mut contradictions = waste::Contradictions::default();
    replay(history, Silent::Unknown, &mut contradictions);
    contradictions.losses(history)
}

/// Whether `task` belongs to who made the recording: our own say so, others go by their names.
fn is_recorder(history: &History, known: Option<&Recorder<'_>>, task: TaskId) -> bool {
    const OTHERS: [&str; 3] = ["trace-cmd", "perf", "wastenot"];
    known.is_some_and(|known| known.has(task)) || OTHERS.contains(&&*history.task_name(task))
}

/// Runs the work under the scheduler of `choice`.
fn replayed(
    extracted: &Extracted,
    choice: &Choice,
    seed: u64,
    name: &str,
) -> Result<Replayed, Error> {
    let policy = scheduler(&choice.name, &choice.switches).map_err(Error::Scheduler)?;
    let label = policy.name();
    let limit = extracted.recorded.0.saturating_mul(PATIENCE);
    let options = Options { name: name.into(), seed, limit: Time(limit), notes: false };
    // What else it cost stands in the CPU time of tasks.
    let costs = Costs { ipi: extracted.ipi, ..Costs::default() };
    let (history, outcome) =
        simulate(&extracted.machine, &costs, &extracted.workload, policy, &options);
    if let Some((what, help)) = bad_end(&outcome.end, &history) {
        return Err(Error::Replay { scheduler: label, what, help });
    }
    let done = outcome.marks.iter().filter(|mark| mark.mark == extracted.done);
    let last = done.clone().map(|mark| mark.time).max();
    let all = done.count() == extracted.awaited;
    Ok(Replayed {
        scheduler: label,
        makespan: last.filter(|_| all).map(|last| Span(last.0)),
        waste: waste::measure(&history, &wastenot_check::Options::default()),
        run: Run { history, outcome },
    })
}

impl WhatIf {
    /// How much of the recorded run no bound explains: at most so much was the scheduler's doing.
    pub fn at_most(&self) -> Option<f64> {
        let (recorded, bound) = (self.extracted.recorded.0, self.bound.span().0);
        let saved = recorded.saturating_sub(bound) as f64;
        (!self.moved && recorded > 0).then(|| saved / recorded as f64)
    }

    /// The answer of `wastenot simulate --replay`.
    pub fn report(&self) -> Report {
        let title = format!("{}: its work under {}", self.name, self.asked.scheduler);
        let mut report = Report::new("simulate.replay/1", title);
        report.verdict = self.verdict();
        let (extracted, bound) = (&self.extracted, &self.bound);
        report.measure("recorded.makespan_ns", "recorded", extracted.recorded, Unit::Ns);
        report.measure("simulated.makespan_ns", "simulated", self.asked.makespan, Unit::Ns);
        report.measure("bound.makespan_ns", "no scheduler beats", bound.span(), Unit::Ns);
        report.measure("scheduler_share_max", "", self.at_most(), Unit::Share);
        report.measure("bound.chain_ns", "longest chain", bound.chain.span(), Unit::Ns);
        let sleep = bound.chain.sleep;
        report.measure("bound.chain_sleep_ns", "of it asleep", sleep, Unit::Ns);
        report.measure("bound.work_ns", "work / CPUs", bound.all.span(), Unit::Ns);
        let crowd = bound.bound.as_ref();
        let crowded = crowd.map(|crowd| crowd.span());
        let label = if crowd.is_some() { "work / CPUs, bound tasks" } else { "" };
        report.measure("bound.affinity_ns", label, crowded, Unit::Ns);
        let cpus = crowd.map(|crowd| crowd.cpus.to_string());
        report.measure("bound.affinity_cpus", "", cpus, Unit::None);
        report.measure("work_cpu_ns", "CPU time of the work", extracted.work, Unit::Ns);
        report.measure("awaited_cpu_ns", "of it waited for", extracted.awaited_work, Unit::Ns);
        let held = Some(extracted.held).filter(|held| *held > Span::ZERO);
        let label = if held.is_some() { "held back by quotas" } else { "" };
        report.measure("throttled_ns", label, extracted.held, Unit::Ns);
        report.measure("unknown_ns", "", extracted.unknown, Unit::Ns);
        report.measure("tasks", "tasks", extracted.tasks, Unit::None);
        report.measure("awaited", "waited for", extracted.awaited, Unit::None);
        report.tables = vec![self.runs(), self.chains()];
        report.losses.clone_from(&self.losses);
        report.assumptions.clone_from(&extracted.assumptions);
        report.assumptions.extend(self.unread());
        report.assumptions.push(
            "a work-conserving run is no bound: doing work as soon as a CPU is free may delay \
             what others wait for (Graham 1969), so it may even be longer than the recorded run"
                .into(),
        );
        report
    }

    fn verdict(&self) -> String {
        let (asked, bound) = (&self.asked, self.bound.span());
        let simulated = match asked.makespan {
            Some(makespan) => format!("{} takes {makespan}", asked.scheduler),
            None => format!("{} had not done the work after {}", asked.scheduler, asked.given_up()),
        };
        let recorded = self.extracted.recorded;
        let Some(share) = self.at_most() else {
            let machine = self.machine();
            return format!(
                "On {machine} {simulated} for what took {recorded}; no scheduler finishes it there \
                 before {bound}."
            );
        };
        let unless = match self.extracted.unknown {
            Span::ZERO => "",
            _ => ", as far as the trace tells",
        };
        let share = per_cent(share);
        format!(
            "At most {share} of this run can be the scheduler's fault{unless}: it took {recorded}, \
             and no scheduler finishes the same work before {bound}{}. Simulated, {simulated}.",
            self.limit().unwrap_or_default()
        )
    }

    /// What keeps the run so long, where that is one chain.
    fn limit(&self) -> Option<String> {
        /// Nearly all of it.
        const MOST: f64 = 0.99;
        let chain = self.bound.chain;
        let most = |span: Span, of: Span| span.0 as f64 >= MOST * of.0 as f64;
        let limits = most(chain.span(), self.extracted.recorded);
        let end = self.bound.ends.first().filter(|_| limits)?;
        let (name, sleeps) = (&end.name, chain.sleep > chain.compute);
        let how =
            if sleeps { "sleeps, or waits for who does," } else { "is busy, or waits for who is," };
        Some(format!(
            ", because `{name}` {how} from one end to the other (`--task` says whom to wait for)"
        ))
    }

    /// The machine in words.
    fn machine(&self) -> String {
        let machine = &self.extracted.machine;
        let cpus = machine.len();
        match (machine.name.as_str(), cpus) {
            ("", 1) => "a machine of one CPU".into(),
            ("", _) => format!("a machine of {cpus} CPUs"),
            (name, _) => name.into(),
        }
    }

    /// What the scheduler does not look at.
    fn unread(&self) -> Option<String> {
        let groups = &self.extracted.workload.groups;
        let shared = groups.iter().any(|group| group.shares != Group::root().shares);
        let nested = self.extracted.workload.templates.iter().any(|it| it.group != GroupId(0));
        let name = &self.asked.scheduler;
        (nested && !GROUPING.contains(&name.as_str())).then(|| {
            let shares = if shared { ", nor their shares" } else { "" };
            format!("{name} does not look at cgroups and sessions{shares}")
        })
    }

    fn runs(&self) -> Table {
        let columns = [
            ("run", "run", Unit::None),
            ("makespan_ns", "makespan", Unit::Ns),
            ("ratio", "of recorded", Unit::Share),
            ("waste_cpu_ns", "waste", Unit::Ns),
        ];
        let mut table = Table::new("runs", "Runs of the same work", &columns);
        let recorded = self.extracted.recorded;
        let mut row = |run: &str, makespan: Option<Span>, waste: Option<u64>| {
            let ratio = makespan.map(|it| it.0 as f64 / recorded.0.max(1) as f64);
            let cells: Vec<Value> = vec![run.into(), makespan.into(), ratio.into(), waste.into()];
            table.push(cells);
        };
        row("recorded", Some(recorded), Some(self.waste.cpu_ns));
        for run in std::iter::once(&self.asked).chain(&self.yardstick) {
            row(&run.scheduler, run.makespan, Some(run.waste.cpu_ns));
        }
        row("no scheduler beats", Some(self.bound.span()), None);
        table
    }
}

impl WhatIf {
    fn chains(&self) -> Table {
        let columns = [
            ("name", "tasks", Unit::None),
            ("tasks", "how many", Unit::None),
            ("chain_ns", "not before", Unit::Ns),
            ("compute_ns", "of it CPU time", Unit::Ns),
            ("sleep_ns", "of it asleep", Unit::Ns),
        ];
        let mut table = Table::new("chains", "When they end on CPUs without number", &columns);
        table.shown = 5;
        for end in &self.bound.ends {
            let Chain { compute, sleep } = end.chain;
            let span = end.chain.span().into();
            let (name, tasks) = (end.name.as_str().into(), end.tasks.into());
            table.push(vec![name, tasks, span, compute.into(), sleep.into()]);
        }
        table
    }
}

impl Replayed {
    fn given_up(&self) -> Span {
        Span(self.run.outcome.time.0)
    }
}

/// Rounded up: the figure is an upper bound.
fn per_cent(share: f64) -> String {
    match (share * 100.0).ceil() {
        0.0 => "0 %".into(),
        whole => format!("{whole:.0} %"),
    }
}
