//! Makes a scenario that can run of whatever was put together.

use super::{
    ALL_STEPS, BACKGROUND_STEPS, CPUS, Costs, GROUPS, Genome, KINDS, Kind, LIMIT, Length, Place,
    ROUNDS, Role, STEPS, Shape, Spread, Step, TASKS, Waiting,
};

impl Shape {
    pub(super) fn mend(&mut self) {
        for (number, most) in [
            (&mut self.nodes, 8),
            (&mut self.caches, 4),
            (&mut self.cores, 16),
            (&mut self.threads, 2),
        ] {
            *number = (*number).clamp(1, most);
        }
        while self.cpus() > CPUS {
            let parts = [&mut self.cores, &mut self.caches, &mut self.nodes];
            let largest = parts.into_iter().max_by_key(|it| **it);
            largest.into_iter().for_each(|it| *it -= 1);
        }
        let nodes = self.nodes;
        self.links.retain(|(a, b)| a < b && *b < nodes);
        self.links.sort_unstable();
        self.links.dedup();
        // Each node that is not reached gets a link to the one before it.
        let mut reached = 1u8;
        for node in 1..nodes {
            loop {
                let more = self.links.iter().fold(reached, |reached, (a, b)| {
                    let (a, b) = (1 << a, 1 << b);
                    if reached & (a | b) == 0 { reached } else { reached | a | b }
                });
                if more == reached {
                    break;
                }
                reached = more;
            }
            if reached & 1 << node == 0 {
                self.links.push((node - 1, node));
            }
        }
        self.links.sort_unstable();
    }
}

impl Place {
    fn mend(&mut self, machine: &Shape) {
        let cpus = machine.cpus() as u8;
        match self {
            Place::Any => {}
            Place::Nodes(mask) => {
                let all = ((1u16 << machine.nodes) - 1) as u8;
                if *mask & all == 0 || *mask & all == all {
                    *self = Place::Any;
                } else {
                    *mask &= all;
                }
            }
            Place::Cpus(first, count) => {
                *first %= cpus;
                *count = (*count).clamp(1, cpus - *first);
                if *count == cpus {
                    *self = Place::Any;
                }
            }
        }
    }
}

impl Genome {
    /// Makes it a scenario that can run: references lead to what is there, no task waits for
    /// another one for ever, and a run is short.
    pub(crate) fn mend(mut self) -> Genome {
        self.machine.mend();
        self.groups.truncate(GROUPS);
        if let Some(first) = self.groups.first_mut() {
            first.nested = false;
        }
        self.kinds.truncate(KINDS);
        self.mend_kinds();
        if let Some(reserved) = self.sporadic {
            self.mend_jobs(reserved);
        }
        self.mend_roles();
        self.mend_amounts();
        self.mend_toggles();
        self
    }

    fn mend_kinds(&mut self) {
        let (machine, cpus) = (&self.machine, self.machine.cpus() as u8);
        let (groups, kinds) = (self.groups.len(), self.kinds.len());
        for (n, kind) in self.kinds.iter_mut().enumerate() {
            kind.count = kind.count.clamp(1, 64);
            kind.rounds = kind.rounds.clamp(1, ROUNDS);
            kind.from %= cpus;
            kind.nice = kind.nice.clamp(-20, 19);
            kind.group = kind.group.filter(|group| usize::from(*group) < groups);
            kind.places().for_each(|place| place.mend(machine));
            if self.even {
                kind.lengths().for_each(|length| length.spread = Spread::Fixed);
            }
            kind.steps.truncate(STEPS);
            // What works for others comes after them, so that there is no circle.
            let is_later = |it: u8| usize::from(it) > n && usize::from(it) < kinds;
            kind.steps.retain(|step| match step {
                Step::Call(it) | Step::Fork(it, _) => is_later(*it),
                _ => true,
            });
            for step in &mut kind.steps {
                match step {
                    Step::Fork(_, count) => *count = (*count).clamp(1, 32),
                    Step::Nice(nice) => *nice = (*nice).clamp(-20, 19),
                    Step::Locked(lock, _) => *lock %= 2,
                    _ => {}
                }
            }
        }
    }

    fn mend_roles(&mut self) {
        // A kind that is created by others answers none, and those below wait for none.
        for n in 0..self.kinds.len() {
            let role = self.role(n);
            if role == Role::Child {
                for step in self.kinds.iter_mut().flat_map(|it| &mut it.steps) {
                    if *step == Step::Call(n as u8) {
                        *step = Step::Yield;
                    }
                }
            }
            let kind = &mut self.kinds[n];
            if role != Role::Worker {
                kind.forever = false;
                kind.period_ns = None;
                kind.steps
                    .retain(|step| !matches!(step, Step::Meet | Step::Call(_) | Step::Fork(..)));
            }
            if kind.count == 1 {
                kind.steps.retain(|step| !step.meets());
            }
            if !kind.has(Step::meets) {
                kind.waiting = Waiting::Block;
            }
            if !kind.has(|step| matches!(step, Step::Compute(_) | Step::Locked(..))) {
                kind.steps.truncate(STEPS - 1);
                kind.steps.push(Step::COMPUTE);
            }
        }
        // The run waits for the first kind.
        if let Some(first) = self.kinds.first_mut() {
            first.forever = false;
        }
        // What goes on for the whole run does not do too much.
        for kind in self.kinds.iter_mut().filter(|it| it.forever) {
            while kind.steps_for(LIMIT.0) > BACKGROUND_STEPS {
                kind.lengths().for_each(|length| length.ns *= 2);
            }
        }
    }

    /// Sporadic tasks compute, and ask for no more than all CPUs but those that are reserved. Then
    /// there is a schedule in which each job is complete at the end of its period (Baruah et al.,
    /// Proportionate progress, Algorithmica 1996).
    fn mend_jobs(&mut self, reserved: u8) {
        if self.machine.cpus() < 2 {
            self.machine.cores = 2;
        }
        let cpus = self.machine.cpus() - usize::from(reserved);
        (self.costs, self.even, self.kworker) = (Costs::None, false, None);
        self.groups.clear();
        self.toggles.clear();
        for kind in &mut self.kinds {
            (kind.nice, kind.group, kind.place, kind.from) = (0, None, Place::Any, 0);
            (kind.forever, kind.waiting) = (false, Waiting::Block);
            kind.rounds = kind.rounds.max(2);
            kind.steps.retain(|step| matches!(step, Step::Compute(_)));
            if kind.steps.is_empty() {
                kind.steps.push(Step::COMPUTE);
            }
            for step in &mut kind.steps {
                if let Step::Compute(Length { spread: spread @ Spread::Wide, .. }) = step {
                    *spread = Spread::Some;
                }
            }
            kind.period_ns = Some(kind.period_ns.map_or(10_000_000, |it| it.max(1_000_000)));
            while kind.share() > 1.0 {
                kind.halve();
            }
        }
        // The shortest that six kinds of eight steps can ask for is less than one CPU.
        while self.load() > cpus as f64 {
            let most = self.kinds.iter_mut().max_by_key(|kind| kind.count);
            match most {
                Some(most) if most.count > 1 => most.count /= 2,
                _ => self.kinds.iter_mut().for_each(Kind::halve),
            }
        }
    }

    /// CPU 0 never goes off: Linux has no such thing on x86 since 6.5, and few other machines do.
    fn mend_toggles(&mut self) {
        let cpus = self.machine.cpus() as u8;
        let mut seen = 0u64;
        self.toggles.retain_mut(|it| {
            it.cpu = (it.cpu % cpus).max(1);
            it.on_ns = it.on_ns.max(it.off_ns + 1_000_000);
            let is_new = seen & 1 << it.cpu == 0;
            seen |= 1 << it.cpu;
            is_new && cpus > 1
        });
        self.toggles.truncate(usize::from(cpus - 1).min(2));
    }

    /// Takes tasks, then rounds, until a run is short.
    fn mend_amounts(&mut self) {
        while self.tasks() > TASKS {
            let most = self.kinds.iter_mut().max_by_key(|kind| kind.count);
            most.into_iter().for_each(|kind| kind.count = (kind.count / 2).max(1));
        }
        // A child's steps are done for each time that it is created.
        let steps = |of: &Genome| {
            let each = of.kinds.iter().enumerate().map(|(n, kind)| {
                let forks = kind.steps.iter().map(|step| match step {
                    Step::Fork(child, count) => {
                        let child = &of.kinds[usize::from(*child)];
                        u64::from(*count) * u64::from(child.rounds) * child.steps.len() as u64
                    }
                    _ => 1,
                });
                let once = u64::from(kind.rounds) * forks.sum::<u64>();
                if of.role(n) == Role::Child { 0 } else { u64::from(kind.count) * once }
            });
            each.sum::<u64>()
        };
        while steps(self) > ALL_STEPS {
            let Some(most) = self.kinds.iter_mut().max_by_key(|kind| kind.rounds) else { break };
            if most.rounds > 1 {
                most.rounds = most.rounds * 3 / 4;
                continue;
            }
            let most = self.kinds.iter_mut().max_by_key(|kind| kind.count);
            most.into_iter().for_each(|kind| kind.count = (kind.count / 2).max(1));
            let forks = self.kinds.iter_mut().flat_map(|kind| &mut kind.steps);
            for step in forks {
                if let Step::Fork(_, count) = step {
                    *count = (*count / 2).max(1);
                }
            }
        }
    }
}
