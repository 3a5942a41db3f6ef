//! What operations cost on a machine, for simulations. The defaults take no time: then every effect
//! that a simulation shows results from decisions.

use super::Distance;
use crate::Span;

/// The costs of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// CPU time of a context switch.
    pub switch: Span,
    /// Time from a kick until the kicked CPU reacts, if another CPU kicked it.
    pub ipi: Span,
    /// CPU time that a task loses when it first runs after a move, by [`Distance`]: to a sibling,
    /// within its cache, within its node, further.
    pub migration: [Span; 4],
    /// CPU time that a task loses if another task has run on its CPU since it last ran.
    pub cold: Span,
    /// Speed of a CPU while a sibling is busy, as a share of its speed alone, in (0, 1].
    pub smt: f64,
    /// Whether a spinning sibling costs nothing (`pause`, `yield`), instead of as much as a working
    /// one.
    pub spin_yields: bool,
    /// The price of newly-idle balancing of a domain, for each of its CPUs. Linux measures it
    /// (`max_newidle_lb_cost`), and leaves a pass out where the CPU was idle for less on average.
    /// It is compared only: it takes no CPU time. At most a second.
    pub scan: Span,
    /// The speed of a CPU for a task that first ran n+1 hops away, as a share, in (0, 1]; for more
    /// hops the last value counts.
    pub remote: Vec<f64>,
}

/// The default of [`Costs::scan`]: an assumption of the order of reported figures, a cache miss or
/// two for a run queue that other CPUs write.
const SCAN: Span = Span(100);

impl Default for Costs {
    fn default() -> Costs {
        Costs {
            switch: Span::ZERO,
            ipi: Span::ZERO,
            migration: [Span::ZERO; 4],
            cold: Span::ZERO,
            smt: 1.0,
            spin_yields: false,
            scan: SCAN,
            remote: Vec::new(),
        }
    }
}

impl Costs {
    /// What a move over `distance` costs the task.
    pub fn of_move(&self, distance: Distance) -> Span {
        match distance {
            Distance::Same => Span::ZERO,
            Distance::Sibling => self.migration[0],
            Distance::Llc => self.migration[1],
            Distance::Node => self.migration[2],
            Distance::Other | Distance::Unknown => self.migration[3],
        }
    }
}
