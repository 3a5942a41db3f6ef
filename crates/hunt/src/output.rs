//! What is written of a finding: sentences, and a scenario.

use wastenot_experiment::YARDSTICK;
use wastenot_experiment::confirm::Change;
use wastenot_model::Span;
use wastenot_scenario::scenario::Choice;

use crate::finding::{Control, FASTER, Finding};
use crate::oracle::{Kind, LATE, SLOWER};

impl Finding {
    /// Its cause in a word or two, as in the name of its file.
    pub fn name(&self) -> &str {
        self.cause.rsplit('/').next().unwrap_or(&self.cause)
    }

    /// What it shows, in a sentence.
    pub fn about(&self) -> String {
        let (kind, share) = (self.kind.name(), self.share * 100.0);
        let longest = Span(self.longest_ns);
        match self.kind {
            Kind::Persists | Kind::Recurs => format!(
                "{} {kind}: {share:.0} % of the CPU time that tasks used is wasted, up to \
                 {longest} at a time.",
                self.cause
            ),
            Kind::Starves => format!("A task waits {longest} for its turn, though all are alike."),
            Kind::Unfair => format!(
                "A task that wants to run all the time runs {share:.0} % of {longest}, less than \
                 half of its share, though all are alike."
            ),
            Kind::Misses => format!(
                "Jobs miss their deadlines, though all tasks together need {:.2} of {} CPUs.",
                self.genome.load(),
                self.genome.machine().cpus()
            ),
            Kind::Storms => "A task is moved again and again while it waits.".to_owned(),
            Kind::Hangs => "The work never ends.".to_owned(),
            Kind::Worse if self.cause == "slower" => {
                format!("The work takes {share:.0} % longer.")
            }
            Kind::Worse => format!(
                "{}: {share:.0} % more of the CPU time that tasks used is wasted.",
                self.cause
            ),
        }
    }

    /// The scenario: what was found, and its control, as variants. Its figure lies in its band as
    /// long as the scheduler has the loss and the control has not.
    pub fn text(&self, choice: &Choice) -> String {
        let reference = format!("name = {YARDSTICK:?}");
        let (set, measure, most, why) = match &self.control {
            // Where other causes waste as well, less of all waste goes: half of what went must go.
            Control::Change(Change::Tunable { name, to, how, .. }, left) => {
                (format!("{name} = {to:?}"), "waste", 0.5 + left / 2.0, *how)
            }
            Control::Reference(_) | Control::Change(..) => {
                (reference, "completion", FASTER, "The work can be done in less time.")
            }
            Control::Clean => {
                let measure = match self.kind {
                    Kind::Starves => "wait",
                    Kind::Storms => "migrations",
                    Kind::Hangs => "completion",
                    _ => "waste",
                };
                (reference, measure, 0.5, "The work does not ask for it.")
            }
            Control::Other(other) => {
                let set =
                    other.tunables.iter().map(|(name, value)| format!(", {name} = {value:?}"));
                let set = format!("name = {:?}{}", other.name, set.collect::<String>());
                let (measure, most) = match &*self.cause {
                    "slower" | "hang" => ("completion", 1.0 / (1.0 + SLOWER)),
                    LATE => ("missed", 0.5),
                    _ => ("waste", 0.95),
                };
                (set, measure, most, "The other scheduler does it.")
            }
        };
        let variants = format!(
            "
[[variants]]
name = \"found\"

[[variants]]
name = \"control\"
scheduler = {{ {set} }}
"
        );
        let figure = format!(
            "
[[figures]]
name = \"{measure}-left\"
measure = \"{measure}\"
variant = \"control\"
over = {{ variant = \"found\" }}
pick = \"max\"
band = [0, {most:.2}]
why = {why:?}
"
        );
        // No measure compares what tasks get while they want to run.
        let figure = if self.kind == Kind::Unfair { String::new() } else { figure };
        self.uses(choice) + &self.genome.text(choice, &self.about()) + &variants + &figure
    }

    /// What its scenario is good for, as comments: a test of the scheduler, and in a kernel.
    fn uses(&self, choice: &Choice) -> String {
        let file = format!("{}.toml", self.name());
        let mut uses = String::new();
        if self.kind != Kind::Unfair {
            let test = "# A test that fails as long as the scheduler has this loss (`run` exits \
                        with 0 then, with 1\n# once it is gone, with 2 if it cannot tell):";
            uses += &format!("{test}\n#   wastenot run {file} >/dev/null; test $? -eq 1\n");
        }
        let linux = ["cfs-", "eevdf-"].iter().find_map(|it| choice.name.strip_prefix(it));
        let kernel = match linux {
            // There is no package of it.
            Some("4.1") => Some("5.10"),
            None if choice.text.is_some() => Some("7.2"),
            linux => linux,
        };
        if let Some(kernel) = kernel.filter(|_| self.kind != Kind::Hangs) {
            uses += &format!(
                "# In a kernel:\n#   wastenot run {file} --variant found --on {kernel} -o \
                 {kernel}/ && wastenot check {kernel}/*\n"
            );
        }
        if uses.is_empty() { uses } else { uses + "\n" }
    }
}
