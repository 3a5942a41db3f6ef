//! The explorer: looks at every situation on every small machine, without any solver.

mod attempt;
mod conserve;
mod handler;
mod placing;
mod situation;

pub use attempt::{Step, failing};
pub use conserve::{Bounds, Found, not_conserving};
pub use placing::{Placed, placed, waits};
pub use situation::{Looking, Place, Situation, Task, World};
