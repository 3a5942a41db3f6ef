//! Real-time experiments: verdicts on task sets, sweeps over many, and what the kernel takes.
//!
//! Here the tests of `bounds`, the simulated designs of `sim`, the measured ones of `measure` and
//! the files of `scenario` meet. An [`Implementation`] is a name for what jobs are charged with and
//! for what is simulated. A [`set`] is one task set judged, a [`sweep`] asks the same question of
//! many random ones. Overheads come from a table ([`overheads`]), which may be simulated; the costs
//! of the simulated machine are fitted ([`calibrate`]) to figures that were [measured](measuring).

pub mod calibrate;
pub mod curves;
mod error;
mod implementation;
pub mod measuring;
pub mod overheads;
mod proportion;
pub mod set;
pub mod sweep;

pub use error::Error;
pub use implementation::Implementation;
pub use proportion::{paired, wilson};
