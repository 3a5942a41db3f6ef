//! Where tasks waited: which task was in which queue, from when and until when.

use std::collections::{BTreeMap, HashMap, HashSet};

use wastenot_model::{CpuId, CpuSet};
use wastenot_rota::step_log::{QueueNumber, Step, What};

use super::model::Model;
use super::{Conformance, Rule};

/// A stay of a task in a queue. Moments are numbers of the log.
#[derive(Clone, Debug)]
pub(super) struct Stay {
    pub(super) task: i32,
    pub(super) queue: QueueNumber,
    pub(super) key: i64,
    /// The CPUs that may run it; `None`: unknown.
    pub(super) allowed: Option<CpuSet>,
    /// It was not there before.
    pub(super) from: u64,
    /// It was there by then; unknown if the put was followed by no event that tells.
    pub(super) there: Option<u64>,
    /// It was there until then, unless it came later,
    pub(super) until: u64,
    /// and was gone by then.
    pub(super) gone: u64,
    /// The step that took it out, and the CPU that did, if one did.
    pub(super) taken: Option<(usize, u16)>,
    /// When the take was over that may have taken it: the log ends before the task runs.
    pub(super) perhaps: u64,
    /// The search for an idle CPU may have come before the task was there.
    pub(super) early: bool,
}

impl Stay {
    /// Whether it surely was there all the time.
    pub(super) fn covers(&self, from: u64, until: u64) -> bool {
        self.there.is_some_and(|there| there <= from) && until <= self.until
    }

    pub(super) fn may(&self, cpu: u16) -> bool {
        self.allowed.as_ref().is_some_and(|cpus| cpus.contains(CpuId(cpu)))
    }
}

/// All stays, and what is known of tasks otherwise.
pub(super) struct Stays {
    pub(super) all: Vec<Stay>,
}

/// The affinity of a task, as far as the log has it.
#[derive(Default)]
pub(super) struct Mask(HashMap<u64, u64>);

impl Mask {
    /// A word of it changes ([`What::Mask`]).
    pub(super) fn set(&mut self, step: &Step) {
        self.0.insert(step.queue, step.value as u64);
    }

    /// The CPUs that may run the task; `None`: unknown.
    pub(super) fn allowed(&self) -> Option<CpuSet> {
        let bits = |(word, bits): (&u64, &u64)| {
            let (word, bits) = (*word, *bits);
            (0..64).filter(move |n| bits >> n & 1 == 1).map(move |n| CpuId((word * 64 + n) as u16))
        };
        (!self.0.is_empty()).then(|| self.0.iter().flat_map(bits).collect())
    }
}

/// What is known of a task.
#[derive(Default)]
struct Task {
    mask: Mask,
    /// Which stay is not over.
    stay: Option<usize>,
    /// When the kernel began to take it out of its queue.
    leaves: Option<u64>,
    event: u64,
    /// A handler placed it since it ran last.
    placed: bool,
}

/// A look that took a task of which it is not known yet which one it was.
struct Took {
    at: usize,
    begin: u64,
    end: u64,
    queue: u64,
    /// The task may have been taken out again before it ran.
    maybe: bool,
}

struct Building<'m, 'f> {
    model: &'m Model<'m>,
    found: &'f mut Conformance,
    all: Vec<Stay>,
    tasks: HashMap<i32, Task>,
    took: BTreeMap<u16, Vec<Took>>,
    /// By CPU: the stay of a task that others can take only when the CPU does something else. It
    /// put the task early, and inserts it first; or the task had the CPU until now: while a program
    /// runs on a task, as that of a tracepoint, the kernel disables its migration.
    early: HashMap<u16, usize>,
    /// By CPU: the task that stopped there last.
    stopped: HashMap<u16, i32>,
}

impl Stays {
    pub(super) fn of(model: &Model<'_>, steps: &[Step], found: &mut Conformance) -> Stays {
        let (tasks, took) = (HashMap::new(), BTreeMap::new());
        let (early, stopped) = (HashMap::new(), HashMap::new());
        let all = Vec::new();
        let mut building = Building { model, found, all, tasks, took, early, stopped };
        let sooner = sooner(steps);
        let late: HashSet<usize> = sooner.values().flatten().copied().collect();
        for (at, step) in steps.iter().enumerate() {
            for &moved in sooner.get(&at).into_iter().flatten() {
                if let Some(task) = steps[moved].task {
                    building.moved(moved, task, &steps[moved]);
                }
            }
            building.step(at, step, late.contains(&at));
        }
        building.left_over(steps);
        Stays { all: building.all }
    }
}

/// Moves whose record ended late, by the step before which they took effect: another CPU can take
/// or move a task that was moved before the record of the move ends. A move takes only a task that
/// waited since before it began. So whatever happened to the task meanwhile, other than the end of
/// its put, came after the move.
pub(super) fn sooner(steps: &[Step]) -> HashMap<usize, Vec<usize>> {
    use What::{Leave, Left, Move, Place, Put, Start};
    let later = |what: What| matches!(what, Move | Place | Put | Start | Leave | Left);
    let mut sooner: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.what == Move) {
        let since = steps.partition_point(|it| it.end <= step.begin);
        let is = |n: &usize| steps[*n].task == step.task && later(steps[*n].what);
        if let Some(first) = (since..at).find(is) {
            sooner.entry(first).or_default().push(at);
        }
    }
    sooner.values_mut().for_each(|moves| moves.sort_by_key(|at| steps[*at].begin));
    sooner
}

impl Building<'_, '_> {
    /// `late`: the step is a move that was replayed before.
    fn step(&mut self, at: usize, step: &Step, late: bool) {
        if let (What::Take | What::Steal, 1) = (step.what, step.value) {
            let (begin, end, queue) = (step.begin, step.end, step.queue);
            self.took.entry(step.cpu).or_default().push(Took {
                at,
                begin,
                end,
                queue,
                maybe: false,
            });
        }
        if !matches!(step.what, What::Claim | What::Kick)
            && let Some(stay) = self.early.remove(&step.cpu)
        {
            self.all[stay].there = Some(step.begin);
            // A property of the task that the CPU runs changed: it goes on with it.
            let goes_on = step.what == What::Start && step.task == Some(self.all[stay].task);
            if let Some(task) = step.task.filter(|_| goes_on) {
                self.tasks.entry(task).or_default().leaves = Some(self.all[stay].from);
            }
        }
        let Some(tid) = step.task else { return };
        let task = self.tasks.entry(tid).or_default();
        match step.what {
            What::Mask => {
                task.mask.set(step);
            }
            What::Place => {
                (task.event, task.placed) = (step.queue, true);
                self.placed_again(tid, step);
            }
            What::Put => self.put(at, tid, step),
            What::In => {
                if let Some(stay) = task.stay {
                    if self.stopped.get(&step.cpu) == Some(&tid) {
                        self.early.insert(step.cpu, stay);
                    } else {
                        self.all[stay].there = Some(step.end);
                    }
                }
            }
            What::Stop => {
                self.stopped.insert(step.cpu, tid);
            }
            What::Early => {
                if let Some(stay) = task.stay {
                    self.all[stay].early = true;
                    self.early.insert(step.cpu, stay);
                }
            }
            What::Move if late => {}
            What::Move => self.moved(at, tid, step),
            What::Start => self.started(at, tid, step),
            What::Leave => {
                if let Some(stay) = task.stay {
                    task.leaves = Some(step.begin);
                    self.all[stay].until = step.begin;
                }
            }
            What::Left => {
                task.placed = false;
                if let Some(stay) = task.stay.take() {
                    let since = task.leaves.take();
                    self.ends(stay, since, step.end);
                }
            }
            _ => {}
        }
    }

    /// A task that waited is placed again: the kernel took it out before.
    fn placed_again(&mut self, tid: i32, step: &Step) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        let since = task.leaves.take();
        if let Some(stay) = task.stay.take() {
            self.ends(stay, since, step.end);
        }
    }

    /// The kernel took a task out of its queue; if it is not known since when, at any time.
    fn ends(&mut self, stay: usize, since: Option<u64>, gone: u64) {
        let stay = &mut self.all[stay];
        // It may have been taken before, and have waited in the local queue of a CPU.
        let mut until = since.unwrap_or(stay.from);
        let all = self.took.values_mut().flatten();
        for took in all.filter(|it| QueueNumber::of(it.queue) == stay.queue && it.end > stay.from) {
            until = until.min(took.begin);
            took.maybe = true;
        }
        (stay.until, stay.gone) = (until, gone);
    }

    fn put(&mut self, at: usize, tid: i32, step: &Step) {
        let task = self.tasks.entry(tid).or_default();
        let (queue, allowed) = (QueueNumber::of(step.queue), task.mask.allowed());
        let (event, home) = (task.event, step.to.unwrap_or(u16::MAX));
        let before = task.stay.replace(self.all.len());
        let mut wrong = None;
        if !self.model.has(queue) {
            wrong = Some(format!("task {tid} is enqueued in a queue that no policy has"));
        } else if let Some(before) = before {
            let where_to = self.model.name(self.all[before].queue);
            wrong = Some(format!("task {tid} is enqueued while it waits in {where_to}"));
        } else if let Some(allowed) = &allowed
            && !self.model.puts(event, queue, home, allowed)
        {
            let event = Step::EVENTS.get(event as usize).copied().unwrap_or("no event");
            let name = self.model.name(queue);
            wrong = Some(format!(
                "on {event}, task {tid} is enqueued in {name}, but no path of the handler enqueues \
                 it there"
            ));
        }
        self.found.judge(Rule::Put, at, wrong);
        self.all.push(Stay {
            task: tid,
            queue,
            key: step.value,
            allowed,
            from: step.begin,
            there: None,
            until: u64::MAX,
            gone: u64::MAX,
            taken: None,
            perhaps: u64::MAX,
            early: false,
        });
    }

    fn moved(&mut self, at: usize, tid: i32, step: &Step) {
        let task = self.tasks.entry(tid).or_default();
        let allowed = task.mask.allowed();
        let before = task.stay.replace(self.all.len());
        let wrong = match before {
            Some(before) => {
                let stay = &mut self.all[before];
                (stay.until, stay.gone) = (step.begin, step.end);
                stay.taken = Some((at, step.cpu));
                None
            }
            None => Some(format!("task {tid} is moved, but it does not wait in any queue")),
        };
        self.found.judge(Rule::Take, at, wrong);
        self.all.push(Stay {
            task: tid,
            queue: QueueNumber::of(step.queue),
            key: step.value,
            allowed,
            from: step.begin,
            there: Some(step.end),
            until: u64::MAX,
            gone: u64::MAX,
            taken: None,
            perhaps: u64::MAX,
            early: false,
        });
    }

    /// A task begins to run: if it waited, the CPU took it.
    fn started(&mut self, at: usize, tid: i32, step: &Step) {
        let cpu = step.to.unwrap_or(step.cpu);
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        if !std::mem::take(&mut task.placed) {
            self.found.by_kernel += 1;
        }
        let Some(index) = task.stay.take() else { return };
        let left = task.leaves.take();
        let stay = &mut self.all[index];
        let all = self.took.entry(cpu).or_default();
        let is = |took: &Took| QueueNumber::of(took.queue) == stay.queue && took.end > stay.from;
        let begin = all.iter().filter(|it| is(it)).map(|it| it.begin).min();
        let end = all.iter().filter(|it| is(it)).map(|it| it.end).max();
        let sure = all.iter().position(|it| is(it) && !it.maybe);
        let wrong = match sure.or_else(|| all.iter().position(is)) {
            Some(n) => {
                let doubt = all.iter().any(|it| is(it) && it.maybe);
                let took = all.remove(n);
                (stay.until, stay.gone) = match doubt {
                    true => (begin.unwrap_or(took.begin), end.unwrap_or(took.end)),
                    false => (took.begin, took.end),
                };
                stay.taken = Some((took.at, cpu));
                let may = stay.allowed.is_none() || stay.may(cpu);
                (!may).then(|| format!("CPU {cpu} takes task {tid}, which may not run there"))
            }
            // The kernel took it out, and placed it itself.
            None if left.is_some() => {
                (stay.until, stay.gone) = (left.unwrap_or(stay.from), step.end);
                None
            }
            None => {
                (stay.until, stay.gone) = (stay.from, step.end);
                let name = self.model.name(stay.queue);
                Some(format!(
                    "CPU {cpu} runs task {tid}, which waits in {name} and was not taken from there"
                ))
            }
        };
        self.found.judge(Rule::Take, at, wrong);
    }

    /// Looks of which no task began to run: the queue must have held one.
    fn left_over(&mut self, steps: &[Step]) {
        for took in self.took.values().flatten() {
            let queue = QueueNumber::of(took.queue);
            let (cpu, from, until) = (steps[took.at].cpu, took.begin, took.end);
            let mut held = false;
            for stay in self.all.iter_mut().filter(|stay| {
                let is = stay.queue == queue && stay.from < until && stay.gone > from;
                is && (stay.allowed.is_none() || stay.may(cpu))
            }) {
                held = true;
                // It may be the one that was taken.
                if stay.taken.is_none() {
                    stay.until = stay.until.min(from);
                    stay.perhaps = stay.perhaps.min(until);
                }
            }
            let wrong = (!held && !took.maybe).then(|| {
                let name = self.model.name(queue);
                format!("CPU {cpu} takes a task from {name}, which had no task that may run there")
            });
            self.found.judge(Rule::Take, took.at, wrong);
        }
    }
}
