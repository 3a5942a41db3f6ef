//! What a sweep may name.

use wastenot_bounds::verdict::Test;
use wastenot_scenario::sweep::{Names, Scheduler};

use crate::Implementation;

/// Tests and implementations, by the names that a sweep has for them.
pub const NAMES: Names = Names {
    tests: &[
        Test::Gfb.key(),
        Test::Qpa.key(),
        Test::Bcl.key(),
        Test::Bcli.key(),
        Test::Bak.key(),
        Test::Rta.key(),
        Test::FfDbf.key(),
        Test::Load.key(),
        Test::Bar.key(),
    ],
    implementations: &[
        of(Implementation::GsnEdf),
        of(Implementation::GsnEdfDedicated),
        of(Implementation::SchedDeadline),
        of(Implementation::SchedDeadlineV8),
        of(Implementation::SchedDeadlineDedicated),
        of(Implementation::GedfMp),
    ],
};

const fn of(implementation: Implementation) -> Scheduler {
    Scheduler {
        name: implementation.name(),
        takes: implementation.dedicated(),
        takes_late_deadlines: implementation.takes_late_deadlines(),
    }
}
