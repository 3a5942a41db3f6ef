//! What must hold of simulations.

mod mechanisms;
mod programs;
