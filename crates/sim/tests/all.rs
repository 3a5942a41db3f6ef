//! What must hold of simulations.
