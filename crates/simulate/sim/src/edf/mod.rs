//! Real-time scheduling: one core that decides, and designs: which CPU asks it, when, at what cost.

mod core;
mod falsify;
mod gsn;
mod jobs;
mod messages;
mod overheads;
mod paths;
mod per_cpu;
mod plain;
mod run;
mod sporadic;
mod tournament;

pub use self::core::{Core, Key, Link, Order, Rule, Tie};
pub use falsify::{Missed, Tried, falsify};
pub use jobs::Pending;
pub use messages::Mailboxes;
pub use overheads::Overheads;
pub use per_cpu::{Rules, SPIN, Server, TRIES};
pub use plain::{Done, gedf, synchronous};
pub use run::{Design, Ran, Real, fits, run, run_workload};
pub use sporadic::NotSporadic;
pub use wastenot_model::machine::{Profile, Section};
