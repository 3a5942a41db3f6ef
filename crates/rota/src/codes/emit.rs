//! R7xx: what is not emitted as BPF C, although it can be proved or simulated.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R701",
        title: "an unsafe protocol is never emitted",
        about: "`unsafe protocol` is there to see in a model what a fault of the protocol does. A \
                kernel that ran it would lose wakeups.",
        wrong: "policy p {\n    queue q : fifo per cpu\n    on new(t), wake(t), preempt(t), yield(t) \
                { put t in home(t).q }\n    on block(t), exit(t) { }\n    on dispatch(c) { take c.q }\n    \
                unsafe protocol { dispatch: no_chain }\n}\n",
        right: "policy p {\n    queue q : fifo per cpu\n    on new(t), wake(t), preempt(t), yield(t) \
                { put t in home(t).q }\n    on block(t), exit(t) { }\n    on dispatch(c) { take c.q }\n}\n",
    },
    Code {
        code: "R702",
        title: "the kernel does not re-check this",
        about: "A steal asks again under the lock of the queue only whether a task there may run \
                on the thief. A `where` that asks for more holds of the model, not of emitted code.",
        wrong: "policy p {\n    queue q : fifo per cpu\n    on new(t), wake(t), preempt(t), yield(t) \
                { put t in home(t).q }\n    on block(t), exit(t) { }\n    on dispatch(c) { take c.q else \
                balance idle }\n    balance idle {\n        level machine\n        \
                filter(me, v) = queued(v.q) >= 1\n        choose any\n        \
                steal 1 where me in allowed(t) and queued(v.q) >= 2\n    }\n}\n",
        right: "policy p {\n    queue q : fifo per cpu\n    on new(t), wake(t), preempt(t), yield(t) \
                { put t in home(t).q }\n    on block(t), exit(t) { }\n    on dispatch(c) { take c.q else \
                balance idle }\n    balance idle {\n        level machine\n        \
                filter(me, v) = queued(v.q) >= 1\n        choose any\n        \
                steal 1 where me in allowed(t)\n    }\n}\n",
    },
];
