//! What was found where it does not belong, most first, and why.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::page::seconds;
use super::score::{extra, is_above};
use super::truth::{Case, View};

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
              four passes only: 4 x (2 ms x CPUs + 4 ms), half a second on 64 CPUs, a quarter of \
              these runs. Waits of barriers and pipelines end before. What would tell: the passes \
              themselves (`sched_balance_rq`), or that over the whole recording no task is ever \
              moved from one set of CPUs to another.",
    },
    Miss {
        class: "scheduler/placement",
        found: "scheduler/balancing",
        why: "Under a search of one cache tasks are overloaded in turn, so that some CPU elsewhere \
              is idle beside waste for many passes, although no task waits that long. What would \
              tell: that each single wait is shorter than a pass.",
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
              held back at the same time and are released with it.",
    },
    Miss {
        class: "configuration/quota",
        found: "scheduler/balancing",
        why: "A quota makes the group leave some CPUs and not others; tasks then wait where there \
              is quota left while the CPUs that ran out are idle. The quota leads to this waste, \
              and the scheduler could still avoid it.",
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
              usual faults: more than where all CPUs are free. The fault leads to the loss, but \
              each wait had an idle CPU that was allowed.",
    },
    Miss {
        class: "configuration/affinity",
        found: "scheduler/balancing",
        why: "The same as with placement.",
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
        for (other, ns) in extra(&case.found[View::Whole as usize]) {
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
        let _ = writeln!(
            page,
            "- **{class}, found as {other}**: {} s; {} s of it in `causes {seed} {} {}` ({}, {}).",
            seconds(sum),
            seconds(worst),
            case.fault.name,
            case.number,
            case.machine,
            case.scheduler
        );
        if let Some(miss) = KNOWN.iter().find(|it| it.class == class && it.found == other) {
            wrap(page, miss.why);
        }
    }
}

/// The text in lines of the page's width, as part of an entry.
fn wrap(page: &mut String, text: &str) {
    const WIDTH: usize = 118;
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(page, "  {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    let _ = writeln!(page, "  {line}");
}
