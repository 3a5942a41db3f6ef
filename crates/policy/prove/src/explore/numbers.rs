//! A handler with given numbers, and what becomes of the keys of its task.

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{Exact, Frame, Leaf, Look};
use wastenot_rota::ir::{Bool, ClaimKind, Event, Level, Num, Place, Stmt};
use wastenot_rota::paths::{Best, Way, follow};

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

/// What a handler comes to on every way through it, and the first step that breaks the claim.
#[derive(Default)]
struct Outcome {
    ends: Vec<End>,
    found: Option<Step>,
}

fn run(
    world: &World<'_>,
    claim: Option<(&ClaimKind, &[bool])>,
    event: Event,
    numbers: Numbers<'_>,
) -> Outcome {
    let (claim, risen) = claim.unzip();
    let call = Called {
        world,
        claim,
        event,
        first: &numbers.vars.clone(),
        risen: risen.unwrap_or_default(),
    };
    let frame = Frame { here: Some(CpuId(0)), prev: Some(CpuId(0)), ..world.frame() };
    let begun = Run { call, numbers, frame, put: None, found: None };
    let mut outcome = Outcome::default();
    follow(&world.policy.handlers[event as usize], begun, &mut |mut run| {
        run.is_through();
        outcome.found = outcome.found.take().or(run.found);
        let Numbers { vars, cpu_vars, .. } = run.numbers;
        outcome.ends.push(End { vars, cpu_vars, put: run.put });
    });
    outcome
}

/// What all ways through a handler have in common.
#[derive(Clone, Copy)]
struct Called<'w, 'p> {
    world: &'w World<'p>,
    /// `None`: every outcome is right.
    claim: Option<&'w ClaimKind>,
    event: Event,
    /// The variables of the task before.
    first: &'w [i64],
    /// Which of them have risen since the task was queued.
    risen: &'w [bool],
}

/// A way through a handler, as far as it was gone.
#[derive(Clone)]
struct Run<'w, 'p> {
    call: Called<'w, 'p>,
    numbers: Numbers<'w>,
    frame: Frame,
    /// The queue of the last put on this way, and the key there.
    put: Option<(usize, i64)>,
    /// The first step on this way that breaks the claim.
    found: Option<Step>,
}

impl<'p> Way<'p> for Run<'_, 'p> {
    fn does(&mut self, stmt: &'p Stmt) -> bool {
        match stmt {
            Stmt::Let(slot, num) => {
                let value = self.num(num);
                self.frame.set_local(*slot, value);
            }
            Stmt::SetTask(var, num) => self.numbers.vars[*var] = self.num(num),
            Stmt::Put(put) => self.put(put.queue.queue),
            Stmt::SetCpu { var, value, add, .. } => {
                let value = self.num(value);
                let var = &mut self.numbers.cpu_vars[*var];
                *var = if *add { var.saturating_add(value) } else { value };
            }
            _ => {}
        }
        true
    }

    fn claims(self, slot: usize, _: Option<Level>, _: &'p Place) -> Vec<Self> {
        let found = |cpu| {
            let mut next = self.clone();
            next.frame.set_slot(slot, cpu);
            next
        };
        [None, Some(CpuId(0))].map(found).into()
    }

    fn picks(mut self, slot: usize, _: Best<'p>) -> Vec<Self> {
        self.frame.set_slot(slot, Some(CpuId(0)));
        vec![self]
    }

    fn branches(
        mut self,
        condition: &'p Bool,
        then: &'p [Stmt],
        otherwise: &'p [Stmt],
    ) -> Vec<(Self, &'p [Stmt])> {
        let yes = self.frame.bool(&self.numbers, &self.call.world.per, condition);
        vec![(self, if yes { then } else { otherwise })]
    }
}

impl Run<'_, '_> {
    fn num(&mut self, num: &Num) -> i64 {
        self.frame.num(&self.numbers, &self.call.world.per, num)
    }

    fn put(&mut self, queue: usize) {
        let key = self.call.world.policy.queues[queue].key;
        self.put = key.map(|key| (queue, self.numbers.vars[key]));
        match self.call.claim {
            Some(ClaimKind::Lag(bound)) => self.lags(queue, bound),
            _ => self.falls(),
        }
    }

    /// The handler is through.
    fn is_through(&mut self) {
        self.falls();
        if self.call.event == Event::Stop && self.numbers.given.ran > 0 {
            self.stops();
        }
    }

    /// The key counts at each put and at the end: no other CPU sees what it was in between.
    fn falls(&mut self) {
        for var in self.keys() {
            let (before, after) = (self.call.first[var], self.numbers.vars[var]);
            if after < before {
                self.breaks(var, before, after, false);
            }
        }
    }

    /// A later handler may let the key rise: `preempt`, which puts the task again, or `start`.
    fn stops(&mut self) {
        for var in self.keys() {
            let (before, after) = (self.call.first[var], self.numbers.vars[var]);
            let rises = |event, vars: &[i64]| {
                let numbers = Numbers { vars: vars.to_vec(), ..self.numbers.clone() };
                let ends = run(self.call.world, None, event, numbers).ends;
                ends.iter().any(|end| end.vars[var] > before)
            };
            // A caller that knows no life knows only what `start` makes of such a key.
            let risen = self.call.risen.get(var).is_some_and(|risen| *risen)
                || rises(Event::Start, self.call.first);
            if after <= before && !risen && !rises(Event::Preempt, &self.numbers.vars) {
                self.breaks(var, before, after, false);
            }
        }
    }

    /// Only a task that slept, or is new, may be far back: one that ran may have to wait for its
    /// turn.
    fn lags(&mut self, queue: usize, bound: &Num) {
        let Some(var) = self.call.world.policy.queues[queue].key else { return };
        let bound = self.num(bound);
        let sleeps = matches!(self.call.event, Event::New | Event::Wake);
        let (least, key) = (self.numbers.leasts[queue], self.numbers.vars[var]);
        if sleeps && key < least.saturating_sub(bound) {
            self.breaks(var, least, key, true);
        }
    }

    fn breaks(&mut self, var: usize, before: i64, after: i64, least: bool) {
        let (event, given) = (self.call.event, self.numbers.given);
        self.found.get_or_insert(Step::Sets { event, var, before, after, least, given });
    }

    /// Variables that queues are ordered by, if the claim is about them.
    fn keys(&self) -> Vec<usize> {
        let claimed = matches!(self.call.claim, Some(ClaimKind::VtMonotone));
        let queues = self.call.world.policy.queues.iter().filter(|_| claimed);
        queues.filter_map(|queue| queue.key).collect()
    }
}

impl Look for Numbers<'_> {
    type Domain = Exact;

    fn tree(&self) -> &Tree {
        self.tree
    }
    fn allowed(&self, _: CpuId) -> bool {
        true
    }
    fn read(&self, leaf: Leaf) -> i64 {
        match leaf {
            Leaf::Queued(queue, _) => i64::from(self.fed[queue]),
            Leaf::QueuedWeight(queue, _) => i64::from(self.fed[queue]) * self.given.weight,
            Leaf::MinKey(queue, _) => self.leasts[queue],
            Leaf::Running(_) => 1,
            Leaf::RunningWeight(_) | Leaf::Weight => self.given.weight,
            Leaf::CpuVar(var, _) => self.cpu_vars[var],
            Leaf::TaskVar(var) => self.vars[var],
            Leaf::Job => 0,
            Leaf::Ran => self.given.ran,
            Leaf::Now => self.given.now,
        }
    }
}
