//! The head of a simulated History.

use wastenot_model::policy::Family;
use wastenot_model::{Carries, Clock, Head, Machine, Source};

use crate::Options;

/// What is known before the first event.
pub(crate) fn of(machine: &Machine, scheduler: &str, family: Family, options: &Options) -> Head {
    let mut head = Head::new(machine.clone());
    head.clock = Clock { name: "simulated".into(), nanoseconds: true };
    let all = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, ..)| all | *carry);
    let known = if machine.topology_known() { Carries::NONE } else { Carries::TOPOLOGY };
    head.carries = all.without(Carries::FREQ | Carries::LOSSES | known);
    let note = |key: &str, value: String| (key.to_owned(), value);
    head.source = Source {
        format: "simulate".into(),
        name: options.name.clone(),
        kernel: None,
        notes: vec![
            note("scheduler", scheduler.to_owned()),
            note(Family::NOTE, family.name().to_owned()),
            note("seed", options.seed.to_string()),
        ],
    };
    head
}
