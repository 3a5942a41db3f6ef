//! Where handlers put tasks: every queue that some path through some handler can reach.

use std::borrow::Cow;
use std::collections::BTreeSet;

use wastenot_model::CpuId;
use wastenot_rota::eval::Frame;
use wastenot_rota::ir::{Event, Level, Num, Policy, Put, Set, Stmt, Visitor, visit};

use super::range::{Range, Sample, Seen};
use super::situation::{Place, Situation, Task, World};

/// A place where a handler puts a task that may run on some CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The queue.
    pub queue: usize,
    /// Whose.
    pub group: usize,
    /// Where the task was last.
    pub prev: CpuId,
    /// By which event.
    pub event: Event,
    /// Idle CPUs are looked for in this group of where it was last.
    pub wake: Level,
    /// Others that the handler kicks afterwards.
    pub kicked: Vec<CpuId>,
}

impl Placed {
    /// Whether a CPU is woken for the task, if it is one that sleeps and would take it.
    pub(crate) fn looks_for(&self, world: &World<'_>, cpu: CpuId) -> bool {
        let tree = world.tree();
        let near = tree.group(self.wake, cpu) == tree.group(self.wake, self.prev);
        near || self.kicked.contains(&cpu)
    }
}

/// Where tasks that may run on some CPUs are put.
#[derive(Clone, Debug, Default)]
pub struct Placings {
    /// Each by a path that some handler goes.
    sure: Vec<Placed>,
    /// By a path of which that is not known: one of them.
    doubtful: Option<Placed>,
}

/// Everywhere that a task with this affinity is put, for all that is known: on each path some
/// lengths of queues lead, or nothing but what is found.
pub fn placed<'w>(world: &'w World<'_>, mask: u32) -> Cow<'w, [Placed]> {
    match world.placings(mask) {
        Cow::Borrowed(placings) => Cow::Borrowed(&placings.sure),
        Cow::Owned(placings) => Cow::Owned(placings.sure),
    }
}

/// A place where a task may be put, or may not: nobody knows whether the handler goes that way.
pub(super) fn doubtful(world: &World<'_>) -> Option<Placed> {
    let mut masks = 1..1_u32 << world.cpus().len();
    masks.find_map(|mask| world.placings(mask).doubtful.clone())
}

/// The queues where a task with this affinity can come to wait: put there, or moved there by
/// periodic balancing.
pub fn waits(world: &World<'_>, mask: u32) -> BTreeSet<(usize, usize)> {
    let mut queues: BTreeSet<(usize, usize)> =
        placed(world, mask).iter().map(|placed| (placed.queue, placed.group)).collect();
    loop {
        let before = queues.len();
        for periodic in &world.policy.periodic {
            let balance = &periodic.balance;
            let Some(into) = balance.into else { continue };
            if !queues.iter().any(|&(queue, _)| queue == balance.from) {
                continue;
            }
            // Whoever balances takes what may run on it.
            let able = world.cpus().iter().filter(|cpu| mask >> cpu.0 & 1 == 1);
            let groups = able.map(|&cpu| (into, world.tree().group(world.per[into], cpu)));
            queues.extend(groups);
        }
        if queues.len() == before {
            return queues;
        }
    }
}

/// Works out where tasks with this affinity are put.
pub(super) fn placings(world: &World<'_>, mask: u32) -> Placings {
    let task = Task { place: Place::Away, mask, weight: 100 };
    let situation = Situation { tasks: vec![task], vars: Vec::new() };
    let sets = Sets::of(world.policy);
    let mut placings = Placings::default();
    for event in Event::ALL.into_iter().filter(|event| event.places()) {
        for &prev in world.cpus() {
            let mut walk = Walk {
                world,
                situation: &situation,
                sets: &sets,
                event,
                prev,
                sample: None,
                sure: Vec::new(),
                doubtful: Vec::new(),
            };
            walk.all();
            let (sure, doubtful) = (walk.sure, walk.doubtful);
            placings.sure.extend(sure);
            placings.doubtful = placings.doubtful.or(doubtful.into_iter().next());
        }
    }
    placings
}

/// Which variables handlers set, and which queues tasks come into.
struct Sets {
    task: Vec<bool>,
    cpu: Vec<bool>,
    fed: Vec<bool>,
}

impl Sets {
    fn of(policy: &Policy) -> Sets {
        let mut sets = Sets {
            task: vec![false; policy.task_vars.len()],
            cpu: vec![false; policy.cpu_vars.len()],
            fed: vec![false; policy.queues.len()],
        };
        visit(policy, &mut sets);
        for into in policy.periodic.iter().filter_map(|periodic| periodic.balance.into) {
            sets.fed[into] = true;
        }
        sets
    }
}

impl Visitor for Sets {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::SetTask(var, _) => self.task[*var] = true,
            Stmt::SetCpu { var, .. } => self.cpu[*var] = true,
            Stmt::Put(put) => self.fed[put.queue.queue] = true,
            _ => {}
        }
    }
}

/// Lengths of queues that are tried.
const LENGTHS: [i64; 4] = [0, 1, 3, 1000];
/// Weights that are tried.
const WEIGHTS: [i64; 3] = [1, 100, 10_000];
/// Times that are tried, in ns.
const TIMES: [i64; 2] = [0, 1 << 40];

/// What is tried where it is not known which way a handler goes.
fn samples(world: &World<'_>) -> impl Iterator<Item = Sample> {
    let lengths = LENGTHS.into_iter().flat_map(|own| LENGTHS.map(|others| (own, others)));
    let rest = [false, true].into_iter().flat_map(|busy| {
        WEIGHTS.into_iter().flat_map(move |weight| TIMES.map(|now| (busy, weight, now)))
    });
    lengths.flat_map(move |lengths| {
        let rest = rest.clone();
        world.cpus().iter().flat_map(move |&apart| {
            let of = move |(busy, weight, now)| Sample { apart, lengths, busy, weight, now };
            rest.clone().map(of)
        })
    })
}

/// The ways through the handler of an event.
struct Walk<'w, 'p> {
    world: &'w World<'p>,
    situation: &'w Situation,
    sets: &'w Sets,
    event: Event,
    prev: CpuId,
    sample: Option<Sample>,
    sure: Vec<Placed>,
    doubtful: Vec<Placed>,
}

/// A way, as far as it was gone.
#[derive(Clone)]
struct Way<'p> {
    frame: Frame,
    task_vars: Vec<Range>,
    cpu_vars: Vec<Range>,
    locals: Vec<Range>,
    put: Option<&'p Put>,
    kicked: Vec<CpuId>,
    /// Nothing but what is known decided it.
    sure: bool,
}

impl<'w, 'p> Walk<'w, 'p> {
    /// First with nothing known but the machine and the task; then, where that does not say which
    /// way is gone, in many samples.
    fn all(&mut self) {
        self.goes();
        let mut open = std::mem::take(&mut self.doubtful);
        for sample in samples(self.world) {
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
        let policy = self.world.policy;
        // Whoever ran there was allowed to, unless its affinity was changed meanwhile: then it is
        // woken or displaced, and `prev` may be anything.
        let frame = Frame { prev: Some(self.prev), here: Some(self.prev), ..self.world.frame() };
        let is_new = self.event == Event::New;
        let known = |known: bool, value| if known { Range::point(value) } else { Range::ANY };
        let task = policy.task_vars.iter().zip(&self.sets.task);
        // Who came before may have set variables of CPUs, or not.
        let cpu = policy.cpu_vars.iter().zip(&self.sets.cpu);
        let begun = Way {
            frame,
            task_vars: task.map(|(var, set)| known(is_new || !set, var.value)).collect(),
            cpu_vars: cpu
                .map(|(var, set)| known(self.sample.is_some() || !set, var.value))
                .collect(),
            locals: Vec::new(),
            put: None,
            kicked: Vec::new(),
            sure: true,
        };
        self.follow(&[&policy.handlers[self.event as usize]], begun);
    }

    /// `blocks` are done one after the other, the last first.
    fn follow(&mut self, blocks: &[&'p [Stmt]], mut way: Way<'p>) {
        let mut blocks = blocks.to_vec();
        while let Some(block) = blocks.last_mut() {
            let Some((stmt, rest)) = block.split_first() else {
                blocks.pop();
                continue;
            };
            *block = rest;
            let look = self.world.look(self.situation, Some(0));
            match stmt {
                Stmt::Claim { slot, within, near, .. } => {
                    let near = way.frame.place(&look, near);
                    let inside = self.world.inside(near, *within);
                    let able = inside.into_iter().filter(|&cpu| look.may_run(cpu));
                    for found in std::iter::once(None).chain(able.map(Some)) {
                        let mut next = way.clone();
                        next.frame.set_slot(*slot, found);
                        self.follow(&blocks, next);
                    }
                    return;
                }
                Stmt::Pick { slot, set, item, key, greatest } => {
                    let best = self.best(&way, (set, *item, key, *greatest));
                    let sure = way.sure && best.len() == 1;
                    for cpu in best {
                        let mut next = Way { sure, ..way.clone() };
                        next.frame.set_slot(*slot, Some(cpu));
                        self.follow(&blocks, next);
                    }
                    return;
                }
                Stmt::If { condition, then, otherwise } => {
                    let mut frame = way.frame.clone();
                    let holds = self.seen(&way).bool(&mut frame, condition);
                    for branch in [(true, then), (false, otherwise)] {
                        if holds.is_none_or(|holds| holds == branch.0) {
                            let mut blocks = blocks.clone();
                            blocks.push(branch.1);
                            let sure = way.sure && holds.is_some();
                            self.follow(&blocks, Way { sure, ..way.clone() });
                        }
                    }
                    return;
                }
                // Nobody is looked for whom a kick could add to.
                Stmt::Put(put) if put.wake == Level::Machine => {
                    way.put = Some(put);
                    break;
                }
                plain => self.does(plain, &mut way),
            }
        }
        self.ends(way);
    }

    /// A statement that leads on.
    fn does(&self, stmt: &'p Stmt, way: &mut Way<'p>) {
        let mut frame = way.frame.clone();
        match stmt {
            Stmt::Let(slot, num) => {
                let value = self.seen(way).num(&mut frame, num);
                way.locals.resize(way.locals.len().max(slot + 1), Range::ANY);
                way.locals[*slot] = value;
            }
            Stmt::SetTask(var, num) => {
                way.task_vars[*var] = self.seen(way).num(&mut frame, num);
            }
            // Of this CPU or of another one.
            Stmt::SetCpu { var, .. } => way.cpu_vars[*var] = Range::ANY,
            Stmt::Put(put) => way.put = Some(put),
            Stmt::Kick { cpu, .. } if way.put.is_some() => {
                let look = self.world.look(self.situation, Some(0));
                way.kicked.push(frame.cpu(&look, cpu));
            }
            _ => {}
        }
    }

    fn ends(&mut self, way: Way<'p>) {
        let Some(put) = way.put else { return };
        let look = self.world.look(self.situation, Some(0));
        let queue = put.queue.queue;
        let group = way.frame.queue(&look, &put.queue, self.world.per[queue]);
        let (prev, event, wake) = (self.prev, self.event, put.wake);
        let mut placed = Placed { queue, group, prev, event, wake, kicked: Vec::new() };
        let mut kicked = way.kicked;
        kicked.retain(|&cpu| look.may_run(cpu) && !placed.looks_for(self.world, cpu));
        kicked.sort_unstable();
        kicked.dedup();
        placed.kicked = kicked;
        let into = if way.sure { &mut self.sure } else { &mut self.doubtful };
        if !into.contains(&placed) {
            into.push(placed);
        }
    }

    /// The CPUs of a set that may be the one for which `key` is greatest, or least.
    fn best(
        &self,
        way: &Way<'p>,
        (set, item, key, greatest): (&Set, usize, &Num, bool),
    ) -> Vec<CpuId> {
        let seen = self.seen(way);
        let mut frame = way.frame.clone();
        let members = seen.members(set, &frame);
        let key = |cpu| {
            frame.bind(item, cpu);
            seen.num(&mut frame, key)
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

    fn seen<'a>(&'a self, way: &'a Way<'p>) -> Seen<'a, 'p> {
        Seen {
            world: self.world,
            look: self.world.look(self.situation, Some(0)),
            sample: self.sample,
            fed: &self.sets.fed,
            task_vars: &way.task_vars,
            cpu_vars: &way.cpu_vars,
            locals: &way.locals,
        }
    }
}
