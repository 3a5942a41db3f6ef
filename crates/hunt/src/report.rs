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
        let mut report = Report::new("hunt/1", format!("{}: hunted", label(&question.choice)));
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
        let is_asked =
            |it: &&(Finding, u64)| question.cause.as_ref().is_none_or(|cause| it.0.cause == *cause);
        let trials = self.search.trials;
        let at_random = self.random.found.iter().filter(is_asked).count();
        let Some(worst) = self.shrunk.iter().max_by(|a, b| a.grade.total_cmp(&b.grade)) else {
            return format!(
                "No loss was found that the scheduler promises not to have, in {trials} trials of \
                 the search and as many at random."
            );
        };
        let causes = match self.shrunk.len() {
            1 => "1 cause".to_owned(),
            n => format!("{n} causes"),
        };
        format!(
            "Losses by {causes} were found in {trials} trials, and by {at_random} at random in as \
             many. Each was there with three seeds, and gone in a control. The worst is on {} CPUs \
             by {}. {}",
            worst.genome.machine().cpus(),
            match worst.genome.kinds() {
                1 => "tasks of one kind".to_owned(),
                n => format!("{n} kinds of tasks"),
            },
            worst.about(),
        )
    }

    fn findings(&self) -> Table {
        let mut table = Table::new(
            "findings",
            "Findings",
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
            let wastes = it.kind.is_waste() || it.kind == Kind::Worse;
            table.push(vec![
                it.cause.as_str().into(),
                it.kind.name().into(),
                wastes.then_some(it.share).into(),
                Some(it.longest_ns).filter(|ns| *ns > 0).into(),
                it.genome.machine().cpus().into(),
                it.genome.kinds().into(),
                it.genome.longest().into(),
                it.control.words().into(),
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
                Column::new("genomes", "genomes that may have it", Unit::None),
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
            arm.found.iter().find(|(it, _)| it.cause == cause).map(|(_, trials)| *trials).into()
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
