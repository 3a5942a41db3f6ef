//! The tables of a check. A column without a label is only for programs.

use std::cmp::Reverse;

use wastenot_model::machine::Costs;
use wastenot_model::{Column, Distance, History, Span, Table, TaskId, Unit, Value};

use super::words::context_name;
use crate::migrations::Reason;
use crate::violations::IdleCpu;
use crate::{Check, Distribution, Options, Recorder, depth};

impl Check {
    pub(super) fn violation_table(&self, history: &History, options: &Options) -> Table {
        let columns = [
            Column::new("task", "task", Unit::None),
            Column::new("tid", "tid", Unit::None),
            Column::for_programs("cpu", Unit::None),
            Column::for_programs("to_cpu", Unit::None),
            Column::new("stretch_cpu", "CPU", Unit::None),
            Column::new("from_ns", "from", Unit::At),
            Column::for_programs("to_ns", Unit::At),
            Column::new("waited_ns", "waited", Unit::Ns),
            Column::for_programs("idle_ns", Unit::Ns),
            Column::new("idle_cpu", "idle CPU", Unit::None),
            Column::new("stretch_ns", "stayed idle", Unit::Ns),
            Column::for_programs("stretch_from_ns", Unit::At),
            Column::new("nearest", "nearest", Unit::None),
            Column::for_programs("idle", Unit::None),
            Column::new("how", "wait began by", Unit::None),
            Column::for_programs("waker", Unit::None),
            Column::for_programs("waker_tid", Unit::None),
            Column::for_programs("waker_context", Unit::None),
            Column::for_programs("waker_cpu", Unit::None),
            Column::for_programs("prev_cpu", Unit::None),
            Column::for_programs("moves", Unit::None),
            Column::for_programs("behind", Unit::None),
            Column::for_programs("recorder", Unit::None),
        ];
        let label = match options.longer_than {
            Span::ZERO => "Violations, longest idle stretch first".to_owned(),
            least => format!("Violations of at least {least}"),
        };
        let recorder = Recorder::of(history);
        let mut table = Table::new("violations", &label, columns);
        for it in &self.violations.worst {
            let waker = it.waker.and_then(|by| by.task);
            let tid = |task: TaskId| history.task(task).map_or(0, |task| task.tid);
            table.push(vec![
                history.task_name(it.task).into(),
                tid(it.task).into(),
                it.cpu.into(),
                it.to_cpu.into(),
                it.stretch_cpus.first().copied().into(),
                it.window.from.into(),
                it.window.to.into(),
                it.window.span().into(),
                it.idle_ns.into(),
                it.idle_cpu.into(),
                it.stretch.span().into(),
                it.stretch.from.into(),
                it.nearest.name().into(),
                Value::List(it.idle.iter().map(idle_cpu).collect()),
                it.origin.name().into(),
                waker.map(|task| history.task_name(task)).into(),
                waker.map(tid).into(),
                it.waker.map(|by| context_name(by.context)).into(),
                it.waker_cpu.into(),
                it.prev.into(),
                it.moves.into(),
                it.behind.map(|task| history.task_label(task)).into(),
                recorder.map(|recorder| recorder.has(it.task)).into(),
            ]);
        }
        table
    }

    pub(super) fn not_started_table(&self, history: &History) -> Table {
        let columns = [
            Column::new("task", "task", Unit::None),
            Column::new("tid", "tid", Unit::None),
            Column::new("cpu", "CPU", Unit::None),
            Column::new("from_ns", "from", Unit::At),
            Column::new("length_ns", "delay", Unit::Ns),
            Column::for_programs("possibly_throttled", Unit::None),
        ];
        let label = "Idle CPUs that did not start a queued task";
        let mut table = Table::new("not_started", label, columns);
        for it in &self.waste.wake_delay.not_started {
            table.push(vec![
                history.task_name(it.task).into(),
                history.task(it.task).map(|task| task.tid).into(),
                it.cpu.into(),
                it.window.from.into(),
                it.window.span().into(),
                it.possibly_throttled.into(),
            ]);
        }
        table
    }

    pub(super) fn episode_table(&self) -> Table {
        let columns = [
            Column::new("from_ns", "from", Unit::At),
            Column::new("to_ns", "to", Unit::At),
            Column::new("length_ns", "length", Unit::Ns),
            Column::new("cpu_ns", "CPU time wasted", Unit::Ns),
            Column::new("cpus_max", "CPUs (max)", Unit::None),
        ];
        let mut table = Table::new("episodes", "Worst episodes", columns);
        table.shown = 5;
        for it in &self.waste.worst {
            table.push(vec![
                it.window.from.into(),
                it.window.to.into(),
                it.window.span().into(),
                it.cpu_ns.into(),
                it.cpus_max.into(),
            ]);
        }
        table
    }

    pub(super) fn origin_table(&self) -> Table {
        let columns = [
            Column::new("how", "onset of the wait", Unit::None),
            Column::new("count", "violations", Unit::None),
            Column::new("idle_ns", "time with an idle CPU", Unit::Ns),
        ];
        let mut table = Table::new("origins", "Violations by the onset of the wait", columns);
        for (origin, sum) in &self.violations.by_origin {
            table.push(vec![origin.name().into(), sum.count.into(), sum.idle_ns.into()]);
        }
        table
    }

    pub(super) fn nearest_table(&self) -> Table {
        let columns = [
            Column::new("distance", "nearest idle CPU", Unit::None),
            Column::new("count", "violations", Unit::None),
            Column::new("idle_ns", "time with an idle CPU", Unit::Ns),
        ];
        let mut table = Table::new("nearest", "Violations by distance to an idle CPU", columns);
        for (distance, sum) in &self.violations.by_nearest {
            table.push(vec![distance.name().into(), sum.count.into(), sum.idle_ns.into()]);
        }
        table
    }

    pub(super) fn task_table(&self, history: &History) -> Table {
        let columns = [
            Column::new("task", "task", Unit::None),
            Column::new("tid", "tid", Unit::None),
            Column::new("runs", "runs", Unit::None),
            Column::new("run_ns", "ran", Unit::Ns),
            Column::new("wait_ns", "waited", Unit::Ns),
            Column::new("wait_p50_ns", "median", Unit::Ns),
            Column::for_programs("wait_p90_ns", Unit::Ns),
            Column::new("wait_p99_ns", "99 %", Unit::Ns),
            Column::for_programs("wait_p999_ns", Unit::Ns),
            Column::new("wait_max_ns", "longest", Unit::Ns),
            Column::for_programs("recorder", Unit::None),
        ];
        let recorder = Recorder::of(history);
        let mut table = Table::new("tasks", "Tasks with the longest total waits", columns);
        let tasks = self.waits.by_task.iter().enumerate();
        let tasks = tasks.filter(|(_, waited)| waited.is_met());
        let mut tasks: Vec<_> = tasks.map(|(n, waited)| (TaskId::nth(n), waited)).collect();
        tasks.sort_by_key(|(task, waited)| (Reverse(waited.waits.sum), *task));
        for (task, waited) in tasks {
            let waits = &waited.waits;
            table.push(vec![
                history.task_name(task).into(),
                history.task(task).map(|task| task.tid).into(),
                waited.runs.into(),
                waited.run_ns.into(),
                waits.sum.into(),
                waits.quantile(0.5).into(),
                waits.quantile(0.9).into(),
                waits.quantile(0.99).into(),
                waits.quantile(0.999).into(),
                waits.max.into(),
                recorder.map(|recorder| recorder.has(task)).into(),
            ]);
        }
        table
    }

    pub(super) fn cpu_table(&self) -> Table {
        let columns = [
            Column::new("cpu", "CPU", Unit::None),
            Column::new("runs", "runs", Unit::None),
            Column::new("run_ns", "ran", Unit::Ns),
            Column::new("busy_share", "busy", Unit::Share),
            Column::new("depth_mean", "mean queue", Unit::None),
            Column::new("wait_ns", "waited", Unit::Ns),
            Column::for_programs("wait_p50_ns", Unit::Ns),
            Column::new("wait_p99_ns", "99 %", Unit::Ns),
            Column::new("wait_max_ns", "longest", Unit::Ns),
        ];
        let mut table = Table::new("cpus", "CPUs", columns);
        for (cpu, times) in &self.depth.by_cpu {
            let waited = self.waits.by_cpu.iter().find(|(other, _)| other == cpu);
            let waited = waited.map(|(_, waited)| waited.clone()).unwrap_or_default();
            let known = times.iter().fold(0, |all: u64, ns| all.saturating_add(*ns));
            let busy = (known > 0).then(|| waited.run_ns as f64 / known as f64);
            table.push(vec![
                (*cpu).into(),
                waited.runs.into(),
                waited.run_ns.into(),
                busy.into(),
                (known > 0).then(|| depth::mean(times)).into(),
                waited.waits.sum.into(),
                waited.waits.quantile(0.5).into(),
                waited.waits.quantile(0.99).into(),
                waited.waits.max.into(),
            ]);
        }
        table
    }

    pub(super) fn migration_table(&self, options: &Options) -> Table {
        let columns = [
            Column::new("reason", "reason", Unit::None),
            Column::new("distance", "distance", Unit::None),
            Column::new("count", "moves", Unit::None),
            Column::new("helped", "ran sooner", Unit::None),
            Column::new("not_helped", "no sooner", Unit::None),
            Column::new("forced", "forced", Unit::None),
            Column::new("undecided", "unknown", Unit::None),
            Column::new("cost_ns", "cost", Unit::Ns),
        ];
        let title = "Migrations by reason, distance and effect";
        let mut table = Table::new("moves", title, columns);
        for reason in [Reason::Wakeup, Reason::Fork, Reason::Balance] {
            for distance in Distance::ALL {
                let Some(counts) = self.migrations.by_reason.get(&(reason, distance)) else {
                    continue;
                };
                let mut row = vec![reason.name().into(), distance.name().into()];
                row.push(counts.moves.into());
                let is_migration = reason != Reason::Fork;
                row.extend(counts.effects.map(|count| is_migration.then_some(count).into()));
                let known = is_migration && distance != Distance::Unknown;
                let costs = options.costs.as_ref().filter(|_| known);
                let cost = |costs: &Costs| costs.of_move(distance).0.saturating_mul(counts.moves);
                row.push(costs.map(cost).into());
                table.push(row);
            }
        }
        table
    }

    pub(super) fn depth_table(&self) -> Table {
        let columns = [
            Column::new("length", "tasks on the CPU", Unit::None),
            Column::new("cpu_ns", "CPU time", Unit::Ns),
            Column::new("share", "share", Unit::Share),
        ];
        let mut table = Table::new("run_queue", "CPU time by run-queue length", columns);
        let times = self.depth.total();
        let all = times.iter().fold(0, |all: u64, ns| all.saturating_add(*ns));
        for (length, &ns) in times.iter().enumerate().filter(|(_, ns)| **ns > 0) {
            let share = ns as f64 / all as f64;
            let length = match length {
                depth::DEPTH_MAX => format!("{length}+"),
                _ => length.to_string(),
            };
            table.push(vec![length.into(), ns.into(), share.into()]);
        }
        table
    }
}

/// Lengths by powers of two.
pub(super) fn histogram(name: &str, label: &str, lengths: &Distribution) -> Table {
    let columns = [
        Column::new("from_ns", "from", Unit::Ns),
        Column::new("to_ns", "below", Unit::Ns),
        Column::new("count", "count", Unit::None),
        Column::new("share", "share", Unit::Share),
    ];
    let mut table = Table::new(name, label, columns);
    table.shown = 40;
    for (from, to, count) in lengths.octaves() {
        let share = count as f64 / lengths.count as f64;
        table.push(vec![from.into(), to.into(), count.into(), share.into()]);
    }
    table
}

fn idle_cpu(idle: &IdleCpu) -> Value {
    Value::Map(vec![
        ("cpu".to_owned(), idle.cpu.into()),
        ("distance".to_owned(), idle.distance.name().into()),
        ("idle_ns".to_owned(), idle.idle_ns.into()),
        ("longest_ns".to_owned(), idle.longest_ns.into()),
    ])
}
