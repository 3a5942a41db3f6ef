//! The scheduler tests of OSv that need more than one line of a program.

use wastenot_model::Span;
use wastenot_model::workload::{Step, Variate, Waiting};

use super::ArgumentKind::{Count, Cpus, Time};
use super::maker::{Maker, compute, forever, times};
use super::{Arguments, Function, argument};
use crate::scenario::program::FOREVER;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "osv_loop",
        about: "threads with equal amounts of work that do not depend on each other",
        source: "OSv, tests/tst-scheduler.cc",
        arguments: &[
            argument("copies", Count(4096), "2", "threads"),
            argument("work", Time, "10s", "CPU time of each thread"),
        ],
        make: |arguments, maker| {
            let thread = maker.kind("", vec![compute(arguments.time("work"))]);
            maker.launch(thread, arguments.count("copies"));
        },
    },
    Function {
        name: "osv_intermittent",
        about: "a thread that computes and sleeps for equal times until its work is done",
        source: "OSv, tests/tst-scheduler.cc and tst-loadbalance.cc",
        arguments: &[
            argument("work", Time, "10s", "total CPU time of the thread"),
            argument("busy", Time, "1ms", "CPU time before each sleep"),
            argument("sleep", Time, "1ms", "length of each sleep"),
        ],
        make: |arguments, maker| {
            let busy = arguments.time("busy").max(Span(1));
            let rounds = u32::try_from(arguments.time("work").0 / busy.0).unwrap_or(u32::MAX);
            let sleep = Step::Sleep(Variate::Fixed(arguments.time("sleep")));
            let thread = maker.kind("", times(rounds, [compute(busy), sleep]));
            maker.launch(thread, 1);
        },
    },
    Function {
        name: "osv_timeslice",
        about: "two threads that compute forever, and optionally a third thread that wakes often \
            and runs very briefly",
        source: "OSv, tests/misc-timeslice.cc",
        arguments: &[
            argument("hogs", Count(4096), "2", "number of threads that compute forever"),
            argument(
                "tiny",
                Count(1),
                "0",
                "1: a thread that wakes every millisecond is added; 0: no such thread",
            ),
        ],
        make: |arguments, maker| {
            let hog = maker.kind("", vec![Step::Compute(FOREVER)]);
            maker.launch(hog, arguments.count("hogs"));
            let briefly = [Step::Sleep(Variate::Fixed(Span::ms(1))), compute(Span::us(1))];
            let change =
                |template: &mut wastenot_model::workload::Template| template.awaited = false;
            let tiny = maker.kind_with("tiny", forever(briefly), change);
            maker.launch(tiny, arguments.count("tiny"));
        },
    },
    Function {
        name: "osv_ctxsw",
        about: "two threads that pass a token with a mutex and a condition variable",
        source: "OSv, tests/tst-ctxsw.cc",
        arguments: &[
            argument(
                "rounds",
                Count(10_000_000),
                "10000",
                "number of times that the token comes back",
            ),
            argument("first", Cpus, "all", "the CPUs of the first thread"),
            argument("second", Cpus, "all", "the CPUs of the second thread"),
        ],
        make: ctxsw,
    },
];

/// Each pass also costs the same under every scheduler, besides the switch. That cost is left out,
/// except for one nanosecond, so that time advances.
fn ctxsw(arguments: &Arguments, maker: &mut Maker) {
    let there = maker.pipe("there", Some(1), Waiting::Block);
    let back = maker.pipe("back", Some(1), Waiting::Block);
    let (rounds, pass) = (arguments.count("rounds"), compute(Span(1)));
    let programs = [
        ("first", [pass, Step::Put(there), Step::Get(back)]),
        ("second", [Step::Get(there), pass, Step::Put(back)]),
    ];
    for (which, steps) in programs {
        let cpus = arguments.cpus(which);
        let thread = maker.kind_with(which, times(rounds, steps), |t| t.affinity = cpus);
        maker.launch(thread, 1);
    }
}
