//! Stressors after stress-ng: each kind repeats one action and records the mark `op`.

use wastenot_model::Span;
use wastenot_model::workload::{Step, Waiting};

use super::ArgumentKind::Count;
use super::maker::{Maker, compute, times};
use super::{Arguments, Function, argument};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "stress_ng",
    about: "tasks that compute, switch, lock and send; an argument sets the number of each kind. \
            They record the mark `op`",
    source: "manual page of stress-ng",
    arguments: &[
        argument("cpu", Count(1000), "0", "tasks that compute 1ms an operation"),
        argument("switch", Count(1000), "0", "pairs that hand a token to and fro"),
        argument("mutex", Count(1000), "0", "tasks that hold one lock for 10us an operation"),
        argument("pipe", Count(1000), "0", "pairs of which one sends through 16 places"),
        argument("ops", Count(10_000_000), "1000", "operations of each"),
    ],
    make: stress_ng,
}];

fn stress_ng(arguments: &Arguments, maker: &mut Maker) {
    let (ops, op) = (arguments.count("ops"), maker.mark("op"));
    let brief = compute(Span::us(1));
    let cpu = maker.kind("cpu", times(ops, [compute(Span::ms(1)), op]));
    maker.launch(cpu, arguments.count("cpu"));

    let lock = maker.lock("mutex", Waiting::Block);
    let hold = [Step::Lock(lock), compute(Span::us(10)), Step::Unlock(lock), op];
    let mutex = maker.kind("mutex", times(ops, hold));
    maker.launch(mutex, arguments.count("mutex"));

    for pair in 0..arguments.count("switch") {
        let there = maker.pipe(&format!("there{pair}"), Some(1), Waiting::Block);
        let back = maker.pipe(&format!("back{pair}"), Some(1), Waiting::Block);
        let first = times(ops, [brief, Step::Put(there), Step::Get(back), op]);
        let second = times(ops, [Step::Get(there), brief, Step::Put(back)]);
        for steps in [first, second] {
            let task = maker.kind("switch", steps);
            maker.launch(task, 1);
        }
    }
    for pair in 0..arguments.count("pipe") {
        let pipe = maker.pipe(&format!("pipe{pair}"), Some(16), Waiting::Block);
        let send = times(ops, [brief, Step::Put(pipe), op]);
        let take = times(ops, [Step::Get(pipe), brief]);
        for steps in [send, take] {
            let task = maker.kind("pipe", steps);
            maker.launch(task, 1);
        }
    }
}
