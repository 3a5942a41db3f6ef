//! The table of designs that were rejected, on the page about message passing.

use std::path::Path;

use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::{Machine, Time};
use wastenot_sim::edf::{Design, Mailboxes, Profile, Real, Rule, run, synchronous};
use wastenot_sim::{Options, Overhead};
use wastenot_tests::rejected::{broadcast, lock_free, wait_free};

/// The figures of message passing: the most CPUs that access one line, and messages per event.
fn message_passing(cpus: usize) -> (usize, f64) {
    let clients = cpus - 1;
    let each = Sporadic::implicit(5_000, 10_000);
    let tasks = TaskSet::new(vec![each; clients]).expect("a task set");
    let design = Design::Messages(Mailboxes::Own);
    let real = Real { design, rule: Rule::default(), profile: Profile::X7550_ASSUMED };
    let options = Options { limit: Time(99_000_000), ..Options::default() };
    let ran = run(&Machine::flat(cpus), &tasks, &real, &options, synchronous(&tasks));
    let seen = ran.overheads;
    let contenders = seen.locks.iter().map(|lock| lock.contenders_max).max().unwrap_or(0);
    let writers = seen.mailbox_writers.iter().max().copied().unwrap_or(0);
    let messages = seen.seen(Overhead::RequestLatency).count;
    (contenders.max(writers), messages as f64 / ran.done.len() as f64)
}

fn table() -> String {
    let mut text = String::from(
        "| CPUs | one word: retries of all CPUs | one word: retries of one CPU, if each other CPU \
         overtakes it with 10 events | order with help: CPUs per line | order with help: line \
         transfers per event | all to all: messages per event | message passing: CPUs per line | \
         message passing: messages per event |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for cpus in [8u32, 16, 32, 64] {
        let (burst, overtaken) = (lock_free(cpus, 1, false), lock_free(cpus, 10, true));
        let helped = wait_free(cpus);
        let (told, orders) = broadcast(cpus, 1);
        assert!(orders.iter().all(|order| *order == orders[0]));
        let (sharers, messages) = message_passing(cpus as usize);
        let of_event = |count: u64, events: u64| count as f64 / events as f64;
        text += &format!(
            "| {cpus} | {} | {} | {} | {:.1} | {:.0} | {sharers} | {messages:.1} |\n",
            burst.retries,
            overtaken.retries_max,
            helped.sharers,
            of_event(helped.moves, helped.events),
            of_event(told.messages, told.events),
        );
    }
    text
}

#[test]
fn the_table_of_rejected_designs_is_what_is_counted() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/message-passing.md");
    wastenot_golden::page_holds(page, [("rejected", table())]);
}
