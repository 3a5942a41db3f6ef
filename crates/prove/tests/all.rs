//! Tests of the whole crate.

#[cfg(test)]
#[path = "all/certificate.rs"]
mod certificate;
#[cfg(test)]
#[path = "all/gallery.rs"]
mod gallery;
#[cfg(test)]
#[path = "all/interpreted.rs"]
mod interpreted;
#[cfg(test)]
#[path = "all/mutants.rs"]
mod mutants;
#[cfg(test)]
#[path = "all/random.rs"]
mod random;
#[cfg(test)]
#[path = "all/solvers.rs"]
mod solvers;
#[cfg(test)]
#[path = "all/wakeup.rs"]
mod wakeup;
