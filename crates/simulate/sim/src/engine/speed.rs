//! How fast CPUs are: capacity, busy siblings, remote memory.

use wastenot_model::machine::{Costs, Hops};
use wastenot_model::{CpuId, Machine};

/// Full speed: one nanosecond of work a nanosecond.
pub(crate) const FULL: u64 = 1 << 16;

/// Speeds as fractions of [`FULL`].
#[derive(Debug)]
pub(crate) struct Speeds {
    /// The speed of each CPU while its siblings are idle.
    pub(super) alone: Vec<u64>,
    pub(super) smt: u64,
    pub(super) siblings: Vec<Vec<CpuId>>,
    pub(super) spin_yields: bool,
    pub(super) remote: Vec<u64>,
    pub(super) hops: Option<Hops>,
    /// All CPUs run at full speed always.
    pub(super) uniform: bool,
}

impl Speeds {
    pub(crate) fn of(machine: &Machine, costs: &Costs) -> Speeds {
        let share = |share: f64| ((share.clamp(1e-4, 1.0) * FULL as f64) as u64).max(1);
        let alone: Vec<u64> =
            machine.cpus.iter().map(|cpu| (u64::from(cpu.capacity) * FULL / 1024).max(1)).collect();
        let smt = share(costs.smt);
        let siblings = |cpu: usize| -> Vec<CpuId> {
            let all = machine.sharing(CpuId(cpu as u16), |cpu| cpu.core);
            all.iter().filter(|other| other.index() != cpu).collect()
        };
        let shared = smt != FULL;
        let siblings =
            (0..machine.len()).map(|cpu| if shared { siblings(cpu) } else { Vec::new() });
        let remote: Vec<u64> = costs.remote.iter().map(|&speed| share(speed)).collect();
        Speeds {
            uniform: !shared && remote.is_empty() && alone.iter().all(|&speed| speed == FULL),
            siblings: siblings.collect(),
            hops: (!remote.is_empty()).then(|| Hops::of(machine)),
            alone,
            smt,
            spin_yields: costs.spin_yields,
            remote,
        }
    }

    pub(crate) fn siblings_matter(&self) -> bool {
        self.smt != FULL
    }
    pub(crate) fn spin_yields(&self) -> bool {
        self.spin_yields
    }
}
