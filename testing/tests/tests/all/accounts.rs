//! Accounts of programs whose critical path is known: it is laid out while they are made.
//!
//! Each task carries the path that led to what it does now. A run, a wait or a quota makes it
//! longer; a task that is woken takes over what its waker did since it fell asleep. This goes
//! forward in time and knows no window; the account goes backward and has never seen it.

use std::collections::BTreeMap;

use wastenot_check::Options;
use wastenot_check::account::{Account, Kind, Question, Step};
use wastenot_model::{
    Builder, By, Carries, Change, Context, CpuId, Entry, Event, Head, History, How, Left, Machine,
    Prio, Sink, Task, TaskId, Time, Window,
};
use wastenot_needs::effort;
use wastenot_read::read;
use wastenot_tests::Rng;
use wastenot_tests::random::Plan;

use crate::traces::{name, traces};
use crate::windows::windows;

/// What a task on the path does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Runs,
    /// Its CPU runs another task, or is idle and starts another one first.
    Waits,
    /// Its CPU is idle and starts it next.
    Starts,
    /// It was woken and is not queued yet.
    Wakes,
    IsHeld,
    IsBlocked,
    Sleeps,
    WasWokenUnseen,
}

/// A stretch of a path.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: u64,
    to: u64,
    task: usize,
    does: Does,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Runs(usize),
    Waits(usize),
    Held(usize),
    Sleeps {
        since: u64,
        blocked: bool,
    },
    /// Woken, and not queued yet.
    Wakes,
    New {
        since: u64,
        parent: usize,
    },
    Dead,
}

#[derive(Debug)]
struct Actor {
    id: TaskId,
    phase: Phase,
    path: Vec<Stretch>,
    born: Option<u64>,
    throttled: bool,
    /// It is being woken although it still runs.
    woken_awake: bool,
    /// When it was woken last.
    woken: Option<u64>,
    /// When it ran last.
    ran: Vec<(u64, u64)>,
}

/// A program under way.
struct Stage {
    random: Rng,
    sink: Builder,
    now: u64,
    /// By CPU: who runs there, and who waits, in the order in which they came.
    runs: Vec<Option<usize>>,
    queues: Vec<Vec<usize>>,
    actors: Vec<Actor>,
    turns: Vec<(u64, u64, usize)>,
    cut: u64,
}

/// A program with all that is known of it.
struct Program {
    history: History,
    actors: Vec<Actor>,
    turns: Vec<(u64, u64, usize)>,
    cut: u64,
}

fn clip(path: &[Stretch], from: u64, to: u64) -> impl Iterator<Item = Stretch> + '_ {
    let clip = move |it: &Stretch| Stretch { from: it.from.max(from), to: it.to.min(to), ..*it };
    path.iter().map(clip).filter(|it| it.from < it.to)
}

impl Stage {
    fn new(seed: u64) -> Stage {
        let mut random = Rng::new(seed);
        let cpus = 1 + random.below(5);
        let mut head = Head::new(Machine::flat(cpus));
        head.carries = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, ..)| all | *carry);
        let mut stage = Stage {
            random,
            sink: Builder::new(head),
            now: 1000,
            runs: vec![None; cpus],
            queues: vec![Vec::new(); cpus],
            actors: Vec::new(),
            turns: Vec::new(),
            cut: 0,
        };
        for cpu in 0..cpus {
            let first = stage.actor();
            stage.cut += 1;
            stage.switch(cpu, Some(first), Left::Sleeping);
        }
        stage
    }

    fn actor(&mut self) -> usize {
        let name = self.sink.name("actor");
        let index = self.actors.len();
        let id = self.sink.task(Task::new(100 + index as i32, name));
        let phase = Phase::Dead;
        self.actors.push(Actor {
            id,
            phase,
            path: Vec::new(),
            born: None,
            throttled: false,
            woken_awake: false,
            woken: None,
            ran: Vec::new(),
        });
        index
    }

    fn push(&mut self, cpu: usize, by: By, event: Event) {
        self.sink.push(Entry { time: Time(self.now), cpu: CpuId(cpu as u16), by, event });
    }

    fn id(&self, task: Option<usize>, cpu: usize) -> TaskId {
        task.map_or(TaskId::idle(CpuId(cpu as u16)), |task| self.actors[task].id)
    }

    /// Some task that is as asked.
    fn some(&mut self, is: impl Fn(&Actor) -> bool) -> Option<usize> {
        let fit: Vec<usize> = (0..self.actors.len()).filter(|&it| is(&self.actors[it])).collect();
        self.random.choose(fit)
    }

    fn running(&mut self) -> Option<(usize, usize)> {
        let task = self.some(|it| matches!(it.phase, Phase::Runs(_)))?;
        let Phase::Runs(cpu) = self.actors[task].phase else { return None };
        Some((task, cpu))
    }

    /// Time passes: whoever wants to run goes on with what it does.
    fn pass(&mut self, ns: u64) {
        let (from, to) = (self.now, self.now + ns);
        for task in 0..self.actors.len() {
            let does = match self.actors[task].phase {
                Phase::Runs(_) => {
                    self.actors[task].ran.push((from, to));
                    Does::Runs
                }
                Phase::Waits(cpu) if self.runs[cpu].is_some() => Does::Waits,
                Phase::Waits(cpu) if self.queues[cpu][0] == task => Does::Starts,
                Phase::Waits(_) => Does::Waits,
                Phase::Held(_) => Does::IsHeld,
                Phase::Wakes => Does::Wakes,
                Phase::Sleeps { .. } | Phase::New { .. } | Phase::Dead => continue,
            };
            self.actors[task].path.push(Stretch { from, to, task, does });
        }
        self.now = to;
    }

    /// `task` wants to run at `cpu`.
    fn want(&mut self, task: usize, cpu: usize) {
        self.actors[task].phase = if self.actors[task].throttled {
            Phase::Held(cpu)
        } else {
            self.queues[cpu].push(task);
            Phase::Waits(cpu)
        };
    }

    fn unqueue(&mut self, task: usize) {
        self.queues.iter_mut().for_each(|queue| queue.retain(|it| *it != task));
    }

    /// Whoever runs on `cpu` leaves it to `next`.
    fn switch(&mut self, cpu: usize, next: Option<usize>, left: Left) {
        let prev = self.runs[cpu];
        let ids = (self.id(prev, cpu), self.id(next, cpu));
        let place = CpuId(cpu as u16);
        self.sink.push(Entry::switch(Time(self.now), place, ids.0, ids.1, left));
        if let Some(prev) = prev {
            match left {
                Left::Runnable | Left::Preempted => {
                    self.actors[prev].woken_awake = false;
                    self.want(prev, cpu);
                }
                _ => self.leave(prev, left),
            }
        }
        if let Some(next) = next {
            self.unqueue(next);
            self.actors[next].phase = Phase::Runs(cpu);
        }
        self.runs[cpu] = next;
    }

    fn leave(&mut self, task: usize, left: Left) {
        let now = self.now;
        let actor = &mut self.actors[task];
        if let Some(woken) = actor.woken.take().filter(|woken| *woken < now) {
            self.turns.push((woken, now, task));
        }
        actor.phase = match left {
            Left::Dead => Phase::Dead,
            // Its waking is under way.
            _ if actor.woken_awake => Phase::Wakes,
            _ => Phase::Sleeps { since: now, blocked: left == Left::Blocked },
        };
        if actor.phase == Phase::Wakes {
            actor.woken = Some(now);
        }
    }

    /// `task` was woken now, by this one if it was a task.
    fn wake(&mut self, task: usize, waker: Option<usize>, is_seen: bool) {
        let now = self.now;
        let Phase::Sleeps { since, blocked } = self.actors[task].phase else { return };
        let slept = match (waker, blocked) {
            (Some(waker), _) => clip(&self.actors[waker].path, since, now).collect(),
            (None, _) if !is_seen => {
                vec![Stretch { from: since, to: now, task, does: Does::WasWokenUnseen }]
            }
            (None, true) => vec![Stretch { from: since, to: now, task, does: Does::IsBlocked }],
            (None, false) => vec![Stretch { from: since, to: now, task, does: Does::Sleeps }],
        };
        let actor = &mut self.actors[task];
        actor.path.extend(slept);
        actor.path.retain(|it| it.from < it.to);
        (actor.phase, actor.woken) = (Phase::Wakes, Some(now));
    }

    fn waking(&mut self, task: usize, cpu: usize, by: By) {
        let event = Event::Waking { task: self.actors[task].id, prev: None, prio: Prio::UNKNOWN };
        self.push(cpu, by, event);
    }

    /// One thing happens, if it can.
    fn act(&mut self) -> Option<()> {
        let cpu = self.random.below(self.runs.len());
        match self.random.below(14) {
            0 | 1 => {
                // A CPU starts, or takes, one that waits there.
                let next = self.random.choose(self.queues[cpu].iter().copied())?;
                let runnable = self.random.pick(&[Left::Runnable, Left::Preempted]);
                let left = if self.random.one_in(3) { Left::Sleeping } else { runnable };
                let can_sleep = self.runs[cpu].is_some();
                self.switch(cpu, Some(next), if can_sleep { left } else { Left::Runnable });
            }
            2 | 3 => {
                let (_, cpu) = self.running()?;
                let left = self.random.pick(&[Left::Sleeping, Left::Blocked, Left::Sleeping]);
                let next = self.queues[cpu].first().copied().filter(|_| !self.random.one_in(4));
                self.switch(cpu, next, left);
            }
            4..=6 => {
                let (waker, cpu) = self.running()?;
                let task = self.some(|it| matches!(it.phase, Phase::Sleeps { .. }))?;
                self.waking(task, cpu, By::task(self.actors[waker].id));
                self.wake(task, Some(waker), true);
            }
            7 => self.interrupt(cpu)?,
            8 | 9 => {
                // The CPU that the task will wait on queues it, or the waker's.
                let task = self.some(|it| it.phase == Phase::Wakes)?;
                let current = self.id(self.runs[cpu], cpu);
                let context = self.random.pick(&[Context::Task, Context::Hardirq]);
                let on = Some(CpuId(cpu as u16));
                let (how, prio) = (How::Wakeup, Prio::UNKNOWN);
                let event = Event::Queued { task: self.actors[task].id, on, how, prio };
                self.push(cpu, By { task: Some(current), context }, event);
                self.want(task, cpu);
                self.actors[task].woken_awake = false;
            }
            10 => self.fork()?,
            11 => self.queue_new()?,
            12 => self.throttle(cpu)?,
            _ => self.act_rarely(cpu)?,
        }
        Some(())
    }

    /// An interrupt on `cpu` wakes a task; the History may not tell what did.
    fn interrupt(&mut self, cpu: usize) -> Option<()> {
        let task = self.some(|it| matches!(it.phase, Phase::Sleeps { .. }))?;
        let context = self.random.pick(&[Context::Softirq, Context::Hardirq]);
        let unseen = self.random.one_in(8);
        let current = self.id(self.runs[cpu], cpu);
        let by = match unseen {
            true => By::UNKNOWN,
            false => By { task: Some(current), context },
        };
        self.waking(task, cpu, by);
        self.wake(task, None, !unseen);
        Some(())
    }

    /// A task forks.
    fn fork(&mut self) -> Option<()> {
        let (parent, cpu) = self.running()?;
        if self.actors.len() > 12 {
            return None;
        }
        let child = self.actor();
        let (now, by) = (self.now, By::task(self.actors[parent].id));
        let path = self.actors[parent].path.clone();
        let ids = (self.actors[parent].id, self.actors[child].id);
        self.push(cpu, by, Event::Fork { parent: ids.0, child: ids.1 });
        let actor = &mut self.actors[child];
        (actor.born, actor.path) = (Some(now), path);
        actor.phase = Phase::New { since: now, parent };
        Some(())
    }

    /// A new task is queued by its parent.
    fn queue_new(&mut self) -> Option<()> {
        let task = self.some(|it| matches!(it.phase, Phase::New { .. }))?;
        let Phase::New { since, parent } = self.actors[task].phase else { return None };
        let Phase::Runs(cpu) = self.actors[parent].phase else { return None };
        let made: Vec<Stretch> = clip(&self.actors[parent].path, since, self.now).collect();
        let to = self.random.below(self.runs.len());
        let (how, prio) = (How::New, Prio::UNKNOWN);
        let on = Some(CpuId(to as u16));
        let by = By::task(self.actors[parent].id);
        let event = Event::Queued { task: self.actors[task].id, on, how, prio };
        self.push(cpu, by, event);
        self.actors[task].path.extend(made);
        self.actors[task].woken = Some(self.now);
        self.want(task, to);
        Some(())
    }

    /// A quota holds a task back, or does so no longer.
    fn throttle(&mut self, cpu: usize) -> Option<()> {
        let task = self.some(|it| !matches!(it.phase, Phase::Dead | Phase::New { .. }))?;
        let on = !self.actors[task].throttled;
        self.actors[task].throttled = on;
        let what = Change::Throttled(on);
        self.push(cpu, By::UNKNOWN, Event::Changed { task: self.actors[task].id, what });
        match self.actors[task].phase {
            Phase::Waits(cpu) if on => {
                self.unqueue(task);
                self.actors[task].phase = Phase::Held(cpu);
            }
            Phase::Held(cpu) if !on => self.want(task, cpu),
            _ => {}
        }
        Some(())
    }

    /// A task moves to `cpu`, is woken while it runs, or ends.
    fn act_rarely(&mut self, cpu: usize) -> Option<()> {
        match self.random.below(3) {
            0 => {
                let task = self.some(|it| matches!(it.phase, Phase::Waits(_)))?;
                self.unqueue(task);
                let (task_id, to) = (self.actors[task].id, CpuId(cpu as u16));
                self.push(cpu, By::UNKNOWN, Event::Migrate { task: task_id, from: None, to });
                self.want(task, cpu);
            }
            1 => {
                let (task, _) = self.running()?;
                let (waker, cpu) = self.running()?;
                if waker == task || self.actors[task].woken_awake {
                    return None;
                }
                self.waking(task, cpu, By::task(self.actors[waker].id));
                self.actors[task].woken_awake = true;
            }
            _ => {
                let (task, cpu) = self.running()?;
                if self.actors[task].woken_awake || self.actors.len() < 3 {
                    return None;
                }
                self.switch(cpu, None, Left::Dead);
            }
        }
        Some(())
    }

    fn play(mut self) -> Program {
        for _ in 0..40 + self.random.below(120) {
            let ns = if self.random.one_in(8) { 0 } else { 1 + self.random.below(500) as u64 };
            self.pass(ns);
            // What is impossible now is tried again as something else.
            let _ = (0..20).find(|_| self.act().is_some());
        }
        self.pass(10);
        self.sink.head().window.to = Time(self.now);
        let Stage { sink, actors, turns, cut, .. } = self;
        Program { history: sink.finish(), actors, turns, cut }
    }
}

/// Whether a step is what the path has there.
fn fits(step: &Step, asked: bool, does: Does) -> bool {
    match does {
        Does::Runs => step.kind == if asked { Kind::Run } else { Kind::RunOther },
        Does::Waits => step.kind == if asked { Kind::Wait } else { Kind::WaitOther },
        Does::Starts | Does::Wakes => step.kind == Kind::WakeDelay,
        Does::IsHeld => step.kind == Kind::Held,
        Does::IsBlocked => step.kind == Kind::Io,
        Does::Sleeps => step.kind == Kind::TimerOrDevice,
        Does::WasWokenUnseen => step.kind == Kind::Unknown,
    }
}

/// What the account has to cover, of whom last.
fn interval(program: &Program, asked: &[usize], window: Window) -> Option<(usize, u64, u64)> {
    let within = |from: u64, to: u64| window.clip(Time(from), Time(to)).map(|(_, to)| to.0);
    let mut last: Option<(u64, usize)> = None;
    for &task in asked {
        let ran = program.actors[task].ran.iter().filter_map(|&(from, to)| within(from, to)).max();
        if let Some(ran) = ran.filter(|ran| last.is_none_or(|(last, _)| *ran > last)) {
            last = Some((ran, task));
        }
    }
    let (to, task) = last?;
    let born = asked.iter().map(|&task| program.actors[task].born.unwrap_or(0)).min()?;
    let from = born.max(window.from.0);
    (from < to).then_some((task, from, to))
}

fn holds(seed: u64) -> BTreeMap<&'static str, u64> {
    let program = Stage::new(seed).play();
    let mut random = Rng::new(!seed);
    let all = program.history.window();
    let mut window = all;
    if random.one_in(3) {
        let mut at = || Time(all.from.0 + random.below(all.span().0 as usize + 1) as u64);
        let (a, b) = (at(), at());
        window = Window { from: a.min(b), to: a.max(b) };
    }
    let count = program.actors.len();
    let mut asked: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(count)).collect();
    asked.sort_unstable();
    asked.dedup();
    let tasks = asked.iter().map(|&task| program.actors[task].id).collect();
    let question = Question { tasks, window, every: false };
    let account = Account::of(&program.history, &question, &Options::default());
    let Some((last, from, to)) = interval(&program, &asked, window) else {
        assert!(account.path.is_empty(), "seed {seed}");
        return BTreeMap::new();
    };
    assert_eq!((account.window.from.0, account.window.to.0), (from, to), "seed {seed}");
    let laid: Vec<Stretch> = clip(&program.actors[last].path, from, to).collect();
    let mut kinds = BTreeMap::new();
    let (mut at, mut steps) = (from, account.path.iter().peekable());
    for stretch in &laid {
        assert_eq!(stretch.from, at, "seed {seed}: the layout is whole");
        while at < stretch.to {
            let step = steps.peek().unwrap_or_else(|| panic!("seed {seed}: nothing at {at}"));
            assert!(step.window.holds(Time(at)), "seed {seed}: {at} {step:?}");
            let is_asked = asked.contains(&stretch.task);
            let same = program.actors[stretch.task].id == step.task;
            assert!(
                same && fits(step, is_asked, stretch.does),
                "seed {seed}: {stretch:?} {step:?}"
            );
            let next = stretch.to.min(step.window.to.0);
            *kinds.entry(step.kind.name()).or_insert(0) += next - at;
            at = next;
            if step.window.to.0 == at {
                steps.next();
            }
        }
    }
    assert_eq!((at, steps.next()), (to, None), "seed {seed}");
    let parts: u64 = account.parts().iter().map(|part| part.ns).sum();
    assert_eq!(parts, to - from, "seed {seed}");
    kinds
}

#[test]
fn accounts_of_generated_programs_are_those_that_were_laid_out() {
    let mut kinds = BTreeMap::<&str, u64>::new();
    for seed in 0..effort(10_000) {
        for (kind, ns) in holds(seed) {
            *kinds.entry(kind).or_default() += ns;
        }
    }
    println!("{kinds:?}");
    assert_eq!(kinds.len(), Kind::ALL.len(), "each kind occurs");
}

#[test]
fn activations_of_generated_programs_are_those_that_were_laid_out() {
    for seed in 0..effort(2_000) {
        let program = Stage::new(seed).play();
        let tasks = program.actors.iter().map(|it| it.id).collect();
        let question = Question { tasks, window: Window::ALL, every: true };
        let account = Account::of(&program.history, &question, &Options::default());
        let every = account.every.expect("activations");
        let lengths = program.turns.iter().map(|(from, to, _)| to - from);
        let sums =
            (lengths.clone().count() as u64, lengths.clone().sum(), lengths.max().unwrap_or(0));
        let found = &every.lengths;
        assert_eq!((found.count, found.sum, found.max), sums, "seed {seed}");
        assert_eq!(every.parts.iter().map(|part| part.ns).sum::<u64>(), sums.1, "seed {seed}");
        assert!(every.cut <= program.cut + program.actors.len() as u64, "seed {seed}");
    }
}

/// The steps follow each other from one end of the interval to the other.
fn covers(history: &History, question: &Question) -> Account {
    let account = Account::of(history, question, &Options::default());
    let mut at = account.window.from;
    for step in &account.path {
        assert!(step.window.from == at && at < step.window.to, "{step:?} at {at}");
        at = step.window.to;
    }
    assert_eq!(at, account.window.to);
    account
}

fn of_one(task: TaskId) -> Question {
    Question { tasks: vec![task], window: Window::ALL, every: false }
}

#[test]
fn accounts_of_random_histories_add_up_whatever_contradicts_what() {
    let mut known = 0;
    for seed in 0..effort(300) {
        let history = Plan { steps: 150, ..Plan::small(seed) }.history();
        for (task, _) in history.tasks() {
            let account = covers(&history, &of_one(task));
            known += account.window.span().0 - account.ns(Kind::Unknown);
        }
        let tasks: Vec<TaskId> = history.tasks().map(|(task, _)| task).collect();
        for window in windows(&history) {
            let question = Question { tasks: tasks.clone(), window, every: false };
            let account = covers(&history, &question);
            assert_eq!(account.ns(Kind::RunOther) + account.ns(Kind::WaitOther), 0);
            covers(&history, &Question { every: true, ..question });
        }
    }
    assert!(known > 0);
}

#[test]
fn accounts_of_recordings_add_up_for_every_task() {
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        let works = ["make", "pipe", "tpch", "lost"];
        if bytes.len() > 200_000 || !works.iter().any(|work| name(&path).contains(work)) {
            continue;
        }
        let Ok(history) = read(&bytes, &wastenot_read::Options::default()) else { continue };
        let mut known = 0;
        for (task, _) in history.tasks() {
            let account = covers(&history, &of_one(task));
            known += u64::from(account.ns(Kind::Unknown) == 0);
        }
        assert!(known > 0, "{}", name(&path));
    }
}
