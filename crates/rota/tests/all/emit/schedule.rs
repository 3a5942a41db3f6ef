//! Random schedules: events that can follow each other, and what the interpreter decides at each.

use std::fmt::Write;

use wastenot_model::policy::{
    Context, CpuView, Effect, Happening, Place, TaskView, TimerId, View, Why,
};
use wastenot_model::workload::{GroupId, Random};
use wastenot_model::{CpuId, CpuSet, Machine, Policy, Span, TaskId, Time};
use wastenot_rota::interpret::Interpreter;
use wastenot_rota::ir::Program;

/// Nice values and their weights.
const NICE: [(i8, u32); 5] = [(-20, 8668), (-1, 125), (0, 100), (1, 80), (19, 1)];

/// A schedule, and the decisions that have to come of it: one line for each event.
pub(super) struct Schedule {
    pub(super) events: String,
    pub(super) decisions: Vec<String>,
}

/// The interpreter in the hands of chance.
pub(super) struct Player {
    policy: Interpreter,
    cx: Context,
    random: Random,
    /// Balances that are done regularly: which, by whom, and the timer that says when.
    regular: Vec<(usize, CpuId, TimerId)>,
    /// Tasks that were never woken.
    fresh: Vec<TaskId>,
    schedule: Schedule,
    effects: Vec<Effect>,
}

impl Player {
    pub(super) fn new(program: &Program, machine: &Machine, tasks: usize, seed: u64) -> Player {
        let mut random = Random::stream(seed, 0, 0);
        let all = CpuSet::first(machine.len());
        let view = View {
            now: Time(0),
            cpu: CpuId(0),
            machine: machine.clone(),
            cpus: vec![CpuView { current: None, idle_since: Time(0), online: true }; machine.len()],
            idle: all.clone(),
            online: all.clone(),
            tasks: Vec::new(),
            groups: Vec::new(),
            masks: masks(&all, &mut random),
            seed,
        };
        let (events, decisions) = (String::new(), Vec::new());
        let mut player = Player {
            policy: Interpreter::new(program.clone(), &[]).expect("no parameters are set"),
            cx: Context::new(view, false),
            random,
            regular: Vec::new(),
            fresh: Vec::new(),
            schedule: Schedule { events, decisions },
            effects: Vec::new(),
        };
        player.policy.init(&mut player.cx);
        player.cx.take(&mut player.effects);
        player.regular = player.effects.iter().filter_map(regular).collect();
        (0..tasks).for_each(|n| player.begins(n));
        for cpu in all.iter() {
            player.looks_for_next(cpu);
        }
        player
    }

    /// So many events.
    pub(super) fn play(mut self, steps: usize) -> Schedule {
        for _ in 0..steps {
            self.step();
        }
        self.schedule
    }

    fn begins(&mut self, n: usize) {
        let random = &mut self.random;
        let mask = random.below(self.cx.masks.len() as u64) as u32;
        let (nice, weight) = NICE[random.below(NICE.len() as u64) as usize];
        let job = random.below(4) as u32;
        let cpus = self.cx.masks[mask as usize].clone();
        let cpu = CpuId(random.below(self.cx.cpus.len() as u64) as u16);
        self.cx.view_mut().tasks.push(TaskView {
            place: Place::Nowhere,
            cpu,
            nice,
            group: GroupId(0),
            mask,
            kthread: false,
            own: false,
            priority: 1.0,
            job: Some(job),
        });
        let bits = |word: u16| {
            (0..32)
                .filter(|bit| cpus.contains(CpuId(word * 32 + bit)))
                .fold(0u64, |bits, bit| bits | 1 << bit)
        };
        let words: Vec<String> = (0..4).map(|word| bits(word).to_string()).collect();
        self.event(&format!("c {n} {} {weight} {job} {}", cpu.0, words.join(" ")), String::new());
        self.fresh.push(TaskId::nth(n));
    }

    fn step(&mut self) {
        let later = 1 + self.random.below(3_000_000);
        let view = self.cx.view_mut();
        view.now = view.now + Span(later);
        let now = view.now.0;
        writeln!(self.schedule.events, "a {now}").expect("text grows");
        let cpu = CpuId(self.random.below(self.cx.cpus.len() as u64) as u16);
        let current = self.cx.current(cpu);
        match self.random.below(100) {
            0..5 if !self.fresh.is_empty() => {
                let n = self.random.below(self.fresh.len() as u64) as usize;
                let task = self.fresh.swap_remove(n);
                self.wakes(cpu, task, Why::New);
            }
            0..35 => {
                let asleep = |n: &usize| self.cx.tasks[*n].place == Place::Asleep;
                let asleep: Vec<usize> = (0..self.cx.tasks.len()).filter(asleep).collect();
                if !asleep.is_empty() {
                    let n = asleep[self.random.below(asleep.len() as u64) as usize];
                    self.wakes(cpu, TaskId::nth(n), Why::Wakeup { sync: false });
                }
            }
            35..40 => {
                if !self.regular.is_empty() {
                    let n = self.random.below(self.regular.len() as u64) as usize;
                    self.balances(n);
                }
            }
            40..45 if current.is_some() => self.ticks(cpu),
            _ => match current {
                None => self.looks_for_next(cpu),
                Some(task) => self.stops(cpu, task),
            },
        }
    }

    fn wakes(&mut self, by: CpuId, task: TaskId, why: Why) {
        self.cx.view_mut().cpu = by;
        let prev = self.cx.task(task).cpu;
        let to = self.policy.select_cpu(&mut self.cx, task, prev, why);
        let mut line = format!(" at {}", to.0);
        self.placed(task, to);
        self.policy.enqueue(&mut self.cx, task, to, why);
        line += &self.place_of(task, to);
        let letter = if why == Why::New { 'n' } else { 'w' };
        self.event(&format!("{letter} {} {}", by.0, task.ordinal()), line);
    }

    fn placed(&mut self, task: TaskId, cpu: CpuId) {
        let view = self.cx.view_mut().task_mut(task);
        (view.place, view.cpu) = (Place::Queued, cpu);
    }

    /// Where the policy has it.
    fn place_of(&self, task: TaskId, to: CpuId) -> String {
        match self.policy.waits(task) {
            Some((queue, group, key)) => format!(" put 0 {queue} {group} {key}"),
            None => format!(" run on {}", to.0),
        }
    }

    fn looks_for_next(&mut self, cpu: CpuId) {
        self.cx.view_mut().cpu = cpu;
        let line = match self.policy.dispatch(&mut self.cx, cpu) {
            None => " idle".into(),
            Some(task) => {
                let view = self.cx.view_mut();
                (view.cpus[cpu.index()].current, view.task_mut(task).place) =
                    (Some(task), Place::Running);
                view.task_mut(task).cpu = cpu;
                view.idle.remove(cpu);
                self.policy.running(&mut self.cx, cpu, task);
                format!(" runs {}", task.ordinal())
            }
        };
        self.event(&format!("d {}", cpu.0), line);
    }

    fn stops(&mut self, cpu: CpuId, task: TaskId) {
        self.cx.view_mut().cpu = cpu;
        let how = match self.random.below(100) {
            0..40 => 'p',
            40..60 => 'y',
            60..99 => 'b',
            _ => 'x',
        };
        if how == 'x' {
            self.policy.on(&mut self.cx, Happening::Exit(task));
        }
        let runnable = how == 'p' || how == 'y';
        self.policy.stopping(&mut self.cx, cpu, task, runnable);
        let view = self.cx.view_mut();
        view.cpus[cpu.index()].current = None;
        view.idle.insert(cpu);
        view.task_mut(task).place = if how == 'x' { Place::Nowhere } else { Place::Asleep };
        let mut line = String::new();
        if runnable {
            self.placed(task, cpu);
            let why = if how == 'p' { Why::Preempted } else { Why::Yield };
            self.policy.enqueue(&mut self.cx, task, cpu, why);
            line = self.place_of(task, cpu);
        }
        self.event(&format!("s {} {how}", cpu.0), line);
    }

    fn ticks(&mut self, cpu: CpuId) {
        self.cx.view_mut().cpu = cpu;
        self.policy.tick(&mut self.cx, cpu);
        self.event(&format!("t {}", cpu.0), String::new());
    }

    fn balances(&mut self, n: usize) {
        let (index, leader, timer) = self.regular[n];
        self.cx.view_mut().cpu = leader;
        self.policy.on(&mut self.cx, Happening::Timer(timer));
        self.event(&format!("b {index} {}", leader.0), String::new());
    }

    /// An event and what was decided: words in the order of the stand-ins for the kernel, then
    /// kicks, sorted.
    fn event(&mut self, event: &str, mut line: String) {
        writeln!(self.schedule.events, "{event}").expect("text grows");
        self.cx.take(&mut self.effects);
        let (mut kicks, mut slice) = (Vec::new(), u64::MAX);
        for effect in &self.effects {
            match effect {
                Effect::Kick { cpu, preempt } => {
                    kicks.push(format!(" kick {} {}", cpu.0, if *preempt { 2 } else { 1 }));
                }
                Effect::Timer { at, .. } if event.starts_with('d') && line.starts_with(" runs") => {
                    slice = at.map_or(u64::MAX, |at| (at - self.cx.now).0);
                }
                Effect::Moved { task, .. } if event.starts_with('b') => {
                    write!(line, " move {}", task.ordinal()).expect("text grows");
                }
                _ => {}
            }
        }
        kicks.sort();
        if line.starts_with(" runs") {
            write!(line, " {slice}").expect("text grows");
        }
        self.schedule.decisions.push(line + &kicks.concat());
    }
}

/// A timer that is armed from the beginning. One balance of each text is done regularly.
fn regular(effect: &Effect) -> Option<(usize, CpuId, TimerId)> {
    match effect {
        Effect::Timer { timer, cpu, .. } => Some((0, *cpu, *timer)),
        _ => None,
    }
}

/// Affinities: all CPUs, and some of at least two of them.
fn masks(all: &CpuSet, random: &mut Random) -> Vec<CpuSet> {
    let mut masks = vec![all.clone()];
    while masks.len() < 4 {
        let mask: CpuSet = all.iter().filter(|_| random.below(2) == 0).collect();
        if mask.len() >= all.len().min(2) {
            masks.push(mask);
        }
    }
    masks
}
