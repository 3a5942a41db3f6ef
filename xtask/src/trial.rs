//! A scenario on trial: run as it is, with a knob turned, with a fix. What was run before is not
//! run again, so that an interrupted table goes on where it was.

use std::fs;
use std::path::{Path, PathBuf};

use wastenot_experiment::{Experiment, Grid, Options, Sim};
use wastenot_scenario::scenario::{Scenario, Variant};

/// Where cells are kept, a file for each scenario.
const STORES: &str = "target/seeds";

/// A scenario and where its cells are kept.
pub(crate) struct Trial {
    pub(crate) file: String,
    pub(crate) text: String,
    store: PathBuf,
}

impl Trial {
    /// Reads `file`.
    pub(crate) fn new(file: &Path) -> Result<Trial, String> {
        let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        fs::create_dir_all(STORES).map_err(|e| format!("{STORES}: {e}"))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let store = Path::new(STORES).join(format!("{name}.jsonl"));
        Ok(Trial { file: file.display().to_string(), text, store })
    }

    /// The same place with another text in it.
    pub(crate) fn with_text(&self, text: String) -> Trial {
        Trial { file: self.file.clone(), text, store: self.store.clone() }
    }

    /// Runs every variant with `seeds`; with those of the scenario if there are none.
    pub(crate) fn run(&self, seeds: &[u64]) -> Result<Experiment, String> {
        self.run_with(seeds, &[])
    }

    /// The same with tunables set wherever there are such.
    pub(crate) fn run_with(
        &self,
        seeds: &[u64],
        tunables: &[(String, String)],
    ) -> Result<Experiment, String> {
        self.in_grid(seeds, tunables, |grid| grid.run(|_| {}).map_err(|e| self.said(&e)))?
    }

    /// The variants as they are with these tunables.
    pub(crate) fn variants(&self, tunables: &[(String, String)]) -> Result<Vec<Variant>, String> {
        self.in_grid(&[], tunables, |grid| grid.variants().to_vec())
    }

    fn in_grid<T>(
        &self,
        seeds: &[u64],
        tunables: &[(String, String)],
        then: impl FnOnce(Grid<'_>) -> T,
    ) -> Result<T, String> {
        let scenario: Scenario =
            wastenot_experiment::scenario(&self.file, &self.text).map_err(|e| e.to_string())?;
        let (seeds, tunables) = (seeds.to_vec(), tunables.to_vec());
        let store = Some(self.store.clone());
        let options = Options { seeds, tunables, store, ..Options::default() };
        Ok(then(Grid::new(&scenario, &Sim, &options).map_err(|e| self.said(&e))?))
    }

    fn said(&self, error: &wastenot_experiment::Error) -> String {
        format!("{}: {error}", self.file)
    }
}
