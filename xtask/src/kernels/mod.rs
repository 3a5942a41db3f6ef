//! docs/results/kernels.md: the same workloads in real kernels, under their own schedulers and
//! under policies, beside what the simulator says.

mod page;
mod rows;
mod runs;

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use self::rows::Rows;
use self::runs::Runs;
use crate::parts::put;

/// Where rows are while there are more to come, and a History of each workload.
const WORK: &str = "target/kernels";

/// Runs all in the simulator and in guests, and keeps the runs in `table`. What an interrupted run
/// has done is not done again. The verdict in a line.
pub(crate) fn run(scenarios: &Path, policies: &Path, table: &Path) -> Result<String, String> {
    let histories = Path::new(WORK).join("histories");
    let runs = Runs::new(scenarios, policies, &histories)?;
    // Another program, scenario or policy may give other runs.
    let part = Path::new(WORK).join(format!("{}.csv", runs.digest()?));
    let rows = Mutex::new(Rows::read(&part)?);
    runs.run(&rows)?;
    let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The folder may be on another file system.
    let kept = fs::copy(&part, table).and_then(|_| fs::remove_file(&part));
    kept.map_err(|error| format!("{}: {error}", table.display()))?;
    Ok(format!("{}: {} runs; histories are in {}", table.display(), rows.all.len(), WORK))
}

/// Writes the tables of `page` from `table`. The verdict in a line.
pub(crate) fn write(table: &Path, page: &Path) -> Result<String, String> {
    let rows = Rows::read(table)?;
    put(page, &page::parts(&rows.all)?)?;
    Ok(format!("{}: {} runs", page.display(), rows.all.len()))
}
