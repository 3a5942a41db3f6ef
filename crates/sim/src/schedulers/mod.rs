//! The built-in schedulers: one file each, its source named there; a line each in [`SCHEDULERS`].

mod cfs;
mod global_fifo;
mod linux_2_4;
mod osv;
mod pinned;
mod settings;
mod work_conserving;

#[cfg(test)]
mod bed;

pub use settings::{Settings, Switch, Values, WrongSetting};

use wastenot_model::Policy;

/// A scheduler by name.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// What to type.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it is from: kernel files, papers.
    pub source: &'static str,
    /// What can be set.
    pub switches: &'static [Switch],
    make: fn(&Settings) -> Box<dyn Policy>,
}

/// Every scheduler, in the order of help.
pub const SCHEDULERS: &[Scheduler] = &[
    cfs::CFS_4_1,
    cfs::CFS_5_10,
    cfs::CFS_6_1,
    cfs::EEVDF_6_12,
    linux_2_4::SCHEDULER,
    osv::SCHEDULER,
    osv::VRUNTIME,
    pinned::SCHEDULER,
    global_fifo::SCHEDULER,
    work_conserving::SCHEDULER,
];

/// The scheduler `name` with these switches set; a fresh one for each run.
pub fn scheduler(name: &str, set: &[(String, String)]) -> Result<Box<dyn Policy>, WrongSetting> {
    let found = SCHEDULERS.iter().find(|scheduler| scheduler.name == name);
    let scheduler = found.ok_or_else(|| WrongSetting::unknown_scheduler(name))?;
    Ok((scheduler.make)(&Settings::of(scheduler, set)?))
}
