//! What a hunt found, in words and tables.

use wastenot_experiment::label;
use wastenot_model::report::Unit;
use wastenot_model::{Column, Report, Table, Value};

use crate::decisions;
use crate::finding::Finding;
use crate::oracle::Kind;
use crate::search::{Arm, Outcome, Question};

impl Outcome {
    /// The answer of `wastenot hunt`.
    pub fn report(&self, question: &Question) -> Report {
        let against = question.against.as_ref();
        let against = against.map_or(String::new(), |it| format!(" against {}", label(it)));
        let title = format!("{}{against}: hunted", label(&question.choice));
        let mut report = Report::new("hunt/1", title);
        report.verdict = self.verdict(question);
        for (name, arm) in [("search", &self.search), ("random", &self.random)] {
            let label = format!("{name}: trials");
            report.measure(&format!("{name}.trials"), &label, arm.trials, Unit::None);
            let kinds = arm.archive.len();
            report.measure(&format!("{name}.kinds"), "  kinds of work", kinds, Unit::None);
            let (decided, of) = (arm.archive.decided().len(), decisions::KINDS);
            let label = format!("  kinds of decisions, of {of}");
            report.measure(&format!("{name}.decisions"), &label, decided, Unit::None);
            report.measure(&format!("{name}.found"), "  causes found", arm.found.len(), Unit::None);
        }
        report.measure("runs", "runs of the simulator", self.runs, Unit::None);
        report.measure("seed", "seed", question.seed, Unit::None);
        report.tables = vec![self.findings(), self.arms()];
        report.assumptions = vec![
            "simulated: a finding is one of the model of the scheduler; only a kernel can show \
             that the scheduler has it"
                .into(),
            "what was not found may be there: a search proves nothing".into(),
        ];
        report
    }

    fn verdict(&self, question: &Question) -> String {
        let trials = self.search.trials;
        let Some(first) = self.shrunk.first() else {
            let cause = question.cause.as_ref().map_or(String::new(), |it| format!(" by {it}"));
            return format!(
                "No loss{cause} was found in {trials} trials of the search and as many at random."
            );
        };
        let count = |n: usize| if n == 1 { "1 loss".to_owned() } else { format!("{n} losses") };
        let by = |arm: &Arm| {
            let has_it = |it: &&Finding| arm.finding(&it.cause).is_some();
            self.shrunk.iter().filter(has_it).count()
        };
        format!(
            "{} found in {trials} trials of the search and as many at random: {} by the search, {} \
             at random. Each is there with three seeds, and gone in its control. The first, on {} \
             CPUs with {}: {}",
            count(self.shrunk.len()),
            by(&self.search),
            by(&self.random),
            first.genome.machine().cpus(),
            match first.genome.kinds() {
                1 => "tasks of one kind".to_owned(),
                n => format!("{n} kinds of tasks"),
            },
            first.about(),
        )
    }

    fn findings(&self) -> Table {
        let mut table = Table::new(
            "losses",
            "Losses",
            [
                Column::new("cause", "cause", Unit::None),
                Column::new("kind", "it", Unit::None),
                Column::new("share", "wasted", Unit::Share),
                Column::new("longest_ns", "longest", Unit::Ns),
                Column::new("cpus", "CPUs", Unit::None),
                Column::new("programs", "programs", Unit::None),
                Column::new("steps", "steps", Unit::None),
                Column::below("control", "gone with"),
            ],
        );
        table.shown = usize::MAX;
        for it in &self.shrunk {
            let by_cause = it.kind == Kind::Worse && it.cause.starts_with("scheduler");
            let wastes = it.kind.is_waste() || by_cause;
            table.push(vec![
                it.cause.as_str().into(),
                it.kind.name().into(),
                wastes.then_some(it.share).into(),
                Some(it.longest_ns).filter(|ns| *ns > 0).into(),
                it.genome.machine().cpus().into(),
                it.genome.kinds().into(),
                it.genome.longest().into(),
                format!("gone with {}", it.control.words()).into(),
            ]);
        }
        table
    }

    /// After how many trials each arm found each cause.
    fn arms(&self) -> Table {
        let mut table = Table::new(
            "trials",
            "Trials until a cause was found",
            [
                Column::new("cause", "cause", Unit::None),
                Column::new("search", "search", Unit::None),
                Column::new("random", "random", Unit::None),
                Column::new("genomes", "genomes", Unit::None),
            ],
        );
        let mut causes: Vec<&str> = Vec::new();
        let found = [&self.search, &self.random].into_iter().flat_map(|arm| &arm.found);
        for (finding, _) in found {
            if !causes.contains(&finding.cause.as_str()) {
                causes.push(&finding.cause);
            }
        }
        let after = |arm: &Arm, cause: &str| -> Value {
            let found = arm.finding(cause);
            found.map_or_else(|| format!("over {}", arm.trials), |(_, it)| it.to_string()).into()
        };
        for cause in causes {
            let (search, random) = (after(&self.search, cause), after(&self.random, cause));
            let genomes = [&self.search, &self.random].map(|arm| arm.candidates.get(cause));
            let genomes: u64 = genomes.into_iter().flatten().sum();
            table.push(vec![cause.into(), search, random, genomes.into()]);
        }
        table
    }
}
