//! The options of engines: their solvers, the cache, and limits of time and size.

use std::time::Duration;

use crate::cache::Cache;
use crate::explore::Bounds;
use crate::solver::Solver;

/// The options of engines.
#[derive(Debug)]
pub struct Options {
    /// The solvers to run. The answers of several solvers are compared.
    pub solvers: Vec<Solver>,
    /// The cache for the answers of solvers.
    pub cache: Option<Cache>,
    /// The time limit of a solver for one query.
    pub patience: Duration,
    /// The limits of the explorer.
    pub bounds: Bounds,
}
