//! The costs of migrations.

use wastenot_check::{Options, check};
use wastenot_model::machine::Costs;
use wastenot_model::{Span, Value};

use crate::story::{full, story};

/// What moves cost is told by distance, where the costs and the distance are known.
#[test]
fn moves_cost_what_the_costs_say() {
    let history = story(
        2,
        full(),
        "0 switch 0 - a S
        0 switch 1 x - S
        20 queued 0 b 0
        40 migrate 0 b 1
        50 switch 1 - b S
        90 end",
    );
    let cost = |costs: Option<Costs>| {
        let options = Options { costs, ..Options::default() };
        let report = check(&history, &options).report(&history, &options);
        report.get("migrations.cost_ns").cloned().expect("a measure")
    };
    let costs = |ns| Costs { migration: [Span(ns); 4], ..Costs::default() };
    assert_eq!(cost(None), Value::Unknown);
    assert_eq!(cost(Some(costs(7))), Value::Unknown, "the distance is not known");
    let mut machine = history.head.machine.clone();
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        (cpu.core, cpu.llc, cpu.node) = (Some(n as u32), Some(0), Some(0));
    }
    let mut history = history;
    history.head.machine = machine;
    let options = Options { costs: Some(costs(7)), ..Options::default() };
    let report = check(&history, &options).report(&history, &options);
    assert_eq!(report.get("migrations.cost_ns"), Some(&7u64.into()));
}
