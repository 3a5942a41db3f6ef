//! The columns of the tables, but those of events. docs/reference/tables.md has the same; a test
//! compares.

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
        Int "tid" "Its thread id.";
        Text "name" "Its command name, the last known.";
        Int "pid" "Its process id.";
        Int "runs" "How often it was switched in.";
        Int "run_ns" "How long it ran.";
        Int "waits" "Waits that ended in a run and whose beginning is known.";
        Int "wait_ns" "Their sum.";
        Int "wait_ns_max" "The longest.";
        Int "migrations" "How often it went to another CPU.";
        Int "violations" "Its rows in `violations`.";
        Int "violation_ns" "Time in them in which a CPU that it may use was idle.";
    }
    SPANS {
        Text "subject" "`task` or `cpu`: whose span it is.";
        Int "cpu" "The CPU; of a task the one where it runs, waits or is held back.";
        Int "task" "The task; of a CPU the one that it runs.";
        Int "tid" "Its thread id.";
        Text "name" "Its command name, the last known.";
        Text "state" "Of a task: `run`, `wait`, `held` (by a quota), `sleep`. Of a CPU: `run`, `idle`, `waking`, `unknown`, `offline`.";
        Int "from_ns" "Start.";
        Int "to_ns" "End.";
        Int "span_ns" "Length; above 0.";
    }
    WAITS {
        Int "task" "Who waited.";
        Int "tid" "Its thread id.";
        Text "name" "Its command name, the last known.";
        Int "cpu" "The CPU where it came to run, or waited last.";
        Int "from_ns" "When it was queued.";
        Int "to_ns" "When the wait ended.";
        Int "wait_ns" "Length; may be 0.";
        Text "origin" "How it began: `wakeup`, `no-selection`, `waking`, `fork`, `preemption`, `slice end`, `quota refilled`, `unknown`.";
        Text "ended" "How it ended: `run`, `held` (by a quota), `unknown` (a loss), `open` (the trace ended).";
        Int "waking_ns" "When it was woken (sched_waking).";
        Int "waker" "Who woke or created it.";
        Int "waker_tid" "Its thread id.";
        Text "waker_name" "Its command name.";
        Int "waker_cpu" "The CPU that did it.";
        Int "prev_cpu" "Where it was before.";
        Int "moves" "How often it was moved while it waited.";
    }
    VIOLATIONS {
        Int "task" "Who waited.";
        Int "tid" "Its thread id.";
        Text "name" "Its command name, the last known.";
        Int "cpu" "Where it waited when the violation began.";
        Int "to_cpu" "Where it waited when the violation ended.";
        Int "from_ns" "Start.";
        Int "to_ns" "End.";
        Int "wait_since_ns" "When the wait began.";
        Text "origin" "How the wait began, as in `waits`.";
        Int "waker" "Who woke or created it.";
        Int "waker_tid" "Its thread id.";
        Text "waker_name" "Its command name.";
        Int "waker_cpu" "The CPU that did it.";
        Int "prev_cpu" "Where it was before.";
        Int "moves" "How often it was moved while it waited.";
        Int "behind" "The task that its CPU ran when the violation began.";
        Int "behind_tid" "Its thread id.";
        Text "behind_name" "Its command name.";
        Int "idle_ns" "Time in which any CPU that it may use was idle.";
        Int "idle_cpu" "The CPU that stayed idle longest.";
        Int "stretch_from_ns" "Start of the longest stretch of that.";
        Int "stretch_to_ns" "End of it.";
        Text "nearest" "How near the nearest idle CPU was.";
        Text "idle_cpus" "All CPUs that were idle at some time in it: `0-3,8`.";
    }
    EPISODES {
        Int "from_ns" "Start.";
        Int "to_ns" "End.";
        Int "span_ns" "Length.";
        Int "cpu_ns" "CPU time wasted in it.";
        Int "cpus_max" "Most CPUs that were wasted at once.";
    }
    LOSSES {
        Text "kind" "`lost_events`, `cut`, `missing`, `damaged`, `clock_step`, `clock_skew`, `contradiction`, `unknown_unit`, `unread`.";
        Text "severity" "`info`: figures stand; `suspect`: they may be off; `lost`: they are bounds.";
        Int "cpu" "The CPU whose data it is.";
        Int "time_ns" "When it happened first.";
        Int "count" "How many events or places.";
        Text "note" "What was seen.";
    }
}
