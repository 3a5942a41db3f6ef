//! What to write where an obligation does not hold.

/// What to write instead, by the name of the obligation. `None`: it is not known.
pub(crate) fn hint(obligation: &str) -> Option<&'static str> {
    Some(match obligation {
        "served" | "reached" => {
            "`take` from this queue in `dispatch`, or let `balance idle` steal from it with \
             `machine` as the last level"
        }
        "woken" => "remove `within`, so that the search covers all CPUs that may run the task",
        "protocol" => "remove `unsafe protocol`",
        "filter_complete" | "filter_sound" => {
            "make the filter true if a task waits: `filter(me, v) = queued(v.ready) >= 1`"
        }
        "tries_all" => "write `retry untried`, or remove `retry`: both have the same meaning",
        "steal_safe" => "remove `steal: unchecked`",
        "blame" => {
            "write only `where me in allowed(t)`: a stricter check may fail although a waiting \
             task may run on this CPU"
        }
        "unchanged" => {
            "write only `where me in allowed(t)`: a stricter check may fail although nothing \
             changed"
        }
        "calm" => "use `kick ... preempt` only in `new` and `wake`",
        "stable" => "write `rounds(<= idle_cpus + periodic_moves)`, or remove `balance every`",
        "moves" | "evens_out" => {
            "write `filter(me, g) = queued(g.q) - queued(me.q) >= 2`, and steal at most half of \
             that difference"
        }
        "regular" => "remove `settles`, because the policy has no `balance every`",
        "nested" => "remove `groups: cpu0`",
        "covers" => "make `machine` the last level: `level node, machine`",
        "leader" => "use limited slices, for example `slice 20ms`",
        "in_order" => "use a `fifo` queue, or remove `wait`",
        "stays" => "remove `wait` or `balance every`",
        "first" => "begin `dispatch` with this queue: `take c.ready else balance idle`",
        "ordered" => "use a queue that is `ordered(vt)`, or remove `lag`",
        "rises" => "write `t.vt := max(t.vt, ...)`, or use `+=`",
        "passes" => "write `on stop(t, ran) { t.vt += scaled(ran, t.weight) }`",
        "lags" => "write `t.vt := max(t.vt, min_vt(home(t).q) - lag)` before the task is put",
        "rebased" => "add `rebase vt` at the end of `steal`",
        _ => return None,
    })
}
