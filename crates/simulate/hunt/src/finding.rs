//! Findings: a candidate is there with three seeds and disappears in a control.
//!
//! The control of waste is the same work with one change to the scheduler that should remove the
//! loss of its cause, where one is known ([`wastenot_experiment::confirm`]): the loss must shrink
//! to a fifth. Where none is known, it is the same work under the reference scheduler, which wastes
//! nothing by definition: the work must then be done in less time, so the loss had a price.
//!
//! A policy that claims not to waste needs no price, and losses that are no waste have none: the
//! reference must have little of them. Of late jobs the control is another real-time scheduler,
//! and of work that is worse than under another scheduler it is that one.

use wastenot_experiment::confirm::{Change, removing};
use wastenot_experiment::{Error, YARDSTICK, label};
use wastenot_scenario::scenario::Choice;

use crate::genome::Genome;
use crate::oracle::{Kind, Loss, Promise, asked, losses, worse};
use crate::trial::{Ended, Seen};

/// Seeds with which a loss must be there.
pub const SEEDS: [u64; 3] = [1, 2, 3];
/// What may be left of a loss in a control.
pub const LEFT: f64 = 0.2;
/// In what part of the time the reference must do the work.
const FASTER: f64 = 0.95;

/// A loss that was confirmed.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The work and the machine.
    pub genome: Genome,
    /// The cause, a path in the tree.
    pub cause: String,
    /// How it breaks a promise.
    pub kind: Kind,
    /// How much it is ([`Loss::share`]), what is least of a loss in all seeds.
    pub share: f64,
    /// The longest stretch ([`Loss::longest`]), the least of all seeds, in ns.
    pub longest_ns: u64,
    /// The least grade of all seeds.
    pub grade: f64,
    /// In what it disappeared.
    pub control: Control,
    /// What of the CPU time that tasks used was wasted, by whatever cause: the least of all seeds,
    /// and the most of all in the control.
    pub wasted: (f64, f64),
    /// How much longer it took than the control, the least of all seeds.
    pub longer: f64,
}

/// What removed a loss.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// One change to the scheduler.
    Change(Change),
    /// The reference, which did the work in less time.
    Reference,
    /// The reference, which has none of it.
    Clean,
    /// The scheduler that this one is held against.
    Other(Box<Choice>),
}

impl Control {
    /// Whether it is a change to the scheduler.
    pub fn is_change(&self) -> bool {
        matches!(self, Control::Change(..))
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Control::Change(change) => change.label(),
            Control::Reference | Control::Clean => YARDSTICK.to_owned(),
            Control::Other(other) => label(other),
        }
    }
}

/// What a genome shows under a scheduler: one look for each seed.
pub type Look<'l> = dyn Fn(&Genome, &Choice, &[u64]) -> Result<Vec<Seen>, Error> + 'l;

/// What each cause of a loss of a genome is graded, the greatest first, where the scheduler notes
/// what it decides: from 1 on it may be a finding.
///
/// # Errors
/// Those of `look`.
pub(crate) fn graded(
    genome: &Genome,
    promise: &Promise,
    look: &Look<'_>,
) -> Result<Vec<(String, f64)>, Error> {
    let seen = look(genome, &promise.choice, &SEEDS[..1])?;
    let than =
        promise.against.as_ref().map(|other| look(genome, other, &SEEDS[..1])).transpose()?;
    let losses = asked(&seen[0], than.as_ref().map(|it| &it[0]), genome, promise);
    Ok(losses.iter().map(|it| (it.cause.to_owned(), it.grade)).collect())
}

/// How near the loss of `genome` by `cause` is to a finding, with the first seed: what it is
/// graded, up to 1, and how much of it the best change removes. 0 if it has none.
///
/// # Errors
/// Those of `look`.
pub fn nearness(
    genome: &Genome,
    cause: &str,
    promise: &Promise,
    look: &Look<'_>,
) -> Result<f64, Error> {
    let losses = graded(genome, promise, look)?;
    let grade = losses.into_iter().find(|it| it.0 == cause).map_or(0.0, |(_, grade)| grade);
    if grade < 1.0 || promise.against.is_some() {
        return Ok(grade.min(1.0));
    }
    let before = look(genome, &promise.choice, &SEEDS[..1])?;
    let mut best = 0.0_f64;
    for (_, with) in removing(cause, &promise.choice) {
        let after = look(genome, &with, &SEEDS[..1])?;
        best = best.max(removed(cause, &before[0], &after[0]).clamp(0.0, 1.0));
    }
    Ok(1.0 + best)
}

/// Whether the loss of `genome` by `cause` is a finding.
///
/// # Errors
/// Those of `look`.
pub fn confirm(
    genome: &Genome,
    cause: &str,
    promise: &Promise,
    look: &Look<'_>,
) -> Result<Option<Finding>, Error> {
    let choice = &promise.choice;
    if let Some(other) = &promise.against {
        return held_against(genome, cause, (choice, other), look);
    }
    // Most that are no finding show it with the first seed.
    let first = look(genome, choice, &SEEDS[..1])?;
    if !first.iter().all(|seen| losses(seen, genome, promise).iter().any(|it| is(it, cause))) {
        return Ok(None);
    }
    let before = [first, look(genome, choice, &SEEDS[1..])?].concat();
    let all: Vec<Vec<Loss<'_>>> = before.iter().map(|seen| losses(seen, genome, promise)).collect();
    let firing: Option<Vec<Loss<'_>>> =
        all.iter().map(|all| all.iter().find(|it| is(it, cause)).copied()).collect();
    let Some(firing) = firing else { return Ok(None) };
    let is_worst = all.iter().all(|all| all[0].cause == cause);
    let kind = firing[0].kind;
    let controlled = match kind {
        Kind::Misses => punctual(genome, choice, look)?,
        _ if !kind.is_waste() || promise.is_claimed() => {
            cleared(genome, cause, promise, &firing, look)?
        }
        _ => match changed(genome, cause, choice, &before, look)? {
            // What the reference saves is that of the worst loss.
            None if is_worst && removing(cause, choice).is_empty() => {
                referred(genome, &before, look)?
            }
            found => found,
        },
    };
    let Some((control, after)) = controlled else { return Ok(None) };
    let kind = if firing.iter().all(|it| it.kind == kind) { kind } else { Kind::Recurs };
    Ok(Some(found(genome, (cause, kind), &firing, (&before, &after), control)))
}

/// The finding of a loss with all seeds, `before` and in the control.
fn found(
    genome: &Genome,
    (cause, kind): (&str, Kind),
    firing: &[Loss<'_>],
    (before, after): (&[Seen], &[Seen]),
    control: Control,
) -> Finding {
    let least = |of: &mut dyn Iterator<Item = f64>| of.fold(f64::INFINITY, f64::min);
    let shares = || firing.iter().map(|it| it.share);
    let longer = before.iter().zip(after).map(|(before, after)| {
        if after.ended != Ended::Done {
            return 0.0;
        }
        before.time_ns as f64 / after.time_ns.max(1) as f64
    });
    Finding {
        genome: genome.clone(),
        cause: cause.to_owned(),
        kind,
        // The less a task gets, the more unfair it is.
        share: match kind {
            Kind::Unfair => shares().fold(0.0, f64::max),
            _ => least(&mut shares()),
        },
        longest_ns: firing.iter().map(|it| it.longest.0).min().unwrap_or(0),
        grade: least(&mut firing.iter().map(|it| it.grade)),
        control,
        wasted: (
            least(&mut before.iter().map(Seen::wasted)),
            after.iter().map(Seen::wasted).fold(0.0, f64::max),
        ),
        longer: least(&mut { longer }),
    }
}

/// A control that has not got the loss, and what it showed with each seed.
type Controlled = Option<(Control, Vec<Seen>)>;

/// Whether the work is worse than under another scheduler, with all seeds.
fn held_against(
    genome: &Genome,
    cause: &str,
    (choice, other): (&Choice, &Choice),
    look: &Look<'_>,
) -> Result<Option<Finding>, Error> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    // Most that are no finding show it with the first seed.
    for seed in &SEEDS {
        before.extend(look(genome, choice, &[*seed])?);
        after.extend(look(genome, other, &[*seed])?);
        let pair = before.last().zip(after.last());
        if !pair.is_some_and(|(seen, than)| worse(seen, than).iter().any(|it| is(it, cause))) {
            return Ok(None);
        }
    }
    let all = before.iter().zip(&after);
    let firing =
        all.flat_map(|(seen, than)| worse(seen, than).into_iter().find(|it| is(it, cause)));
    let firing: Vec<Loss<'_>> = firing.collect();
    let control = Control::Other(Box::new(other.clone()));
    Ok(Some(found(genome, (cause, Kind::Worse), &firing, (&before, &after), control)))
}

/// Whether a loss is one by this cause that may be a finding.
fn is(loss: &Loss<'_>, cause: &str) -> bool {
    loss.cause == cause && loss.grade >= 1.0
}

/// The change that removes the loss, if one does.
fn changed(
    genome: &Genome,
    cause: &str,
    choice: &Choice,
    before: &[Seen],
    look: &Look<'_>,
) -> Result<Controlled, Error> {
    for (change, with) in removing(cause, choice) {
        let after = look(genome, &with, &SEEDS)?;
        if before.iter().zip(&after).all(|(before, after)| removed(cause, before, after) >= 1.0) {
            return Ok(Some((Control::Change(change), after)));
        }
    }
    Ok(None)
}

/// How much of a loss is removed: from 1 on, as much as a control has to.
fn removed(cause: &str, before: &Seen, after: &Seen) -> f64 {
    let took = |seen: &Seen| {
        let took = seen.causes.iter().find(|it| it.cause == cause);
        took.map_or(0, |it| it.ns) as f64
    };
    let (before_ns, after_ns) = (took(before), took(after));
    if !after.is_sound() || before_ns <= 0.0 {
        return 0.0;
    }
    let saved_ns = before.waste_ns as f64 - after.waste_ns as f64;
    // Half of it at least did not only get another cause.
    let of_cause = (before_ns - after_ns) / ((1.0 - LEFT) * before_ns);
    of_cause.min(saved_ns / (before_ns / 2.0))
}

/// The reference, if it does the work in less time.
fn referred(genome: &Genome, before: &[Seen], look: &Look<'_>) -> Result<Controlled, Error> {
    let after = look(genome, &Choice::named(YARDSTICK), &SEEDS)?;
    let is_faster = |(before, after): (&Seen, &Seen)| {
        after.ended == Ended::Done && after.time_ns as f64 <= FASTER * before.time_ns as f64
    };
    let all = before.iter().zip(&after).all(is_faster);
    Ok(all.then_some((Control::Reference, after)))
}

/// The reference, if it has little of it: the work does not ask for the loss.
fn cleared(
    genome: &Genome,
    cause: &str,
    promise: &Promise,
    firing: &[Loss<'_>],
    look: &Look<'_>,
) -> Result<Controlled, Error> {
    let after = look(genome, &Choice::named(YARDSTICK), &SEEDS)?;
    let is_gone = |(loss, after): (&Loss<'_>, &Seen)| {
        let left = losses(after, genome, promise);
        let same = |it: &&Loss<'_>| match loss.kind.is_waste() {
            true => it.kind.is_waste(),
            false => it.cause == cause,
        };
        let left = left.iter().filter(same).map(|it| it.grade).fold(0.0, f64::max);
        after.is_sound() && left <= LEFT * loss.grade
    };
    let all = firing.iter().zip(&after).all(is_gone);
    Ok(all.then_some((Control::Clean, after)))
}

/// Real-time schedulers that may be on time where another one is not.
const PUNCTUAL: [&str; 3] = ["p-edf", "g-fl", "gsn-edf"];

/// A real-time scheduler under which no job is late.
fn punctual(genome: &Genome, choice: &Choice, look: &Look<'_>) -> Result<Controlled, Error> {
    for other in PUNCTUAL.into_iter().filter(|name| *name != choice.name).map(Choice::named) {
        let after = look(genome, &other, &SEEDS)?;
        if after.iter().all(|it| it.missed() == 0.0 && it.is_sound()) {
            return Ok(Some((Control::Other(Box::new(other)), after)));
        }
    }
    Ok(None)
}
