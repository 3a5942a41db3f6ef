//! The explorer: looks at every situation on every small machine, without any solver.

mod attempt;
mod claims;
mod handler;
mod keys;
mod periodic;
mod placing;
mod search;
mod situation;

pub use attempt::{Events, Step, failing};
pub use placing::{Placed, placed, waits};
pub use search::{Bounds, Found, Searched, search};
pub use situation::{Looking, Place, Situation, Task, World};
