//! R4xx: queues, balance and levels.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R401",
        title: "a queue that is not ordered so",
        about: "A queue is `fifo` or `ordered(VARIABLE)`, by a variable of tasks. Only an \
                ordered queue has a least key (`min_vt`), and only its own key can be carried \
                over to another queue (`rebase`), which is ordered by the same variable.",
        wrong: "on wake(t) {\n    t.vt := max(t.vt, min_vt(home(t).ready))\n    put t in \
                home(t).q\n}\n",
        right: "on wake(t) {\n    t.vt := max(t.vt, min_vt(home(t).q))\n    put t in \
                home(t).q\n}\n",
    },
    Code {
        code: "R402",
        title: "a group that is too wide",
        about: "A CPU has one LLC, and an LLC many CPUs. So a queue or variable of each CPU \
                cannot be asked of a group: name a CPU, or fold over them, `sum c in g : \
                queued(c.ready)`. The other way round is fine: the queue of an LLC can be asked \
                of each CPU in it.",
        wrong: "on tick(t) { if queued(llc(here).ready) >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R403",
        title: "a queue is no set of CPUs",
        about: "What waits in a queue cannot be gone through without its lock, neither here nor \
                in a kernel. Count it; whether a task may run here is asked when it is taken.",
        wrong: "balance idle {\n    level machine\n    \
                filter(me, v) = queued(v.ready) >= 1 and exists t in v.ready : idle(t)\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R404",
        title: "a queue has to stand here",
        about: "A queue is named by whose it is and which: `me.ready`, `home(t).ready`, \
                `machine.all`.",
        wrong: "on tick(t) { if queued(here) >= 1 { kick here } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here } }\n",
    },
    Code {
        code: "R405",
        title: "`balance idle` without its other half",
        about: "`dispatch` says when a CPU looks at the queues of others (`else balance idle`), \
                `balance idle { ... }` says how. One without the other does nothing.",
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
                first is wider than that of the queues: in one CPU there is no other CPU's \
                queue.",
        wrong: "balance idle {\n    level machine, node\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level node, machine\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R407",
        title: "said twice of a balance",
        about: "A policy has one `balance idle`, and a balance one clause of each kind. Several \
                levels stand in one clause: `level node, machine`.",
        wrong: "balance idle {\n    level node\n    level machine\n    \
                filter(me, v) = queued(v.ready) >= 1\n    choose any\n    \
                steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level node, machine\n    filter(me, v) = queued(v.ready) >= \
                1\n    choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R408",
        title: "a balance that lacks a clause",
        about: "A balance says where to look (`level`), from whom one may take (`filter`), whom of \
                these one takes from (`choose`) and what (`steal`).",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n}\n",
    },
    Code {
        code: "R409",
        title: "from which queue?",
        about: "Where the filter asks about one queue of the other, that one is stolen from. \
                Otherwise `steal` has to say it.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = not idle(v)\n    choose \
                any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 from v.ready where me in allowed(t)\n    retry \
                untried\n}\n",
    },
    Code {
        code: "R411",
        title: "tasks that are taken to the wrong place",
        about: "Who is idle takes one task, onto its own CPU: more would wait in a local queue \
                where nobody finds them, and what lay in a queue could be taken back at once. \
                Who balances regularly may be busy, and so takes into a queue of its own: \
                `steal 1 into me.ready`.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 4 where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
];
