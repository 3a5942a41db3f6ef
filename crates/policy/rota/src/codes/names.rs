//! R1xx: names that are unknown, or defined twice.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R101",
        title: "a name that is not known here",
        about: "Queues, variables, metrics and parameters are known in their whole policy. There \
                is one exception: a metric can use only metrics that are declared above it. Names \
                that `let`, a handler, a filter or a fold declares are known only inside the same \
                block, handler, filter or fold. `now`, `here` and `machine` are always known.",
        wrong: "on tick(t) { if queued(here.redy) >= 1 { kick here preempt } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here preempt } }\n",
    },
    Code {
        code: "R102",
        title: "an unknown name",
        about: "Some places accept only a few fixed words, for example claims. The message shows \
                the nearest word; docs/reference/rota.md lists all of them.",
        wrong: "prove no_lost_tasks\n",
        right: "prove no_lost_task\n",
    },
    Code {
        code: "R103",
        title: "one name for two things",
        about: "Names must be unique. In a policy, this applies separately to parameters, task \
                variables, CPU variables, queues and metrics. In a file, it applies to policies \
                and to partitions. The two names of a handler or filter must also differ. `prev`, \
                `weight` and `job` are built-in task variables. A metric cannot have the name of a \
                built-in call. A claim or a fault of the protocol may occur only once.",
        wrong: "queue fast : fifo per cpu\nqueue fast : fifo per llc\n",
        right: "queue fast : fifo per cpu\nqueue near : fifo per llc\n",
    },
];
