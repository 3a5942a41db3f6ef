//! An archive of the worst work of each kind (MAP-Elites: Mouret and Clune, 2015): one genome for
//! each cause of loss, shape of machine and load, and one for each kind of decision that was seen.
//! What is worst of its kind is varied, though others are worse: work of another kind may lead
//! further.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::decisions::KINDS;
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

/// The worst genome of a kind: the one that loses most.
#[derive(Clone, Debug)]
pub struct Elite {
    /// The genome.
    pub genome: Genome,
    /// How much it loses ([`Loss::grade`]), or how near that is to a finding
    /// ([`crate::finding::nearness`]).
    pub grade: f64,
}

/// The worst of each kind.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    elites: BTreeMap<Niche, Elite>,
    /// By kind of decision.
    decided: BTreeMap<u32, Elite>,
}

impl Archive {
    /// Takes a genome in that has these losses and shows these decisions, where it is the worst of
    /// its kind.
    pub fn add(&mut self, genome: &Genome, losses: &[Loss<'_>], decisions: u64) {
        let all = if losses.is_empty() { &[NONE] } else { losses };
        for loss in all {
            self.keep(genome, loss.cause, loss.grade);
        }
        for kind in (0..KINDS).filter(|kind| decisions & 1 << kind != 0) {
            put(&mut self.decided, kind, genome, all[0].grade);
        }
    }

    /// Takes a genome in with a loss by this cause, where it is the worst of its kind: whether it
    /// is.
    pub fn keep(&mut self, genome: &Genome, cause: &str, grade: f64) -> bool {
        put(&mut self.elites, Niche::of(genome, cause), genome, grade)
    }

    /// One for each kind of decision that was seen.
    pub fn decided(&self) -> impl ExactSizeIterator<Item = &Elite> {
        self.decided.values()
    }

    /// All, in the order of their kinds.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Niche, &Elite)> {
        self.elites.iter()
    }

    /// Those with a loss by this cause.
    pub fn of(&self, cause: &str) -> impl Iterator<Item = &Elite> {
        self.iter().filter(move |(niche, _)| niche.cause == cause).map(|(_, elite)| elite)
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

/// Puts a genome into its niche, if it is worse than what is there, or as bad and smaller.
fn put<N: Ord>(all: &mut BTreeMap<N, Elite>, niche: N, genome: &Genome, grade: f64) -> bool {
    let is_worse = |known: &Elite| {
        (grade, Reverse(genome.size())) > (known.grade, Reverse(known.genome.size()))
    };
    let is_worst = all.get(&niche).is_none_or(is_worse);
    if is_worst {
        all.insert(niche, Elite { genome: genome.clone(), grade });
    }
    is_worst
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
