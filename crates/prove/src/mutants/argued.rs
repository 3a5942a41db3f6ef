//! Mutants that are neither refuted nor equivalent, each with an argument why no claim is broken.

use super::Mutant;

/// Why some mutants need not be refuted.
#[derive(Debug)]
pub struct Argument {
    /// Of these policies; of all if there are none.
    pub policies: &'static [&'static str],
    /// Of these operators.
    pub operators: &'static [&'static str],
    /// At sites that hold one of these texts.
    pub sites: &'static [&'static str],
    /// Why.
    pub why: &'static str,
}

impl Argument {
    fn fits(&self, mutant: &Mutant) -> bool {
        let policies = self.policies.is_empty() || self.policies.contains(&&*mutant.policy.name);
        let site = self.sites.iter().any(|text| mutant.site.text.contains(text));
        policies && self.operators.contains(&mutant.operator) && site
    }
}

/// The argument for a mutant: index into [`ARGUMENTS`].
pub fn argument(mutant: &Mutant) -> Option<usize> {
    ARGUMENTS.iter().position(|argument| argument.fits(mutant))
}

/// All of them. The first that fits is taken.
pub const ARGUMENTS: &[Argument] = &[
    Argument {
        policies: &[],
        operators: &["claim"],
        sites: &["claim"],
        why: "An idle CPU beyond that level is not sent to directly, but the put that follows \
              wakes it. Who is sent directly is not claimed.",
    },
    Argument {
        policies: &[],
        operators: &["for ever"],
        sites: &["run", "put"],
        why: "Whoever becomes idle takes who waits. How long a CPU is busy is not claimed: `wait` \
              counts dispatches, not time. global-fifo does so on purpose. Where a leader \
              balances, `hierarchy` refutes it.",
    },
    Argument {
        policies: &[],
        operators: &["exchange"],
        sites: &[
            "new and wake",
            "new and preempt",
            "new and yield",
            "wake and preempt",
            "wake and yield",
        ],
        why: "Both place their task once, where it is found, and a put wakes an idle CPU in each.",
    },
    Argument {
        policies: &[],
        operators: &["exchange", "empty"],
        sites: &["start", "stop", "tick", "block", "exit"],
        why: "Neither places a task. They note how long it ran and what its CPU runs, which \
              decides who goes first: nothing is claimed of that but that keys do not fall, and \
              no key falls that is not set.",
    },
    Argument {
        policies: &[],
        operators: &["attempts"],
        sites: &["dispatch"],
        why: "An idle CPU looks into the same queues. Which comes first matters to `wait` only, \
              which refutes it.",
    },
    Argument {
        policies: &[],
        operators: &["elsewhere"],
        sites: &["put"],
        why: "Idle CPUs find the task there, too, since they balance over the machine. A CPU that \
              always has work of its own never looks: `wait` claims that it need not, and refutes \
              this.",
    },
    Argument {
        policies: &[],
        operators: &["place", "off by one", "count"],
        sites: &["balance every: steal", "balance every"],
        why: "Not one obligation needs periodic balancing to move so many, or anybody: idle CPUs \
              find who waits. The filter is read again before each move, so that `settles` holds \
              of any number.",
    },
    Argument {
        policies: &[],
        operators: &["never", "compare"],
        sites: &["balance every: filter", "balance every: re-check"],
        why: "Moves fewer tasks, or none, and those still from a queue that is longer by two: \
              what `settles` says. Idle CPUs find who waits; how even queues are is not claimed.",
    },
    Argument {
        policies: &[],
        operators: &["no level", "narrow"],
        sites: &["balance every"],
        why: "Periodic balancing within a level is what fair-vtime does on purpose: idle CPUs \
              look at the machine. How even queues are is not claimed.",
    },
    Argument {
        policies: &[],
        operators: &["leader", "no leader"],
        sites: &["balance every"],
        why: "Any CPU may balance: each move is sound by itself, and every leader is there and \
              not held up.",
    },
    Argument {
        policies: &[],
        operators: &["no rebase"],
        sites: &["balance"],
        why: "The key of the task stays as it is, and so does not fall. How far it is from those \
              of its new queue is fairness, which is not claimed.",
    },
    Argument {
        policies: &["cfs", "vrt"],
        operators: &["drop"],
        sites: &["set"],
        why: "`vt_monotone` says that keys do not fall, not that they rise, and `lag` is not \
              claimed. Shares of CPU time are not what is proved.",
    },
    Argument {
        policies: &[],
        operators: &["swap"],
        sites: &["set", "if"],
        why: "The variables of the task are set before it is put, in either order; the order \
              decides its key, of which nothing is claimed, or nothing at all.",
    },
    Argument {
        policies: &[],
        operators: &["swap"],
        sites: &["put"],
        why: "What follows is a kick of a CPU that runs somebody, or who that is. If it comes \
              first it may be in vain, and the task waits; the put itself still wakes a CPU that \
              is idle.",
    },
];
