//! Policies built by hand, in the intermediate form.

use wastenot_rota::ir::{
    Attempt, Balance, BalanceSpans, Bool, Choose, Comparison, Dimension, Event, Level, Num,
    Periodic, Place, Policy, Program, Protocol, Put, Queue, QueueAt, Stmt, Variable, Writer,
};
use wastenot_rota::syntax::Span;

fn var(name: &str, dimension: Dimension, value: i64, writer: Writer) -> Variable {
    Variable { name: name.into(), dimension, value, writer, span: Span::default() }
}
fn time(name: &str, ms: i64) -> Variable {
    var(name, Dimension::Time, ms * 1_000_000, Writer::Constant)
}

/// A policy that does nothing.
pub(crate) fn nothing(name: &str) -> Policy {
    Policy {
        name: name.into(),
        params: Vec::new(),
        task_vars: Vec::new(),
        cpu_vars: Vec::new(),
        queues: Vec::new(),
        handlers: Default::default(),
        dispatch: Vec::new(),
        idle: None,
        periodic: Vec::new(),
        protocol: Protocol::default(),
        claims: Vec::new(),
        span: Span::default(),
    }
}

fn queue_at(at: Place) -> QueueAt {
    QueueAt { queue: 0, at }
}
fn put() -> Stmt {
    let (slice, wake) = (Some(Num::Param(0)), Level::Machine);
    Stmt::Put(Put { queue: queue_at(Place::Home), slice, wake, span: Span::default() })
}
/// Onto the nearest idle CPU, else into the queue at home.
fn idle_or_put() -> Vec<Stmt> {
    let by = vec![Level::Smt, Level::Llc, Level::Node, Level::Machine];
    let run = Stmt::Run { slot: 0, slice: Some(Num::Param(0)), span: Span::default() };
    let (condition, then, otherwise) = (Bool::Found(0), vec![run], vec![put()]);
    vec![
        Stmt::Claim { slot: 0, within: None, near: Place::Prev, by },
        Stmt::If { condition, then, otherwise },
    ]
}
fn queued(at: Place) -> Num {
    Num::Queued(queue_at(at))
}
fn at_least(a: Num, least: i64) -> Bool {
    Bool::Compare(Num::Const(least), Comparison::LessOrEqual, a)
}
fn balance(levels: &[Level], filter: Bool) -> Balance {
    Balance {
        levels: levels.to_vec(),
        from: 0,
        filter,
        choose: Choose::Best { key: queued(Place::Other), greatest: true, near: true },
        count: Num::Const(1),
        into: None,
        recheck: Bool::Const(true),
        rebase: None,
        retry: None,
        spans: BalanceSpans::default(),
    }
}
fn dispatch() -> Vec<Attempt> {
    vec![Attempt::Take(queue_at(Place::Me), Span::default()), Attempt::Balance]
}
fn queue(name: &str, key: Option<usize>, per: Level) -> Queue {
    Queue { name: name.into(), key, per, span: Span::default() }
}
pub(crate) fn program(policy: Policy) -> Program {
    Program { policies: vec![policy], partitions: Vec::new() }
}

/// Example A: a queue for each CPU, whoever is idle steals from the longest.
pub(crate) fn work_stealing() -> Policy {
    let mut policy = nothing("ws");
    policy.params = vec![time("slice", 20)];
    policy.queues = vec![queue("ready", None, Level::Cpu)];
    for event in [Event::New, Event::Wake] {
        policy.handlers[event as usize] = idle_or_put();
    }
    for event in [Event::Preempt, Event::Yield] {
        policy.handlers[event as usize] = vec![put()];
    }
    policy.dispatch = dispatch();
    policy.idle = Some(balance(&[Level::Machine], at_least(queued(Place::Other), 1)));
    policy
}

/// Example B: virtual time, a queue for each cache; idle CPUs take from others, a leader evens out.
pub(crate) fn virtual_time() -> Policy {
    let (slice, lag, vt) = (0, 1, 0);
    let mut policy = nothing("vrt");
    policy.params = vec![time("slice", 5), time("lag", 20)];
    policy.task_vars = vec![var("vt", Dimension::Time, 0, Writer::Queue)];
    policy.queues = vec![queue("q", Some(vt), Level::Llc)];
    let least = Num::MinKey(queue_at(Place::Home));
    let behind = Num::Sub(Box::new(least), Box::new(Num::Param(lag)));
    let wakes = Stmt::SetTask(vt, Num::Max(Box::new(Num::TaskVar(vt)), Box::new(behind)));
    for event in [Event::New, Event::Wake] {
        policy.handlers[event as usize] = [vec![wakes.clone()], idle_or_put()].concat();
    }
    let paid = Num::Scaled(Box::new(Num::Ran), Box::new(Num::Weight));
    let paid = Num::Add(Box::new(Num::TaskVar(vt)), Box::new(paid));
    policy.handlers[Event::Stop as usize] = vec![Stmt::SetTask(vt, paid)];
    for event in [Event::Preempt, Event::Yield] {
        policy.handlers[event as usize] = vec![put()];
    }
    debug_assert_eq!(slice, 0);
    policy.dispatch = dispatch();
    let idle = balance(&[Level::Node, Level::Machine], at_least(queued(Place::Other), 1));
    policy.idle = Some(Balance { rebase: Some(vt), ..idle });
    let more = || Num::Sub(Box::new(queued(Place::Other)), Box::new(queued(Place::Me)));
    let half = Num::Over(Box::new(more()), 2);
    let regular = Balance {
        count: Num::Min(Box::new(Num::Const(8)), Box::new(half)),
        into: Some(0),
        rebase: Some(vt),
        ..balance(&[Level::Node], at_least(more(), 2))
    };
    let (period, leader) = (Num::Const(50_000_000), Some(Level::Llc));
    policy.periodic = vec![Periodic { period, leader, balance: regular }];
    policy
}
