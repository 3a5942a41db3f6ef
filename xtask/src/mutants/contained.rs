//! Whether a mutant does nothing that the original may not do, as far as claims see: then what is
//! claimed of all that the original may do holds of the mutant, too.
//!
//! That is so if each of its puts is one that the original may make of the same task, when some
//! event happens to it, and each move of its periodic balancing is one that the original may make
//! in the same state. All else has to be the same.

use wastenot_rota::ir::{Balance, Bool, Event, Policy, Stmt, Visitor, visit_block};

use super::equivalent::{Scripts, nothing_satisfies};
use super::seen::{keys_matter, seen};
use wastenot_prove::encode::{Encoder, Names, NotEncoded};
use wastenot_prove::explore::moves_somebody;
use wastenot_prove::interrupting;
use wastenot_prove::obligations::{Site, candidate_of, sites};
use wastenot_prove::smt::{Script, Term, and, at_most, int, not, or};
use wastenot_prove::{Error, Options};

/// Whether solvers say that `mutant` stays within what `original` may do. That it takes CPUs from
/// tasks at more events is more, whoever is placed then: `rounds` does not allow all of them.
pub(super) fn contained(
    original: &Policy,
    mutant: &Policy,
    options: &Options,
) -> Result<bool, Error> {
    let allowed = interrupting(original);
    if interrupting(mutant).iter().any(|event| !allowed.contains(event)) {
        return Ok(false);
    }
    match beyond(&seen(original), &seen(mutant)) {
        Some(scripts) => nothing_satisfies(scripts, original.span, options),
        None => Ok(false),
    }
}

/// What would have to happen that `ours` does not allow. `None`: they differ in more than that.
fn beyond(ours: &Policy, theirs: &Policy) -> Option<Scripts> {
    let mut rest = theirs.clone();
    let mut scripts = Vec::new();
    if ours.handlers != theirs.handlers {
        if !only_place(ours, theirs) {
            return None;
        }
        scripts.extend(sites(theirs).iter().map(|site| puts(ours, site)));
        rest.handlers.clone_from(&ours.handlers);
    }
    for (n, our) in ours.periodic.iter().enumerate() {
        let their = theirs.periodic.get(n)?;
        if our != their {
            // Nobody is moved: that is less, but not what `settles` says.
            if moves_somebody(theirs, their, 0) != Some(true) {
                return None;
            }
            scripts.push(moves(ours, &our.balance, &their.balance));
            let kept = &mut rest.periodic[n].balance;
            kept.levels.clone_from(&our.balance.levels);
            kept.filter.clone_from(&our.balance.filter);
            kept.count.clone_from(&our.balance.count);
            kept.recheck.clone_from(&our.balance.recheck);
        }
    }
    (rest == *ours).then_some(scripts)
}

/// Whether handlers that differ do nothing but place tasks, in ways that no other condition decides
/// than whether an idle CPU was found; and run them directly only if the original does.
fn only_place(ours: &Policy, theirs: &Policy) -> bool {
    let differ = |event: &Event| ours.handlers[*event as usize] != theirs.handlers[*event as usize];
    let differ: Vec<Event> = Event::ALL.into_iter().filter(differ).collect();
    let (before, after) = (Does::of(&ours.handlers), Does::of(&theirs.handlers));
    let sets = differ.iter().any(|event| {
        let both = [&ours.handlers, &theirs.handlers];
        both.into_iter().any(|handlers| Does::of(&handlers[*event as usize..][..1]).sets)
    });
    // Of keys it is claimed how far behind a task is put that is new or wakes.
    let wakes = differ.iter().any(|event| matches!(event, Event::New | Event::Wake));
    let keys = keys_matter(ours) && wakes;
    let more =
        [(before.runs, after.runs), (before.kicks, after.kicks), (before.endless, after.endless)];
    !(sets || keys || before.asks || more.iter().any(|(before, after)| *after && !before))
}

/// What some handlers do.
#[derive(Default)]
struct Does {
    sets: bool,
    runs: bool,
    kicks: bool,
    /// They run a task for as long as it wants.
    endless: bool,
    /// Something else than whether an idle CPU was found decides what they do.
    asks: bool,
}

impl Does {
    fn of(handlers: &[Vec<Stmt>]) -> Does {
        let mut does = Does::default();
        handlers.iter().for_each(|handler| visit_block(handler, &mut does));
        does
    }
}

impl Visitor for Does {
    fn stmt(&mut self, stmt: &Stmt) {
        self.sets |= matches!(stmt, Stmt::SetTask(..) | Stmt::SetCpu { .. } | Stmt::Let(..));
        self.runs |= matches!(stmt, Stmt::Run { .. });
        self.kicks |= matches!(stmt, Stmt::Kick { .. });
        self.endless |= matches!(stmt, Stmt::Run { slice: None, .. });
        if let Stmt::If { condition, then, otherwise } = stmt {
            let mut branches = then.iter().chain(otherwise);
            self.asks |= !matches!(condition, Bool::Found(_));
            // Of branches within branches some may never be taken.
            self.asks |= branches.any(|stmt| matches!(stmt, Stmt::If { .. }));
        }
    }
}

/// A task that `site` puts where no put of `ours` may put it, or wakes nobody as far as that would.
fn puts(ours: &Policy, site: &Site<'_>) -> Result<Script, NotEncoded> {
    let put = site.put;
    let mut encoder = Encoder::new(ours, "Not so: the original may put the task there, too.");
    let names = site.names(&mut encoder, "put");
    let target = site.target(&mut encoder, &names)?;
    let mut ways = Vec::new();
    for other in sites(ours) {
        let like = other.put.queue.queue == put.queue.queue && other.put.slice == put.slice;
        if like && other.put.wake <= put.wake {
            ways.push(other.may_put(&mut encoder, &names, &target)?);
        }
    }
    encoder.assert("No put of the original does.", not(or(ways)));
    Ok(encoder.finish())
}

/// A move that `theirs` makes and `ours` does not.
fn moves(policy: &Policy, ours: &Balance, theirs: &Balance) -> Result<Script, NotEncoded> {
    let mut encoder = Encoder::new(policy, "Not so: the original may move the task, too.");
    let per = policy.queues[ours.from].per;
    let (me, cpu) = (encoder.cpu("me"), encoder.cpu("v"));
    let names = Names {
        me: Some((per, me.clone())),
        other: Some((per, cpu.clone())),
        here: Some(me),
        ..Names::default()
    };
    let (their, our) = (
        may_move(&mut encoder, theirs, &names, &cpu)?,
        may_move(&mut encoder, ours, &names, &cpu)?,
    );
    encoder.assert("The mutant moves one.", their);
    encoder.assert("The original moves none.", not(our));
    Ok(encoder.finish())
}

fn may_move(
    encoder: &mut Encoder<'_>,
    balance: &Balance,
    names: &Names,
    cpu: &Term,
) -> Result<Term, NotEncoded> {
    let candidate = candidate_of(encoder, balance, names, cpu);
    let filter = encoder.bool(&balance.filter, names)?;
    let count = encoder.num(&balance.count, names)?;
    let recheck = encoder.bool(&balance.recheck, names)?;
    Ok(and([candidate, filter, at_most(int(1), count), recheck]))
}
