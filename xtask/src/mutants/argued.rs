//! Mutants that are neither refuted nor shown to be no worse, each with an argument why no claim is
//! broken.

use super::Mutant;

/// Why some mutants need not be refuted.
#[derive(Debug)]
pub(crate) struct Argument {
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
pub(crate) fn argument(mutant: &Mutant) -> Option<usize> {
    ARGUMENTS.iter().position(|argument| argument.fits(mutant))
}

/// All of them. The first that fits is taken.
pub(crate) const ARGUMENTS: &[Argument] = &[
    Argument {
        policies: &["cfs", "vrt", "gang", "numa", "osv", "ule"],
        operators: &["elsewhere"],
        sites: &["put"],
        why: "If the task may run on `t.prev`, then `t.prev` is its home. A new affinity of the \
            task may exclude `t.prev`. Then the mutant may put the task into a wrong queue. The \
            CPUs that dispatch from this queue may not run the task. The task then waits for an \
            idle CPU that balances. Solvers show that each idle CPU that may run the task finds \
            it. So the task is not lost, and no CPU that may run it stays idle. But the task can \
            starve if these CPUs always have other work. The claim `wait` says that no task \
            starves. So if a policy claims `wait`, the mutants of this operator are refuted. The \
            policies below cannot claim `wait`, for two reasons. In an ordered queue, later tasks \
            may run first. Periodic balancing may move a task to a queue where it waits behind \
            other tasks.",
    },
    Argument {
        policies: &["numa"],
        operators: &["negate", "always", "compare", "turn", "off by one"],
        sites: &["balance every: filter"],
        why: "The operation `steal half(...)` moves a task only if the other queue has at least \
            two more tasks. This is true for every filter. So `settles` holds. The mutant also \
            moves tasks between two queues whose lengths differ by less than `apart`. No claim \
            depends on these moves, because the prover proves the original for every value of \
            `apart`, including 0.",
    },
];
