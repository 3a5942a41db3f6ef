//! What is written of a finding: sentences, and a scenario.

use wastenot_experiment::confirm::Change;
use wastenot_experiment::{YARDSTICK, is_unsafe};
use wastenot_model::Span;
use wastenot_scenario::scenario::Choice;

use crate::finding::{Control, Finding};
use crate::oracle::{HANG, Kind, LATE, SLOWER_WORK};

impl Finding {
    /// Its cause in a word or two, as in the name of its file.
    pub fn name(&self) -> &str {
        self.cause.rsplit('/').next().unwrap_or(&self.cause)
    }

    /// What it shows, in a sentence.
    pub(crate) fn about(&self) -> String {
        let share = self.share * 100.0;
        let longest = Span(self.longest_ns);
        match self.kind {
            Kind::Persists => format!(
                "{}: a CPU stays idle for {longest} while tasks that may run there wait. In total, \
                 this idle time is {share:.1} % of the CPU time that the tasks use.",
                self.cause
            ),
            Kind::Recurs => format!(
                "{}: CPUs are idle again and again while tasks that may run there wait. In total, \
                 this idle time is {share:.1} % of the CPU time that the tasks use.",
                self.cause
            ),
            Kind::Sleeps => format!("A task waits for {longest} in the run queue of an idle CPU."),
            Kind::Starves => {
                format!("A task waits {longest} for a CPU, although all tasks are equal.")
            }
            Kind::Unfair => format!(
                "All tasks are equal, and one task is runnable all the time. But this task runs \
                 for only {share:.0} % of {longest}, less than half of its fair share."
            ),
            Kind::Misses => format!(
                "Jobs miss their deadlines, although all tasks together need only {:.2} of {} \
                 CPUs.",
                self.genome.load(),
                self.genome.machine().cpus()
            ),
            Kind::Storms => {
                "A task migrates again and again while it waits, although no task starts or ends."
                    .to_owned()
            }
            Kind::Hangs => "The work never ends.".to_owned(),
            Kind::Worse => {
                let other = self.control.words();
                match &*self.cause {
                    SLOWER_WORK => {
                        format!("The work takes {share:.0} % longer than under {other}.")
                    }
                    LATE => format!(
                        "More jobs miss their deadlines than under {other}: the difference is \
                         {share:.1} % of all jobs."
                    ),
                    HANG => format!(
                        "Under this scheduler, the work never ends. Under {other}, the work ends."
                    ),
                    cause => format!(
                        "{cause}: CPUs are idle while tasks that may run there wait. This \
                         scheduler loses more time than {other}: the difference is {share:.1} % of \
                         the CPU time that the tasks use."
                    ),
                }
            }
        }
    }

    /// The scenario, which is to be called `name`: what was found, and its control, as variants.
    /// Its figures lie in their bands once the scheduler has not got the loss.
    pub fn text(&self, choice: &Choice, name: &str) -> String {
        let variants = format!(
            "
[[variants]]
name = \"found\"

[[variants]]
name = \"control\"
scheduler = {{ {} }}
",
            self.control()
        );
        let figures = self.figures();
        self.uses(choice, name, !figures.is_empty())
            + &self.genome.text(choice, &self.about())
            + &variants
            + &figures
    }

    /// What the control sets.
    fn control(&self) -> String {
        match &self.control {
            Control::Change(Change::Tunable { name, to, .. }) => format!("{name} = {to:?}"),
            Control::Reference | Control::Clean | Control::Change(_) => {
                format!("name = {YARDSTICK:?}")
            }
            Control::Other(other) => {
                let set = self.genome.settings(other);
                let set = set.iter().map(|(name, value)| format!(", {name} = {value:?}"));
                format!("name = {:?}{}", other.name, set.collect::<String>())
            }
        }
    }

    /// What is measured of both variants, each with the largest value that shows no loss; nothing
    /// where no measure shows it.
    fn figures(&self) -> String {
        let figure = |variant, measure: &str, over: &str, (pick, most): (&str, f64)| {
            let (n, why) = (if variant == "found" { "loss" } else { "control" }, self.why());
            let over = if over.is_empty() { String::new() } else { format!("\nover = {over}") };
            format!(
                "
[[figures]]
name = \"{n}\"
measure = \"{measure}\"
variant = \"{variant}\"{over}
pick = \"{pick}\"
band = [0, {}]
why = {why:?}
",
                band(most)
            )
        };
        let both = |measure: &str, over: &str, most: f64| {
            figure("found", measure, over, ("min", most))
                + &figure("control", measure, over, ("max", most))
        };
        let slower = || {
            let over = "{ variant = \"control\" }";
            figure("found", "completion", over, ("min", 0.5 + self.longer / 2.0))
        };
        match (self.kind, &self.control) {
            (Kind::Unfair | Kind::Storms | Kind::Sleeps, _) => String::new(),
            (Kind::Misses, _) => both("missed", "", 0.0),
            (Kind::Worse, _) if self.cause == LATE => both("missed", "", 0.0),
            (Kind::Starves, _) => {
                let bound = Span((self.longest_ns as f64 / self.grade) as u64);
                both("wait", &format!("{:?}", bound.exact()), 1.0)
            }
            (Kind::Hangs, _) => figure("found", "completion", "", ("min", OPEN)),
            (Kind::Worse, _) if self.cause == HANG => {
                figure("found", "completion", "", ("min", OPEN))
            }
            (Kind::Worse, _) if self.cause == SLOWER_WORK => slower(),
            (_, Control::Reference) => slower(),
            _ => {
                let (before, after) = self.wasted;
                let over = "{ measure = \"cpu-time\", of = \"*\" }";
                both("waste", over, f64::midpoint(before, after))
            }
        }
    }

    /// Why a control has no loss.
    fn why(&self) -> String {
        let other = self.control.words();
        match (&self.control, self.kind) {
            (Control::Change(Change::Tunable { how, .. }), _) => (*how).to_owned(),
            (Control::Other(_), Kind::Misses) => format!("{other} meets all deadlines."),
            (Control::Reference, _) => {
                "The control (a better schedule) finishes the same work in less time.".to_owned()
            }
            _ if self.cause == HANG => format!("Under {other} the work ends."),
            (_, Kind::Starves) => format!("Under {other} no task waits so long."),
            (_, Kind::Worse) if self.cause == SLOWER_WORK => {
                format!("Under {other} the work takes less time.")
            }
            _ => format!("{other} loses less time with this work."),
        }
    }

    /// What its scenario is good for, as comments: a test of the scheduler, and in a kernel.
    fn uses(&self, choice: &Choice, name: &str, is_measured: bool) -> String {
        let allow = if is_unsafe(choice) { " --allow-unsafe" } else { "" };
        let mut uses = String::new();
        uses += &match is_measured {
            true => format!(
                "# This scenario is a test. The next command fails as long as the scheduler has \
                 this loss:\n#   wastenot run {name}.toml --fail-if-out-of-band{allow}\n"
            ),
            false => "# No figure of `wastenot run` shows this loss.\n".to_owned(),
        };
        let linux = ["cfs-", "eevdf-"].iter().find_map(|it| choice.name.strip_prefix(it));
        let kernel = match linux {
            Some("4.1") => {
                Some(("the oldest available kernel, which may not have this loss", "5.10"))
            }
            Some(linux) => Some(("a kernel", linux)),
            None => choice.text.is_some().then_some(("a kernel", "7.2")),
        };
        if let Some((what, kernel)) = kernel.filter(|_| self.kind != Kind::Hangs) {
            uses += &format!(
                "# To run it in {what}:\n#   wastenot run {name}.toml --variant found --on \
                 {kernel}{allow}\n"
            );
        }
        uses + "\n"
    }
}

/// A completion that is known lies below this, in ns.
const OPEN: f64 = 1e15;

/// An end of a band, with so many digits that it shows something.
fn band(most: f64) -> String {
    match most {
        0.0 => "0".to_owned(),
        most if most >= 0.01 => format!("{most:.3}"),
        most => format!("{most:.2e}"),
    }
}
