//! R4xx: queues, balance and levels.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R401",
        title: "a queue with another order",
        about: "A queue is `fifo`, or `ordered(VARIABLE)` by a task variable. Only an ordered \
                queue has a least key (`min_vt`). `rebase VARIABLE` adapts the key of a stolen \
                task to the new queue of the task. The old queue and the new queue must both be \
                ordered by this variable.",
        wrong: "on wake(t) {\n    t.vt := max(t.vt, min_vt(home(t).ready))\n    put t in \
                home(t).q\n}\n",
        right: "on wake(t) {\n    t.vt := max(t.vt, min_vt(home(t).q))\n    put t in \
                home(t).q\n}\n",
    },
    Code {
        code: "R402",
        title: "a group that is too wide",
        about: "A CPU belongs to one LLC, but an LLC has many CPUs. So a group has no per-CPU \
                queue and no per-CPU variable. Name one CPU, or add up the values of all CPUs of \
                the group: `sum c in g : queued(c.ready)`. A CPU can name the queue of its LLC: if \
                `q` is a queue per LLC, `c.q` is the queue of the LLC that contains CPU `c`.",
        wrong: "on tick(t) { if queued(llc(here).ready) >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R403",
        title: "a queue is not a set of CPUs",
        about: "A policy cannot visit the tasks in a queue one by one, because such a visit needs \
                the lock of the queue. Count the tasks instead. When the kernel takes a task, it \
                checks whether the task may run on this CPU.",
        wrong: "balance idle {\n    level machine\n    \
                filter(me, v) = queued(v.ready) >= 1 and exists t in v.ready : idle(t)\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R404",
        title: "a queue is required here",
        about: "To name a queue, write its place, a dot and its name: `me.ready`, `home(t).ready`, \
                `machine.all`.",
        wrong: "on tick(t) { if queued(here) >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R405",
        title: "one half of `balance idle` is missing",
        about: "`else balance idle` in `dispatch` makes a CPU search the queues of other CPUs. \
                `balance idle { ... }` defines this search. Neither of these two parts has an \
                effect without the other part.",
        wrong: "on dispatch(c) { take c.ready }\nbalance idle {\n    level machine\n    \
                filter(me, v) = queued(v.ready) >= 1\n    choose any\n    \
                steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "on dispatch(c) { take c.ready else balance idle }\nbalance idle {\n    level \
                machine\n    filter(me, v) = queued(v.ready) >= 1\n    choose any\n    steal 1 \
                where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R406",
        title: "levels that are in the wrong order or too narrow",
        about: "Levels go from narrow to wide: cpu, smt, llc, node, machine. In a balance, the \
                first level must be wider than the level of the queues. For example, if each CPU \
                has a queue, the level cpu is too narrow: a group of one CPU contains only the \
                queue of this CPU.",
        wrong: "balance idle {\n    level machine, node\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level node, machine\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R407",
        title: "a balance or clause that occurs twice",
        about: "A policy has at most one `balance idle`. A balance has at most one clause of each \
                kind. Write several levels in one clause: `level node, machine`.",
        wrong: "balance idle {\n    level node\n    level machine\n    \
                filter(me, v) = queued(v.ready) >= 1\n    choose any\n    \
                steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level node, machine\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R408",
        title: "a balance that lacks a clause",
        about: "A balance needs four clauses: the levels to search (`level`), the condition for a \
                candidate (`filter`), the choice among the candidates (`choose`), and the number \
                of tasks to take (`steal`).",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n}\n",
    },
    Code {
        code: "R409",
        title: "the queue to take from is unclear",
        about: "If the filter reads exactly one queue of the candidate, `steal` takes tasks from \
                this queue. Otherwise `steal` must name the queue.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = not idle(v)\n    choose \
                any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 from v.ready where me in allowed(t)\n    retry \
                untried\n}\n",
    },
    Code {
        code: "R411",
        title: "tasks are moved to the wrong place",
        about: "An idle CPU takes one task and runs it. More tasks would wait in the local queue \
                of this CPU, where no CPU finds them. From an ordinary queue, another CPU could \
                take the task back at once. A CPU that balances regularly may be busy. So it moves \
                tasks into its own queue: `steal 1 into me.ready`.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 4 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
];
