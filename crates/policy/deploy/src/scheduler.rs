//! A policy that can be loaded again, because CPUs came or went.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use wastenot_host::sched_ext::{hotplugs, loaded};
use wastenot_model::Machine;
use wastenot_rota::ir::Program;

use crate::{Error, Loaded, Object, Running, tables};

/// A compiled policy, and the machine that it is loaded for.
pub struct Scheduler {
    /// How its object is called in messages.
    pub object: PathBuf,
    /// What clang made of its C.
    pub elf: Vec<u8>,
    /// The policy.
    pub program: Program,
    /// The machine as it is at the moment.
    pub machine: Box<dyn Fn() -> Machine>,
    /// It gets the tasks of SCHED_EXT only, not those of the fair class.
    pub partial: bool,
}

/// The kernel needs a moment to unload a scheduler.
const UNLOADS: Duration = Duration::from_secs(10);
/// How often it is looked whether it did.
const TURN: Duration = Duration::from_millis(50);

impl Scheduler {
    /// Lets the kernel verify it for the CPUs that are there now.
    ///
    /// # Errors
    /// The object is not of this policy, the machine does not fit, or the kernel refuses it.
    pub fn load(&self) -> Result<Loaded, Error> {
        // Before the CPUs: what changes in between, the kernel notices.
        let changes = hotplugs();
        let mut object = Object::of(&self.object, &self.elf)?;
        object.fill(&tables(&self.program, &(self.machine)())?)?;
        if self.partial {
            object.partial()?;
        }
        if let Some(changes) = changes {
            object.expects(changes)?;
        }
        object.load()
    }

    /// Lets it schedule again after the kernel ended it ([`crate::Exit::restarts`]).
    ///
    /// # Errors
    /// As [`Scheduler::load`] and [`Loaded::start`].
    pub fn load_again(&self) -> Result<Running, Error> {
        let until = Instant::now() + UNLOADS;
        loop {
            while loaded().is_some() && Instant::now() < until {
                sleep(TURN);
            }
            let changes = hotplugs();
            match self.load().and_then(Loaded::start) {
                // Another CPU came or went meanwhile.
                Err(_) if hotplugs() != changes && Instant::now() < until => {}
                other => return other,
            }
        }
    }
}
