//! A handler with given numbers, and what becomes of the keys of its task.

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{Frame, Look};
use wastenot_rota::ir::{ClaimKind, Event, Num, Stmt};

use super::step::{Given, Step};
use super::world::World;
use crate::text::Sets;

/// A call of a handler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    pub(super) event: Event,
    /// What it finds.
    pub(super) given: Given,
    /// Of `stop`: which variables of the task have risen since it was queued, or started directly.
    pub(super) risen: Vec<bool>,
}

/// What numbers are read.
#[derive(Clone, Debug)]
struct Numbers<'t> {
    tree: &'t Tree,
    vars: Vec<i64>,
    /// The variables of the one CPU.
    cpu_vars: Vec<i64>,
    /// The least key of each queue.
    leasts: Vec<i64>,
    /// Whether anybody is ever put into it.
    fed: Vec<bool>,
    given: Given,
}

/// How the handler of `event` breaks the claim with these numbers, if it does; whatever variables
/// of CPUs are that handlers set.
pub(crate) fn broken(
    world: &World<'_>,
    claim: &ClaimKind,
    event: Event,
    given: Given,
) -> Option<Step> {
    breaks(world, claim, &Call { event, given, risen: Vec::new() })
}

/// The same in a life.
pub(super) fn breaks(world: &World<'_>, claim: &ClaimKind, call: &Call) -> Option<Step> {
    let Call { event, given, ref risen } = *call;
    let sets = Sets::of(world.policy);
    // A new task has what the text says.
    let task = |set: &bool, first| if *set && event != Event::New { given.var } else { first };
    let first = world.policy.task_vars.iter().zip(&sets.task);
    let vars: Vec<i64> = first.map(|(var, set)| task(set, var.value)).collect();
    let mut broken = None;
    for other in [None, Some(given.least), Some(i64::MAX / 2)] {
        let cpu = world.policy.cpu_vars.iter().zip(&sets.cpu);
        let cpu = cpu.map(|(var, set)| other.filter(|_| *set).unwrap_or(var.value));
        let leasts = sets.fed.iter().map(|fed| if *fed { given.least } else { 0 });
        let numbers = Numbers {
            tree: world.tree(),
            vars: vars.clone(),
            cpu_vars: cpu.collect(),
            leasts: leasts.collect(),
            fed: sets.fed.clone(),
            given,
        };
        let wrong = run(world, Some((claim, risen)), event, numbers).found?;
        broken.get_or_insert(wrong);
    }
    broken
}

/// What a handler comes to: variables of the task and of CPUs, and into which queue it was put with
/// what key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) vars: Vec<i64>,
    pub(super) cpu_vars: Vec<i64>,
    pub(super) put: Option<(usize, i64)>,
}

/// Every end of the handler of an event, with these variables and least keys of queues.
pub(super) fn ends(
    world: &World<'_>,
    event: Event,
    (vars, cpu_vars): (Vec<i64>, Vec<i64>),
    leasts: Vec<i64>,
    given: Given,
) -> Vec<End> {
    let (tree, fed) = (world.tree(), Sets::of(world.policy).fed);
    run(world, None, event, Numbers { tree, vars, cpu_vars, leasts, fed, given }).ends
}

fn run<'w, 'p>(
    world: &'w World<'p>,
    claim: Option<(&'w ClaimKind, &'w [bool])>,
    event: Event,
    numbers: Numbers<'_>,
) -> Walk<'w, 'p> {
    let first = numbers.vars.clone();
    let (claim, risen) = claim.unzip();
    let (put, ends, risen) = (None, Vec::new(), risen.unwrap_or_default());
    let mut walk = Walk { world, claim, event, first, risen, put, ends, found: None };
    let frame = Frame { here: Some(CpuId(0)), prev: Some(CpuId(0)), ..world.frame() };
    walk.block(&[&world.policy.handlers[event as usize]], numbers, &frame);
    walk
}

struct Walk<'w, 'p> {
    world: &'w World<'p>,
    /// `None`: whatever becomes of it is right.
    claim: Option<&'w ClaimKind>,
    event: Event,
    /// The variables of the task before.
    first: Vec<i64>,
    /// Which of them have risen since the task was queued.
    risen: &'w [bool],
    /// The queue of the last put, and the key there.
    put: Option<(usize, i64)>,
    ends: Vec<End>,
    found: Option<Step>,
}

impl Walk<'_, '_> {
    fn block(&mut self, blocks: &[&[Stmt]], mut numbers: Numbers<'_>, frame: &Frame) {
        let (mut blocks, mut frame) = (blocks.to_vec(), frame.clone());
        let per = &self.world.per;
        while let Some(block) = blocks.last_mut() {
            let Some((stmt, rest)) = block.split_first() else {
                blocks.pop();
                continue;
            };
            *block = rest;
            match stmt {
                Stmt::Claim { slot, .. } => {
                    for found in [None, Some(CpuId(0))] {
                        frame.set_slot(*slot, found);
                        self.block(&blocks, numbers.clone(), &frame);
                    }
                    return;
                }
                Stmt::Pick { slot, .. } => frame.set_slot(*slot, Some(CpuId(0))),
                Stmt::Let(slot, num) => {
                    let value = frame.num(&numbers, per, num);
                    frame.set_local(*slot, value);
                }
                Stmt::SetTask(var, num) => {
                    numbers.vars[*var] = frame.num(&numbers, per, num);
                }
                Stmt::Put(put) => {
                    let queue = put.queue.queue;
                    let key = self.world.policy.queues[queue].key;
                    self.put = key.map(|key| (queue, numbers.vars[key]));
                    match self.claim {
                        Some(ClaimKind::Lag(bound)) => {
                            self.put(queue, bound, &numbers, &mut frame);
                        }
                        _ => self.falls(&numbers),
                    }
                }
                Stmt::If { condition, then, otherwise } => {
                    let yes = frame.bool(&numbers, per, condition);
                    blocks.push(if yes { then } else { otherwise });
                }
                Stmt::SetCpu { var, value, add, .. } => {
                    let value = frame.num(&numbers, per, value);
                    let var = &mut numbers.cpu_vars[*var];
                    *var = if *add { var.saturating_add(value) } else { value };
                }
                Stmt::Run { .. } | Stmt::Kick { .. } => {}
            }
        }
        self.falls(&numbers);
        if self.event == Event::Stop {
            self.stops(&numbers);
        }
        let (vars, cpu_vars) = (numbers.vars, numbers.cpu_vars);
        self.ends.push(End { vars, cpu_vars, put: self.put });
    }

    /// What the key was for a moment in between, nobody sees.
    fn falls(&mut self, numbers: &Numbers<'_>) {
        for var in self.keys() {
            let (event, before, after) = (self.event, self.first[var], numbers.vars[var]);
            if after < before {
                let given = numbers.given;
                let sets = Step::Sets { event, var, before, after, least: false, given };
                self.found.get_or_insert(sets);
            }
        }
    }

    /// That it rises may be left to who puts the task again, to `preempt`, say; or to `start`.
    fn stops(&mut self, numbers: &Numbers<'_>) {
        for var in self.keys().into_iter().filter(|_| numbers.given.ran > 0) {
            let (event, before, after) = (self.event, self.first[var], numbers.vars[var]);
            let rises = |event, vars: &[i64]| {
                let numbers = Numbers { vars: vars.to_vec(), ..numbers.clone() };
                run(self.world, None, event, numbers).ends.iter().any(|end| end.vars[var] > before)
            };
            // Who forces this knows of no life, but what `start` makes of such a key.
            let risen =
                self.risen.get(var).is_some_and(|risen| *risen) || rises(Event::Start, &self.first);
            if after <= before && !risen && !rises(Event::Preempt, &numbers.vars) {
                let given = numbers.given;
                self.found.get_or_insert(Step::Sets {
                    event,
                    var,
                    before,
                    after,
                    least: false,
                    given,
                });
            }
        }
    }

    /// Variables that queues are ordered by, of which something is claimed.
    fn keys(&self) -> Vec<usize> {
        let claimed = matches!(self.claim, Some(ClaimKind::VtMonotone));
        let queues = self.world.policy.queues.iter().filter(|_| claimed);
        queues.filter_map(|queue| queue.key).collect()
    }

    /// Only who slept, or is new, may be far back: who ran may have to wait for its turn.
    fn put(&mut self, queue: usize, bound: &Num, numbers: &Numbers<'_>, frame: &mut Frame) {
        let Some(var) = self.world.policy.queues[queue].key else { return };
        let bound = frame.num(numbers, &self.world.per, bound);
        let sleeps = matches!(self.event, Event::New | Event::Wake);
        let (given, least) = (numbers.given, numbers.leasts[queue]);
        if sleeps && numbers.vars[var] < least.saturating_sub(bound) {
            let (event, before, after) = (self.event, least, numbers.vars[var]);
            let sets = Step::Sets { event, var, before, after, least: true, given };
            self.found.get_or_insert(sets);
        }
    }
}

impl Look for Numbers<'_> {
    fn tree(&self) -> &Tree {
        self.tree
    }
    fn queued(&self, queue: usize, _: usize) -> i64 {
        i64::from(self.fed[queue])
    }
    fn queued_weight(&self, queue: usize, group: usize) -> i64 {
        self.queued(queue, group) * self.given.weight
    }
    fn min_key(&self, queue: usize, _: usize) -> i64 {
        self.leasts[queue]
    }
    fn running(&self, _: CpuId) -> Option<i64> {
        Some(self.given.weight)
    }
    fn cpu_var(&self, var: usize, _: CpuId) -> i64 {
        self.cpu_vars[var]
    }
    fn now(&self) -> i64 {
        self.given.now
    }
    fn task_var(&self, var: usize) -> i64 {
        self.vars[var]
    }
    fn weight(&self) -> i64 {
        self.given.weight
    }
    fn job(&self) -> i64 {
        0
    }
    fn ran(&self) -> i64 {
        self.given.ran
    }
    fn allowed(&self, _: CpuId) -> bool {
        true
    }
}
