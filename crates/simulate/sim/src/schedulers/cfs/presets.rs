//! The four kernels of the family, and the tunables of each.

use super::Cfs;
use super::rules::{Era, Rules};
use crate::schedulers::{Make, Scheduler, Settings, Tunable, Values};

/// Linux 4.1: the kernel that "A Decade of Wasted Cores" patched.
pub(in crate::schedulers) const CFS_4_1: Scheduler = Scheduler {
    name: "cfs-4.1",
    about: "the Completely Fair Scheduler of Linux 4.1, with its four published bugs",
    source: "kernel/sched/{fair,core,proc}.c of Linux 4.1; Lozi et al., EuroSys 2016",
    groups: true,
    tunables: &tunables([
        "average", "core0", "lose", "llc", "before", "on", "off", "250", "cfs", "off",
    ]),
    make: Make::Policy(|settings: &Settings| {
        Box::new(Cfs::new(Rules::of("cfs-4.1", Era::V4, settings)))
    }),
};

/// Linux 5.10: after the rework of load balancing, before wake_affine checks whether prev is idle.
pub(in crate::schedulers) const CFS_5_10: Scheduler = Scheduler {
    name: "cfs-5.10",
    about: "the Completely Fair Scheduler of Linux 5.10",
    source: "kernel/sched/{fair,pelt,topology}.c of Linux 5.10; commits 0b0695f2b34a, 11f10e5420f6",
    groups: true,
    tunables: &from_5_5("before", "cfs", "off"),
    make: Make::Policy(|settings: &Settings| {
        Box::new(Cfs::new(Rules::of("cfs-5.10", Era::V5, settings)))
    }),
};

/// Linux 6.1: the last long-term kernel with CFS.
pub(in crate::schedulers) const CFS_6_1: Scheduler = Scheduler {
    name: "cfs-6.1",
    about: "the Completely Fair Scheduler of Linux 6.1",
    source: "kernel/sched/{fair,pelt,topology}.c of Linux 6.1; commit d8fcb81f1acf",
    groups: true,
    tunables: &from_5_5("after", "cfs", "off"),
    make: Make::Policy(|settings: &Settings| {
        Box::new(Cfs::new(Rules::of("cfs-6.1", Era::V6, settings)))
    }),
};

/// Linux 6.12: EEVDF queues under the same balancer.
pub(in crate::schedulers) const EEVDF_6_12: Scheduler = Scheduler {
    name: "eevdf-6.12",
    about: "earliest eligible virtual deadline first, of Linux 6.12",
    source: "kernel/sched/fair.c of Linux 6.12; Stoica and Abdel-Wahab 1995",
    groups: true,
    tunables: &from_5_5("after", "eevdf", "on"),
    make: Make::Policy(|settings: &Settings| {
        Box::new(Cfs::new(Rules::of("eevdf-6.12", Era::V6, settings)))
    }),
};

/// The tunables since the rework of load balancing in 5.5.
const fn from_5_5(
    wake_affine_idle: &'static str,
    queue: &'static str,
    delay_dequeue: &'static str,
) -> [Tunable; 10] {
    let (idle, delay) = (wake_affine_idle, delay_dequeue);
    tunables(["v5.5", "own-balanced", "keep", "llc", idle, "on", "on", "250", queue, delay])
}

/// All tunables with these defaults, in this order.
const fn tunables(defaults: [&'static str; 10]) -> [Tunable; 10] {
    const fn words(
        name: &'static str,
        about: &'static str,
        values: &'static [&'static str],
        default: &'static str,
    ) -> Tunable {
        Tunable { name, about, values: Values::Words(values), default }
    }
    [
        words(
            "imbalance",
            "the load that the balancer computes to compare two groups of CPUs",
            &["average", "minimum", "minimum-literal", "v5.5"],
            defaults[0],
        ),
        words(
            "groups",
            "whose view of the machine determines the scheduling groups: the view of CPU 0, or \
             each CPU's own view; with `own`, any CPU may balance",
            &["core0", "own", "own-balanced"],
            defaults[1],
        ),
        words(
            "numa-levels",
            "whether scheduling domains keep the levels between nodes when a CPU goes offline or \
             online",
            &["lose", "keep"],
            defaults[2],
        ),
        words(
            "wakeup",
            "the CPUs that are searched for an idle CPU when a task wakes up",
            &["llc", "longest-idle", "global"],
            defaults[3],
        ),
        words(
            "wake-affine-idle",
            "which cache a wakeup searches for an idle CPU if the previous CPU is idle. `after` \
             (since commit d8fcb81f1acf): the cache of the previous CPU. `before`: the cache of \
             the previous CPU or of the waker; a comparison of loads decides",
            &["before", "after"],
            defaults[4],
        ),
        words(
            "autogroup",
            "whether each session becomes a task group",
            &["on", "off"],
            defaults[5],
        ),
        words(
            "blocked-load",
            "whether sleeping tasks count in the load of their CPU",
            &["on", "off"],
            defaults[6],
        ),
        words("hz", "timer ticks per second", &["100", "250", "1000"], defaults[7]),
        words(
            "queue",
            "the rule that selects the next task on a CPU",
            &["cfs", "eevdf"],
            defaults[8],
        ),
        words(
            "delay-dequeue",
            "whether a task that falls asleep stays on the EEVDF queue while it is ahead of its \
             fair share (6.12)",
            &["on", "off"],
            defaults[9],
        ),
    ]
}
