//! R7xx: what can be proved and simulated, but not emitted for a kernel.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R701",
        title: "an unsafe protocol is never emitted",
        about: "`unsafe protocol` loses wakeups or steals wrongly on purpose, to show the \
                consequences. Only the safe protocol is emitted for a kernel.",
        wrong: "unsafe protocol { dispatch: no_chain }\n",
        right: "prove no_lost_wakeup\n",
    },
    Code {
        code: "R702",
        title: "a re-check that the kernel does not make",
        about: "When a task is stolen, the kernel checks again, under the lock of the queue, \
                whether there is a task that may run here: `where me in allowed(t)`. It checks \
                nothing else. A stronger `where` can be proved in the model only.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t) and queued(v.ready) >= 2\n    \
                retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1\n    \
                choose any\n    steal 1 where me in allowed(t)\n    retry untried\n}\n",
    },
    Code {
        code: "R703",
        title: "no policy",
        about: "A file without a policy has no errors, but it contains nothing that a kernel could \
                run.",
        wrong: "// round robin\n",
        right: "// round robin\npolicy turns {\n    queue all : fifo per machine\n    \
                on new(t), wake(t), preempt(t), yield(t) { put t in machine.all }\n    \
                on block(t), exit(t) { }\n    on dispatch(c) { take machine.all }\n}\n",
    },
    Code {
        code: "R704",
        title: "beyond what the verifier of a kernel takes",
        about: "A program in the kernel has 512 bytes of stack, for all names that a handler binds, \
                and eight calls within each other, of which each set operator within another one \
                takes at least one. `emit` refuses what is surely beyond that. Whether all else \
                is within a million instructions only a kernel tells: `wastenot deploy --dry-run`.",
        wrong: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1 and \
                (exists a in llc(v) : exists b in llc(a) : exists c in llc(b) : exists d in llc(c) \
                : exists e in llc(d) : exists g in llc(e) : idle(g))\n    choose any\n    \
                steal 1 from v.ready where me in allowed(t)\n    retry untried\n}\n",
        right: "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= 1 and \
                (exists a in llc(v) : idle(a))\n    choose any\n    \
                steal 1 from v.ready where me in allowed(t)\n    retry untried\n}\n",
    },
];
