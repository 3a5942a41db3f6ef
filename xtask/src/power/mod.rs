//! The power of `prove --conforms`: which wrong policies a replay of their steps finds out. Each
//! refuted mutant that can be emitted runs natively, and its steps are replayed in the model of the
//! policy that it was made of (testing/chance/native/together.c).

mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use rayon::prelude::*;
use wastenot_chance::together::{built, run, steps};
use wastenot_prove::Options;
use wastenot_prove::cache::Cache;
use wastenot_prove::conforms::Rule;
use wastenot_prove::explore::Bounds;
use wastenot_rota::emit::emit;
use wastenot_rota::ir::Program;

use crate::mutants::{Mutant, mutants, refuted};
use crate::parts::{files, z3};

/// Runs until a mutant counts as not found.
const RUNS: u64 = 200;
/// How long a solver may think about a question: as for docs/results/mutants.md.
const PATIENCE: Duration = Duration::from_secs(60);

/// A refuted mutant that can be emitted.
struct Wrong {
    /// Its number among those of the program.
    number: usize,
    mutant: Mutant,
    /// The program with it.
    program: Program,
}

/// A refuted mutant, and what came of its runs.
struct Judged {
    /// The name of the policy's file.
    file: String,
    mutant: Mutant,
    /// The first run that does not conform: its number, the rule, and how it is broken.
    found: Option<(u64, Rule, String)>,
}

/// Judges all mutants of the policies in `folder` and writes the part `power` of `page`. The
/// verdict in a line.
pub(crate) fn write(folder: &Path, page: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", page.display());
    let all = all(folder)?;
    let text = fs::read_to_string(page).map_err(failed)?;
    let text = wastenot_golden::with_part(&text, PART, &page::page(&all))
        .ok_or_else(|| format!("{}: has no <!-- {PART} -->", page.display()))?;
    fs::write(page, text).map_err(failed)?;
    let found = all.iter().filter(|it| it.found.is_some()).count();
    Ok(format!("{}: {found} of {} refuted mutants are found out", page.display(), all.len()))
}

/// The part of the page.
const PART: &str = "power";

/// All mutants of the policies in a folder, or of one.
fn all(folder: &Path) -> Result<Vec<Judged>, String> {
    let told = |error: wastenot_prove::Error| error.to_string();
    if !wastenot_needs::has("cc") {
        return Err("there is no C compiler: apt install gcc".to_owned());
    }
    let solver = z3()?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let cache = Some(Cache::open(scratch.path()).map_err(told)?);
    let solvers = vec![solver];
    let options = Options { solvers, cache, patience: PATIENCE, bounds: Bounds::default() };
    let (files, mut all) = (policies(folder)?, Vec::new());
    let bar = ProgressBar::new(files.len() as u64);
    for file in files {
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let right = wastenot_rota::compile(&text)
            .map_err(|_| format!("{} is no policy", file.display()))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        bar.set_message(name.clone());
        let wrong = wrong(&right, &options)?.into_par_iter();
        all.extend(wrong.map(|it| judged(&name, &right, it, scratch.path())).collect::<Vec<_>>());
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// A folder's policies, or one.
fn policies(path: &Path) -> Result<Vec<PathBuf>, String> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    files(path, "rota")
}

/// The refuted mutants of a program that can be emitted.
fn wrong(right: &Program, options: &Options) -> Result<Vec<Wrong>, String> {
    let of = |(at, policy)| mutants(policy).into_iter().map(move |mutant| (at, mutant));
    let all: Vec<(usize, Mutant)> = right.policies.iter().enumerate().flat_map(of).collect();
    let judged = all.into_par_iter().enumerate().map(|(number, (at, mutant))| {
        let mut program = right.clone();
        program.policies[at] = mutant.policy.clone();
        if emit(&program).is_err() {
            return Ok(None);
        }
        let by = refuted(&mutant, options).map_err(|error| error.to_string())?;
        Ok(by.map(|_| Wrong { number, mutant, program }))
    });
    judged.filter_map(Result::transpose).collect()
}

/// Runs a mutant until a run does not conform.
fn judged(name: &str, right: &Program, wrong: Wrong, folder: &Path) -> Judged {
    let Wrong { number, mutant, program } = wrong;
    let text = steps(&program);
    let binary = built(folder, &format!("{name}-{number}"), &program, &text);
    let mut runs = (0..RUNS).filter_map(|seed| Some((seed, run(&binary, &program, right, seed)?)));
    let found = runs
        .find_map(|(seed, ran)| ran.found.breaks.first().map(|it| (seed, it.rule, it.why.clone())));
    let _ = fs::remove_file(&binary);
    Judged { file: name.to_owned(), mutant, found }
}
