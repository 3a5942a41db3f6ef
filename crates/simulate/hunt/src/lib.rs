//! Searches for the machine and the work on which a scheduler breaks its promise.
//!
//! Scheduler faults are found late, because a workload that shows one is rare, and because nothing
//! crashes. Here a *genome* ([`genome`]) is a machine and a workload, as a scenario; a *trial*
//! ([`trial`]) runs it in the simulator; an *oracle* ([`oracle`]) says what of the waste, by its
//! cause, the scheduler promises not to have; a *search* ([`search`]) varies what is worst of each
//! kind, beside genomes at random; a *finding* ([`finding`]) is there with three seeds and gone in
//! a control; and it is *shrunk* ([`shrink`]) to what a reader can take in.

pub mod archive;
pub mod decisions;
pub mod finding;
pub mod genome;
pub mod oracle;
mod output;
mod report;
pub mod search;
pub mod shrink;
pub mod trial;
mod watch;
