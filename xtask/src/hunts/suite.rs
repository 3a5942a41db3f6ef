//! The suite: the smallest finding of each kind that hunts of several schedulers have, and work
//! that shows the decisions which no finding shows.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use wastenot_experiment::label;
use wastenot_hunt::decisions::{KINDS, words};
use wastenot_hunt::finding::{Finding, SEEDS};
use wastenot_hunt::genome::Genome;
use wastenot_hunt::oracle::Promise;
use wastenot_hunt::search::{Outcome, Question};
use wastenot_hunt::shrink::least;
use wastenot_hunt::trial::{self, Notes};
use wastenot_scenario::scenario::Choice;

use super::hunt;
use crate::parts::put;

/// The schedulers that are hunted, and with how many trials, half of them at random.
const SCHEDULERS: [&str; 7] =
    ["eevdf-6.12", "cfs-6.1", "cfs-4.1", "linux-2.6-o1", "osv", "gsn-edf", "p-edf"];
const TRIALS: u64 = 20_000;
/// How many of the causes that most genomes showed are in the table of clusters.
const CLUSTERS: usize = 20;

/// A scenario of the suite.
struct Scene {
    name: String,
    text: String,
    decisions: u64,
}

/// Hunts, fills the folder `suite`, and writes the tables of `page`. The verdict in a line.
pub(crate) fn write(suite: &Path, page: &Path) -> Result<String, String> {
    let mut found: BTreeMap<String, (Choice, Finding)> = BTreeMap::new();
    let mut clusters = Vec::new();
    let mut shown: Vec<(Choice, Genome)> = Vec::new();
    for name in SCHEDULERS {
        let choice = Choice::named(name);
        let question = Question { trials: TRIALS, ..Question::of(choice.clone()) };
        let (outcome, _) = hunt(&question, Duration::MAX)?;
        if ["eevdf-6.12", "cfs-6.1"].contains(&name) {
            clusters.extend(largest(&choice, &outcome));
        }
        for finding in outcome.shrunk {
            let known = found.get(&finding.cause);
            if known.is_none_or(|(_, it)| finding.genome.size() < it.genome.size()) {
                found.insert(finding.cause.clone(), (choice.clone(), finding));
            }
        }
        let decided = outcome.search.archive.decided();
        shown.extend(decided.map(|elite| (choice.clone(), elite.genome.clone())));
    }
    clusters.sort_by_key(|(genomes, _)| Reverse(*genomes));
    let mut text = String::from(
        "| genomes | scheduler | cause | kind | CPUs | programs | disappears with \
         |\n|---|---|---|---|---|---|---|\n",
    );
    clusters.iter().take(CLUSTERS).for_each(|(_, row)| text += row);
    put(page, &[("clusters", text)])?;

    let mut all: Vec<Scene> = Vec::new();
    for (choice, finding) in found.values() {
        let name = named(finding, &found);
        let text = finding.text(choice, &name);
        all.push(Scene { name, text, decisions: decisions(&finding.genome, choice)? });
    }
    let findings = all.len();
    add_decisions(&mut all, &shown)?;
    fill(suite, &all).map_err(|error| format!("{}: {error}", suite.display()))?;
    put(page, &[("coverage", coverage(&all))])?;
    let (dir, more) = (suite.display(), all.len() - findings);
    Ok(format!("{dir}: {findings} findings, and {more} scenarios for other decisions"))
}

/// For each kind of decision that none of `all` shows, work that shows it, if there is any.
fn add_decisions(all: &mut Vec<Scene>, shown: &[(Choice, Genome)]) -> Result<(), String> {
    for kind in 0..KINDS {
        if all.iter().any(|scene| scene.decisions & 1 << kind != 0) {
            continue;
        }
        for (choice, genome) in shown {
            if let Some(scene) = decided(kind, choice, genome)? {
                all.push(scene);
                break;
            }
        }
    }
    Ok(())
}

/// Writes all, in place of the scenarios that are there.
fn fill(suite: &Path, all: &[Scene]) -> std::io::Result<()> {
    fs::create_dir_all(suite)?;
    for entry in fs::read_dir(suite)? {
        let file = entry?.path();
        if file.extension().is_some_and(|it| it == "toml") {
            fs::remove_file(file)?;
        }
    }
    all.iter().try_for_each(|it| fs::write(suite.join(format!("{}.toml", it.name)), &it.text))
}

/// What a finding is called in the suite: by its cause, with what is above it where another has the
/// same name.
fn named(finding: &Finding, all: &BTreeMap<String, (Choice, Finding)>) -> String {
    let name = finding.name();
    let same = all.values().filter(|(_, it)| it.name() == name).count();
    let path = finding.cause.strip_prefix("scheduler/").unwrap_or(&finding.cause);
    if same > 1 { path.replace('/', "-") } else { name.to_owned() }
}

/// The causes that a hunt found, each with the number of genomes that may have it, and its row.
fn largest(choice: &Choice, outcome: &Outcome) -> Vec<(u64, String)> {
    let row = |it: &Finding| {
        let arms = [&outcome.search, &outcome.random];
        let genomes = arms.iter().filter_map(|arm| arm.candidates.get(&it.cause)).sum();
        let (cpus, kinds) = (it.genome.machine().cpus(), it.genome.kinds());
        let (kind, control, name) = (it.kind.name(), it.control.words(), &choice.name);
        let row = format!(
            "| {genomes} | {name} | {} | {kind} | {cpus} | {kinds} | `{control}` |\n",
            it.cause
        );
        (genomes, row)
    };
    outcome.shrunk.iter().map(row).collect()
}

/// The decisions that a genome shows with all seeds.
fn decisions(genome: &Genome, choice: &Choice) -> Result<u64, String> {
    let choice = Promise::of(choice.clone(), None).choice;
    let variant = trial::variant(genome, &choice).map_err(|error| error.to_string())?;
    let mut all = u64::MAX;
    for seed in SEEDS {
        all &=
            trial::look(&variant, seed, Notes::Tasks).map_err(|error| error.to_string())?.decisions;
    }
    Ok(all)
}

/// The smallest work that is reached from `genome` and shows a kind of decision with all seeds.
fn decided(kind: u32, choice: &Choice, genome: &Genome) -> Result<Option<Scene>, String> {
    let shows = |genome: &Genome| decisions(genome, choice).map(|all| all & 1 << kind != 0);
    if !shows(genome)? {
        return Ok(None);
    }
    // Whatever cannot run does not show it.
    let holds = |genome: &Genome| Ok(shows(genome).unwrap_or(false).then(|| genome.clone()));
    let least = least(genome, &holds).map_err(|error| error.to_string())?;
    let genome = least.unwrap_or_else(|| genome.clone());
    let about = format!("Under {}: {}.", label(choice), words(kind));
    let (text, decisions) = (genome.text(choice, &about), decisions(&genome, choice)?);
    Ok(Some(Scene { name: format!("decision-{kind}"), text, decisions }))
}

/// By decision, which scenarios show it.
fn coverage(all: &[Scene]) -> String {
    let mut text = String::from("| decision | scenarios |\n|---|---|\n");
    let mut missed = Vec::new();
    for kind in 0..KINDS {
        let show = all.iter().filter(|scene| scene.decisions & 1 << kind != 0);
        let names: Vec<&str> = show.map(|scene| scene.name.as_str()).collect();
        let more = match names.len() {
            0 => {
                missed.push(words(kind));
                continue;
            }
            1..=3 => String::new(),
            more => format!(" and {} more", more - 3),
        };
        let first = &names[..names.len().min(3)];
        let _ = writeln!(text, "| {} | {}{more} |", words(kind), first.join(", "));
    }
    if !missed.is_empty() {
        let _ = writeln!(text, "\nNo run showed these decisions:\n\n- {}", missed.join("\n- "));
    }
    text
}
