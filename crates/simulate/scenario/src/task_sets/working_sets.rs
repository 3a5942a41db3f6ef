//! Working sets: how much memory a task must reload into caches after other tasks ran.

use std::fmt;
use std::str::FromStr;

use wastenot_model::shortened;
use wastenot_model::workload::Random;

use super::words::{range, wrong};
use crate::Error;

/// The distribution of a task's working set: uniform over whole KiB, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkingSets {
    /// The smallest, in KiB; at least 1, since 0 stands for an unknown working set.
    pub from_kb: u32,
    /// The largest, in KiB.
    pub to_kb: u32,
}

impl Default for WorkingSets {
    /// The range in the experiments with G-EDF by message passing: 4 to 512 KiB.
    fn default() -> WorkingSets {
        WorkingSets { from_kb: 4, to_kb: 512 }
    }
}

const HELP: &str = "write `4-512 KiB`";

impl WorkingSets {
    pub(super) fn check(&self) -> Result<(), Error> {
        let WorkingSets { from_kb, to_kb } = *self;
        if from_kb == 0 || from_kb > to_kb {
            return wrong(format!("the range from {from_kb} to {to_kb} KiB is not valid"), HELP);
        }
        Ok(())
    }

    /// The next working set, in KiB.
    pub(super) fn draw(&self, random: &mut Random) -> u32 {
        self.from_kb + random.below(u64::from(self.to_kb - self.from_kb) + 1) as u32
    }
}

impl FromStr for WorkingSets {
    type Err = Error;
    fn from_str(text: &str) -> Result<WorkingSets, Error> {
        let read = || {
            let (from, to, "KiB") = range(text)? else { return None };
            Some(WorkingSets { from_kb: from.try_into().ok()?, to_kb: to.try_into().ok()? })
        };
        let Some(working_sets) = read() else {
            return wrong(
                format!("`{}` is not a valid range of working sets", shortened(text.trim())),
                HELP,
            );
        };
        working_sets.check()?;
        Ok(working_sets)
    }
}

impl fmt::Display for WorkingSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{} KiB", self.from_kb, self.to_kb)
    }
}
