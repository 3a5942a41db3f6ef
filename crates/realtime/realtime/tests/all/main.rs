//! What must hold of real-time experiments.

mod calibrate;
mod overheads;
mod set;
mod sweep;
