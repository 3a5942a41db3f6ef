//! A small machine that schedules at random and reports what a recorder would have seen.

use wastenot_model::{
    By, Carries, Change, Context, CpuId, CpuSet, Entry, Event, How, Left, MaskId, Prio, Start,
    TaskId, Time,
};

use super::{Telling, mode};
use crate::Rng;

/// The true state of one CPU.
pub(super) struct Cpu {
    pub(super) runs: Option<usize>,
    pub(super) queue: Vec<usize>,
    online: bool,
    /// It records nothing.
    silent: bool,
    /// When it recorded last: a loss is reported at that time.
    last: Option<u64>,
}

/// The true place of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Runs,
    Waits,
    Sleeps,
    /// Its waking is recorded; it is queued in a later step on this CPU.
    Wakes(usize),
    Dead,
}

/// The true state of one task.
pub(super) struct Being {
    pub(super) tid: i32,
    pub(super) name: String,
    life: Life,
    /// Where it runs, waits or ran last.
    cpu: usize,
    /// The CPU to which it is bound, as kernel threads named after one are.
    home: Option<usize>,
    mask: Option<usize>,
    exiting: bool,
    /// When it was switched in.
    came: u64,
}

/// The machine, and the records of it.
pub(super) struct World {
    pub(super) rng: Rng,
    telling: Telling,
    grain: u64,
    pub(super) now: u64,
    pub(super) cpus: Vec<Cpu>,
    pub(super) tasks: Vec<Being>,
    pub(super) masks: Vec<CpuSet>,
    pub(super) out: Vec<Entry>,
    /// Tids of dead tasks, and when they died.
    free: Vec<(i32, u64)>,
    /// A CPU whose recorder drops events, and the number of steps for which it still does.
    deaf: Option<(usize, usize)>,
    forgetful: bool,
}

impl World {
    pub(super) fn new(mut rng: Rng, telling: Telling, grain: u64) -> World {
        let count = if rng.one_in(40) { 130 } else { 1 + rng.below(12) };
        // Not 0: some formats use 0 for "unknown".
        let base = rng.pick(&[7, 5_000, 1_000_000_000, 86_400_123_456_789, 1 << 45]);
        let cpu = |silent| Cpu { runs: None, queue: Vec::new(), online: true, silent, last: None };
        let cpus: Vec<Cpu> = (0..count).map(|n| cpu(n > 0 && rng.one_in(8))).collect();
        let forgetful = rng.one_in(3);
        let mut world = World {
            rng,
            telling,
            grain,
            now: (base / grain).max(1) * grain,
            cpus,
            tasks: Vec::new(),
            masks: Vec::new(),
            out: Vec::new(),
            free: Vec::new(),
            deaf: None,
            forgetful,
        };
        world.people();
        world
    }

    /// Creates the tasks that exist at the start: some run, some wait, most sleep.
    fn people(&mut self) {
        let count = 1 + self.rng.below(2 * self.cpus.len().min(12) + 4);
        for tid in 0..count {
            let cpu = self.rng.below(self.cpus.len());
            let task = self.born(10 + tid as i32, cpu);
            match self.rng.below(4) {
                0 | 1 if self.cpus[cpu].runs.is_none() => {
                    self.tasks[task].life = Life::Runs;
                    self.cpus[cpu].runs = Some(task);
                }
                2 => self.enqueue(task, cpu),
                _ => {}
            }
        }
    }

    fn born(&mut self, tid: i32, cpu: usize) -> usize {
        let name = match self.rng.below(8) {
            0 => format!("kworker/{cpu}:1"),
            1 => format!("ksoftirqd/{cpu}"),
            2 => "irq/9-acpi".to_owned(),
            3 => "kworker/u8:2".to_owned(),
            4 => "cc1 plus".to_owned(),
            _ => format!("worker{}", tid % 3),
        };
        // Some of these move although their names suggest that they do not.
        let kept = name.contains('/') && !self.rng.one_in(4);
        let home = kept.then_some(cpu);
        let life = Life::Sleeps;
        self.tasks.push(Being { tid, name, life, cpu, home, mask: None, exiting: false, came: 0 });
        self.tasks.len() - 1
    }

    /// The current state, as in a recorder's snapshot; sometimes of some CPUs only.
    pub(super) fn start(&mut self) -> Option<Start> {
        if self.rng.one_in(2) {
            return None;
        }
        let whole = !self.rng.one_in(4);
        let told = if whole { self.cpus.len() } else { self.rng.below(self.cpus.len()) };
        let cpus = self.cpus[..told].iter().map(|cpu| mode(cpu.runs)).collect();
        let mut start = Start { cpus, ..Start::default() };
        for (number, cpu) in self.cpus[..told].iter().enumerate() {
            let place = Some(CpuId(number as u16));
            start.waiting.extend(cpu.queue.iter().map(|&task| (TaskId::nth(task), place)));
        }
        for (index, task) in self.tasks.iter().enumerate() {
            if task.life == Life::Sleeps && whole {
                start.sleeping.push((TaskId::nth(index), Some(CpuId(task.cpu as u16))));
            }
        }
        Some(start)
    }

    /// One step.
    pub(super) fn step(&mut self) {
        self.pass();
        match self.rng.below(40) {
            0..=11 => self.wake(),
            12..=14 => self.finish_wakeup(),
            15..=28 => self.switch(),
            29..=31 => self.migrate(),
            32 | 33 => self.fork(),
            34 => self.exit(),
            35 | 36 => self.change(),
            37 => self.hotplug(),
            _ => self.odds(),
        }
        if self.rng.one_in(12) {
            self.lose();
        }
        if let Some((_, left)) = &mut self.deaf {
            *left -= 1;
            if *left == 0 {
                self.deaf = None;
            }
        }
    }

    /// Time passes, or does not: with equal stamps the order matters.
    fn pass(&mut self) {
        let span = match self.rng.below(8) {
            0..=2 => 0,
            3 | 4 => self.rng.below(5),
            5 | 6 => self.rng.below(3_000),
            _ => self.rng.below(4_000_000),
        };
        self.now += span as u64 * self.grain;
    }

    fn wake(&mut self) {
        let sleeps = |(n, task): (usize, &Being)| (task.life == Life::Sleeps).then_some(n);
        let Some(task) = self.rng.choose(self.tasks.iter().enumerate().filter_map(sleeps)) else {
            return;
        };
        let (waker, context) = (self.recorder(), self.context());
        let prev = Some(CpuId(self.tasks[task].cpu as u16));
        let prio = prio(self.rng.below(4));
        self.tell(waker, context, Event::Waking { task: TaskId::nth(task), prev, prio });
        let target = self.target(task);
        if target != self.tasks[task].cpu {
            self.tell_migrate(waker, context, task, target);
        }
        self.tasks[task].life = Life::Wakes(target);
        if !self.rng.one_in(6) {
            self.complete(task, waker, context);
        }
    }

    fn finish_wakeup(&mut self) {
        let wakes = |(n, task): (usize, &Being)| matches!(task.life, Life::Wakes(_)).then_some(n);
        if let Some(task) = self.rng.choose(self.tasks.iter().enumerate().filter_map(wakes)) {
            // An interrupt of the target CPU finishes a remote wakeup.
            let by = self.tasks[task].cpu;
            let by = if self.cpus[by].silent { self.recorder() } else { by };
            self.complete(task, by, Context::Hardirq);
        }
    }

    fn complete(&mut self, task: usize, by: usize, context: Context) {
        let Life::Wakes(target) = self.tasks[task].life else { return };
        let how = if self.rng.one_in(12) { How::NoSelection } else { How::Wakeup };
        self.enqueue(task, target);
        self.tell_queued(by, context, task, how);
    }

    fn switch(&mut self) {
        let cpu = self.recorder();
        if !self.cpus[cpu].online {
            return;
        }
        let prev = self.cpus[cpu].runs;
        let mut left = Left::Runnable;
        if let Some(prev) = prev {
            left = self.leaving(prev);
        }
        // Mostly the first task of the queue runs next, sometimes another, sometimes none.
        let queue = &mut self.cpus[cpu].queue;
        let index = if self.rng.one_in(5) { self.rng.below(queue.len()) } else { 0 };
        let idle = queue.is_empty() || self.rng.one_in(10);
        let next = (!idle).then(|| queue.remove(index));
        if prev.is_none() && next.is_none() {
            return;
        }
        let [prev_prio, next_prio] = [prev, next].map(|task| prio(task.unwrap_or(0) % 4));
        let [from, to] = [prev, next].map(|task| task.map_or(idle_of(cpu), TaskId::nth));
        let event =
            Event::Switch { cpu: cpu_id(cpu), prev: from, next: to, left, prev_prio, next_prio };
        self.tell(cpu, Context::Task, event);
        self.cpus[cpu].runs = next;
        if let Some(prev) = prev {
            self.leave(prev, cpu, left);
        }
        if let Some(next) = next {
            let task = &mut self.tasks[next];
            (task.life, task.cpu, task.came) = (Life::Runs, cpu, self.now);
        }
    }

    fn leaving(&mut self, task: usize) -> Left {
        // Not in the instant in which it came from another CPU: the order of deaths there would be
        // undetermined.
        if self.tasks[task].exiting && self.tasks[task].came < self.now {
            return Left::Dead;
        }
        match self.rng.below(16) {
            0..=4 => Left::Preempted,
            5 | 6 => Left::Runnable,
            7..=11 => Left::Sleeping,
            12 => Left::Blocked,
            13 => Left::Stopped,
            14 => Left::Parked,
            _ => Left::Idle,
        }
    }

    fn leave(&mut self, task: usize, cpu: usize, left: Left) {
        match left {
            Left::Runnable | Left::Preempted => self.enqueue(task, cpu),
            Left::Dead => {
                self.tasks[task].life = Life::Dead;
                // No source can distinguish two tasks with one tid if the death of the first was
                // dropped.
                if self.hears(cpu) {
                    self.free.push((self.tasks[task].tid, self.now));
                }
            }
            _ => self.tasks[task].life = Life::Sleeps,
        }
    }

    fn migrate(&mut self) {
        let moves = |task: &Being| task.life == Life::Waits || task.life == Life::Sleeps;
        let chosen = self.tasks.iter().enumerate().filter(|(_, task)| moves(task)).map(|(n, _)| n);
        let Some(task) = self.rng.choose(chosen) else { return };
        let target = self.target(task);
        if target == self.tasks[task].cpu {
            return;
        }
        let by = self.recorder();
        let context = self.context();
        self.tell_migrate(by, context, task, target);
        if self.tasks[task].life == Life::Waits {
            let from = self.tasks[task].cpu;
            self.cpus[from].queue.retain(|&other| other != task);
            self.enqueue(task, target);
        }
        self.tasks[task].cpu = target;
    }

    fn fork(&mut self) {
        let cpu = self.recorder();
        let Some(parent) = self.cpus[cpu].runs else { return };
        // A tid is reused, but not in the same instant in which its task dies.
        let told = self.hears(cpu) && self.telling.carries().has(Carries::FORKS);
        let tid = match self.free.first() {
            Some(&(tid, died)) if died < self.now && told => {
                self.free.remove(0);
                tid
            }
            _ => 1_000 + self.tasks.len() as i32,
        };
        let child = self.born(tid, cpu);
        // Sources keep one name per tid separately from their events: a reused tid keeps its name.
        if let Some(dead) = self.tasks[..child].iter().find(|task| task.tid == tid) {
            self.tasks[child].name = dead.name.clone();
        }
        let event = Event::Fork { parent: TaskId::nth(parent), child: TaskId::nth(child) };
        self.tell(cpu, Context::Task, event);
        let target = self.target(child);
        self.enqueue(child, target);
        self.tell_queued(cpu, Context::Task, child, How::New);
    }

    fn exit(&mut self) {
        let cpu = self.recorder();
        if let Some(task) = self.cpus[cpu].runs.filter(|&task| !self.tasks[task].exiting) {
            self.tasks[task].exiting = true;
            self.tell(cpu, Context::Task, Event::Exit { task: TaskId::nth(task) });
        }
    }

    fn change(&mut self) {
        let task = self.rng.below(self.tasks.len());
        if self.tasks[task].life == Life::Dead {
            return;
        }
        let on = self.rng.one_in(2);
        let what = match self.rng.below(8) {
            0..=3 => {
                let mask = self.some_mask();
                self.tasks[task].mask = Some(mask);
                Change::Affinity(MaskId(mask as u32))
            }
            4 => Change::Throttled(on),
            5 => Change::MigrationDisabled(on),
            6 => Change::Policy(self.rng.pick(&[0, 1, 3, 5])),
            _ => Change::Nice(self.rng.pick(&[-20, 0, 19])),
        };
        let by = self.recorder();
        self.tell(by, Context::Task, Event::Changed { task: TaskId::nth(task), what });
    }

    fn some_mask(&mut self) -> usize {
        let mut cpus = CpuSet::new();
        for _ in 0..1 + self.rng.below(3) {
            cpus.insert(cpu_id(self.rng.below(self.cpus.len())));
        }
        if let Some(known) = self.masks.iter().position(|mask| *mask == cpus) {
            return known;
        }
        self.masks.push(cpus);
        self.masks.len() - 1
    }

    /// A CPU goes offline, mostly after its tasks moved to other CPUs, or comes online.
    fn hotplug(&mut self) {
        let cpu = self.rng.below(self.cpus.len());
        if self.cpus[cpu].silent || self.cpus.len() == 1 {
            return;
        }
        let up = !self.cpus[cpu].online;
        if !up && (self.cpus[cpu].runs.is_some() || self.online().count() < 2) {
            return;
        }
        let others = |other: usize| other != cpu && !self.cpus[other].silent;
        let Some(other) = self.online().find(|&other| others(other)) else { return };
        self.cpus[cpu].online = up;
        // A CPU comes online by itself and is taken offline by another.
        let by = if up { cpu } else { other };
        self.tell(by, Context::Task, Event::Cpu { cpu: cpu_id(cpu), up });
        while let (false, Some(&task)) = (up, self.cpus[cpu].queue.first()) {
            let target = self.online().next().expect("another CPU is online");
            self.cpus[cpu].queue.remove(0);
            self.tell_migrate(by, Context::Task, task, target);
            self.enqueue(task, target);
        }
    }

    /// The recorder of a CPU drops the next events there. The gap begins at its last record.
    fn lose(&mut self) {
        let now = Some(self.now);
        let recorded = |(n, cpu): (usize, &Cpu)| (cpu.last == now && cpu.online).then_some(n);
        let Some(cpu) = self.rng.choose(self.cpus.iter().enumerate().filter_map(recorded)) else {
            return;
        };
        if !self.forgetful || self.deaf.is_some() {
            return;
        }
        let count = (!self.rng.one_in(3)).then(|| 1 + self.rng.below(9) as u32);
        let (time, by) = (Time(self.now), By::UNKNOWN);
        self.out.push(Entry { time, cpu: cpu_id(cpu), by, event: Event::Lost { count } });
        self.cpus[cpu].last = None;
        self.deaf = Some((cpu, 1 + self.rng.below(6)));
    }

    fn odds(&mut self) {
        let cpu = self.recorder();
        let khz = self.rng.pick(&[800_000, 2_100_000]);
        match self.cpus[cpu].runs {
            Some(task) if self.rng.one_in(2) => {
                self.tell(cpu, Context::Task, Event::Exec { task: TaskId::nth(task) });
            }
            _ => self.tell(cpu, Context::Task, Event::Freq { cpu: cpu_id(cpu), khz }),
        }
    }

    fn enqueue(&mut self, task: usize, cpu: usize) {
        (self.tasks[task].life, self.tasks[task].cpu) = (Life::Waits, cpu);
        self.cpus[cpu].queue.push(task);
    }

    /// A CPU for `task`: its home, one of its mask, or any online CPU.
    fn target(&mut self, task: usize) -> usize {
        let being = &self.tasks[task];
        if let Some(home) = being.home.filter(|&home| self.cpus[home].online) {
            return home;
        }
        let mask = being.mask.map(|mask| self.masks[mask].clone());
        let fits = |cpu: &usize| mask.as_ref().is_none_or(|mask| mask.contains(cpu_id(*cpu)));
        let allowed: Vec<usize> = self.online().filter(fits).collect();
        if !self.rng.one_in(3) && allowed.contains(&self.tasks[task].cpu) {
            return self.tasks[task].cpu;
        }
        let any: Vec<usize> = self.online().collect();
        let few = if allowed.is_empty() { any } else { allowed };
        self.rng.pick(&few)
    }

    fn online(&self) -> impl Iterator<Item = usize> + '_ {
        self.cpus.iter().enumerate().filter(|(_, cpu)| cpu.online).map(|(n, _)| n)
    }

    /// A CPU that records; the first few record most events, so that some CPUs have none.
    pub(super) fn recorder(&mut self) -> usize {
        let few = self.cpus.len().min(4);
        let near = !self.rng.one_in(3);
        let cpu = self.rng.below(if near { few } else { self.cpus.len() });
        if self.cpus[cpu].silent || !self.cpus[cpu].online {
            return self.online().find(|&cpu| !self.cpus[cpu].silent).unwrap_or(0);
        }
        cpu
    }

    fn context(&mut self) -> Context {
        self.rng.pick(&[Context::Task, Context::Task, Context::Hardirq, Context::Softirq])
    }

    fn tell_queued(&mut self, by: usize, context: Context, task: usize, how: How) {
        let on = Some(cpu_id(self.tasks[task].cpu));
        let prio = prio(task % 4);
        self.tell(by, context, Event::Queued { task: TaskId::nth(task), on, how, prio });
    }

    fn tell_migrate(&mut self, by: usize, context: Context, task: usize, to: usize) {
        let from = Some(cpu_id(self.tasks[task].cpu));
        let event = Event::Migrate { task: TaskId::nth(task), from, to: cpu_id(to) };
        self.tell(by, context, event);
    }

    /// Whether the recorder of `cpu` currently drops nothing.
    fn hears(&self, cpu: usize) -> bool {
        self.deaf.is_none_or(|(deaf, _)| deaf != cpu)
    }

    /// Writes a row as the recorder of `cpu` would, if it would.
    pub(super) fn tell(&mut self, cpu: usize, context: Context, event: Event) {
        if !self.hears(cpu) || !self.telling.tells(&event) {
            return;
        }
        let current = self.cpus[cpu].runs.map_or(idle_of(cpu), TaskId::nth);
        let by = By { task: Some(current), context };
        self.cpus[cpu].last = Some(self.now);
        self.out.push(Entry { time: Time(self.now), cpu: cpu_id(cpu), by, event });
    }
}

fn cpu_id(cpu: usize) -> CpuId {
    CpuId(cpu as u16)
}
fn idle_of(cpu: usize) -> TaskId {
    TaskId::idle(cpu_id(cpu))
}
fn prio(which: usize) -> Prio {
    Prio(Some([120, 100, 139, 49][which]))
}
