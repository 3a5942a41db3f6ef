//! Tasks that mostly wake each other: the messaging and pipe benchmarks of perf.

use wastenot_model::workload::{Step, Waiting};

use super::ArgumentKind::{Count, Time};
use super::maker::{Maker, compute, times};
use super::{Arguments, Function, argument};

const PERF: &str = "documentation of perf bench sched";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "messaging",
        about: "groups of senders and receivers: every sender sends messages to every receiver of \
                its group (hackbench)",
        source: PERF,
        arguments: &[
            argument("groups", Count(100), "10", "groups"),
            argument("senders", Count(100), "20", "number of senders in each group"),
            argument("receivers", Count(100), "20", "number of receivers in each group"),
            argument(
                "messages",
                Count(100_000),
                "10",
                "number of messages from each sender to each receiver",
            ),
            argument(
                "room",
                Count(1_000_000),
                "100",
                "number of messages that fit into a receiver's queue",
            ),
            argument("work", Time, "2us", "CPU time to send or receive one message"),
        ],
        make: messaging,
    },
    Function {
        name: "pipe",
        about: "two tasks pass a token back and forth",
        source: PERF,
        arguments: &[
            argument(
                "loops",
                Count(10_000_000),
                "10000",
                "number of times that the token comes back",
            ),
            argument(
                "work",
                Time,
                "1us",
                "CPU time that a task uses before it passes on the token",
            ),
        ],
        make: pipe,
    },
];

fn messaging(arguments: &Arguments, maker: &mut Maker) {
    let (senders, receivers) = (arguments.count("senders").max(1), arguments.count("receivers"));
    let (messages, work) = (arguments.count("messages"), compute(arguments.time("work")));
    for group in 0..arguments.count("groups") {
        let mut send = Vec::new();
        for receiver in 0..receivers {
            let queue = format!("queue{group}-{receiver}");
            let room = arguments.count("room").max(1);
            let queue = maker.pipe(&queue, Some(room), Waiting::Block);
            send.extend([work, Step::Put(queue)]);
            let receive = times(senders * messages, [Step::Get(queue), work]);
            let receiver = maker.kind("receiver", receive);
            maker.launch(receiver, 1);
        }
        let sender = maker.kind("sender", times(messages, send));
        maker.launch(sender, senders);
    }
}

fn pipe(arguments: &Arguments, maker: &mut Maker) {
    let there = maker.pipe("there", Some(16), Waiting::Block);
    let back = maker.pipe("back", Some(16), Waiting::Block);
    let (loops, work) = (arguments.count("loops"), compute(arguments.time("work")));
    let first = maker.kind("", times(loops, [work, Step::Put(there), Step::Get(back)]));
    let second = maker.kind("", times(loops, [Step::Get(there), work, Step::Put(back)]));
    maker.launch(first, 1);
    maker.launch(second, 1);
}
