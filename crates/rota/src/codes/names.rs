//! R1xx: names that nobody defined, or twice.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R101",
        title: "a name that is not known here",
        about: "Queues, variables, metrics and parameters are known in their whole policy, \
                wherever they are declared; metrics only after their declaration in other \
                metrics. Names of `let`, of handlers, filters and folds are known inside of \
                these only. Always known are `now`, `here` and `machine`.",
        wrong: "on tick(t) { if queued(here.redy) >= 1 { kick here preempt } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here preempt } }\n",
    },
    Code {
        code: "R102",
        title: "a word that names nothing",
        about: "Claims, and whatever else can only be one of a few, have names that are given. The \
                message tells the nearest; docs/reference/rota.md lists all.",
        wrong: "prove no_lost_tasks\n",
        right: "prove no_lost_task\n",
    },
    Code {
        code: "R103",
        title: "two of one name",
        about: "Within a policy all parameters, all variables of tasks, all variables of CPUs, \
                all queues and all metrics differ in their names, and within a file all policies \
                and all partitions do. So do the two names of a handler or filter. Tasks have \
                `prev`, `weight` and `job` already, and no metric is named as a call that is \
                built in. A claim stands there once, and so does a fault of the protocol.",
        wrong: "queue fast : fifo per cpu\nqueue fast : fifo per llc\n",
        right: "queue fast : fifo per cpu\nqueue near : fifo per llc\n",
    },
];
