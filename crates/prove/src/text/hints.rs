//! What to write where an obligation does not hold.

/// What to write instead, by the name of the obligation. `None`: it is not known.
pub(crate) fn hint(obligation: &str) -> Option<&'static str> {
    Some(match obligation {
        "served" | "reached" => {
            "`take` that queue in `dispatch`, or let `balance idle` steal from it with `machine` \
             as its last level"
        }
        "woken" => "leave out `within`: then the put searches all CPUs that may run the task",
        "protocol" => "leave out `unsafe protocol`",
        "filter_complete" | "filter_sound" => {
            "let the filter ask whether a task waits: `filter(me, v) = queued(v.ready) >= 1`"
        }
        "tries_all" => "write `retry untried`, or leave out `retry`, which means the same",
        "steal_safe" => "leave out `steal: unchecked`",
        "blame" => {
            "write only `where me in allowed(t)`: a stricter re-check may fail although a task \
             that may run here waits"
        }
        "unchanged" => {
            "write only `where me in allowed(t)`: a stricter re-check may fail although nothing \
             changed"
        }
        "calm" => "use `kick ... preempt` only in `new` and `wake`",
        "stable" => "claim `rounds(<= idle_cpus + periodic_moves)`, or leave out `balance every`",
        "moves" | "evens_out" => {
            "write `filter(me, g) = queued(g.q) - queued(me.q) >= 2`, and steal at most half of \
             the difference"
        }
        "regular" => "leave out `settles`: the policy has no `balance every`",
        "nested" => "leave out `groups: cpu0`",
        "covers" => "end the levels with `machine`: `level node, machine`",
        "leader" => "use slices that end, for example `slice 20ms`",
        "in_order" => "use `fifo`, or leave out `wait`",
        "stays" => "leave out `wait`, or `balance every`",
        "first" => "begin `dispatch` with that queue: `take c.ready else balance idle`",
        "ordered" => "use a queue that is `ordered(vt)`, or leave out `lag`",
        "rises" => "write `t.vt := max(t.vt, ...)`, or use `+=`",
        "passes" => "write `on stop(t, ran) { t.vt += scaled(ran, t.weight) }`",
        "lags" => "write `t.vt := max(t.vt, min_vt(home(t).q) - lag)` before the task is put",
        "rebased" => "write `rebase vt` at the end of `steal`",
        _ => return None,
    })
}
