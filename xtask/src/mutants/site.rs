//! Every place of a policy's IR where something may be changed, in a fixed order.

use wastenot_rota::ir::{
    Attempt, Balance, Bool, Event, Level, Num, Place, Policy, Protocol, Queue, QueueAt, Set, Stmt,
    Variable,
};
use wastenot_rota::syntax::Span;

/// Where something was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// `wake 1 else 0 put`: the handler or balance, then the way down.
    pub text: String,
    /// The nearest text that the IR remembers.
    pub span: Span,
}

/// What is there to be changed.
pub(super) enum Part<'a> {
    /// A parameter.
    Param(&'a mut Variable),
    /// All handlers.
    Handlers(&'a mut [Vec<Stmt>; Event::COUNT]),
    /// A statement: its block, and which.
    Stmt(&'a mut Vec<Stmt>, usize),
    /// The same, and what the policy keeps of CPUs.
    Kept(&'a mut Vec<Stmt>, usize, &'a mut Vec<Variable>),
    /// The queues, and a balance that puts tasks into one of them.
    Into(&'a mut Vec<Queue>, &'a mut Balance),
    /// Where a CPU looks.
    Dispatch(&'a mut Vec<Attempt>),
    /// The protocol, and whether anybody balances.
    Protocol(&'a mut Protocol, bool),
    /// A balance.
    Balance(&'a mut Balance, When<'a>),
    /// A filter, re-check, or condition of a branch as a whole.
    Guard(&'a mut Bool),
    /// Each condition within a guard, itself first.
    Condition(&'a mut Bool),
    /// A number within a guard, or how many tasks a balance takes.
    Number(&'a mut Num),
    /// A place that a filter or a count reads, and that it may read instead.
    Read(&'a mut Place, Place),
}

/// When a balance is done.
pub(super) enum When<'a> {
    /// By a CPU that found nobody.
    Idle,
    /// Regularly.
    Every { period: &'a mut Num, leader: &'a mut Option<Level> },
}

type Tell<'t> = &'t mut dyn FnMut(&Site, Part<'_>);

/// The site of all handlers.
pub(super) const HANDLERS: &str = "handlers";

/// Tells about every part of `policy`, always in the same order.
pub(super) fn walk(policy: &mut Policy, tell: Tell<'_>) {
    let per: Vec<_> = policy.queues.iter().map(|queue| queue.per).collect();
    for param in &mut policy.params {
        let site = site(format!("parameter {}", param.name), param.span);
        tell(&site, Part::Param(param));
    }
    tell(&site(HANDLERS, policy.span), Part::Handlers(&mut policy.handlers));
    for event in Event::ALL {
        let body = &mut policy.handlers[event as usize];
        block(body, event.name(), policy.span, &mut policy.cpu_vars, tell);
    }
    tell(&site("dispatch", policy.span), Part::Dispatch(&mut policy.dispatch));
    let balances = policy.idle.is_some();
    tell(&site("protocol", policy.span), Part::Protocol(&mut policy.protocol, balances));
    if let Some(idle) = &mut policy.idle {
        tell(&site("balance idle", idle.spans.whole), Part::Balance(idle, When::Idle));
        balance(idle, "balance idle", (per[idle.from], Level::Cpu), tell);
    }
    for periodic in &mut policy.periodic {
        let span = periodic.balance.spans.whole;
        let (period, leader) = (&mut periodic.period, &mut periodic.leader);
        let when = When::Every { period, leader };
        tell(&site("balance every", span), Part::Balance(&mut periodic.balance, when));
        tell(&site("balance every", span), Part::Into(&mut policy.queues, &mut periodic.balance));
        let levels = (per[periodic.balance.from], per[periodic.balance.from]);
        balance(&mut periodic.balance, "balance every", levels, tell);
    }
}

fn site(text: impl Into<String>, span: Span) -> Site {
    Site { text: text.into(), span }
}

/// The expressions of a balance. `per` is the level of its candidates, `mine` that of who balances.
fn balance(balance: &mut Balance, text: &str, (per, mine): (Level, Level), tell: Tell<'_>) {
    let own = match per {
        Level::Machine => Place::Machine,
        _ if per == mine => Place::Me,
        _ => Place::Of(per, Box::new(Place::Me)),
    };
    let filter = site(format!("{text}: filter"), balance.spans.filter);
    guard(&mut balance.filter, &filter, tell);
    each_place(&mut balance.filter, &filter, &own, tell);
    let recheck = site(format!("{text}: re-check"), balance.spans.steal);
    guard(&mut balance.recheck, &recheck, tell);
    let count = site(format!("{text}: steal"), balance.spans.steal);
    number(&mut balance.count, &count, tell);
    num_places(&mut balance.count, &count, &own, tell);
}

fn block(block: &mut Vec<Stmt>, text: &str, near: Span, kept: &mut Vec<Variable>, tell: Tell<'_>) {
    // Who is told may change the block.
    let mut index = 0;
    while let Some(stmt) = block.get(index) {
        let span = match stmt {
            Stmt::Put(put) => put.span,
            Stmt::Run { span, .. } => *span,
            _ => near,
        };
        let text = format!("{text} {index}");
        let site = site(format!("{text} {}", noun(stmt)), span);
        tell(&site, Part::Kept(block, index, kept));
        tell(&site, Part::Stmt(block, index));
        if let Some(Stmt::If { condition, then, otherwise }) = block.get_mut(index) {
            guard(condition, &site, tell);
            self::block(then, &format!("{text} then"), near, kept, tell);
            self::block(otherwise, &format!("{text} else"), near, kept, tell);
        }
        index += 1;
    }
}

fn noun(stmt: &Stmt) -> &'static str {
    match stmt {
        Stmt::Claim { .. } => "claim",
        Stmt::Pick { .. } => "pick",
        Stmt::Let(..) => "let",
        Stmt::SetTask(..) => "set",
        Stmt::SetCpu { .. } => "set of CPU",
        Stmt::Put(_) => "put",
        Stmt::Run { .. } => "run",
        Stmt::Kick { .. } => "kick",
        Stmt::If { .. } => "if",
    }
}

fn guard(guard: &mut Bool, site: &Site, tell: Tell<'_>) {
    tell(site, Part::Guard(guard));
    condition(guard, site, tell);
}

fn condition(of: &mut Bool, site: &Site, tell: Tell<'_>) {
    tell(site, Part::Condition(of));
    match of {
        Bool::Compare(a, _, b) => {
            number(a, site, tell);
            number(b, site, tell);
        }
        Bool::And(a, b) | Bool::Or(a, b) => {
            condition(a, site, tell);
            condition(b, site, tell);
        }
        Bool::Not(inner) | Bool::Quantified { body: inner, .. } => condition(inner, site, tell),
        Bool::Const(_) | Bool::Idle(_) | Bool::Allowed(_) | Bool::Found(_) | Bool::Within(..) => {}
    }
}

fn number(of: &mut Num, site: &Site, tell: Tell<'_>) {
    tell(site, Part::Number(of));
    match of {
        Num::Add(a, b) | Num::Sub(a, b) | Num::Min(a, b) | Num::Max(a, b) | Num::Scaled(a, b) => {
            number(a, site, tell);
            number(b, site, tell);
        }
        Num::Times(a, _) | Num::Over(a, _) | Num::Until(a) | Num::Seen(_, a) => {
            number(a, site, tell);
        }
        Num::Decayed(a, b, c) => [a, b, c].into_iter().for_each(|num| number(num, site, tell)),
        Num::Fold { body, .. } => number(body, site, tell),
        Num::Count { body, .. } => condition(body, site, tell),
        _ => {}
    }
}

/// Every place that a condition reads, and what it may be mistaken for: my own for the candidate,
/// and the candidate for mine.
fn each_place(of: &mut Bool, site: &Site, own: &Place, tell: Tell<'_>) {
    match of {
        Bool::Const(_) | Bool::Found(_) => {}
        Bool::Compare(a, _, b) => {
            num_places(a, site, own, tell);
            num_places(b, site, own, tell);
        }
        Bool::And(a, b) | Bool::Or(a, b) => {
            each_place(a, site, own, tell);
            each_place(b, site, own, tell);
        }
        Bool::Not(inner) | Bool::Quantified { body: inner, .. } => {
            each_place(inner, site, own, tell);
        }
        Bool::Idle(place) | Bool::Allowed(place) => read(place, site, own, tell),
        Bool::Within(a, b) => {
            read(a, site, own, tell);
            read(b, site, own, tell);
        }
    }
}

fn num_places(of: &mut Num, site: &Site, own: &Place, tell: Tell<'_>) {
    match of {
        Num::CpuVar(_, place)
        | Num::Cpus(place)
        | Num::Running(place)
        | Num::RunningWeight(place) => read(place, site, own, tell),
        Num::Queued(QueueAt { at, .. })
        | Num::QueuedWeight(QueueAt { at, .. })
        | Num::MinKey(QueueAt { at, .. }) => read(at, site, own, tell),
        Num::Add(a, b) | Num::Sub(a, b) | Num::Min(a, b) | Num::Max(a, b) | Num::Scaled(a, b) => {
            num_places(a, site, own, tell);
            num_places(b, site, own, tell);
        }
        Num::Times(a, _) | Num::Over(a, _) | Num::Until(a) | Num::Seen(_, a) => {
            num_places(a, site, own, tell);
        }
        Num::Fold { set: Set::In(place), .. } | Num::Count { set: Set::In(place), .. } => {
            read(place, site, own, tell);
        }
        _ => {}
    }
}

fn read(place: &mut Place, site: &Site, own: &Place, tell: Tell<'_>) {
    let instead = if *place == Place::Other { own.clone() } else { Place::Other };
    tell(site, Part::Read(place, instead));
}
