//! Random schedules: possible sequences of events, and the decisions of the interpreter at each.

use std::fmt::Write;

use wastenot_model::policy::{
    Context, CpuView, Effect, Happening, Place, TaskView, TimerId, View, Why,
};
use wastenot_model::workload::{Group, GroupId, Random};
use wastenot_model::{CpuId, CpuSet, Machine, Policy, Span, TaskId, Time};
use wastenot_rota::interpret::{Interpreter, Waits};
use wastenot_rota::ir::{Level, Program, Tasks};
use wastenot_rota::{Tree, partitions};

/// Nice values and their weights.
const NICE: [(i8, u32); 5] = [(-20, 8668), (-1, 125), (0, 100), (1, 80), (19, 1)];

/// A schedule and the expected decisions: one line for each event.
#[derive(Default)]
pub(crate) struct Schedule {
    pub(crate) events: String,
    pub(crate) decisions: Vec<String>,
    /// The events after all CPUs went to sleep; their decisions are the last ones.
    pub(crate) acts: Vec<(Time, Act)>,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Wakes {
        by: CpuId,
        task: TaskId,
        why: Why,
    },
    /// A regular balance is due.
    Balances(usize),
    Ticks(CpuId),
    /// A CPU looks for its next task.
    Looks(CpuId),
    /// The task that runs there stops: p, y, b, x for preempted, yields, blocks, exits.
    Stops {
        cpu: CpuId,
        how: char,
    },
}

/// An interpreter with random events.
pub(crate) struct Player {
    policy: Interpreter,
    cx: Context,
    random: Random,
    /// Regular balances: which, by which CPU, and their timer.
    regular: Vec<(usize, CpuId, TimerId)>,
    /// Tasks that were not woken yet.
    fresh: Vec<TaskId>,
    /// The numbers of queues and groups in the emitted file: the first number of each partition.
    first: Vec<Numbers>,
    schedule: Schedule,
    effects: Vec<Effect>,
}

/// The first numbers of a partition.
struct Numbers {
    kinds: usize,
    groups: [usize; Level::ALL.len()],
    /// The levels of its queues.
    per: Vec<Level>,
}

/// Queues are numbered policy after policy, groups partition after partition.
fn numbers(program: &Program, machine: &Machine) -> Vec<Numbers> {
    let mut groups = [0; Level::ALL.len()];
    let each = partitions::cpus(program, machine).into_iter().enumerate().map(|(part, cpus)| {
        let policy = program.partitions.get(part).map_or(0, |it| it.policy);
        let before = &program.policies[..policy];
        let per = program.policies[policy].queues.iter().map(|queue| queue.per).collect();
        let kinds = before.iter().map(|policy| policy.queues.len()).sum();
        let numbers = Numbers { kinds, groups, per };
        let tree = Tree::of(machine, &cpus);
        for level in Level::ALL {
            groups[level as usize] += tree.count(level);
        }
        numbers
    });
    each.collect()
}

impl Player {
    pub(crate) fn new(program: &Program, machine: &Machine, tasks: usize, seed: u64) -> Player {
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
            groups: groups(program),
            commands: Vec::new(),
            masks: masks(&all, &mut random),
            scan: Span::ZERO,
            seed,
        };
        let mut player = Player {
            policy: Interpreter::new(program.clone(), &[]).expect("no parameters are set"),
            cx: Context::new(view, false),
            random,
            regular: Vec::new(),
            fresh: Vec::new(),
            first: numbers(program, machine),
            schedule: Schedule::default(),
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

    /// Runs this many events.
    pub(crate) fn play(mut self, steps: usize) -> Schedule {
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
        let part = random.below(self.cx.groups.len() as u64) as usize;
        let cpus = self.cx.masks[mask as usize].clone();
        let cpu = CpuId(random.below(self.cx.cpus.len() as u64) as u16);
        self.cx.view_mut().tasks.push(TaskView {
            place: Place::Nowhere,
            cpu,
            nice,
            group: GroupId(part as u32),
            mask,
            kthread: false,
            own: false,
            priority: 1.0,
            job: Some(job),
            command: 0,
        });
        let bits = |word: u16| {
            (0..32)
                .filter(|bit| cpus.contains(CpuId(word * 32 + bit)))
                .fold(0u64, |bits, bit| bits | 1 << bit)
        };
        let words: Vec<String> = (0..4).map(|word| bits(word).to_string()).collect();
        let words = words.join(" ");
        self.event(&format!("c {n} {} {weight} {job} {part} {words}", cpu.0), String::new());
        self.fresh.push(TaskId::nth(n));
    }

    fn step(&mut self) {
        let later = 1 + self.random.below(3_000_000);
        let now = self.cx.now + Span(later);
        writeln!(self.schedule.events, "a {}", now.0).expect("text grows");
        if let Some(act) = self.any_act() {
            self.does(now, act);
            self.schedule.acts.push((now, act));
        }
    }

    /// A random event that can happen next.
    fn any_act(&mut self) -> Option<Act> {
        let random = &mut self.random;
        let cpu = CpuId(random.below(self.cx.cpus.len() as u64) as u16);
        let current = self.cx.current(cpu);
        match random.below(100) {
            0..5 if !self.fresh.is_empty() => {
                let n = random.below(self.fresh.len() as u64) as usize;
                let task = self.fresh.swap_remove(n);
                Some(Act::Wakes { by: cpu, task, why: Why::New })
            }
            0..35 => {
                let asleep = |n: &usize| self.cx.tasks[*n].place == Place::Asleep;
                let asleep: Vec<usize> = (0..self.cx.tasks.len()).filter(asleep).collect();
                if asleep.is_empty() {
                    return None;
                }
                let task = TaskId::nth(asleep[random.below(asleep.len() as u64) as usize]);
                Some(Act::Wakes { by: cpu, task, why: Why::Wakeup { sync: false } })
            }
            35..40 if self.regular.is_empty() => None,
            35..40 => Some(Act::Balances(random.below(self.regular.len() as u64) as usize)),
            40..45 if current.is_some() => Some(Act::Ticks(cpu)),
            _ if current.is_none() => Some(Act::Looks(cpu)),
            _ => {
                let how = match random.below(100) {
                    0..40 => 'p',
                    40..60 => 'y',
                    60..99 => 'b',
                    _ => 'x',
                };
                Some(Act::Stops { cpu, how })
            }
        }
    }

    /// Runs the event, and returns the decision.
    pub(crate) fn does(&mut self, now: Time, act: Act) -> &str {
        self.cx.view_mut().now = now;
        match act {
            Act::Wakes { by, task, why } => self.wakes(by, task, why),
            Act::Balances(n) => self.balances(n),
            Act::Ticks(cpu) => self.ticks(cpu),
            Act::Looks(cpu) => self.looks_for_next(cpu),
            Act::Stops { cpu, how } => self.stops(cpu, how),
        }
        self.schedule.decisions.last().expect("of each act something is said")
    }

    /// The partition in which an event happens.
    pub(crate) fn part_of(&self, act: Act, program: &Program, parts: &[CpuSet]) -> usize {
        let of_cpu = |cpu: CpuId| parts.iter().position(|part| part.contains(cpu));
        let part = match act {
            Act::Wakes { task, .. } => {
                let view = self.cx.task(task);
                let mask = &self.cx.masks[view.mask as usize];
                let may = |part: &CpuSet| part.iter().any(|cpu| mask.contains(cpu));
                let group = &self.cx.groups[view.group.index()].name;
                let named = partitions::named(program, group, "");
                if may(&parts[named]) { Some(named) } else { parts.iter().position(may) }
            }
            Act::Balances(n) => of_cpu(self.regular[n].1),
            Act::Ticks(cpu) | Act::Looks(cpu) | Act::Stops { cpu, .. } => of_cpu(cpu),
        };
        part.expect("all CPUs are in some part")
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

    /// Where the policy placed the task.
    fn place_of(&self, task: TaskId, to: CpuId) -> String {
        match self.policy.waits(task) {
            Some(Waits { part, queue, group, key }) => {
                let first = &self.first[part];
                let group = first.groups[first.per[queue] as usize] + group;
                format!(" put 0 {} {group} {key}", first.kinds + queue)
            }
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

    fn stops(&mut self, cpu: CpuId, how: char) {
        let Some(task) = self.cx.current(cpu) else {
            return self.event(&format!("s {} {how}", cpu.0), " nobody stops".into());
        };
        self.cx.view_mut().cpu = cpu;
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
        let tasks: Vec<TaskId> = (0..self.cx.tasks.len()).map(TaskId::nth).collect();
        let wait = |policy: &Interpreter| -> Vec<_> {
            tasks.iter().map(|&task| policy.waits(task)).collect()
        };
        let before = wait(&self.policy);
        self.policy.on(&mut self.cx, Happening::Timer(timer));
        let after = wait(&self.policy);
        let moved = tasks.iter().filter(|task| before[task.ordinal()] != after[task.ordinal()]);
        let mut line: Vec<String> = moved.map(|task| format!(" move {}", task.ordinal())).collect();
        line.sort();
        self.event(&format!("b {index} {}", leader.0), line.concat());
    }

    /// An event and its decision: words in the order of the stand-ins for the kernel, then kicks,
    /// sorted.
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

/// A timer that is armed from the beginning. Each text has one regular balance.
fn regular(effect: &Effect) -> Option<(usize, CpuId, TimerId)> {
    match effect {
        Effect::Timer { timer, cpu, .. } => Some((0, *cpu, *timer)),
        _ => None,
    }
}

/// A cgroup for each partition, with a name that its pattern matches.
fn groups(program: &Program) -> Vec<Group> {
    let named = program.partitions.iter().map(|partition| match &partition.tasks {
        Tasks::Cgroup(pattern) => pattern.replace('*', "/1").replace('?', "x"),
        Tasks::Command(_) | Tasks::Rest => "others".to_owned(),
    });
    let mut groups: Vec<Group> = named.map(|name| Group { name, ..Group::root() }).collect();
    if groups.is_empty() {
        groups.push(Group::root());
    }
    groups
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
