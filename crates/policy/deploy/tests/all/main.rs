//! Every policy of the repository, emitted and compiled: what a loader must find is there.
#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::fs;
use std::path::{Path, PathBuf};

use wastenot_deploy::{Error, Object, compile};
use wastenot_model::{Help as _, Machine};
use wastenot_needs::skipped;
use wastenot_rota::emit::{Tables, emit};
use wastenot_rota::{Tree, partitions};

/// The policies that can be emitted.
fn policies() -> Vec<(PathBuf, String)> {
    wastenot_needs::texts(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../policies"), "rota")
}

fn tables(text: &str, cpus: usize) -> Tables {
    let program = wastenot_rota::compile(text).expect("a policy without faults");
    let mut machine = Machine::flat(cpus);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.node = Some((2 * n / cpus) as u32);
    }
    let trees: Vec<Tree> =
        partitions::cpus(&program, &machine).iter().map(|cpus| Tree::of(&machine, cpus)).collect();
    Tables::of(&trees).expect("a CPU for each partition")
}

#[test]
fn every_policy_compiles_and_takes_the_tables_of_machines_of_any_size() {
    let test = "every_policy_compiles_and_takes_the_tables_of_machines_of_any_size";
    let skip = |error: &Error| skipped(test, &error.to_string(), &error.help());
    for (path, text) in policies() {
        let program = wastenot_rota::compile(&text).expect("a policy without faults");
        let elf = match compile(&emit(&program).expect("it can be emitted")) {
            Err(error @ Error::NoClang { .. }) => return skip(&error),
            elf => elf.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        };
        for cpus in [8, 64, 1024] {
            let mut object = Object::of(&path, &elf).expect("an object");
            match object.fill(&tables(&text, cpus)) {
                Err(error @ Error::Failed { .. }) => return skip(&error),
                filled => filled.unwrap_or_else(|error| panic!("{cpus} CPUs: {error}")),
            }
        }
    }
}

#[test]
fn what_is_no_emitted_scheduler_is_refused() {
    let path = Path::new("x.o");
    let why = |elf: &[u8]| Object::of(path, elf).map(drop).expect_err("refused").to_string();
    assert!(why(b"text").contains("x.o is not a scheduler that was compiled"), "{}", why(b"text"));
    let this = fs::read("/proc/self/exe").expect("a program");
    assert!(why(&this).contains("x.o is not a scheduler that was compiled"), "{}", why(&this));
    let cut = &this[..this.len().min(4096)];
    assert!(why(cut).contains("x.o is not a scheduler that was compiled"), "{}", why(cut));
    match compile("int x = ;") {
        Err(error @ Error::NoClang { .. }) => {
            skipped("what_is_no_emitted_scheduler_is_refused", &error.to_string(), &error.help());
        }
        other => {
            let said = other.expect_err("no C").to_string();
            assert!(said.contains("error: expected expression"), "{said}");
        }
    }
}

#[test]
fn an_object_of_other_partitions_takes_no_tables() {
    let test = "an_object_of_other_partitions_takes_no_tables";
    let skip = |error: &Error| skipped(test, &error.to_string(), &error.help());
    let text = |name: &str| {
        let all = policies();
        all.into_iter().find(|it| it.0.ends_with(name)).expect("a policy").1
    };
    let program = wastenot_rota::compile(&text("work-stealing.rota")).expect("no faults");
    let elf = match compile(&emit(&program).expect("it can be emitted")) {
        Err(error) => return skip(&error),
        Ok(elf) => elf,
    };
    let mut object = Object::of(Path::new("w.o"), &elf).expect("an object");
    match object.fill(&tables(&text("partitions.rota"), 8)) {
        Err(error @ Error::Failed { .. }) => skip(&error),
        other => {
            let said = other.expect_err("another program").to_string();
            assert!(said.contains("its table groups has an unexpected size"), "{said}");
        }
    }
}
