//! Other reasons why tasks did not run: quotas, affinities, the hypervisor.

use std::collections::BTreeMap;

use wastenot_model::report::counted;
use wastenot_model::{History, NameId, Report, Span, Table, Unit, Value};

use crate::Check;
use crate::causes::{Causes, LostTime, Part};
use crate::interrupts::Served;
use crate::throttled::Held;
use crate::waste::Kept;

/// Measures and tables about so small a part of the time are not in the verdict.
pub(super) const NOTABLE: f64 = 0.01;

impl Check {
    pub(super) fn beside_measures(&self, report: &mut Report) {
        use Unit::{None as Count, Ns, Share};
        let label = |shown: bool, label: &'static str| if shown { label } else { "" };
        let held = self.throttled.as_ref().map(|found| found.all);
        let any = held.is_some_and(|held| held.count > 0);
        let of = |figure: fn(Held) -> u64| held.map(figure);
        let text = label(any, "Tasks held back by quotas");
        report.measure("throttled.held_ns", text, of(|held| held.held_ns), Ns);
        report.measure("throttled.count", "", of(|held| held.count), Count);
        let text = label(any, "  longest");
        report.measure("throttled.longest_ns", text, of(|held| held.longest_ns), Ns);
        let kept = self.waste.kept.as_ref();
        let any = kept.is_some_and(|kept| kept.cpu_ns > 0);
        let text = label(any, "Idle CPU time excluded by affinity");
        report.measure("affinity.cpu_ns", text, kept.map(|kept| kept.cpu_ns), Ns);
        let text = label(any, "  of known CPU time");
        report.measure("affinity.share", text, kept.map(|kept| self.share_of(kept)), Share);
        report.measure("affinity.tasks", "", kept.map(|kept| kept.tasks.len()), Count);
        let sum = |cpus: &BTreeMap<_, u64>| cpus.values().fold(0u64, |a, ns| a.saturating_add(*ns));
        let stolen = self.stolen.as_ref().map(sum);
        let text = label(stolen.is_some_and(|ns| ns > 0), "CPU time taken by the hypervisor");
        report.measure("steal.cpu_ns", text, stolen, Ns);
        let served = self.interrupts.as_ref();
        let sum = |all: &Vec<Served>| all.iter().fold(0u64, |sum, it| sum.saturating_add(it.ns));
        let served = served.map(sum);
        let text = label(served.is_some_and(|ns| ns > 0), "CPU time of interrupts and softirqs");
        report.measure("interrupts.cpu_ns", text, served, Ns);
    }

    fn share_of(&self, kept: &Kept) -> f64 {
        kept.cpu_ns as f64 / self.waste.known_ns.max(1) as f64
    }

    /// What to do about the larger of the two.
    pub(super) fn beside_advice(&self) -> &'static str {
        let causes = self.causes.iter().flat_map(Causes::iter);
        let ns = |part: &Part| {
            part.ns[LostTime::Affinity as usize].max(part.ns[LostTime::Quota as usize])
        };
        let largest = causes.max_by_key(|(_, part)| ns(part));
        largest.map_or("", |(cause, _)| cause.advice)
    }

    /// What has to be said of them beside waste.
    pub(super) fn beside_words(&self, history: &History) -> String {
        let mut text = String::new();
        if let Some(kept) = &self.waste.kept
            && (self.share_of(kept) >= NOTABLE || kept.cpu_ns > self.waste.cpu_ns)
            && let [first, others @ ..] = &kept.tasks[..]
        {
            let more = match others.len() {
                0 => String::new(),
                more => format!("; {}", counted(more, "more task")),
            };
            text += &format!(
                " Affinities excluded waiting tasks from {} of idle CPU time ({} may use only \
                 {}{more}).",
                Span(kept.cpu_ns),
                history.task_label(first.task),
                super::words::cpus(history, first),
            );
        }
        if let Some(without) = &self.without_probably_pinned
            && without.cpu_ns < self.waste.cpu_ns / 2
        {
            text += &format!(
                " If {} that never moved (such as {}) cannot use other CPUs, the waste was only \
                 {}.",
                counted(self.stayed_put.len(), "task"),
                history.task_label(self.stayed_put[0]),
                Span(without.cpu_ns),
            );
        }
        let notable = |ns: u64| ns as f64 > NOTABLE * self.waste.span_ns as f64;
        if let Some(found) = self.throttled.as_ref().filter(|it| notable(it.all.held_ns)) {
            text += &format!(" Quotas held tasks back for {}.", Span(found.all.held_ns));
        }
        let possible = self.waste.wake_delay.possibly_throttled_ns;
        if let Some(ns) = possible.filter(|&ns| notable(ns)) {
            text += &format!(
                " {} of the wake delay is possibly due to quotas: the trace does not record \
                 throttling.",
                Span(ns)
            );
        }
        text
    }

    pub(super) fn kept_table(&self, history: &History) -> Table {
        let kept = self.waste.kept.iter().flat_map(|kept| &kept.tasks);
        let kept = kept.map(|it| (it.task, Some(it), Some(it.kept_ns), "affinity"));
        let put = self.stayed_put.iter().map(|task| {
            let sum = self.violations.by_task.iter().find(|(other, _)| other == task);
            (*task, None, sum.map(|(_, sum)| sum.idle_ns), "probably pinned")
        });
        let title = "Tasks that affinity excluded from idle CPUs";
        let mut table = Table::of("kept_tasks", title, kept.chain(put), |row, it| {
            let (task, kept, kept_ns, how) = it;
            let mask = kept.and_then(|it| history.mask(it.mask));
            row.cell("task", "task", history.task_name(task))
                .cell("tid", "tid", history.task(task).map(|task| task.tid))
                .cell("cpus", "allowed CPUs", mask.map(ToString::to_string))
                .ns("kept_ns", "excluded for", kept_ns)
                .ns("longest_ns", "longest", kept.map(|it| it.longest_ns))
                .at("from_ns", "wait began at", kept.map(|it| it.window.from))
                .at("to_ns", "", kept.map(|it| it.window.to))
                .cell("how", "reason", how)
        });
        table.hide_unknown();
        table
    }

    pub(super) fn throttled_table(&self, history: &History) -> Table {
        let rows = self.throttled.iter().flat_map(|found| &found.by_task);
        let title = "Tasks held back by quotas";
        Table::of("throttled_tasks", title, rows, |row, (task, group, held)| {
            row.cell("task", "task", history.task_name(*task))
                .cell("tid", "tid", history.task(*task).map(|task| task.tid))
                .cell("cgroup", "cgroup", group.map(|group| history.name(group)))
                .ns("held_ns", "held back for", held.held_ns)
                .cell("count", "times", held.count)
                .ns("longest_ns", "longest", held.longest_ns)
        })
    }

    /// What events tell of cgroups, beside what the kernel counted over the whole recording.
    pub(super) fn cgroup_table(&self, history: &History) -> Table {
        let told = |&(name, held): &(NameId, Held)| (history.name(name), held);
        let found = self.throttled.iter().flat_map(|found| found.by_cgroup.iter().map(told));
        let mut rows: BTreeMap<&str, (Option<Held>, [Option<&Value>; 5])> =
            found.map(|(name, held)| (name, (Some(held), [None; 5]))).collect();
        let columns = ["cgroup", "quota_ns", "period_ns", "periods", "throttled", "throttled_ns"];
        for [cgroup, kernel @ ..] in history.annex_cells("cgroups", columns) {
            if let Some(cgroup) = cgroup.text() {
                rows.entry(cgroup).or_default().1 = kernel.map(Some);
            }
        }
        let none = self.throttled.is_some().then(Held::default);
        let title = "Cgroups with quotas";
        let mut table =
            Table::of("throttled_cgroups", title, rows, |row, (cgroup, (held, kernel))| {
                let held = held.or(none);
                let [quota, period, periods, throttled, throttled_ns] =
                    kernel.map(|cell| cell.cloned());
                row.cell("cgroup", "cgroup", cgroup)
                    .ns("held_ns", "held tasks back for", held.map(|held| held.held_ns))
                    .cell("count", "times", held.map(|held| held.count))
                    .ns("longest_ns", "", held.map(|held| held.longest_ns))
                    .ns("quota_ns", "quota", quota)
                    .ns("period_ns", "period", period)
                    .cell("kernel_periods", "", periods)
                    .cell("kernel_throttled", "", throttled)
                    .ns("kernel_throttled_ns", "throttled (kernel)", throttled_ns)
            });
        table.hide_unknown();
        table
    }

    pub(super) fn stolen_table(&self) -> Table {
        let label = "CPU time taken by the hypervisor";
        Table::of("stolen", label, self.stolen.iter().flatten(), |row, (cpu, ns)| {
            row.cell("cpu", "CPU", *cpu).ns("steal_ns", "steal time", *ns)
        })
    }

    pub(super) fn served_table(&self) -> Table {
        let title = "CPU time of interrupts and softirqs";
        Table::of("served", title, self.interrupts.iter().flatten(), |row, it| {
            row.cell("cpu", "CPU", it.cpu)
                .cell("kind", "kind", it.kind.as_str())
                .cell("name", "name", it.name.as_str())
                .ns("served_ns", "CPU time", it.ns)
        })
    }

    pub(super) fn idle_states_table(&self) -> Table {
        let title = "Time in idle states";
        Table::of("idle_states", title, self.idle_states.iter().flatten(), |row, it| {
            let row = row.cell("cpu", "CPU", it.cpu).cell("state", "state", it.name.as_str());
            row.ns("idle_ns", "time in state", it.ns)
        })
    }
}
