//! R7xx: what can be proved and simulated, but not emitted for a kernel.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R701",
        title: "an unsafe protocol is never emitted",
        about: "`unsafe protocol` breaks the protocol of wakeups and steals on purpose, to show \
                the consequences. `emit` refuses such a policy: a kernel gets only the safe \
                protocol.",
        wrong: "unsafe protocol { dispatch: no_chain }\n",
        right: "prove no_lost_wakeup\n",
    },
    Code {
        code: "R702",
        title: "a check that the kernel does not repeat",
        about: "When a CPU steals a task, the kernel checks only one condition again under the \
                lock of the queue: whether the task may run on this CPU (`where me in \
                allowed(t)`). `emit` refuses a stronger condition after `where`, although a proof \
                may use it.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t) and queued(v.ready) >= 2\n    \
                retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R703",
        title: "the file has no policy",
        about: "A file without a policy is valid, but it contains nothing that a kernel could run.",
        wrong: "// round robin\n",
        right: "// round robin\npolicy turns {\n    queue all : fifo per machine\n    \
                on new(t), wake(t), preempt(t), yield(t) { put t in machine.all }\n    \
                on block(t), exit(t) { }\n    on dispatch(c) { take machine.all }\n}\n",
    },
    Code {
        code: "R704",
        title: "the verifier of the kernel would reject the program",
        about: "A BPF program has 512 bytes of stack for all names that a handler binds, and at \
                most eight nested calls. Each set operator inside another set operator needs at \
                least one more of these calls. `emit` refuses code that certainly exceeds these \
                limits. The verifier also accepts at most one million instructions. Only a kernel \
                can check this limit: use `wastenot deploy --dry-run`.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1 and \
                (exists a in llc(v) : exists b in llc(a) : exists c in llc(b) : exists d in llc(c) \
                : exists e in llc(d) : exists g in llc(e) : idle(g))\n    choose any\n    \
                steal 1 from v.ready where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1 and \
                (exists a in llc(v) : idle(a))\n    choose any\n    \
                steal 1 from v.ready where me in allowed(t)\n    retry untried\n}\n",
    },
];
