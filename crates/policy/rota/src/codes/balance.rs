//! R4xx: queues, balance and levels.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R401",
        title: "a queue with another order",
        about: "A queue is `fifo`, or `ordered(VARIABLE)` by a task variable. Only an ordered \
                queue has a least key (`min_vt`). Only its own key can be carried over to another \
                queue (`rebase`), and that queue must be ordered by the same variable.",
        wrong: "on wake(t) {\n    t.vt := max(t.vt, min_vt(home(t).ready))\n    put t in \
                home(t).q\n}\n",
        right: "on wake(t) {\n    t.vt := max(t.vt, min_vt(home(t).q))\n    put t in \
                home(t).q\n}\n",
    },
    Code {
        code: "R402",
        title: "a group that is too wide",
        about: "A CPU has one LLC, but an LLC has many CPUs. So a group has no queue or variable \
                that is per CPU: name a CPU, or fold over the CPUs, `sum c in g : \
                queued(c.ready)`. The other direction is allowed: a CPU stands for its LLC where a \
                queue is per LLC.",
        wrong: "on tick(t) { if queued(llc(here).ready) >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R403",
        title: "a queue is not a set of CPUs",
        about: "The tasks in a queue cannot be walked without its lock, neither here nor in a \
                kernel. Count them instead; whether a task may run here is checked when the task \
                is taken.",
        wrong: "balance idle {\n    level machine\n    \
                filter(me, v) = queued(v.ready) >= 1 and exists t in v.ready : idle(t)\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R404",
        title: "a queue is required here",
        about: "A queue is named by its place and its name: `me.ready`, `home(t).ready`, \
                `machine.all`.",
        wrong: "on tick(t) { if queued(here) >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R405",
        title: "`balance idle` without its other half",
        about: "`else balance idle` in `dispatch` is when a CPU looks at the queues of other CPUs, \
                `balance idle { ... }` is how. One without the other has no effect.",
        wrong: "on dispatch(c) { take c.ready }\nbalance idle {\n    level machine\n    \
                filter(me, v) = queued(v.ready) >= 1\n    choose any\n    \
                steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "on dispatch(c) { take c.ready else balance idle }\nbalance idle {\n    level \
                machine\n    filter(me, v) = queued(v.ready) >= 1\n    choose any\n    steal 1 \
                where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R406",
        title: "levels in the wrong order, or too narrow",
        about: "Levels go from narrow to wide: cpu, smt, llc, node, machine. In a balance the \
                first level is wider than that of the queues: a group of one CPU holds no other \
                CPU's queue.",
        wrong: "balance idle {\n    level machine, node\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level node, machine\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R407",
        title: "a balance or clause that occurs twice",
        about: "A policy has one `balance idle`, and a balance one clause of each kind. Several \
                levels go in one clause: `level node, machine`.",
        wrong: "balance idle {\n    level node\n    level machine\n    \
                filter(me, v) = queued(v.ready) >= 1\n    choose any\n    \
                steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level node, machine\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R408",
        title: "a balance that lacks a clause",
        about: "A balance needs the levels to search (`level`), the condition for a candidate \
                (`filter`), the choice among the candidates (`choose`), and what to take \
                (`steal`).",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n}\n",
    },
    Code {
        code: "R409",
        title: "from which queue?",
        about: "If the filter reads exactly one queue of the candidate, tasks are taken from that \
                queue. Otherwise `steal` must name the queue.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = not idle(v)\n    choose \
                any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 from v.ready where me in allowed(t)\n    retry \
                untried\n}\n",
    },
    Code {
        code: "R411",
        title: "tasks that are moved to the wrong place",
        about: "An idle CPU takes one task and runs it: more tasks would wait in a local queue \
                where no CPU finds them, and a task in an ordinary queue could be taken back at \
                once. A CPU that balances regularly may be busy, so it takes tasks into a queue of \
                its own: `steal 1 into me.ready`.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 4 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
];
