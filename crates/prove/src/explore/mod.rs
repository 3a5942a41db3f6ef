//! The explorer: looks at every situation on every small machine, without any solver.

mod attempt;
mod claims;
mod handler;
mod keys;
mod longest;
mod periodic;
mod placing;
mod search;
mod situation;
mod told;

pub use attempt::{Events, Step, failing};
pub(crate) use claims::still;
pub use claims::{Broken, Test, Wrong, tests};
pub use keys::Given;
pub(crate) use keys::broken;
pub(crate) use longest::moves_somebody;
pub use placing::{Placed, placed, waits};
pub(crate) use search::weights;
pub use search::{Bounds, Found, Searched, search, search_on};
pub use situation::{Looking, Place, Situation, Task, World};
pub(crate) use told::tells_all;
