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
        why: "If the task may run at `t.prev`, `t.prev` is its home. If it may not (its affinity \
            has changed), the mutant puts it into a queue from which possibly no CPU that may run \
            it dispatches, so it waits for an idle CPU that balances. Solvers show that each such \
            CPU finds it, so the task is not lost, and no CPU that may run it stays idle. But it \
            can starve if those CPUs always have other work. The claim `wait` excludes starvation, \
            so a policy with this claim refutes the mutants of this operator. The policies below \
            cannot claim `wait`, because in an ordered queue later tasks may go first, and \
            periodic balancing moves tasks behind others.",
    },
    Argument {
        policies: &["numa"],
        operators: &["negate", "always", "compare", "turn", "off by one"],
        sites: &["balance every: filter"],
        why: "`steal half(...)` moves no task unless the other queue is longer by two, whatever \
            the filter, so `settles` holds. The mutant also balances queues whose difference is \
            below `apart`. That is tuning: the original is proved for every value of `apart`, \
            including 0.",
    },
];
