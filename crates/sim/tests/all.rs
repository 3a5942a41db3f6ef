//! What must hold of simulations.

mod linux_2_4;
mod lives;
mod mechanisms;
mod osv;
mod programs;
mod work_conserving;
