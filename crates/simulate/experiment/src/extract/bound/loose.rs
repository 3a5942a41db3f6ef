//! The programs of a History on an unlimited number of CPUs, without anything that another schedule
//! could decide.
//!
//! Nothing happens here later than under any schedule. Locks exclude no task. Each task sees all
//! tokens of a pipe: it can take its nth token after n tokens were put, and there is room for its
//! nth token after enough tokens were taken. Its nth meeting at a barrier is over after the tasks
//! of n meetings arrived; its nth wait at a condition ends after n signals. Counts only grow, and
//! under any schedule each count is reached later; step by step, so is everything that waits for a
//! count. If all users of a barrier meet at it, and if a task waits for all its children, what was
//! done since the last meeting or the first fork must fit on the CPUs; what was done under one lock
//! must be done one after the other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use wastenot_model::workload::Step;
use wastenot_model::{CpuSet, Machine, Span};

use super::needed::needed;
use super::plan::{Op, Plan, Walk, fastest};
use super::tails::{Done, Entry, Shared};
use super::{Basis, Bound};

/// The maximum number of steps.
const STEPS: u64 = 1 << 22;

/// The state of the programs.
#[derive(Debug)]
pub(super) struct Loose<'p> {
    plan: &'p Plan,
    cpus: u64,
    tasks: Vec<Task<'p>>,
    pipes: Vec<Pipe>,
    barriers: Vec<Barrier>,
    conditions: Vec<(u64, Vec<u32>)>,
    /// Which task continues when.
    due: BinaryHeap<Reverse<(u64, u64, u32)>>,
    pushed: u64,
    steps: u64,
    /// How many awaited tasks have not ended.
    left: usize,
    path: u64,
    log: Vec<Entry>,
}

#[derive(Debug)]
struct Task<'p> {
    walk: Walk<'p>,
    start: u64,
    /// The number of the last time that was set for the task to continue.
    ticket: u64,
    waits: Option<Waits>,
    /// Its CPU time, and its CPU time plus sleep.
    work: u64,
    own: u64,
    /// Counts by shared object: tokens taken and put, meetings, waits at conditions.
    taken: BTreeMap<usize, u64>,
    put: BTreeMap<usize, u64>,
    met: BTreeMap<usize, u64>,
    woken: BTreeMap<usize, u64>,
    /// Its work, and its time under each lock, when it last left each barrier.
    left: BTreeMap<usize, (u64, BTreeMap<usize, u64>)>,
    /// Its time under each lock.
    locked: BTreeMap<usize, u64>,
    /// The locks that it holds: since when, its own time then, and how often it had left a barrier.
    holds: Vec<(usize, u64, u64, u64)>,
    meetings: u64,
    parent: Option<u32>,
    forks: usize,
    reaped: usize,
    ended_children: usize,
    /// Since it last had no children: the first child, when that was forked, and its own work then.
    batch: Option<(usize, u64, u64)>,
    beat: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Waits {
    Token(usize),
    Room(usize, u64),
    Barrier(usize, u64),
    /// A meeting at which all have arrived, until it is over.
    Over(usize, u64, u64),
    Signal(usize, u64),
    Children {
        count: usize,
    },
    Until(u64),
}

#[derive(Debug)]
struct Pipe {
    capacity: Option<u64>,
    initial: u64,
    puts: u64,
    gets: u64,
    /// The tokens among them that awaited tasks put.
    awaited_puts: u64,
    awaited_gets: u64,
    waiting: Vec<u32>,
}

#[derive(Debug)]
struct Barrier {
    parties: u64,
    /// Whether all users meet each time.
    whole: bool,
    arrivals: u64,
    waiting: Vec<u32>,
    /// When the last meeting was over.
    over: Option<u64>,
    /// The least time from each meeting to the next.
    phases: Vec<u64>,
}

impl Plan {
    /// The lower bounds on these CPUs of `machine`; `None` if computing them takes too long.
    pub(super) fn bound(&self, machine: &Machine, online: &CpuSet) -> Option<Bound> {
        let fastest = self.fastest.max(fastest(machine));
        // A task whose CPUs are all offline may run anywhere.
        let usable = |set: Option<&CpuSet>| match set.map(|set| set.and(online)) {
            Some(set) if !set.is_empty() && !self.plugged => set,
            _ => online.clone(),
        };
        let done = Loose::run(self, fastest, online.len(), usable)?;
        Some(Bound {
            basis: Basis::Programs,
            path: Some(Span(done.path)),
            lock: done.lock().map(Span),
            work: Span(done.work(online)),
            affinity: done.affinity(online).map(|(set, span)| (set, Span(span))),
        })
    }
}

impl<'p> Loose<'p> {
    /// Runs until all awaited tasks have ended; `None` if that takes too many steps.
    pub(super) fn run(
        plan: &'p Plan,
        fastest: u64,
        cpus: usize,
        usable: impl Fn(Option<&CpuSet>) -> CpuSet,
    ) -> Option<Done> {
        let load = &plan.programs.workload;
        let barriers = load.barriers.iter().zip(&plan.users.barriers);
        let pipes = load.pipes.iter().map(|pipe| Pipe {
            capacity: pipe.capacity.map(u64::from),
            initial: u64::from(pipe.tokens),
            puts: 0,
            gets: 0,
            awaited_puts: 0,
            awaited_gets: 0,
            waiting: Vec::new(),
        });
        let mut run = Loose {
            plan,
            cpus: cpus.max(1) as u64,
            tasks: plan.members.iter().map(|it| Task::of(plan, it, fastest)).collect(),
            pipes: pipes.collect(),
            barriers: barriers.map(|(it, &users)| Barrier::of(it.parties, users)).collect(),
            conditions: vec![(0, Vec::new()); load.conditions.len()],
            due: BinaryHeap::new(),
            pushed: 0,
            steps: 0,
            left: plan.members.iter().filter(|member| member.awaited).count(),
            path: 0,
            log: Vec::new(),
        };
        for (task, member) in plan.members.iter().enumerate() {
            if let Some(at) = member.launched {
                run.go_on(task as u32, at.0);
            }
        }
        while run.left > 0 {
            let Reverse((now, ticket, task)) = run.due.pop()?;
            if run.tasks[task as usize].ticket == ticket {
                run.proceed(task, now)?;
            }
        }
        let needed = needed(plan, run.pipes.iter().map(Pipe::lacks), fastest);
        let phases = run.barriers.into_iter().map(|barrier| barrier.phases).collect();
        let drained = run.pipes.iter().map(Pipe::is_drained).collect();
        let done = Done::of(plan, &run.log, &Shared { phases, drained }, usable);
        Some(done.with(run.path, needed))
    }

    /// `task` continues at this time, and not at the time set before.
    fn go_on(&mut self, task: u32, at: u64) {
        self.pushed += 1;
        self.tasks[task as usize].ticket = self.pushed;
        self.due.push(Reverse((at, self.pushed, task)));
    }

    fn awaited(&self, task: u32) -> bool {
        self.plan.members[task as usize].awaited
    }

    fn note(&mut self, task: u32, entry: Entry) {
        if self.awaited(task) {
            self.log.push(entry);
        }
    }

    /// `task` does all steps that take no time, up to one that does; `None` if there are too many.
    fn proceed(&mut self, task: u32, now: u64) -> Option<()> {
        loop {
            if let Some(waits) = self.tasks[task as usize].waits {
                if !self.is_met(task, waits, now) {
                    self.wait(task, waits);
                    return Some(());
                }
                self.tasks[task as usize].waits = None;
                if self.goes_on_later(task, waits, now) {
                    return Some(());
                }
            }
            self.steps += 1;
            if self.steps > STEPS {
                return None;
            }
            let this = &mut self.tasks[task as usize];
            match this.walk.next() {
                None => {
                    self.end(task, now);
                    return Some(());
                }
                Some(Op::Compute(span)) => {
                    this.work = this.work.saturating_add(span);
                    self.passes(task, now, span, true);
                    return Some(());
                }
                Some(Op::Sleep(span)) => {
                    self.passes(task, now, span, false);
                    return Some(());
                }
                Some(Op::Step(Step::Beat(period))) => {
                    let due = this.beat.map_or(now, |beat| beat.saturating_add(period.0));
                    this.beat = Some(due);
                    // A task that arrives later sleeps for less, so this sleep is not its own time.
                    self.go_on(task, now.max(due));
                    return Some(());
                }
                Some(Op::Step(step)) => self.step(task, now, step)?,
            }
        }
    }

    fn passes(&mut self, task: u32, now: u64, span: u64, work: bool) {
        let own = &mut self.tasks[task as usize].own;
        *own = own.saturating_add(span);
        self.note(task, Entry::Passes { task, head: now, span, work });
        self.go_on(task, now.saturating_add(span));
    }

    fn step(&mut self, task: u32, now: u64, step: Step) -> Option<()> {
        let awaited = u64::from(self.awaited(task));
        let this = &mut self.tasks[task as usize];
        match step {
            Step::Lock(id) => this.holds.push((id.index(), now, this.own, this.meetings)),
            Step::Unlock(id) => self.unlock(task, id.index()),
            Step::Put(id) => {
                let pipe = &mut self.pipes[id.index()];
                pipe.puts += 1;
                pipe.awaited_puts += awaited;
                let mine = this.put.entry(id.index()).or_default();
                *mine += 1;
                this.waits = Some(Waits::Room(id.index(), *mine));
                let (waiting, nth) = (std::mem::take(&mut pipe.waiting), pipe.puts);
                waiting.into_iter().for_each(|it| self.go_on(it, now));
                self.note(task, Entry::Puts { task, pipe: id.0, nth });
            }
            Step::Get(id) => this.waits = Some(Waits::Token(id.index())),
            Step::Barrier(id) => self.arrive(task, now, id.index()),
            Step::Await(id) => {
                let mine = this.woken.entry(id.index()).or_default();
                *mine += 1;
                this.waits = Some(Waits::Signal(id.index(), *mine));
            }
            Step::Signal(id) | Step::Broadcast(id) => {
                let (count, waiting) = &mut self.conditions[id.index()];
                *count += 1;
                let waiting = std::mem::take(waiting);
                waiting.into_iter().for_each(|it| self.go_on(it, now));
            }
            Step::Fork(_) => {
                // The recorded run did not reach this fork, so the child is not known.
                let member = &self.plan.members[task as usize];
                let child = *member.children.get(this.forks)?;
                this.batch.get_or_insert((this.forks, now, this.work));
                this.forks += 1;
                self.tasks[child as usize].start = now;
                self.tasks[child as usize].parent = Some(task);
                self.go_on(child, now);
                self.note(task, Entry::Forks { task, child });
            }
            Step::WaitOne if this.forks > this.reaped => {
                this.reaped += 1;
                this.waits = Some(Waits::Children { count: this.reaped });
            }
            Step::WaitAll => {
                this.reaped = this.forks;
                this.waits = Some(Waits::Children { count: this.forks });
            }
            Step::Affinity(id) => self.note(task, Entry::Moves { task, set: id.0 }),
            _ => {}
        }
        Some(())
    }

    fn unlock(&mut self, task: u32, lock: usize) {
        let this = &mut self.tasks[task as usize];
        let Some(at) = this.holds.iter().rposition(|&(held, ..)| held == lock) else { return };
        let (_, head, own, meetings) = this.holds.remove(at);
        let span = this.own - own;
        if meetings == this.meetings {
            let sum = this.locked.entry(lock).or_default();
            *sum = sum.saturating_add(span);
        }
        self.note(task, Entry::Held { task, lock, head, span });
    }

    fn arrive(&mut self, task: u32, now: u64, id: usize) {
        let this = &mut self.tasks[task as usize];
        let nth = this.met.entry(id).or_default();
        *nth += 1;
        this.waits = Some(Waits::Barrier(id, *nth));
        let nth = *nth;
        let barrier = &mut self.barriers[id];
        barrier.arrivals += 1;
        let whole = barrier.whole;
        if barrier.arrivals.is_multiple_of(barrier.parties) {
            let mut all = std::mem::take(&mut barrier.waiting);
            if !whole {
                all.into_iter().for_each(|it| self.go_on(it, now));
                return;
            }
            all.push(task);
            let over = self.meeting(&all, id, now);
            for it in all {
                self.tasks[it as usize].waits = Some(Waits::Over(id, nth, over));
                if it != task || over > now {
                    self.go_on(it, over);
                }
            }
        }
        if whole {
            self.note(task, Entry::Arrives { task, barrier: id, nth });
        }
    }

    /// The earliest end of a meeting of all users of a barrier, given that the last of them arrives
    /// now.
    fn meeting(&mut self, all: &[u32], id: usize, now: u64) -> u64 {
        let all = || all.iter().map(|&it| it as usize);
        let first = all().map(|it| self.tasks[it].start).min().unwrap_or(0);
        let (mut work, mut locks) = (0_u64, BTreeMap::<usize, u64>::new());
        for it in all() {
            let this = &mut self.tasks[it];
            let was = this.left.insert(id, (this.work, this.locked.clone()));
            let (before, held) = was.unwrap_or_default();
            work = work.saturating_add(this.work - before);
            for (&lock, span) in &this.locked {
                let sum = locks.entry(lock).or_default();
                *sum = sum.saturating_add(span - held.get(&lock).unwrap_or(&0));
            }
        }
        let longest = locks.into_values().max().unwrap_or(0);
        let phase = longest.max(work.div_ceil(self.cpus));
        let barrier = &mut self.barriers[id];
        let over = now.max(barrier.over.unwrap_or(first).saturating_add(phase));
        barrier.over = Some(over);
        barrier.phases.push(phase);
        over
    }

    fn is_met(&self, task: u32, waits: Waits, now: u64) -> bool {
        let this = &self.tasks[task as usize];
        match waits {
            Waits::Token(id) => {
                let pipe = &self.pipes[id];
                pipe.initial + pipe.puts > *this.taken.get(&id).unwrap_or(&0)
            }
            Waits::Room(id, mine) => {
                let pipe = &self.pipes[id];
                pipe.capacity.is_none_or(|room| pipe.initial + mine <= room + pipe.gets)
            }
            Waits::Barrier(id, nth) => {
                let barrier = &self.barriers[id];
                barrier.arrivals / barrier.parties >= nth
            }
            Waits::Signal(id, nth) => self.conditions[id].0 >= nth,
            Waits::Children { count } => this.ended_children >= count,
            Waits::Over(.., until) | Waits::Until(until) => now >= until,
        }
    }

    fn wait(&mut self, task: u32, waits: Waits) {
        match waits {
            Waits::Token(id) | Waits::Room(id, _) => self.pipes[id].waiting.push(task),
            Waits::Barrier(id, _) => self.barriers[id].waiting.push(task),
            Waits::Signal(id, _) => self.conditions[id].1.push(task),
            Waits::Over(..) | Waits::Children { .. } | Waits::Until(_) => {}
        }
    }

    /// Handles the end of a wait. Returns whether the task continues at a later time.
    fn goes_on_later(&mut self, task: u32, waits: Waits, now: u64) -> bool {
        let awaited = u64::from(self.awaited(task));
        let this = &mut self.tasks[task as usize];
        match waits {
            Waits::Token(id) => {
                *this.taken.entry(id).or_default() += 1;
                let pipe = &mut self.pipes[id];
                pipe.gets += 1;
                pipe.awaited_gets += awaited;
                let (waiting, nth) = (std::mem::take(&mut pipe.waiting), pipe.gets);
                if pipe.capacity.is_some() {
                    waiting.into_iter().for_each(|it| self.go_on(it, now));
                } else {
                    pipe.waiting = waiting;
                }
                self.note(task, Entry::Takes { task, pipe: id as u32, nth });
            }
            Waits::Children { count } if count == this.forks => {
                let Some((first, base, before)) = this.batch.take() else { return false };
                let (own, last) = (this.work - before, this.forks);
                let children = &self.plan.members[task as usize].children[first..last];
                let works = children.iter().map(|&it| self.tasks[it as usize].work);
                let work = works.fold(own, u64::saturating_add);
                let over = base.saturating_add(work.div_ceil(self.cpus));
                self.note(task, Entry::Joins { task, first, last });
                if over > now {
                    self.tasks[task as usize].waits = Some(Waits::Until(over));
                    self.go_on(task, over);
                    return true;
                }
            }
            Waits::Barrier(..) => this.meetings += 1,
            Waits::Over(id, nth, _) => {
                this.meetings += 1;
                self.note(task, Entry::Leaves { task, barrier: id, nth });
            }
            _ => {}
        }
        false
    }

    fn end(&mut self, task: u32, now: u64) {
        while let Some(&(lock, ..)) = self.tasks[task as usize].holds.last() {
            self.unlock(task, lock);
        }
        if self.awaited(task) {
            self.left -= 1;
            self.path = self.path.max(now);
        }
        if let Some(parent) = self.tasks[task as usize].parent {
            let it = &mut self.tasks[parent as usize];
            it.ended_children += 1;
            if matches!(it.waits, Some(Waits::Children { .. })) {
                self.go_on(parent, now);
            }
        }
    }
}

impl<'p> Task<'p> {
    fn of(plan: &'p Plan, member: &super::plan::Member, fastest: u64) -> Task<'p> {
        Task {
            walk: plan.walk(member.template, member.ordinal, fastest),
            start: member.launched.map_or(0, |at| at.0),
            ticket: 0,
            waits: None,
            work: 0,
            own: 0,
            taken: BTreeMap::new(),
            put: BTreeMap::new(),
            met: BTreeMap::new(),
            woken: BTreeMap::new(),
            left: BTreeMap::new(),
            locked: BTreeMap::new(),
            holds: Vec::new(),
            meetings: 0,
            parent: None,
            forks: 0,
            reaped: 0,
            ended_children: 0,
            batch: None,
            beat: None,
        }
    }
}

impl Pipe {
    /// How many tokens awaited tasks take that tasks that are not awaited put.
    fn lacks(&self) -> u64 {
        self.awaited_gets.saturating_sub(self.initial + self.awaited_puts)
    }

    /// Whether every token was taken out, and no token was put or taken by a task that is not
    /// awaited, since such a task does as much as it has time for.
    fn is_drained(&self) -> bool {
        let all = self.puts == self.awaited_puts && self.gets == self.awaited_gets;
        all && self.initial + self.puts == self.gets
    }
}

impl Barrier {
    fn of(parties: u32, users: u32) -> Barrier {
        Barrier {
            parties: u64::from(parties.max(1)),
            whole: users == parties,
            arrivals: 0,
            waiting: Vec::new(),
            over: None,
            phases: Vec::new(),
        }
    }
}
