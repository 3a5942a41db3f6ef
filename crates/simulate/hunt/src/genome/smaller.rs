//! What is a little smaller or simpler than a genome.

use super::{Costs, Genome, Length, Place, SHORTEST, Shape, Spread, Step, Waiting};

/// CPUs of a machine that is small enough.
pub const FEW: usize = 8;

/// All genomes that have one thing less than `of`, those that have much less first.
pub fn smaller(of: &Genome) -> Vec<Genome> {
    let mut all = Vec::new();
    let mut take = |genome: Genome| {
        if genome != *of && !all.contains(&genome) && genome.size() < of.size() {
            all.push(genome);
        }
    };
    let mut add = |change: &dyn Fn(&mut Genome)| {
        let mut genome = of.clone();
        change(&mut genome);
        take(genome.mend());
    };
    for n in (0..of.kinds.len()).filter(|_| of.kinds.len() > 1) {
        add(&|it| it.without_kind(n));
    }
    add(&|it| it.kworker = None);
    add(&|it| it.costs = Costs::None);
    add(&|it| it.even = false);
    add(&|it| it.tuned = None);
    for n in 0..of.toggles.len() {
        add(&|it| {
            it.toggles.remove(n);
        });
    }
    for n in 0..of.groups.len() {
        add(&|it| {
            it.groups.remove(n);
            for kind in &mut it.kinds {
                let after = |group: u8| group - u8::from(usize::from(group) > n);
                kind.group = kind.group.filter(|it| usize::from(*it) != n).map(after);
            }
        });
        add(&|it| it.groups[n].quota_ms = None);
        add(&|it| it.groups[n].shares = 1024);
        add(&|it| it.groups[n].nested = false);
    }
    machines(of, &mut add);
    for n in 0..of.kinds.len() {
        kinds(of, n, &mut add);
    }
    // Where nothing smaller by a step is a finding, a much smaller machine may be one.
    on_few(of).into_iter().for_each(take);
    all
}

/// The same on each machine that has at most [`FEW`] CPUs, and less of everything: with as many
/// tasks for each CPU, and with as many tasks. None, if it is on few CPUs already.
pub(crate) fn on_few(of: &Genome) -> Vec<Genome> {
    let cpus = of.machine.cpus();
    let Shape { nodes, caches, cores, threads, .. } = of.machine;
    let mut shapes = Vec::new();
    for (nodes, caches) in (1..=nodes).flat_map(|n| (1..=caches).map(move |c| (n, c))) {
        for (cores, threads) in (1..=cores).flat_map(|n| (1..=threads).map(move |t| (n, t))) {
            let shape = Shape { nodes, caches, cores, threads, links: of.machine.links.clone() };
            if shape.cpus() <= FEW && shape.cpus() < cpus {
                shapes.push(shape);
            }
        }
    }
    shapes.sort_by_key(Shape::cpus);
    let mut all = Vec::new();
    for shape in shapes {
        let now = shape.cpus();
        let fewer = |n: usize| n * now / cpus;
        let mut moved = Genome { machine: shape, ..of.clone() };
        for kind in &mut moved.kinds {
            kind.from = fewer(kind.from.into()) as u8;
            for place in kind.places() {
                if let Place::Cpus(first, count) = place {
                    (*first, *count) = (fewer((*first).into()) as u8, fewer((*count).into()) as u8);
                }
            }
        }
        for toggle in &mut moved.toggles {
            toggle.cpu = fewer(toggle.cpu.into()) as u8;
        }
        let mut lighter = moved.clone();
        for kind in &mut lighter.kinds {
            kind.count = (usize::from(kind.count) * now).div_ceil(cpus) as u16;
        }
        all.extend([lighter.mend(), moved.mend()]);
    }
    all
}

fn machines(of: &Genome, add: &mut impl FnMut(&dyn Fn(&mut Genome))) {
    // On fewer CPUs as many tasks are another load: each is tried with as many fewer tasks, too.
    let cpus = of.machine.cpus() as u16;
    let mut both = |change: &dyn Fn(&mut Genome)| {
        add(change);
        add(&|it| {
            change(it);
            it.machine.mend();
            let now = it.machine.cpus() as u16;
            for kind in &mut it.kinds {
                kind.count = (kind.count * now).div_ceil(cpus);
            }
        });
    };
    both(&|it| it.machine.threads = 1);
    both(&|it| it.machine.caches = 1);
    both(&|it| it.machine.cores = it.machine.cores.div_ceil(2));
    both(&|it| it.machine.nodes = it.machine.nodes.div_ceil(2));
    both(&|it| it.machine.cores -= 1);
    both(&|it| it.machine.caches -= 1);
    for gone in 0..of.machine.nodes {
        both(&|it| it.without_node(gone));
    }
    for n in 0..of.machine.links.len() {
        add(&|it| {
            it.machine.links.remove(n);
        });
    }
}

fn kinds(of: &Genome, n: usize, add: &mut impl FnMut(&dyn Fn(&mut Genome))) {
    let kind = &of.kinds[n];
    add(&|it| it.kinds[n].count = it.kinds[n].count.div_ceil(2));
    add(&|it| it.kinds[n].count -= 1);
    add(&|it| it.kinds[n].rounds = it.kinds[n].rounds.div_ceil(2));
    add(&|it| it.kinds[n].at_ns = 0);
    add(&|it| it.kinds[n].nice = 0);
    add(&|it| it.kinds[n].period_ns = None);
    add(&|it| it.kinds[n].group = None);
    add(&|it| it.kinds[n].place = Place::Any);
    add(&|it| it.kinds[n].from = 0);
    add(&|it| it.kinds[n].from /= 2);
    add(&|it| it.kinds[n].waiting = Waiting::Block);
    add(&|it| it.kinds[n].forever = false);
    for step in (0..kind.steps.len()).filter(|_| kind.steps.len() > 1) {
        add(&|it| {
            it.kinds[n].steps.remove(step);
        });
    }
    // Two computations, one after the other, are one.
    for step in 1..kind.steps.len() {
        if let [Step::Compute(one), Step::Compute(other)] = kind.steps[step - 1..=step] {
            let both = Length { ns: one.ns + other.ns, spread: one.spread };
            add(&|it| {
                it.kinds[n].steps[step - 1] = Step::Compute(both);
                it.kinds[n].steps.remove(step);
            });
        }
    }
    for step in 0..kind.steps.len() {
        if let Step::Locked(_, length) = kind.steps[step] {
            add(&|it| it.kinds[n].steps[step] = Step::Compute(length));
        }
        if let Step::Fork(..) = kind.steps[step] {
            add(&|it| {
                if let Step::Fork(_, count) = &mut it.kinds[n].steps[step] {
                    *count = count.div_ceil(2);
                }
            });
        }
        let simple = |it: &mut Genome, change: &dyn Fn(&mut Length)| match &mut it.kinds[n].steps
            [step]
        {
            Step::Compute(length) | Step::Sleep(length) | Step::Locked(_, length) => change(length),
            _ => {}
        };
        add(&|it| simple(it, &|length| length.spread = Spread::Fixed));
        add(&|it| simple(it, &|length| length.ns = length.ns.div_ceil(2).max(SHORTEST)));
    }
}

impl Genome {
    /// How much there is of it: what shrinks gets less of this.
    pub fn size(&self) -> u64 {
        let lengths = |step: &Step| match step {
            Step::Compute(it) | Step::Sleep(it) | Step::Locked(_, it) => {
                u64::from(it.ns.ilog2())
                    + u64::from(it.spread != Spread::Fixed)
                    + u64::from(matches!(step, Step::Locked(..)))
            }
            Step::Fork(_, count) => u64::from(*count),
            _ => 1,
        };
        let kinds = self.kinds.iter().map(|kind| {
            let steps: u64 = kind.steps.iter().map(lengths).sum();
            let odd = [
                kind.at_ns > 0,
                kind.nice != 0,
                kind.period_ns.is_some(),
                kind.group.is_some(),
                kind.place != Place::Any,
                kind.waiting != Waiting::Block,
                kind.forever,
            ];
            let odd = odd.iter().filter(|it| **it).count() as u64;
            let rounds = u64::from(kind.rounds.ilog2());
            1000 + 100 * kind.steps.len() as u64
                + steps
                + 20 * odd
                + rounds
                + 10 * u64::from(kind.count)
                + u64::from(kind.from > 0)
                + u64::from(kind.from)
        });
        let groups = self.groups.iter().map(|group| {
            300 + 20 * (u64::from(group.quota_ms.is_some()) + u64::from(group.shares != 1024))
                + 20 * u64::from(group.nested)
        });
        let machine = 100 * self.machine.cpus() as u64
            + 50 * u64::from(self.machine.nodes)
            + self.machine.links.len() as u64
            + 20 * u64::from(self.machine.caches)
            + 20 * u64::from(self.machine.threads);
        kinds.sum::<u64>()
            + groups.sum::<u64>()
            + machine
            + 300 * self.toggles.len() as u64
            + 500 * u64::from(self.kworker.is_some())
            + 100 * u64::from(self.costs != Costs::None)
            + 100 * u64::from(self.even)
            + 200 * u64::from(self.tuned.is_some())
    }

    /// Takes out a node: those above it move down.
    fn without_node(&mut self, gone: u8) {
        if self.machine.nodes == 1 {
            return;
        }
        let each = self.machine.cpus() / usize::from(self.machine.nodes);
        let after = |node: u8| node - u8::from(node > gone);
        let links = self.machine.links.iter().filter(|(a, b)| *a != gone && *b != gone);
        self.machine.links = links.map(|(a, b)| (after(*a), after(*b))).collect();
        self.machine.nodes -= 1;
        for kind in &mut self.kinds {
            let from = usize::from(kind.from);
            if from / each > usize::from(gone) {
                kind.from = (from - each) as u8;
            }
            for place in kind.places() {
                match place {
                    Place::Nodes(mask) => {
                        let below = *mask & ((1 << gone) - 1);
                        let above = if gone == 7 { 0 } else { (*mask >> (gone + 1)) << gone };
                        *mask = below | above;
                    }
                    Place::Cpus(first, _) if usize::from(*first) / each > usize::from(gone) => {
                        *first -= each as u8;
                    }
                    _ => {}
                }
            }
        }
        for toggle in &mut self.toggles {
            let cpu = usize::from(toggle.cpu);
            if cpu / each > usize::from(gone) {
                toggle.cpu = (cpu - each) as u8;
            }
        }
    }
}
