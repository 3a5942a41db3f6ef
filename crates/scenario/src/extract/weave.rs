//! From the lives of tasks to a workload: numbers of tasks and sets of CPUs become those of it.

use std::collections::BTreeMap;

use wastenot_model::workload::{
    AffinityId, Group, GroupId, Hotplug, Launch, Nature, Pipe, PipeId, Program, Step, Template,
    TemplateId, Variate, Waiting,
};
use wastenot_model::{
    CpuId, CpuMode, CpuSet, History, Machine, MaskId, NameId, Silent, Span, Start, TaskId, Time,
    Window, Workload,
};

use super::awaited::Awaited;
use super::life::{Birth, Life, pipe_of, taker};
use super::watch::Watch;
use super::{Extracted, Options, said};

/// The workload of those who were seen to act.
pub(super) fn weave(history: &History, options: &Options<'_>, watch: Watch<'_>) -> Extracted {
    let whom = Awaited::of(history, options, &watch);
    let Watch { mut lives, mut hotplug, tally, natures, .. } = watch;
    let Window { from: begin, to: end } = history.window();
    let mut ids = Ids::of(&lives);
    let kept = kept(&lives, &whom.tasks);
    let machine = machine_of(history);
    let mut workload = Workload::new();
    let done = workload.mark("done");
    let mut groups = Groups::default();
    if !natures.groups.is_empty() {
        workload.groups.clone_from(&natures.groups);
    }
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
        if whom.tasks[index] {
            steps.push(Step::Mark(done));
            last = last.max(life.last);
        }
        if let Some(stopped) = life.stopped {
            // It goes on sleeping: load that has blocked counts in some schedulers, and load that
            // is gone does not. A simulation ends with those for whom it waits, so they must end.
            steps.push(match kept[index] {
                true => Step::Sleep(Variate::Fixed(end - stopped.at)),
                false => Step::Get(pipe_of(ids.template(index), PipeId(0))),
            });
        }
        let program = Program::new(steps).expect("no step of a life begins or ends a loop");
        let mut template = Template::new(&history.task_name(task), program);
        template.nice = life.nice.unwrap_or(0).clamp(-20, 19);
        template.awaited = kept[index];
        template.kthread = whom.kernels[index];
        match history.task(task).and_then(|task| natures.tasks.get(&task.tid)) {
            Some(nature) => is_also(&mut template, nature),
            None if natures.groups.is_empty() => {
                template.group = groups.of(life.group, history, &mut workload);
            }
            None => {}
        }
        template.affinity = life.affinity.and_then(|mask| known_set(history, mask));
        if template.affinity.is_none() && (options.pinned)(task) {
            template.affinity = life.cpu.map(|cpu| CpuSet::from_iter([cpu]));
            pinned += 1;
        }
        workload.template(template);
        for sync in [false, true] {
            workload.pipes.push(token_pipe(history.task_label(task), sync));
        }
        if let Some(Birth::Launched { at, from }) = life.birth {
            let (at, template) = (Time((at - begin).0), ids.template(index));
            let from = or_first(from, machine.len());
            workload.launches.push(Launch { at, template, from });
        }
    }
    workload.launches.sort_by_key(|launch| launch.at);
    hotplug.iter_mut().for_each(|it: &mut Hotplug| it.at = Time((it.at - begin).0));
    workload.hotplug = hotplug;
    let mut extracted = Extracted {
        done,
        recorded: last - begin,
        tasks: workload.templates.len(),
        awaited: whom.tasks.iter().filter(|&&awaited| awaited).count(),
        work,
        awaited_work: whom.work,
        held: tally.held.1,
        ipi: natures.ipi,
        unknown: tally.unknown.1,
        assumptions: Vec::new(),
        machine,
        workload,
    };
    extracted.assumptions = said::assumptions(history, &extracted, &tally, &whom, pinned);
    extracted
}

/// What the History tells of a task beside its events.
fn is_also(template: &mut Template, nature: &Nature) {
    (template.group, template.kthread) = (nature.group, nature.kthread);
    (template.priority, template.job) = (nature.priority, nature.job);
}

/// A simulation ends when no awaited task is left: so it waits for whoever has yet to fork one.
fn kept(lives: &[Life], awaited: &[bool]) -> Vec<bool> {
    let mut parents = vec![None; lives.len()];
    for (parent, life) in lives.iter().enumerate() {
        for child in life.children() {
            parents[child] = Some(parent);
        }
    }
    let mut kept = awaited.to_vec();
    for child in 0..lives.len() {
        let mut at = awaited[child].then_some(child);
        while let Some(parent) = at.and_then(|child| parents[child]) {
            if std::mem::replace(&mut kept[parent], true) {
                break; // and so are those before it
            }
            at = Some(parent);
        }
    }
    kept
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

/// A pipe of a task: for wakers who are about to sleep, or for all others. Where these wake several
/// at once they are not preempted in between, as at a barrier.
fn token_pipe(name: String, sync: bool) -> Pipe {
    let (capacity, waiting) = (None, Waiting::Block);
    Pipe { name, capacity, tokens: 0, waiting, sync, at_once: !sync }
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
            Step::Fork(id) => *id = self.template(id.index()),
            Step::Put(id) | Step::Get(id) => *id = pipe_of(self.template(taker(*id).index()), *id),
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
        if path == "/" {
            return GroupId(0);
        }
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
