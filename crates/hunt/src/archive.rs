//! An archive of the worst work of each kind (MAP-Elites: Mouret and Clune, 2015): one genome for
//! each cause of loss, shape of machine and load. What is best of its kind is varied, though others
//! are worse: work of another kind may lead further.

use std::collections::BTreeMap;

use crate::genome::Genome;
use crate::oracle::Loss;

/// The kind of a genome.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Niche {
    /// The cause of its loss; empty if it has none.
    pub cause: String,
    /// Nodes of its machine: 1, 2, 3 to 4, more.
    nodes: u8,
    /// Tasks for each CPU: below half, up to one, up to two, more.
    load: u8,
}

/// The best genome of a kind.
#[derive(Clone, Debug)]
pub struct Elite {
    /// The genome.
    pub genome: Genome,
    /// How much it loses ([`Loss::grade`]).
    pub grade: f64,
}

/// The best of each kind.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    elites: BTreeMap<Niche, Elite>,
}

impl Archive {
    /// Takes a genome that has these losses in, where it is the worst of its kind.
    pub fn add(&mut self, genome: &Genome, losses: &[Loss<'_>]) {
        let all = if losses.is_empty() { &[NONE] } else { losses };
        for loss in all {
            let niche = Niche::of(genome, loss.cause);
            let is_better = |known: &Elite| {
                (loss.grade, std::cmp::Reverse(genome.size()))
                    > (known.grade, std::cmp::Reverse(known.genome.size()))
            };
            if self.elites.get(&niche).is_none_or(is_better) {
                let elite = Elite { genome: genome.clone(), grade: loss.grade };
                self.elites.insert(niche, elite);
            }
        }
    }

    /// All, in the order of their kinds.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Niche, &Elite)> {
        self.elites.iter()
    }

    /// How many kinds it has.
    pub fn len(&self) -> usize {
        self.elites.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.elites.is_empty()
    }
}

/// That of a genome without any.
const NONE: Loss<'_> = Loss {
    cause: "",
    kind: crate::oracle::Kind::Recurs,
    share: 0.0,
    longest: wastenot_model::Span::ZERO,
    grade: 0.0,
};

impl Niche {
    fn of(genome: &Genome, cause: &str) -> Niche {
        let shape = genome.machine();
        let nodes = match shape.nodes {
            nodes @ 0..=2 => nodes,
            3..=4 => 3,
            _ => 5,
        };
        let (tasks, cpus) = (genome.tasks(), shape.cpus());
        let load = match 2 * tasks {
            half if half < cpus => 0,
            half if half <= 2 * cpus => 1,
            half if half <= 4 * cpus => 2,
            _ => 3,
        };
        Niche { cause: cause.to_owned(), nodes, load }
    }
}
