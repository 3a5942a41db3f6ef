//! R1xx: names that are unknown, or defined twice.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R101",
        title: "a name that is not known here",
        about: "Queues, variables, metrics and parameters can be used everywhere in their policy. \
                There is one exception: a metric can use only metrics that are declared above it. \
                A name that `let` declares can be used only in the same block. The names that a \
                handler, a filter or a fold declares can be used only inside this handler, filter \
                or fold. `now`, `here` and `machine` are always known.",
        wrong: "on tick(t) { if queued(here.redy) >= 1 { kick here preempt } }\n",
        right: "on tick(t) { if queued(here.ready) >= 1 { kick here preempt } }\n",
    },
    Code {
        code: "R102",
        title: "an unknown name",
        about: "Some places accept only a few fixed words: for example, `prove` accepts only the \
                names of claims. The message shows the nearest word. docs/reference/rota.md lists \
                all words.",
        wrong: "prove no_lost_tasks\n",
        right: "prove no_lost_task\n",
    },
    Code {
        code: "R103",
        title: "one name for two things",
        about: "In a policy, the names of each kind must be unique: parameters, task variables, \
                CPU variables, queues and metrics. In a file, the names of policies must be \
                unique, and the names of partitions too. The two names that a handler or filter \
                declares must also differ. `prev`, `weight` and `job` are built-in task variables. \
                A metric cannot have the name of a built-in call. A policy may name each claim and \
                each fault of the protocol only once.",
        wrong: "queue fast : fifo per cpu\nqueue fast : fifo per llc\n",
        right: "queue fast : fifo per cpu\nqueue near : fifo per llc\n",
    },
];
