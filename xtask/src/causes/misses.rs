//! What was found where it does not belong, most first, and why.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::score::{extra, is_above};
use super::seconds;
use super::truth::{Case, Grain, View};

/// A confusion that was looked into.
struct Miss {
    class: &'static str,
    found: &'static str,
    why: &'static str,
}

const KNOWN: &[Miss] = &[
    Miss {
        class: "scheduler/balancing",
        found: "scheduler/placement",
        why: "A task is placed on a busy CPU while another CPU is idle. The wait of this task has \
              two causes. The first cause is this placement. The second cause is balancing, which \
              does not move the task to the idle CPU. `check` reports a cause in balancing only if \
              a CPU stays idle during four balancing passes. Four passes take 4 x (2 ms x CPUs + 4 \
              ms). On 64 CPUs, this time is half a second, and these runs are only four times as \
              long. If no CPU stays idle for so long, `check` misses the cause. Most of these \
              misses are on machines with 48 and 64 CPUs. Events of the balancing passes \
              (`sched_balance_rq`) would be better evidence. Other evidence would be that no task \
              ever moves from one group of CPUs to another group.",
    },
    Miss {
        class: "scheduler/placement",
        found: "scheduler/balancing",
        why: "A wakeup searches only the CPUs of one cache for an idle CPU. So the CPUs of this \
              cache have too many tasks, and these tasks take turns. Meanwhile, a CPU that uses \
              another cache is idle during many balancing passes. For this reason, `check` reports \
              balancing as the cause. In the examined case, each wait of a task is shorter than a \
              millisecond. A better rule would test whether each wait ends before the next tick.",
    },
    Miss {
        class: "design/reserved",
        found: "scheduler/policy",
        why: "The policy (in Rota) divides the CPUs into partitions. A trace contains the name of \
            the policy, but not the partitions. Better evidence would be that tasks of different \
            cgroups never run on the same CPU.",
    },
    Miss {
        class: "configuration/quota",
        found: "host/late-start",
        why: "Balancing moves a task to a CPU where its group has just used up its quota. The task \
            is held back there, but simulated traces have no event for this. So the CPU seems to \
            start the task late. Better evidence would be that other tasks of the group are held \
            back on that CPU.",
    },
    Miss {
        class: "configuration/quota",
        found: "scheduler/balancing",
        why: "Some CPUs are idle because the group has used up its quota there. Tasks of the group \
              wait on CPUs that still have quota. `check` assumes that these tasks may move to the \
              idle CPUs, but the quota would hold them back there, too. In the two examined cases, \
              at least 95 % of the waste arises in this way. Better evidence would be that tasks \
              of the same cgroup are held back on the idle CPU.",
    },
    Miss {
        class: "configuration/quota",
        found: "scheduler/placement",
        why: "Some CPUs are idle because a group has used up its quota there. `check` assumes that \
              waiting tasks of this group may run on these CPUs, but the quota would hold them \
              back there, too.",
    },
    Miss {
        class: "configuration/affinity",
        found: "scheduler/placement",
        why: "The affinities of the tasks permit only a few CPUs. On these few CPUs, the scheduler \
              makes its usual mistakes. The same mistakes cost more time on few CPUs than on all \
              CPUs. So the fault (the affinities) increases the loss. During each wait of a task, \
              another CPU that the task may use is idle. For this reason, `check` reports a cause \
              in the scheduler.",
    },
    Miss {
        class: "configuration/affinity",
        found: "scheduler/balancing",
        why: "The reason is the same as for configuration/affinity, found as scheduler/placement.",
    },
    Miss {
        class: "scheduler/balancing",
        found: "configuration/affinity",
        why: "Balancing leaves some CPUs idle. At the same time, pinned tasks wait on other CPUs, \
              and `check` reports the affinities of these tasks as the cause.",
    },
    Miss {
        class: "scheduler/policy",
        found: "configuration/affinity",
        why: "The wrong policy leaves some CPUs idle. At the same time, pinned tasks wait on other \
              CPUs, and `check` reports the affinities of these tasks as the cause. With the \
              correct policy, the same pinned tasks wait, too. But no CPU is idle during these \
              waits, so there is no loss.",
    },
];

/// The confusions that take most time.
const SHOWN: usize = 10;

/// The section of misses.
pub(super) fn section(page: &mut String, seed: u64, cases: &[Case]) {
    let mut sums: BTreeMap<(&str, &str), (f64, f64, &Case)> = BTreeMap::new();
    for case in cases {
        let class = case.fault.class;
        for (other, ns) in extra(&case.found[View::Whole as usize].by[Grain::Class as usize]) {
            if other == class || is_above(other, class) {
                continue;
            }
            let (sum, worst, which) = sums.entry((class, other)).or_insert((0.0, 0.0, case));
            *sum += ns;
            if ns > *worst {
                (*worst, *which) = (ns, case);
            }
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    *page += "\n## Misses\n\nThis section lists the largest confusions. For each confusion, it \
              gives the total time and the case with the largest part of this time. If we examined \
              this case, it also gives the reason.\n\n";
    for ((class, other), (sum, worst, case)) in sums.into_iter().take(SHOWN) {
        let Case { fault, number, machine, scheduler, .. } = case;
        let why = KNOWN.iter().find(|it| it.class == class && it.found == other);
        let text = format!(
            "**{class}, found as {other}**: {} s. The largest part of this time, {} s, is in the \
             case `causes {seed} {} {number}` ({machine}, {scheduler}). {}",
            seconds(sum),
            seconds(worst),
            fault.name,
            why.map_or("", |miss| miss.why)
        );
        entry(page, &text);
    }
    entry(page, REST);
}

/// Why a class gets time with its fault off.
const REST: &str = "**Left with the fault off**: `check` may find time in the fault's class \
                    although the fault is off. The reason is that the class also contains causes \
                    that exist without the fault. For example, if `wake-affine-idle` is off, \
                    wakeups still search only one cache. This search is also a cause in placement. \
                    If `groups` or `imbalance` is off, tasks still wait because of other faults of \
                    balancing. Only the leaves of the tree distinguish these causes from the \
                    fault.";

/// An entry of a list, in lines of the page's width.
fn entry(page: &mut String, text: &str) {
    const WIDTH: usize = 118;
    let mut line = String::new();
    let mut begin = "- ";
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(page, "{begin}{line}");
            (line, begin) = (String::new(), "  ");
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    let _ = writeln!(page, "{begin}{line}");
}
