//! Policies in Rota made wrong in one word of their text, chosen by a seed: what the prover says of
//! each, and what a hunt of a minute finds.
//!
//! They have to agree. What is proved and yet broken in a run is a hole in the prover, or in the
//! simulator; what is refuted and not broken needs a machine or work that the hunt did not try, or
//! a state that no run reaches.
//!
//! The operators of `mutants` change what a policy is compiled to. They leave no text, which is
//! what a scenario names and a user can read.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use wastenot_model::workload::Random;
use wastenot_prove::explore::Bounds;
use wastenot_prove::{Conclusion, Options, choose, judge_program};
use wastenot_scenario::scenario::Choice;

use super::hunt;
use super::policies::{question, row};
use crate::parts::{files, put, z3};

/// How many are made.
const COUNT: usize = 50;
/// How long each is hunted.
const LONG: Duration = Duration::from_secs(60);
/// How long a solver may think about a question.
const PATIENCE: Duration = Duration::from_secs(20);
/// Chooses them.
const SEED: u64 = 24;

/// The claims that a CPU breaks which is idle though tasks wait. What other claims say, as how
/// often tasks are moved, a loss need not show.
const OF_IDLE_CPUS: [&str; 3] = ["no_lost_task", "no_lost_wakeup", "work_conservation"];
/// What the prover says.
const SAID: [&str; 4] =
    ["refuted: a claim about idle CPUs", "refuted: only other claims", "proved", "unknown"];

/// What is written instead of what.
const CHANGES: &[(&str, &[&str])] = &[
    (">= 1", &[">= 2", ">= 0"]),
    (">= 2", &[">= 1", ">= 3"]),
    ("argmax", &["argmin"]),
    ("argmin", &["argmax"]),
    ("retry untried", &["retry 0", "retry 1"]),
    ("steal 1 ", &["steal 0 ", "steal 2 "]),
    (" where me in allowed(t)", &[""]),
    (" rebase vt", &[""]),
    (" tie near(me)", &[""]),
    (" else balance idle", &[""]),
    (
        "near t.prev by [smt, llc, node, machine]",
        &["near t.prev by [smt, llc]", "near here by [machine]"],
    ),
    ("in allowed(t) near", &["in allowed(t) within llc near"]),
    ("level machine", &["level llc", "level node"]),
    ("level node, machine", &["level node", "level machine"]),
    ("level llc, node, machine", &["level llc", "level llc, node"]),
    ("home(t)", &["t.prev"]),
    ("on leader(llc)", &["", "on leader(node)"]),
    (" - lag", &["", " + lag"]),
    (" + slice", &["", " - slice"]),
    ("half(", &["("]),
    ("if c {", &["if not c {"]),
    (" preempt", &[""]),
];

/// A policy that differs from a right one in one place.
struct Mutant {
    policy: String,
    /// The line, and what it says now.
    what: String,
    text: String,
}

/// Judges and hunts those of the policies in `folder`, and writes a table of `page`. The verdict in
/// a line.
pub(crate) fn write(folder: &Path, page: &Path) -> Result<String, String> {
    let told = |error: wastenot_prove::Error| error.to_string();
    let solver = z3()?;
    let (solvers, cache) = (vec![solver], None);
    let options = Options { solvers, cache, patience: PATIENCE, bounds: Bounds::default() };
    let mutants = chosen(folder)?;
    let mut text = String::from(
        "| policy | changed text | prover | finding | trials, search | trials, random | time | \
         CPUs | programs | steps |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut table = [[0; 2]; SAID.len()];
    for it in &mutants {
        let program = wastenot_rota::compile(&it.text).map_err(|_| "a mutant is a policy")?;
        let policies = choose(&program, &[], true).map_err(told)?;
        let judged = judge_program(&program, &policies, &[], &options).map_err(told)?;
        let verdicts = judged.iter().flat_map(|it| &it.verdicts);
        let refuted = verdicts.filter(|it| it.outcome.conclusion() == Conclusion::No);
        let refuted: Vec<&str> = refuted.map(|it| it.claim.kind.name()).collect();
        let said = match Conclusion::of(&judged) {
            Conclusion::No if refuted.iter().any(|it| OF_IDLE_CPUS.contains(it)) => 0,
            Conclusion::No => 1,
            Conclusion::Yes => 2,
            Conclusion::CannotTell => 3,
        };
        let choice =
            Choice { text: Some(it.text.clone()), ..Choice::named(&format!("{}.rota", it.policy)) };
        let (outcome, took) = hunt(&question(choice), LONG)?;
        let is_broken = !outcome.shrunk.is_empty();
        table[said][usize::from(is_broken)] += 1;
        let said = match refuted.is_empty() {
            true => SAID[said].to_owned(),
            false => format!("refuted: {}", refuted.join(", ")),
        };
        let row = row(&outcome, took);
        let _ = writeln!(text, "| {} | `{}` | {said} | {row} |", it.policy, it.what);
        put(page, &[("texts", text.clone()), ("agreement", agreement(&table))])?;
    }
    let [_, proved_broken] = table[2];
    Ok(format!(
        "{}: {} mutants, {proved_broken} proved but broken in a run",
        page.display(),
        mutants.len()
    ))
}

fn agreement(table: &[[usize; 2]; SAID.len()]) -> String {
    let mut text = String::from("| prover | nothing found | broken in a run |\n|---|---|---|\n");
    for (said, [not, broken]) in SAID.iter().zip(table) {
        let _ = writeln!(text, "| {said} | {not} | {broken} |");
    }
    text
}

/// Those that the seed chooses, of all that compile, where a text has one policy: what several
/// claim together is nothing.
fn chosen(folder: &Path) -> Result<Vec<Mutant>, String> {
    let mut all = Vec::new();
    for file in files(folder, "rota")? {
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let policy = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        all.extend(made(&policy, &text));
    }
    let mut random = Random::stream(SEED, 0, 0);
    for n in (1..all.len()).rev() {
        all.swap(n, random.below(n as u64 + 1) as usize);
    }
    all.truncate(COUNT);
    Ok(all)
}

/// All of one policy.
fn made(policy: &str, text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (from, others) in CHANGES {
        for (at, _) in text.match_indices(from) {
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            if text[line..at].contains("//") {
                continue;
            }
            for to in *others {
                let text = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
                if wastenot_rota::compile(&text).is_ok_and(|it| it.policies.len() == 1) {
                    let what = text[line..].lines().next().unwrap_or_default().trim().to_owned();
                    all.push(Mutant { policy: policy.to_owned(), what, text });
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_and_a_seed_chooses_always_the_same() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../policies"));
        let [one, other] = [0; 2].map(|_| chosen(folder).expect("policies"));
        assert_eq!(one.len(), COUNT);
        let same = |(one, other): (&Mutant, &Mutant)| one.text == other.text;
        assert!(one.iter().zip(&other).all(same));
        let policies: std::collections::BTreeSet<&str> =
            one.iter().map(|it| it.policy.as_str()).collect();
        assert!(policies.len() > 6, "{policies:?}");
    }
}
