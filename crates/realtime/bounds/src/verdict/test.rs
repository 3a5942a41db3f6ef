//! The tests by name: what can be asked of a task set, and by which question it is answered.

use std::str::FromStr;

use wastenot_model::nearest;
use wastenot_model::sporadic::TaskSet;

use crate::gedf::{self, Rta};
use crate::number::Budget;
use crate::{Answer, partitioned, single};

/// A schedulability test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// [`gedf::gfb`]
    Gfb,
    /// [`gedf::bak`]
    Bak,
    /// [`gedf::bcl`]
    Bcl,
    /// [`gedf::bcli`]
    Bcli,
    /// [`gedf::rta()`]
    Rta,
    /// [`gedf::bar`]
    Bar,
    /// [`gedf::ff_dbf`]
    FfDbf,
    /// [`gedf::load`]
    Load,
    /// [`partitioned::first_fit`]
    Partitioned,
    /// [`single::qpa`]
    Qpa,
}

impl Test {
    /// All, those of global EDF first.
    pub const ALL: [Test; 10] = [
        Test::Gfb,
        Test::Bak,
        Test::Bcl,
        Test::Bcli,
        Test::Rta,
        Test::Bar,
        Test::FfDbf,
        Test::Load,
        Test::Partitioned,
        Test::Qpa,
    ];

    /// On the command line and in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Test::Gfb => "gfb",
            Test::Bak => "bak",
            Test::Bcl => "bcl",
            Test::Bcli => "bcli",
            Test::Rta => "rta",
            Test::Bar => "bar",
            Test::FfDbf => "ffdbf",
            Test::Load => "load",
            Test::Partitioned => "pedf",
            Test::Qpa => "qpa",
        }
    }
    /// The paper that shows that it is right.
    pub fn source(self) -> &'static str {
        match self {
            Test::Gfb => "Goossens, Funk, Baruah 2003",
            Test::Bak => "Baker 2005",
            Test::Bcl => "Bertogna, Cirinei, Lipari 2005",
            Test::Bcli => "Bertogna, Cirinei, Lipari 2009",
            Test::Rta => "Bertogna, Cirinei 2007",
            Test::Bar => "Baruah 2007",
            Test::FfDbf => "Baruah et al. 2010",
            Test::Load => "Baker, Baruah 2009",
            Test::Partitioned => "first fit, each CPU by QPA",
            Test::Qpa => "Zhang, Burns 2009; exact",
        }
    }
    /// Whether what it accepts on so many CPUs is schedulable under global EDF: on one CPU
    /// partitioned EDF is the same.
    pub fn is_of_global_edf(self, cpus: u32) -> bool {
        self != Test::Partitioned || cpus == 1
    }
    /// Whether what it rejects on so many CPUs misses a deadline.
    pub(crate) fn is_exact(self, cpus: u32) -> bool {
        cpus == 1 && matches!(self, Test::Qpa | Test::Partitioned)
    }
    /// Whether less to do never made it reject, in all that was tried: then the most that it
    /// accepts can be searched for. Of BAK there are counterexamples.
    pub fn takes_less(self) -> bool {
        self != Test::Bak
    }

    /// Asks it.
    pub fn ask(self, tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Answer {
        match self {
            Test::Gfb => gedf::gfb::within(tasks, cpus, budget),
            Test::Bak => gedf::bak(tasks, cpus, budget),
            Test::Bcl => gedf::bcl(tasks, cpus, budget),
            Test::Bcli => gedf::bcli(tasks, cpus, budget),
            Test::Rta => gedf::rta(tasks, cpus, &Rta::default(), budget).answer,
            Test::Bar => gedf::bar(tasks, cpus, budget),
            Test::FfDbf => gedf::ff_dbf(tasks, cpus, budget),
            Test::Load => gedf::load(tasks, cpus, budget),
            Test::Partitioned => partitioned::first_fit(tasks, cpus, budget).answer,
            Test::Qpa if cpus == 1 => single::qpa(tasks, budget),
            Test::Qpa => Answer::NotApplicable("the test is for one CPU"),
        }
    }
}

impl FromStr for Test {
    type Err = String;

    fn from_str(text: &str) -> Result<Test, String> {
        let all = Test::ALL;
        let found = all.into_iter().find(|test| test.key() == text);
        found.ok_or_else(|| match nearest(text, all.map(Test::key)) {
            Some(near) => format!("unknown test; did you mean `{near}`?"),
            None => format!("the tests are {}", all.map(Test::key).join(", ")),
        })
    }
}
