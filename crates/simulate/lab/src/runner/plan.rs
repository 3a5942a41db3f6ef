//! A workload as the program in `c/` reads it: `c/plan.h` says how.

use serde::{Deserialize, Serialize};
use wastenot_model::workload::{Class, Step, Template, TemplateId, Variate, Waiting};
use wastenot_model::{CpuSet, Span, Workload};

use crate::runner::Unfit;
use crate::runner::bytes::{Reader, Writer};
use crate::runner::error::{CLASSING, FILLING, RUNNING};
use crate::runner::groups::Wanted;
use crate::runner::program::{self, Program};

/// Most tasks of a run.
pub(crate) const TASKS: u32 = 32_768;
/// Most marks that are kept.
pub(crate) const MARKS: u32 = 65_536;
/// Bytes of a task.
pub(crate) const TASK: usize = 136;
/// Bytes of a mark.
pub(crate) const MARK: usize = 24;
/// Bytes of a step.
pub(crate) const STEP: usize = 32;
/// Bytes of a template.
pub(crate) const TEMPLATE: usize = 80;
/// Bytes of a place in an affinity.
const MASK: usize = 128;
/// Bytes of a group's path.
const PATH: usize = 248;
/// Bytes of a group.
const GROUP: usize = 280;
const HEAD: usize = 224;
const MAGIC: u64 = 0x316e_6c70_2d74_7377;
/// Most pipes that are pipes of the kernel: each needs two or four files.
const PIPES: usize = 200;
/// Most tokens in a pipe of the kernel: it has 64 KiB where more is refused.
const TOKENS: u32 = 65_536;

/// What may be refused, as `c/task.c` numbers it.
pub(crate) const DOING: [&str; 11] = [
    "run",
    "create a task",
    "execute a program",
    "join a cgroup",
    "change the nice value of",
    "create more than 32768 tasks; the last one was created by",
    "open a pipe",
    "change the online state of a CPU",
    CLASSING,
    FILLING,
    RUNNING,
];

/// After those: a program of the user failed, and its status is in the place of the error.
pub(crate) const RAN: u32 = DOING.len() as u32;

/// Where fields of the head are.
pub(crate) mod at {
    pub(crate) const STEPS: usize = 32;
    pub(crate) const TEMPLATES: usize = 40;
    pub(crate) const GROUPS: usize = 64;
    pub(crate) const TASKS: usize = 96;
    pub(crate) const MARKS: usize = 104;
    pub(crate) const START: usize = 184;
    pub(crate) const ENDED: usize = 192;
    pub(crate) const END: usize = 200;
    pub(crate) const BORN: usize = 204;
    pub(crate) const MARKED: usize = 208;
    pub(crate) const FAILED_ERRNO: usize = 212;
    pub(crate) const FAILED_WHAT: usize = 216;
    pub(crate) const FAILED_TASK: usize = 220;
}

/// A workload that can be run for real, here or in another kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The beginning of the file; the rest is zeros.
    pub(crate) head: Vec<u8>,
    /// Bytes of the whole file.
    pub(crate) bytes: u64,
    /// The names of the templates.
    pub(crate) names: Vec<String>,
    /// The cgroups that it needs.
    pub(crate) groups: Vec<Wanted>,
    /// The programs of the user that it runs.
    pub programs: Vec<Program>,
    /// What is not as in the workload, one sentence each.
    pub notes: Vec<String>,
}

impl Plan {
    /// The plan of `workload` on `cpus` CPUs.
    ///
    /// # Errors
    /// It has tasks, CPUs or programs that cannot be had.
    pub fn new(workload: &Workload, cpus: usize, seed: u64, limit: Span) -> Result<Plan, Unfit> {
        let wanted = Wanted::of(workload)?;
        let commands = Program::all_of(workload)?;
        if cpus > MASK * 8 {
            return Err(Unfit::Crowd { there: cpus });
        }
        // Where none is awaited all are, as in the simulator: or it would be over at once.
        let awaits = workload.templates.iter().any(|it| it.awaited);
        let mut masks = Masks { all: vec![CpuSet::first(cpus)] };
        let (steps, templates) = write_tasks(workload, cpus, awaits, &mut masks)?;
        let mut launches = Writer::default();
        for it in &workload.launches {
            launches.u64(it.at.0).u32(it.template.0).u32(it.from.0.into());
        }
        let mut hotplugs = Writer::default();
        for it in &workload.hotplug {
            hotplugs.u64(it.at.0).u32(it.cpu.0.into()).u32(it.up.into());
        }
        let mut groups = Writer::default();
        for group in &workload.groups {
            groups.zeros(PATH).u32(group.session.into()).zeros(GROUP - PATH - 4);
        }
        let meetings = meetings(workload);
        let mask_bytes = (cpus.div_ceil(64) * 8) as u32;
        let mut parts = vec![steps, templates, launches, hotplugs, groups, masks.write(), meetings];
        let mut offsets = Vec::new();
        let mut end = HEAD.next_multiple_of(64);
        let mut place = |part: &Writer| {
            offsets.push(end as u64);
            end = (end + part.0.len()).next_multiple_of(64);
            end
        };
        let at = parts.iter().map(&mut place).last().unwrap_or_default();
        parts.push(program::write(&commands, at));
        let end = place(&parts[parts.len() - 1]);
        let tasks = end;
        let marks = (tasks + TASKS as usize * TASK).next_multiple_of(64);
        let bytes = (marks + MARKS as usize * MARK).next_multiple_of(4096) as u64;
        let awaited = workload.launches.iter();
        let is_awaited = |it: TemplateId| !awaits || workload.templates[it.index()].awaited;
        let awaited = awaited.filter(|it| is_awaited(it.template)).count();
        let mut head = Writer::default();
        head.u64(MAGIC).u64(bytes).u64(seed).u64(limit.0);
        for &offset in offsets.iter().chain(&[tasks as u64, marks as u64]) {
            head.u64(offset);
        }
        head.u32(workload.launches.len() as u32).u32(workload.hotplug.len() as u32);
        head.u32(count_of_meetings(workload)).u32(TASKS).u32(MARKS).u32(mask_bytes);
        for size in [STEP, TEMPLATE, 16, GROUP, 64, TASK, MARK, 16] {
            head.u32(size as u32);
        }
        head.u32(awaited as u32).u32(0).u32(0).u32(commands.len() as u32);
        for (part, offset) in parts.iter().zip(&offsets) {
            head.0.resize(*offset as usize, 0);
            head.0.extend(&part.0);
        }
        let names = workload.templates.iter().map(|it| it.name.clone()).collect();
        let (head, notes) = (head.0, notes(workload));
        Ok(Plan { head, bytes, names, groups: wanted, programs: commands, notes })
    }

    /// The name of a template.
    pub fn name(&self, template: u32) -> Option<&str> {
        self.names.get(template as usize).map(String::as_str)
    }

    /// The beginning of the file, with the folders of the cgroups.
    pub(crate) fn with(&self, paths: &[String]) -> Vec<u8> {
        let mut head = self.head.clone();
        let first = Reader(&head).u64(at::GROUPS) as usize;
        for (n, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let mut file = Writer::default();
            file.text(path, PATH);
            let at = first + n * GROUP;
            head[at..at + PATH].copy_from_slice(&file.0);
        }
        head
    }
}

/// The steps and the templates of all tasks. The CPUs that these may use come to `masks`.
fn write_tasks(
    workload: &Workload,
    cpus: usize,
    awaits: bool,
    masks: &mut Masks,
) -> Result<(Writer, Writer), Unfit> {
    let programs: Vec<u32> = workload.affinities.iter().map(|set| masks.of(set)).collect();
    let mut steps = Writer::default();
    let mut templates = Writer::default();
    let mut first = 0;
    for (n, template) in workload.templates.iter().enumerate() {
        let name = template.name.clone();
        if name.len() > 15 {
            return Err(Unfit::LongName { name });
        }
        let affinity = template.affinity.as_ref();
        affinity.map_or(Ok(()), |set| there(&name, set, cpus))?;
        reservation(workload, template, cpus)?;
        let affinity = affinity.map_or(0, |set| masks.of(set));
        let count = template.program.steps().len() as u32;
        templates.text(&name, 16).u32(first).u32(count).u32(affinity).u32(template.group.0);
        let process = is_process(workload, TemplateId(n as u32));
        templates.u32(i32::from(template.nice) as u32).u32(process.into());
        templates.u32((template.awaited || !awaits).into()).u32(0);
        write_class(&mut templates, template.class);
        for (at, &step) in template.program.steps().iter().enumerate() {
            if let Step::Affinity(id) = step {
                there(&name, &workload.affinities[id.index()], cpus)?;
            }
            let after = template.program.after_end_of(at) as u32;
            write_step(&mut steps, workload, step, after, &programs);
        }
        first += count;
    }
    Ok((steps, templates))
}

/// Refuses tasks that may run on CPUs only that are not there.
fn there(name: &str, set: &CpuSet, cpus: usize) -> Result<(), Unfit> {
    match set.iter().all(|it| it.index() >= cpus) {
        true => Err(Unfit::NoCpu { name: name.into(), cpus: set.to_string(), there: cpus }),
        false => Ok(()),
    }
}

/// What only the simulator does.
fn notes(workload: &Workload) -> Vec<String> {
    let mut notes = Vec::new();
    if workload.templates.iter().any(|it| it.kthread) {
        notes.push("Kernel threads of the scenario ran as normal tasks.".into());
    }
    if workload.templates.iter().any(|it| it.priority != 1.0) {
        notes.push("OSv priorities were ignored.".into());
    }
    let is_told = |it: &&Template| it.deadline.is_some() || it.wcet.is_some();
    let mut with_deadlines = workload.templates.iter().filter(is_told);
    if with_deadlines.any(|it| !matches!(it.class, Class::Deadline { .. })) {
        let note = "Some tasks have a deadline, but are not in the class `deadline`. These tasks \
                    ran without their deadlines.";
        notes.push(note.into());
    }
    notes
}

/// Refuses what the kernel refuses a task of the class of deadlines (kernel/sched/deadline.c,
/// `__checkparam_dl`; kernel/sched/syscalls.c).
fn reservation(workload: &Workload, task: &Template, cpus: usize) -> Result<(), Unfit> {
    const RUNTIME: Span = Span(1024);
    // The defaults of kernel.sched_deadline_period_{min,max}_us.
    const PERIODS: [Span; 2] = [Span::us(100), Span::us(1 << 22)];
    let Class::Deadline { runtime, deadline, period } = task.class else { return Ok(()) };
    let name = || task.name.clone();
    if !(RUNTIME <= runtime && runtime <= deadline && deadline <= period) {
        return Err(Unfit::Runtime { name: name(), runtime, deadline, period });
    }
    if !(PERIODS[0] <= period && period <= PERIODS[1]) {
        return Err(Unfit::Period { name: name(), period });
    }
    let all = CpuSet::first(cpus);
    let changes = task.program.steps().iter().filter_map(|step| match step {
        Step::Affinity(id) => workload.affinities.get(id.index()),
        _ => None,
    });
    let is_narrow = |set: &CpuSet| all.iter().any(|cpu| !set.contains(cpu));
    match task.affinity.iter().chain(changes).find(|set| is_narrow(set)) {
        Some(set) => Err(Unfit::Narrow { name: name(), cpus: set.to_string() }),
        None => Ok(()),
    }
}

fn write_class(out: &mut Writer, class: Class) {
    let (runtime, deadline, period) = match class {
        Class::Deadline { runtime, deadline, period } => (runtime.0, deadline.0, period.0),
        _ => (0, 0, 0),
    };
    out.u32(class.policy().into()).u32(class.priority().into());
    out.u64(runtime).u64(deadline).u64(period);
}

/// Whether tasks of a template are processes, whichever task creates them: what executes a program
/// ends all threads of its process, and what runs one waits for its process.
fn is_process(workload: &Workload, template: TemplateId) -> bool {
    let executes = |steps: &[Step]| steps.contains(&Step::Exec);
    let own = workload.templates[template.index()].program.steps();
    executes(own)
        || own.iter().any(|step| matches!(step, Step::Run(_)))
        || workload.templates.iter().any(|parent| {
            let steps = parent.program.steps();
            executes(steps) && steps.contains(&Step::Fork(template))
        })
}

/// Sets of CPUs, each once; the first is all CPUs.
struct Masks {
    all: Vec<CpuSet>,
}

impl Masks {
    fn of(&mut self, set: &CpuSet) -> u32 {
        let found = self.all.iter().position(|it| it == set);
        found.unwrap_or_else(|| {
            self.all.push(set.clone());
            self.all.len() - 1
        }) as u32
    }

    fn write(&self) -> Writer {
        let mut out = Writer::default();
        for set in &self.all {
            let mut words = [0u64; MASK / 8];
            for cpu in set.iter().filter(|cpu| cpu.index() < MASK * 8) {
                words[cpu.index() / 64] |= 1 << (cpu.index() % 64);
            }
            for word in words {
                out.u64(word);
            }
        }
        out
    }
}

fn write_step(out: &mut Writer, workload: &Workload, step: Step, after: u32, programs: &[u32]) {
    let barriers = workload.locks.len() as u32;
    let pipes = barriers + workload.barriers.len() as u32;
    let conditions = pipes + workload.pipes.len() as u32;
    let nothing = Variate::Fixed(Span::ZERO);
    let fixed = Variate::Fixed;
    let (op, of, variate) = match step {
        Step::Compute(variate) => (0, 0, variate),
        Step::Sleep(variate) => (1, 0, variate),
        Step::Beat(period) => (2, 0, fixed(period)),
        Step::Lock(id) => (3, id.0, nothing),
        Step::Unlock(id) => (4, id.0, nothing),
        Step::Barrier(id) => (5, barriers + id.0, nothing),
        Step::Put(id) => (6, pipes + id.0, nothing),
        Step::Get(id) => (7, pipes + id.0, nothing),
        Step::Await(id) => (8, conditions + id.0, nothing),
        Step::Signal(id) => (9, conditions + id.0, nothing),
        Step::Broadcast(id) => (10, conditions + id.0, nothing),
        Step::Fork(id) => (11, id.0, nothing),
        Step::Exec => (12, 0, nothing),
        Step::WaitOne => (13, 0, nothing),
        Step::WaitAll => (14, 0, nothing),
        Step::Yield => (15, 0, nothing),
        Step::Nice(nice) => (16, i32::from(nice) as u32, nothing),
        Step::Affinity(id) => (17, programs[id.index()], nothing),
        Step::Mark(id) => (18, id.0, nothing),
        Step::Loop(rounds) => (19, rounds.unwrap_or(u32::MAX), nothing),
        Step::UnlessLate(limit) => (20, 0, fixed(limit)),
        Step::End { of } => (21, of, nothing),
        Step::Run(id) => (22, id.0, nothing),
    };
    let (kind, a, b) = match variate {
        Variate::Fixed(span) => (0, span.0, 0),
        Variate::Uniform { from, to } => (1, from.0, to.0),
        Variate::Exponential { mean } => (2, mean.0, 0),
        Variate::LogNormal { mean, cv } => (3, mean.0, cv.to_bits()),
    };
    out.u32(op).u32(of).u32(kind).u32(after).u64(a).u64(b);
}

fn count_of_meetings(workload: &Workload) -> u32 {
    let Workload { locks, barriers, pipes, conditions, .. } = workload;
    (locks.len() + barriers.len() + pipes.len() + conditions.len()) as u32
}

/// What tasks share: locks, barriers, pipes, conditions.
fn meetings(workload: &Workload) -> Writer {
    let mut out = Writer::default();
    let mut meeting = |first: u32, second: u32, parties: u32, waiting: Waiting, is_pipe: bool| {
        let (waiting, spin) = match waiting {
            Waiting::Block => (0, Span::ZERO),
            Waiting::Spin => (1, Span::ZERO),
            Waiting::SpinThenBlock(span) => (2, span),
        };
        out.u32(first).u32(0).u32(second).u32(0).u32(0).u32(0);
        out.u32(waiting).u32(parties).u64(spin.0).u32(is_pipe.into()).zeros(20);
    };
    workload.locks.iter().for_each(|it| meeting(1, 0, 0, it.waiting, false));
    workload.barriers.iter().for_each(|it| meeting(0, 0, it.parties.max(1), it.waiting, false));
    for (n, it) in workload.pipes.iter().enumerate() {
        // Without a limit, or with one that the kernel's pipe can keep.
        let fits = it.capacity.is_none_or(|capacity| capacity <= TOKENS) && it.tokens <= TOKENS;
        let is_pipe = it.sync && it.waiting == Waiting::Block && n < PIPES && fits;
        let capacity = it.capacity.unwrap_or(u32::MAX);
        let room = capacity.saturating_sub(it.tokens);
        meeting(it.tokens, room, capacity, it.waiting, is_pipe);
    }
    workload.conditions.iter().for_each(|_| meeting(0, 0, 0, Waiting::Block, false));
    out
}
