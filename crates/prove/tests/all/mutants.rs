//! Policies that are wrong in one place, one mutant after the other.

use std::fs;
use std::path::Path;
use std::time::Duration;

use wastenot_prove::cache::Cache;
use wastenot_prove::explore::Bounds;
use wastenot_prove::mutants::{Family, Fate, argument, fates, mutants};
use wastenot_prove::Options;
use wastenot_rota::ir::Policy;

use crate::solvers::solvers;

#[test]
fn look() {
    let solvers = solvers("look");
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Some(Cache::open(folder.path()).expect("a cache"));
    let bounds = Bounds { cpus: 2, tasks: 2, events: 1 };
    let options = Options { solvers: solvers[..1].to_vec(), cache, patience: Duration::from_secs(10), bounds };
    for name in std::env::var("POLICIES").unwrap().split(',') {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies").join(name);
        let text = fs::read_to_string(path).unwrap();
        for policy in &wastenot_rota::compile(&text).unwrap().policies {
            let begun = std::time::Instant::now();
            let made = mutants(policy);
            println!("## {} {} made in {:?}", policy.name, made.len(), begun.elapsed());
            let fates = fates(policy, &made, &options).unwrap();
            println!("## {} took {:?}", policy.name, begun.elapsed());
            for (mutant, fate) in made.iter().zip(&fates) {
                let argued = argument(mutant).is_some();
                println!("{} {} | {} | {} | {fate:?} {argued}", policy.name, mutant.family.name(), mutant.operator, mutant.site.text);
            }
        }
    }
}
