//! Known answers: small Histories of which the waste can be counted on fingers.

mod account;
mod affinity;
mod causes;
mod costs;
mod doubt;
mod fairness;
mod first;
mod interrupts;
mod sanity;
mod stall;
mod story;
mod throttled;
mod violations;
mod waste;
