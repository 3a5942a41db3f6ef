//! Media: a video player whose frames pass through three tasks.

use wastenot_model::workload::{Step, Waiting};

use super::ArgumentKind::{Count, Cpus, Time, Variate as Varying};
use super::maker::{Maker, forever, times};
use super::{Arguments, Function, argument};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "xine",
    about: "a video player: NAME-decode passes frames to NAME-display, which passes them to \
            NAME-x. The tasks record the mark `frame` when a frame is due, and the mark `shown` \
            when the frame is displayed",
    source: "Frachtenberg and Etsion, case studies of mis-scheduling: xine and the X server",
    arguments: &[
        argument("frames", Count(1_000_000), "250", "frames"),
        argument("period", Time, "40ms", "time between two frames"),
        argument("decode", Varying, "22ms +-20%", "CPU time to decode one frame"),
        argument(
            "display",
            Varying,
            "4ms +-20%",
            "CPU time of the player's display thread for each frame",
        ),
        argument("draw", Varying, "18ms +-20%", "CPU time of the X server for each frame"),
        argument("ahead", Count(1000), "4", "number of decoded frames that may wait"),
        argument(
            "x-cpus",
            Cpus,
            "all",
            "the CPUs of the X server; for the CPUs of the player, use the key `cpus`",
        ),
    ],
    make: xine,
}];

/// The decoder is the clock. It drops a frame that it would begin more than a period late; the
/// queues are short, so that a slow task delays the decoder.
fn xine(arguments: &Arguments, maker: &mut Maker) {
    let decoded = maker.pipe("decoded", Some(arguments.count("ahead").max(1)), Waiting::Block);
    let to_x = maker.pipe("to-x", Some(1), Waiting::Block);
    let from_x = maker.pipe("from-x", Some(1), Waiting::Block);
    let (due, shown) = (maker.mark("frame"), maker.mark("shown"));
    let period = arguments.time("period").max(wastenot_model::Span(1));

    let decode = times(
        arguments.count("frames"),
        [
            Step::Beat(period),
            due,
            Step::UnlessLate(period),
            Step::Compute(arguments.variate("decode")),
            Step::Put(decoded),
            Step::End { of: 0 },
        ],
    );
    let display = forever([
        Step::Get(decoded),
        Step::Compute(arguments.variate("display")),
        Step::Put(to_x),
        Step::Get(from_x),
        shown,
    ]);
    let draw =
        forever([Step::Get(to_x), Step::Compute(arguments.variate("draw")), Step::Put(from_x)]);

    let decode = maker.kind("decode", decode);
    let display = maker.kind_with("display", display, |template| template.awaited = false);
    let x_cpus = arguments.cpus("x-cpus");
    let draw = maker.kind_with("x", draw, |template| {
        template.awaited = false;
        template.affinity = x_cpus;
    });
    for template in [draw, display, decode] {
        maker.launch(template, 1);
    }
}
