//! `verify FILE.o [CPUS]`: the running kernel verifies what clang made of an emitted scheduler,
//! with the tables of so many CPUs (8), whichever machine it is. One line says what came of it.
#![allow(clippy::print_stdout, reason = "it says what it found")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use wastenot_deploy::{Error, Loaded, Object};
use wastenot_model::{CpuId, Machine};
use wastenot_rota::Tree;
use wastenot_rota::emit::Tables;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (file, cpus) = (words.next(), words.next().map_or(Ok(8), |it| it.parse()));
    let (Some(file), Ok(cpus)) = (file, cpus) else {
        println!("usage: verify FILE.o [CPUS]");
        return ExitCode::from(2);
    };
    let path = Path::new(&file);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let begun = Instant::now();
    // So many partitions are not known of an object: its tables must fit.
    let loaded = [1, 2, 4].into_iter().find_map(|parts| match load(path, cpus, parts) {
        Err(Error::NotEmitted { why, .. }) if why.contains("unexpected size") => None,
        other => Some(other),
    });
    let seconds = begun.elapsed().as_secs_f64();
    match loaded {
        Some(Ok(loaded)) => {
            let programs = loaded.programs();
            let all: u64 = programs.iter().map(|it| it.instructions).sum();
            let each: Vec<String> =
                programs.iter().map(|it| format!("{}={}", it.name, it.instructions)).collect();
            println!("{name} verified {all} {seconds:.1} {}", each.join(" "));
            ExitCode::SUCCESS
        }
        Some(Err(error)) => {
            println!("{name} refused 0 {seconds:.1} {error}");
            if let Error::Refused(refusal) = &error {
                refusal.log.iter().for_each(|line| println!("  | {line}"));
            }
            ExitCode::FAILURE
        }
        None => {
            println!("{name} refused 0 {seconds:.1} no tables fit");
            ExitCode::FAILURE
        }
    }
}

fn load(path: &Path, cpus: usize, parts: usize) -> Result<Loaded, Error> {
    let mut object = Object::open(path)?;
    object.fill(&tables(cpus, parts))?;
    object.load()
}

/// So many partitions of the same size; 8 CPUs are two nodes, 64 and 1024 are eight.
fn tables(cpus: usize, parts: usize) -> Tables {
    let mut machine = Machine::flat(cpus);
    let node = (cpus / 8).max(4);
    let llc = node.min(16);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let n = n as u32;
        (cpu.core, cpu.llc, cpu.node) = (Some(n / 2), Some(n / llc as u32), Some(n / node as u32));
    }
    let of = |part: usize| {
        let each = cpus / parts;
        let cpus = (part * each..(part + 1) * each).map(|n| CpuId(n as u16)).collect();
        Tree::of(&machine, &cpus)
    };
    let trees: Vec<Tree> = (0..parts).map(of).collect();
    Tables::of(&trees).expect("each partition has a CPU")
}
