//! The faults of the seeds are diagnosed from the History alone: what `check` names as the cause is
//! the fault that the scenario has, and it goes when the fault goes.

use std::fs;
use std::path::Path;

use wastenot_check::causes::Loss;
use wastenot_check::{Options, check};
use wastenot_experiment::{Bench as _, Sim};
use wastenot_model::{Span, Time};

const BESIDE_GROUP: &str = "scheduler/balancing/beside-group";
const AFTER_HOTPLUG: &str = "scheduler/balancing/after-hotplug";
const BEYOND_ONE_HOP: &str = "scheduler/balancing/beyond-one-hop";

/// What a run wasted in a second of CPU time, in ns, and the part of it that is due to `class`.
fn wasted(scenario: &str, variant: &str, limit: Span, class: &str) -> (f64, f64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let name = root.join(format!("scenarios/seeds/{scenario}.toml")).display().to_string();
    let text = fs::read_to_string(&name).expect("a scenario");
    let scenario = wastenot_scenario::scenario(&name, &text).expect("it is valid");
    let variant = scenario.variants.iter().find(|it| it.name == variant).expect("a variant");
    let options = wastenot_sim::Options { seed: 1, limit: Time(limit.0), ..Default::default() };
    let run = Sim.run(variant, &options).expect("it runs");
    let found = check(&run.history, &Options::default());
    let causes = found.causes.expect("causes are asked for");
    let all = found.waste.known_ns as f64 / 1e9;
    let whole = found.waste.cpu_ns as f64;
    (whole / all, causes.ns(Loss::Waste, class) as f64 / whole.max(1.0))
}

#[test]
fn each_fault_of_the_seeds_is_named_and_its_cause_goes_with_it() {
    let mut page = String::new();
    for (scenario, fault, fixed, limit, class) in [
        ("group-imbalance-make", "bug", "fix", Span::s(3), BESIDE_GROUP),
        ("group-imbalance-lu", "bug", "fix", Span::s(2), BESIDE_GROUP),
        ("missing-domains-cg", "bug", "fix", Span::s(3), AFTER_HOTPLUG),
        ("scheduling-groups-cg", "bug", "fix", Span::s(3), BEYOND_ONE_HOP),
        ("overload-on-wakeup-q18", "none", "wakeup", Span::s(2), "scheduler/placement"),
        ("wake-affine-ua", "ambient before", "ambient after", Span::s(2), "scheduler/placement"),
        ("wake-affine-h2", "before", "after", Span::s(1), "scheduler/placement"),
    ] {
        let (waste, share) = wasted(scenario, fault, limit, class);
        let (left, left_share) = wasted(scenario, fixed, limit, class);
        let gone = 1.0 - left * left_share / (waste * share);
        page += &format!(
            "{scenario}: {share:.3} of {:.1} ms a second is {class}; {gone:.3} goes with it\n",
            waste / 1e6
        );
        assert!(share > 0.5, "{page}");
        assert!(gone > 0.5, "{page}");
    }
    println!("{page}");
}
