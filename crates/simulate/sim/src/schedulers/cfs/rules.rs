//! The settings: the kernel's era, its tunables, and the values scaled to the machine.

use wastenot_model::machine::domains::Grouping;

use crate::schedulers::Settings;

/// Which kernel's code is followed where no tunable selects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Era {
    /// Linux 4.1.
    V4,
    /// Linux 5.10.
    V5,
    /// Linux 6.1 to 6.12.
    V6,
}

/// How groups are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Imbalance {
    /// Average loads, as up to 5.4.
    Average,
    /// Minimum loads: the published fix, taking the group with the largest minimum.
    Minimum,
    /// The published fix to the letter: the group scanned last wins.
    MinimumLiteral,
    /// By the kind of imbalance, as from 5.5 on.
    Rework,
}

/// Where a woken task searches an idle CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wakeup {
    /// In one last-level cache.
    Llc,
    /// Everywhere: the CPU that is idle for longest (the published fix).
    LongestIdle,
    /// In one last-level cache, then everywhere else.
    Global,
}

/// The settings.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) name: &'static str,
    pub(super) era: Era,
    pub(super) imbalance: Imbalance,
    pub(super) grouping: Grouping,
    /// Every CPU balances for its group: the published fix of groups does this, too.
    pub(super) all_balance: bool,
    pub(super) keep_numa: bool,
    pub(super) wakeup: Wakeup,
    /// Wake rule 3: an idle previous CPU is taken before loads are compared.
    pub(super) prev_idle_first: bool,
    pub(super) autogroup: bool,
    pub(super) blocked_load: bool,
    pub(super) hz: u64,
    pub(super) eevdf: bool,
    pub(super) delay_dequeue: bool,
    pub(super) tunables: Tunables,
}

/// Lengths of time, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tunables {
    /// `sched_latency`: each task runs once in it, while at most eight want to.
    pub(super) latency: u64,
    /// `sched_min_granularity`: the tick does not preempt a task earlier.
    pub(super) min_granularity: u64,
    /// `sched_wakeup_granularity`: the lead that a woken task needs to preempt.
    pub(super) wakeup_granularity: u64,
    /// `sched_base_slice` of EEVDF.
    pub(super) base_slice: u64,
}

/// `sched_migration_cost`: a task that ran less than this ago is cache-hot, and newly-idle
/// balancing is not tried for shorter idle spans.
pub(super) const MIGRATION_COST: u64 = 500_000;
/// `sched_nr_migrate`: how many tasks one balancing examines.
pub(super) const NR_MIGRATE: u32 = 32;

impl Tunables {
    /// The values for a machine with `cpus` CPUs online (`update_sysctl`): the base values times 1
    /// + log2(min(CPUs, 8)).
    pub(super) fn of(cpus: usize) -> Tunables {
        let factor = u64::from(1 + cpus.clamp(1, 8).ilog2());
        Tunables {
            latency: 6_000_000 * factor,
            min_granularity: 750_000 * factor,
            wakeup_granularity: 1_000_000 * factor,
            base_slice: 700_000 * factor,
        }
    }
}

impl Rules {
    pub(super) fn of(name: &'static str, era: Era, settings: &Settings) -> Rules {
        let on = |name: &str| settings.word(name) == "on";
        let eevdf = settings.word("queue") == "eevdf";
        Rules {
            name,
            era,
            imbalance: match settings.word("imbalance") {
                "average" => Imbalance::Average,
                "minimum" => Imbalance::Minimum,
                "minimum-literal" => Imbalance::MinimumLiteral,
                _ => Imbalance::Rework,
            },
            grouping: match settings.word("groups") {
                "core0" => Grouping::Core0,
                "own" => Grouping::Own,
                _ => Grouping::OwnBalanced,
            },
            all_balance: settings.word("groups") == "own",
            keep_numa: settings.word("numa-levels") == "keep",
            wakeup: match settings.word("wakeup") {
                "longest-idle" => Wakeup::LongestIdle,
                "global" => Wakeup::Global,
                _ => Wakeup::Llc,
            },
            prev_idle_first: settings.word("wake-affine-idle") == "after",
            autogroup: on("autogroup"),
            blocked_load: on("blocked-load"),
            hz: u64::from(settings.count("hz")).max(1),
            eevdf,
            delay_dequeue: eevdf && on("delay-dequeue"),
            tunables: Tunables::of(1),
        }
    }

    /// Length of a jiffy in ns.
    pub(super) fn jiffy(&self) -> u64 {
        1_000_000_000 / self.hz
    }
    /// `ms` in jiffies, rounded up.
    pub(super) fn jiffies(&self, ms: u64) -> u64 {
        (ms * self.hz).div_ceil(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tunables_grow_with_the_machine_up_to_eight_cpus() {
        let of = |cpus| Tunables::of(cpus).latency / 1_000_000;
        assert_eq!((of(1), of(4), of(8), of(64)), (6, 18, 24, 24));
        assert_eq!(Tunables::of(8).base_slice, 2_800_000);
    }
}
