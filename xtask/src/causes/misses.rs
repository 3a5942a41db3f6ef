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
        why: "A task is placed on a busy CPU while another CPU is idle. The wait has two causes: \
              this placement, and balancing, which does not move the task to the idle CPU. `check` \
              reports a cause in balancing only if a CPU stays idle for four balancing passes, 4 x \
              (2 ms x CPUs + 4 ms). On 64 CPUs this is half a second, which is a quarter of the \
              length of these runs. If no CPU stays idle for so long, `check` misses the cause, \
              mostly on 48 and 64 CPUs. Better evidence would be events of the passes themselves \
              (`sched_balance_rq`), or the fact that no task ever moves from some CPUs to some \
              other CPUs.",
    },
    Miss {
        class: "scheduler/placement",
        found: "scheduler/balancing",
        why: "A wakeup searches only the CPUs of one cache for an idle CPU. So the CPUs of this \
            cache have too many tasks, and their tasks wait in turn. Meanwhile a CPU with another \
            cache is idle for many balancing passes, so `check` reports balancing. In the examined \
            case, each single wait is shorter than a millisecond. Better evidence would be that \
            each wait ends before the next tick.",
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
              wait on CPUs that still have quota. `check` takes these tasks for movable, but on \
              the idle CPUs they would be held back, too. In the two examined cases, at least 95 % \
              of the waste arises in this way. Better evidence would be that tasks of the same \
              cgroup are held back on the idle CPU.",
    },
    Miss {
        class: "configuration/quota",
        found: "scheduler/placement",
        why: "The reason is the same as with balancing.",
    },
    Miss {
        class: "configuration/affinity",
        found: "scheduler/placement",
        why: "Affinities leave few CPUs to the tasks, and on these CPUs the scheduler makes its \
            usual mistakes. On few CPUs, these mistakes cost more time than on all CPUs. So the \
            fault (the affinities) increases the loss. `check` reports the scheduler because \
            during each wait, a CPU that the task may use was idle.",
    },
    Miss {
        class: "configuration/affinity",
        found: "scheduler/balancing",
        why: "The reason is the same as with placement.",
    },
    Miss {
        class: "scheduler/balancing",
        found: "configuration/affinity",
        why: "Balancing leaves some CPUs idle. At the same time, pinned tasks wait on other CPUs, \
              and `check` reports their affinities.",
    },
    Miss {
        class: "scheduler/policy",
        found: "configuration/affinity",
        why: "The wrong policy leaves some CPUs idle. At the same time, pinned tasks wait on other \
            CPUs, and `check` reports their affinities. With the correct policy, the same pinned \
            tasks wait. But no CPU is idle during these waits, so there is no loss.",
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
              gives the case with the largest part, and the reason if we examined it.\n\n";
    for ((class, other), (sum, worst, case)) in sums.into_iter().take(SHOWN) {
        let Case { fault, number, machine, scheduler, .. } = case;
        let why = KNOWN.iter().find(|it| it.class == class && it.found == other);
        let text = format!(
            "**{class}, found as {other}**: {} s. The largest part is {} s, in `causes {seed} {} \
             {number}` ({machine}, {scheduler}). {}",
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
const REST: &str = "**Left with the fault off**: a class contains the fault's cause and other \
                    causes, which also exist without the fault. With `wake-affine-idle` off, \
                    wakeups still search only one cache, and this is also a placement cause. With \
                    `groups` and `imbalance` off, tasks still wait because of other faults of \
                    balancing. Only leaves can separate these causes from the fault.";

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
