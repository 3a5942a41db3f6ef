//! The interpreter under the simulator.

mod built;
mod known;
