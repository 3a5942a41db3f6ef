//! From the lives of tasks to a workload: numbers of tasks and sets of CPUs become those of it.

use std::collections::BTreeMap;

use wastenot_model::workload::{
    AffinityId, Group, GroupId, Hotplug, Launch, MarkId, Pipe, PipeId, Program, Step, Template,
    TemplateId, Variate, Waiting,
};
use wastenot_model::{
    CpuId, CpuMode, CpuSet, History, Machine, MaskId, NameId, Silent, Span, Start, TaskId, Time,
    Workload, is_kernel_thread,
};

use super::life::{Birth, Life};
use super::watch::Watch;
use super::{Extracted, Options, said};

/// The workload of those who were seen to act.
pub(super) fn weave(history: &History, options: &Options<'_>, watch: Watch<'_>) -> Extracted {
    let Watch { mut lives, mut hotplug, tally, .. } = watch;
    let begin = history.window().from;
    let mut ids = Ids::of(&lives);
    let kernels: Vec<bool> =
        history.tasks().map(|(_, task)| is_kernel_thread(history.name(task.name))).collect();
    let awaited = awaited(&lives, &kernels, options.awaited);
    let machine = machine_of(history);
    let mut workload = Workload::new();
    let done = workload.mark("done");
    let mut groups = Groups::default();
    let (mut work, mut pinned) = (Span::ZERO, 0);
    let mut last = begin;
    for (index, life) in lives.iter_mut().enumerate().filter(|(_, life)| life.birth.is_some()) {
        let task = TaskId::nth(index);
        let mut steps = life.finish();
        for step in &mut steps {
            if let Step::Compute(Variate::Fixed(span)) = step {
                work += *span;
            }
            ids.rename(step, &mut workload, history);
        }
        if awaited[index] {
            steps.push(Step::Mark(done));
            last = last.max(life.last);
        }
        let label = history.task_label(task);
        let program = Program::new(steps).expect("no step of a life begins or ends a loop");
        let mut template = Template::new(&history.task_name(task), program);
        template.nice = life.nice.unwrap_or(0).clamp(-20, 19);
        template.kthread = kernels[index];
        template.group = groups.of(life.group, history, &mut workload);
        template.affinity = life.affinity.and_then(|mask| known_set(history, mask));
        if template.affinity.is_none() && (options.pinned)(task) {
            template.affinity = life.cpu.map(|cpu| CpuSet::from_iter([cpu]));
            pinned += 1;
        }
        workload.template(template);
        workload.pipes.push(token_pipe(label));
        if let Some(Birth::Launched { at, from }) = life.birth {
            let (at, template) = (Time((at - begin).0), ids.template(index));
            let from = or_first(from, machine.len());
            workload.launches.push(Launch { at, template, from });
        }
    }
    workload.launches.sort_by_key(|launch| launch.at);
    hotplug.iter_mut().for_each(|it: &mut Hotplug| it.at = Time((it.at - begin).0));
    workload.hotplug = hotplug;
    keep_for_children(&mut workload, done);
    let awaited = awaited.iter().filter(|&&awaited| awaited).count();
    let mut extracted = Extracted {
        done,
        recorded: last - begin,
        tasks: workload.templates.len(),
        awaited,
        work,
        unknown: tally.unknown.1,
        assumptions: Vec::new(),
        machine,
        workload,
    };
    extracted.assumptions = said::assumptions(history, &extracted, &tally, pinned);
    extracted
}

/// For whom the run waits: whom it was said to, or who is no kernel thread; all if there is none.
fn awaited(lives: &[Life], kernels: &[bool], told: Option<&[TaskId]>) -> Vec<bool> {
    let ran = |index: usize| lives[index].birth.is_some() && lives[index].began;
    if let Some(told) = told {
        let mut awaited = vec![false; lives.len()];
        for index in told.iter().filter_map(|task| task.index()) {
            awaited[index] = ran(index);
        }
        return awaited;
    }
    let ordinary: Vec<bool> = (0..lives.len()).map(|it| ran(it) && !kernels[it]).collect();
    match ordinary.contains(&true) {
        true => ordinary,
        false => (0..lives.len()).map(ran).collect(),
    }
}

/// A simulation ends when no awaited task is left: so it waits for whoever has yet to fork one.
fn keep_for_children(workload: &mut Workload, done: MarkId) {
    let mut parents = vec![None; workload.templates.len()];
    for (parent, template) in workload.templates.iter_mut().enumerate() {
        template.awaited = template.program.steps().last() == Some(&Step::Mark(done));
        for step in template.program.steps() {
            if let Step::Fork(child) = step {
                parents[child.index()] = Some(parent);
            }
        }
    }
    for child in 0..parents.len() {
        let mut at = workload.templates[child].awaited.then_some(child);
        while let Some(parent) = at.and_then(|child| parents[child]) {
            if std::mem::replace(&mut workload.templates[parent].awaited, true) {
                break; // and so are those before it
            }
            at = Some(parent);
        }
    }
}

/// The machine with the CPUs that were online at the start, all equally fast.
fn machine_of(history: &History) -> Machine {
    let mut machine = history.head.machine.clone();
    let start = Start::infer(history, Silent::Unknown);
    for (cpu, mode) in machine.cpus.iter_mut().zip(&start.cpus) {
        (cpu.capacity, cpu.online) = (1024, *mode != CpuMode::Offline);
    }
    machine
}

/// The pipe of a task. Which wakers said that they were about to sleep is not known.
fn token_pipe(name: String) -> Pipe {
    let (capacity, waiting) = (None, Waiting::Block);
    Pipe { name, capacity, tokens: 0, waiting, sync: false, at_once: true }
}

fn known_set(history: &History, mask: MaskId) -> Option<CpuSet> {
    let all = CpuSet::first(history.cpu_count());
    let known = history.mask(mask)?.and(&all);
    (!known.is_empty() && known != all).then_some(known)
}

/// `cpu`, or the first where the machine of `count` CPUs has no such CPU.
pub(super) fn or_first(cpu: CpuId, count: usize) -> CpuId {
    if cpu.index() < count { cpu } else { CpuId(0) }
}

/// From numbers of the History to those of the workload.
struct Ids {
    /// Templates, in the order of tasks.
    templates: Vec<u32>,
    /// Sets of CPUs.
    sets: BTreeMap<u32, AffinityId>,
}

impl Ids {
    fn of(lives: &[Life]) -> Ids {
        let mut next = 0;
        let number = |life: &Life| {
            let this = next;
            next += u32::from(life.birth.is_some());
            this
        };
        Ids { templates: lives.iter().map(number).collect(), sets: BTreeMap::new() }
    }

    fn template(&self, task: usize) -> TemplateId {
        TemplateId(self.templates[task])
    }

    fn rename(&mut self, step: &mut Step, workload: &mut Workload, history: &History) {
        match step {
            Step::Fork(TemplateId(id)) | Step::Put(PipeId(id)) | Step::Get(PipeId(id)) => {
                *id = self.templates[*id as usize];
            }
            Step::Affinity(id) => {
                let all = || CpuSet::first(history.cpu_count());
                let set = || known_set(history, MaskId(id.0)).unwrap_or_else(all);
                *id = *self.sets.entry(id.0).or_insert_with(|| workload.affinity(set()));
            }
            _ => {}
        }
    }
}

/// Groups by the names of cgroups: a path lies in those that it begins with.
#[derive(Default)]
struct Groups(BTreeMap<String, GroupId>);

impl Groups {
    fn of(&mut self, name: Option<NameId>, history: &History, to: &mut Workload) -> GroupId {
        let Some(path) = name.map(|name| history.name(name)) else { return GroupId(0) };
        let mut parent = GroupId(0);
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends.filter(|&end| end > 0).take(DEPTH) {
            let name = &path[..end];
            parent = match self.0.get(name) {
                Some(&known) => known,
                None => {
                    let (name, parent) = (name.to_owned(), Some(parent));
                    let group = to.group(Group { name: name.clone(), parent, ..Group::root() });
                    self.0.insert(name, group);
                    group
                }
            };
        }
        parent
    }
}

/// Deepest cgroup that is told from the one it is in.
const DEPTH: usize = 32;
