//! `wastenot bounds overheads`: simulates the overheads of global EDF, and writes a table of them.

use std::path::Path;

use wastenot_model::report::counted;
use wastenot_realtime::overheads::{Measured, Simulated};
use wastenot_scenario::overheads as table;

use crate::args::bounds::Overheads as Args;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, progress};

/// The default numbers of tasks per CPU.
const TASKS_PER_CPU: [u32; 6] = [1, 2, 4, 6, 8, 10];

/// Simulates, and writes the table.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let target = Target::new(&args.output, args.force)?;
    let machine = open::machine("--machine", &args.machine)?;
    let (cpus, name) = (machine.len() as u32, args.implementation.name());
    if cpus <= args.implementation.dedicated() {
        let what = format!("{name} leaves no CPU for tasks");
        return Err(Stop::new(what, "use a machine with at least two CPUs"));
    }
    let others = args.with.as_deref().map(|file| others(file, args, cpus)).transpose()?;
    let mut others = others.unwrap_or_default();
    let counts = counts(args, cpus);
    let simulated = Simulated {
        implementation: args.implementation,
        machine: &machine,
        profile: open::profile("--profile", &args.profile)?,
        length: args.length,
        seed: args.seed,
    };
    let what = format!("simulating {name} on {cpus} CPUs");
    let mut table = progress::during(&what, || simulated.table(&counts))?;
    // Copy no kind of overhead that was simulated.
    others.retain(|other| table.rows.iter().all(|row| row.kind != other.kind));
    table.rows.extend(others);
    let text = table::write(&about(args, cpus), &table);
    target.write(|file| file.write_all(text.as_bytes()))?;
    Ok(Answer::Yes)
}

/// Reads a table. `piped` is the help if standard input is a terminal.
pub(super) fn read(file: &Path, piped: &'static str) -> Result<Measured, Stop> {
    let name = open::shown(file);
    let table = table::read(&name, open::once(file, piped)?)?;
    Ok(Measured { name, table })
}

/// The numbers of tasks, sorted and without duplicates.
fn counts(args: &Args, cpus: u32) -> Vec<u32> {
    let mut counts = args.tasks.clone();
    if counts.is_empty() {
        counts.extend(TASKS_PER_CPU.map(|each| each * cpus));
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The overheads of another table. Fails if the table names another machine.
fn others(file: &Path, args: &Args, cpus: u32) -> Result<Vec<table::Overhead>, Stop> {
    const PIPED: &str = "pipe a table: `... | wastenot bounds overheads --machine smp4 --with -`";
    let measured = read(file, PIPED)?;
    measured.is_of(args.implementation, cpus)?;
    Ok(measured.table.rows)
}

/// The comment at the top of the file.
fn about(args: &Args, cpus: u32) -> String {
    let Args { implementation, machine, profile, length, seed, .. } = args;
    let from = args.with.as_deref().map_or_else(String::new, |file| {
        format!("\nkinds of overheads that are not simulated are copied from {}", open::shown(file))
    });
    format!(
        "simulated, not measured: {} on {} ({machine}), profile {profile}, {length} \
         a run, seed {seed}{from}",
        implementation.name(),
        counted(cpus, "CPU"),
    )
}
