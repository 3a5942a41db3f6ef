//! The verdicts as a Report.

use wastenot_model::report::counted;
use wastenot_model::{Report, Table, Value};
use wastenot_rota::ir::{ClaimKind, Policy};

use crate::explore::Bounds;
use crate::text::hint;
use crate::{Finding, Judged, Judgement, Options, Outcome, Scope, Verdict};

/// The assumptions of every proof.
const ASSUMPTIONS: [&str; 6] = [
    "tasks enter and leave a queue only under the lock of this queue. Without this lock, a later \
     read may return an older state than a read before it",
    "atomic operations on idle flags and queues are sequentially consistent",
    "a change of affinity takes a waiting task out of its queue and enqueues the task again. No \
     CPU goes online or offline",
    "the kernel's queues, the BPF verifier and the JIT work as documented",
    "all numbers are less than 2^63. Running code ensures this, but proofs use unbounded integers",
    "a task that was given directly to a CPU stays on that CPU; it may wait there for up to one \
     slice",
];

/// The meaning of `model only`.
const MODEL_ONLY: &str = "model only: in the model, a CPU repeats a check under the lock. The \
                          emitted code does not hold the lock during this check";

/// The meaning of `as given`.
const AS_GIVEN: &str = "as given: the proof uses the values that these parameters have in the text \
                        of the policy. With other values, the claim may be false";

/// What `lag` does not bound.
const LAG: &str = "lag: the claim bounds how far a new or woken task may be behind the other tasks \
                   of its queue, because these tasks wait for it. The claim does not bound how \
                   long a task waits. A task keeps its key if it changes its queue because its \
                   affinity changed, its CPU went offline, or it was displaced. If this key is \
                   greater than the other keys of the new queue, the task may wait until the other \
                   tasks have caught up";

/// The meaning of `explored`.
const EXPLORED: &str = "explored: without a solver, the prover examined every state of every \
                        machine that has at most the listed number of CPUs and tasks. For a claim \
                        about wakeups or moves, it examined at most one wakeup or move during each \
                        attempt. If a solver proved the claim first, the listed numbers are \
                        smaller than --cpus and --tasks";

fn is_model_only(judged: &Judged) -> bool {
    judged.obligation.model_only
}

/// What no proof covers.
const NOT_COVERED: &str = "not covered: tasks of the real-time, deadline and stop classes that \
                           take CPUs; bypass mode; migration-disabled tasks; latency in ms; \
                           fairness under arbitrary arrivals; cache effects";

/// The verdicts on the policies of one file.
pub fn report(
    file: &str,
    judged: &[Judgement<'_>],
    options: &Options,
    line: impl Fn(u32) -> usize,
) -> Report {
    let mut report = Report::new("prove/1", format!("Proofs: {file}"));
    report.verdict = verdict(judged);
    report.tables = vec![claims(judged, &line)];
    report.tables.extend(warned(judged, &line));
    let policies = judged.iter().filter_map(|it| Some((it.policy?, &it.verdicts)));
    let several = policies.clone().count() > 1;
    report.tables.extend(policies.flat_map(|(policy, verdicts)| {
        verdicts.iter().filter_map(move |verdict| counterexample(policy, verdict, several))
    }));
    report.tables.extend(not_shown(judged, &line));
    report.tables.push(follows(judged, &line));
    report.tables.extend(instead(judged, &line));
    report.tables.push(obligations(judged, &line));
    report.assumptions = assumptions(judged, options);
    report
}

fn verdict(judged: &[Judgement<'_>]) -> String {
    let all = || each(judged).map(|(_, verdict)| verdict);
    let named = |of: fn(&Outcome) -> bool| {
        let mut names: Vec<&str> = Vec::new();
        for name in all().filter(|it| of(&it.outcome)).map(|it| it.claim.kind.name()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    };
    let no = named(|it| matches!(it, Outcome::Refuted(_) | Outcome::Contradicted(_)));
    let open = named(|it| matches!(it, Outcome::Unknown(_)));
    if judged.iter().all(|it| it.policy.is_none()) {
        return "The file has no policy: begin with `policy NAME { ... }`.".into();
    }
    if all().next().is_none() {
        let help = "`prove no_lost_task, no_lost_wakeup, work_conservation`";
        return format!("The file makes no claim: write {help} into the policy.");
    }
    if !no.is_empty() {
        return format!("Refuted: {no}.");
    }
    if !open.is_empty() {
        return format!("Unknown: the prover could neither prove nor refute {open}.");
    }
    let any = |it: &&Verdict| matches!(it.outcome, Outcome::Proved(Scope::Any));
    let of = match (all().filter(any).count(), all().count()) {
        (any, every) if any == every => "for any number of CPUs",
        (0, _) => {
            "but only for small machines: the table of claims lists their greatest number of CPUs"
        }
        _ => {
            "but some claims only for small machines: the table of claims lists their greatest \
             number of CPUs"
        }
    };
    format!("Proved, in the model and under the assumptions below, {of}.")
}

/// `any n`, `n <= 4`
fn label(scope: Scope) -> String {
    match scope {
        Scope::Any => "any n".to_owned(),
        Scope::UpTo(bounds) => format!("n <= {}", bounds.cpus),
    }
}

/// `2 CPUs, 3 tasks`
fn so_far(Bounds { cpus, tasks, .. }: Bounds) -> String {
    format!("{}, {}", counted(cpus, "CPU"), counted(tasks, "task"))
}

fn claims(judged: &[Judgement<'_>], line: &impl Fn(u32) -> usize) -> Table {
    Table::of("claims", "Claims", each(judged), |row, (name, verdict)| {
        let (outcome, scope, why) = match &verdict.outcome {
            Outcome::Proved(scope) => ("proved", Some(label(*scope)), None),
            Outcome::Unknown(why) => ("unknown", None, Some(why.clone())),
            outcome => ("refuted", None, outcome.refutation()),
        };
        let model_only = scope.is_some() && verdict.obligations.iter().any(is_model_only);
        let as_given = as_given(verdict).join(", ");
        let mut shown = match &scope {
            Some(scope) if model_only => format!("{outcome}, {scope}, model only"),
            Some(scope) => format!("{outcome}, {scope}"),
            None => outcome.to_owned(),
        };
        if !as_given.is_empty() {
            shown += &format!(", `{as_given}` as given");
        }
        let explored = verdict.explored.filter(|_| !matches!(verdict.outcome, Outcome::Refuted(_)));
        row.cell("policy", "policy", name)
            .cell("line", "line", line(verdict.claim.span.start))
            .cell("claim", "claim", verdict.claim.kind.name())
            .cell("outcome", "", outcome)
            .cell("scope", "", scope)
            .cell("model_only", "", model_only)
            .cell("", "answer", shown)
            .cell("as_given", "", as_given)
            .cell("why", "", why)
            .cell("", "explored", explored.map_or_else(|| "-".to_owned(), so_far))
            .cell("explored_cpus", "", explored.map(|bounds| bounds.cpus))
            .cell("explored_tasks", "", explored.map(|bounds| bounds.tasks))
            .cell("situations", "", verdict.looked)
            .ns("time_ns", "time", verdict.took.as_nanos() as u64)
            .cell("meaning", "", verdict.claim.kind.meaning())
    })
    .shown(usize::MAX)
}

/// The parameters whose values in the text a proof needs.
fn as_given(verdict: &Verdict) -> Vec<String> {
    let proved = matches!(verdict.outcome, Outcome::Proved(_));
    let mut names: Vec<String> = Vec::new();
    for name in verdict.obligations.iter().filter(|_| proved).flat_map(|it| &it.as_given) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The warnings: for each its place in the text, and its evidence.
fn warned(judged: &[Judgement<'_>], line: &impl Fn(u32) -> usize) -> Option<Table> {
    let mut table = Table::new("warnings", "Warnings", []).shown(usize::MAX);
    for (policy, warnings) in judged.iter().filter_map(|it| Some((it.policy?, &it.warnings))) {
        for warning in warnings {
            table.row(|row| {
                row.cell("policy", "", policy.name.as_str())
                    .cell("line", "line", line(warning.span.start))
                    .cell("code", "warning", warning.code)
                    .cell("what", "finding", warning.what.as_str())
                    .cell("evidence", "evidence", warning.evidence.as_str())
                    .cell("help", "suggestion", warning.help)
            });
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// For people: why a claim without a counterexample is not proved.
fn not_shown(judged: &[Judgement<'_>], line: &impl Fn(u32) -> usize) -> Option<Table> {
    let mut table = Table::new("", "Not proved", []).shown(usize::MAX);
    for (_, verdict) in each(judged) {
        let why = match &verdict.outcome {
            Outcome::Unknown(why) => Some(why.clone()),
            Outcome::Refuted(_) => None,
            outcome => outcome.refutation(),
        };
        let Some(why) = why else { continue };
        // What gave up stands there: the obligation that does not hold, before those that are open.
        let fails = |it: &&Judged| it.finding == Finding::Fails;
        let open = |it: &&Judged| matches!(it.finding, Finding::Open(_));
        let of = || verdict.obligations.iter();
        let at = of().find(fails).or_else(|| of().find(open)).map(|it| it.obligation.span);
        let at = line(at.unwrap_or(verdict.claim.span).start);
        table.row(|row| {
            row.cell("", "claim", verdict.claim.kind.name())
                .cell("", "line", at)
                .cell("", "reason", why)
        });
    }
    (!table.rows.is_empty()).then_some(table)
}

/// What to write where an obligation fails. Each advice appears once.
fn instead(judged: &[Judgement<'_>], line: &impl Fn(u32) -> usize) -> Option<Table> {
    let mut rows = Vec::new();
    for (_, judged, _) in told(judged).filter(|(_, it, _)| it.finding == Finding::Fails) {
        let Some(hint) = hint(judged.obligation.name) else { continue };
        let line = line(judged.obligation.span.start);
        let row = (judged.obligation.name, line, hint);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let table = Table::of("", "How to fix the policy", rows, |row, (name, line, hint)| {
        row.cell("", "obligation", name).cell("", "line", line).cell("", "suggestion", hint)
    });
    let table = table.shown(usize::MAX);
    (!table.rows.is_empty()).then_some(table)
}

/// For people: obligations of one name that all hold share a row, and so do those that all have no
/// answer. Each obligation that fails has a row of its own.
fn follows(judged: &[Judgement<'_>], line: &impl Fn(u32) -> usize) -> Table {
    let mut table = Table::new("", "Obligations behind the claims", []).shown(usize::MAX);
    let needless: Vec<&Judged> = each(judged).flat_map(|(_, it)| &it.remarks).collect();
    let all: Vec<&Judged> = told(judged).map(|(_, it, _)| it).collect();
    for (n, one) in all.iter().enumerate() {
        let alike = |other: &&&Judged| {
            let (a, b) = (&other.obligation, &one.obligation);
            a.name == b.name && a.model_only == b.model_only && other.finding == one.finding
        };
        let differs = |other: &&Judged| {
            other.obligation.name == one.obligation.name && other.finding != one.finding
        };
        let some_differ = all.iter().any(differs);
        let together = match one.finding {
            Finding::Holds => true,
            Finding::Open(_) => !some_differ,
            Finding::Fails => false,
        };
        let told = |other: &&&Judged| {
            alike(other) && (together || other.obligation.what == one.obligation.what)
        };
        if all[..n].iter().any(|other| told(&other)) {
            continue;
        }
        let mut places: Vec<u32> = vec![one.obligation.span.start];
        if together {
            places = all.iter().filter(alike).map(|other| other.obligation.span.start).collect();
        }
        let mut lines: Vec<usize> = places.into_iter().map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let answer = match (&one.finding, one.obligation.model_only) {
            (Finding::Holds, true) => "model only",
            (Finding::Holds, false) => "holds",
            (Finding::Fails, _) if needless.iter().any(|it| std::ptr::eq(*it, *one)) => {
                "fails, not needed"
            }
            (Finding::Fails, _) => "fails",
            (Finding::Open(_), _) => "open",
        };
        let what = match together {
            true if some_differ => "all other obligations of this name",
            true => about(one.obligation.name).unwrap_or(&one.obligation.what),
            false => &one.obligation.what,
        };
        let name = one.obligation.name;
        table.row(|row| {
            row.cell("", "obligation", name)
                .cell("", "line", lines.join(", "))
                .cell("", "answer", answer)
                .cell("", "statement", what)
        });
    }
    table
}

/// The common sentence of several obligations of one name.
fn about(name: &str) -> Option<&'static str> {
    Some(match name {
        "served" => "for every enqueued task, some CPU that may run the task looks into its queue",
        "woken" => {
            "if a sleeping CPU may run an enqueued task and would find it, the CPU is among the \
             CPUs that can be woken for this task"
        }
        "protocol" => "every step of the wakeup protocol preserves the invariant",
        "reached" => "an idle CPU looks into every queue that can hold a task allowed on this CPU",
        "in_order" => "queues are first in, first out",
        "first" => "for every enqueued task, some CPU that may run it looks into its queue first",
        "rises" => "no handler decreases a key",
        "calm" => "the handlers of `start`, `stop`, `tick` and `preempt` do not preempt tasks",
        "part" => "in every partition, the claims that all policies have in common are proved",
        _ => return None,
    })
}

/// For programs: all obligations.
fn obligations(judged: &[Judgement<'_>], line: &impl Fn(u32) -> usize) -> Table {
    Table::of("obligations", "", told(judged), |row, ((name, verdict), judged, needed)| {
        let (holds, why) = match &judged.finding {
            Finding::Holds => (Value::Bool(true), None),
            Finding::Fails => (Value::Bool(false), None),
            Finding::Open(why) => (Value::Unknown, Some(why.clone())),
        };
        let obligation = &judged.obligation;
        let scope = (judged.finding == Finding::Holds).then(|| label(Scope::Any));
        let help = hint(obligation.name).filter(|_| judged.finding == Finding::Fails);
        row.cell("policy", "", name)
            .cell("claim", "", verdict.claim.kind.name())
            .cell("obligation", "", obligation.name)
            .cell("line", "", line(obligation.span.start))
            .cell("holds", "", holds)
            .cell("scope", "", scope)
            .cell("needed", "", needed)
            .cell("model_only", "", obligation.model_only)
            .cell("why", "", why)
            .cell("what", "", obligation.what.clone())
            .cell("help", "", help)
            .ns("time_ns", "", judged.took.as_nanos() as u64)
    })
}

/// `several`: the file has other policies too.
fn counterexample(policy: &Policy, verdict: &Verdict, several: bool) -> Option<Table> {
    let Outcome::Refuted(found) = &verdict.outcome else { return None };
    let name = verdict.claim.kind.name();
    let of = if several { format!(" of {}", policy.name) } else { String::new() };
    let key = if several { format!("_{}", policy.name) } else { String::new() };
    let label = format!("Counterexample to {name}{of}, on {}", found.machine());
    let first = found.situation_in_words(policy).into_iter();
    let first = first.map(|words| ("at first".to_owned(), words));
    let steps = found.steps_in_words(policy).into_iter().zip(1..);
    let steps = steps.map(|(words, n)| (n.to_string(), words));
    let rows = first.chain(steps).chain([("so".to_owned(), found.why())]);
    let table = Table::of(&format!("against_{name}{key}"), &label, rows, |row, (step, what)| {
        row.cell("step", "step", step).cell("what", "what happens", what)
    });
    Some(table.shown(usize::MAX))
}

fn assumptions(judged: &[Judgement<'_>], options: &Options) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    if each(judged).next().is_none() {
        return all;
    }
    match options.solvers.as_slice() {
        [] => all.push(
            "no solver was run, so the proofs hold only for small machines. The exceptions are \
             claims that follow from the text of the policy alone"
                .to_owned(),
        ),
        solvers => {
            let names: Vec<String> = solvers.iter().map(ToString::to_string).collect();
            all.push(format!("solvers: {}", names.join(", ")));
        }
    }
    if each(judged).any(|(_, it)| it.explored.is_some()) {
        all.push(EXPLORED.to_owned());
    }
    if each(judged).any(|(_, verdict)| !as_given(verdict).is_empty()) {
        all.push(AS_GIVEN.to_owned());
    }
    if each(judged).any(|(_, verdict)| matches!(verdict.claim.kind, ClaimKind::Lag(_))) {
        all.push(LAG.to_owned());
    }
    if judged.iter().filter_map(|it| it.policy).any(|policy| !policy.protocol.is_safe()) {
        all.push("the policy uses an unsafe protocol, so no code is emitted for it".to_owned());
    }
    if each(judged).any(|(_, verdict)| verdict.obligations.iter().any(is_model_only)) {
        all.push(MODEL_ONLY.to_owned());
    }
    all.extend(ASSUMPTIONS.map(str::to_owned));
    all.push(NOT_COVERED.to_owned());
    all
}

/// The obligations and the remarks of claims: for each the claim, the finding, and whether the
/// claim needs it.
fn told<'j>(
    judged: &'j [Judgement<'_>],
) -> impl Iterator<Item = ((&'j str, &'j Verdict), &'j Judged, bool)> {
    each(judged).flat_map(|of| {
        let needed = of.1.obligations.iter().map(move |judged| (of, judged, true));
        needed.chain(of.1.remarks.iter().map(move |judged| (of, judged, false)))
    })
}

/// Every verdict, under its policy's name.
fn each<'j>(judged: &'j [Judgement<'_>]) -> impl Iterator<Item = (&'j str, &'j Verdict)> {
    judged.iter().flat_map(|it| {
        let name = it.policy.map_or("partitions", |policy| policy.name.as_str());
        it.verdicts.iter().map(move |verdict| (name, verdict))
    })
}
