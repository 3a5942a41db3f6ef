//! Numbers that a text compares with weights and with lengths of queues: around them the ways part
//! that a handler goes, so these are tried.

use wastenot_rota::ir::{Bool, Num, Policy, Visitor, visit_balance, visit_block, visit_num};

/// The weights that a task may have.
const WEIGHTS: std::ops::RangeInclusive<i64> = 1..=10_000;
/// So many others are made to wait at most.
const LENGTHS: std::ops::RangeInclusive<i64> = 0..=100;
/// What a task of nice 0 weighs.
pub(crate) const USUAL: i64 = 100;

/// Numbers that handlers and periodic balancing compare: each, one more and one less.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compared {
    /// With weights of tasks.
    pub(crate) weights: Vec<i64>,
    /// With lengths of queues; where weights are added, so many tasks of nice 0.
    pub(crate) lengths: Vec<i64>,
}

impl Compared {
    /// Those of a text.
    pub(crate) fn of(policy: &Policy) -> Compared {
        let mut all = Comparisons { policy, compared: Compared::default() };
        policy.handlers.iter().for_each(|handler| visit_block(handler, &mut all));
        for periodic in &policy.periodic {
            visit_balance(&periodic.balance, &mut all);
        }
        all.compared
    }
}

struct Comparisons<'p> {
    policy: &'p Policy,
    compared: Compared,
}

impl Visitor for Comparisons<'_> {
    fn bool(&mut self, condition: &Bool) {
        let Bool::Compare(a, _, b) = condition else { return };
        let mut sides = Sides::of(self.policy);
        visit_num(a, &mut sides);
        visit_num(b, &mut sides);
        let Compared { weights, lengths } = &mut self.compared;
        for number in sides.scaled() {
            if sides.weight {
                around(number, &WEIGHTS, weights);
            }
            if sides.length {
                around(number, &LENGTHS, lengths);
            }
            if sides.total {
                around(number / USUAL, &LENGTHS, lengths);
            }
        }
    }
}

fn around(number: i64, within: &std::ops::RangeInclusive<i64>, all: &mut Vec<i64>) {
    for number in [number, number.saturating_add(1), number.saturating_sub(1)] {
        if within.contains(&number) && !all.contains(&number) {
            all.push(number);
        }
    }
}

/// What stands in a comparison.
struct Sides<'p> {
    policy: &'p Policy,
    numbers: Vec<i64>,
    /// Numbers are multiplied by that, or divided.
    times: Vec<i64>,
    over: Vec<i64>,
    weight: bool,
    length: bool,
    /// Weights of a queue, or of those who run, added.
    total: bool,
}

impl<'p> Sides<'p> {
    fn of(policy: &'p Policy) -> Sides<'p> {
        let (numbers, times, over) = (Vec::new(), Vec::new(), Vec::new());
        Sides { policy, numbers, times, over, weight: false, length: false, total: false }
    }

    /// The numbers, and what they come to where the other side is multiplied or divided.
    fn scaled(&self) -> Vec<i64> {
        let mut all = self.numbers.clone();
        for &number in &self.numbers {
            all.extend(self.times.iter().filter_map(|by| number.checked_div(*by)));
            all.extend(self.over.iter().map(|by| number.saturating_mul(*by)));
        }
        all
    }
}

impl Visitor for Sides<'_> {
    fn num(&mut self, num: &Num) {
        match num {
            Num::Const(value) => self.numbers.push(*value),
            Num::Param(param) => {
                self.numbers.extend(self.policy.params.get(*param).map(|it| it.value));
            }
            Num::Times(_, by) => self.times.push(*by),
            Num::Over(_, by) => self.over.push(*by),
            Num::Weight => self.weight = true,
            Num::Queued(_) => self.length = true,
            Num::QueuedWeight(_) | Num::RunningWeight(_) => self.total = true,
            // What it was named for is not looked up.
            Num::Local(_) => (self.weight, self.length) = (true, true),
            _ => {}
        }
    }
}
