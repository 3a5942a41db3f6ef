//! The answer of a what-if in words and tables.

use wastenot_model::report::Unit;
use wastenot_model::{Report, Span, Table, Value};
use wastenot_scenario::extract::Chain;

use super::{Replayed, WhatIf};

impl WhatIf {
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
        let label = if extracted.held > Span::ZERO { "held back by quotas" } else { "" };
        report.measure("throttled_ns", label, extracted.held, Unit::Ns);
        report.measure("unknown_ns", "", extracted.unknown, Unit::Ns);
        report.measure("tasks", "tasks", extracted.tasks, Unit::None);
        report.measure("awaited", "waited for", extracted.awaited, Unit::None);
        report.tables = vec![self.runs(), self.chains()];
        report.losses.clone_from(&self.losses);
        report.assumptions.clone_from(&extracted.assumptions);
        report.assumptions.extend(self.asked.unread.clone());
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

    /// What keeps the run so long, where one thing does.
    fn limit(&self) -> Option<String> {
        /// Nearly all of it.
        const MOST: f64 = 0.99;
        let bound = &self.bound;
        let is_most = |span: Span| span.0 as f64 >= MOST * self.extracted.recorded.0 as f64;
        if let Some(end) = bound.ends.first().filter(|end| is_most(end.chain.span())) {
            let how = match (end.chain.sleep > end.chain.compute, self.extracted.held) {
                (false, _) => "is busy",
                (true, Span::ZERO) => "sleeps",
                (true, _) => "sleeps, or is held back by a quota",
            };
            return Some(format!(
                ", because `{}` {how}, or waits for such a task, from one end to the other \
                 (`--task` says whom to wait for)",
                end.name
            ));
        }
        let crowds = std::iter::once(&bound.all).chain(&bound.bound);
        let full = crowds.into_iter().find(|crowd| is_most(crowd.span()))?;
        Some(format!(", because the work of CPUs {} fills them", full.cpus))
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
