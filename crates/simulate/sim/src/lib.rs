//! Simulates a machine under a scheduler. The result is a History like that of any trace.
//!
//! ```
//! use wastenot_model::workload::{Program, Step, Template, Variate};
//! use wastenot_model::{CpuId, Machine, Span, Workload, machine::Costs};
//! use wastenot_sim::{End, Options, scheduler, simulate};
//!
//! let mut workload = Workload::new();
//! let program = Program::new(vec![Step::Compute(Variate::Fixed(Span::ms(10)))])?;
//! let hog = workload.template(Template::new("hog", program));
//! (0..3).for_each(|_| workload.launch(hog, CpuId(0)));
//! let policy = scheduler("global-fifo", &[])?;
//! let machine = Machine::flat(2);
//! let options = Options::default();
//! let (history, outcome) = simulate(&machine, &Costs::default(), &workload, policy, &options);
//! assert_eq!((outcome.end, outcome.time.0), (End::Done, 20_000_000));
//! assert_eq!(history.task_count(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same workload, machine, policy and seed give the same bytes, always and everywhere: time is
//! integer, events that are due at one instant have an order, transcendental functions are libm's.

pub mod checkers;
pub mod edf;
mod engine;
mod head;
mod mechanism;
mod schedulers;

pub use engine::outcome::{End, Fault, Mark, Outcome, Stuck};
pub use engine::{Kernel, Leaves};
pub use mechanism::{
    Contention, Direct, Hardware, LineId, LockId, MailboxId, Mechanism, Overhead, Pace, Paced,
    Prices, Samples, Seen, Spin, Step, Trigger,
};
pub use schedulers::{
    Made, REAL_TIME, SCHEDULERS, Scheduler, Settings, Tunable, Values, WrongSetting, make,
    scheduler,
};

use wastenot_model::machine::Costs;
use wastenot_model::{History, Machine, Policy, Span, Time, Workload};

/// How to simulate.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the History.
    pub name: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Simulated time at which the run ends even if tasks still run.
    pub limit: Time,
    /// Whether the policy's decisions are kept (annex `decisions`).
    pub notes: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { name: String::new(), seed: 1, limit: Time(Span::s(3600).0), notes: false }
    }
}

/// Runs `workload` on `machine` under `policy`.
pub fn simulate(
    machine: &Machine,
    costs: &Costs,
    workload: &Workload,
    policy: impl Policy,
    options: &Options,
) -> (History, Outcome) {
    simulate_mechanism(machine, costs, workload, Direct(policy), options)
}

/// Runs `workload` on `machine` under `mechanism`.
pub fn simulate_mechanism(
    machine: &Machine,
    costs: &Costs,
    workload: &Workload,
    mechanism: impl Mechanism,
    options: &Options,
) -> (History, Outcome) {
    engine::Engine::new(machine, costs.clone(), workload, mechanism, options).run()
}
