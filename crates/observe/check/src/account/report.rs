//! Accounts as Reports.

use wastenot_model::{Carries, History, Proportion, Report, Span, Table, Unit};

use super::words::{more, others, sum_of};
use super::{Account, Kind, Part};
use crate::report::trace;

impl Account {
    /// The account as a Report; `history` is what it is of.
    pub fn report(&self, history: &History) -> Report {
        let name = history.head.source.name.rsplit('/').next().unwrap_or_default();
        let (who, span) = (self.who(history), self.window.span());
        let mut report = Report::new("explain/1", format!("{name}: {who}, {span}"));
        report.verdict = self.verdict(history);
        report.proportions = self.proportions();
        report.worst = self.moment(history);
        trace(&mut report, history);
        self.measures(&mut report);
        report.tables = vec![
            self.every_table(),
            self.part_table(history),
            self.other_table(history),
            self.meanwhile_table(history),
            self.path_table(history),
        ];
        report.losses = self.losses.clone();
        report.assumptions = self.assumptions(history);
        report
    }

    /// At least so much the interval would have taken without what was lost in its waits; `None`
    /// where nothing was, or something is not known.
    pub(super) fn least_ns(&self) -> Option<u64> {
        let lost = self.wasted_ns() + self.ns(Kind::Held);
        let known = self.ns(Kind::Unknown) == 0 && self.losses.is_empty();
        (known && lost > 0 && self.every.is_none()).then(|| self.window.span().0 - lost)
    }

    /// What all of it was: of the interval, or of all activations.
    fn all_parts(&self) -> Vec<Part> {
        self.every.as_ref().map_or_else(|| self.parts(), |every| every.parts.clone())
    }

    fn proportions(&self) -> Vec<Proportion> {
        let parts = self.all_parts();
        let whole = sum_of(&parts);
        let of = if self.every.is_some() { "all activations" } else { "the interval" };
        let one = |kind: Kind| {
            let ns = sum_of(parts.iter().filter(|it| it.kind == kind));
            let share = ns as f64 / whole as f64;
            let label = label(kind).to_owned();
            let (value, of) = (Span(ns).into(), of.to_owned());
            (ns > 0).then_some(Proportion {
                label,
                value,
                unit: Unit::Ns,
                share,
                share_max: share,
                of,
            })
        };
        Kind::ALL.into_iter().filter_map(one).collect()
    }

    fn measures(&self, report: &mut Report) {
        use Unit::{At, None as Count, Ns};
        report.measure("account.tasks", "Selected tasks", self.tasks.len(), Count);
        let whole = if self.every.is_some() { "Slowest activation" } else { "Interval" };
        report.measure("account.ns", whole, self.window.span(), Ns);
        report.measure("account.from_ns", "  from", self.window.from, At);
        report.measure("account.to_ns", "  to", self.window.to, At);
        for kind in Kind::ALL {
            let name = format!("account.{}_ns", kind.name().replace('-', "_"));
            report.measure(&name, "", self.ns(kind), Ns);
        }
        report.measure("account.wasted_ns", "Waste on the path", self.wasted_ns(), Ns);
        let least = self.least_ns();
        let shown = if least.is_some() { "  without lost time" } else { "" };
        report.measure("account.least_ns", shown, least, Ns);
        let apart = self.apart.as_ref();
        let shown = |label: &'static str| if apart.is_some() { label } else { "" };
        report.measure(
            "account.ran_ns",
            shown("CPU time of all tasks"),
            apart.map(|it| it.ran_ns),
            Ns,
        );
        let label = shown("  while another task waited");
        report.measure("account.apart_ns", label, apart.map(|it| it.apart_ns), Ns);
        let every = self.every.as_ref();
        let shown = |label: &'static str| if every.is_some() { label } else { "" };
        let lengths = every.map(|every| &every.lengths);
        let count = lengths.map(|it| it.count);
        report.measure("every.count", shown("Activations"), count, Count);
        let cut = every.map(|every| every.cut);
        report.measure("every.cut", shown("  cut off, not counted"), cut, Count);
        report.measure("every.ns", shown("  total"), lengths.map(|it| it.sum), Ns);
        let quantile = |share: f64| lengths.and_then(|it| it.quantile(share));
        let median = every.and_then(|every| every.median.as_ref()).map(|(it, _)| it.window.span());
        report.measure("every.median_ns", shown("  median"), median, Ns);
        report.measure("every.p99_ns", shown("  99th percentile"), quantile(0.99), Ns);
    }

    fn part_table(&self, history: &History) -> Table {
        let parts = self.all_parts();
        let whole = sum_of(&parts).max(1) as f64;
        Table::of("parts", "Time by kind", &parts, |row, part| {
            let task = part.other.map(|task| history.task_label(task));
            let about = part.reason.map(|reason| reason.about);
            let of = task.as_deref().or(about).unwrap_or("");
            row.cell("kind", "kind", part.kind.name())
                .cell("", "task or cause", of)
                .cell("cause", "", part.reason.map(|reason| reason.name))
                .cell("about", "", about)
                .cell("task", "", task.clone())
                .ns("ns", "time", part.ns)
                .share("share", "share", part.ns as f64 / whole)
                .ns("longest_ns", "longest", part.longest.span())
                .at("longest_from_ns", "longest at", part.longest.from)
        })
    }

    fn path_table(&self, history: &History) -> Table {
        let title = match self.every {
            Some(_) => "Path of the slowest activation",
            None => "Critical path",
        };
        Table::of("path", title, &self.path, |row, step| {
            row.at("from_ns", "from", step.window.from)
                .ns("ns", "time", step.window.span())
                .cell("kind", "kind", step.kind.name())
                .cell("task", "task", history.task_label(step.task))
                .cell("cpu", "CPU", step.cpu)
                .cell("", "cause", step.reason.map_or("", |reason| reason.about))
                .cell("cause", "", step.reason.map(|reason| reason.name))
        })
        .shown(30)
    }

    fn other_table(&self, history: &History) -> Table {
        let whole = self.window.span().0.max(1) as f64;
        let title = "Tasks that the path waited for";
        Table::of("others", title, others(self), |row, (task, [run, wait, sleep])| {
            let ns = run + wait + sleep;
            row.cell("task", "task", history.task_label(task))
                .ns("ns", "time", ns)
                .share("share", "share", ns as f64 / whole)
                .ns("run_ns", "ran", run)
                .ns("wait_ns", "waited", wait)
                .ns("sleep_ns", "slept", sleep)
        })
    }

    fn meanwhile_table(&self, history: &History) -> Table {
        let title = "Tasks that used the CPU during waits";
        Table::of("meanwhile", title, &self.meanwhile, |row, it| {
            row.cell("", "task", it.who(history))
                .cell("command", "", history.task_name(it.task))
                .cell("tasks", "tasks", it.tasks)
                .ns("run_ns", "CPU time", it.ns)
        })
    }

    /// The slowest activation beside the median.
    fn every_table(&self) -> Table {
        let title = "Slowest activation compared with the median";
        let mut table = Table::new("slowest", title, []);
        let Some((_, median)) = self.every.as_ref().and_then(|every| every.median.as_ref()) else {
            return table;
        };
        let slowest = self.parts();
        let mut rows: Vec<(Part, u64)> =
            more(&slowest, median).iter().map(|(it, _)| (*it, it.ns)).collect();
        let gone = median.iter().filter(|it| !slowest.iter().any(|other| it.is_like(other)));
        rows.extend(gone.map(|it| (*it, 0)));
        for (part, slowest) in rows {
            let median = median.iter().find(|it| it.is_like(&part)).map_or(0, |it| it.ns);
            table.row(|row| {
                row.cell("kind", "kind", part.kind.name())
                    .cell("", "cause", part.reason.map_or("", |reason| reason.about))
                    .cell("cause", "", part.reason.map(|reason| reason.name))
                    .ns("median_ns", "median", median)
                    .ns("slowest_ns", "slowest", slowest)
                    .ns("more_ns", "difference", (slowest as i64).saturating_sub(median as i64))
            });
        }
        table
    }

    fn assumptions(&self, history: &History) -> Vec<String> {
        let carries = history.head.carries;
        let mut lines = vec![match self.every {
            Some(_) => "An activation lasts from a wakeup to the next sleep. An activation counts \
                        only if it is complete: within the window, within the trace, and without \
                        lost events."
                .to_owned(),
            None => {
                "The interval begins at the start of the window. If all selected tasks are created \
                 later, it begins when the first of them is created. The interval ends when a \
                 selected task runs for the last time in the window."
                    .to_owned()
            }
        }];
        if !carries.has(Carries::WAKERS) {
            lines.push(
                "The trace does not record wakers. While a task sleeps, the path is therefore \
                 unknown."
                    .to_owned(),
            );
        } else if !carries.has(Carries::CONTEXT) {
            lines.push(
                "The trace does not distinguish wakeups by tasks from wakeups by interrupts. While \
                 a task sleeps, the path is therefore unknown."
                    .to_owned(),
            );
        } else if !carries.has(Carries::WAKINGS) {
            lines.push(
                "The trace contains no sched_waking. A wakeup in an interrupt may come from \
                 another CPU, so the path before this wakeup is unknown."
                    .to_owned(),
            );
        }
        lines.push(
            "If an interrupt or a softirq wakes a task, its sleep counts as a wait for a timer or \
             device. This holds even if another task sent the packet that caused the wakeup."
                .to_owned(),
        );
        if self.least_ns().is_some() {
            lines.push(
                "The length `without lost time` is an estimate. It assumes that everything else on \
                 the path takes as long as in the trace."
                    .to_owned(),
            );
        }
        lines.extend(self.assumed.iter().cloned());
        lines
    }
}

fn label(kind: Kind) -> &'static str {
    match kind {
        Kind::Run => "Running",
        Kind::RunOther => "Another task runs",
        Kind::Wait => "Waiting for a CPU",
        Kind::WaitOther => "Another task waits",
        Kind::WakeDelay => "Waking up",
        Kind::Held => "Held by a quota",
        Kind::Io => "I/O",
        Kind::TimerOrDevice => "Timer or device",
        Kind::Unknown => "Unknown",
    }
}
