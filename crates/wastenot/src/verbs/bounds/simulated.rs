//! `wastenot bounds overheads`: what global EDF costs in the simulated machine, as a table.

use std::path::Path;

use wastenot_lab::overheads::Simulated;
use wastenot_scenario::overheads::{Overhead, write};

use super::overheads::Measured;
use crate::args::bounds::Overheads as Args;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, progress};

/// Tasks for each CPU, unless numbers are said.
const TASKS_PER_CPU: [u32; 6] = [1, 2, 4, 6, 8, 10];

/// Simulates, and writes the table.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let target = Target::new(&args.output, args.force)?;
    let machine = open::machine("--machine", &args.machine)?;
    let cpus = machine.len() as u32;
    if cpus <= args.implementation.dedicated() {
        let what = format!("{} leaves no CPU for tasks", args.implementation.name());
        return Err(Stop::new(what, "use a machine with two CPUs or more"));
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
    let what = format!("simulating {} on {cpus} CPUs", args.implementation.name());
    let mut table = progress::during(&what, || simulated.table(&counts))
        .map_err(|error| Stop::new(&error, error.help()))?;
    // Of kinds that were simulated nothing is taken from elsewhere.
    others.retain(|other| table.rows.iter().all(|row| row.kind != other.kind));
    table.rows.extend(others);
    let text = write(&about(args, cpus), &table);
    target.write(|file| file.write_all(text.as_bytes()))?;
    Ok(Answer::Yes)
}

/// The numbers of tasks, each once, in order.
fn counts(args: &Args, cpus: u32) -> Vec<u32> {
    let mut counts = args.tasks.clone();
    if counts.is_empty() {
        counts.extend(TASKS_PER_CPU.map(|each| each * cpus));
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// What another table has, which is of the same machine as far as it says.
fn others(file: &Path, args: &Args, cpus: u32) -> Result<Vec<Overhead>, Stop> {
    let measured = Measured::read(file)?;
    measured.is_of(args.implementation.name(), cpus)?;
    Ok(measured.table.rows)
}

/// What whoever finds the file has to know.
fn about(args: &Args, cpus: u32) -> String {
    let Args { implementation, machine, profile, length, seed, .. } = args;
    let from = args.with.as_deref().map_or_else(String::new, |file| {
        format!("\nkinds that it does not have are those of {}", open::shown(file))
    });
    format!(
        "simulated, not measured: {} on {cpus} CPU{} ({machine}), profile {profile}, {length} \
         a run, seed {seed}{from}",
        implementation.name(),
        if cpus == 1 { "" } else { "s" },
    )
}
