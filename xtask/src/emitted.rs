//! The corpus of emitted schedulers that kernels must verify: the policies of a folder, each of
//! them made wrong in one place, and random ones. Whatever can be emitted is written once, with
//! what clang makes of it; `crates/policy/deploy/examples/verify.rs` loads it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use rayon::prelude::*;
use wastenot_model::workload::Random;
use wastenot_rota::emit::emit;
use wastenot_rota::ir::Program;

use crate::mutants::mutants;
use crate::parts::files;

/// A program, what it is called here, and where it comes from.
struct Made {
    name: String,
    from: String,
    program: Program,
}

/// Writes `count` random policies from `seed` on, and those of the folder `policies` with their
/// mutants, into the folder `output`: NAME.bpf.c, NAME.o and, of all, `corpus.csv`. What was done,
/// in a line.
pub(crate) fn write(
    seed: &str,
    count: &str,
    policies: &Path,
    output: &Path,
) -> Result<String, String> {
    let seed: u64 = seed.parse().map_err(|error| format!("{seed}: {error}"))?;
    let count: usize = count.parse().map_err(|error| format!("{count}: {error}"))?;
    fs::create_dir_all(output).map_err(|error| said(output, &error))?;
    let mut known = BTreeSet::new();
    let mut new = |made: Made| {
        let text = emit(&made.program).ok()?;
        known.insert(text.clone()).then_some((made, text))
    };
    let mut all: Vec<(Made, String)> =
        of_folder(policies)?.into_iter().filter_map(&mut new).collect();
    let made = all.len();
    all.extend((seed..).filter_map(drawn).filter_map(&mut new).take(count));
    all.par_iter().try_for_each(|(made, text)| {
        let save = |ending: &str, content: &[u8]| {
            let path = output.join(format!("{}.{ending}", made.name));
            fs::write(&path, content).map_err(|error| said(&path, &error))
        };
        save("bpf.c", text.as_bytes())?;
        let elf = wastenot_deploy::compile(text);
        save("o", &elf.map_err(|error| format!("{}: {error}", made.name))?)
    })?;
    let mut list = String::from("name,from\n");
    for (made, _) in &all {
        let _ = writeln!(list, "{},{}", made.name, made.from);
    }
    let path = output.join("corpus.csv");
    fs::write(&path, list).map_err(|error| said(&path, &error))?;
    let drawn = all.len() - made;
    Ok(format!("{}: {drawn} random policies, {made} policies and mutants", output.display()))
}

fn said(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// The random program of a seed, if its text means anything. Every other one is of the kind that
/// the prover can judge.
fn drawn(seed: u64) -> Option<Made> {
    let mut random = Random::stream(seed, 5, 0);
    let (word, text) = match seed % 2 {
        0 => ("chance", wastenot_chance::policy(&mut random)),
        _ => ("wide", wastenot_chance::program(&mut random)),
    };
    let program = wastenot_rota::compile(&text).ok()?;
    Some(Made { name: format!("{word}-{seed}"), from: format!("seed {seed}"), program })
}

/// The policies of a folder, and every mutant of each that means anything.
fn of_folder(folder: &Path) -> Result<Vec<Made>, String> {
    let mut all = Vec::new();
    for file in files(folder, "rota")? {
        let text = fs::read_to_string(&file).map_err(|error| said(&file, &error))?;
        let faults = |_| format!("{}: it has faults", file.display());
        let program = wastenot_rota::compile(&text).map_err(faults)?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (mut made, policies) = (Vec::new(), program.policies.iter().enumerate());
        for (at, mutant) in
            policies.flat_map(|(at, it)| mutants(it).into_iter().map(move |it| (at, it)))
        {
            if wastenot_rota::faults(&mutant.policy).is_empty() {
                let mut program = program.clone();
                program.policies[at] = mutant.policy;
                let name = format!("{stem}-{}", made.len() + 1);
                let from = format!("{} at {}", mutant.operator, mutant.site.text);
                made.push(Made { name, from, program });
            }
        }
        all.push(Made { name: stem, from: file.display().to_string(), program });
        all.append(&mut made);
    }
    Ok(all)
}
