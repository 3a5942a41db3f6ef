//! R2xx: dimensions and types.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R201",
        title: "a variable with the wrong writer",
        about: "The writer of a variable determines how outdated a value can be for other readers, \
                and so what can be proved. Task variables are `owner queue`: written while the \
                task is in no queue, or under the lock of the queue that it is in. CPU variables \
                are `owner cpu`, written by handlers that run there, or `shared`: every handler \
                may add to them.",
        wrong: "cpu { load: count = 0 owner queue }\n",
        right: "cpu { load: count = 0 shared }\n",
    },
    Code {
        code: "R203",
        title: "a number that is too large",
        about: "Numbers have 64 bits. To keep sums from overflowing, no number in a text may \
                exceed 10^17; as a time, that is a thousand days.",
        wrong: "on tick(t) { t.vt := 200_000_000s }\n",
        right: "on tick(t) { t.vt := 200_000s }\n",
    },
    Code {
        code: "R204",
        title: "dimensions that do not fit",
        about: "Every number is a count, a time or a weight; only numbers of the same dimension \
                can be added, compared and set. A share, `50%`, is not a number: it is allowed \
                beside `*` only. A number without a unit fits every dimension except time. \
                `scaled(time, weight)` converts a time to virtual time.",
        wrong: "on stop(t, ran) { t.vt += t.weight }\n",
        right: "on stop(t, ran) { t.vt += scaled(ran, t.weight) }\n",
    },
    Code {
        code: "R205",
        title: "the wrong kind of value",
        about: "A number, a condition, a task, a CPU or group of CPUs and a queue are different \
                kinds of values. A queue has a number of waiting tasks, a place has a number of \
                CPUs that run a task: `queued(c.ready)`, `running(c)`.",
        wrong: "on tick(t) { if here.ready >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R206",
        title: "too many or too few arguments",
        about: "A metric takes its place as the only argument; docs/reference/rota.md lists the \
                arguments of the other calls.",
        wrong: "on tick(t) { t.vt := max(t.vt) }\n",
        right: "on tick(t) { t.vt := max(t.vt, 1ms) }\n",
    },
    Code {
        code: "R207",
        title: "multiplied or divided by a variable",
        about: "Solvers decide sums quickly, but rarely products of two unknowns. So one side of \
                `*` must be a literal number, and the right side of `/` must be a literal above \
                zero. The one exception is built in: `scaled(time, weight)` is `time * 100 / \
                weight`.",
        wrong: "on stop(t, ran) { t.vt += ran / t.weight }\n",
        right: "on stop(t, ran) { t.vt += scaled(ran, t.weight) }\n",
    },
    Code {
        code: "R208",
        title: "not a condition",
        about: "`if`, `filter` and `where` need a condition, which is true or false. A number is \
                neither.",
        wrong: "on tick(t) { if queued(here.ready) { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R209",
        title: "too large after its metrics are inlined",
        about: "A metric is inlined wherever it is called, so a metric that calls another one \
                twice doubles it. A policy may have 10 000 expressions after inlining; each metric \
                also counts once at its declaration.",
        wrong: "metric a(c: cpu) : count = queued(c.ready)\n\
                metric b(c: cpu) : count = a(c) + a(c) + a(c) + a(c) + a(c) + a(c) + a(c) + a(c)\n\
                metric d(c: cpu) : count = b(c) + b(c) + b(c) + b(c) + b(c) + b(c) + b(c) + b(c)\n\
                metric e(c: cpu) : count = d(c) + d(c) + d(c) + d(c) + d(c) + d(c) + d(c) + d(c)\n\
                metric f(c: cpu) : count = e(c) + e(c) + e(c) + e(c) + e(c) + e(c) + e(c) + e(c)\n\
                on tick(t) { if f(here) >= 1 { kick here } }\n",
        right: "metric f(c: cpu) : count = 4_096 * queued(c.ready)\n\
                on tick(t) { if f(here) >= 1 { kick here } }\n",
    },
    Code {
        code: "R210",
        title: "set where this is not allowed",
        about: "A `shared` variable can only be added to, since another handler may write it \
                between a read and a write. An `owner cpu` variable can only be written on its own \
                CPU: `here`.",
        wrong: "cpu { starts: count = 0 shared }\non start(t) { here.starts := 1 }\n",
        right: "cpu { starts: count = 0 shared }\non start(t) { here.starts += 1 }\n",
    },
    Code {
        code: "R211",
        title: "a time of zero",
        about: "A slice or a period of 0 would end before it begins.",
        wrong: "on wake(t) { put t in home(t).ready slice 0 }\n",
        right: "on wake(t) { put t in home(t).ready slice 5ms }\n",
    },
];
