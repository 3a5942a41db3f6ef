//! The explorer and the interpreter agree: from the same situation, an idle CPU finds a task in the
//! one just when it does in the other.

use wastenot_model::policy::{Context, CpuView, Place as At, TaskView, View, Why};
use wastenot_model::workload::{GroupId, Random};
use wastenot_model::{CpuId, CpuSet, Policy as _, Span, TaskId, Time};
use wastenot_needs::effort;
use wastenot_prove::explore::{Events, Place, Situation, Task, World, failing, waits};
use wastenot_prove::machines;
use wastenot_rota::interpret::Interpreter;
use wastenot_rota::ir::Program;

use crate::gallery::texts;

/// Situations of each policy.
const SITUATIONS: u64 = 1_000;
/// Random policies beside those that come with the project.
const RANDOM: u64 = 16;

#[test]
fn an_idle_cpu_finds_a_task_in_the_interpreter_just_when_it_does_in_the_explorer() {
    let situations = effort(SITUATIONS);
    let (mut count, mut found) = (0, 0);
    for (name, program) in programs() {
        let policy = &program.policies[0];
        let mut random = Random::stream(7, 0, 0);
        let machines: Vec<_> = (2..=4).flat_map(|cpus| machines(policy, cpus)).collect();
        let mut done = 0;
        for _ in 0..situations * 4 {
            let small = &machines[random.below(machines.len() as u64) as usize];
            let world = World::new(policy, small);
            let mut situation = anything(&world, &mut random);
            let idle = world.cpus().iter().copied().find(|&cpu| situation.is_idle(cpu));
            let Some(cpu) = idle else { continue };
            let Some(mut stage) = Stage::set(&program, &world, &situation) else { continue };
            // What brought it there has set variables.
            situation.vars =
                world.cpus().iter().map(|&cpu| stage.policy.kept(cpu).to_vec()).collect();
            let fails = failing(&world, &situation, cpu, Events::default()).is_some();
            let finds = stage.looks(cpu);
            let sure = policy.idle.as_ref().is_none_or(|balance| balance.retry.is_none());
            let agree = if sure { fails != finds } else { fails || finds };
            assert!(
                agree,
                "{name}: {fails} {finds} CPU {cpu} {situation:?} {}",
                small.machine.name
            );
            count += 1;
            found += u64::from(finds);
            done += 1;
            if done == situations {
                break;
            }
        }
    }
    println!("{count} situations, a task found in {found}");
    assert!(count > 20 * situations && found > count / 4 && found < count, "{count} {found}");
}

/// Those that come with the project and know one policy only, and random ones.
fn programs() -> Vec<(String, Program)> {
    let named = texts("").into_iter().map(|(path, text)| (path.display().to_string(), text));
    let drawn = |seed: u64| wastenot_chance::policy(&mut Random::stream(seed, 1, 0));
    let random = (1..=RANDOM).map(|seed| (seed.to_string(), drawn(seed)));
    let compiled = named
        .chain(random)
        .filter_map(|(name, text)| Some((name, wastenot_rota::compile(&text).ok()?)));
    let plain =
        |program: &Program| program.partitions.is_empty() && program.policies[0].protocol.is_safe();
    compiled.filter(|(_, program)| plain(program)).collect()
}

fn anything(world: &World<'_>, random: &mut Random) -> Situation {
    let cpus = world.cpus().len() as u64;
    let mut situation = Situation { tasks: Vec::new(), vars: world.vars() };
    for cpu in world.cpus() {
        if random.below(2) == 0 {
            let mask = (1 << cpus) - 1;
            situation.tasks.push(Task { place: Place::Runs(*cpu), mask, weight: 100 });
        }
    }
    for _ in 0..random.below(4) {
        let mask = 1 + random.below((1 << cpus) - 1) as u32;
        let queues: Vec<(usize, usize)> = waits(world, mask).iter().copied().collect();
        let (queue, group) = queues[random.below(queues.len() as u64) as usize];
        situation.tasks.push(Task { place: Place::Waits { queue, group }, mask, weight: 100 });
    }
    situation
}

/// An interpreter, brought into a situation by calls that a kernel could make.
struct Stage {
    policy: Interpreter,
    cx: Context,
}

impl Stage {
    /// `None`: there is no way to have a task woken that leads there.
    fn set(program: &Program, world: &World<'_>, situation: &Situation) -> Option<Stage> {
        let cpus = world.cpus().len();
        let all = CpuSet::first(cpus);
        let mut masks = vec![all.clone()];
        let views = (0..cpus).map(|cpu| (0, CpuId(cpu as u16)));
        let waiting: Vec<&Task> = situation
            .tasks
            .iter()
            .filter(|task| matches!(task.place, Place::Waits { .. }))
            .collect();
        let mut tasks: Vec<TaskView> = views.map(|(mask, cpu)| sleeper(mask, cpu)).collect();
        for task in &waiting {
            masks.push(all.iter().filter(|&cpu| task.allowed(cpu)).collect());
            tasks.push(sleeper(masks.len() as u32 - 1, woken_at(world, task)?));
        }
        let view = View {
            now: Time(0),
            cpu: CpuId(0),
            machine: world.small.machine.clone(),
            cpus: vec![CpuView { current: None, idle_since: Time(0), online: true }; cpus],
            idle: all.clone(),
            online: all,
            tasks,
            groups: Vec::new(),
            commands: Vec::new(),
            masks,
            scan: Span::ZERO,
            seed: 1,
        };
        let policy = Interpreter::new(program.clone(), &[]).expect("no parameters are set");
        let mut stage = Stage { policy, cx: Context::new(view, false) };
        stage.policy.init(&mut stage.cx);
        // A task runs on every CPU, so that each task that wakes then has to wait.
        for cpu in world.cpus() {
            stage.wakes(TaskId::nth(cpu.index()));
            if stage.runs(*cpu) != Some(TaskId::nth(cpu.index())) {
                return None;
            }
        }
        for (n, task) in waiting.iter().enumerate() {
            let id = TaskId::nth(cpus + n);
            stage.wakes(id);
            let Place::Waits { queue, group } = task.place else { return None };
            let at = stage.policy.waits(id).map(|at| (at.queue, at.group));
            if at != Some((queue, group)) {
                return None;
            }
        }
        for &cpu in world.cpus().iter().filter(|&&cpu| situation.is_idle(cpu)) {
            stage.sleeps(cpu);
        }
        Some(stage)
    }

    fn wakes(&mut self, task: TaskId) {
        let (prev, why) = (self.cx.task(task).cpu, Why::Wakeup { sync: false });
        self.cx.view_mut().cpu = prev;
        let cpu = self.policy.select_cpu(&mut self.cx, task, prev, why);
        let view = self.cx.view_mut().task_mut(task);
        (view.place, view.cpu) = (At::Queued, cpu);
        self.policy.enqueue(&mut self.cx, task, cpu, why);
        self.forget();
    }

    fn runs(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.cx.view_mut().cpu = cpu;
        let task = self.policy.dispatch(&mut self.cx, cpu)?;
        let view = self.cx.view_mut();
        (view.task_mut(task).place, view.task_mut(task).cpu) = (At::Running, cpu);
        view.cpus[cpu.index()].current = Some(task);
        view.idle.remove(cpu);
        self.policy.running(&mut self.cx, cpu, task);
        self.forget();
        Some(task)
    }

    fn sleeps(&mut self, cpu: CpuId) {
        let Some(task) = self.cx.current(cpu) else { return };
        self.cx.view_mut().cpu = cpu;
        self.policy.stopping(&mut self.cx, cpu, task, false);
        let view = self.cx.view_mut();
        view.task_mut(task).place = At::Asleep;
        view.cpus[cpu.index()].current = None;
        view.idle.insert(cpu);
        self.forget();
    }

    /// Whether an idle CPU finds a task.
    fn looks(&mut self, cpu: CpuId) -> bool {
        self.cx.view_mut().cpu = cpu;
        self.policy.dispatch(&mut self.cx, cpu).is_some()
    }

    fn forget(&mut self) {
        self.cx.take(&mut Vec::new());
    }
}

/// Where a task was last that is put into the queue where it is to wait.
fn woken_at(world: &World<'_>, task: &Task) -> Option<CpuId> {
    let Place::Waits { queue, group } = task.place else { return None };
    let members = world.tree().members(world.policy.queues[queue].per, group);
    members.iter().copied().find(|&cpu| task.allowed(cpu))
}

fn sleeper(mask: u32, cpu: CpuId) -> TaskView {
    TaskView {
        place: At::Asleep,
        cpu,
        nice: 0,
        group: GroupId(0),
        mask,
        kthread: false,
        own: false,
        priority: 1.0,
        job: None,
        command: 0,
    }
}
