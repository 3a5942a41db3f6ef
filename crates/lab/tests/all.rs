//! What must hold of experiments.
