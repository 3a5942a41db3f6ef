//! The tables of a check. A column without a label is only for programs.

use std::cmp::Reverse;

use wastenot_model::machine::Costs;
use wastenot_model::{Distance, History, Span, Table, TaskId, Value};

use super::words::context_name;
use crate::migrations::Reason;
use crate::violations::IdleCpu;
use crate::{Check, Distribution, Options, Recorder, depth};

impl Check {
    pub(super) fn violation_table(&self, history: &History, options: &Options) -> Table {
        let label = match options.longer_than {
            Span::ZERO => "Violations, longest idle stretch first".to_owned(),
            least => format!("Violations of at least {least}"),
        };
        let recorder = Recorder::of(history);
        Table::of("violations", &label, &self.violations.worst, |row, it| {
            let waker = it.waker.and_then(|by| by.task);
            let tid = |task: TaskId| history.task(task).map_or(0, |task| task.tid);
            row.cell("task", "task", history.task_name(it.task))
                .cell("tid", "tid", tid(it.task))
                .cell("cpu", "", it.cpu)
                .cell("to_cpu", "", it.to_cpu)
                .cell("stretch_cpu", "CPU", it.stretch_cpus.first().copied())
                .at("from_ns", "from", it.window.from)
                .at("to_ns", "", it.window.to)
                .ns("waited_ns", "waited", it.window.span())
                .ns("idle_ns", "", it.idle_ns)
                .cell("idle_cpu", "idle CPU", it.idle_cpu)
                .ns("stretch_ns", "stayed idle", it.stretch.span())
                .at("stretch_from_ns", "", it.stretch.from)
                .cell("nearest", "nearest", it.nearest.name())
                .cell("idle", "", Value::List(it.idle.iter().map(idle_cpu).collect()))
                .cell("how", "wait began by", it.origin.name())
                .cell("waker", "", waker.map(|task| history.task_name(task)))
                .cell("waker_tid", "", waker.map(tid))
                .cell("waker_context", "", it.waker.map(|by| context_name(by.context)))
                .cell("waker_cpu", "", it.waker_cpu)
                .cell("prev_cpu", "", it.prev)
                .cell("moves", "", it.moves)
                .cell("behind", "", it.behind.map(|task| history.task_label(task)))
                .cell("recorder", "", recorder.map(|recorder| recorder.has(it.task)))
        })
    }

    pub(super) fn not_started_table(&self, history: &History) -> Table {
        let label = "Idle CPUs that did not start a queued task";
        Table::of("not_started", label, &self.waste.wake_delay.not_started, |row, it| {
            row.cell("task", "task", history.task_name(it.task))
                .cell("tid", "tid", history.task(it.task).map(|task| task.tid))
                .cell("cpu", "CPU", it.cpu)
                .at("from_ns", "from", it.window.from)
                .ns("length_ns", "delay", it.window.span())
                .cell("possibly_throttled", "", it.possibly_throttled)
        })
    }

    pub(super) fn episode_table(&self) -> Table {
        Table::of("episodes", "Worst episodes", &self.waste.worst, |row, it| {
            row.at("from_ns", "from", it.window.from)
                .at("to_ns", "to", it.window.to)
                .ns("length_ns", "length", it.window.span())
                .ns("cpu_ns", "CPU time wasted", it.cpu_ns)
                .cell("cpus_max", "CPUs (max)", it.cpus_max)
        })
        .shown(5)
    }

    pub(super) fn origin_table(&self) -> Table {
        let title = "Violations by the onset of the wait";
        Table::of("origins", title, &self.violations.by_origin, |row, (origin, sum)| {
            row.cell("how", "onset of the wait", origin.name())
                .cell("count", "violations", sum.count)
                .ns("idle_ns", "time with an idle CPU", sum.idle_ns)
        })
    }

    pub(super) fn nearest_table(&self) -> Table {
        let title = "Violations by distance to an idle CPU";
        Table::of("nearest", title, &self.violations.by_nearest, |row, (distance, sum)| {
            row.cell("distance", "nearest idle CPU", distance.name())
                .cell("count", "violations", sum.count)
                .ns("idle_ns", "time with an idle CPU", sum.idle_ns)
        })
    }

    pub(super) fn task_table(&self, history: &History) -> Table {
        let recorder = Recorder::of(history);
        let tasks = self.waits.by_task.iter().enumerate();
        let tasks = tasks.filter(|(_, waited)| waited.is_met());
        let mut tasks: Vec<_> = tasks.map(|(n, waited)| (TaskId::nth(n), waited)).collect();
        tasks.sort_by_key(|(task, waited)| (Reverse(waited.waits.sum), *task));
        Table::of("tasks", "Tasks with the longest total waits", tasks, |row, (task, waited)| {
            let waits = &waited.waits;
            row.cell("task", "task", history.task_name(task))
                .cell("tid", "tid", history.task(task).map(|task| task.tid))
                .cell("runs", "runs", waited.runs)
                .ns("run_ns", "ran", waited.run_ns)
                .ns("wait_ns", "waited", waits.sum)
                .ns("wait_p50_ns", "median", waits.quantile(0.5))
                .ns("wait_p90_ns", "", waits.quantile(0.9))
                .ns("wait_p99_ns", "99 %", waits.quantile(0.99))
                .ns("wait_p999_ns", "", waits.quantile(0.999))
                .ns("wait_max_ns", "longest", waits.max)
                .cell("recorder", "", recorder.map(|recorder| recorder.has(task)))
        })
    }

    pub(super) fn cpu_table(&self) -> Table {
        Table::of("cpus", "CPUs", &self.depth.by_cpu, |row, (cpu, times)| {
            let waited = self.waits.by_cpu.iter().find(|(other, _)| other == cpu);
            let waited = waited.map(|(_, waited)| waited.clone()).unwrap_or_default();
            let known = times.iter().fold(0, |all: u64, ns| all.saturating_add(*ns));
            let busy = (known > 0).then(|| waited.run_ns as f64 / known as f64);
            row.cell("cpu", "CPU", *cpu)
                .cell("runs", "runs", waited.runs)
                .ns("run_ns", "ran", waited.run_ns)
                .share("busy_share", "busy", busy)
                .cell("depth_mean", "mean queue", (known > 0).then(|| depth::mean(times)))
                .ns("wait_ns", "waited", waited.waits.sum)
                .ns("wait_p50_ns", "", waited.waits.quantile(0.5))
                .ns("wait_p99_ns", "99 %", waited.waits.quantile(0.99))
                .ns("wait_max_ns", "longest", waited.waits.max)
        })
    }

    pub(super) fn migration_table(&self, options: &Options) -> Table {
        let mut table = Table::new("moves", "Migrations by reason, distance and effect", []);
        for reason in [Reason::Wakeup, Reason::Fork, Reason::Balance] {
            for distance in Distance::ALL {
                let Some(counts) = self.migrations.by_reason.get(&(reason, distance)) else {
                    continue;
                };
                let is_migration = reason != Reason::Fork;
                let [helped, not_helped, forced, undecided] =
                    counts.effects.map(|count| is_migration.then_some(count));
                let known = is_migration && distance != Distance::Unknown;
                let costs = options.costs.as_ref().filter(|_| known);
                let cost = |costs: &Costs| costs.of_move(distance).0.saturating_mul(counts.moves);
                table.row(|row| {
                    row.cell("reason", "reason", reason.name())
                        .cell("distance", "distance", distance.name())
                        .cell("count", "moves", counts.moves)
                        .cell("helped", "ran sooner", helped)
                        .cell("not_helped", "no sooner", not_helped)
                        .cell("forced", "forced", forced)
                        .cell("undecided", "unknown", undecided)
                        .ns("cost_ns", "cost", costs.map(cost))
                });
            }
        }
        table
    }

    pub(super) fn depth_table(&self) -> Table {
        let times = self.depth.total();
        let all = times.iter().fold(0, |all: u64, ns| all.saturating_add(*ns));
        let rows = times.iter().enumerate().filter(|(_, ns)| **ns > 0);
        Table::of("run_queue", "CPU time by run-queue length", rows, |row, (length, &ns)| {
            let share = ns as f64 / all as f64;
            let length = match length {
                depth::DEPTH_MAX => format!("{length}+"),
                _ => length.to_string(),
            };
            row.cell("length", "tasks on the CPU", length)
                .ns("cpu_ns", "CPU time", ns)
                .share("share", "share", share)
        })
    }
}

/// Lengths by powers of two.
pub(super) fn histogram(name: &str, label: &str, lengths: &Distribution) -> Table {
    Table::of(name, label, lengths.octaves(), |row, (from, to, count)| {
        let share = count as f64 / lengths.count as f64;
        row.ns("from_ns", "from", from)
            .ns("to_ns", "below", to)
            .cell("count", "count", count)
            .share("share", "share", share)
    })
    .shown(40)
}

fn idle_cpu(idle: &IdleCpu) -> Value {
    Value::Map(vec![
        ("cpu".to_owned(), idle.cpu.into()),
        ("distance".to_owned(), idle.distance.name().into()),
        ("idle_ns".to_owned(), idle.idle_ns.into()),
        ("longest_ns".to_owned(), idle.longest_ns.into()),
    ])
}
