//! docs/results/conformance.md, its table of what a replay of steps finds out.

use std::collections::BTreeMap;
use std::fmt::Write;

use wastenot_prove::conforms::Rule;

use super::Judged;

/// What is between the markers of the page.
pub(super) fn page(all: &[Judged]) -> String {
    let mut page = String::from(
        "| policy | refuted mutants that can be emitted | found | share | missed, by reason \
         |\n|---|---|---|---|---|\n",
    );
    let mut names: Vec<&str> = all.iter().map(|it| it.file.as_str()).collect();
    names.dedup();
    for name in names {
        row(&mut page, name, all.iter().filter(|it| it.file == name));
    }
    row(&mut page, "all", all.iter());
    let rules = Rule::ALL.map(|rule| {
        let by = |it: &&Judged| it.found.as_ref().is_some_and(|(_, of, _)| *of == rule);
        (all.iter().filter(by).count(), rule)
    });
    let mut rules: Vec<_> = rules.into_iter().filter(|(count, _)| *count > 0).collect();
    rules.sort_by_key(|(count, _)| usize::MAX - count);
    let rules = rules.into_iter().map(|(count, rule)| format!("`{}` {count}", rule.name()));
    let rules: Vec<String> = rules.collect();
    let _ = writeln!(
        page,
        "\nThe first forbidden step of each detected mutant breaks one rule. For each rule, this \
         list gives the number of mutants that break it first: {}.",
        rules.join(", ")
    );
    let missed = all.iter().filter(|it| it.found.is_none()).map(|it| {
        let (operator, site) = (it.mutant.operator, &it.mutant.site.text);
        format!("{}: {operator}, {site}", it.file)
    });
    let missed: Vec<String> = missed.collect();
    if !missed.is_empty() {
        let _ = writeln!(
            page,
            "\nThe replay missed these mutants. Each line gives the policy, the operator and the \
             changed place:\n\n- {}",
            missed.join("\n- ")
        );
    }
    page
}

fn row<'j>(page: &mut String, name: &str, all: impl Iterator<Item = &'j Judged>) {
    let (mut of, mut found, mut missed) = (0, 0, BTreeMap::new());
    for it in all {
        of += 1;
        match &it.found {
            Some(_) => found += 1,
            None => *missed.entry(reason(it.mutant.operator)).or_insert(0) += 1,
        }
    }
    let share = 100.0 * f64::from(found) / f64::from(of.max(1));
    let missed = missed.iter().map(|(reason, count)| format!("{reason} {count}"));
    let missed: Vec<String> = missed.collect();
    let _ = writeln!(page, "| {name} | {of} | {found} | {share:.1} % | {} |", missed.join(", "));
}

/// Why a mutant of an operator can be missed.
fn reason(operator: &str) -> &'static str {
    match operator {
        "set" | "kept" | "moved" | "drop" | "empty" | "no rebase" | "swap" => "keys",
        "elsewhere" => "home",
        "for ever" => "slices",
        _ => "traffic",
    }
}
