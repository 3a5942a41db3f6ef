//! `verify FILE.o`: the running kernel verifies what clang made of an emitted scheduler, with the
//! tables of 8 CPUs in two nodes, whichever machine it is. One line says what came of it.
#![allow(clippy::print_stdout, reason = "it says what it found")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use wastenot_deploy::{Error, Loaded, Object};
use wastenot_model::{CpuId, Machine};
use wastenot_rota::Tree;
use wastenot_rota::emit::Tables;

const CPUS: usize = 8;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        println!("usage: verify FILE.o");
        return ExitCode::from(2);
    };
    let path = Path::new(&file);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let begun = Instant::now();
    // So many partitions are not known of an object: its tables must fit.
    let loaded = [1, 2, 4].into_iter().find_map(|parts| match load(path, parts) {
        Err(Error::NotEmitted { why, .. }) if why.contains("another size") => None,
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
            if let Error::Refused { log, .. } = &error {
                log.lines().for_each(|line| println!("  | {line}"));
            }
            ExitCode::FAILURE
        }
        None => {
            println!("{name} refused 0 {seconds:.1} no tables fit");
            ExitCode::FAILURE
        }
    }
}

fn load(path: &Path, parts: usize) -> Result<Loaded, Error> {
    let mut object = Object::open(path)?;
    object.fill(&tables(parts))?;
    object.load()
}

/// So many partitions of the same size.
fn tables(parts: usize) -> Tables {
    let mut machine = Machine::flat(CPUS);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let n = n as u32;
        (cpu.core, cpu.llc, cpu.node) = (Some(n / 2), Some(n / 4), Some(n / 4));
    }
    let of = |part: usize| {
        let each = CPUS / parts;
        let cpus = (part * each..(part + 1) * each).map(|n| CpuId(n as u16)).collect();
        Tree::of(&machine, &cpus)
    };
    let trees: Vec<Tree> = (0..parts).map(of).collect();
    Tables::of(&trees).expect("each partition has a CPU")
}
