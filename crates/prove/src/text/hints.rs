//! What to write where an obligation does not hold.

/// What to write instead, by the name of the obligation. `None`: it is not known.
pub(crate) fn hint(obligation: &str) -> Option<&'static str> {
    Some(match obligation {
        "served" | "reached" => {
            "`take` that queue in `dispatch`, or have `balance idle` steal from it, with `machine` \
             as its last level"
        }
        "woken" => "leave out `within`: all CPUs that may run the task are looked for then",
        "protocol" => "leave out `unsafe protocol`",
        "filter_complete" | "filter_sound" => {
            "let the filter ask whether a task waits: `filter(me, v) = queued(v.ready) >= 1`"
        }
        "tries_all" => "`retry untried`, or no `retry` at all, which is the same",
        "steal_safe" => "leave out `steal: unchecked`",
        "blame" => {
            "`where me in allowed(t)` alone: a stricter re-check may fail though a task waits that \
             may run here"
        }
        "unchanged" => {
            "`where me in allowed(t)` alone: a stricter re-check may fail though nothing changed"
        }
        "calm" => "`kick ... preempt` in `new` and `wake` alone",
        "stable" => "`rounds(<= idle_cpus + periodic_moves)`, or leave out `balance every`",
        "moves" | "evens_out" => {
            "`filter(me, g) = queued(g.q) - queued(me.q) >= 2`, and steal half of that at most"
        }
        "regular" => "leave out `settles`: there is no `balance every`",
        "nested" => "leave out `groups: cpu0`",
        "covers" => "let the levels end with `machine`: `level node, machine`",
        "leader" => "slices that end, `slice 20ms`",
        "in_order" => "`fifo`, or leave out `wait`",
        "stays" => "leave out `wait`, or `balance every`",
        "first" => "begin `dispatch` with that queue: `take c.ready else balance idle`",
        "ordered" => "a queue that is `ordered(vt)`, or leave out `lag`",
        "rises" => "`t.vt := max(t.vt, ...)`, or `+=`",
        "passes" => "`on stop(t, ran) { t.vt += scaled(ran, t.weight) }`",
        "lags" => "`t.vt := max(t.vt, min_vt(home(t).q) - lag)` before the task is put",
        "rebased" => "`rebase vt` at the end of `steal`",
        _ => return None,
    })
}
