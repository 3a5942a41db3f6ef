//! What a hunt found, in words and tables.

use wastenot_experiment::label;
use wastenot_model::report::Unit;
use wastenot_model::{Report, Table};

use crate::decisions;
use crate::finding::Finding;
use crate::oracle::Kind;
use crate::search::{Arm, Outcome, Question};

impl Outcome {
    /// The answer of `wastenot hunt`.
    pub fn report(&self, question: &Question) -> Report {
        let against = question.against.as_ref();
        let against = against.map_or(String::new(), |it| format!(" compared with {}", label(it)));
        let title = format!("Hunt: {}{against}", label(&question.choice));
        let mut report = Report::new("hunt/1", title);
        report.verdict = self.verdict(question);
        for (name, arm) in [("search", &self.search), ("random", &self.random)] {
            let label = format!("{name}: trials");
            report.measure(&format!("{name}.trials"), &label, arm.trials, Unit::None);
            let kinds = arm.archive.len();
            report.measure(&format!("{name}.kinds"), "  kinds of work", kinds, Unit::None);
            let (decided, of) = (arm.archive.decided().len(), decisions::KINDS);
            let label = format!("  kinds of decisions (of {of} possible kinds)");
            report.measure(&format!("{name}.decisions"), &label, decided, Unit::None);
            report.measure(&format!("{name}.found"), "  causes found", arm.found.len(), Unit::None);
        }
        report.measure("runs", "simulator runs", self.runs, Unit::None);
        report.measure("seed", "seed", question.seed, Unit::None);
        report.tables = vec![self.findings(), self.arms()];
        report.assumptions = vec![
            "simulated: a finding is true of the model of the scheduler; only a run in a kernel \
             can confirm the finding for the scheduler itself"
                .into(),
            "a search proves nothing: losses that it did not find may still exist".into(),
        ];
        report
    }

    fn verdict(&self, question: &Question) -> String {
        let trials = self.search.trials;
        let what = match &*self.shrunk {
            [] => {
                let cause = question.cause.as_ref().map_or(String::new(), |it| format!(" by {it}"));
                format!("The hunt found no loss{cause}")
            }
            [_] => "The hunt found 1 loss".to_owned(),
            all => format!("The hunt found {} losses", all.len()),
        };
        let mut verdict =
            format!("{what} in {trials} trials of the search and {trials} random trials");
        if let Some(first) = self.shrunk.first() {
            let by = |arm: &Arm| {
                let has_it = |it: &&Finding| arm.finding(&it.cause).is_some();
                self.shrunk.iter().filter(has_it).count()
            };
            let (cpus, kinds) = (first.genome.machine().cpus(), first.genome.kinds());
            verdict += &format!(
                ". Losses found by the search: {}; losses found by random trials: {}. Each loss \
                 occurs with all three seeds, and does not occur in the control of this loss. The \
                 first loss occurs on {} with {}: {}",
                by(&self.search),
                by(&self.random),
                if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") },
                match kinds {
                    1 => "one kind of task".to_owned(),
                    n => format!("{n} kinds of tasks"),
                },
                first.about(),
            );
        } else {
            verdict.push('.');
        }
        // The question may ask for so many, or for one cause.
        let is_left_out = |cause: &&str| !self.shrunk.iter().any(|it| it.cause == *cause);
        let more: Vec<&str> = self.confirmed().filter(is_left_out).collect();
        if !more.is_empty() {
            verdict += &format!(
                " Losses that were confirmed but not reduced to a smaller scenario: {}.",
                more.join(", ")
            );
        }
        verdict
    }

    /// The causes that were confirmed, by either arm.
    fn confirmed(&self) -> impl Iterator<Item = &str> {
        let is_new = |cause: &&str| self.search.finding(cause).is_none();
        let [search, random] = [&self.search, &self.random]
            .map(|arm| arm.found.iter().map(|(finding, _)| finding.cause.as_str()));
        search.chain(random.filter(is_new))
    }

    fn findings(&self) -> Table {
        Table::of("found", "Losses", &self.shrunk, |row, it| {
            let by_cause = it.kind == Kind::Worse && it.cause.starts_with("scheduler");
            let wastes = it.kind.is_waste() || by_cause;
            let control = format!("disappears with {}", it.control.words());
            row.cell("cause", "cause", it.cause.as_str())
                .cell("kind", "kind", it.kind.name())
                .share("share", "wasted", wastes.then_some(it.share))
                .ns("longest_ns", "longest", Some(it.longest_ns).filter(|ns| *ns > 0))
                .cell("cpus", "CPUs", it.genome.machine().cpus())
                .cell("programs", "programs", it.genome.kinds())
                .cell("steps", "steps", it.genome.longest())
                .below("control", "disappears with", control)
        })
        .shown(usize::MAX)
    }

    /// After how many trials each arm found each cause.
    fn arms(&self) -> Table {
        let title = "Number of trials until a cause was found";
        Table::of("trials", title, self.confirmed(), |row, cause| {
            let mut row = row.cell("cause", "cause", cause);
            for (name, arm) in [("search", &self.search), ("random", &self.random)] {
                let after = arm.finding(cause).map(|(_, trials)| *trials);
                let words =
                    after.map_or_else(|| format!("more than {}", arm.trials), |it| it.to_string());
                row = row.cell(name, "", after).cell("", name, words);
            }
            let all = [&self.search, &self.random].map(|arm| arm.candidates.get(cause));
            row.cell("candidates", "candidates", all.into_iter().flatten().sum::<u64>())
        })
    }
}
