//! The explorer: looks at every situation on every small machine, without any solver.

mod attempt;
mod claims;
mod compared;
mod handler;
mod keys;
mod lives;
mod moved;
mod periodic;
mod placing;
mod range;
mod search;
mod sets;
mod situation;
mod unseen;

pub use attempt::{Events, Step, failing};
pub(crate) use claims::fitting;
pub use claims::{Broken, Test, Wrong, tests};
pub(crate) use compared::Compared;
pub use keys::Given;
pub(crate) use keys::broken;
pub(crate) use moved::moves_somebody;
pub(crate) use placing::Asks;
pub use placing::{Doubt, Placed, Placings, placed, waits};
pub(crate) use search::weights;
pub use search::{Bounds, Effort, Found, Searched, search, search_on};
pub(crate) use sets::{Sets, begins};
pub use situation::{Looking, Place, Situation, Task, World};
pub(crate) use unseen::unseen;
