//! A confirmation in words and tables: plain text of it is fit for a mailing list.

use wastenot_check::causes::LostTime;
use wastenot_model::report::{COLUMNS, Unit};
use wastenot_model::{Report, Span, Table};

use super::{Arm, Change, Confirmation, Lost, Median, Sample, Trial, VARIED, Verdict};
use crate::choice;

impl Verdict {
    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::NothingLost => "nothing-lost",
            Verdict::NoChange => "no-change",
            Verdict::NotReproduced => "not-reproduced",
            Verdict::Confirmed => "confirmed",
            Verdict::Partly => "partly",
            Verdict::Refuted => "refuted",
            Verdict::Unknown => "unknown",
        }
    }
}

impl Confirmation {
    /// The answer of `wastenot explain --confirm`. `file` is the trace as commands name it.
    pub fn report(&self, file: &str) -> Report {
        let name = &self.what_if.name;
        let title = match &self.trial {
            Some(trial) => format!("{name}: {}, before and after", trial.change.label()),
            None => format!("{name}: no known change removes the loss"),
        };
        let mut report = Report::new("confirm/1", title);
        report.word = Some(self.verdict().word());
        report.verdict = self.words();
        self.measure(&mut report);
        let commands = self.commands(file);
        report.measure("commands", "", commands.clone(), Unit::None);
        report.tables = vec![self.runs(), self.tried(), self.losses(), lines(&commands)];
        report.losses.clone_from(&self.what_if.losses);
        report.assumptions = self.assumptions();
        report
    }

    fn measure(&self, report: &mut Report) {
        let trial = self.trial.as_ref();
        let texts = [
            ("kernel", "kernel", self.kernel.clone()),
            ("machine", "machine", Some(self.what_if.machine())),
            ("model", "model of the scheduler", Some(choice::label(&self.model))),
            ("cause", "cause", trial.map(|it| it.lost.cause.to_owned())),
            ("loss", "  kind of loss", trial.map(|it| it.lost.loss.name().to_owned())),
            ("change", "change", trial.map(|it| it.change.label())),
            ("how", "  on a real machine", trial.map(|it| it.change.how().to_owned())),
        ];
        for (name, label, text) in texts {
            let label = if text.is_some() { label } else { "" };
            report.measure(name, label, text, Unit::None);
        }
        let of = &self.what_if;
        let known = of.waste.known_ns;
        let share = trial.filter(|it| it.lost.loss != LostTime::Quota && known > 0);
        let share = share.map(|it| it.lost.ns as f64 / known as f64);
        let label = if share.is_some() { "lost, of known CPU time" } else { "" };
        report.measure("lost_share", label, share, Unit::Share);
        let saved = trial.and_then(Trial::saved);
        let label = if saved.is_some() { "makespan saved" } else { "" };
        report.measure("saved_share", label, saved, Unit::Share);
        let bound = of.bound.span();
        report.measure("bound.makespan_ns", "lower bound", bound, Unit::Ns);
        report.measure("bound.scheduler_share_max", "", of.at_most(), Unit::Share);
        let kept = of.as_recorded();
        report.measure("as_recorded.makespan_ns", "lower bound, recorded order", kept, Unit::Ns);
        report.measure("seeds", "runs per arm", self.seeds, Unit::None);
    }

    fn words(&self) -> String {
        let answer = match (&self.trial, self.asked()) {
            (Some(trial), _) => self.words_of(trial),
            (None, Some(most)) => format!(
                "This report makes no claim: Wastenot knows no change to {} that should remove the \
                 lost time. The largest loss is {}.",
                choice::label(&self.model),
                lost_words(most)
            ),
            (None, None) => match self.cause {
                Some(cause) => format!("No time was lost to {cause}, as far as the trace shows."),
                None => {
                    "No time was lost, as far as the trace shows. No CPU was idle while a task \
                     that may run there waited. No CPU started a task late. No affinity or quota \
                     kept a task from running. So no change is needed."
                        .into()
                }
            },
        };
        let best = self.what_if.at_best();
        let bound = |change| matches!(change, Change::Affinities | Change::Quotas);
        match best.strip_prefix("Another") {
            // The change is to what schedulers have to keep to.
            Some(best) if self.trial.as_ref().is_some_and(|trial| bound(trial.change)) => {
                format!("{answer} With the recorded affinities and quotas, another{best}")
            }
            _ => format!("{answer} {best}"),
        }
    }

    fn words_of(&self, trial: &Trial) -> String {
        let (change, lost, model) = (trial.change.label(), trial.lost, choice::label(&self.model));
        let kind = kind(lost.loss);
        let [before, after, control] = [&trial.before, &trial.after, &trial.control]
            .map(|arm| arm.cause().map(spread).unwrap_or_default());
        let because = format!("that arises because {}", lost.about);
        let matters = trial.matters();
        match self.verdict() {
            Verdict::Confirmed => format!(
                "Confirmed in the simulator: with {change}, the {kind} {because} falls from \
                 {before} to {after}. In the control, the {kind} is {control}. {matters}"
            ),
            Verdict::Partly => {
                let [all_before, all_after] = [&trial.before, &trial.after]
                    .map(|arm| arm.loss().map(spread).unwrap_or_default());
                format!(
                    "In the simulator, {change} removes less than half of the lost time. The \
                     {kind} {because} falls from {before} to {after}. In the control, the {kind} \
                     is {control}. The {kind} by all causes together falls from {all_before} to \
                     {all_after}. {matters}"
                )
            }
            Verdict::Refuted => format!(
                "Refuted in the simulator: {}. The {kind} {because} is {before} before the change \
                 and {after} after the change. In the control, the {kind} is {control}. {matters}",
                trial.instead()
            ),
            Verdict::NotReproduced => format!(
                "This report makes no claim: the model does not reproduce the loss. In the \
                 recorded run, the {kind} {because} is {}. Under the model {model}, the {kind} is \
                 {before}. A claim requires that this value is between half and twice the recorded \
                 value. Use `--scheduler` to choose another model.",
                Span(lost.ns)
            ),
            _ if trial.gave_up() => format!(
                "Unknown: some runs did not end within 100 times the recorded time, so their \
                 losses cannot be compared. Run `wastenot what-if --scheduler {}` to see one of \
                 these runs.",
                choice::typed(&trial.changed)
            ),
            _ => format!(
                "Unknown: the runs vary too much. The {kind} {because} is {before} before the \
                 change and {after} after the change. In the control, the {kind} is {control}. \
                 {matters} More runs may give an answer: `--seeds {}`.",
                4 * self.seeds
            ),
        }
    }

    /// The recorded run and the three arms.
    fn runs(&self) -> Table {
        let mut table = Table::new("runs", "Before and after", []).shown(usize::MAX);
        let Some(trial) = &self.trial else { return table };
        for (figure, words, one, of) in figures(trial.lost.loss) {
            let mut row = |words: &str, run: &str, median: Option<u64>, ends: Option<Median>| {
                let interval = ends.map(|it| format!("{} .. {}", Span(it.low), Span(it.high)));
                table.row(|row| {
                    row.cell("figure", "", figure)
                        .cell("", "", words)
                        .cell("run", "run", run)
                        .ns("median_ns", "median", median)
                        .ns("low_ns", "", ends.map(|it| it.low))
                        .ns("high_ns", "", ends.map(|it| it.high))
                        .words("", "95 % interval", interval.unwrap_or_default())
                });
            };
            row(&words, "recorded", one(&trial.recorded), None);
            let arms =
                [("before", &trial.before), ("after", &trial.after), ("control", &trial.control)];
            for (run, arm) in arms {
                let median = of(arm);
                row("", run, median.map(|it| it.median), median);
            }
        }
        table
    }

    /// What was considered.
    fn tried(&self) -> Table {
        let rows = self.trial.iter().flat_map(|trial| &trial.tried);
        Table::of("tried", "Changes tried, with one run each", rows, |row, tried| {
            row.cell("change", "change", tried.change.map_or("none".to_owned(), |it| it.label()))
                .ns("cause_ns", "by this cause", tried.sample.cause_ns)
                .ns("loss_ns", "by all causes", tried.sample.loss_ns)
                .ns("makespan_ns", "makespan", tried.sample.makespan_ns)
        })
        .shown(usize::MAX)
    }

    /// What was lost by which cause.
    fn losses(&self) -> Table {
        Table::of("lost", "Time lost in the recorded run", &self.lost, |row, lost| {
            let row = row.cell("cause", "cause", lost.cause).cell("loss", "kind", kind(lost.loss));
            row.ns("ns", "lost time", lost.ns)
        })
        .shown(6)
    }

    /// What repeats it.
    fn commands(&self, file: &str) -> Vec<String> {
        let Some(trial) = &self.trial else { return Vec::new() };
        let (model, seeds, cause) = (choice::typed(&self.model), self.seeds, trial.lost.cause);
        let mut commands = vec![format!(
            "wastenot explain {file} --confirm --scheduler {model} --cause {cause} --seeds {seeds}"
        )];
        let mut under = |scheduler: &str| {
            commands.push(format!("wastenot what-if {file} --scheduler {scheduler}"));
        };
        under(&model);
        if trial.changed != self.model {
            under(&choice::typed(&trial.changed));
        }
        commands
    }

    fn assumptions(&self) -> Vec<String> {
        let mut said = vec![
            format!(
                "this result is from the simulator, not from a kernel: the recorded work runs \
                 under {}, a model of the scheduler in the trace",
                choice::label(&self.model)
            ),
            format!(
                "the arms `before` and `control` differ only in their seeds. A seed determines the \
                 random numbers of programs. A seed also changes all other computations and sleeps \
                 by up to {:.0} %",
                VARIED * 100.0
            ),
            "each interval contains the median with a confidence of at least 95 %. The ends of an \
             interval are two of the simulated values (sign test)"
                .into(),
            "`confirmed` requires four results. (1) Before the change, the loss under the model is \
             between half and twice the recorded loss. (2) The change lowers the loss by this \
             cause, and the loss by all causes together. This means that the interval after the \
             change is below the interval before the change, and that the median falls to half or \
             less. (3) The loss in the arm `control` does not differ from the loss in the arm \
             `before`. (4) The change does not make the run longer"
                .into(),
        ];
        if self.trial.as_ref().is_some_and(|trial| trial.change.ends_it_by_definition()) {
            said.push(
                "by definition, no such loss is possible after this change. So `confirmed` \
                 requires a shorter run"
                    .into(),
            );
        }
        said.extend(self.assumptions.iter().cloned());
        said.extend(self.what_if.asked.unread.clone());
        said
    }
}

type OfOne = fn(&Sample) -> Option<u64>;
type OfArm = fn(&Arm) -> Option<Median>;

/// The figures of runs: what was lost by the cause, in all, and how long it took.
fn figures(loss: LostTime) -> [(&'static str, String, OfOne, OfArm); 3] {
    let kind = kind(loss);
    [
        ("cause", format!("{kind}, by this cause"), |it| Some(it.cause_ns), Arm::cause),
        ("loss", format!("{kind}, by all causes"), |it| Some(it.loss_ns), Arm::loss),
        ("makespan", "makespan".into(), |it| it.makespan_ns, Arm::makespan),
    ]
}

/// A kind of loss in words.
fn kind(loss: LostTime) -> &'static str {
    match loss {
        LostTime::Waste => "waste",
        LostTime::WakeDelay => "wake delay",
        LostTime::Affinity => "idle time",
        LostTime::Quota => "throttled time",
    }
}

fn lost_words(lost: &Lost) -> String {
    format!("{} of {} because {}", Span(lost.ns), kind(lost.loss), lost.about)
}

/// A median with its interval.
fn spread(of: Median) -> String {
    if of.low == of.high {
        return Span(of.median).to_string();
    }
    format!("{} ({} to {})", Span(of.median), Span(of.low), Span(of.high))
}

/// Commands for people, each in lines that fit and can be copied. An option stays with its value.
fn lines(commands: &[String]) -> Table {
    const INDENT: &str = "    ";
    let room = COLUMNS - 4;
    let mut table = Table::new("", "Reproduce", []).shown(usize::MAX);
    for command in commands {
        let mut words = command.split(" --");
        let mut line = words.next().unwrap_or_default().to_owned();
        for word in words {
            if line.chars().count() + " --".len() + word.chars().count() > room {
                table.row(|row| row.cell("", "", format!("{line} \\")));
                line = format!("{INDENT}--{word}");
            } else {
                line = format!("{line} --{word}");
            }
        }
        table.row(|row| row.cell("", "", line));
    }
    table
}

impl Trial {
    /// The part of the makespan that the change saves, where the intervals are apart.
    fn saved(&self) -> Option<f64> {
        let (before, after) = (self.before.makespan()?, self.after.makespan()?);
        let apart = after.is_below(&before) || before.is_below(&after);
        Some(if apart { 1.0 - after.median as f64 / before.median.max(1) as f64 } else { 0.0 })
    }

    /// Whether the run gains by it, in a sentence.
    fn matters(&self) -> String {
        let ends = self.before.makespan().zip(self.after.makespan());
        let Some(((before, after), saved)) = ends.zip(self.saved()) else {
            return "Some runs did not end.".into();
        };
        let (from, to) = (spread(before), spread(after));
        match saved {
            0.0 => {
                format!("The makespan does not change significantly: {from} before, {to} after.")
            }
            saved if saved > 0.0 => {
                format!("The run gets {:.1} % shorter: {to} instead of {from}.", saved * 100.0)
            }
            more => format!("The run gets {:.1} % longer: {to} instead of {from}.", -more * 100.0),
        }
    }

    /// What speaks against a change.
    fn instead(&self) -> String {
        let change = self.change.label();
        let is_below = |of: OfArm| {
            of(&self.after)
                .zip(of(&self.before))
                .is_some_and(|(after, before)| after.is_below(&before))
        };
        match (is_below(Arm::cause), is_below(Arm::loss)) {
            (true, true) if self.change.ends_it_by_definition() => {
                format!("with {change}, the run does not get shorter, so the loss did not delay it")
            }
            (true, true) => format!("with {change} the run gets longer"),
            (true, false) => format!(
                "with {change}, less time is lost to this cause, but the total loss does not fall"
            ),
            (false, _) => format!("with {change} the loss remains"),
        }
    }

    fn gave_up(&self) -> bool {
        [&self.before, &self.after, &self.control].iter().any(|arm| arm.makespan().is_none())
    }
}
