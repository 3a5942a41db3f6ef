//! From the lives of tasks to a workload: numbers of tasks and sets of CPUs become the workload's
//! own.

use std::collections::BTreeMap;

use wastenot_model::workload::{
    AffinityId, Group, GroupId, Hotplug, Launch, MarkId, Natures, Pipe, PipeId, Program, Step,
    Template, TemplateId, Variate, Waiting,
};
use wastenot_model::{
    Carries, CpuId, CpuMode, CpuSet, History, Machine, MaskId, NameId, Silent, Span, Start, TaskId,
    Time, Workload,
};

use super::awaited::Awaited;
use super::bound::crews::Crews;
use super::bound::plan::Plan;
use super::life::{Birth, Life, pipe_of, taker};
use super::watch::Watch;
use super::{Extracted, Options, Wakers, is_part, is_simulated, said};

/// Wakings do not suffice if more than one in this many wakeups lacks one. If they were recorded
/// all the time, only lost events remove some.
const LACKING: u64 = 100;

/// The workload of the tasks that were seen to act.
pub(super) fn weave(history: &History, options: &Options<'_>, watch: Watch<'_>) -> Extracted {
    let whom = Awaited::of(history, options, &watch);
    let Watch { mut lives, mut hotplug, tally, natures, .. } = watch;
    let begin = history.window().from;
    let crews = Crews::of(history, &lives, &whom.kernels, &whom.tasks);
    let plan = match is_simulated(history) && !is_part(history) {
        true => Plan::of(history, &lives, &whom.tasks, !hotplug.is_empty()),
        false => None,
    };
    let wakers = wakers(history, &lives, &whom.tasks);
    let mut loom = Loom::new(history, options, &lives, whom, natures);
    for (index, life) in lives.iter_mut().enumerate().filter(|(_, life)| life.birth.is_some()) {
        loom.add(index, life);
    }
    let Loom { mut workload, done, work, pinned, last, whom, natures, .. } = loom;
    workload.launches.sort_by_key(|launch| launch.at);
    hotplug.iter_mut().for_each(|it: &mut Hotplug| it.at = Time((it.at - begin).0));
    workload.hotplug = hotplug;
    let born = lives.iter_mut().filter(|life| life.birth.is_some());
    let untold = born.map(|life| std::mem::take(&mut life.untold)).collect();
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
        wakers,
        untold,
        plan,
        crews,
        machine: machine_of(history),
        workload,
    };
    extracted.assumptions = said::assumptions(history, &extracted, &tally, &whom, pinned);
    extracted
}

/// A workload under construction.
struct Loom<'a> {
    history: &'a History,
    options: &'a Options<'a>,
    natures: Natures,
    whom: Awaited,
    /// The tasks that must end in the simulation.
    kept: Vec<bool>,
    ids: Ids,
    groups: Groups,
    workload: Workload,
    done: MarkId,
    work: Span,
    /// Tasks that are bound by name to the CPU where they were seen.
    pinned: usize,
    /// When the last awaited task ran for the last time.
    last: Time,
}

impl<'a> Loom<'a> {
    fn new(
        history: &'a History,
        options: &'a Options<'a>,
        lives: &[Life],
        whom: Awaited,
        natures: Natures,
    ) -> Loom<'a> {
        let mut workload = Workload::new();
        if !natures.groups.is_empty() {
            workload.groups.clone_from(&natures.groups);
        }
        Loom {
            history,
            options,
            natures,
            kept: kept(lives, &whom.tasks),
            whom,
            ids: Ids::of(lives),
            groups: Groups::default(),
            done: workload.mark("done"),
            workload,
            work: Span::ZERO,
            pinned: 0,
            last: history.window().from,
        }
    }

    fn add(&mut self, index: usize, life: &mut Life) {
        let (history, task) = (self.history, TaskId::nth(index));
        let steps = self.steps(index, life);
        let program = Program::new(steps).expect("no recorded step begins or ends a loop");
        let mut template = Template::new(&history.task_name(task), program);
        template.nice = life.nice.unwrap_or(0).clamp(-20, 19);
        template.awaited = self.kept[index];
        template.kthread = self.whom.kernels[index];
        let told = history.task(task).and_then(|task| self.natures.tasks.get(&task.tid));
        let nature = told.copied().unwrap_or_default();
        if is_simulated(history) {
            template.kthread = nature.kthread;
            (template.priority, template.job) = (nature.priority, nature.job);
        }
        template.group = match self.natures.groups.is_empty() {
            true => self.groups.of(life.group, history, &mut self.workload),
            false => nature.group,
        };
        template.affinity = life.affinity.and_then(|mask| known_set(history, mask));
        if template.affinity.is_none() && (self.options.pinned)(task) {
            template.affinity = life.cpu.map(|cpu| CpuSet::from_iter([cpu]));
            self.pinned += 1;
        }
        self.workload.template(template);
        for sync in [false, true] {
            self.workload.pipes.push(token_pipe(history.task_label(task), sync));
        }
        if let Some(Birth::Launched { at, from }) = life.birth {
            let at = Time((at - history.window().from).0);
            let (template, from) = (self.ids.template(index), or_first(from, history.cpu_count()));
            self.workload.launches.push(Launch { at, template, from });
        }
    }

    fn steps(&mut self, index: usize, life: &mut Life) -> Vec<Step> {
        let mut steps = life.finish();
        for step in &mut steps {
            if let Step::Compute(Variate::Fixed(span)) = step {
                self.work += *span;
            }
            self.ids.rename(step, &mut self.workload, self.history);
        }
        if self.whom.tasks[index] {
            steps.push(Step::Mark(self.done));
            self.last = self.last.max(life.last);
        }
        if let Some(stopped) = life.stopped {
            // It continues to sleep: blocked load counts in some schedulers, and the load of an
            // ended task does not. A simulation ends when the awaited tasks end, so these must end.
            steps.push(match self.kept[index] {
                true => Step::Sleep(Variate::Fixed(self.history.window().to - stopped.at)),
                false => Step::Get(pipe_of(self.ids.template(index), PipeId(0))),
            });
        }
        steps
    }
}

/// Whether the wakers of the awaited tasks are known. The first wakeup of a task may belong to a
/// waking before the recording, so only wakeups that end a sleep within the recording count.
fn wakers(history: &History, lives: &[Life], awaited: &[bool]) -> Wakers {
    if !history.head.carries.has(Carries::WAKINGS) {
        return Wakers::Untold;
    }
    let lives = || lives.iter().zip(awaited).filter(|(_, awaited)| **awaited);
    let wakeups: u64 = lives().map(|(life, _)| life.lacking).sum();
    let of = lives().map(|(life, _)| life.wakeups).sum();
    match wakeups > of / LACKING {
        true => Wakers::Lacking { wakeups, of },
        false => Wakers::Told,
    }
}

/// A simulation ends when no awaited task is left, so it also waits for tasks that have yet to fork
/// one.
fn kept(lives: &[Life], awaited: &[bool]) -> Vec<bool> {
    let mut parents = vec![None; lives.len()];
    for (parent, life) in lives.iter().enumerate() {
        for child in life.children() {
            parents[child] = Some(parent);
        }
    }
    let mut kept = awaited.to_vec();
    for (child, awaited) in awaited.iter().enumerate() {
        let mut at = awaited.then_some(child);
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

/// A pipe of a task: for wakers that are about to sleep, or for all others. If a waker about to
/// sleep wakes several tasks, it is not preempted in between, as at a barrier.
fn token_pipe(name: String, sync: bool) -> Pipe {
    let (capacity, waiting) = (None, Waiting::Block);
    Pipe { name, capacity, tokens: 0, waiting, sync, at_once: !sync }
}

fn known_set(history: &History, mask: MaskId) -> Option<CpuSet> {
    let all = CpuSet::first(history.cpu_count());
    let known = history.mask(mask)?.and(&all);
    (!known.is_empty() && known != all).then_some(known)
}

/// `cpu`, or the first CPU if the machine of `count` CPUs does not have `cpu`.
pub(super) fn or_first(cpu: CpuId, count: usize) -> CpuId {
    if cpu.index() < count { cpu } else { CpuId(0) }
}

/// Maps numbers of the History to those of the workload.
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

/// Groups by the names of cgroups: a path lies within every path that is a prefix of it.
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

/// The deepest cgroup level that is kept apart from its parent.
const DEPTH: usize = 32;
