//! Tests of the whole crate.

#[cfg(test)]
mod certificate;
#[cfg(test)]
mod conforms;
#[cfg(test)]
mod conforms_rules;
mod decided;
#[cfg(test)]
mod false_proofs;
#[cfg(test)]
mod false_refutations;
#[cfg(test)]
mod farther;
mod gallery;
#[cfg(test)]
mod ground;
#[cfg(test)]
mod interpreted;
#[cfg(test)]
mod partitions;
mod random;
#[cfg(test)]
mod real_refutations;
mod remarks;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod solvers;
#[cfg(test)]
mod theorems;
#[cfg(test)]
mod wakeup;
mod warnings;
#[cfg(test)]
mod words;
