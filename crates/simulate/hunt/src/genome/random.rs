//! Genomes at random, and their parts.

use wastenot_model::workload::Random;

use super::{
    CPUS, Costs, FEW, Genome, Group, Kind, Length, Place, SHORTEST, Shape, Space, Spread, Step,
    Toggle, Waiting,
};

/// Draws parts of genomes.
pub(super) struct Draw<'r>(pub(super) &'r mut Random);

impl Draw<'_> {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0.below(n.max(1) as u64) as usize
    }

    /// Whether something happens that happens once in `n` times.
    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// From 10 us to 50 ms, each order of magnitude as often, but the least: 1, 2 or 5 of it.
    pub(super) fn time_ns(&mut self) -> u64 {
        let digit = self.one(&[1, 2, 5]);
        let order = self.one(&[SHORTEST, 100_000, 100_000, 1_000_000, 1_000_000, 10_000_000]);
        digit * order
    }

    /// From 1 ms to 50 ms.
    pub(super) fn period_ns(&mut self) -> u64 {
        self.one(&[1, 2, 4, 5, 8, 10, 12, 15, 20, 25, 40, 50]) * 1_000_000
    }

    pub(super) fn tuned(&mut self, space: &Space) -> Option<(String, String)> {
        space.tunables.get(self.below(space.tunables.len())).cloned()
    }

    pub(super) fn length(&mut self) -> Length {
        let spread = self.one(&[Spread::Fixed, Spread::Some, Spread::Some, Spread::Wide]);
        Length { ns: self.time_ns(), spread }
    }

    /// Half of all machines have few CPUs: most of what goes wrong can be seen there, and they take
    /// less time to run.
    pub(super) fn shape(&mut self) -> Shape {
        let most = if self.once_in(2) { FEW } else { CPUS } as u8;
        let nodes = self.one(&[1, 1, 1, 2, 2, 3, 4, 4, 6, 8]);
        // A tree, and some more links: from a line to all.
        let mut links: Vec<(u8, u8)> = Vec::new();
        for node in 1..nodes {
            links.push((self.below(node.into()) as u8, node));
        }
        let density = self.below(4);
        for a in 0..nodes {
            for b in a + 1..nodes {
                if self.below(3) < density && !links.contains(&(a, b)) {
                    links.push((a, b));
                }
            }
        }
        let caches = self.one(&[1, 1, 1, 2, 2, 4]).min(most / nodes);
        let threads = self.one(&[1, 1, 2]).min(most / (nodes * caches));
        let cores = 1 + self.below((most / (nodes * caches * threads)).min(8).into()) as u8;
        Shape { nodes, links, caches, cores, threads }
    }

    pub(super) fn place(&mut self, machine: &Shape) -> Place {
        match self.below(5) {
            0 => Place::Nodes(1 << self.below(machine.nodes.into())),
            1 => {
                let [a, b] = [0; 2].map(|_| 1u8 << self.below(machine.nodes.into()));
                Place::Nodes(a | b)
            }
            2 => {
                let first = self.below(machine.cpus());
                Place::Cpus(first as u8, 1 + self.below(machine.cpus() - first) as u8)
            }
            _ => Place::Any,
        }
    }

    pub(super) fn group(&mut self) -> Group {
        let session = self.once_in(2);
        Group {
            session,
            shares: if session { 1024 } else { self.one(&[64, 256, 1024, 1024, 4096]) },
            quota_ms: if session || !self.once_in(3) {
                None
            } else {
                Some(self.one(&[20, 50, 100, 200]))
            },
            nested: !session && self.once_in(3),
        }
    }

    pub(super) fn waiting(&mut self) -> Waiting {
        self.one(&[Waiting::Block, Waiting::Block, Waiting::Spin, Waiting::Both])
    }

    /// Of the kind `n` of `kinds`.
    pub(super) fn step(&mut self, n: usize, kinds: usize, machine: &Shape) -> Step {
        let later = kinds.saturating_sub(n + 1);
        match self.below(20) {
            0..=7 => Step::Compute(self.length()),
            8..=11 => Step::Sleep(self.length()),
            12..=13 => Step::Meet,
            14 => Step::Locked(self.below(2) as u8, self.length()),
            15 if later > 0 => Step::Call((n + 1 + self.below(later)) as u8),
            16 if later > 0 => {
                let child = (n + 1 + self.below(later)) as u8;
                Step::Fork(child, self.one(&[1, 2, 4, 8, 16]))
            }
            17 => Step::Move(self.place(machine)),
            18 => Step::Nice(self.one(&[-20, -10, -5, 0, 5, 10, 19])),
            19 => Step::Yield,
            _ => Step::Compute(self.length()),
        }
    }

    pub(super) fn kind(&mut self, n: usize, kinds: usize, groups: usize, machine: &Shape) -> Kind {
        let cpus = machine.cpus();
        let count = match self.below(4) {
            0 => 1,
            1 => 1 + self.below(cpus),
            2 => cpus,
            _ => 1 + self.below(2 * cpus),
        };
        let steps = 1 + self.below(4);
        Kind {
            count: count as u16,
            at_ns: if self.once_in(3) { self.time_ns() } else { 0 },
            from: if self.once_in(2) { self.below(cpus) as u8 } else { 0 },
            nice: if self.once_in(4) { self.one(&[-20, -10, -5, 5, 10, 19]) } else { 0 },
            period_ns: if self.once_in(8) { Some(self.period_ns()) } else { None },
            group: (groups > 0 && self.once_in(2)).then(|| self.below(groups) as u8),
            place: if self.once_in(3) { self.place(machine) } else { Place::Any },
            rounds: self.one(&[1, 2, 5, 10, 20, 50, 100, 200]),
            forever: self.once_in(5),
            waiting: self.waiting(),
            steps: (0..steps).map(|_| self.step(n, kinds, machine)).collect(),
        }
    }

    pub(super) fn toggle(&mut self, machine: &Shape) -> Toggle {
        let off_ns = self.time_ns();
        Toggle { cpu: self.below(machine.cpus()) as u8, off_ns, on_ns: off_ns + self.time_ns() }
    }

    pub(super) fn kworker(&mut self) -> (u64, u64) {
        (
            self.one(&[30_000, 60_000, 200_000, 1_000_000]),
            self.one(&[4_000_000, 10_000_000, 50_000_000]),
        )
    }
}

impl Genome {
    /// One at random.
    pub fn random(space: &Space, random: &mut Random) -> Genome {
        let mut draw = Draw(random);
        let machine = draw.shape();
        let groups = if draw.once_in(2) { 1 + draw.below(2) } else { 0 };
        let groups: Vec<Group> = (0..groups).map(|_| draw.group()).collect();
        let kinds = 1 + draw.below(3);
        let mut kinds: Vec<Kind> =
            (0..kinds).map(|n| draw.kind(n, kinds, groups.len(), &machine)).collect();
        for kind in kinds.iter_mut().filter(|_| space.sporadic.is_some()) {
            kind.period_ns = Some(draw.period_ns());
        }
        let genome = Genome {
            costs: if draw.once_in(2) { draw.one(&Costs::ALL) } else { Costs::None },
            even: draw.once_in(2),
            sporadic: space.sporadic,
            tuned: if draw.once_in(8) { draw.tuned(space) } else { None },
            kworker: draw.once_in(5).then(|| draw.kworker()),
            toggles: if draw.once_in(5) { vec![draw.toggle(&machine)] } else { Vec::new() },
            machine,
            groups,
            kinds,
        };
        genome.mend()
    }
}
