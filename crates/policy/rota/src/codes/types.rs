//! R2xx: dimensions and types.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R201",
        title: "a variable with the wrong writer",
        about: "When another CPU reads a variable, it may read an old value. The writer of the \
                variable determines how old this value can be. This age determines which claims \
                can be proved. Task variables are `owner queue`: handlers write them while the \
                task is in no queue, or under the lock of its queue. CPU variables are `owner cpu` \
                (only handlers that run on this CPU write them) or `shared` (every handler may add \
                to them).",
        wrong: "cpu { load: count = 0 owner queue }\n",
        right: "cpu { load: count = 0 shared }\n",
    },
    Code {
        code: "R203",
        title: "a number that is too large",
        about: "Numbers have 64 bits. To prevent overflow in sums, no number in the text may be \
                larger than 10^17. A time of 10^17 ns is about three years.",
        wrong: "on tick(t) { t.vt := 200_000_000s }\n",
        right: "on tick(t) { t.vt := 200_000s }\n",
    },
    Code {
        code: "R204",
        title: "dimensions that do not match",
        about: "Every number is a count, a time or a weight. Only numbers of the same dimension \
                can be added, compared or assigned. A share such as `50%` is not a number: only \
                `*` accepts a share. A number without a unit matches every dimension except time. \
                `scaled(time, weight)` converts a time to virtual time.",
        wrong: "on stop(t, ran) { t.vt += t.weight }\n",
        right: "on stop(t, ran) { t.vt += scaled(ran, t.weight) }\n",
    },
    Code {
        code: "R205",
        title: "the wrong kind of value",
        about: "Numbers, conditions, tasks, CPUs or groups of CPUs, and queues are different kinds \
                of values. Use `queued(c.ready)` for the number of tasks that wait in a queue. Use \
                `running(c)` for the number of busy CPUs in a place.",
        wrong: "on tick(t) { if here.ready >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R206",
        title: "too many or too few arguments",
        about: "A metric has exactly one argument, its place. docs/reference/rota.md lists the \
                arguments of the other calls.",
        wrong: "on tick(t) { t.vt := max(t.vt) }\n",
        right: "on tick(t) { t.vt := max(t.vt, 1ms) }\n",
    },
    Code {
        code: "R207",
        title: "a number that is multiplied or divided by a variable",
        about: "Solvers decide sums quickly, but they often cannot decide products of two \
                unknowns. So one side of `*` must be a literal number, and the right side of `/` \
                must be a literal number above zero. Only one division by a variable is built in: \
                `scaled(time, weight)` is `time * 100 / weight`.",
        wrong: "on stop(t, ran) { t.vt += ran / t.weight }\n",
        right: "on stop(t, ran) { t.vt += scaled(ran, t.weight) }\n",
    },
    Code {
        code: "R208",
        title: "a value that is not a condition",
        about: "`if`, `filter` and `where` need a condition, which is true or false. A number is \
                not a condition.",
        wrong: "on tick(t) { if queued(here.ready) { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R209",
        title: "a policy that is too large after its metrics are inlined",
        about: "A metric is inlined wherever it is called. So if a metric calls another metric \
                twice, the expressions of the other metric count twice. A policy may have 10 000 \
                expressions after inlining. The expressions in the declaration of a metric count \
                once more.",
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
        title: "a variable that cannot be set here",
        about: "Handlers can only add to a `shared` variable. If a handler read the variable and \
                then set it, another handler could write the variable in between. An `owner cpu` \
                variable can be written only on its own CPU: `here`.",
        wrong: "cpu { starts: count = 0 shared }\non start(t) { here.starts := 1 }\n",
        right: "cpu { starts: count = 0 shared }\non start(t) { here.starts += 1 }\n",
    },
    Code {
        code: "R211",
        title: "a time of zero",
        about: "A slice or period must be longer than 0: write, for example, `5ms`.",
        wrong: "on wake(t) { put t in home(t).ready slice 0 }\n",
        right: "on wake(t) { put t in home(t).ready slice 5ms }\n",
    },
];
