//! Hard real-time tests of preemptive global EDF. All are sufficient, none is necessary.

mod bak;
mod bar;
mod bcl;
mod ff_dbf;
pub(crate) mod gfb;
mod load;
mod rta;

pub use bak::bak;
pub use bar::bar;
pub use bcl::{bcl, bcli};
pub use ff_dbf::ff_dbf;
pub use gfb::gfb;
pub use load::load;
pub use rta::{Responses, Rta, rta};

use wastenot_model::sporadic::{Sporadic, TaskSet};

use crate::demand::{compare, density};

/// Whether some job cannot complete in time even alone: no test need be asked.
fn too_long(task: &Sporadic) -> bool {
    task.wcet_us > task.deadline_us.min(task.period_us)
}

/// The greatest density, as a fraction.
fn density_max(tasks: &TaskSet) -> (i128, i128) {
    tasks.iter().map(density).max_by(|&a, &b| compare(a, b)).unwrap_or((0, 1))
}
