//! Keys of ordered queues, without any solver: every handler with numbers of many sizes.

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{Frame, Look};
use wastenot_rota::ir::{ClaimKind, Event, Num, Policy, Stmt};

use super::attempt::Step;
use super::search::{Found, Searched};
use super::situation::{Place, Situation, Task, World};
use crate::machines;

/// Times and keys that are tried, in ns: around the sizes of slices and lags, and at the ends.
const NUMBERS: [i64; 6] = [0, 1, 999_999, 5_000_000, 70_000_000, 1_000_000_000_000_000];
/// Weights that are tried.
const WEIGHTS: [i64; 3] = [1, 100, 10_000];

/// Looks for a handler that lets a key fall, or does not let it rise though its task ran
/// (`vt_monotone`); or that puts a task too far back (`lag`).
/// `None`: nothing was found, which says nothing.
pub(super) fn search(policy: &Policy, claim: &ClaimKind) -> Option<Searched> {
    let small = machines(policy, 1).into_iter().next()?;
    let world = World::new(policy, &small);
    let mut looked = 0;
    for event in Event::ALL.into_iter().filter(|event| applies(claim, *event)) {
        for given in all() {
            looked += 1;
            if let Some(step) = broken(&world, claim, event, given) {
                let rises = matches!(step, Step::Sets { before, after, .. } if before == after);
                let why = match claim {
                    ClaimKind::Lag(_) => "a task is put too far behind the others of its queue",
                    _ if rises => "a task has run and is no further than before, for ever",
                    _ => "a task gets ahead of where it was, and may be first for ever",
                };
                let task = Task { place: Place::Away, mask: 1, weight: 100 };
                let situation = Situation { tasks: vec![task], vars: world.vars() };
                let (cpu, steps, why) = (CpuId(0), vec![step], why.to_owned());
                let (wrong, small) = (None, small.clone());
                let found = Found { wrong, small, situation, cpu, steps, why };
                return Some(Searched { found: Some(found), looked, cpus: 1 });
            }
        }
    }
    // Some numbers are not all numbers: that none of these breaks the claim is no proof.
    None
}

/// Whether a claim says anything of an event: a new task had no key that could fall.
fn applies(claim: &ClaimKind, event: Event) -> bool {
    !(matches!(claim, ClaimKind::VtMonotone) && event == Event::New)
}

/// What a handler computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// Every variable of the task, unless it is new.
    pub var: i64,
    /// The least key of every queue, and every variable of a CPU.
    pub least: i64,
    /// How long the task ran, in ns.
    pub ran: i64,
    /// The time, in ns.
    pub now: i64,
    /// The weight of every task.
    pub weight: i64,
}

/// What numbers are read.
#[derive(Clone, Debug)]
struct Numbers<'t> {
    tree: &'t Tree,
    vars: Vec<i64>,
    /// The variables of the one CPU.
    cpu_vars: Vec<i64>,
    given: Given,
}

/// Every choice of numbers.
fn all() -> impl Iterator<Item = Given> {
    NUMBERS.into_iter().flat_map(move |var| {
        NUMBERS.into_iter().flat_map(move |least| {
            NUMBERS.into_iter().flat_map(move |ran| {
                WEIGHTS.into_iter().map(move |weight| {
                    let now = least / 2 + ran;
                    Given { var, least, ran, now, weight }
                })
            })
        })
    })
}

/// How the handler of `event` breaks the claim with these numbers, if it does.
pub(crate) fn broken(
    world: &World<'_>,
    claim: &ClaimKind,
    event: Event,
    given: Given,
) -> Option<Step> {
    let task_vars = world.policy.task_vars.iter();
    let vars: Vec<i64> = match event {
        // A new task has what the text says.
        Event::New => task_vars.map(|var| var.value).collect(),
        _ => task_vars.map(|_| given.var).collect(),
    };
    let first = vars.clone();
    let cpu_vars = vec![given.least; world.policy.cpu_vars.len()];
    let numbers = Numbers { tree: world.tree(), vars, cpu_vars, given };
    let mut walk = Walk { world, claim, event, first, found: None };
    let frame = Frame { here: Some(CpuId(0)), prev: Some(CpuId(0)), ..world.frame() };
    walk.block(&[&world.policy.handlers[event as usize]], numbers, &frame);
    walk.found
}

struct Walk<'w, 'p> {
    world: &'w World<'p>,
    claim: &'w ClaimKind,
    event: Event,
    /// The variables of the task before.
    first: Vec<i64>,
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
                    let after = frame.num(&numbers, per, num);
                    let before = std::mem::replace(&mut numbers.vars[*var], after);
                    let key = self.world.policy.queues.iter().any(|it| it.key == Some(*var));
                    if matches!(self.claim, ClaimKind::VtMonotone) && key && after < before {
                        let (event, var, given) = (self.event, *var, numbers.given);
                        let sets = Step::Sets { event, var, before, after, least: false, given };
                        self.found.get_or_insert(sets);
                    }
                }
                Stmt::Put(put) => {
                    if let ClaimKind::Lag(bound) = self.claim {
                        self.put(put.queue.queue, bound, &numbers, &mut frame);
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
        if matches!(self.claim, ClaimKind::VtMonotone) && self.event == Event::Stop {
            self.stops(&numbers);
        }
    }

    fn stops(&mut self, numbers: &Numbers<'_>) {
        for var in self.world.policy.queues.iter().filter_map(|queue| queue.key) {
            let (event, before, after) = (self.event, self.first[var], numbers.vars[var]);
            if numbers.given.ran > 0 && after <= before {
                let given = numbers.given;
                let sets = Step::Sets { event, var, before, after, least: false, given };
                self.found.get_or_insert(sets);
            }
        }
    }

    /// Only who slept, or is new, may be far back: who ran may have to wait for its turn.
    fn put(&mut self, queue: usize, bound: &Num, numbers: &Numbers<'_>, frame: &mut Frame) {
        let Some(var) = self.world.policy.queues[queue].key else { return };
        let bound = frame.num(numbers, &self.world.per, bound);
        let sleeps = matches!(self.event, Event::New | Event::Wake);
        let given = numbers.given;
        if sleeps && numbers.vars[var] < given.least.saturating_sub(bound) {
            let (event, before, after) = (self.event, given.least, numbers.vars[var]);
            let sets = Step::Sets { event, var, before, after, least: true, given };
            self.found.get_or_insert(sets);
        }
    }
}

impl Look for Numbers<'_> {
    fn tree(&self) -> &Tree {
        self.tree
    }
    fn queued(&self, _: usize, _: usize) -> i64 {
        1
    }
    fn queued_weight(&self, _: usize, _: usize) -> i64 {
        self.given.weight
    }
    fn min_key(&self, _: usize, _: usize) -> i64 {
        self.given.least
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

#[cfg(test)]
mod tests {
    use super::*;

    const VRT: &str = include_str!("../../../../policies/fair-vtime.rota");

    fn found(text: &str) -> Option<Step> {
        let program = wastenot_rota::compile(text).expect("it compiles");
        let searched = search(&program.policies[0], &ClaimKind::VtMonotone)?;
        searched.found.map(|found| found.steps[0].clone())
    }

    #[test]
    fn a_key_that_is_set_to_the_least_of_its_queue_may_fall() {
        assert_eq!(found(VRT), None);
        let text =
            VRT.replace("t.vt := max(t.vt, min_vt(home(t).q) - lag)", "t.vt := min_vt(home(t).q)");
        assert!(matches!(found(&text), Some(Step::Sets { event: Event::Wake, .. })));
        let text = VRT.replace(
            "on new(t), wake(t) {",
            "on new(t) { t.vt := min_vt(home(t).q)\n put t in home(t).q }\n    on wake(t) {",
        );
        assert_eq!(found(&text), None, "a new task had no key");
        let text = VRT.replace("t.vt += scaled(ran, t.weight)", "t.vt := scaled(ran, t.weight)");
        assert!(matches!(found(&text), Some(Step::Sets { event: Event::Stop, .. })));
    }

    #[test]
    fn a_key_that_never_changes_is_no_virtual_time() {
        let text = VRT.replace("t.vt += scaled(ran, t.weight)", "");
        let step = found(&text).expect("nothing passes");
        assert!(
            matches!(step, Step::Sets { event: Event::Stop, before, after, .. } if before == after)
        );
    }
}
