//! Other reasons why tasks did not run: quotas, affinities, the hypervisor.

use std::collections::BTreeMap;

use wastenot_model::{Column, History, NameId, Report, Span, Table, Unit, Value};

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
                more => format!("; {}", super::words::count(more as u64, "more task")),
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
                super::words::count(self.stayed_put.len() as u64, "task"),
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
        let columns = [
            Column::new("task", "task", Unit::None),
            Column::new("tid", "tid", Unit::None),
            Column::new("cpus", "allowed CPUs", Unit::None),
            Column::new("kept_ns", "excluded for", Unit::Ns),
            Column::new("longest_ns", "longest", Unit::Ns),
            Column::new("from_ns", "wait began at", Unit::At),
            Column::for_programs("to_ns", Unit::At),
            Column::new("how", "reason", Unit::None),
        ];
        let mut table =
            Table::new("kept_tasks", "Tasks that affinity excluded from idle CPUs", columns);
        let tid = |task| Value::from(history.task(task).map(|task| task.tid));
        for it in self.waste.kept.iter().flat_map(|kept| &kept.tasks) {
            table.push(vec![
                history.task_name(it.task).into(),
                tid(it.task),
                history.mask(it.mask).map(ToString::to_string).into(),
                it.kept_ns.into(),
                it.longest_ns.into(),
                it.window.from.into(),
                it.window.to.into(),
                "affinity".into(),
            ]);
        }
        for task in &self.stayed_put {
            let sum = self.violations.by_task.iter().find(|(other, _)| other == task);
            table.push(vec![
                history.task_name(*task).into(),
                tid(*task),
                Value::Unknown,
                sum.map(|(_, sum)| sum.idle_ns).into(),
                Value::Unknown,
                Value::Unknown,
                Value::Unknown,
                "probably pinned".into(),
            ]);
        }
        table.hide_unknown();
        table
    }

    pub(super) fn throttled_table(&self, history: &History) -> Table {
        let columns = [
            Column::new("task", "task", Unit::None),
            Column::new("tid", "tid", Unit::None),
            Column::new("cgroup", "cgroup", Unit::None),
            Column::new("held_ns", "held back for", Unit::Ns),
            Column::new("count", "times", Unit::None),
            Column::new("longest_ns", "longest", Unit::Ns),
        ];
        let mut table = Table::new("throttled_tasks", "Tasks held back by quotas", columns);
        for (task, group, held) in self.throttled.iter().flat_map(|found| &found.by_task) {
            table.push(vec![
                history.task_name(*task).into(),
                history.task(*task).map(|task| task.tid).into(),
                group.map(|group| history.name(group)).into(),
                held.held_ns.into(),
                held.count.into(),
                held.longest_ns.into(),
            ]);
        }
        table
    }

    /// What events tell of cgroups, beside what the kernel counted over the whole recording.
    pub(super) fn cgroup_table(&self, history: &History) -> Table {
        let columns = [
            Column::new("cgroup", "cgroup", Unit::None),
            Column::new("held_ns", "held tasks back for", Unit::Ns),
            Column::new("count", "times", Unit::None),
            Column::for_programs("longest_ns", Unit::Ns),
            Column::new("quota_ns", "quota", Unit::Ns),
            Column::new("period_ns", "period", Unit::Ns),
            Column::for_programs("kernel_periods", Unit::None),
            Column::for_programs("kernel_throttled", Unit::None),
            Column::new("kernel_throttled_ns", "throttled (kernel)", Unit::Ns),
        ];
        let mut table = Table::new("throttled_cgroups", "Cgroups with quotas", columns);
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
        for (cgroup, (held, kernel)) in rows {
            let held = held.or(none);
            let mut row: Vec<Value> = vec![
                cgroup.into(),
                held.map(|held| held.held_ns).into(),
                held.map(|held| held.count).into(),
                held.map(|held| held.longest_ns).into(),
            ];
            row.extend(kernel.map(|cell| cell.cloned().unwrap_or(Value::Unknown)));
            table.push(row);
        }
        table.hide_unknown();
        table
    }

    pub(super) fn stolen_table(&self) -> Table {
        let columns = [
            Column::new("cpu", "CPU", Unit::None),
            Column::new("steal_ns", "steal time", Unit::Ns),
        ];
        let label = "CPU time taken by the hypervisor";
        let mut table = Table::new("stolen", label, columns);
        for (cpu, ns) in self.stolen.iter().flatten() {
            table.push(vec![(*cpu).into(), (*ns).into()]);
        }
        table
    }

    pub(super) fn served_table(&self) -> Table {
        let columns = [
            Column::new("cpu", "CPU", Unit::None),
            Column::new("kind", "kind", Unit::None),
            Column::new("name", "name", Unit::None),
            Column::new("served_ns", "CPU time", Unit::Ns),
        ];
        let mut table = Table::new("served", "CPU time of interrupts and softirqs", columns);
        for it in self.interrupts.iter().flatten() {
            let (kind, name) = (Value::from(it.kind.as_str()), Value::from(it.name.as_str()));
            table.push(vec![it.cpu.into(), kind, name, it.ns.into()]);
        }
        table
    }

    pub(super) fn idle_states_table(&self) -> Table {
        let columns = [
            Column::new("cpu", "CPU", Unit::None),
            Column::new("state", "state", Unit::None),
            Column::new("idle_ns", "time in state", Unit::Ns),
        ];
        let mut table = Table::new("idle_states", "Time in idle states", columns);
        for it in self.idle_states.iter().flatten() {
            table.push(vec![it.cpu.into(), it.name.as_str().into(), it.ns.into()]);
        }
        table
    }
}
