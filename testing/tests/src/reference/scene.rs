//! The state of every CPU and task, kept in simple maps and updated by one entry after the other.
//!
//! Written from the rules in ARCHITECTURE and the docs of `wastenot_check::waste`. For rows that
//! contradict each other these have no rule; then the rule is the one that `State` documents, and
//! the place is marked *settled*.

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::{
    Carries, Change, CpuId, CpuMode, Entry, Event, History, How, Left, MaskId, Missing, Origin,
    Past, Phase, Silent, Start, TaskId,
};

/// The state of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Unknown,
    Offline,
    Idle,
    Runs(TaskId),
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Unknown,
    Runs(CpuId),
    Waits,
    /// It is runnable but throttled by a quota.
    Held,
    Sleeps,
    New,
    Dead,
}

impl Life {
    pub(super) fn wants(self) -> bool {
        matches!(self, Life::Runs(_) | Life::Waits | Life::Held)
    }
}

/// The state of a task that left its CPU in this way.
pub(super) fn left_life(left: Left) -> Life {
    match left {
        Left::Runnable | Left::Preempted => Life::Waits,
        Left::Dead => Life::Dead,
        Left::Unknown => Life::Unknown,
        Left::Sleeping | Left::Blocked | Left::Idle | Left::Stopped | Left::Parked => Life::Sleeps,
    }
}

#[derive(Clone, Copy, Debug)]
struct Known {
    life: Life,
    /// The CPU where it was last, for sources in which only that and a move give where it waits.
    last: Option<CpuId>,
    mask: Option<MaskId>,
    throttled: bool,
    held: bool,
    /// It was woken since it fell asleep.
    woken: bool,
    /// Only its waking was reported: it may not be queued yet.
    only_woken: bool,
}

const STRANGER: Known = Known {
    life: Life::Unknown,
    last: None,
    mask: None,
    throttled: false,
    held: false,
    woken: false,
    only_woken: false,
};

/// The machine at an instant.
pub(super) struct Scene {
    pub(super) cpus: BTreeMap<CpuId, Doing>,
    /// Every waiting task with its place, in the order in which the tasks joined the place's queue.
    pub(super) queue: Vec<(Option<CpuId>, TaskId)>,
    tasks: BTreeMap<TaskId, Known>,
    carries: Carries,
    /// CPUs for which the whole history holds neither a switch nor a loss.
    quiet: BTreeSet<CpuId>,
}

impl Scene {
    /// The state when the recording began.
    pub(super) fn start(history: &History, silent: Silent) -> Scene {
        let mut scene = Scene {
            cpus: BTreeMap::new(),
            queue: Vec::new(),
            tasks: BTreeMap::new(),
            carries: history.head.carries,
            quiet: quiet(history),
        };
        let told = history.head.start.clone().unwrap_or_default();
        let switch = |entry: Entry| matches!(entry.event, Event::Switch { .. });
        let any_switch = history.entries().any(switch);
        if told.cpus.is_empty() && !any_switch {
            scene.quiet.clear(); // the source may have no switches
        }
        let missing = Missing::find(history);
        for cpu in history.cpus() {
            let mut doing = match told.cpus.get(cpu.index()) {
                Some(mode) => doing(*mode),
                None if told.cpus.is_empty() && !any_switch => Doing::Unknown,
                None => before_the_first_switch(history, cpu),
            };
            // Settled: no row may contradict that the machine calls a CPU offline.
            let offline = !history.head.machine.cpus[cpu.index()].online;
            if doing == Doing::Unknown && offline && rows_of(history, cpu).is_empty() {
                doing = Doing::Offline;
            }
            // Its records begin later.
            if missing.iter().any(|missing| missing.cpu == cpu) {
                scene.quiet.remove(&cpu);
                doing = Doing::Unknown;
            }
            if doing == Doing::Unknown && silent == Silent::Idle && scene.is_quiet(cpu) {
                doing = Doing::Idle;
            }
            scene.cpus.insert(cpu, doing);
            if let Doing::Runs(task) = doing {
                // Settled: a task that is reported to run twice runs where it was reported first;
                // the other CPU is unknown.
                if scene.task(task).life == Life::Unknown {
                    scene.task(task).life = Life::Runs(cpu);
                    scene.task(task).last = Some(cpu);
                } else {
                    scene.cpus.insert(cpu, Doing::Unknown);
                }
            }
        }
        for (task, place) in told.waiting {
            if scene.task(task).life == Life::Unknown {
                scene.join(task, place);
            }
        }
        for (task, last) in told.sleeping {
            if scene.task(task).life == Life::Unknown {
                scene.task(task).life = Life::Sleeps;
                scene.task(task).last = last;
            }
        }
        for past in history.past() {
            scene.remember(past);
        }
        // Only now the throttled tasks are known.
        for (place, task) in std::mem::take(&mut scene.queue) {
            let only_woken = scene.task(task).only_woken;
            scene.join(task, place);
            scene.task(task).only_woken = only_woken;
        }
        scene
    }

    fn remember(&mut self, past: &Past) {
        let known = self.task(past.task);
        (known.mask, known.throttled) = (past.mask, past.throttled);
        known.held = past.migration_disabled;
        known.only_woken = past.origin == Origin::Waking;
        if known.life == Life::Unknown {
            known.last = past.cpu;
            known.life = match past.phase {
                Phase::New => Life::New,
                Phase::Dead => Life::Dead,
                Phase::Held => Life::Held,
                _ => Life::Unknown,
            };
        }
    }

    /// Whether this task, which waits, may not be queued yet.
    pub(super) fn is_only_woken(&self, task: TaskId) -> bool {
        self.tasks.get(&task).is_some_and(|known| known.only_woken)
    }

    /// Whether nothing can have happened on `cpu` unseen.
    pub(super) fn is_quiet(&self, cpu: CpuId) -> bool {
        self.quiet.contains(&cpu)
    }

    /// Whether a move of this task, which is not seen to wait, may be one from a run queue: not if
    /// it runs, was just created, or is being woken.
    pub(super) fn may_be_queued(&self, task: &TaskId) -> bool {
        self.tasks.get(task).is_none_or(|known| match known.life {
            Life::Runs(_) | Life::New => false,
            Life::Sleeps => !known.woken,
            Life::Unknown | Life::Waits | Life::Held | Life::Dead => true,
        })
    }

    /// From now on it is unknown whether `task` waits.
    pub(super) fn lose_sight_of(&mut self, task: TaskId) {
        if self.task(task).life == Life::Waits {
            self.queue.retain(|(_, other)| *other != task);
            self.task(task).life = Life::Unknown;
        }
    }

    /// From now on it is unknown whether `cpu` is about to start a task.
    pub(super) fn lose_idleness_of(&mut self, cpu: CpuId) {
        if self.cpus[&cpu] == Doing::Idle {
            self.cpus.insert(cpu, Doing::Unknown);
        }
    }

    /// Whether no known property of the task itself keeps it where it is.
    pub(super) fn may_move(&self, task: &TaskId) -> bool {
        self.tasks.get(task).is_none_or(|known| !known.throttled && !known.held)
    }

    pub(super) fn mask(&self, task: &TaskId) -> Option<MaskId> {
        self.tasks.get(task)?.mask
    }

    /// Applies `entry`.
    pub(super) fn apply(&mut self, entry: &Entry) {
        match entry.event {
            Event::Switch { cpu, prev, next, left, .. } => self.switch(cpu, prev, next, left),
            Event::Waking { task, prev, .. } => self.waking(task, prev),
            Event::Queued { task, on, how, .. } => self.queued(task, on, how),
            Event::Migrate { task, to, .. } => self.migrate(task, to),
            Event::Fork { child, .. } => self.fork(child),
            Event::Cpu { cpu, up } => self.hotplug(cpu, up),
            Event::Changed { task, what } => self.change(task, what),
            Event::Lost { .. } => self.lose(entry.cpu),
            Event::Exec { .. } | Event::Exit { .. } => {}
            Event::Freq { .. } | Event::Decided { .. } => {}
        }
    }

    fn switch(&mut self, cpu: CpuId, prev: TaskId, next: TaskId, left: Left) {
        // Settled: another task than `prev` was thought to run here; its place is now unknown.
        if let Doing::Runs(other) = self.cpus[&cpu]
            && other != prev
        {
            self.task(other).life = Life::Unknown;
        }
        if !prev.is_idle() {
            self.absent_elsewhere(prev, cpu);
            self.task(prev).last = Some(cpu);
            self.task(prev).woken = false;
            match left_life(left) {
                Life::Waits => self.join(prev, Some(cpu)),
                life => self.task(prev).life = life,
            }
        }
        self.cpus.insert(cpu, Doing::Idle);
        if !next.is_idle() {
            self.absent_elsewhere(next, cpu);
            self.task(next).life = Life::Runs(cpu);
            self.task(next).last = Some(cpu);
            self.cpus.insert(cpu, Doing::Runs(next));
        }
    }

    /// A row shows `task` on `cpu`: it waits nowhere, and (settled) on the CPU where it was thought
    /// to run, the running task is unknown.
    fn absent_elsewhere(&mut self, task: TaskId, cpu: CpuId) {
        self.queue.retain(|(_, other)| *other != task);
        if let Life::Runs(other) = self.task(task).life
            && other != cpu
        {
            self.cpus.insert(other, Doing::Unknown);
        }
    }

    fn waking(&mut self, task: TaskId, prev: Option<CpuId>) {
        if task.is_idle() || self.acts(task) {
            return; // a waking of a running or still queued task begins no wait
        }
        let last = self.task(task).last;
        self.task(task).woken = true;
        match (self.carries.has(Carries::WAKEUPS), self.carries.has(Carries::PLACEMENT)) {
            // The wait begins at the wakeup that follows. Until then it sleeps (settled: a dead
            // task too, and one of which nothing was known).
            (true, _) => return self.task(task).life = Life::Sleeps,
            // As in perf sched: at the waking, where it was last; a migration may follow.
            (false, true) => self.join(task, prev.or(last)),
            (false, false) => self.join(task, None),
        }
        self.task(task).only_woken = true;
    }

    fn queued(&mut self, task: TaskId, on: Option<CpuId>, _how: How) {
        // Settled: so does a wakeup, even if the place of the waiting task was unknown.
        if !task.is_idle() && !self.acts(task) {
            self.join(task, on);
        }
    }

    fn migrate(&mut self, task: TaskId, to: CpuId) {
        if task.is_idle() {
            return;
        }
        match self.task(task).life {
            Life::Waits => {
                self.queue.retain(|(_, other)| *other != task);
                let only_woken = self.task(task).only_woken;
                self.join(task, Some(to));
                self.task(task).only_woken = only_woken;
            }
            // Settled: a running task is moved by the switch that takes it out.
            Life::Runs(_) => {}
            _ => self.task(task).last = Some(to),
        }
    }

    /// Throttled tasks, with the CPU from whose queue each was removed.
    pub(super) fn held(&self) -> impl Iterator<Item = (TaskId, Option<CpuId>)> + '_ {
        let held = self.tasks.iter().filter(|(_, known)| known.life == Life::Held);
        held.map(|(task, known)| (*task, known.last))
    }

    /// Settled: a waiting task leaves its queue when a quota throttles it, and returns behind all
    /// others when it no longer does.
    fn throttle(&mut self, task: TaskId, on: bool) {
        self.task(task).throttled = on;
        let place = match (self.task(task).life, on) {
            (Life::Waits, true) => {
                let at = self.queue.iter().position(|(_, other)| *other == task);
                self.queue.remove(at.expect("it waits")).0
            }
            (Life::Held, false) => self.task(task).last,
            _ => return,
        };
        self.join(task, place);
    }

    fn fork(&mut self, child: TaskId) {
        if !child.is_idle() && matches!(self.task(child).life, Life::Unknown | Life::Dead) {
            self.task(child).life = Life::New;
        }
    }

    fn hotplug(&mut self, cpu: CpuId, up: bool) {
        let was = self.cpus[&cpu];
        if up == (was != Doing::Offline) {
            return;
        }
        if let Doing::Runs(task) = was {
            self.task(task).life = Life::Unknown;
        }
        // Settled: the running task of a CPU that comes online is unknown until its first switch; a
        // task that waited on one that goes offline still waits there.
        self.cpus.insert(cpu, if up { Doing::Unknown } else { Doing::Offline });
    }

    fn change(&mut self, task: TaskId, what: Change) {
        if task.is_idle() {
            return;
        }
        match what {
            Change::Affinity(mask) => self.task(task).mask = Some(mask),
            Change::Throttled(on) => self.throttle(task, on),
            Change::MigrationDisabled(on) => self.task(task).held = on,
            Change::Policy(_) | Change::Nice(_) | Change::Cgroup(_) | Change::Name(_) => {}
        }
    }

    /// The CPU is unknown until its next switch, and every task that does not run on another CPU
    /// until its next event. Settled: affinity and last CPU of a task survive the loss, the
    /// throttled state does not; an offline CPU stays offline.
    fn lose(&mut self, cpu: CpuId) {
        if self.cpus[&cpu] != Doing::Offline {
            self.cpus.insert(cpu, Doing::Unknown);
        }
        self.queue.clear();
        for known in self.tasks.values_mut() {
            if !matches!(known.life, Life::Runs(on) if on != cpu) {
                *known = Known { last: known.last, mask: known.mask, ..STRANGER };
            }
        }
    }

    fn task(&mut self, task: TaskId) -> &mut Known {
        self.tasks.entry(task).or_insert(STRANGER)
    }

    /// The tasks that are known to be not runnable.
    pub(super) fn resting(&self) -> impl Iterator<Item = TaskId> + '_ {
        let rests = |known: &Known| !known.life.wants() && known.life != Life::Unknown;
        self.tasks.iter().filter(move |(_, known)| rests(known)).map(|(task, _)| *task)
    }

    pub(super) fn life(&self, task: TaskId) -> Life {
        self.tasks.get(&task).unwrap_or(&STRANGER).life
    }

    fn acts(&self, task: TaskId) -> bool {
        self.life(task).wants()
    }

    fn join(&mut self, task: TaskId, place: Option<CpuId>) {
        self.task(task).last = place;
        self.task(task).only_woken = false;
        if self.task(task).throttled {
            self.task(task).life = Life::Held;
        } else {
            self.task(task).life = Life::Waits;
            self.queue.push((place, task));
        }
    }
}

fn doing(mode: CpuMode) -> Doing {
    match mode {
        CpuMode::Unknown => Doing::Unknown,
        CpuMode::Offline => Doing::Offline,
        CpuMode::Idle => Doing::Idle,
        CpuMode::Busy(task) => Doing::Runs(task),
    }
}

/// For a part of a longer recording, from the data of the whole.
fn quiet(history: &History) -> BTreeSet<CpuId> {
    match &history.head.start {
        Some(Start { silent, past: Some(_), .. }) => silent.iter().copied().collect(),
        _ => history.cpus().filter(|&cpu| is_quiet(history, cpu)).collect(),
    }
}

fn is_quiet(history: &History, cpu: CpuId) -> bool {
    history.entries().all(|entry| {
        let told = matches!(entry.event, Event::Switch { .. } | Event::Lost { .. });
        !told || entry.cpu != cpu
    })
}

/// The rows that concern `cpu`.
fn rows_of(history: &History, cpu: CpuId) -> Vec<Entry> {
    let of_cpu = |entry: &Entry| match entry.event {
        Event::Cpu { cpu: about, .. } => about == cpu,
        _ => entry.cpu == cpu,
    };
    history.entries().filter(of_cpu).collect()
}

/// The task that a CPU ran at the start: the `prev` of its first switch; without any switch the
/// task whose context its first events carry. Unknown if a loss or a hotplug of it came before; but
/// if it first came online, it was offline.
fn before_the_first_switch(history: &History, cpu: CpuId) -> Doing {
    let rows = rows_of(history, cpu);
    let broken = |row: &Entry| matches!(row.event, Event::Lost { .. } | Event::Cpu { .. });
    let before_break = rows.iter().take_while(|row| !broken(row));
    let first_switch = before_break.clone().find_map(|row| match row.event {
        Event::Switch { prev, .. } => Some(prev),
        _ => None,
    });
    // Settled: the context of a row before the break shows which task ran, even if the first switch
    // comes after it.
    let ran = first_switch.or_else(|| before_break.clone().find_map(|row| row.by.task));
    match (ran, rows.first().map(|row| row.event)) {
        (Some(task), _) if task.is_idle() => Doing::Idle,
        (Some(task), _) => Doing::Runs(task),
        (None, Some(Event::Cpu { up: true, .. })) => Doing::Offline,
        (None, _) => Doing::Unknown,
    }
}
