//! The sporadic tasks of a workload: programs whose jobs are the steps between two beats.

use wastenot_model::sporadic::{NotATaskSet, Sporadic, TaskSet};
use wastenot_model::workload::{Program, Step, Template, Variate};
use wastenot_model::{Help, Machine, Span, Workload};

/// Why a workload does not consist of sporadic tasks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct NotSporadic {
    what: String,
    help: String,
}

impl NotSporadic {
    pub(super) fn new(what: impl Into<String>, help: &str) -> NotSporadic {
        NotSporadic { what: what.into(), help: help.into() }
    }
}

impl Help for NotSporadic {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        self.help.as_str().into()
    }
}

/// The tasks of a workload, in the order in which they are launched.
#[derive(Debug)]
pub(super) struct Sporadics {
    pub(super) tasks: TaskSet,
    /// When each releases its first job.
    pub(super) come_us: Vec<u64>,
}

impl Sporadics {
    /// The sporadic tasks of `workload` on `machine`.
    pub(super) fn of(workload: &Workload, machine: &Machine) -> Result<Sporadics, NotSporadic> {
        if !workload.hotplug.is_empty() || machine.online().len() < machine.len() {
            let help = "remove [[hotplug]], and choose a machine whose CPUs are all online";
            let what = "with real-time schedulers, all CPUs of the machine must be online during \
                        the whole run";
            return Err(NotSporadic::new(what, help));
        }
        let kinds: Result<Vec<Sporadic>, NotSporadic> =
            workload.templates.iter().map(sporadic).collect();
        let kinds = kinds?;
        let tasks = workload.launches.iter().map(|launch| kinds[launch.template.index()]);
        let come_us = workload.launches.iter().map(|launch| launch.at.0.div_ceil(1_000));
        let wrong = |wrong: NotATaskSet| {
            NotSporadic::new(
                wrong.to_string(),
                "write times from 1us to 12 days, or use fewer tasks",
            )
        };
        let tasks = TaskSet::new(tasks.collect()).map_err(wrong)?;
        Ok(Sporadics { tasks, come_us: come_us.collect() })
    }
}

/// The sporadic task of this template.
fn sporadic(template: &Template) -> Result<Sporadic, NotSporadic> {
    let name = &template.name;
    let refused = |what: String, help: &str| Err(NotSporadic::new(what, help));
    if template.affinity.is_some() {
        return refused(
            format!("the task `{name}` may run only on some CPUs"),
            "remove its `cpus` or `nodes`",
        );
    }
    let steps = template.program.steps();
    for step in steps {
        match step {
            Step::Fork(_) => {
                return refused(
                    format!("the task `{name}` forks"),
                    "write each task in [[tasks]], with `at` for tasks that start later",
                );
            }
            Step::Affinity(_) => {
                return refused(format!("the task `{name}` changes its CPUs"), "remove this step");
            }
            _ => {}
        }
    }
    let mut periods = steps.iter().filter_map(|step| match step {
        Step::Beat(period) => Some(*period),
        _ => None,
    });
    let Some(period) = periods.next() else {
        let help = "add `every 10ms` once per job, for example `loop 100`, `every 10ms`, `compute \
                    2ms`, `end`";
        return refused(format!("the task `{name}` has no period"), help);
    };
    if periods.any(|other| other != period) {
        return refused(
            format!("the task `{name}` has several periods"),
            "write only one `every`, or several with the same period",
        );
    }
    let deadline = template.deadline.unwrap_or(period);
    if !(period.0.is_multiple_of(1_000) && deadline.0.is_multiple_of(1_000)) {
        return refused(
            format!(
                "the period or deadline of the task `{name}` is not a whole number of microseconds"
            ),
            "round the time to whole microseconds",
        );
    }
    let Some(wcet) = template.wcet.or_else(|| job(&template.program)) else {
        return refused(
            format!("the task `{name}` has no limit for the CPU time of a job"),
            "add `wcet`, the maximum CPU time of a job",
        );
    };
    Ok(Sporadic {
        wcet_us: wcet.0.div_ceil(1_000).max(1),
        period_us: period.0 / 1_000,
        deadline_us: deadline.0 / 1_000,
        wss_kb: 0,
    })
}

/// There is no bound; no span is longer.
const UNBOUNDED: u64 = u64::MAX;

/// The most CPU time of a sequence of steps, in ns: before its first beat, between two beats, and
/// after the last. Without a beat, all of it is `before`.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    before: u64,
    between: u64,
    after: u64,
    beats: bool,
}

impl Stretch {
    fn then(self, next: Stretch) -> Stretch {
        match (self.beats, next.beats) {
            (false, _) => Stretch { before: self.before.saturating_add(next.before), ..next },
            (true, false) => Stretch { after: self.after.saturating_add(next.before), ..self },
            (true, true) => {
                let across = self.after.saturating_add(next.before);
                let between = self.between.max(next.between).max(across);
                Stretch { between, after: next.after, ..self }
            }
        }
    }
    fn times(self, rounds: Option<u32>) -> Stretch {
        match (self.beats, rounds) {
            (_, Some(1)) => self,
            // However often the loop is done, two rounds have all of it.
            (true, _) => self.then(self),
            (false, None) if self.before > 0 => Stretch { before: UNBOUNDED, ..self },
            (false, _) => {
                let rounds = u64::from(rounds.unwrap_or(1));
                Stretch { before: self.before.saturating_mul(rounds), ..self }
            }
        }
    }
    /// The steps may be skipped.
    fn perhaps(self) -> Stretch {
        // If its beats are skipped, the parts before and after them are one.
        if self.beats { Stretch { between: UNBOUNDED, ..self } } else { self }
    }
}

/// The longest computation of a job of `program`; `None` if it has no bound.
fn job(program: &Program) -> Option<Span> {
    let mut open = vec![(Stretch::default(), Step::Yield)];
    for step in program.steps() {
        let here = match *step {
            Step::Loop(_) | Step::UnlessLate(_) => {
                open.push((Stretch::default(), *step));
                continue;
            }
            Step::End { .. } => match open.pop() {
                Some((inside, Step::Loop(rounds))) => inside.times(rounds),
                Some((inside, _)) => inside.perhaps(),
                None => return None,
            },
            Step::Compute(variate) => Stretch { before: longest(variate), ..Stretch::default() },
            Step::Beat(_) => Stretch { beats: true, ..Stretch::default() },
            _ => continue,
        };
        let (before, _) = open.last_mut()?;
        *before = before.then(here);
    }
    let (all, _) = open.pop()?;
    let most = all.before.max(all.between).max(all.after);
    (most < UNBOUNDED).then_some(Span(most))
}

fn longest(variate: Variate) -> u64 {
    match variate {
        Variate::Fixed(span) => span.0,
        Variate::Uniform { to, .. } => to.0,
        Variate::Exponential { .. } | Variate::LogNormal { .. } => UNBOUNDED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compute(ms: u64) -> Step {
        Step::Compute(Variate::Fixed(Span::ms(ms)))
    }
    const EVERY: Step = Step::Beat(Span::ms(10));
    const END: Step = Step::End { of: 0 };

    fn of(steps: &[Step]) -> Result<Sporadic, String> {
        let program = Program::new(steps.to_vec()).expect("a program");
        sporadic(&Template::new("t", program)).map_err(|wrong| wrong.to_string())
    }
    fn wcet_us(steps: &[Step]) -> u64 {
        of(steps).expect("a sporadic task").wcet_us
    }

    #[test]
    fn a_job_is_what_stands_between_two_beats() {
        let forever = Step::Loop(None);
        assert_eq!(of(&[forever, EVERY, compute(2), END]), Ok(Sporadic::implicit(2_000, 10_000)));
        assert_eq!(wcet_us(&[forever, compute(2), EVERY, END]), 2_000);
        // The steps after one beat and before the next are one job.
        assert_eq!(wcet_us(&[forever, compute(1), EVERY, compute(2), END]), 3_000);
        let inner = [forever, EVERY, Step::Loop(Some(3)), compute(1), END, compute(1), END];
        assert_eq!(wcet_us(&inner), 4_000);
        let maybe = [forever, EVERY, Step::UnlessLate(Span::ms(1)), compute(5), END, END];
        assert_eq!(wcet_us(&maybe), 5_000);
        let varies = Step::Compute(Variate::around(Span::ms(2), 0.05));
        assert_eq!(wcet_us(&[Step::Loop(Some(9)), EVERY, varies, END]), 2_100);
        assert_eq!(wcet_us(&[EVERY, compute(1), EVERY, compute(4), EVERY, compute(2)]), 4_000);
    }

    #[test]
    fn what_has_no_period_or_no_bound_is_refused() {
        let exponential = Step::Compute(Variate::Exponential { mean: Span::ms(1) });
        let unbounded = [
            vec![Step::Loop(None), EVERY, exponential, END],
            vec![EVERY, Step::Loop(None), compute(1), END],
            vec![Step::Loop(None), compute(1), Step::UnlessLate(Span::ms(1)), EVERY, END, END],
        ];
        for steps in unbounded {
            assert_eq!(
                of(&steps),
                Err("the task `t` has no limit for the CPU time of a job".into()),
                "{steps:?}"
            );
        }
        assert_eq!(of(&[compute(1)]), Err("the task `t` has no period".into()));
        let two = [EVERY, compute(1), Step::Beat(Span::ms(7))];
        assert_eq!(of(&two), Err("the task `t` has several periods".into()));
    }
}
