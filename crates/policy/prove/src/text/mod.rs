//! What the text of a policy shows by itself, without any machine or solver; and its words.

mod compared;
mod hints;
mod own;
mod sets;
pub(crate) mod written;

use wastenot_rota::ir::visit_block;
use wastenot_rota::ir::{Balance, Bool, Comparison, Event, Num, Place, Policy, Stmt, Visitor};

pub(crate) use self::compared::{Compared, USUAL};
pub(crate) use self::hints::hint;
pub(crate) use self::own::{places_are_own, queues_are_own};
pub(crate) use self::sets::{Sets, begins};

/// Events that come without any of the kernel's, or because a handler took a CPU from a task, and
/// whose handlers may take one, too.
pub fn interrupting(policy: &Policy) -> Vec<Event> {
    struct Takes(bool);
    impl Visitor for Takes {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= matches!(stmt, Stmt::Kick { preempt: true, .. });
        }
    }
    let takes = |event: &Event| {
        let mut takes = Takes(false);
        visit_block(&policy.handlers[*event as usize], &mut takes);
        takes.0
    };
    let events = [Event::Start, Event::Stop, Event::Tick, Event::Preempt];
    events.into_iter().filter(takes).collect()
}

/// Whether a balance passes every candidate with a waiting task, and takes that task in any case.
pub(crate) fn is_plain(balance: &Balance) -> bool {
    let queued = |num: &Num| match num {
        Num::Queued(at) => at.queue == balance.from && at.at == Place::Other,
        _ => false,
    };
    let a_task_waits = match &balance.filter {
        Bool::Const(always) => *always,
        Bool::Compare(Num::Const(1), Comparison::LessOrEqual, many)
        | Bool::Compare(Num::Const(0), Comparison::Less | Comparison::NotEqual, many)
        | Bool::Compare(many, Comparison::NotEqual, Num::Const(0)) => queued(many),
        _ => false,
    };
    a_task_waits && balance.recheck == Bool::Const(true)
}
