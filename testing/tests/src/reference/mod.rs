//! Measures waste slowly and simply, for comparison with the real measure.
//!
//! This uses neither `State` nor the `check` crate. It walks over the entries with simple maps
//! ([`scene`]), and at every distinct time it solves the matching from scratch by trying every CPU
//! for every task ([`matching`]). The rules are those of `wastenot_check::waste`:
//!
//! - A CPU that runs its idle task is *idle* if no task waits on it, otherwise *waking*. The task
//!   that joined a waking CPU's queue first is about to start there and is not a candidate. If a
//!   source has only wakings, a woken task may not be queued yet: it is doubtful, and a CPU for
//!   which no other task waits may be idle.
//! - Every other waiting task that may be moved is a candidate, wherever it waits; but not surely
//!   so on an unknown CPU, where it may run already. (A CPU that has neither a switch nor a loss in
//!   the whole history cannot have started it.)
//! - `waste` is the largest number of candidates that idle CPUs could take at once, minus the tasks
//!   whose place is unknown: each of them may wait on one of those idle CPUs, which would then be
//!   waking. `waste_max` lets unknown CPUs take tasks too, and unplaced tasks be taken.
//! - Only the CPUs in question are idle, and only tasks that wait there count; only the tasks in
//!   question are candidates. Others still make a CPU busy or waking.
//! - With a shared queue no CPU is waking: idle is idle, and every waiting task is a candidate.
//! - If rows of a CPU are missing, less is certain and more is possible ([`doubt`]).
//! - An episode is a maximal interval with `waste` above zero.
//! - A task that a quota throttles waits nowhere: it is not a candidate, and the CPU on whose queue
//!   it was is idle if no other task waits there.
//! - `affinity`, if the source has affinities, is how many candidates idle CPUs could take at once
//!   if every task could run everywhere, minus `waste_max`; not below zero. Doubtful candidates,
//!   and those that serve one CPU or interrupt, do not count in the first number, and each unplaced
//!   task reduces it by one idle CPU. A candidate that counts there is kept from idle CPUs while
//!   `affinity` is above zero and the number that is subtracted would be as large without this
//!   candidate.

mod doubt;
mod lanes;
mod matching;
mod pinned;
mod scene;

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::{Carries, CpuId, CpuSet, Entry, Event, History, Silent, TaskId, Time, Window};

pub use lanes::{Piece, lanes};
pub use matching::largest;
use scene::{Doing, Scene};

/// The question about a history.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The assumed state of silent CPUs.
    pub silent: Silent,
    /// The time that counts.
    pub window: Window,
    /// The CPUs that count, as places to wait and to be idle; `None` means all.
    pub cpus: Option<CpuSet>,
    /// The tasks that count as waiting; `None` means all.
    pub tasks: Option<BTreeSet<TaskId>>,
    /// Queues are shared: any CPU may take a waiting task, so no CPU is about to start it.
    pub shared_queue: bool,
}

impl Asked {
    /// Everything, with silent CPUs unknown.
    pub const ALL: Asked = Asked {
        silent: Silent::Unknown,
        window: Window::ALL,
        cpus: None,
        tasks: None,
        shared_queue: false,
    };

    fn counts_cpu(&self, cpu: CpuId) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu))
    }

    fn counts_task(&self, task: TaskId) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| tasks.contains(&task))
    }
}

/// The results of the slow method. Times are sums over CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// CPU time that idle CPUs surely could have given to waiting tasks.
    pub waste_cpu_ns: u64,
    /// The same if unknown CPUs were idle and unplaced tasks waited on busy CPUs.
    pub waste_cpu_ns_max: u64,
    /// CPU time of idle CPUs on which a task already waited.
    pub wake_delay_cpu_ns: u64,
    /// CPU time in which the state of the CPU is known.
    pub known_cpu_ns: u64,
    /// CPU time of CPUs that were not offline.
    pub online_cpu_ns: u64,
    /// Number of episodes.
    pub episodes: u64,
    /// The longest of them.
    pub longest_ns: u64,
    /// Time that quotas throttled tasks, summed over tasks.
    pub held_ns: u64,
    /// CPU time of idle CPUs that affinities kept from waiting tasks, if the source has affinities.
    pub affinity_cpu_ns: Option<u64>,
    /// Which tasks they kept from idle CPUs, and for how long.
    pub kept_ns: BTreeMap<TaskId, u64>,
}

/// Answers the question `asked` about `history`.
pub fn measure(history: &History, asked: &Asked) -> Measured {
    let mut scene = Scene::start(history, asked.silent);
    let pinned = pinned::assumed(history);
    let window = asked.window;
    let told = history.head.carries.has(Carries::AFFINITY).then_some(0);
    let measured = Measured { affinity_cpu_ns: told, ..Measured::default() };
    let mut sum = Sum { window, measured, not_busy_ns: 0, episode: None };
    let mut now = history.window().from;
    let end = history.window().to;
    let mut entries = history.entries().peekable();
    let doubts = doubt::of(history, asked.silent);
    let mut open = doubts.all.iter().peekable();
    let mut unseen = Unseen::new(history, &scene);
    let mut rows = 0;
    loop {
        // First all events of this instant, then the count: rows of one instant have no length.
        loop {
            while let Some((_, what)) = open.next_if(|(after, _)| *after <= rows) {
                match *what {
                    doubt::Unknown::Wait(task) => {
                        unseen.lost_sight_of(task, now);
                        scene.lose_sight_of(task);
                    }
                    doubt::Unknown::Idleness(cpu) => scene.lose_idleness_of(cpu),
                }
            }
            let Some(entry) = entries.next_if(|entry| entry.time <= now) else { break };
            let before = unseen.lives(&entry, &scene);
            scene.apply(&entry);
            rows += 1;
            let candidate = |task: &TaskId| {
                asked.counts_task(*task) && scene.may_move(task) && !pinned.contains(task)
            };
            let counts = now < window.to || window.to >= end;
            let may_have_waited = unseen.hear(&entry, &before, &scene, candidate);
            sum.measured.waste_cpu_ns_max += if counts { may_have_waited } else { 0 };
        }
        let Some(next) = entries.peek().map(|entry| entry.time).or((now < end).then_some(end))
        else {
            break;
        };
        if let Some((from, to)) = window.clip(now, next) {
            let candidate = |task: &TaskId| {
                asked.counts_task(*task) && scene.may_move(task) && !pinned.contains(task)
            };
            let hidden = doubts.hide(now);
            let instant = Instant::of(&scene, history, asked, hidden, candidate);
            if instant.free > instant.waste_max {
                unseen.spare.push((from, to));
            }
            sum.add(from, to, &instant);
        }
        now = next;
    }
    sum.finish()
}

/// The state at an instant, in numbers.
#[derive(Debug, PartialEq, Eq)]
struct Instant {
    waste: u64,
    waste_max: u64,
    /// CPUs that may be idle and are not about to start a task.
    free: u64,
    not_busy: u64,
    waking: u64,
    known: u64,
    online: u64,
    held: u64,
    affinity: u64,
    kept: Vec<TaskId>,
}

impl Instant {
    fn of(
        scene: &Scene,
        history: &History,
        asked: &Asked,
        hidden: bool,
        may_be_candidate: impl Fn(&TaskId) -> bool,
    ) -> Instant {
        let (mut idle, mut perhaps, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        let mut heads = Vec::new();
        let mut count = BTreeMap::<&str, u64>::new();
        for (&cpu, doing) in scene.cpus.iter().filter(|(cpu, _)| asked.counts_cpu(**cpu)) {
            let first = scene.queue.iter().find(|(place, _)| *place == Some(cpu));
            let class = match (doing, first) {
                (Doing::Offline, _) => "offline",
                (Doing::Unknown, _) => "unknown",
                (Doing::Runs(_), _) => "busy",
                (Doing::Idle, None) => "idle",
                (Doing::Idle, Some(_)) if asked.shared_queue => "idle",
                (Doing::Idle, Some(_)) => "waking",
            };
            *count.entry(class).or_default() += 1;
            match (class, first) {
                ("idle", _) => idle.push(cpu),
                ("unknown", _) => unknown.push(cpu),
                ("waking", Some((_, task))) => {
                    heads.push(*task);
                    let mut here = scene.queue.iter().filter(|(place, _)| *place == Some(cpu));
                    if here.all(|(_, task)| scene.is_only_woken(*task)) {
                        perhaps.push(cpu);
                    }
                }
                _ => {}
            }
        }
        let (mut placed, mut doubtful) = (Vec::new(), Vec::new());
        // Among surely placed tasks: those that could use another CPU, and their index in the list.
        let mut useful: Vec<(TaskId, usize)> = Vec::new();
        for (place, task) in &scene.queue {
            let counts = place.is_none_or(|cpu| asked.counts_cpu(cpu));
            if counts && may_be_candidate(task) && !heads.contains(task) {
                let sure = !scene.is_only_woken(*task)
                    && place.is_some_and(|cpu| !unknown.contains(&cpu) || scene.is_quiet(cpu));
                let mask = scene.mask(task).and_then(|mask| history.mask(mask));
                if sure && !pinned::serves(&history.task_name(*task), mask) {
                    useful.push((*task, placed.len()));
                }
                let list = if sure { &mut placed } else { &mut doubtful };
                list.push(mask);
            }
        }
        // A task that does not count may also be about to start on an idle CPU.
        let nowhere = scene.queue.iter().filter(|(place, _)| place.is_none()).count() as u64;
        let sure = largest(&placed, &idle);
        let (tasks, cpus) = ([placed, doubtful].concat(), [&idle[..], &perhaps, &unknown].concat());
        let most = largest(&tasks, &cpus);
        let count = |class: &str| count.get(class).copied().unwrap_or(0);
        let not_busy = count("idle") + count("waking") + count("unknown");
        let waste_max = if hidden { not_busy } else { most };
        let told = history.head.carries.has(Carries::AFFINITY);
        let unbound = (idle.len() as u64).saturating_sub(nowhere).min(useful.len() as u64);
        let affinity = if told { unbound.saturating_sub(waste_max) } else { 0 };
        let is_kept = |at: usize| affinity > 0 && is_left_out(at, &tasks, &cpus);
        let kept = useful.iter().filter(|(_, at)| is_kept(*at)).map(|(task, _)| *task).collect();
        let held = scene.held().filter(|(task, cpu)| {
            asked.counts_task(*task) && cpu.is_none_or(|cpu| asked.counts_cpu(cpu))
        });
        Instant {
            waste: sure.saturating_sub(nowhere),
            waste_max,
            free: count("idle") + count("unknown") + perhaps.len() as u64,
            not_busy,
            waking: count("waking"),
            known: count("idle") + count("waking") + count("busy"),
            online: count("idle") + count("waking") + count("busy") + count("unknown"),
            held: held.count() as u64,
            affinity,
            kept,
        }
    }
}

/// Tasks that are switched in although no row queued them. Each may have waited since the start,
/// since it was last seen to rest, or, if events were lost after that, since the first loss: the
/// upper bound assumes that it did while a CPU was left.
struct Unseen {
    told: bool,
    losses: Vec<Time>,
    /// Since when each rests, and whether it is unknown since then.
    rests: BTreeMap<TaskId, (Time, bool)>,
    /// When the upper bound left a CPU, within the window.
    spare: Vec<(Time, Time)>,
}

impl Unseen {
    fn new(history: &History, scene: &Scene) -> Unseen {
        let carries = history.head.carries;
        let told = carries.has(Carries::WAKEUPS) || carries.has(Carries::WAKINGS);
        let from = history.window().from;
        let rests = scene.resting().map(|task| (task, (from, false))).collect();
        Unseen { told, losses: Vec::new(), rests, spare: Vec::new() }
    }

    fn lost_sight_of(&mut self, task: TaskId, now: Time) {
        self.rests.insert(task, (now, true));
    }

    /// How long a CPU was left while the task may have waited.
    fn since(&self, task: TaskId) -> u64 {
        let since = match self.rests.get(&task) {
            None => Time(0),
            Some((since, true)) => *since,
            Some((since, false)) => {
                self.losses.iter().find(|lost| *lost >= since).copied().unwrap_or(*since)
            }
        };
        let of = |(from, to): &(Time, Time)| (*to - (*from).max(since)).0;
        self.spare.iter().filter(|(_, to)| *to > since).map(of).sum()
    }

    /// The lives of the tasks that a row is about, and of the task that seems to run on its CPU.
    fn lives(&self, entry: &Entry, scene: &Scene) -> BTreeMap<TaskId, scene::Life> {
        let mut lives = BTreeMap::new();
        entry.each_task(|task| _ = lives.insert(task, scene.life(task)));
        if let Event::Lost { .. } = entry.event {
            let waits = scene.queue.iter().map(|(_, task)| *task);
            let held = scene.held().map(|(task, _)| task);
            lives.extend(waits.chain(held).map(|task| (task, scene.life(task))));
            if let Some(Doing::Runs(task)) = scene.cpus.get(&entry.cpu) {
                lives.insert(*task, scene.life(*task));
            }
        }
        if let Event::Switch { cpu, .. } | Event::Cpu { cpu, .. } = entry.event
            && let Some(Doing::Runs(task)) = scene.cpus.get(&cpu)
        {
            lives.insert(*task, scene.life(*task));
        }
        lives
    }

    /// How long a CPU was left while a task that runs now may have waited.
    fn hear(
        &mut self,
        entry: &Entry,
        before: &BTreeMap<TaskId, scene::Life>,
        scene: &Scene,
        may_be_candidate: impl Fn(&TaskId) -> bool,
    ) -> u64 {
        let mut all = 0;
        if let Event::Lost { .. } = entry.event {
            self.losses.push(entry.time);
        }
        for (task, was) in before.iter().filter(|(task, _)| !task.is_idle()) {
            let life = scene.life(*task);
            if !life.wants() && life != *was {
                self.rests.insert(*task, (entry.time, life == scene::Life::Unknown));
            }
            // A task that is switched to itself leaves first: it rests from then on, or as before.
            let rests_anew = match entry.event {
                Event::Switch { prev, left, .. } if prev == *task => scene::left_life(left) != *was,
                _ => false,
            };
            let comes = matches!(life, scene::Life::Runs(_)) && !was.wants() && !rests_anew;
            if self.told && comes && may_be_candidate(task) {
                all += self.since(*task);
            }
        }
        all
    }
}

/// Whether as many of the tasks can run at once without this one.
fn is_left_out(at: usize, tasks: &[Mask], cpus: &[CpuId]) -> bool {
    let others = [&tasks[..at], &tasks[at + 1..]].concat();
    largest(&others, cpus) == largest(tasks, cpus)
}

/// Integrals so far.
struct Sum {
    window: Window,
    measured: Measured,
    not_busy_ns: u64,
    /// The episode that is open, if one is.
    episode: Option<(Time, Time)>,
}

impl Sum {
    fn add(&mut self, from: Time, to: Time, instant: &Instant) {
        debug_assert!(self.window.from <= from && to <= self.window.to);
        let length = (to - from).0;
        self.not_busy_ns += instant.not_busy * length;
        let sum = &mut self.measured;
        sum.waste_cpu_ns += instant.waste * length;
        sum.waste_cpu_ns_max += instant.waste_max * length;
        sum.wake_delay_cpu_ns += instant.waking * length;
        sum.known_cpu_ns += instant.known * length;
        sum.online_cpu_ns += instant.online * length;
        sum.held_ns += instant.held * length;
        if let Some(kept) = &mut sum.affinity_cpu_ns {
            *kept += instant.affinity * length;
        }
        for task in &instant.kept {
            *sum.kept_ns.entry(*task).or_default() += length;
        }
        match (&mut self.episode, instant.waste > 0) {
            (Some((_, until)), true) => *until = to,
            (None, true) => self.episode = Some((from, to)),
            (_, false) => self.close(),
        }
    }

    fn close(&mut self) {
        if let Some((from, to)) = self.episode.take() {
            self.measured.episodes += 1;
            self.measured.longest_ns = self.measured.longest_ns.max((to - from).0);
        }
    }

    fn finish(mut self) -> Measured {
        self.close();
        // Each of many tasks may have waited while one CPU was left.
        let most = &mut self.measured.waste_cpu_ns_max;
        *most = (*most).min(self.not_busy_ns);
        self.measured
    }
}

/// A candidate's mask, if it is known.
type Mask<'a> = Option<&'a CpuSet>;

/// Whether a task with this mask may run on `cpu`.
fn fits(mask: Mask, cpu: CpuId) -> bool {
    mask.is_none_or(|mask| mask.contains(cpu))
}
