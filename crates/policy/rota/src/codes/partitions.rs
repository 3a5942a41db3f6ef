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
                cpu0`. You can simulate such a policy and refute its claims, but `emit` refuses \
                the policy.",
        wrong: "unsafe protocol { steal: checked }\n",
        right: "unsafe protocol { steal: unchecked }\n",
    },
    Code {
        code: "R503",
        title: "a policy without CPUs",
        about: "If a file has one policy and no partition, this policy runs on the whole machine. \
                If a file has several policies, partitions define which policy runs on which CPUs. \
                Then a policy that no partition names would never run.",
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
        title: "a CPU or task in no partition, or in two partitions",
        about: "Every CPU and every task must belong to exactly one partition. So one partition \
                must have `on rest`, and one partition must have `for rest`. The other partitions \
                must not overlap on any machine. Either all of them name CPUs by number, and each \
                CPU occurs once. Or all of them name groups of one level, and each group occurs \
                once. Two partitions must not name the same cgroups or commands.",
        wrong: "partition web on cpus 0-3 runs p for cgroup \"web*\"\n\
                partition db on cpus 3-5 runs p for cgroup \"db*\"\n\
                partition others on rest runs p for rest\n",
        right: "partition web on cpus 0-3 runs p for cgroup \"web*\"\n\
                partition db on cpus 4-5 runs p for cgroup \"db*\"\n\
                partition others on rest runs p for rest\n",
    },
];
