//! R5xx: partitions and the unsafe protocol.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R501",
        title: "the CPUs of a partition are invalid",
        about: "The CPUs of a partition are ranges from low to high (`cpus 0-3,8`), a group (`llc \
                0`, `node 1`) or `rest`. The highest CPU number is 8191.",
        wrong: "partition web on cpus 3-0 runs p for cgroup \"web*\"\n\
                partition others on rest runs p for rest\n",
        right: "partition web on cpus 0-3 runs p for cgroup \"web*\"\n\
                partition others on rest runs p for rest\n",
    },
    Code {
        code: "R502",
        title: "an unknown fault of the protocol",
        about: "`unsafe protocol` breaks the wakeup protocol in one of these ways: `enqueue: kick, \
                insert`, `idle: no_rescan`, `dispatch: no_chain`, `steal: unchecked`, `groups: \
                cpu0`. You can refute and simulate such a policy, but it is never emitted.",
        wrong: "unsafe protocol { steal: checked }\n",
        right: "unsafe protocol { steal: unchecked }\n",
    },
    Code {
        code: "R503",
        title: "a policy without CPUs",
        about: "A policy has the whole machine if it is the only policy in the file and there is \
                no partition. With several policies, partitions define which policy runs where. A \
                policy without a partition would never run.",
        wrong: "policy p {\n    queue all : fifo per machine\n    \
                on new(t), wake(t), preempt(t), yield(t) { put t in machine.all }\n    \
                on block(t), exit(t) { }\n    on dispatch(c) { take machine.all }\n}\n\
                policy long {\n    queue all : fifo per machine\n    \
                on new(t), wake(t), preempt(t), yield(t) { put t in machine.all slice 1s }\n    \
                on block(t), exit(t) { }\n    on dispatch(c) { take machine.all }\n}\n\
                partition all on rest runs p for rest\n",
        right: "policy p {\n    queue all : fifo per machine\n    \
                on new(t), wake(t), preempt(t), yield(t) { put t in machine.all }\n    \
                on block(t), exit(t) { }\n    on dispatch(c) { take machine.all }\n}\n\
                policy long {\n    queue all : fifo per machine\n    \
                on new(t), wake(t), preempt(t), yield(t) { put t in machine.all slice 1s }\n    \
                on block(t), exit(t) { }\n    on dispatch(c) { take machine.all }\n}\n\
                partition nightly on cpus 0-1 runs long for cgroup \"batch*\"\n\
                partition all on rest runs p for rest\n",
    },
    Code {
        code: "R504",
        title: "CPUs or tasks in no partition, or in two",
        about: "Every CPU and every task must belong to exactly one partition. So one partition is \
                `on rest`, and one is `for rest`. The other partitions must not overlap on any \
                machine: either all of them name CPUs by number, each CPU once, or all name \
                different groups of one level. Two partitions must not name the same cgroups or \
                commands.",
        wrong: "partition web on cpus 0-3 runs p for cgroup \"web*\"\n\
                partition db on cpus 3-5 runs p for cgroup \"db*\"\n\
                partition others on rest runs p for rest\n",
        right: "partition web on cpus 0-3 runs p for cgroup \"web*\"\n\
                partition db on cpus 4-5 runs p for cgroup \"db*\"\n\
                partition others on rest runs p for rest\n",
    },
];
