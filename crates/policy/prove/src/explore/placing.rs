//! Where handlers put tasks: every queue that some path through some handler can reach.

use std::borrow::Cow;
use std::collections::BTreeSet;

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Domain, Frame, Look};
use wastenot_rota::ir::{
    Balance, Bool, Comparison, Event, Level, Num, Place as Where, Stmt, Visitor, visit_balance,
    visit_block,
};
use wastenot_rota::paths::{self, Best, Way};

use super::found::Doubt;
use super::periodic::leaders;
use super::placed::{Placed, Placings, Queue};
use super::range::{Range, Ranges, Sample, Seen};
use super::situation::{Place, Situation, Task};
use super::test::{Test, Wrong};
use super::world::World;
use crate::text::{Compared, Sets};

impl Placed {
    /// Whether a CPU is woken for the task, if it is one that sleeps and would take it.
    pub(crate) fn looks_for(&self, world: &World<'_>, cpu: CpuId) -> bool {
        let tree = world.tree();
        let near = tree.group(self.wake, cpu) == tree.group(self.wake, self.prev);
        near || self.kicked.contains(&cpu)
    }
}

/// Everywhere that a task with this affinity is put, for all that is known: on each path some
/// lengths of queues lead, or nothing but what is found.
pub fn placed<'w>(world: &'w World<'_>, mask: u32) -> Cow<'w, [Placed]> {
    match world.placings(mask, placings) {
        Cow::Borrowed(placings) => Cow::Borrowed(&placings.sure),
        Cow::Owned(placings) => Cow::Owned(placings.sure),
    }
}

/// A queue for which it is unknown whether a task comes to wait there or, if that matters to one of
/// the tests, is put there in this way.
pub(super) fn doubt(world: &World<'_>, tests: &[Test]) -> Option<Doubt> {
    let how = tests.iter().any(|test| test.wakes > 0 || test.wrong == Wrong::NotWoken);
    let mut masks = 1..1_u32 << world.cpus().len();
    masks.find_map(|mask| {
        let placings = world.placings(mask, placings);
        let known = |placed: &Placed| placings.waits.contains(&(placed.queue, placed.group));
        let put = placings.doubtful.iter().find(|placed| how || !known(placed));
        let put = put.map(|placed| Doubt::Put(placed.event, placed.queue));
        put.or(placings.perhaps.first().map(|(queue, _)| Doubt::Move(*queue)))
    })
}

/// The queues where a task with this affinity can come to wait: put there, or moved there by
/// periodic balancing.
pub fn waits<'w>(world: &'w World<'_>, mask: u32) -> Cow<'w, BTreeSet<Queue>> {
    match world.placings(mask, placings) {
        Cow::Borrowed(placings) => Cow::Borrowed(&placings.waits),
        Cow::Owned(placings) => Cow::Owned(placings.waits),
    }
}

/// Works out where tasks with this affinity are put, and moved from there.
fn placings(world: &World<'_>, mask: u32) -> Placings {
    let task = Task { place: Place::Away, mask, weight: 100 };
    let situation = Situation { tasks: vec![task], vars: Vec::new() };
    let sets = Sets::of(world.policy);
    let mut placings = Placings::default();
    for event in Event::ALL.into_iter().filter(|event| event.places()) {
        // Who is displaced, or gives way, may run where it was: a task that may not any more is
        // moved to another CPU first. Who wakes may have been confined to others meanwhile.
        let stays = matches!(event, Event::Preempt | Event::Yield);
        for (prev, here) in whereabouts(world, event) {
            if stays && !task.allowed(prev) {
                continue;
            }
            let mut walk = Walk {
                world,
                situation: &situation,
                sets: &sets,
                event,
                prev,
                here,
                sample: None,
                sure: Vec::new(),
                doubtful: Vec::new(),
            };
            walk.all();
            placings.sure.extend(walk.sure);
            placings.doubtful.extend(walk.doubtful);
        }
    }
    placings.doubtful.retain(|placed| !placings.sure.contains(placed));
    let queues = |placed: &[Placed]| placed.iter().map(|it| (it.queue, it.group)).collect();
    let moves = Moves { world, situation: &situation, sets: &sets }.all();
    placings.waits = queues(&placings.sure);
    follow(&mut placings.waits, &moves, |leads| leads == Some(true));
    let mut perhaps: BTreeSet<Queue> = queues(&placings.doubtful);
    perhaps.extend(&placings.waits);
    follow(&mut perhaps, &moves, |leads| leads != Some(false));
    let doubtful: BTreeSet<Queue> = queues(&placings.doubtful);
    perhaps.retain(|queue| !placings.waits.contains(queue) && !doubtful.contains(queue));
    placings.perhaps = perhaps;
    placings
}

/// The CPU where the task was last, and the CPU where the event happens. A waker, a task that
/// creates another one, or one that changes an affinity may be on any CPU. That matters only if the
/// handler reads it, and then the result is doubtful: counterexamples do not record the CPU of the
/// waker.
fn whereabouts(world: &World<'_>, event: Event) -> Vec<(CpuId, CpuId)> {
    let asks_here = Asks::of(&world.policy.handlers[event as usize]).here;
    let elsewhere = asks_here && event != Event::Yield;
    let heres = |prev| {
        let here = move |here: &CpuId| elsewhere || *here == prev;
        world.cpus().iter().copied().filter(here)
    };
    world.cpus().iter().flat_map(|&prev| heres(prev).map(move |here| (prev, here))).collect()
}

/// A move from one queue into another, and whether periodic balancing ever makes it, if that is
/// known.
type Move = (Queue, Queue, Option<bool>);

/// Adds where moves lead from `queues`: those that are made, for all that is known.
fn follow(queues: &mut BTreeSet<Queue>, moves: &[Move], made: impl Fn(Option<bool>) -> bool) {
    loop {
        let before = queues.len();
        for (from, into, leads) in moves {
            if queues.contains(from) && made(*leads) {
                queues.insert(*into);
            }
        }
        if queues.len() == before {
            return;
        }
    }
}

/// What periodic balancing does with a task.
struct Moves<'w, 'p> {
    world: &'w World<'p>,
    /// The task, and nothing else.
    situation: &'w Situation,
    sets: &'w Sets,
}

impl Moves<'_, '_> {
    /// Every move that has a group to take from and a CPU that may run the task.
    fn all(&self) -> Vec<Move> {
        let (world, tree) = (self.world, self.world.tree());
        let mut moves = Vec::new();
        for periodic in &world.policy.periodic {
            let balance = &periodic.balance;
            let Some(into) = balance.into else { continue };
            for by in leaders(world, periodic) {
                let own = tree.group(world.per[into], by);
                let mut members = tree.members(world.per[into], own).iter();
                if !members.any(|&cpu| self.situation.tasks[0].allowed(cpu)) {
                    continue;
                }
                for n in 0..balance.levels.len() {
                    for group in tree.victims(by, world.per[balance.from], &balance.levels, n) {
                        let leads = self.leads(balance, by, group);
                        moves.push(((balance.from, group), (into, own), leads));
                    }
                }
            }
        }
        moves
    }

    /// Whether the task is ever moved, if that is known: filter, count and re-check agree whatever
    /// there is, or in one of the samples.
    fn leads(&self, balance: &Balance, by: CpuId, group: usize) -> Option<bool> {
        let level = self.world.per[balance.from];
        let me = Some(At { level, group: self.world.tree().group(level, by) });
        let other = Some(At { level, group });
        let mut frame = Frame { me, other, here: Some(by), ..self.world.frame() };
        let mut agree = |sample| {
            let seen = Seen::begun(self.world, self.situation, self.sets, sample, false);
            let per = &self.world.per;
            let count = frame.num(&seen, per, &balance.count);
            let some = Ranges::compare(Range::point(1), Comparison::LessOrEqual, count);
            let guard = [&balance.filter, &balance.recheck].map(|it| frame.bool(&seen, per, it));
            Ranges::joined(true, guard.into_iter().chain([some]))
        };
        let waits = |sample: &Sample| sample.length(self.world, balance.from, group) >= 1;
        agree(None).or_else(|| {
            // A task has to wait, whatever the balance reads.
            let mut asks = Asks { lengths: true, ..Asks::default() };
            visit_balance(balance, &mut asks);
            let mut samples = samples(self.world, asks).into_iter().filter(waits);
            samples.any(|sample| agree(Some(sample)) == Some(true)).then_some(true)
        })
    }
}

/// Lengths of queues that are tried beside those that the text tells.
const LENGTHS: [i64; 4] = [0, 1, 3, 1000];
/// Weights that are tried beside those.
const WEIGHTS: [i64; 3] = [1, 100, 10_000];
/// Times that are tried, in ns.
const TIMES: [i64; 2] = [0, 1 << 40];

/// What a text asks for, of what samples tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asks {
    here: bool,
    pub(crate) lengths: bool,
    busy: bool,
    pub(crate) weight: bool,
    pub(crate) now: bool,
}

impl Asks {
    /// What either asks for.
    pub(crate) fn and(self, other: Asks) -> Asks {
        Asks {
            here: self.here || other.here,
            lengths: self.lengths || other.lengths,
            busy: self.busy || other.busy,
            weight: self.weight || other.weight,
            now: self.now || other.now,
        }
    }
    pub(crate) fn of(block: &[Stmt]) -> Asks {
        let mut asks = Asks::default();
        visit_block(block, &mut asks);
        asks
    }
}

impl Visitor for Asks {
    fn place(&mut self, place: &Where) {
        self.here |= *place == Where::Here;
    }
    fn num(&mut self, num: &Num) {
        match num {
            Num::Queued(_) | Num::QueuedWeight(_) => self.lengths = true,
            Num::Running(_) | Num::RunningWeight(_) => self.busy = true,
            Num::Weight => self.weight = true,
            Num::Now => self.now = true,
            _ => {}
        }
    }
    fn bool(&mut self, condition: &Bool) {
        self.busy |= matches!(condition, Bool::Idle(_));
    }
}

/// Those that the text tells, so many at most, and these; one, if it makes no difference.
fn tried(asked: bool, told: &[i64], others: &[i64], most: usize) -> Vec<i64> {
    if !asked {
        return others[..1].to_vec();
    }
    let mut all = told[..told.len().min(most)].to_vec();
    let more: Vec<i64> = others.iter().copied().filter(|it| !all.contains(it)).collect();
    all.extend(more);
    all
}

/// What is tried where it is not known which way a handler goes.
fn samples(world: &World<'_>, asks: Asks) -> Vec<Sample> {
    let told = Compared::of(world.policy);
    // Every length is tried with each other one, and with each weight.
    let (long, heavy) = if asks.lengths && asks.weight { (4, 6) } else { (8, 30) };
    let lengths = tried(asks.lengths, &told.lengths, &LENGTHS, long);
    let weights = tried(asks.weight, &told.weights, &WEIGHTS, heavy);
    let busies: &[bool] = if asks.busy { &[false, true] } else { &[false] };
    let times = if asks.now { &TIMES[..] } else { &TIMES[..1] };
    let cpus = if asks.lengths { world.cpus() } else { &world.cpus()[..1] };
    let mut all = Vec::new();
    for lengths in lengths.iter().flat_map(|own| lengths.iter().map(move |others| (*own, *others)))
    {
        for (&apart, &busy) in cpus.iter().flat_map(|cpu| busies.iter().map(move |it| (cpu, it))) {
            for (&weight, &now) in
                weights.iter().flat_map(|it| times.iter().map(move |at| (it, at)))
            {
                all.push(Sample { apart, lengths, busy, weight, now });
            }
        }
    }
    all
}

/// Whether statements change nothing but variables: which way is gone is of no matter then.
fn is_quiet(block: &[Stmt]) -> bool {
    block.iter().all(|stmt| match stmt {
        Stmt::SetTask(..) | Stmt::SetCpu { .. } | Stmt::Let(..) => true,
        Stmt::If { then, otherwise, .. } => is_quiet(then) && is_quiet(otherwise),
        _ => false,
    })
}

/// The ways through the handler of an event.
struct Walk<'w, 'p> {
    world: &'w World<'p>,
    situation: &'w Situation,
    sets: &'w Sets,
    event: Event,
    prev: CpuId,
    here: CpuId,
    sample: Option<Sample>,
    sure: Vec<Placed>,
    doubtful: Vec<Placed>,
}

impl Walk<'_, '_> {
    /// First with nothing known but the machine and the task; then, where that does not say which
    /// way is gone, in many samples.
    fn all(&mut self) {
        self.goes();
        if self.here != self.prev {
            return;
        }
        let mut open = std::mem::take(&mut self.doubtful);
        if open.is_empty() {
            return;
        }
        let asks = Asks::of(&self.world.policy.handlers[self.event as usize]);
        for sample in samples(self.world, asks) {
            open.retain(|placed| !self.sure.contains(placed));
            if open.is_empty() {
                break;
            }
            self.sample = Some(sample);
            self.goes();
        }
        open.retain(|placed| !self.sure.contains(placed));
        self.doubtful = open;
    }

    fn goes(&mut self) {
        let Walk { world, situation, sets, event, prev, here, sample, .. } = *self;
        let frame = Frame { prev: Some(prev), here: Some(here), ..world.frame() };
        let seen = Seen::begun(world, situation, sets, sample, event == Event::New);
        let seen = Seen { prev: Some(prev), here: Some(here), ..seen };
        let begun = Gone { seen, frame, wake: Level::Cpu, kicked: Vec::new(), sure: here == prev };
        let body = &world.policy.handlers[event as usize];
        paths::follow(body, begun, &mut |gone: Gone<'_, '_>| {
            let sure = gone.sure;
            let Some(placed) = gone.placed(event, prev) else { return };
            let into = if sure { &mut self.sure } else { &mut self.doubtful };
            if !into.contains(&placed) {
                into.push(placed);
            }
        });
    }
}

/// A way, as far as it was gone.
#[derive(Clone)]
struct Gone<'w, 'p> {
    seen: Seen<'w, 'p>,
    frame: Frame<Ranges>,
    /// How far the put looks for a CPU.
    wake: Level,
    kicked: Vec<CpuId>,
    /// Nothing but what is known decided it.
    sure: bool,
}

impl<'p> Way<'p> for Gone<'_, 'p> {
    fn does(&mut self, stmt: &'p Stmt) -> bool {
        match stmt {
            Stmt::Let(slot, num) => {
                let value = self.num(num);
                self.frame.set_local(*slot, value);
            }
            Stmt::SetTask(var, num) => {
                self.seen.task_vars[*var] = self.num(num);
            }
            // Of this CPU or of another one.
            Stmt::SetCpu { var, .. } => self.seen.cpu_vars[*var] = Range::ANY,
            Stmt::Put(put) => {
                let queue = put.queue.queue;
                let per = self.seen.world.per[queue];
                let group = self.frame.queue(&self.seen, &put.queue, per);
                (self.seen.put, self.wake) = (Some((queue, group)), put.wake);
                // No CPU is looked for that a kick could add to.
                return put.wake != Level::Machine;
            }
            Stmt::Kick { cpu, .. } if self.seen.put.is_some() => {
                self.kicked.push(self.frame.cpu(&self.seen, cpu));
            }
            _ => {}
        }
        true
    }

    fn claims(self, slot: usize, within: Option<Level>, near: &'p Where) -> Vec<Self> {
        let look = self.seen.look;
        let inside = self.seen.world.inside(self.frame.place(&self.seen, near), within);
        let able = inside.into_iter().filter(|&cpu| look.allowed(cpu));
        std::iter::once(None).chain(able.map(Some)).map(|found| self.found(slot, found)).collect()
    }

    fn picks(mut self, slot: usize, best: Best<'p>) -> Vec<Self> {
        let best = self.best(best);
        let sure = self.sure && best.len() == 1;
        let found = |cpu| Gone { sure, ..self.found(slot, Some(cpu)) };
        best.into_iter().map(found).collect()
    }

    fn branches(
        mut self,
        condition: &'p Bool,
        then: &'p [Stmt],
        otherwise: &'p [Stmt],
    ) -> Vec<(Self, &'p [Stmt])> {
        match self.frame.bool(&self.seen, &self.seen.world.per, condition) {
            Some(holds) => vec![(self, if holds { then } else { otherwise })],
            None if is_quiet(then) && is_quiet(otherwise) => {
                [then, otherwise].iter().for_each(|branch| self.forgets(branch));
                vec![(self, &[])]
            }
            None => {
                let unsure = Gone { sure: false, ..self };
                vec![(unsure.clone(), then), (unsure, otherwise)]
            }
        }
    }
}

impl<'w, 'p> Gone<'w, 'p> {
    /// Where the task is put, if it is.
    fn placed(mut self, event: Event, prev: CpuId) -> Option<Placed> {
        let ((queue, group), wake) = (self.seen.put?, self.wake);
        let mut placed = Placed { queue, group, prev, event, wake, kicked: Vec::new() };
        let mut kicked = std::mem::take(&mut self.kicked);
        let look = self.seen.look;
        kicked.retain(|&cpu| look.allowed(cpu) && !placed.looks_for(self.seen.world, cpu));
        kicked.sort_unstable();
        kicked.dedup();
        placed.kicked = kicked;
        Some(placed)
    }

    /// The same way, on which this was found.
    fn found(&self, slot: usize, found: Option<CpuId>) -> Self {
        let mut next = self.clone();
        next.frame.set_slot(slot, found);
        next
    }

    /// The CPUs of a set that may be the one for which `key` is greatest, or least.
    fn best(&mut self, (set, item, key, greatest): Best<'p>) -> Vec<CpuId> {
        let members = self.frame.set(&self.seen, set);
        let key = |cpu| {
            self.frame.bind(item, cpu);
            self.num(key)
        };
        let keys: Vec<Range> = members.iter().copied().map(key).collect();
        // Of equals the lowest.
        let beaten = |n: usize| {
            let ahead = |m: usize| if greatest { (n, m) } else { (m, n) };
            (0..keys.len()).any(|m| {
                let (low, high) = ahead(m);
                m != n && keys[low].is_below(keys[high], m < n)
            })
        };
        let best = members.iter().enumerate().filter(|(n, _)| !beaten(*n));
        best.map(|(_, cpu)| *cpu).collect()
    }

    /// Nothing is known any more of what a block may have set.
    fn forgets(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::SetTask(var, _) => self.seen.task_vars[*var] = Range::ANY,
                Stmt::SetCpu { var, .. } => self.seen.cpu_vars[*var] = Range::ANY,
                Stmt::Let(slot, _) => self.frame.set_local(*slot, Range::ANY),
                Stmt::If { then, otherwise, .. } => {
                    self.forgets(then);
                    self.forgets(otherwise);
                }
                _ => {}
            }
        }
    }

    fn num(&mut self, num: &Num) -> Range {
        self.frame.num(&self.seen, &self.seen.world.per, num)
    }
}
