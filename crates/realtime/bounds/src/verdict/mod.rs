//! The one question about a task set ([`Question`]), and its answer ([`Judgement`]).
//!
//! A sufficient test that rejects says nothing: only a [`Witness`] makes a set unschedulable.

mod ask;
mod cluster;
mod fit;
mod judge;
mod question;
mod reason;
mod test;
mod witness;

pub use cluster::{Cluster, Proof};
pub use fit::{Enough, Scale};
pub use judge::{Judgement, Partitioning};
pub use question::{Budgets, Charge, Question, Spend};
pub use reason::Reason;
pub use test::Test;
pub use witness::{Alone, Witness, utilization};

/// Whether deadlines hold under global EDF.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict<M> {
    /// Yes, whatever the tie-breaking rule, whenever jobs come.
    Schedulable(Proof),
    /// No.
    Unschedulable(Witness<M>),
    /// Neither is shown.
    Unknown,
}

impl<M> Verdict<M> {
    /// In JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Schedulable(_) => "schedulable",
            Verdict::Unschedulable(_) => "unschedulable",
            Verdict::Unknown => "unknown",
        }
    }
    /// Whether deadlines hold.
    pub fn is_schedulable(&self) -> bool {
        matches!(self, Verdict::Schedulable(_))
    }
}
