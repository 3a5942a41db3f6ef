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
        why: "Where the task may run at `t.prev`, that is its home. Where it may not (its affinity \
              was changed), it is put into a queue that no CPU which may run it need take from, \
              and waits for one that is idle and balances: solvers show that each finds it, so it \
              is not lost, and no CPU is idle beside it. What it can do is starve, if those CPUs \
              always have work of their own. `wait` excludes that, and refutes this operator where \
              it is claimed; these policies cannot claim it, since in an ordered queue later tasks \
              go first, and periodic balancing moves tasks behind others.",
    },
    Argument {
        policies: &["numa"],
        operators: &["negate", "always", "compare", "turn", "off by one"],
        sites: &["balance every: filter"],
        why: "`steal half(...)` moves nobody unless the other queue is longer by two, whatever the \
              filter says, so `settles` holds. Queues are evened out that `apart` would have let \
              drift: that is tuning, and the original is proved of any value of `apart`, 0 too.",
    },
];
