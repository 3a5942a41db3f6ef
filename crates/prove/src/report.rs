//! What was found, as a Report.

use wastenot_model::report::Unit;
use wastenot_model::{Report, Table, Value};
use wastenot_rota::ir::Policy;

use crate::{Finding, Options, Outcome, Scope, Verdict};

/// What every proof takes for granted.
const ASSUMPTIONS: [&str; 5] = [
    "a queue is put into, taken from and stolen from under its lock, and all else is read without: \
     every read may be older than the one before",
    "atomic operations on idle flags and queues are sequentially consistent",
    "affinities change only while a task is in no queue, and no CPU goes on or off",
    "the kernel's queues, the verifier and the JIT do what they say",
    "a task that was given to a CPU directly is that CPU's; it may wait there up to a slice",
];

/// What no proof here is about.
const NOT_COVERED: &str = "not covered: real-time, deadline and stop class tasks in the way; bypass \
     mode; migration-disabled tasks; latency in ms; fairness under arbitrary arrivals; cache effects";

/// The verdicts on the policies of one file.
pub fn report(
    file: &str,
    judged: &[(&Policy, Vec<Verdict>)],
    options: &Options,
    line: impl Fn(u32) -> usize,
) -> Report {
    let mut report = Report::new("prove/1", format!("Proofs: {file}"));
    report.verdict = verdict(judged);
    report.tables = vec![claims(judged, &line), obligations(judged, &line)];
    report.tables.extend(judged.iter().flat_map(|(policy, verdicts)| {
        verdicts.iter().filter_map(|verdict| counterexample(policy, verdict))
    }));
    report.assumptions = assumptions(judged, options);
    let refuted = judged.iter().flat_map(|(_, verdicts)| verdicts);
    if refuted.clone().any(|it| matches!(it.outcome, Outcome::Refuted(_))) {
        let see = format!("wastenot prove {file} --cex cex.wn && wastenot draw cores cex.wn");
        report.next = Some(see);
    }
    report
}

fn verdict(judged: &[(&Policy, Vec<Verdict>)]) -> String {
    let all = || judged.iter().flat_map(|(_, verdicts)| verdicts);
    let named = |of: fn(&Outcome) -> bool| {
        let names = all().filter(|it| of(&it.outcome)).map(|it| it.claim.kind.name());
        names.collect::<Vec<_>>().join(", ")
    };
    let no = named(|it| matches!(it, Outcome::Refuted(_) | Outcome::Contradicted(_)));
    let open = named(|it| matches!(it, Outcome::Unknown(_)));
    if all().next().is_none() {
        return "Nothing is claimed: write `prove work_conservation` into the policy.".into();
    }
    if !no.is_empty() {
        return format!("Refuted: {no}.");
    }
    if !open.is_empty() {
        return format!("Cannot tell: {open}.");
    }
    let any = all().all(|it| matches!(it.outcome, Outcome::Proved(Scope::Any)));
    let of = if any { "for any number of CPUs" } else { "up to the number of CPUs that is given" };
    format!("Proved, in the model and under the assumptions below, {of}.")
}

/// `any n`, `n <= 4`
fn label(scope: Scope) -> String {
    match scope {
        Scope::Any => "any n".to_owned(),
        Scope::UpTo(bounds) => format!("n <= {}", bounds.cpus),
    }
}

fn claims(judged: &[(&Policy, Vec<Verdict>)], line: &impl Fn(u32) -> usize) -> Table {
    let columns = [
        ("policy", "policy", Unit::None),
        ("line", "line", Unit::None),
        ("claim", "claim", Unit::None),
        ("outcome", "", Unit::None),
        ("scope", "", Unit::None),
        ("", "answer", Unit::None),
        ("why", "", Unit::None),
        ("situations", "situations", Unit::None),
        ("time_ns", "time", Unit::Ns),
        ("meaning", "", Unit::None),
    ];
    let mut table = Table::new("claims", "Claims", &columns);
    table.shown = usize::MAX;
    for (policy, verdict) in each(judged) {
        let (outcome, scope, why) = match &verdict.outcome {
            Outcome::Proved(scope) => ("proved", Some(label(*scope)), None),
            Outcome::Refuted(found) => ("refuted", None, Some(found.why())),
            Outcome::Contradicted(what) => ("refuted", None, Some(format!("not so: {what}"))),
            Outcome::Unknown(why) => ("unknown", None, Some(why.clone())),
        };
        let shown = match &scope {
            Some(scope) => format!("{outcome}, {scope}"),
            None => outcome.to_owned(),
        };
        table.push(vec![
            policy.name.clone().into(),
            line(verdict.claim.span.start).into(),
            verdict.claim.kind.name().into(),
            outcome.into(),
            scope.into(),
            shown.into(),
            why.into(),
            verdict.looked.into(),
            Value::from(verdict.took.as_nanos() as u64),
            verdict.claim.kind.meaning().into(),
        ]);
    }
    table
}

fn obligations(judged: &[(&Policy, Vec<Verdict>)], line: &impl Fn(u32) -> usize) -> Table {
    let columns = [
        ("policy", "", Unit::None),
        ("claim", "", Unit::None),
        ("obligation", "obligation", Unit::None),
        ("line", "line", Unit::None),
        ("holds", "", Unit::None),
        ("", "answer", Unit::None),
        ("model_only", "", Unit::None),
        ("why", "", Unit::None),
        ("what", "what holds", Unit::None),
        ("time_ns", "", Unit::Ns),
    ];
    let mut table = Table::new("obligations", "What they follow from", &columns);
    table.shown = usize::MAX;
    let mut seen: Vec<&str> = Vec::new();
    for (policy, verdict) in each(judged) {
        for judged in &verdict.obligations {
            let (holds, shown, why) = match &judged.finding {
                Finding::Holds => (Value::Bool(true), "holds", None),
                Finding::Fails => (Value::Bool(false), "fails", None),
                Finding::Open(why) => (Value::Unknown, "open", Some(why.clone())),
            };
            let obligation = &judged.obligation;
            // What several claims follow from is shown to people once.
            let again = seen.contains(&obligation.what.as_str());
            seen.push(&obligation.what);
            if again && judged.finding == Finding::Holds {
                continue;
            }
            let shown = match (shown, obligation.model_only) {
                ("holds", true) => "model only",
                (shown, _) => shown,
            };
            table.push(vec![
                policy.name.clone().into(),
                verdict.claim.kind.name().into(),
                obligation.name.into(),
                line(obligation.span.start).into(),
                holds,
                shown.into(),
                obligation.model_only.into(),
                why.into(),
                obligation.what.clone().into(),
                Value::from(judged.took.as_nanos() as u64),
            ]);
        }
    }
    table
}

fn counterexample(policy: &Policy, verdict: &Verdict) -> Option<Table> {
    let Outcome::Refuted(found) = &verdict.outcome else { return None };
    let name = verdict.claim.kind.name();
    let label = format!("Against {name}, on {}: {}", found.machine(), found.why());
    let columns = [("step", "step", Unit::None), ("what", "what happens", Unit::None)];
    let mut table = Table::new(&format!("against_{name}"), &label, &columns);
    table.shown = usize::MAX;
    for words in found.situation_in_words(policy) {
        table.push(vec!["at first".into(), words.into()]);
    }
    for (n, words) in found.steps_in_words(policy).into_iter().enumerate() {
        table.push(vec![(n + 1).to_string().into(), words.into()]);
    }
    Some(table)
}

fn assumptions(judged: &[(&Policy, Vec<Verdict>)], options: &Options) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    match options.solvers.as_slice() {
        [] => all.push(
            "no solver was asked: what is proved is proved of small machines only".to_owned(),
        ),
        solvers => {
            let names: Vec<String> = solvers.iter().map(ToString::to_string).collect();
            all.push(format!("asked: {}", names.join(", ")));
        }
    }
    let bounds = options.bounds;
    all.push(format!(
        "the explorer looked at every machine of at most {} CPUs with at most {} tasks",
        bounds.cpus, bounds.tasks
    ));
    if judged.iter().any(|(policy, _)| !policy.protocol.is_safe()) {
        all.push("the protocol is unsafe by request: nothing of this is ever emitted".to_owned());
    }
    all.extend(ASSUMPTIONS.map(str::to_owned));
    all.push(NOT_COVERED.to_owned());
    all
}

fn each<'j>(
    judged: &'j [(&'j Policy, Vec<Verdict>)],
) -> impl Iterator<Item = (&'j Policy, &'j Verdict)> {
    judged.iter().flat_map(|(policy, all)| all.iter().map(move |verdict| (*policy, verdict)))
}
