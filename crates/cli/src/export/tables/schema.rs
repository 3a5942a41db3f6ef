//! The columns of all tables except `events`. docs/reference/tables.md contains the same text; a test
//! compares both.

use wastenot_read::write::{Column, Kind};

macro_rules! columns {
    ($($table:ident { $($kind:ident $name:literal $about:literal;)* })*) => {
        $(pub(super) const $table: &[Column] =
            &[$(Column { name: $name, kind: Kind::$kind, about: $about }),*];)*
    };
}

columns! {
    TASKS {
        Int "task" "The task, by an id that is unique in the trace.";
        Int "tid" "The thread id of the task.";
        Text "name" "The last known command name of the task.";
        Int "pid" "The process id of the task.";
        Int "runs" "The number of runs: how often the task was switched in.";
        Int "run_ns" "The total run time.";
        Int "waits" "The number of waits that ended in a run and have a known beginning.";
        Int "wait_ns" "The sum of these waits.";
        Int "wait_ns_max" "The longest of these waits.";
        Int "migrations" "The number of migrations to another CPU.";
        Int "violations" "The number of rows of the task in `violations`.";
        Int "violation_ns" "The time in these violations in which a CPU that the task may use was idle.";
    }
    SPANS {
        Text "subject" "`task` for the span of a task, `cpu` for the span of a CPU.";
        Int "cpu" "The CPU. In a span of a task: the CPU where the task runs, waits or is held back.";
        Int "task" "The task. In a span of a CPU: the task that the CPU runs.";
        Int "tid" "The thread id of the task.";
        Text "name" "The last known command name of the task.";
        Text "state" "For a task: `run`, `wait`, `held` (by a quota) or `sleep`. For a CPU: `run`, `idle`, `waking`, `unknown` or `offline`.";
        Int "from_ns" "The start of the span.";
        Int "to_ns" "The end of the span.";
        Int "span_ns" "The length of the span, always above 0.";
    }
    WAITS {
        Int "task" "The task that waited.";
        Int "tid" "The thread id of the task.";
        Text "name" "The last known command name of the task.";
        Int "cpu" "The CPU where the task ran after the wait, or where it waited last.";
        Int "from_ns" "The time when the task was queued.";
        Int "to_ns" "The end of the wait.";
        Int "wait_ns" "The length of the wait, possibly 0.";
        Text "origin" "The reason why the wait began: `wakeup`, `no-selection`, `waking`, `fork`, `preemption`, `slice end`, `quota refilled`, `unknown`.";
        Text "ended" "The end of the wait: `run`, `held` (by a quota), `unknown` (a loss), `open` (the trace ended).";
        Int "waking_ns" "The time when the task was woken (sched_waking).";
        Int "waker" "The task that woke or created the waiting task.";
        Int "waker_tid" "The thread id of the waker.";
        Text "waker_name" "The command name of the waker.";
        Int "waker_cpu" "The CPU of the wakeup or creation.";
        Int "prev_cpu" "The previous CPU of the task.";
        Int "moves" "The number of migrations during the wait.";
    }
    VIOLATIONS {
        Int "task" "The task that waited.";
        Int "tid" "The thread id of the task.";
        Text "name" "The last known command name of the task.";
        Int "cpu" "The CPU where the task waited when the violation began.";
        Int "to_cpu" "The CPU where the task waited when the violation ended.";
        Int "from_ns" "The start of the violation.";
        Int "to_ns" "The end of the violation.";
        Int "wait_since_ns" "The start of the wait.";
        Text "origin" "The reason why the wait began, as in `waits`.";
        Int "waker" "The task that woke or created the waiting task.";
        Int "waker_tid" "The thread id of the waker.";
        Text "waker_name" "The command name of the waker.";
        Int "waker_cpu" "The CPU of the wakeup or creation.";
        Int "prev_cpu" "The previous CPU of the task.";
        Int "moves" "The number of migrations during the wait.";
        Int "behind" "The task that ran on `cpu` when the violation began.";
        Int "behind_tid" "The thread id of that task.";
        Text "behind_name" "The command name of that task.";
        Int "idle_ns" "The time in which any CPU that the task may use was idle.";
        Int "idle_cpu" "The CPU that stayed idle longest.";
        Int "stretch_from_ns" "The start of the longest stretch in which this CPU was idle.";
        Int "stretch_to_ns" "The end of this stretch.";
        Text "nearest" "The distance to the nearest idle CPU.";
        Text "idle_cpus" "All CPUs that were idle at some time during the violation, such as `0-3,8`.";
    }
    EPISODES {
        Int "from_ns" "The start of the episode.";
        Int "to_ns" "The end of the episode.";
        Int "span_ns" "The length of the episode.";
        Int "cpu_ns" "The CPU time wasted in the episode.";
        Int "cpus_max" "The largest number of CPUs wasted at once.";
    }
    LOSSES {
        Text "kind" "`lost_events`, `cut`, `missing`, `damaged`, `clock_step`, `clock_skew`, `contradiction`, `unknown_unit`, `unread`.";
        Text "severity" "`info`: the figures hold. `suspect`: the figures may be wrong. `lost`: the figures are bounds.";
        Int "cpu" "The CPU with the loss.";
        Int "time_ns" "The time of the first loss.";
        Int "count" "The number of lost events or damaged places.";
        Text "note" "A description of the loss.";
    }
}
