//! R2xx: dimensions and types.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R201",
        title: "a variable with the wrong writer",
        about: "Who writes a variable decides how old a value others may read, and so what can \
                be proved. Variables of tasks are `owner queue`: written while the task is in \
                no queue, or under the lock of the queue that it is in. Variables of CPUs are \
                `owner cpu`, written by handlers that run there, or `shared`: anybody adds to \
                them.",
        wrong: "cpu { load: count = 0 owner queue }\n",
        right: "cpu { load: count = 0 shared }\n",
    },
    Code {
        code: "R203",
        title: "a number that is too large",
        about: "Numbers have 64 bits. So that sums stay far from their end, none that is written \
                may be above 10^17: of times, a thousand days.",
        wrong: "on tick(t) { t.vt := 200_000_000s }\n",
        right: "on tick(t) { t.vt := 200_000s }\n",
    },
    Code {
        code: "R204",
        title: "dimensions that do not fit",
        about: "Every number is a count, a time or a weight; only equals are added, compared \
                and set. A share, `50%`, is no number: it stands beside `*` only. A number \
                that is written without unit fits all but times. A time becomes virtual time by \
                `scaled(time, weight)`.",
        wrong: "on stop(t, ran) { t.vt += t.weight }\n",
        right: "on stop(t, ran) { t.vt += scaled(ran, t.weight) }\n",
    },
    Code {
        code: "R205",
        title: "a thing of another kind",
        about: "A number, a condition, a task, a CPU or group of CPUs and a queue are different \
                things. Of a queue one asks how many wait in it, of a place how many of its \
                CPUs run a task: `queued(c.ready)`, `running(c)`.",
        wrong: "on tick(t) { if here.ready >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R206",
        title: "too many or too few arguments",
        about: "A metric takes the place that it is of; what the other calls take is listed in \
                docs/reference/rota.md.",
        wrong: "on tick(t) { t.vt := max(t.vt) }\n",
        right: "on tick(t) { t.vt := max(t.vt, 1ms) }\n",
    },
    Code {
        code: "R207",
        title: "multiplied or divided by what may change",
        about: "Solvers decide sums quickly, and products of two unknowns hardly ever. So one \
                side of `*` is a number that is written there, and so is what stands after `/`, \
                above zero. The one exception is built in: `scaled(time, weight)` is `time * \
                100 / weight`.",
        wrong: "on stop(t, ran) { t.vt += ran / t.weight }\n",
        right: "on stop(t, ran) { t.vt += scaled(ran, t.weight) }\n",
    },
    Code {
        code: "R208",
        title: "no condition",
        about: "`if`, `filter` and `where` ask something that is true or false. A number is \
                neither.",
        wrong: "on tick(t) { if queued(here.ready) { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R209",
        title: "too large once its metrics are put in",
        about: "A metric is put in wherever it is named, so that one which names another twice \
                doubles it. A policy may come to 10 000 expressions; each metric counts once where \
                it stands, too.",
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
        title: "set by somebody who may not",
        about: "A `shared` variable is added to, since between reading and setting it somebody \
                else may have written. One that is `owner cpu` is written on its own CPU: \
                `here`.",
        wrong: "cpu { starts: count = 0 shared }\non start(t) { here.starts := 1 }\n",
        right: "cpu { starts: count = 0 shared }\non start(t) { here.starts += 1 }\n",
    },
    Code {
        code: "R211",
        title: "no time at all",
        about: "A slice or a period of 0 would end before it begins.",
        wrong: "on wake(t) { put t in home(t).ready slice 0 }\n",
        right: "on wake(t) { put t in home(t).ready slice 5ms }\n",
    },
];
