//! Utilizations: the share of a CPU that each task needs.

use std::fmt;
use std::str::FromStr;

use wastenot_model::sporadic::TaskSet;

use super::MOST_OF_A_SUM;
use super::words::{Names, name_of, named, wrong};
use crate::Error;

/// The distribution of utilizations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Utilizations {
    /// See [`UTILIZATIONS`].
    RandFixedSum,
    /// See [`UTILIZATIONS`].
    UUniFastDiscard,
    /// See [`UTILIZATIONS`].
    Uniform(Weight),
    /// See [`UTILIZATIONS`].
    Exponential(Weight),
    /// See [`UTILIZATIONS`].
    Bimodal(Weight),
}

/// How heavy the tasks of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// Many of them fit on a CPU.
    Light,
    /// Between the two.
    Medium,
    /// Few of them fit on a CPU.
    Heavy,
}

use Utilizations::{Bimodal, Exponential, RandFixedSum, UUniFastDiscard, Uniform};
use Weight::{Heavy, Light, Medium};

/// Every distribution with its name and meaning. The families and their names come from the studies
/// for which SchedCAT is used.
pub const UTILIZATIONS: &Names<Utilizations> = &[
    (
        RandFixedSum,
        "randfixedsum",
        "uniform over all lists of utilizations that have the given sum",
    ),
    (
        UUniFastDiscard,
        "uunifast-discard",
        "the same distribution as randfixedsum, computed by repeated draws; too many unsuccessful \
         draws are an error",
    ),
    (Uniform(Light), "uni-light", "uniform from 0.001 to 0.1"),
    (Uniform(Medium), "uni-medium", "uniform from 0.1 to 0.4"),
    (Uniform(Heavy), "uni-heavy", "uniform from 0.5 to 0.9"),
    (Exponential(Light), "exp-light", "exponential with mean 0.1; values above 1 are drawn again"),
    (
        Exponential(Medium),
        "exp-medium",
        "exponential with mean 0.25; values above 1 are drawn again",
    ),
    (Exponential(Heavy), "exp-heavy", "exponential with mean 0.5; values above 1 are drawn again"),
    (
        Bimodal(Light),
        "bimo-light",
        "8 of 9 tasks uniform from 0.001 to 0.5, the others uniform from 0.5 to 0.9",
    ),
    (
        Bimodal(Medium),
        "bimo-medium",
        "6 of 9 tasks uniform from 0.001 to 0.5, the others uniform from 0.5 to 0.9",
    ),
    (
        Bimodal(Heavy),
        "bimo-heavy",
        "4 of 9 tasks uniform from 0.001 to 0.5, the others uniform from 0.5 to 0.9",
    ),
];

/// How the utilization of one task is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) enum One {
    Uniform { from: f64, to: f64 },
    Exponential { mean: f64 },
    Bimodal { light_in_9: u64 },
}

impl Utilizations {
    /// The distribution of a single utilization, if utilizations are drawn one by one; `None` if
    /// they have a given sum.
    pub(super) fn one(self) -> Option<One> {
        Some(match self {
            RandFixedSum | UUniFastDiscard => return None,
            Uniform(Light) => One::Uniform { from: 0.001, to: 0.1 },
            Uniform(Medium) => One::Uniform { from: 0.1, to: 0.4 },
            Uniform(Heavy) => One::Uniform { from: 0.5, to: 0.9 },
            Exponential(Light) => One::Exponential { mean: 0.1 },
            Exponential(Medium) => One::Exponential { mean: 0.25 },
            Exponential(Heavy) => One::Exponential { mean: 0.5 },
            Bimodal(Light) => One::Bimodal { light_in_9: 8 },
            Bimodal(Medium) => One::Bimodal { light_in_9: 6 },
            Bimodal(Heavy) => One::Bimodal { light_in_9: 4 },
        })
    }

    /// Whether there are sets of `tasks` tasks with the sum `total`.
    pub(super) fn check(self, tasks: usize, total: Option<f64>) -> Result<(), Error> {
        match (self.one(), total) {
            (Some(_), cap) => check_cap(self, tasks, cap.unwrap_or(f64::INFINITY)),
            (None, Some(total)) => check_sum(self, tasks, total),
            (None, None) => wrong(
                format!("{self} needs the total utilization"),
                "give the sum of the utilizations",
            ),
        }
    }
}

/// Whether `tasks` utilizations can have the sum `total`, and there are not too many.
pub(super) fn check_sum(of: Utilizations, tasks: usize, total: f64) -> Result<(), Error> {
    if tasks == 0 || tasks > MOST_OF_A_SUM {
        let help = format!("use 1 to {MOST_OF_A_SUM} tasks in a set with a given sum");
        return wrong(format!("{of} cannot make a set of {tasks} tasks"), help);
    }
    if !(total > 0.0 && total <= tasks as f64) {
        let what = format!("{of}: {tasks} utilizations from 0 to 1 cannot have the sum {total}");
        return wrong(what, format!("make the sum larger than 0 and at most {tasks}"));
    }
    Ok(())
}

fn check_cap(of: Utilizations, tasks: usize, cap: f64) -> Result<(), Error> {
    if tasks == 0 || tasks > TaskSet::MOST_TASKS {
        let help = format!("use 1 to {} tasks in a set", TaskSet::MOST_TASKS);
        return wrong(format!("{of} cannot make a set of {tasks} tasks"), help);
    }
    if cap.is_nan() || cap <= 0.0 {
        return wrong(
            format!("{of}: no task has a utilization below the limit {cap}"),
            "use a limit above 0",
        );
    }
    Ok(())
}

impl FromStr for Utilizations {
    type Err = Error;
    fn from_str(text: &str) -> Result<Utilizations, Error> {
        named(text, "distributions of utilizations", UTILIZATIONS)
    }
}

impl fmt::Display for Utilizations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(self, UTILIZATIONS))
    }
}
