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
const NUMBERS: [i64; 6] = [0, 1, 999_999, 5_000_000, 70_000_000, 1 << 50];
/// Weights that are tried.
const WEIGHTS: [i64; 3] = [1, 100, 10_000];

/// Looks for a handler that lets a key fall (`vt_monotone`), or puts a task too far back (`lag`).
/// `None`: nothing was found, which says nothing.
pub(super) fn search(policy: &Policy, claim: &ClaimKind) -> Option<Searched> {
    let small = machines(policy, 1).into_iter().next()?;
    let world = World::new(policy, &small);
    let mut looked = 0;
    for event in Event::ALL {
        for numbers in all(policy, &small.tree) {
            looked += 1;
            let mut walk = Walk { world: &world, claim, event, found: None };
            let frame = Frame { here: Some(CpuId(0)), prev: Some(CpuId(0)), ..world.frame() };
            walk.block(&[&policy.handlers[event as usize]], numbers, &frame);
            if let Some(step) = walk.found {
                let why = match claim {
                    ClaimKind::Lag(_) => "a task is put too far behind the others of its queue",
                    _ => "a task gets ahead of where it was, and may be first for ever",
                };
                let task = Task { place: Place::Away, mask: 1, weight: 100 };
                let situation = Situation { tasks: vec![task], vars: world.vars() };
                let (cpu, steps, why) = (CpuId(0), vec![step], why.to_owned());
                let found = Found { small: small.clone(), situation, cpu, steps, why };
                return Some(Searched { found: Some(found), looked, cpus: 1 });
            }
        }
    }
    // Some numbers are not all numbers: that none of these breaks the claim is no proof.
    None
}

/// What numbers are read.
#[derive(Clone, Debug)]
struct Numbers<'t> {
    tree: &'t Tree,
    vars: Vec<i64>,
    least: i64,
    ran: i64,
    now: i64,
    weight: i64,
}

/// Every choice of numbers; of several variables of a task all begin alike.
fn all<'t>(policy: &Policy, tree: &'t Tree) -> impl Iterator<Item = Numbers<'t>> {
    let vars = policy.task_vars.len();
    NUMBERS.into_iter().flat_map(move |var| {
        NUMBERS.into_iter().flat_map(move |least| {
            NUMBERS.into_iter().flat_map(move |ran| {
                WEIGHTS.into_iter().map(move |weight| {
                    let now = least / 2 + ran;
                    Numbers { tree, vars: vec![var; vars], least, ran, now, weight }
                })
            })
        })
    })
}

struct Walk<'w, 'p> {
    world: &'w World<'p>,
    claim: &'w ClaimKind,
    event: Event,
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
                        let (event, var) = (self.event, *var);
                        self.found.get_or_insert(Step::Sets { event, var, before, after });
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
                Stmt::SetCpu { .. } | Stmt::Run { .. } | Stmt::Kick { .. } => {}
            }
        }
    }

    /// Only who slept, or is new, may be far back: who ran may have to wait for its turn.
    fn put(&mut self, queue: usize, bound: &Num, numbers: &Numbers<'_>, frame: &mut Frame) {
        let Some(var) = self.world.policy.queues[queue].key else { return };
        let bound = frame.num(numbers, &self.world.per, bound);
        let sleeps = matches!(self.event, Event::New | Event::Wake);
        if sleeps && numbers.vars[var] < numbers.least.saturating_sub(bound) {
            let (event, before, after) = (self.event, numbers.least, numbers.vars[var]);
            self.found.get_or_insert(Step::Sets { event, var, before, after });
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
        self.weight
    }
    fn min_key(&self, _: usize, _: usize) -> i64 {
        self.least
    }
    fn running(&self, _: CpuId) -> Option<i64> {
        Some(self.weight)
    }
    fn cpu_var(&self, _: usize, _: CpuId) -> i64 {
        self.least
    }
    fn now(&self) -> i64 {
        self.now
    }
    fn task_var(&self, var: usize) -> i64 {
        self.vars[var]
    }
    fn weight(&self) -> i64 {
        self.weight
    }
    fn job(&self) -> i64 {
        0
    }
    fn ran(&self) -> i64 {
        self.ran
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
        assert!(matches!(found(&text), Some(Step::Sets { event: Event::New, .. })));
        let text = VRT.replace("t.vt += scaled(ran, t.weight)", "t.vt := scaled(ran, t.weight)");
        assert!(matches!(found(&text), Some(Step::Sets { event: Event::Stop, .. })));
    }
}
