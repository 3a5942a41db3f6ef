//! What must hold of experiments.

mod what_if;
