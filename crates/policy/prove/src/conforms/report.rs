//! What came of a replay, as a Report.

use wastenot_model::report::Unit;
use wastenot_model::{Machine, Report, Table};
use wastenot_rota::ir::Program;
use wastenot_rota::step_log::Log;

use super::model::Model;
use super::words::words;
use super::{Conformance, Kind, Rule};

/// How many steps before the one that is not allowed are shown.
const CONTEXT: usize = 20;

/// The Report of a replay of `file`.
pub fn report(
    file: &str,
    (program, machine): (&Program, &Machine),
    log: &Log,
    found: &Conformance,
) -> Report {
    let names: Vec<&str> = program.policies.iter().map(|it| it.name.as_str()).collect();
    let title = format!("{file}: replayed in the model of {}", names.join(", "));
    let mut report = Report::new("prove.conforms/1", title);
    let model = Model::new(program, machine);
    report.verdict = verdict(log, found);
    report.measure("conforms", "Conforms", conforms(log, found), Unit::None);
    report.measure("steps", "Steps", log.steps.len(), Unit::None);
    report.measure("certain", "  before the first missing record", found.certain, Unit::None);
    report.measure("lost", "Lost steps", log.lost, Unit::None);
    report.measure("breaks", "Steps that the model does not allow", found.breaks.len(), Unit::None);
    report.measure("failed", "Failed attempts", found.failed, Unit::None);
    report.measure("beside", "  while a task waited", found.beside, Unit::None);
    report.measure("beyond", "  that no removal by another CPU explains", found.beyond, Unit::None);
    let by_kernel = "Tasks that the kernel started, not a handler";
    report.measure("by_kernel", by_kernel, found.by_kernel, Unit::None);
    report.measure(
        "span_ns",
        "Time that the log covers",
        wastenot_model::Span(found.span_ns),
        Unit::Ns,
    );
    report.measure("windows_share", "Share of time in windows", share(machine, found), Unit::Share);
    report.tables = vec![rules(found), windows(found), context(&model, log, found)];
    report.assumptions = vec![
        "a step whose record has two numbers took effect at an unknown moment between them. The \
         report calls a step forbidden only if the model forbids it in every possible order of \
         these moments"
            .into(),
        "the log was recorded on the machine that the trace describes, and the scheduler ran from \
         the beginning of the log"
            .into(),
    ];
    report
}

/// Whether it conforms; `None`: it cannot be told.
pub fn conforms(log: &Log, found: &Conformance) -> Option<bool> {
    let is_known = log.lost == 0 && log.whole && !log.steps.is_empty();
    match found.breaks.is_empty() {
        _ if !is_known => None,
        false => Some(false),
        true => (!is_cut(log, found)).then_some(true),
    }
}

/// Whether more steps follow the first missing moment than those that were not over at the end may
/// explain.
fn is_cut(log: &Log, found: &Conformance) -> bool {
    /// A few for each CPU that was in the middle of something.
    const FEW: usize = 64;
    let (all, judged) = (log.steps.len(), found.certain);
    all - judged > FEW.max(all / 100)
}

fn verdict(log: &Log, found: &Conformance) -> String {
    let steps = log.steps.len();
    match (conforms(log, found), found.breaks.first()) {
        (None, _) if log.lost > 0 => {
            format!("Unknown: {} of {steps} steps were lost.", log.lost)
        }
        (None, _) if is_cut(log, found) => format!(
            "Unknown: the log has no record for moment {}, and {} of {steps} steps come after this \
             moment.",
            log.certain_until(),
            steps - found.certain
        ),
        (None, _) => "Unknown: the log does not begin with the start of the scheduler.".into(),
        (Some(true), _) => {
            format!("The log conforms: the model allows all {} steps.", found.certain)
        }
        (Some(false), first) => {
            let first = first.map_or(String::new(), |it| {
                format!("step {} ({}): {}", it.at + 1, it.rule.name(), it.why)
            });
            format!("The log does not conform: {first}.")
        }
    }
}

/// The CPU time in windows, as a share of that of all CPUs.
fn share(machine: &Machine, found: &Conformance) -> Option<f64> {
    let all = found.span_ns as f64 * machine.len() as f64;
    let inside: u64 = found.windows.iter().map(|it| it.span_ns).sum();
    (all > 0.0).then(|| inside as f64 / all)
}

fn rules(found: &Conformance) -> Table {
    Table::of("rules", "Rules", Rule::ALL.iter().zip(&found.counts), |row, (rule, count)| {
        let broken = found.breaks.iter().filter(|it| it.rule == *rule).count();
        row.cell("rule", "rule", rule.name())
            .cell("judged", "checked steps", count.judged)
            .cell("open", "undecided", count.open)
            .cell("broken", "violations", broken)
            .cell("says", "meaning", rule.says())
    })
    .shown(usize::MAX)
}

fn windows(found: &Conformance) -> Table {
    let title = "Windows: times when the kernel deviates from the model";
    Table::of("windows", title, Kind::ALL, |row, kind| {
        let all = found.windows.iter().filter(|it| it.kind == kind).map(|it| it.span_ns);
        row.cell("kind", "window", kind.name())
            .cell("count", "count", all.clone().count())
            .ns("longest_ns", "longest", all.clone().max().unwrap_or(0))
            .ns("most_ns", "limit", kind.most_ns())
            .ns("sum_ns", "total", all.sum::<u64>())
    })
    .shown(usize::MAX)
}

fn context(model: &Model<'_>, log: &Log, found: &Conformance) -> Table {
    let mut table =
        Table::new("context", "The forbidden step and the steps before it", []).shown(usize::MAX);
    let Some(first) = found.breaks.first() else { return table };
    let from = first.at.saturating_sub(CONTEXT);
    for (n, step) in log.steps.iter().enumerate().take(first.at + 1).skip(from) {
        table.row(|row| {
            row.cell("step", "step", n + 1)
                .at("at_ns", "time", step.time_ns)
                .cell("begin", "first moment", step.begin)
                .cell("end", "last moment", step.end)
                .cell("what", "what happened", words(model, step))
        });
    }
    table
}
