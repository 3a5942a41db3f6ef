//! Variation: a genome that differs from another one a little, and one that has parts of two.

use wastenot_model::workload::Random;

use super::random::Draw;
use super::{Costs, Genome, KINDS, Kind, Space, Step};

/// A new one, at random once in eight times: else one that differs from a parent a little, or has
/// parts of two, where there is one.
pub fn child<'g>(
    space: &Space,
    random: &mut Random,
    parent: impl Fn(&mut Random) -> Option<&'g Genome>,
) -> Genome {
    let Some(one) = (random.below(8) > 0).then(|| parent(random)).flatten() else {
        return Genome::random(space, random);
    };
    match random.below(5) {
        0 => cross(one, parent(random).unwrap_or(one), random),
        _ => vary(one, space, random),
    }
}

/// One that differs from `of` in one to three places.
pub fn vary(of: &Genome, space: &Space, random: &mut Random) -> Genome {
    let mut genome = of.clone();
    let mut draw = Draw(random);
    for _ in 0..1 + draw.below(3) {
        once(&mut genome, space, &mut draw);
    }
    genome.mend()
}

/// The machine of one, and what tasks of both do there.
pub fn cross(one: &Genome, other: &Genome, random: &mut Random) -> Genome {
    let mut genome = one.clone();
    let mut draw = Draw(random);
    if draw.once_in(3) {
        genome.machine = other.machine.clone();
        genome.toggles.clone_from(&other.toggles);
    }
    // References within the kinds of a genome stay what they are: a whole tail is taken.
    let keeps = draw.below(genome.kinds.len() + 1);
    genome.kinds.truncate(keeps);
    let before = genome.kinds.len() as u8;
    let groups = genome.groups.len() as u8;
    genome.groups.extend(&other.groups);
    for kind in &other.kinds {
        let mut kind = kind.clone();
        for step in &mut kind.steps {
            if let Step::Call(it) | Step::Fork(it, _) = step {
                *it = it.saturating_add(before);
            }
        }
        kind.group = kind.group.map(|group| group.saturating_add(groups));
        genome.kinds.push(kind);
    }
    genome.kworker = genome.kworker.or(other.kworker);
    genome.mend()
}

fn once(genome: &mut Genome, space: &Space, draw: &mut Draw<'_>) {
    let kinds = genome.kinds.len();
    match draw.below(21) {
        0..=2 => machine(genome, draw),
        20 => genome.tuned = if draw.once_in(2) { draw.tuned(space) } else { None },
        3 if draw.once_in(3) => genome.even = !genome.even,
        3 => genome.costs = draw.one(&Costs::ALL),
        4 => {
            genome.kworker = match genome.kworker {
                Some(_) => None,
                None => Some(draw.kworker()),
            }
        }
        5 => match genome.toggles.is_empty() || draw.once_in(2) {
            true => {
                let toggle = draw.toggle(&genome.machine);
                genome.toggles.push(toggle);
            }
            false => drop(genome.toggles.pop()),
        },
        6 => {
            let group = draw.group();
            match genome.groups.is_empty() || draw.once_in(2) {
                true => genome.groups.push(group),
                false => {
                    let n = draw.below(genome.groups.len());
                    genome.groups[n] = group;
                }
            }
        }
        7 if kinds < KINDS => {
            let kind = draw.kind(kinds, kinds + 1, genome.groups.len(), &genome.machine);
            genome.kinds.push(kind);
        }
        8 if kinds > 1 => {
            let gone = draw.below(kinds);
            genome.without_kind(gone);
        }
        _ => {
            let n = draw.below(kinds);
            let (groups, shape) = (genome.groups.len(), genome.machine.clone());
            part(&mut genome.kinds[n], n, kinds, groups, &shape, draw);
        }
    }
}

fn machine(genome: &mut Genome, draw: &mut Draw<'_>) {
    let shape = &mut genome.machine;
    match draw.below(8) {
        0 => *shape = draw.shape(),
        1 => shape.nodes = shape.nodes.saturating_add(1),
        2 => shape.nodes = shape.nodes.saturating_sub(1),
        3 => shape.caches = draw.one(&[1, 2, 4]),
        4 => shape.cores = shape.cores.saturating_add(1),
        5 => shape.cores = shape.cores.saturating_sub(1),
        6 => shape.threads = 3 - shape.threads.clamp(1, 2),
        _ => {
            let [a, b] = [0; 2].map(|_| draw.below(shape.nodes.into()) as u8);
            let link = (a.min(b), a.max(b));
            match shape.links.iter().position(|it| *it == link) {
                Some(place) => drop(shape.links.remove(place)),
                None => shape.links.push(link),
            }
        }
    }
}

/// Changes one part of a kind of tasks.
fn part(
    kind: &mut Kind,
    n: usize,
    kinds: usize,
    groups: usize,
    machine: &super::Shape,
    draw: &mut Draw<'_>,
) {
    let cpus = machine.cpus();
    match draw.below(15) {
        14 => kind.period_ns = if draw.once_in(2) { Some(draw.period_ns()) } else { None },
        0 => kind.count = 1 + draw.below(2 * cpus) as u16,
        1 => kind.count = kind.count.saturating_add(1),
        2 => kind.count = kind.count.saturating_sub(1),
        3 => kind.at_ns = if draw.once_in(2) { 0 } else { draw.time_ns() },
        4 => kind.from = draw.below(cpus) as u8,
        5 => kind.nice = draw.one(&[-20, -10, -5, 0, 0, 5, 10, 19]),
        6 => kind.group = (groups > 0 && !draw.once_in(3)).then(|| draw.below(groups) as u8),
        7 => kind.place = draw.place(machine),
        8 => kind.rounds = draw.one(&[1, 2, 5, 10, 20, 50, 100, 200, 500]),
        9 => {
            kind.forever ^= draw.once_in(2);
            kind.waiting = draw.waiting();
        }
        10 => {
            let step = draw.step(n, kinds, machine);
            let place = draw.below(kind.steps.len() + 1);
            kind.steps.insert(place, step);
        }
        11 if kind.steps.len() > 1 => {
            let gone = draw.below(kind.steps.len());
            kind.steps.remove(gone);
        }
        _ => {
            let place = draw.below(kind.steps.len());
            let Some(step) = kind.steps.get_mut(place) else { return };
            match step {
                Step::Compute(length) | Step::Sleep(length) | Step::Locked(_, length)
                    if !draw.once_in(3) =>
                {
                    *length = draw.length();
                }
                _ => *step = draw.step(n, kinds, machine),
            }
        }
    }
}

impl Genome {
    /// Takes out a kind of tasks, and all that others asked of it.
    pub(super) fn without_kind(&mut self, gone: usize) {
        self.kinds.remove(gone);
        let gone = gone as u8;
        for kind in &mut self.kinds {
            kind.steps
                .retain(|step| !matches!(step, Step::Call(it) | Step::Fork(it, _) if *it == gone));
            for step in &mut kind.steps {
                if let Step::Call(it) | Step::Fork(it, _) = step {
                    *it -= u8::from(*it > gone);
                }
            }
        }
    }
}
