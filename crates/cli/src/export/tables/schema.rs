//! The columns of all tables except `events`. docs/reference/tables.md has the same text; a test
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
        Int "task" "Id of the task, unique in the trace.";
        Int "tid" "Thread id of the task.";
        Text "name" "Last known command name of the task.";
        Int "pid" "Process id of the task.";
        Int "runs" "Number of times that the task was switched in.";
        Int "run_ns" "Total run time.";
        Int "waits" "Number of waits that ended in a run and have a known start.";
        Int "wait_ns" "Total time of these waits.";
        Int "wait_ns_max" "Longest of these waits.";
        Int "migrations" "Number of times that the task changed its CPU.";
        Int "violations" "Number of rows of the task in `violations`.";
        Int "violation_ns" "Time during which the task was in a violation and a CPU that it may use was idle.";
    }
    SPANS {
        Text "subject" "Subject of the span: `task` or `cpu`.";
        Int "cpu" "The CPU. For a task: the CPU where the task runs, waits or is held back.";
        Int "task" "Id of the task. For a CPU: the task that the CPU runs.";
        Int "tid" "Thread id of the task.";
        Text "name" "Last known command name of the task.";
        Text "state" "For a task: `run`, `wait`, `held` (by a quota), `sleep`. For a CPU: `run`, `idle`, `waking`, `unknown`, `offline`.";
        Int "from_ns" "Start.";
        Int "to_ns" "End.";
        Int "span_ns" "Length; always above 0.";
    }
    WAITS {
        Int "task" "Id of the waiting task.";
        Int "tid" "Thread id of the waiting task.";
        Text "name" "Last known command name of the waiting task.";
        Int "cpu" "CPU where the task ran after the wait, or where it waited last.";
        Int "from_ns" "Time when the task was queued.";
        Int "to_ns" "Time when the wait ended.";
        Int "wait_ns" "Length; may be 0.";
        Text "origin" "Onset of the wait: `wakeup`, `no-selection`, `waking`, `fork`, `preemption`, `slice end`, `quota refilled`, `unknown`.";
        Text "ended" "End of the wait: `run`, `held` (by a quota), `unknown` (a loss), `open` (the trace ended).";
        Int "waking_ns" "Time when the task was woken (sched_waking).";
        Int "waker" "Id of the task that woke or created the waiting task.";
        Int "waker_tid" "Thread id of the waker.";
        Text "waker_name" "Command name of the waker.";
        Int "waker_cpu" "CPU of the waker.";
        Int "prev_cpu" "CPU of the task before the wait.";
        Int "moves" "Number of migrations during the wait.";
    }
    VIOLATIONS {
        Int "task" "Id of the waiting task.";
        Int "tid" "Thread id of the waiting task.";
        Text "name" "Last known command name of the waiting task.";
        Int "cpu" "CPU where the task waited when the violation began.";
        Int "to_cpu" "CPU where the task waited when the violation ended.";
        Int "from_ns" "Start.";
        Int "to_ns" "End.";
        Int "wait_since_ns" "Time when the wait began.";
        Text "origin" "Onset of the wait, as in `waits`.";
        Int "waker" "Id of the task that woke or created the waiting task.";
        Int "waker_tid" "Thread id of the waker.";
        Text "waker_name" "Command name of the waker.";
        Int "waker_cpu" "CPU of the waker.";
        Int "prev_cpu" "CPU of the task before the wait.";
        Int "moves" "Number of migrations during the wait.";
        Int "behind" "Id of the task that ran on `cpu` when the violation began.";
        Int "behind_tid" "Thread id of that task.";
        Text "behind_name" "Command name of that task.";
        Int "idle_ns" "Time during which at least one CPU that the task may use was idle.";
        Int "idle_cpu" "CPU that stayed idle for the longest time without a break.";
        Int "stretch_from_ns" "Start of this longest idle time.";
        Int "stretch_to_ns" "End of this longest idle time.";
        Text "nearest" "Distance to the nearest idle CPU.";
        Text "idle_cpus" "All CPUs that were idle at some time during the violation, such as `0-3,8`.";
    }
    EPISODES {
        Int "from_ns" "Start.";
        Int "to_ns" "End.";
        Int "span_ns" "Length.";
        Int "cpu_ns" "CPU time wasted in the episode.";
        Int "cpus_max" "Maximum number of CPUs that were wasted at the same time.";
    }
    LOSSES {
        Text "kind" "`lost_events`, `cut`, `missing`, `damaged`, `clock_step`, `clock_skew`, `contradiction`, `unknown_unit`, `unread`.";
        Text "severity" "`info`: figures are not affected; `suspect`: figures may be wrong; `lost`: figures are only bounds of the true values.";
        Int "cpu" "CPU whose data is affected.";
        Int "time_ns" "Time of the first occurrence.";
        Int "count" "Number of events or places.";
        Text "note" "Description of the loss.";
    }
}
