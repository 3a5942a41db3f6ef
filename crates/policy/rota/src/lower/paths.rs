//! Every path through a handler: the path places its task once and uses every CPU that it claims.
//!
//! This is `no_lost_task` as a type check, after Bossa's event types (Muller, Lawall, Duchesne, "A
//! Framework for Simplifying the Development of Kernel Schedulers", HASE 2005): each event defines
//! where its task must be afterwards.

use std::collections::BTreeSet;

use super::statements::Spanned;
use crate::Diagnostic;
use crate::ir::{Bool, Event, Place, Stmt};
use crate::syntax::Span;

/// The maximum number of paths that differ in state; a handler with more is refused.
const PATHS: usize = 1024;

/// The state of one path so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Path {
    /// Where the task was placed.
    placed: Option<Span>,
    /// CPUs that were claimed, and where.
    claimed: Vec<(usize, Claimed, Span)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claimed {
    /// The path has not yet checked whether one was found.
    Unasked,
    /// One was found, and no task or kick was sent there.
    Found,
    /// One was found, and a task or kick was sent there.
    Sent,
    /// None was found.
    None,
}

/// Reports paths of a handler that place their task never or twice, and claimed CPUs that are not
/// used.
pub(super) fn check(
    statements: &[Spanned],
    event: Event,
    whole: Span,
    found: &mut Vec<Diagnostic>,
) {
    let mut checker = Checker { event, found };
    let ends = checker.block(statements, BTreeSet::from([Path::default()]));
    if ends.len() >= PATHS {
        let help = "simplify the handler: use fewer `if` statements after each other";
        let message = "the handler has too many paths";
        found.push(Diagnostic::new("R306", whole, message, "more than 1024 paths", help));
        return;
    }
    if event.places() && ends.iter().any(|path| path.placed.is_none()) {
        let message = format!("the task of `{}` is lost on some paths", event.name());
        let help = "on every path, put the task into a queue or run it on an idle CPU: `put t in \
                    home(t).ready`";
        found.push(Diagnostic::new(
            "R307",
            whole,
            message,
            "a path ends here without a placement",
            help,
        ));
    }
    let forgotten = |path: &Path| {
        let claims = path.claimed.iter();
        claims
            .clone()
            .find(|(_, state, _)| matches!(state, Claimed::Unasked | Claimed::Found))
            .map(|(.., span)| *span)
    };
    if let Some(span) = ends.iter().find_map(forgotten) {
        let message = "a CPU is claimed but not used, so no event wakes it";
        let help = "use the CPU: `if c { run t on c } else { ... }`, or `kick c`";
        found.push(Diagnostic::new("R308", span, message, "its idle flag is claimed here", help));
    }
}

struct Checker<'f> {
    event: Event,
    found: &'f mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn block(&mut self, statements: &[Spanned], mut paths: BTreeSet<Path>) -> BTreeSet<Path> {
        for statement in statements {
            paths = match &statement.branches {
                Some(branches) => {
                    let (yes, no) = split(&branches.condition, paths);
                    let mut joined = self.block(&branches.then, yes);
                    joined.extend(self.block(&branches.otherwise, no));
                    joined
                }
                None => self.statement(statement, paths),
            };
            if paths.len() >= PATHS {
                return paths;
            }
        }
        paths
    }

    fn statement(&mut self, statement: &Spanned, paths: BTreeSet<Path>) -> BTreeSet<Path> {
        let span = statement.span;
        match &statement.stmt {
            Stmt::Put(_) => self.place(span, paths, None),
            Stmt::Run { slot, .. } => {
                self.found(*slot, span, &paths);
                self.place(span, paths, Some(*slot))
            }
            Stmt::Claim { slot, .. } => map(paths, |path| {
                path.claimed.push((*slot, Claimed::Unasked, span));
            }),
            Stmt::Kick { cpu: Place::Slot(slot), .. } => send(paths, *slot),
            Stmt::SetTask(..) => {
                if let Some(placed) = paths.iter().find_map(|path| path.placed) {
                    let message = "the task is already in a queue, where other CPUs can read its \
                                   variables";
                    let help = "set the variables before you put the task into the queue";
                    let fault = Diagnostic::new("R309", span, message, "set here", help);
                    self.found.push(fault.and(placed, "put into the queue here"));
                }
                paths
            }
            _ => paths,
        }
    }

    /// The CPU is always known to be found here: otherwise its name would not be in scope.
    fn found(&mut self, slot: usize, span: Span, paths: &BTreeSet<Path>) {
        let none = |path: &Path| {
            let found = |claim: &&(usize, Claimed, Span)| claim.0 == slot;
            let claim = path.claimed.iter().rev().find(found);
            !claim.is_some_and(|claim| matches!(claim.1, Claimed::Found | Claimed::Sent))
        };
        if paths.iter().any(none) {
            let message = "the search may have found no idle CPU";
            let help = "test it first: `if c { run t on c } else { ... }`";
            self.found.push(Diagnostic::new("R301", span, message, "maybe no CPU", help));
        }
    }

    fn place(&mut self, span: Span, paths: BTreeSet<Path>, slot: Option<usize>) -> BTreeSet<Path> {
        if !self.event.places() {
            let message = format!("the event `{}` must not place a task", self.event.name());
            let help = match self.event {
                Event::Block | Event::Exit => "remove this statement: the task sleeps or has ended",
                _ => {
                    "remove this statement: the task is running, and the handler of `preempt` or \
                     `yield` places it later"
                }
            };
            self.found.push(Diagnostic::new("R310", span, message, "not allowed here", help));
        } else if let Some(first) = paths.iter().find_map(|path| path.placed) {
            let message = "a path places the task twice";
            let help = "remove one of the two statements, or move them into different branches of \
                        an `if`";
            let fault = Diagnostic::new("R307", span, message, "second placement", help);
            self.found.push(fault.and(first, "first placement"));
        }
        let placed = map(paths, |path| path.placed = Some(span));
        match slot {
            Some(slot) => send(placed, slot),
            None => placed,
        }
    }
}

/// The paths that enter each branch: in each, it is known whether a CPU was found.
fn split(condition: &Bool, paths: BTreeSet<Path>) -> (BTreeSet<Path>, BTreeSet<Path>) {
    let Bool::Found(slot) = condition else { return (paths.clone(), paths) };
    let with = |state: Claimed| {
        let known = |path: &mut Path| {
            path.claimed.iter_mut().filter(|claim| claim.0 == *slot).for_each(|claim| {
                if claim.1 == Claimed::Unasked {
                    claim.1 = state;
                }
            });
        };
        // A second check of the same claim has the same result.
        let none = state == Claimed::None;
        let other =
            |claim: &(usize, Claimed, Span)| claim.0 == *slot && (claim.1 == Claimed::None) != none;
        let mut paths = map(paths.clone(), known);
        paths.retain(|path| !path.claimed.iter().any(other));
        paths
    };
    (with(Claimed::Found), with(Claimed::None))
}

fn send(paths: BTreeSet<Path>, slot: usize) -> BTreeSet<Path> {
    map(paths, |path| {
        path.claimed.iter_mut().filter(|claim| claim.0 == slot).for_each(|claim| {
            claim.1 = Claimed::Sent;
        });
    })
}

fn map(paths: BTreeSet<Path>, change: impl Fn(&mut Path)) -> BTreeSet<Path> {
    let changed = paths.into_iter().map(|mut path| {
        change(&mut path);
        path
    });
    changed.collect()
}
