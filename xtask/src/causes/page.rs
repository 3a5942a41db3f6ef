//! docs/results/causes.md, from the scores of all cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::LOOKED_AT;
use super::faults::FAULTS;
use super::score::{ENOUGH, LEFT, POSITIVE, Score, Scores, is_positive, share};
use super::truth::{ByCause, Case, Grain, View};
use super::{misses, seconds};

/// What the project wants to reach.
const PRECISION: f64 = 0.9;
const RECALL: f64 = 0.7;
/// The same of leaves, with decisions.
const LEAF_PRECISION: f64 = 0.95;
const LEAF_RECALL: f64 = 0.85;

/// The page. `failed`: the runs that did not end as they should.
pub(super) fn page(seed: u64, cases: &[Case], failed: &[String]) -> String {
    let scores = View::ALL.map(|view| Scores::of(cases, view, Grain::Class));
    let whole = &scores[View::Whole as usize];
    let mut page = head(seed, cases, whole);
    classes(&mut page, whole);
    confusion(&mut page, whole);
    faults(&mut page, whole);
    leaves(&mut page, cases);
    views(&mut page, &scores);
    misses::section(&mut page, seed, cases);
    if !failed.is_empty() {
        let _ = writeln!(page, "\n## Runs that failed\n\nNo table includes these runs.\n");
    }
    for error in failed {
        let _ = writeln!(page, "- {}", error.lines().next().unwrap_or_default());
    }
    page
}

/// The result in a line.
pub(super) fn verdict(cases: &[Case]) -> String {
    let all = Scores::of(cases, View::Whole, Grain::Class).all;
    format!("precision {}, recall {}", ratio(all.precision()), ratio(all.recall()))
}

/// What the page is, and what its words mean.
fn how() -> String {
    format!(
        "# Causes, measured\n\nThis page shows how often `check` finds the right \
         [cause](../reference/causes.md) of lost time. `make long-causes`\nwrites it; do not edit \
         it by hand.\n\n## How\n\nEach case is simulated twice with the same machine, work, \
         scheduler and seed: once with a planted fault, and once\nwithout this fault. The \
         difference between the two runs shows the true cause. If time is lost only with the \
         fault, the\nfault caused this loss. If time is lost in both runs, the fault did not cause \
         this loss. The machine, the work and the\nparameters of each case are random. The seed of \
         this page determines them. `check` gets only facts that a recorded trace\ncan have. So \
         the traces contain neither the programs of the tasks nor the tunables of the scheduler. \
         The traces contain\nthe decisions of the scheduler only where this page says so.\n\n- \
         *Lost* time is all time for which `check` gives causes. Lost time has four kinds. The \
         first two kinds are waste and\n  wake delay. The third kind is idle CPU time that waiting \
         tasks may not use because of their affinities. The fourth\n  kind is time for which \
         quotas hold tasks back. If both runs finished their work, this page compares their \
         losses\n  directly. Otherwise it multiplies the loss without the fault by a ratio: the \
         CPU time of the run with the fault,\n  divided by the CPU time of the run without the \
         fault.\n- *Truth* is the loss with the fault minus the loss without it. A case is \
         *positive* if its truth is at least {:.0} %\n  of its CPU time.\n- A *class* is a group \
         of causes, such as scheduler/balancing. *Found* time of a class is the difference between \
         two\n  times that `check` assigns to this class: the time with the fault on, minus the \
         time with the fault off. Each fault\n  belongs to one class. Time found in the fault's \
         class is *right*. If this time is longer than the truth, the excess is\n  *wrong*. Time \
         found in a node above this class in the tree of causes is *open*. Time found as `unknown` \
         is open, too.\n  Open time counts neither as right nor as wrong. Time found in any other \
         class is *wrong*.\n- *Precision* is right / (right + wrong), and *recall* is right / \
         truth. Both use the sums of the times of all cases. So\n  cases on large machines have \
         the most weight. *Mean precision* and *mean recall* are means over the positive \
         cases.\n  In these means, all positive cases have the same weight.\n- *Left* is a ratio \
         of two times that `check` assigns to the fault's class: the time with the fault off, \
         divided by the\n  time with the fault on. The time with the fault off is scaled to the \
         CPU time of the run with the fault on. Only\n  positive cases count. The goal is {:.0} \
         %.\n- A cause is *named* if at least {ENOUGH} cases with this cause are positive. \
         Otherwise the cause is *suspected*.\n\n`check` divides each loss among its causes. In \
         every run, the sum of the times of all causes equals the loss to the\nnanosecond.\n\n",
        POSITIVE * 100.0,
        LEFT * 100.0,
    )
}

fn head(seed: u64, cases: &[Case], whole: &Scores) -> String {
    let machines: BTreeSet<&str> = cases.iter().map(|case| case.machine.as_str()).collect();
    let schedulers: BTreeSet<&str> = cases.iter().map(|case| case.scheduler.as_str()).collect();
    let Score { cases: count, positive, on_ns, off_ns, little_left, .. } = whole.all;
    let among = whole.among(&["scheduler/balancing", "scheduler/placement"]).map(ratio);
    let reached = |of: &dyn Fn(&str, &Score) -> bool| {
        whole.by_class.iter().filter(|(class, score)| of(class, score)).count()
    };
    let classes = whole.by_class.len();
    let precise = reached(&|class, _| whole.precision(class) >= Some(PRECISION));
    let recalled = reached(&|_, score| score.recall() >= Some(RECALL));
    let how = how();
    format!(
        "{how}This page is for seed {seed}. It has {count} cases on {} machines, with {} \
         schedulers and policies. Of these cases,\n{positive} are positive. {LOOKED_AT} are not a \
         fair test, because we examined their cases while we wrote the rules of\n`check`. The \
         first command tests the cases of another seed. The second command prints the scenarios of \
         one case.\n`wastenot run` can run these scenarios:\n\n```sh\ncargo run --release \
         --package xtask -- causes 7 causes-7.md\ncargo run --release --package xtask -- causes 7 \
         numa-levels 12\n```\n\nThe file target/causes/SEED.csv has the figures of each \
         case.\n\n## Result\n\n| | here | goal | reached |\n|---|---|---|---|\n| precision | {} | \
         {PRECISION} | {} |\n| recall | {} | {RECALL} | {} |\n| classes that reach this precision \
         | {precise} of {classes} | all | {} |\n| classes that reach this recall | {recalled} of \
         {classes} | all | {} |\n| left with the fault off | {:.1} % | {:.0} % | {} |\n| positive \
         cases that reach this share | {little_left} of {positive} | all | {} |\n\nSome classes \
         are easy to find. The kind of a loss shows whether its cause is an affinity, a quota or \
         the host. The name\nof the scheduler shows whether the cause is its policy or its design. \
         Balancing and placement are the hard classes. For\nthese two classes together, the \
         precision is {} and the recall is {}.\n\n",
        machines.len(),
        schedulers.len(),
        ratio(whole.all.precision()),
        yes(whole.all.precision() >= Some(PRECISION)),
        ratio(whole.all.recall()),
        yes(whole.all.recall() >= Some(RECALL)),
        yes(precise == classes),
        yes(recalled == classes),
        100.0 * share(off_ns, on_ns).unwrap_or_default(),
        LEFT * 100.0,
        yes(off_ns <= LEFT * on_ns),
        yes(little_left == positive),
        among[0],
        among[1],
    )
}

/// A row for each class.
fn classes(page: &mut String, scores: &Scores) {
    *page += "The table has the results by class. The precision of a class uses all time that \
              `check` found in this class. Some of\nthis time is in cases whose fault belongs to \
              another class. So the precision also depends on the losses from faults of\nother \
              classes. The column *equal weight* gives another precision, in which each positive \
              case has the same weight.\n\n| class | cases | positive | truth | precision | recall \
              | open | equal weight | mean recall | left | \
              |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (class, score) in &scores.by_class {
        let named = if score.positive >= ENOUGH { "named" } else { "suspected" };
        let cells = cells(score, scores.precision(class), scores.precision_alike(class));
        let _ = writeln!(page, "| {class} |{cells} | {named} |");
    }
    let all = cells(&scores.all, scores.all.precision(), scores.all.mean_precision());
    let _ = writeln!(page, "| all |{all} | |");
}

fn cells(score: &Score, precision: Option<f64>, alike: Option<f64>) -> String {
    format!(
        " {} | {} | {} s | {} | {} | {} | {} | {} | {}",
        score.cases,
        score.positive,
        seconds(score.truth_ns),
        ratio(precision),
        ratio(score.recall()),
        percent(share(score.open_ns, score.truth_ns)),
        ratio(alike),
        ratio(score.mean_recall()),
        percent(score.left())
    )
}

fn confusion(page: &mut String, scores: &Scores) {
    let found: BTreeSet<&str> =
        scores.confusion.values().flat_map(|row| row.keys().copied()).collect();
    *page += "\n## Confusion\n\nEach row shows the lost time of all faults of one class. Each \
              column shows the time that `check` found in one class.\nThe unit is CPU seconds (for \
              quotas: task seconds).\n\n| fault of | truth |";
    found.iter().for_each(|class| *page += &format!(" {class} |"));
    *page += "\n|---|---|";
    found.iter().for_each(|_| *page += "---|");
    *page += "\n";
    for (class, row) in &scores.confusion {
        let truth = scores.by_class.get(class).map_or(0.0, |score| score.truth_ns);
        let _ = write!(page, "| {class} | {} |", seconds(truth));
        for other in &found {
            let ns = row.get(other).copied().unwrap_or_default();
            let strong = if other == class { "**" } else { "" };
            let text = if ns < 5e6 { String::new() } else { seconds(ns) };
            let _ = match text.is_empty() {
                true => write!(page, " |"),
                false => write!(page, " {strong}{text}{strong} |"),
            };
        }
        *page += "\n";
    }
}

fn faults(page: &mut String, scores: &Scores) {
    *page += "\n## By fault\n\n| fault | on / off | class | cases | positive | truth | precision \
              | recall | open | mean precision | mean recall | left |\n\
              |---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for fault in FAULTS {
        let Some(score) = scores.by_fault.get(fault.name) else { continue };
        let cells = cells(score, score.precision(), score.mean_precision());
        let _ = writeln!(page, "| {} | {} | {} |{cells} |", fault.name, fault.about, fault.class);
    }
}

/// How often the cause itself is right, and where it was found.
fn leaves(page: &mut String, cases: &[Case]) {
    let views = [View::Whole, View::WithDecisions];
    let scores = views.map(|view| Scores::of(cases, view, Grain::Leaf));
    *page += "\n## Leaves\n\nA *leaf* is a cause without causes below it in the tree. In this \
              section, only the exact cause counts as right. The\ntable gives precision and recall \
              for traces without the decisions of the scheduler, and for traces with these \
              decisions\n(`--decisions`). No leaf belongs to the fault *policy*.\n\n| fault | \
              cause | positive | without | with decisions | left | |\n\
              |---|---|---|---|---|---|---|\n";
    for fault in FAULTS {
        let Some(leaf) = fault.leaf else { continue };
        let [without, with] = scores.each_ref().map(|it| it.by_fault.get(fault.name));
        let (Some(without), Some(with)) = (without, with) else { continue };
        let both = |score: &Score| [score.precision(), score.recall()].map(ratio).join(" ");
        let named = if with.positive >= ENOUGH { "named" } else { "suspected" };
        let _ = writeln!(
            page,
            "| {} | {leaf} | {} | {} | {} | {} | {named} |",
            fault.name,
            with.positive,
            both(without),
            both(with),
            percent(with.left())
        );
    }
    let all =
        scores.each_ref().map(|it| [it.all.precision(), it.all.recall()].map(ratio).join(" "));
    let _ = writeln!(page, "| all | | {} | {} | {} | | |", scores[1].all.positive, all[0], all[1]);
    let _ = writeln!(
        page,
        "\nFor traces with decisions, the goal is a precision of {LEAF_PRECISION} and a recall of \
         {LEAF_RECALL}. Reached: {}.",
        yes(scores[1].all.precision() >= Some(LEAF_PRECISION)
            && scores[1].all.recall() >= Some(LEAF_RECALL))
    );
    for (view, about) in views.iter().zip(["without decisions", "with decisions"]) {
        let _ = writeln!(
            page,
            "\nThe next table uses traces {about}. It uses only runs of positive cases with the \
             fault on. For each cause that `check` found, the table gives the lost time of this \
             cause as a percentage of all lost time. The lost time includes losses that the fault \
             did not cause:\n\n| fault | found |\n|---|---|"
        );
        found(page, cases, *view);
    }
}

/// In which leaves the time of positive cases was found.
fn found(page: &mut String, cases: &[Case], view: View) {
    let mut all: BTreeMap<&str, ByCause> = BTreeMap::new();
    for case in cases {
        let found = &case.found[view as usize];
        if is_positive(found) {
            let sums = all.entry(case.fault.name).or_default();
            let leaves = &found.by[Grain::Leaf as usize].on;
            leaves.iter().for_each(|(leaf, ns)| *sums.entry(leaf).or_default() += ns);
        }
    }
    for fault in FAULTS {
        let Some(sums) = all.get(fault.name) else { continue };
        let whole: f64 = sums.values().sum();
        let mut sums: Vec<_> = sums.iter().filter(|(_, ns)| **ns >= 0.01 * whole).collect();
        sums.sort_by(|a, b| b.1.total_cmp(a.1));
        let each = sums.iter().map(|(leaf, ns)| format!("{leaf} {:.0} %", 100.0 * **ns / whole));
        let _ = writeln!(page, "| {} | {} |", fault.name, each.collect::<Vec<_>>().join(", "));
    }
}

fn views(page: &mut String, scores: &[Scores]) {
    *page += "\n## With less or more in the trace\n\nIn this section, `check` reads other traces \
              of the same runs, which contain less data or more data. The truth is\ncomputed from \
              the whole trace. The only exception is *a third*: its truth is computed from this \
              third of the trace.\n\n- *a third*: `check` gets only the middle third of the trace, \
              cut out with `wastenot convert --from --to`\n- *without wakings*: the trace has no \
              `sched_waking` events and no wakers\n- *without affinities*: the trace does not \
              contain the affinities of tasks\n- *with decisions*: the trace also contains the \
              alternatives that the scheduler considered\n\nPrecision and recall:\n\n| class |";
    View::ALL.iter().for_each(|view| *page += &format!(" {} |", view.name()));
    *page += "\n|---|";
    View::ALL.iter().for_each(|_| *page += "---|");
    *page += "\n";
    let row = |name: &str, cell: &dyn Fn(&Scores) -> [Option<f64>; 2]| {
        let cells = scores.iter().map(|scores| cell(scores).map(ratio).join(" "));
        format!("| {name} | {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    for class in scores[0].by_class.keys() {
        let recall = |scores: &Scores| scores.by_class.get(class).and_then(Score::recall);
        *page += &row(class, &|scores| [scores.precision(class), recall(scores)]);
    }
    *page += &row("balancing and placement", &|scores| {
        scores.among(&["scheduler/balancing", "scheduler/placement"])
    });
    *page += &row("all", &|scores| [scores.all.precision(), scores.all.recall()]);
    *page += &row("mean of positive cases", &|scores| {
        [scores.all.mean_precision(), scores.all.mean_recall()]
    });
    for (view, scores) in View::ALL.iter().zip(scores).skip(1) {
        let _ = writeln!(page, "\n### {}", view.name());
        *page +=
            "\n| class | positive | truth | right | wrong | open |\n|---|---|---|---|---|---|\n";
        for (class, score) in &scores.by_class {
            let Score { positive, truth_ns, right_ns, wrong_ns, open_ns, .. } = score;
            let ns = [truth_ns, right_ns, wrong_ns, open_ns].map(|ns| seconds(*ns) + " s");
            let _ = writeln!(page, "| {class} | {positive} | {} |", ns.join(" | "));
        }
    }
}

fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}
fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.1} %", 100.0 * value))
}
fn yes(yes: bool) -> &'static str {
    if yes { "yes" } else { "**no**" }
}

/// The figures of every case, in ns.
pub(super) fn csv(cases: &[Case]) -> String {
    let mut text =
        "fault,number,class,machine,scheduler,view,truth,cpu,on,off,leaves,leaves_off\n".to_owned();
    let list = |of: &ByCause| {
        let each = of.iter().map(|(cause, ns)| format!("{cause}={ns:.0}"));
        each.collect::<Vec<_>>().join(" ")
    };
    for case in cases {
        for (view, found) in View::ALL.iter().zip(&case.found) {
            let _ = writeln!(
                text,
                "{},{},{},\"{}\",{},{},{:.0},{:.0},{},{},{},{}",
                case.fault.name,
                case.number,
                case.fault.class,
                case.machine,
                case.scheduler,
                view.name(),
                found.truth_ns,
                found.cpu_ns,
                list(&found.by[Grain::Class as usize].on),
                list(&found.by[Grain::Class as usize].off),
                list(&found.by[Grain::Leaf as usize].on),
                list(&found.by[Grain::Leaf as usize].off)
            );
        }
    }
    text
}
