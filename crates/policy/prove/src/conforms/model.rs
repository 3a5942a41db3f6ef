//! What the texts of a program allow, in the numbers of the emitted code.

use std::collections::BTreeSet;

use wastenot_model::{CpuId, CpuSet, Machine};
use wastenot_rota::ir::visit_block;
use wastenot_rota::ir::{
    Attempt, Event, Level, Periodic, Place, Policy, Program, Put, Stmt, Visitor,
};
use wastenot_rota::step_log::QueueNumber;
use wastenot_rota::{Tree, partitions};

/// The model of a program on a machine.
pub(super) struct Model<'p> {
    parts: Vec<Part<'p>>,
    /// By CPU.
    part_of: Vec<Option<usize>>,
}

/// A partition.
pub(super) struct Part<'p> {
    pub(super) policy: &'p Policy,
    pub(super) tree: Tree,
    /// Its number.
    number: usize,
    /// The number of its policy's first queue.
    kinds: usize,
    /// By level: the number of its first group.
    groups: [usize; Level::ALL.len()],
}

impl<'p> Model<'p> {
    pub(super) fn new(program: &'p Program, machine: &Machine) -> Model<'p> {
        let (mut parts, mut part_of) = (Vec::new(), vec![None; machine.len()]);
        let mut groups = [0; Level::ALL.len()];
        for (n, cpus) in partitions::cpus(program, machine).into_iter().enumerate() {
            let policy = program.partitions.get(n).map_or(0, |it| it.policy);
            let Some(of) = program.policies.get(policy) else { continue };
            let tree = Tree::of(machine, &cpus);
            for cpu in tree.cpus() {
                part_of[cpu.index()] = Some(n);
            }
            let kinds = program.policies[..policy].iter().map(|it| it.queues.len()).sum();
            parts.push(Part { policy: of, tree, number: n, kinds, groups });
            let Some(Part { tree, .. }) = parts.last() else { continue };
            for level in Level::ALL {
                groups[level as usize] += tree.count(level);
            }
        }
        Model { parts, part_of }
    }

    /// How many partitions there are.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The partition of a CPU, and what it does.
    pub(super) fn of_cpu(&self, cpu: u16) -> Option<&Part<'p>> {
        self.parts.iter().find(|it| Some(it.number) == self.part_of(cpu))
    }

    /// The regular balance of this number, counted over all partitions.
    pub(super) fn regular(&self, number: u64) -> Option<(&Part<'p>, &'p Periodic)> {
        let all = self.parts.iter().map(|part| (part, part.policy));
        let mut all = all.flat_map(|(part, of)| of.periodic.iter().map(move |it| (part, it)));
        all.nth(number as usize)
    }

    /// The policies of all partitions.
    pub(super) fn policies(&self) -> impl Iterator<Item = &'p Policy> {
        self.parts.iter().map(|it| it.policy)
    }

    pub(super) fn cpus(&self) -> usize {
        self.part_of.len()
    }

    /// The partition of a CPU.
    pub(super) fn part_of(&self, cpu: u16) -> Option<usize> {
        self.part_of.get(usize::from(cpu)).copied().flatten()
    }

    /// The CPUs of a partition.
    pub(super) fn cpus_of(&self, part: usize) -> &[CpuId] {
        self.parts.get(part).map_or(&[], |it| it.tree.cpus())
    }

    /// The queue of the text: its policy, and which it is there.
    fn queue(&self, queue: QueueNumber) -> Option<(&Part<'p>, usize)> {
        let part = self.parts.get(queue.part)?;
        let kind = queue.kind.checked_sub(part.kinds)?;
        (kind < part.policy.queues.len()).then_some((part, kind))
    }

    /// Whether the policy has such a queue.
    pub(super) fn has(&self, queue: QueueNumber) -> bool {
        self.queue(queue).is_some_and(|(part, kind)| match queue.pinned {
            true => part.tree.has(CpuId(queue.group as u16)),
            false => part.group(queue.group, part.policy.queues[kind].per).is_some(),
        })
    }

    /// Whether a queue is ordered by a key.
    pub(super) fn is_ordered(&self, queue: QueueNumber) -> bool {
        self.queue(queue).is_some_and(|(part, kind)| part.policy.queues[kind].key.is_some())
    }

    /// Whether a CPU that dispatches looks into a queue, as long as it finds no task.
    pub(super) fn looks(&self, cpu: u16, queue: QueueNumber) -> bool {
        let Some((part, kind)) = self.queue(queue) else { return false };
        let cpu = CpuId(cpu);
        if !part.tree.has(cpu) {
            return false;
        }
        let per = part.policy.queues[kind].per;
        let own = part.tree.group(per, cpu);
        let takes = |attempt: &Attempt| match attempt {
            Attempt::Take(at, _) => at.queue == kind && is_around(&at.at, per),
            Attempt::Balance => false,
        };
        let takes_own = part.policy.dispatch.iter().any(takes);
        if queue.pinned {
            return takes_own && queue.group == cpu.index();
        }
        let Some(group) = part.group(queue.group, per) else { return false };
        if takes_own && group == own {
            return true;
        }
        let balances = part.policy.dispatch.iter().any(|it| matches!(it, Attempt::Balance));
        part.policy.idle.as_ref().filter(|it| balances && it.from == kind).is_some_and(|idle| {
            let widest = idle.levels.iter().max().copied().unwrap_or(Level::Cpu);
            let first = part.tree.members(per, group)[0];
            group != own && part.tree.group(widest, first) == part.tree.group(widest, cpu)
        })
    }

    /// Whether a handler can put a task with this affinity into a queue. `home` is the task's home,
    /// `here` where the event happens.
    pub(super) fn puts(&self, event: u64, queue: QueueNumber, home: u16, allowed: &CpuSet) -> bool {
        let Some((part, kind)) = self.queue(queue) else { return false };
        let events = [Event::New, Event::Wake, Event::Preempt, Event::Yield];
        let Some(event) = events.get(event as usize) else { return false };
        let mut puts = Puts(Vec::new());
        visit_block(&part.policy.handlers[*event as usize], &mut puts);
        let mut of_kind = puts.0.iter().filter(|put| put.queue.queue == kind);
        if queue.pinned {
            return queue.group == usize::from(home) && of_kind.next().is_some();
        }
        let per = part.policy.queues[kind].per;
        let Some(group) = part.group(queue.group, per) else { return false };
        of_kind.any(|put| match part.places(&put.queue.at, per, home, allowed) {
            None => true,
            Some(groups) => groups.contains(&group),
        })
    }

    /// A queue in words.
    pub(super) fn name(&self, queue: QueueNumber) -> String {
        let Some((part, kind)) = self.queue(queue) else { return format!("queue {queue:?}") };
        let of = &part.policy.queues[kind];
        if queue.pinned {
            return format!(
                "the part of `{}` for tasks that only CPU {} may run",
                of.name, queue.group
            );
        }
        match (of.per, part.group(queue.group, of.per)) {
            (Level::Machine, _) => format!("`{}`", of.name),
            (Level::Cpu, Some(group)) => {
                format!("`{}` of CPU {}", of.name, part.tree.members(Level::Cpu, group)[0].0)
            }
            (per, _) => format!("`{}` of {} {}", of.name, per.name(), queue.group),
        }
    }
}

impl Part<'_> {
    /// The number of a queue that tasks with several CPUs share.
    pub(super) fn number_of(&self, queue: usize, group: usize) -> Option<QueueNumber> {
        let per = self.policy.queues.get(queue)?.per;
        let (kind, group) = (self.kinds + queue, self.groups[per as usize] + group);
        Some(QueueNumber { part: self.number, kind, group, pinned: false })
    }

    /// Which queue of the text a number names; `None` if it is of another policy.
    pub(super) fn kind(&self, queue: QueueNumber) -> Option<usize> {
        let kind = queue.kind.checked_sub(self.kinds)?;
        (queue.part == self.number && kind < self.policy.queues.len()).then_some(kind)
    }

    /// Whether a queue is that of a CPU's own group.
    pub(super) fn is_own(&self, queue: QueueNumber, cpu: CpuId) -> bool {
        if queue.pinned {
            return queue.group == cpu.index();
        }
        let per = self.kind(queue).map(|kind| self.policy.queues[kind].per);
        per.is_some_and(|per| self.group(queue.group, per) == Some(self.tree.group(per, cpu)))
    }

    /// A group of this partition, from its number over all partitions.
    pub(super) fn group(&self, number: usize, level: Level) -> Option<usize> {
        let group = number.checked_sub(self.groups[level as usize])?;
        (group < self.tree.count(level)).then_some(group)
    }

    /// The groups that a place can name; `None`: any.
    fn places(
        &self,
        place: &Place,
        per: Level,
        home: u16,
        allowed: &CpuSet,
    ) -> Option<BTreeSet<usize>> {
        match place {
            Place::Home => {
                let home = CpuId(home);
                Some(self.tree.has(home).then(|| self.tree.group(per, home)).into_iter().collect())
            }
            Place::Of(_, inner) => self.places(inner, per, home, allowed),
            Place::Slot(_) => {
                let may = self.tree.cpus().iter().filter(|cpu| allowed.contains(**cpu));
                Some(may.map(|cpu| self.tree.group(per, *cpu)).collect())
            }
            _ => None,
        }
    }
}

/// All `put`s of a handler.
struct Puts(Vec<Put>);

impl Visitor for Puts {
    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Put(put) = stmt {
            self.0.push(put.clone());
        }
    }
}

/// Whether a place is, for a CPU that dispatches, in its own group of that level.
pub(super) fn is_around(place: &Place, per: Level) -> bool {
    match place {
        Place::Me => true,
        Place::Machine => per == Level::Machine,
        Place::Of(level, inner) => *level <= per && is_around(inner, per),
        _ => false,
    }
}
