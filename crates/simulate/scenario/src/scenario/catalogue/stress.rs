//! Stressors after stress-ng: each kind repeats one action and records the mark `op`.

use wastenot_model::Span;
use wastenot_model::workload::{Step, Waiting};

use super::ArgumentKind::Count;
use super::maker::{Maker, compute, times};
use super::{Arguments, Function, argument};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "stress_ng",
    about: "four kinds of tasks, which compute, pass a token, hold a lock, or send messages \
            through a queue. For each kind, an argument sets the number of tasks. The tasks record \
            the mark `op`",
    source: "manual page of stress-ng",
    arguments: &[
        argument("cpu", Count(1000), "0", "number of tasks that compute 1ms in each operation"),
        argument("switch", Count(1000), "0", "number of pairs that pass a token back and forth"),
        argument(
            "mutex",
            Count(1000),
            "0",
            "number of tasks that hold one common lock for 10us in each operation",
        ),
        argument(
            "pipe",
            Count(1000),
            "0",
            "number of pairs in which one task sends messages to the other task; the queue between \
             them holds 16 messages",
        ),
        argument("ops", Count(10_000_000), "1000", "number of operations of each task"),
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
