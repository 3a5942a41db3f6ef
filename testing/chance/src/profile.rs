//! Random profiles of overheads.

use wastenot_model::Span;
use wastenot_model::machine::{Prices, Profile, Section, Spin};
use wastenot_model::workload::Random;

/// All operations take random times: for properties that must hold on every machine.
pub fn profile(random: &mut Random) -> Profile {
    let spin = [Spin::Own, Spin::Ticket, Spin::TestAndSet][random.below(3) as usize];
    let mut ns = |most: u64| Span(random.below(most));
    let hardware = Prices {
        line_own: ns(5),
        line_near: ns(60),
        line_far: ns(200),
        hand_off: ns(300),
        fetches: 2,
        message: ns(3_000),
        timer: ns(3_000),
    };
    let mut section = |most: u64| Section { work: ns(most), lines: 5 };
    Profile {
        coarse: section(2_000),
        run_queue: section(1_000),
        client: section(1_500),
        mailbox: section(500),
        handler: section(2_000),
        hardware,
        ipi: ns(3_000),
        isr: ns(2_000),
        send: ns(500),
        switch: ns(2_000),
        heap_step: ns(60),
        scan: ns(10),
        spin,
    }
}
