//! The explorer: looks at every situation on every small machine, without any solver.

mod placing;
mod situation;

pub use placing::{Placed, placed, waits};
pub use situation::{Looking, Place, Situation, Task, World};
