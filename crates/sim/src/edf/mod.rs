//! Real-time scheduling: one core that decides, and who asks it, when, at what price.

mod core;
mod falsify;
mod plain;
mod tournament;

pub use self::core::{Core, Key, Link, Tie};
pub use falsify::{Missed, Tried, falsify};
pub use plain::{Done, gedf, synchronous};
