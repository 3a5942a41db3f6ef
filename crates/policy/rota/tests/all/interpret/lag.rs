//! The claim `lag(<= B)`, observed in simulations: a task that is new or slept is at most B behind
//! when it is put or started, and no task waits for others to make up what was never theirs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use wastenot_model::machine::Costs;
use wastenot_model::policy::{Context, Happening, Why};
use wastenot_model::workload::{Launch, Program, Random, Step, Template, Variate};
use wastenot_model::{CpuId, CpuSet, Machine, Policy, Span, TaskId, Time, Workload};
use wastenot_rota::Tree;
use wastenot_rota::interpret::{Interpreter, Waits};
use wastenot_rota::ir::{ClaimKind, Level, Num};
use wastenot_sim::{Options, simulate};

use super::{interpreter, policies};

const END: Step = Step::End { of: 0 };

/// What was observed of a policy with one ordered queue, whose only task variable is `vt`.
#[derive(Debug, Default)]
struct Watched {
    /// The least key that each group ever had, computed from the definition: over the tasks that
    /// begin to run there or leave its queue to run, and those that still wait.
    least: BTreeMap<usize, i64>,
    waiting: BTreeMap<TaskId, (Waits, Time)>,
    longest: Span,
    /// The most that a task that was new or slept was behind.
    behind: i64,
    put: usize,
    started: usize,
}

/// A policy and its observer.
struct Watch {
    inner: Interpreter,
    per: Level,
    tree: Option<Tree>,
    seen: Arc<Mutex<Watched>>,
}

impl Watch {
    fn group(&self, cpu: CpuId) -> usize {
        self.tree.as_ref().expect("it has begun").group(self.per, cpu)
    }
    fn key(&self, task: TaskId) -> i64 {
        self.inner.kept_of(task)[0]
    }
    fn behind(&self, group: usize, task: TaskId, seen: &mut Watched) {
        let least = seen.least.get(&group).copied().unwrap_or(0);
        seen.behind = seen.behind.max(least - self.key(task));
    }
}

impl Watched {
    fn gives(&mut self, group: usize, key: i64) {
        let here = self.waiting.values().filter(|(waits, _)| waits.group == group);
        let key = here.map(|(waits, _)| waits.key).fold(key, i64::min);
        let least = self.least.entry(group).or_insert(0);
        *least = (*least).max(key);
    }
    fn look(&mut self, inner: &Interpreter, now: Time, task: TaskId) {
        match inner.waits(task) {
            Some(waits) => _ = self.waiting.insert(task, (waits, now)),
            None => _ = self.waiting.remove(&task),
        }
    }
}

impl Policy for Watch {
    fn name(&self) -> String {
        self.inner.name()
    }
    fn init(&mut self, cx: &mut Context) {
        self.tree = Some(Tree::of(&cx.machine, &CpuSet::first(cx.machine.len())));
        self.inner.init(cx);
    }
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        self.inner.select_cpu(cx, task, prev, why)
    }
    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        self.inner.enqueue(cx, task, cpu, why);
        let (seen, now) = (self.seen.clone(), cx.now);
        let mut seen = seen.lock().expect("one at a time");
        seen.look(&self.inner, now, task);
        if matches!(why, Why::New | Why::Wakeup { .. }) {
            let waits = self.inner.waits(task);
            let group = waits.map_or_else(|| self.group(cx.task(task).cpu), |waits| waits.group);
            self.behind(group, task, &mut seen);
            *(if waits.is_some() { &mut seen.put } else { &mut seen.started }) += 1;
        }
    }
    fn dequeue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId) {
        self.inner.dequeue(cx, task, cpu);
        self.seen.lock().expect("one at a time").look(&self.inner, cx.now, task);
    }
    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let task = self.inner.dispatch(cx, cpu)?;
        let mut seen = self.seen.lock().expect("one at a time");
        if let Some((waits, since)) = seen.waiting.remove(&task) {
            seen.gives(waits.group, waits.key);
            seen.longest = seen.longest.max(cx.now - since);
        }
        Some(task)
    }
    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId) {
        let (key, group) = (self.key(task), self.group(cpu));
        self.seen.lock().expect("one at a time").gives(group, key);
        self.inner.running(cx, cpu, task);
    }
    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        self.inner.stopping(cx, cpu, task, runnable);
    }
    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        self.inner.tick(cx, cpu);
    }
    fn on(&mut self, cx: &mut Context, happening: Happening) {
        self.inner.on(cx, happening);
        // Regular balancing has moved some tasks.
        let mut seen = self.seen.lock().expect("one at a time");
        let all: Vec<(TaskId, Time)> = seen.waiting.iter().map(|(t, (_, at))| (*t, *at)).collect();
        all.into_iter().for_each(|(task, since)| seen.look(&self.inner, since, task));
    }
}

/// The policies of the project with this claim: name, text, level of their queue, and the bound.
fn claiming() -> Vec<(String, String, Level, i64)> {
    let each = policies().into_iter().filter_map(|(name, text)| {
        let policy = wastenot_rota::compile(&text).expect("it compiles").policies.remove(0);
        let bound = policy.claims.iter().find_map(|claim| match &claim.kind {
            ClaimKind::Lag(Num::Param(param)) => Some(policy.params[*param].value),
            ClaimKind::Lag(Num::Const(bound)) => Some(*bound),
            _ => None,
        })?;
        assert_eq!((policy.queues.len(), policy.task_vars.len()), (1, 1), "{name}");
        Some((name, text, policy.queues[0].per, bound))
    });
    each.collect()
}

fn watched(text: &str, per: Level, machine: &Machine, load: &Workload) -> Watched {
    let seen = Arc::new(Mutex::new(Watched::default()));
    let watch = Watch { inner: interpreter(text), per, tree: None, seen: seen.clone() };
    let options = Options { limit: Time(20_000_000_000), ..Options::default() };
    simulate(machine, &Costs::default(), load, watch, &options);
    std::mem::take(&mut seen.lock().expect("it is over"))
}

fn template(name: &str, steps: Vec<Step>, cpus: Option<&[u16]>) -> Template {
    let affinity = cpus.map(|cpus| cpus.iter().map(|&cpu| CpuId(cpu)).collect());
    Template { affinity, ..Template::new(name, Program::new(steps).expect("a program")) }
}

fn computes(ms: u64) -> Step {
    Step::Compute(Variate::Fixed(Span::ms(ms)))
}

fn sleeps(us: u64) -> Step {
    Step::Sleep(Variate::Fixed(Span(us * 1_000)))
}

/// A task that runs often and briefly, and is started directly each time, does not wait for as long
/// as it ran before others came.
#[test]
fn nobody_waits_for_others_to_make_up_what_it_ran_before_they_came() {
    let often = || vec![Step::Loop(Some(3_000)), computes(2), sleeps(500), END];
    let late =
        |cpu: Option<&[u16]>| template("late", vec![sleeps(6_000_000), computes(4_000)], cpu);
    for (name, text, per, _) in claiming() {
        let mut alone = Workload::new();
        let mut beside = Workload::new();
        for (load, hogs, cpu) in
            [(&mut alone, None, None), (&mut beside, Some(&[0_u16]), Some(&[1_u16]))]
        {
            let often = load.template(template("often", often(), None));
            load.launch(often, CpuId(0));
            let late = load.template(late(cpu.map(|cpus| cpus.as_slice())));
            (0..2).for_each(|_| load.launch(late, CpuId(0)));
            if let Some(cpus) = hogs {
                let hog = load.template(template("hog", vec![computes(9_000)], Some(cpus)));
                (0..2).for_each(|_| load.launch(hog, CpuId(0)));
            }
        }
        for (load, cpus) in [(&alone, 1), (&beside, 2)] {
            let mut machine = Machine::flat(cpus);
            // The queues of one cache share one order, also with the tasks that run there.
            (0..cpus).for_each(|cpu| machine.cpus[cpu].llc = Some(cpu as u32));
            let seen = watched(&text, per, &machine, load);
            assert!(seen.started > 1_000, "{name} {seen:?}");
            assert!(seen.longest < Span::ms(200), "{name}, {cpus} CPUs: {}", seen.longest);
        }
    }
}

/// The bound is proved; it is checked at every put and every direct start of a task that is new or
/// slept.
#[test]
fn nobody_is_further_behind_than_is_proved() {
    let names: Vec<String> = claiming().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["cfs-like", "fair-vtime"]);
    for (name, text, per, bound) in claiming() {
        let (mut put, mut started, mut behind) = (0, 0, i64::MIN);
        for seed in 0..30 {
            let mut random = Random::stream(seed, 3, 0);
            let cpus = 1 + random.below(4);
            let mut load = Workload::new();
            for _ in 0..2 + random.below(6) {
                let work = Step::Compute(Variate::Fixed(Span(1 + random.below(20_000_000))));
                let steps = vec![Step::Loop(Some(60)), work, sleeps(random.below(30_000)), END];
                let only = [random.below(cpus) as u16];
                let pinned = (random.below(3) == 0).then_some(only.as_slice());
                let nice = random.below(10) as i8 - 5;
                let task = Template { nice, ..template("task", steps, pinned) };
                let (at, task) = (Time(random.below(1_000_000_000)), load.template(task));
                load.launches.push(Launch { at, template: task, from: CpuId(0) });
            }
            let seen = watched(&text, per, &Machine::flat(cpus as usize), &load);
            assert!(seen.behind <= bound, "{name} seed {seed}: {} of {bound}", seen.behind);
            (put, started) = (put + seen.put, started + seen.started);
            behind = behind.max(seen.behind);
        }
        assert!(put > 500 && started > 500, "{name}: {put} {started}");
        assert!(behind > bound / 2, "{name}: never more than {behind}, which tests nothing");
    }
}
