//! An attempt of an idle CPU that fails, as a term.
//!
//! Without events nothing changes while it goes on. With one, every look of the attempt is before
//! it or after it, and whatever follows a look that was after is after, too. Candidates that passed
//! are tried in any order, so each of those tries may be on either side.

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Attempt, Balance};

use super::counts::{Counts, some};
use super::expr::{Encoded, Reader, Terms};
use super::terms::{all, any, compares, either, one_if, only_if, total};
use crate::encode::NotEncoded;
use crate::explore::{Task, World};
use crate::smt::{Script, Sort, Term, int, name, not};

/// The attempt of one CPU.
pub(super) struct Trial<'a, 'p> {
    world: &'a World<'p>,
    cpu: CpuId,
    /// What things are like before the event, and after it, if there is one.
    before: &'a Counts,
    after: Option<Counts>,
    /// What any task may be like.
    natures: &'a [Task],
    /// It tries every candidate, whatever `retry` says.
    patient: bool,
    /// Flags that are free, and what holds of them.
    flags: Vec<String>,
    known: Vec<Term>,
}

impl<'a, 'p> Trial<'a, 'p> {
    /// Without an event.
    pub(super) fn new(
        world: &'a World<'p>,
        cpu: CpuId,
        before: &'a Counts,
        natures: &'a [Task],
    ) -> Trial<'a, 'p> {
        let (flags, known) = (Vec::new(), Vec::new());
        Trial { world, cpu, before, after: None, natures, patient: false, flags, known }
    }

    /// The same, trying every candidate.
    pub(super) fn patient(self) -> Trial<'a, 'p> {
        Trial { patient: true, ..self }
    }

    /// With an event after which things are like this.
    pub(super) fn then(self, after: Counts) -> Trial<'a, 'p> {
        Trial { after: Some(after), ..self }
    }

    /// Whether it fails. Flags are declared in `script`.
    pub(super) fn fails(mut self, script: &mut Script) -> Encoded {
        let mut fails = Vec::new();
        let mut late = Term::Bool(false);
        let policy = self.world.policy;
        for attempt in &policy.dispatch {
            match (attempt, &policy.idle) {
                (Attempt::Take(queue, _), _) => {
                    late = self.look(&late);
                    let frame = self.frame();
                    let queue = Reader::new(self.world, self.before, frame).queue(queue);
                    fails.push(not(self.finds(&late, queue)));
                }
                (Attempt::Balance, Some(balance)) => {
                    for level in 0..balance.levels.len() {
                        fails.push(self.level(balance, level, &mut late)?);
                    }
                }
                (Attempt::Balance, None) => {}
            }
        }
        for flag in &self.flags {
            script.declare(flag, [], Sort::Bool);
        }
        Ok(all(fails.into_iter().chain(self.known)))
    }

    /// Whether it takes nothing at one level of a balance.
    fn level(&mut self, balance: &Balance, level: usize, late: &mut Term) -> Encoded {
        let per = self.world.per[balance.from];
        let victims: Vec<usize> =
            self.world.tree().victims(self.cpu, per, &balance.levels, level).collect();
        let mut read = Vec::new();
        for &group in &victims {
            *late = self.look(late);
            let passed = self.at(late, |trial, counts| {
                trial.reader(counts, balance, group).bool(&balance.filter)
            })?;
            let mut seen = Vec::new();
            for num in balance.remembered() {
                let then =
                    |trial: &Self, counts: &Counts| trial.reader(counts, balance, group).num(&num);
                seen.push(Ok(self.at(late, then)?));
            }
            read.push((group, passed, seen));
        }
        let (mut tried, mut end) = (Vec::new(), Vec::new());
        for (group, passed, seen) in read {
            let when = self.look(late);
            let empty = not(self.finds(&when, (balance.from, group)));
            let refused = not(self.rechecks(&when, balance, group, &seen)?);
            tried.push((passed, any([empty, refused])));
            end.push(when);
        }
        *late = self.after_all(end, late);
        Ok(in_vain(&tried, balance.retry.filter(|_| !self.patient)))
    }

    /// Whether the re-check lets the CPU take the first task that may run here.
    fn rechecks(
        &mut self,
        when: &Term,
        balance: &Balance,
        group: usize,
        seen: &[Encoded],
    ) -> Encoded {
        self.at(when, |trial, counts| {
            let mut answers = Vec::new();
            for nature in trial.natures.iter().filter(|nature| nature.allowed(trial.cpu)) {
                let mut reader = trial.reader(counts, balance, group).about(*nature);
                reader.frame.seen = seen.to_vec();
                let answer = reader.bool(&balance.recheck)?;
                if !answers.contains(&answer) {
                    answers.push(answer);
                }
            }
            match answers.as_slice() {
                [answer] => Ok(answer.clone()),
                // Tasks are counted: who comes first is not known.
                _ => Err(NotEncoded("a re-check whose result differs between tasks")),
            }
        })
    }

    /// Whether a task waits in a queue that may run here.
    fn finds(&mut self, late: &Term, (queue, group): (usize, usize)) -> Term {
        let cpu = self.cpu.index();
        let finds = |counts: &Counts| some(counts.able[queue][group][cpu].clone());
        let before = finds(self.before);
        match &self.after {
            Some(after) => either(late.clone(), finds(after), before),
            None => before,
        }
    }

    /// What something comes to before the event, or after it.
    fn at(&self, late: &Term, what: impl Fn(&Self, &Counts) -> Encoded) -> Encoded {
        let before = what(self, self.before)?;
        match &self.after {
            Some(after) => Ok(either(late.clone(), what(self, after)?, before)),
            None => Ok(before),
        }
    }

    /// Whether the next look is after the event: if the one before was.
    fn look(&mut self, before: &Term) -> Term {
        self.after_all([before.clone()], before)
    }

    /// The same, if several looks come before; without an event it is as it was.
    fn after_all(&mut self, before: impl IntoIterator<Item = Term>, still: &Term) -> Term {
        if self.after.is_none() {
            return still.clone();
        }
        let called = format!("late.{}.{}", self.cpu, self.flags.len());
        let late = name(&called);
        self.flags.push(called);
        self.known.extend(before.into_iter().map(|before| only_if(before, late.clone())));
        self.known.push(only_if(still.clone(), late.clone()));
        late
    }

    fn frame(&self) -> Frame<Terms> {
        self.world.frame_at(self.cpu)
    }

    fn reader(&self, counts: &Counts, balance: &Balance, group: usize) -> Reader<'a, 'p> {
        let other = At { level: self.world.per[balance.from], group };
        Reader::new(self.world, counts, Frame { other: Some(other), ..self.frame() })
    }
}

/// Whether no try gives a task. `tried`: for each candidate, whether it passed and whether a try of
/// it finds no task. `retry`: so many more candidates are tried, in an unknown order.
fn in_vain(tried: &[(Term, Term)], retry: Option<u64>) -> Term {
    let all_in_vain = all(tried.iter().map(|(passed, vain)| only_if(passed.clone(), vain.clone())));
    let Some(retry) = retry.filter(|&retry| retry < tried.len() as u64) else {
        return all_in_vain;
    };
    let vain = tried.iter().map(|(passed, vain)| one_if(all([passed.clone(), vain.clone()])));
    let enough =
        compares(int(retry as i64 + 1), wastenot_rota::ir::Comparison::LessOrEqual, total(vain));
    any([all_in_vain, enough])
}
