//! The answer of a what-if in words and tables.

use crate::extract::{Basis, Chain, Crowd, Wakers};
use wastenot_model::report::Unit;
use wastenot_model::{Report, Span, Table};

use super::{Replayed, WhatIf};

/// What the bound of a recording supposes.
const UNSPUN: &str = "no task busy-waited";

impl WhatIf {
    /// The answer of `wastenot what-if`.
    pub fn report(&self) -> Report {
        let title = format!("{}: its work replayed under {}", self.name, self.asked.scheduler);
        let mut report = Report::new("what-if/1", title);
        report.verdict = self.verdict();
        let extracted = &self.extracted;
        report.measure("recorded.makespan_ns", "recorded", extracted.recorded, Unit::Ns);
        report.measure("simulated.makespan_ns", "simulated", self.asked.makespan, Unit::Ns);
        self.measure_bound(&mut report);
        self.measure_as_recorded(&mut report);
        report.measure("work_cpu_ns", "CPU time of the work", extracted.work, Unit::Ns);
        report.measure("awaited_cpu_ns", "  awaited tasks", extracted.awaited_work, Unit::Ns);
        let label = if extracted.held > Span::ZERO { "throttled by quotas" } else { "" };
        report.measure("throttled_ns", label, extracted.held, Unit::Ns);
        report.measure("unknown_ns", "", extracted.unknown, Unit::Ns);
        report.measure("tasks", "tasks", extracted.tasks, Unit::None);
        report.measure("awaited", "  awaited", extracted.awaited, Unit::None);
        report.tables = vec![self.runs(), self.chains()];
        report.losses.clone_from(&self.losses);
        report.assumptions.clone_from(&extracted.assumptions);
        report.assumptions.extend(self.asked.unread.clone());
        report.assumptions.extend(self.of_the_bound());
        report.assumptions.push(
            "the work-conserving run may be longer than the shortest possible run, and even longer \
             than the recorded run: tasks that start as soon as a CPU is free can delay other \
             tasks (Graham 1969)"
                .into(),
        );
        report
    }

    /// What no scheduler beats, and why.
    fn measure_bound(&self, report: &mut Report) {
        let bound = &self.bound;
        report.measure("bound.makespan_ns", "lower bound", bound.span(), Unit::Ns);
        report.measure("scheduler_share_max", "", self.at_most(), Unit::Share);
        let basis = match bound.basis {
            Basis::Programs => Some("programs"),
            Basis::Tasks => Some("tasks"),
            Basis::NoWakers => None,
        };
        report.measure("bound.basis", "", basis.map(str::to_owned), Unit::None);
        let supposed = (bound.basis == Basis::Tasks).then(|| UNSPUN.to_owned());
        report.measure("bound.if", "", supposed, Unit::None);
        report.measure("bound.path_ns", "longest path", bound.path, Unit::Ns);
        let label = if bound.lock.is_some() { "under one lock" } else { "" };
        report.measure("bound.lock_ns", label, bound.lock, Unit::Ns);
        report.measure("bound.work_ns", "work / CPUs", bound.work, Unit::Ns);
        let (cpus, span) = bound.affinity.clone().unzip();
        let label = if span.is_some() { "work / CPUs, pinned tasks" } else { "" };
        report.measure("bound.affinity_ns", label, span, Unit::Ns);
        let cpus = cpus.map(|cpus| cpus.to_string());
        report.measure("bound.affinity_cpus", "", cpus, Unit::None);
    }

    /// What the bound leaves out, and what the figures beside it do not.
    fn of_the_bound(&self) -> Vec<String> {
        let bound = match self.bound.basis {
            Basis::Programs => {
                "lower bound: computed from the work that the programs must do under every \
                 schedule; busy-waiting is not work"
            }
            Basis::Tasks => {
                "lower bound: computed from the total work divided by the number of CPUs, and from \
                 the work of each task that shares its work with no other task. Tasks may share \
                 work if they have equal names, belong to one process, were forked without a later \
                 exec, or have an unknown origin"
            }
            Basis::NoWakers => return Vec::new(),
        };
        let mut said = vec![
            bound.to_owned(),
            "lower bound, recorded order: valid if locks, tokens and work items go to the same \
             tasks in the same order as in the trace; with another order, a run may be shorter"
                .into(),
        ];
        if self.is_faster_than_possible() {
            said.push(
                "if no task waited for a lock in the trace, the simulation does not contain this \
                 lock. So the simulated run can end before the lower bound"
                    .into(),
            );
        }
        said
    }

    /// What none beats that keeps to the recorded order and division, and why.
    fn measure_as_recorded(&self, report: &mut Report) {
        let known = self.as_recorded().map(|_| &self.as_recorded);
        let span = self.as_recorded();
        report.measure("as_recorded.makespan_ns", "lower bound, recorded order", span, Unit::Ns);
        report.measure("as_recorded.scheduler_share_max", "", self.left_by(span), Unit::Share);
        let chain = known.map(|known| known.chain);
        let span = chain.map(Chain::span);
        report.measure("as_recorded.chain_ns", "longest chain of waits", span, Unit::Ns);
        let sleep = chain.map(|chain| chain.sleep);
        report.measure("as_recorded.chain_sleep_ns", "  asleep", sleep, Unit::Ns);
        let work = known.map(|known| known.all.span());
        report.measure("as_recorded.work_ns", "", work, Unit::Ns);
        let crowd = known.and_then(|known| known.bound.as_ref());
        let span = crowd.map(Crowd::span);
        report.measure("as_recorded.affinity_ns", "", span, Unit::Ns);
        let cpus = crowd.map(|crowd| crowd.cpus.to_string());
        report.measure("as_recorded.affinity_cpus", "", cpus, Unit::None);
    }

    fn verdict(&self) -> String {
        let asked = &self.asked;
        let simulated = match asked.makespan {
            Some(makespan) => format!("{} takes {makespan}", asked.scheduler),
            None => format!("{} had not finished after {}", asked.scheduler, asked.given_up()),
        };
        if self.bound.span().is_none() {
            let at_best = self.at_best();
            return format!(
                "{at_best} In the simulation, where sleeps keep their recorded lengths, \
                 {simulated}."
            );
        }
        if self.moved {
            let (machine, recorded) = (self.machine(), self.extracted.recorded);
            let at_best = self.at_best();
            return format!(
                "On {machine}, {simulated}; the recorded run took {recorded}. {at_best}"
            );
        }
        let doubt = match self.is_faster_than_possible() {
            true => {
                " Ignore this time, because no scheduler can reach it: in the simulation, tasks \
                 wait less for each other than in the recorded run."
            }
            false => "",
        };
        format!("{} In the simulation, {simulated}.{doubt}", self.at_best())
    }

    fn is_faster_than_possible(&self) -> bool {
        self.asked.makespan.is_some() && self.asked.makespan < self.bound.span()
    }

    /// How much time another scheduler can save at most.
    pub(crate) fn at_best(&self) -> String {
        let recorded = self.extracted.recorded;
        let Some((bound, kept)) = self.bound.span().zip(self.as_recorded()) else {
            let why = self.why_unknown();
            return format!(
                "The report cannot state how much time another scheduler could save: {why} The \
                 recorded run took {recorded}."
            );
        };
        let mut unless = String::new();
        if self.bound.basis == Basis::Tasks {
            unless += " if ";
            unless += UNSPUN;
        }
        if self.extracted.unknown > Span::ZERO {
            unless += ", as far as the trace shows";
        }
        let also = |words: &str| match kept > bound {
            true => {
                format!(
                    " If tasks get locks and work in the recorded order, no scheduler can{words}"
                )
            }
            false => String::new(),
        };
        let Some(share) = self.at_most() else {
            let also = also(&format!(" finish in less than {kept}."));
            return format!(
                "No scheduler can finish this work on that machine in less than \
                 {bound}{unless}.{also}"
            );
        };
        let (share, least) = (per_cent(share), self.left_by(Some(kept)).map(per_cent));
        let least = least.unwrap_or_default();
        let because = self.limit(bound);
        let kept_because = self.limit(kept).filter(|_| because.is_none()).unwrap_or_default();
        let because = because.unwrap_or_default();
        let also = also(&format!(
            " finish in less than {kept}{kept_because}: at most {least} can be saved."
        ));
        format!(
            "Another scheduler can save at most {share} of this run{unless}: the run took \
             {recorded}, and no scheduler can finish the same work in less than \
             {bound}{because}.{also}"
        )
    }

    /// Why there is no bound, and what would give one.
    fn why_unknown(&self) -> String {
        match self.extracted.wakers {
            Wakers::Lacking { wakeups, of } => format!(
                "{wakeups} of {of} wakeups of awaited tasks have no sched_waking event, because \
                 sched_waking was not recorded all the time. So the trace does not show which \
                 tasks caused these wakeups. Record sched_waking for the whole run to get a bound."
            ),
            Wakers::Told | Wakers::Untold => {
                "the trace does not record which task woke which other task, so a wakeup by \
                 another task looks like an interrupt. Record sched_waking to get a bound."
                    .into()
            }
        }
    }

    /// What keeps the run so long, where one thing does and `least` is nearly all of it.
    fn limit(&self, least: Span) -> Option<String> {
        /// Nearly all of it.
        const MOST: f64 = 0.99;
        let known = &self.as_recorded;
        let is_most = |span: Span| span.0 as f64 >= MOST * self.extracted.recorded.0 as f64;
        if !is_most(least) {
            return None;
        }
        if let Some(end) = known.ends.first().filter(|end| is_most(end.chain.span())) {
            let how = match (end.chain.sleep > end.chain.compute, self.extracted.held) {
                (false, _) => "is busy, or waits for a busy task",
                (true, Span::ZERO) => "sleeps, or waits for a task that sleeps",
                (true, _) => {
                    "sleeps or is throttled by a quota, or waits for a task that sleeps or is \
                     throttled"
                }
            };
            return Some(format!(
                ", because `{}` {how} from start to end (`--task` sets the tasks to wait for)",
                end.name
            ));
        }
        let crowds = std::iter::once(&known.all).chain(&known.bound);
        let full = crowds.into_iter().find(|crowd| is_most(crowd.span()))?;
        Some(format!(", because the work keeps CPUs {} busy", full.cpus))
    }

    /// The machine in words.
    pub(crate) fn machine(&self) -> String {
        let machine = &self.extracted.machine;
        let cpus = machine.len();
        match (machine.name.as_str(), cpus) {
            ("", 1) => "a machine of one CPU".into(),
            ("", _) => format!("a machine of {cpus} CPUs"),
            (name, _) => name.into(),
        }
    }

    fn runs(&self) -> Table {
        let mut table = Table::new("runs", "Runs of the same work", []);
        let recorded = self.extracted.recorded;
        let mut row = |run: &str, makespan: Option<Span>, waste: Option<u64>| {
            let ratio = makespan.map(|it| it.0 as f64 / recorded.0.max(1) as f64);
            table.row(|row| {
                row.cell("run", "run", run)
                    .ns("makespan_ns", "makespan", makespan)
                    .share("ratio", "ratio", ratio)
                    .ns("waste_cpu_ns", "waste", waste)
            });
        };
        row("recorded", Some(recorded), Some(self.waste.cpu_ns));
        for run in std::iter::once(&self.asked).chain(&self.yardstick) {
            row(&run.scheduler, run.makespan, Some(run.waste.cpu_ns));
        }
        row("lower bound", self.bound.span(), None);
        row("lower bound, recorded order", self.as_recorded(), None);
        table
    }

    fn chains(&self) -> Table {
        let title = "Earliest end of each task in the recorded order, on a machine with unlimited \
                     CPUs";
        let ends = self.as_recorded.ends.iter().filter(|_| self.as_recorded().is_some());
        Table::of("chains", title, ends, |row, end| {
            row.cell("name", "task", end.name.as_str())
                .cell("tasks", "tasks", end.tasks)
                .ns("chain_ns", "earliest end", end.chain.span())
                .ns("compute_ns", "CPU time", end.chain.compute)
                .ns("sleep_ns", "asleep", end.chain.sleep)
        })
        .shown(5)
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
