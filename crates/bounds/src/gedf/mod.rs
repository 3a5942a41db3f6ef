//! Hard real-time tests of preemptive global EDF. All are sufficient, none is necessary.

mod bak;
mod bar;
mod bcl;
mod ff_dbf;
mod gfb;
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

use crate::number::Number;

/// Whether some job cannot complete in time even alone: no test need be asked.
fn too_long(task: &Sporadic) -> bool {
    task.wcet_us > task.deadline_us.min(task.period_us)
}

fn utilization<N: Number>(task: &Sporadic) -> N {
    N::ratio(task.wcet_us.into(), task.period_us.into())
}

fn total<N: Number>(tasks: &TaskSet) -> N {
    N::sum(tasks.iter().map(utilization))
}

/// The greatest density C / min(D, T), as a fraction.
fn density_max(tasks: &TaskSet) -> (i128, i128) {
    let of = |task: &Sporadic| {
        (i128::from(task.wcet_us), i128::from(task.deadline_us.min(task.period_us)))
    };
    let greater = |a: (i128, i128), b: (i128, i128)| if a.0 * b.1 >= b.0 * a.1 { a } else { b };
    tasks.iter().map(of).fold((0, 1), greater)
}
