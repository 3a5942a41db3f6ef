//! Numbers of a text, as far as the log tells them.

use wastenot_rota::eval::Domain;
use wastenot_rota::ir::{Num, Policy};

use crate::explore::range::{Range, Ranges};

/// What is known of a task; everything else may be any number.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) policy: &'a Policy,
    /// Its variables; of those that are missing nothing is known.
    pub(super) vars: &'a [Range],
    /// For how long it ran.
    pub(super) ran: Range,
}

/// Weights of tasks.
const WEIGHTS: Range = Range { least: 1, most: 10_000 };

impl Known<'_> {
    /// Between what a number lies.
    pub(super) fn number(self, num: &Num) -> Range {
        let of = |num: &Num| self.number(num);
        match num {
            Num::Const(value) => Range::point(*value),
            Num::Param(param) => {
                self.policy.params.get(*param).map_or(Range::ANY, |it| Range::point(it.value))
            }
            Num::TaskVar(var) => self.vars.get(*var).copied().unwrap_or(Range::ANY),
            Num::Weight => WEIGHTS,
            Num::Ran => self.ran,
            Num::Add(a, b) => Ranges::add(of(a), of(b)),
            Num::Sub(a, b) => Ranges::sub(of(a), of(b)),
            Num::Min(a, b) => Ranges::min(of(a), of(b)),
            Num::Max(a, b) => Ranges::max(of(a), of(b)),
            Num::Times(a, by) => Ranges::times(of(a), *by),
            Num::Over(a, by) => Ranges::over(of(a), *by),
            Num::Scaled(time, weight) => Ranges::scaled(of(time), of(weight)),
            Num::Until(period) => Ranges::until(Range::COUNT, of(period)),
            _ => Range::ANY,
        }
    }
}
