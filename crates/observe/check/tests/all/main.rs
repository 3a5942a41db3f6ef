//! Known answers: small Histories with waste that is easy to count by hand.

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
