//! The explorer: every situation on every small machine, without any solver.
//!
//! `situation`, `world`, `placed`, `step`, `test`, `bounds` and `found` are what all searches speak
//! of; `search` goes through situations, and `claims` decides whether one breaks a claim.

mod attempt;
mod bounds;
mod claims;
mod found;
mod handler;
mod keys;
mod lives;
mod moved;
mod numbers;
mod periodic;
mod placed;
mod placing;
pub(crate) mod range;
mod search;
mod situation;
mod step;
mod test;
mod unseen;
mod world;

pub use attempt::{Events, failing};
pub use bounds::{Bounds, Effort};
pub use claims::Broken;
pub use found::{Doubt, Found, Searched};
pub use moved::moves_somebody;
pub(crate) use numbers::broken;
pub use placed::Placed;
pub(crate) use placing::Asks;
pub use placing::{placed, waits};
pub(crate) use search::weights;
pub use search::{Confirm, search, search_on};
pub use situation::{Place, Situation, Task};
pub use step::{Given, Step};
pub(crate) use test::fitting;
pub use test::{Test, Wrong, tests};
pub(crate) use unseen::unseen;
pub use world::{Looking, World};
