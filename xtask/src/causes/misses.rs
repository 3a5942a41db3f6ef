//! What was found where it does not belong, most first, and why.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::page::seconds;
use super::score::{extra, is_above};
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
        why: "A task that is put on a busy CPU while another one is idle waits because of the \
              placement and because balancing does not take it away. Balancing is established by \
              four passes, 4 x (2 ms x CPUs + 4 ms): half a second on 64 CPUs, a quarter of these \
              runs. It is missed mostly on 48 and 64 CPUs, and where no CPU stays idle for so \
              long. What would tell: the passes themselves (`sched_balance_rq`), or that in the \
              whole recording no task is moved from some CPUs to some others.",
    },
    Miss {
        class: "scheduler/placement",
        found: "scheduler/balancing",
        why: "Tasks are overloaded in turn under a search of one cache. A CPU elsewhere is idle \
              beside this waste for many passes, although no task waits for a millisecond (in a \
              case that was looked into). What would tell: that each single wait ends before a \
              tick comes.",
    },
    Miss {
        class: "design/reserved",
        found: "scheduler/policy",
        why: "Partitions in Rota: a History names the policy, not that it divides CPUs. What would \
              tell: the sets of CPUs on which the tasks of each cgroup ever run do not meet.",
    },
    Miss {
        class: "configuration/quota",
        found: "host/late-start",
        why: "A task that balancing moves to a CPU where its group has just run out of quota is \
              held back without a row about it (a gap in simulated Histories), so that the CPU \
              seems to start it late. What would tell: other tasks of its group on that CPU are \
              held back.",
    },
    Miss {
        class: "configuration/quota",
        found: "scheduler/balancing",
        why: "CPUs where the group has run out of quota are idle, and its tasks wait on CPUs that \
              have some left. They count as movable, but would be held back there, too. In two \
              cases that were looked into this is 95 % of the waste and more. What would tell: \
              the idle CPU is the place of tasks of the same cgroup that are held back.",
    },
    Miss {
        class: "configuration/quota",
        found: "scheduler/placement",
        why: "The same as with balancing.",
    },
    Miss {
        class: "configuration/affinity",
        found: "scheduler/placement",
        why: "Affinities leave few CPUs to the tasks, and among these the scheduler makes its \
              usual faults, which cost more than where all CPUs are free. The fault leads to the \
              loss, but each wait had an idle CPU that was allowed.",
    },
    Miss {
        class: "configuration/affinity",
        found: "scheduler/balancing",
        why: "The same as with placement.",
    },
    Miss {
        class: "scheduler/balancing",
        found: "configuration/affinity",
        why: "CPUs that balancing leaves idle stand beside bound tasks that wait elsewhere.",
    },
    Miss {
        class: "scheduler/policy",
        found: "configuration/affinity",
        why: "CPUs that the wrong policy leaves idle stand beside bound tasks that wait elsewhere. \
              With the right policy the same bound tasks wait, but no CPU is idle meanwhile.",
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
    *page += "\n## Misses\n\nThe largest confusions; the case that has most of each; and what was \
              learned about it, where it was looked into.\n\n";
    for ((class, other), (sum, worst, case)) in sums.into_iter().take(SHOWN) {
        let Case { fault, number, machine, scheduler, .. } = case;
        let why = KNOWN.iter().find(|it| it.class == class && it.found == other);
        let text = format!(
            "**{class}, found as {other}**: {} s; {} s of it in `causes {seed} {} {number}` \
             ({machine}, {scheduler}). {}",
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
const REST: &str = "**Left with the fault off**: A class has more causes than the fault. With \
    `wake-affine-idle` off, wakeups still search one cache only, which is placement, too; with \
    `groups` and `imbalance` off, balancing still leaves tasks for other reasons. Only leaves \
    would tell these from the fault.";

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
