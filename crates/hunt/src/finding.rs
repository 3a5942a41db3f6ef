//! Findings: a candidate is there with three seeds and disappears in a control.
//!
//! The control is the same work with one change that should remove the loss of its cause, where one
//! is known for the scheduler ([`wastenot_experiment::confirm`]): the loss must shrink to a fifth.
//! Else it is the same work under the reference scheduler, which wastes nothing by definition: then
//! the work must be done in less time, so the loss had a price.

use wastenot_experiment::confirm::{Change, removing};
use wastenot_experiment::{Error, YARDSTICK, label};
use wastenot_scenario::scenario::Choice;

use crate::genome::Genome;
use crate::oracle::{Kind, Loss, Promise, losses, worse};
use crate::trial::{Ended, Seen};

/// Seeds with which a loss must be there.
pub const SEEDS: [u64; 3] = [1, 2, 3];
/// What may be left of a loss in a control.
const LEFT: f64 = 0.2;
/// In what part of the time the reference must do the work.
pub(crate) const FASTER: f64 = 0.95;

/// A loss that was confirmed.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The work and the machine.
    pub genome: Genome,
    /// The cause, a path in the tree.
    pub cause: String,
    /// How it breaks a promise.
    pub kind: Kind,
    /// How much of the CPU time that tasks used was wasted by the cause, the least of all seeds.
    pub share: f64,
    /// The longest stretch, the least of all seeds, in ns.
    pub longest_ns: u64,
    /// The least grade of all seeds.
    pub grade: f64,
    /// In what it disappeared.
    pub control: Control,
}

/// What removed a loss.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// One change to the scheduler, which left this part of all waste, the most of all seeds.
    Change(Change, f64),
    /// The reference, which did the work in this part of the time.
    Reference(f64),
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

    /// Whether it is the same change, or the reference, too.
    pub fn is_like(&self, other: &Control) -> bool {
        match (self, other) {
            (Control::Change(one, _), Control::Change(other, _)) => one == other,
            (Control::Reference(_), Control::Reference(_)) => true,
            (Control::Clean, Control::Clean) => true,
            (Control::Other(one), Control::Other(other)) => one == other,
            _ => false,
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Control::Change(change, _) => change.label(),
            Control::Reference(part) => format!("{YARDSTICK}, in {part:.2} of the time"),
            Control::Clean => YARDSTICK.to_owned(),
            Control::Other(other) => label(other),
        }
    }
}

/// What a genome shows under a scheduler: one look for each seed.
pub type Look<'l> = dyn Fn(&Genome, &Choice, &[u64]) -> Result<Vec<Seen>, Error> + 'l;

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
    let is_it = |it: &&Loss<'_>| it.cause == cause && it.grade >= 1.0;
    if !first.iter().all(|seen| losses(seen, genome, promise).iter().any(|it| is_it(&it))) {
        return Ok(None);
    }
    let before = [first, look(genome, choice, &SEEDS[1..])?].concat();
    let all: Vec<Vec<Loss<'_>>> = before.iter().map(|seen| losses(seen, genome, promise)).collect();
    let firing: Option<Vec<Loss<'_>>> =
        all.iter().map(|all| all.iter().find(is_it).copied()).collect();
    let Some(firing) = firing else { return Ok(None) };
    let is_worst = all.iter().all(|all| all[0].cause == cause);
    let least = |of: fn(&Loss<'_>) -> f64| firing.iter().map(of).fold(f64::INFINITY, f64::min);
    let control = match firing[0].kind {
        Kind::Misses => punctual(genome, choice, look)?,
        kind if !kind.is_waste() || promise.is_claimed() => {
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
    let Some(control) = control else { return Ok(None) };
    let kind = match firing.iter().all(|it| it.kind == firing[0].kind) {
        true => firing[0].kind,
        false => Kind::Recurs,
    };
    Ok(Some(Finding {
        genome: genome.clone(),
        cause: cause.to_owned(),
        kind,
        share: least(|it| it.share),
        longest_ns: firing.iter().map(|it| it.longest.0).min().unwrap_or(0),
        grade: least(|it| it.grade),
        control,
    }))
}

/// Whether the work is worse than under another scheduler, with all seeds.
fn held_against(
    genome: &Genome,
    cause: &str,
    (choice, other): (&Choice, &Choice),
    look: &Look<'_>,
) -> Result<Option<Finding>, Error> {
    let mut least: Option<(f64, f64, u64)> = None;
    // Most that are no finding show it with the first seed.
    for seed in &SEEDS {
        let (seen, than) = (look(genome, choice, &[*seed])?, look(genome, other, &[*seed])?);
        let losses = worse(&seen[0], &than[0]);
        let loss = losses.iter().find(|it| it.cause == cause && it.grade >= 1.0);
        let Some(loss) = loss else { return Ok(None) };
        let (grade, share, longest) = least.unwrap_or((f64::INFINITY, f64::INFINITY, u64::MAX));
        least = Some((grade.min(loss.grade), share.min(loss.share), longest.min(loss.longest.0)));
    }
    Ok(least.map(|(grade, share, longest_ns)| Finding {
        genome: genome.clone(),
        cause: cause.to_owned(),
        kind: Kind::Worse,
        share,
        longest_ns,
        grade,
        control: Control::Other(Box::new(other.clone())),
    }))
}

/// The change that removes the loss, if one does.
fn changed(
    genome: &Genome,
    cause: &str,
    choice: &Choice,
    before: &[Seen],
    look: &Look<'_>,
) -> Result<Option<Control>, Error> {
    let took = |seen: &Seen| {
        let took = seen.causes.iter().find(|it| it.cause == cause);
        took.map_or(0, |it| it.ns) as f64
    };
    for (change, with) in removing(cause, choice) {
        let after = look(genome, &with, &SEEDS)?;
        let is_gone = |(before, after): (&Seen, &Seen)| {
            let (before_ns, after_ns) = (took(before), took(after));
            let saved = before.waste_ns as f64 - after.waste_ns as f64;
            !matches!(after.ended, Ended::Never(_))
                && after_ns <= LEFT * before_ns
                // It did not only get another cause.
                && saved >= before_ns / 2.0
        };
        if before.iter().zip(&after).all(is_gone) {
            let part = |(before, after): (&Seen, &Seen)| {
                after.waste_ns as f64 / before.waste_ns.max(1) as f64
            };
            let left = before.iter().zip(&after).map(part).fold(0.0, f64::max);
            return Ok(Some(Control::Change(change, left)));
        }
    }
    Ok(None)
}

/// The reference, if it does the work in less time.
fn referred(genome: &Genome, before: &[Seen], look: &Look<'_>) -> Result<Option<Control>, Error> {
    let after = look(genome, &Choice::named(YARDSTICK), &SEEDS)?;
    let part = |(before, after): (&Seen, &Seen)| match after.ended {
        Ended::Done => after.time_ns as f64 / before.time_ns.max(1) as f64,
        _ => f64::INFINITY,
    };
    let worst = before.iter().zip(&after).map(part).fold(0.0, f64::max);
    Ok((worst <= FASTER).then_some(Control::Reference(worst)))
}

/// The reference, if it has little of it: the work does not ask for the loss.
fn cleared(
    genome: &Genome,
    cause: &str,
    promise: &Promise,
    firing: &[Loss<'_>],
    look: &Look<'_>,
) -> Result<Option<Control>, Error> {
    let after = look(genome, &Choice::named(YARDSTICK), &SEEDS)?;
    let is_gone = |(loss, after): (&Loss<'_>, &Seen)| {
        let left = losses(after, genome, promise);
        let same = |it: &&Loss<'_>| match loss.kind.is_waste() {
            true => it.kind.is_waste(),
            false => it.cause == cause,
        };
        let left = left.iter().filter(same).map(|it| it.grade).fold(0.0, f64::max);
        !matches!(after.ended, Ended::Never(_)) && left <= LEFT * loss.grade
    };
    let all = firing.iter().zip(&after).all(is_gone);
    Ok(all.then_some(Control::Clean))
}

/// Real-time schedulers that may be on time where another one is not.
const PUNCTUAL: [&str; 3] = ["p-edf", "g-fl", "gsn-edf"];

/// A real-time scheduler under which no job is late.
fn punctual(genome: &Genome, choice: &Choice, look: &Look<'_>) -> Result<Option<Control>, Error> {
    for other in PUNCTUAL.into_iter().filter(|name| *name != choice.name).map(Choice::named) {
        let after = look(genome, &other, &SEEDS)?;
        if after.iter().all(|it| it.missed() == 0.0 && !matches!(it.ended, Ended::Never(_))) {
            return Ok(Some(Control::Other(Box::new(other))));
        }
    }
    Ok(None)
}
