//! Known answers: small Histories of which the waste can be counted on fingers.

mod fairness;
mod sanity;
mod story;
mod violations;
mod waste;
