//! The built-in schedulers: one file each, which names its source; one line each in [`SCHEDULERS`].

mod cfs;
mod gang;
mod global_fifo;
mod linux_2_4;
mod linux_2_6_o1;
mod osv;
mod pinned;
mod real_time;
mod settings;
mod work_conserving;

pub use settings::{Settings, Tunable, Values, WrongSetting};

use wastenot_model::policy::{Context, Place};
use wastenot_model::{CpuId, Policy, TaskId};

use crate::edf::{Profile, Real};

/// A scheduler by name.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it is from: kernel files, papers.
    pub source: &'static str,
    /// Whether it uses sessions, cgroups, their shares and quotas; for other schedulers all tasks
    /// are in one group.
    pub groups: bool,
    /// Its tunables.
    pub tunables: &'static [Tunable],
    make: Make,
}

/// How it is constructed from its settings.
#[derive(Clone, Copy, Debug)]
enum Make {
    Policy(fn(&Settings) -> Box<dyn Policy>),
    RealTime(fn(&Settings) -> Real),
}

/// A scheduler, ready to run.
pub enum Made {
    /// One of [`SCHEDULERS`].
    Policy(Box<dyn Policy>),
    /// One of [`REAL_TIME`].
    RealTime(Box<Real>),
}

impl Scheduler {
    /// The built-in scheduler of this name.
    pub fn named(name: &str) -> Option<&'static Scheduler> {
        SCHEDULERS.iter().chain(REAL_TIME).find(|scheduler| scheduler.name == name)
    }
    /// The tunable of this name.
    pub fn tunable(&self, name: &str) -> Option<&'static Tunable> {
        self.tunables.iter().find(|tunable| tunable.name == name)
    }
}

/// Every scheduler that is a policy, in the order of help.
pub const SCHEDULERS: &[Scheduler] = &[
    cfs::CFS_4_1,
    cfs::CFS_5_10,
    cfs::CFS_6_1,
    cfs::EEVDF_6_12,
    linux_2_4::SCHEDULER,
    linux_2_6_o1::SCHEDULER,
    gang::SCHEDULER,
    osv::SCHEDULER,
    osv::VRUNTIME,
    pinned::SCHEDULER,
    global_fifo::SCHEDULER,
    work_conserving::SCHEDULER,
];

/// Every scheduler of sporadic tasks, in the order of help.
pub const REAL_TIME: &[Scheduler] = &[
    real_time::GSN_EDF,
    real_time::SCHED_DEADLINE,
    real_time::GEDF_MP,
    real_time::P_EDF,
    real_time::C_EDF,
    real_time::G_FL,
    real_time::GFP_MP,
];

/// The scheduler `name` with these tunables set; a fresh one for each run. `profile` holds the
/// contents of the file that one of them names, if one does ([`Tunable::is_file`]).
pub fn make(
    name: &str,
    set: &[(String, String)],
    profile: Option<Profile>,
) -> Result<Made, WrongSetting> {
    let found = Scheduler::named(name);
    let scheduler = found.ok_or_else(|| WrongSetting::unknown_scheduler(name))?;
    let settings = Settings::of(scheduler, set)?.reading(scheduler, profile)?;
    Ok(match scheduler.make {
        Make::Policy(make) => Made::Policy(make(&settings)),
        Make::RealTime(make) => Made::RealTime(Box::new(make(&settings))),
    })
}

/// The policy `name` with these tunables set; a fresh one for each run.
pub fn scheduler(name: &str, set: &[(String, String)]) -> Result<Box<dyn Policy>, WrongSetting> {
    match make(name, set, None)? {
        Made::Policy(policy) => Ok(policy),
        Made::RealTime(real) => Err(WrongSetting::no_policy(real.name())),
    }
}

/// The tasks that wait on `cpu`, in the order of creation: they have to leave when it goes off.
fn queued_on(cx: &Context, cpu: CpuId) -> Vec<TaskId> {
    let tasks = cx.tasks.iter().enumerate();
    let queued = tasks.filter(|(_, task)| task.place == Place::Queued && task.cpu == cpu);
    queued.map(|(n, _)| TaskId::nth(n)).collect()
}
