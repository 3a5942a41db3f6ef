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

/// All of them.
pub const ARGUMENTS: &[Argument] = &[];
