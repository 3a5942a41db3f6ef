//! Experiments: every variant of a scenario with every seed, on all CPUs, and what came of it.
//!
//! Here scenarios, the simulator and the checks meet. A [`Grid`] of cells is run, each cell becomes
//! a [`Cell`] of plain figures, and an [`Experiment`] is all of them with the scenario's figures
//! worked out, which a report shows. Cells can be kept in a file and are not run again. And the
//! work of a History is run under another scheduler: [`what_if`]; or with and without
//! one change, to see whether that removes a loss: [`confirm`].

mod bench;
mod cell;
mod choice;
pub mod confirm;
mod error;
mod experiment;
pub mod extract;
mod fault;
mod grid;
mod kernels;
mod longest;
pub mod ranks;
mod real_time;
mod real_time_tables;
mod report;
mod seeds;
mod series;
pub mod shifts;
mod what_if;

pub use bench::{Bench, Run, Sim, simulated};
pub use cell::{Cell, Kind};
pub use choice::{
    Claims, claims, given, is_unsafe, label, pace, resolve, scenario, scenario_with, times, usual,
};
pub use error::Error;
pub use experiment::{Experiment, Outcome, Worked};
pub use extract::{Extracted, extract};
pub use fault::Fault;
pub use grid::{Grid, Keep, Options};
pub use kernels::{Change, Compared, compared};
pub use longest::Wait;
pub use real_time::{Deadlines, RealTime, Sampled, Waited};
pub use report::{listed, report_with, together};
pub use seeds::Seeds;
pub use series::Series;
pub use what_if::{Question, Replayed, WhatIf, YARDSTICK, what_if};

/// The tunable of every policy in Rota that makes its decisions take steps, and how long the
/// longest takes. A parameter of that name cannot be set.
pub const STEPS: &str = "steps";

/// The tunable beside it: whether all steps take so long (`even`), or most less (`varied`).
pub const PACE: &str = "pace";
