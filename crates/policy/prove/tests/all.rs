//! Tests of the whole crate.

#[cfg(test)]
#[path = "all/certificate.rs"]
mod certificate;
#[cfg(test)]
#[path = "all/circles.rs"]
mod circles;
#[cfg(test)]
#[path = "all/conforms.rs"]
mod conforms;
#[cfg(test)]
#[path = "all/conforms_rules.rs"]
mod conforms_rules;
#[path = "all/decided.rs"]
mod decided;
#[cfg(test)]
#[path = "all/false_proofs.rs"]
mod false_proofs;
#[cfg(test)]
#[path = "all/false_refutations.rs"]
mod false_refutations;
#[cfg(test)]
#[path = "all/farther.rs"]
mod farther;
#[path = "all/gallery.rs"]
mod gallery;
#[cfg(test)]
#[path = "all/ground.rs"]
mod ground;
#[cfg(test)]
#[path = "all/interpreted.rs"]
mod interpreted;
#[cfg(test)]
#[path = "all/partitions.rs"]
mod partitions;
#[path = "all/random.rs"]
mod random;
#[cfg(test)]
#[path = "all/real_refutations.rs"]
mod real_refutations;
#[path = "all/remarks.rs"]
mod remarks;
#[cfg(test)]
#[path = "all/replay.rs"]
mod replay;
#[cfg(test)]
#[path = "all/solvers.rs"]
mod solvers;
#[cfg(test)]
#[path = "all/theorems/mod.rs"]
mod theorems;
#[cfg(test)]
#[path = "all/wakeup.rs"]
mod wakeup;
#[path = "all/warnings.rs"]
mod warnings;
#[cfg(test)]
#[path = "all/words.rs"]
mod words;
