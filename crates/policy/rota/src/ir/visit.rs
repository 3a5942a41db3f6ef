//! A visitor for every part of a policy.

use super::{Attempt, Balance, Bool, Choose, Level, Num, Place, Policy, QueueAt, Set, Stmt};

/// Receives the parts of a policy, outer ones before inner ones.
pub trait Visitor {
    /// A level that a queue, a balance, a place, a wakeup or a leader names. Levels that only order
    /// by nearness are not visited.
    fn level(&mut self, _: Level) {}
    /// A number.
    fn num(&mut self, _: &Num) {}
    /// A condition.
    fn bool(&mut self, _: &Bool) {}
    /// A place.
    fn place(&mut self, _: &Place) {}
    /// A queue, with its place.
    fn queue(&mut self, _: &QueueAt) {}
    /// A statement.
    fn stmt(&mut self, _: &Stmt) {}
}

/// Visits all of `policy`.
pub fn visit(policy: &Policy, visitor: &mut impl Visitor) {
    policy.queues.iter().for_each(|queue| visitor.level(queue.per));
    for handler in &policy.handlers {
        visit_block(handler, visitor);
    }
    for attempt in &policy.dispatch {
        if let Attempt::Take(queue, _) = attempt {
            visit_queue(queue, visitor);
        }
    }
    policy.idle.iter().for_each(|balance| visit_balance(balance, visitor));
    for periodic in &policy.periodic {
        visit_num(&periodic.period, visitor);
        periodic.leader.iter().for_each(|level| visitor.level(*level));
        visit_balance(&periodic.balance, visitor);
    }
}

/// Visits a balance.
pub fn visit_balance(balance: &Balance, visitor: &mut impl Visitor) {
    balance.levels.iter().for_each(|level| visitor.level(*level));
    visit_bool(&balance.filter, visitor);
    if let Choose::Best { key, .. } = &balance.choose {
        visit_num(key, visitor);
    }
    visit_num(&balance.count, visitor);
    visit_bool(&balance.recheck, visitor);
}

/// Visits statements.
pub fn visit_block(block: &[Stmt], visitor: &mut impl Visitor) {
    for stmt in block {
        visitor.stmt(stmt);
        match stmt {
            Stmt::Claim { within, near, .. } => {
                within.iter().for_each(|level| visitor.level(*level));
                visit_place(near, visitor);
            }
            Stmt::Pick { set, key, .. } => {
                visit_set(set, visitor);
                visit_num(key, visitor);
            }
            Stmt::Let(_, num) | Stmt::SetTask(_, num) => visit_num(num, visitor),
            Stmt::SetCpu { cpu, value, .. } => {
                visit_place(cpu, visitor);
                visit_num(value, visitor);
            }
            Stmt::Put(put) => {
                visitor.level(put.wake);
                visit_queue(&put.queue, visitor);
                put.slice.iter().for_each(|num| visit_num(num, visitor));
            }
            Stmt::Run { slice, .. } => slice.iter().for_each(|num| visit_num(num, visitor)),
            Stmt::Kick { cpu, .. } => visit_place(cpu, visitor),
            Stmt::If { condition, then, otherwise } => {
                visit_bool(condition, visitor);
                visit_block(then, visitor);
                visit_block(otherwise, visitor);
            }
        }
    }
}

/// Visits a number and all its parts.
pub fn visit_num(num: &Num, visitor: &mut impl Visitor) {
    visitor.num(num);
    match num {
        Num::CpuVar(_, place)
        | Num::Cpus(place)
        | Num::Running(place)
        | Num::RunningWeight(place) => visit_place(place, visitor),
        Num::Queued(queue) | Num::QueuedWeight(queue) | Num::MinKey(queue) => {
            visit_queue(queue, visitor);
        }
        Num::Add(a, b) | Num::Sub(a, b) | Num::Min(a, b) | Num::Max(a, b) | Num::Scaled(a, b) => {
            visit_num(a, visitor);
            visit_num(b, visitor);
        }
        Num::Times(a, _) | Num::Over(a, _) | Num::Until(a) | Num::Seen(_, a) => {
            visit_num(a, visitor);
        }
        Num::Decayed(a, b, c) => [a, b, c].into_iter().for_each(|num| visit_num(num, visitor)),
        Num::Fold { set, body, .. } => {
            visit_set(set, visitor);
            visit_num(body, visitor);
        }
        Num::Count { set, body, .. } => {
            visit_set(set, visitor);
            visit_bool(body, visitor);
        }
        Num::Const(_)
        | Num::Param(_)
        | Num::Local(_)
        | Num::TaskVar(_)
        | Num::Weight
        | Num::Job
        | Num::Ran
        | Num::Now => {}
    }
}

/// Visits a condition and all its parts.
pub fn visit_bool(condition: &Bool, visitor: &mut impl Visitor) {
    visitor.bool(condition);
    match condition {
        Bool::Const(_) | Bool::Found(_) => {}
        Bool::Compare(a, _, b) => {
            visit_num(a, visitor);
            visit_num(b, visitor);
        }
        Bool::And(a, b) | Bool::Or(a, b) => {
            visit_bool(a, visitor);
            visit_bool(b, visitor);
        }
        Bool::Not(a) => visit_bool(a, visitor),
        Bool::Idle(place) | Bool::Allowed(place) => visit_place(place, visitor),
        Bool::Within(a, b) => {
            visit_place(a, visitor);
            visit_place(b, visitor);
        }
        Bool::Quantified { set, body, .. } => {
            visit_set(set, visitor);
            visit_bool(body, visitor);
        }
    }
}

/// Visits a queue and its place.
pub fn visit_queue(queue: &QueueAt, visitor: &mut impl Visitor) {
    visitor.queue(queue);
    visit_place(&queue.at, visitor);
}

fn visit_set(set: &Set, visitor: &mut impl Visitor) {
    if let Set::In(place) = set {
        visit_place(place, visitor);
    }
}

fn visit_place(place: &Place, visitor: &mut impl Visitor) {
    visitor.place(place);
    if let Place::Of(level, inner) = place {
        visitor.level(*level);
        visit_place(inner, visitor);
    }
}
