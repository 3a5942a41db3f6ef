//! The faults of the seeds are diagnosed from the History alone: what `check` names as the cause is
//! the fault that the scenario has, and it goes when the fault goes.

use std::fs;
use std::path::Path;

use wastenot_check::account::{Account, Question};
use wastenot_check::causes::LostTime;
use wastenot_check::{Options, check};
use wastenot_experiment::{Bench as _, Sim};
use wastenot_model::{Span, Time};

const BESIDE_GROUP: &str = "scheduler/balancing/beside-group";
const AFTER_HOTPLUG: &str = "scheduler/balancing/after-hotplug";
const BEYOND_ONE_HOP: &str = "scheduler/balancing/beyond-one-hop";

/// Processes that spin at barriers beside others that compute run apart under schedulers that place
/// each of them alone. So long at most they spin; a gang does not.
#[test]
fn barriers_are_spun_at_while_another_process_waits() {
    let (processes, rounds, grain) = (3, 2000, Span::ms(5));
    let work = (processes * rounds * grain.0) as f64;
    let apart = |scheduler: &str, s: u32| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let name = root.join("scenarios/seeds/bsp-p3-2.4.toml").display().to_string();
        let text = fs::read_to_string(&name).expect("a scenario");
        let scenario = wastenot_scenario::scenario(&name, &text).expect("it is valid");
        let variant = format!("g=5ms scheduler={scheduler} s={s}");
        let variant = scenario.variants.iter().find(|it| it.name == variant).expect("a variant");
        let limit = Time(Span::s(3600).0);
        let options = wastenot_sim::Options { seed: 1, limit, ..Default::default() };
        let history = Sim.run(variant, &options).expect("it runs").history;
        let is_of_job = |task: &wastenot_model::TaskId| history.task_name(*task) == "bsp";
        let tasks: Vec<_> = history.tasks().map(|(task, _)| task).filter(is_of_job).collect();
        assert_eq!(tasks.len() as u64, processes);
        let question = Question { tasks, window: history.window(), every: false };
        let account = Account::of(&history, &question, &Options::default());
        (account.apart.expect("several tasks"), account.report(&history).verdict)
    };
    // Alone they run as long as they work, but for what they differ by.
    let (alone, verdict) = apart("linux-2.4", 0);
    assert_eq!(alone.apart_ns, 0);
    assert!(!verdict.contains("barriers"), "{verdict}");
    let differ = alone.ran_ns as f64 - work;
    assert!(differ.abs() < 0.02 * work, "{alone:?}");
    for s in [4, 8, 12] {
        let (found, verdict) = apart("linux-2.4", s);
        let spun = found.ran_ns as f64 - work;
        assert!(spun > 0.5 * work, "s={s}: {found:?}");
        let bound = found.apart_ns as f64 + differ.max(0.0);
        assert!(spun <= bound && bound < 1.5 * spun, "s={s}: {spun} of {found:?}");
        assert!(verdict.contains("at barriers"), "{verdict}");
        let (gang, _) = apart("gang", s);
        assert!(gang.share() < 0.05, "s={s}: {gang:?}");
        println!(
            "s={s}: spun {:.1} s, apart {:.1} s; gang {:.3}",
            spun / 1e9,
            bound / 1e9,
            gang.share()
        );
    }
}

/// What a run wasted in a second of CPU time, in ns, and the part of it that is due to `class`;
/// with `decisions` of the scheduler, or without.
fn wasted(scenario: &str, variant: &str, limit: Span, class: &str, decisions: bool) -> (f64, f64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let name = root.join(format!("scenarios/seeds/{scenario}.toml")).display().to_string();
    let text = fs::read_to_string(&name).expect("a scenario");
    let scenario = wastenot_scenario::scenario(&name, &text).expect("it is valid");
    let variant = scenario.variants.iter().find(|it| it.name == variant).expect("a variant");
    let limit = Time(limit.0);
    let options = wastenot_sim::Options { seed: 1, limit, notes: decisions, ..Default::default() };
    let run = Sim.run(variant, &options).expect("it runs");
    let found = check(&run.history, &Options::default());
    let causes = found.causes.expect("causes are asked for");
    let all = found.waste.known_ns as f64 / 1e9;
    let whole = found.waste.cpu_ns as f64;
    (whole / all, causes.ns(LostTime::Waste, class) as f64 / whole.max(1.0))
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
        let (waste, share) = wasted(scenario, fault, limit, class, false);
        let (left, left_share) = wasted(scenario, fixed, limit, class, false);
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

/// The same with the scheduler's decisions, which show what balancing cannot see.
#[test]
fn decisions_show_the_faults_of_balancing() {
    let mut page = String::new();
    for (scenario, limit, cause) in [
        ("group-imbalance-make", Span::s(3), BESIDE_GROUP),
        ("missing-domains-cg", Span::s(3), AFTER_HOTPLUG),
        ("scheduling-groups-cg", Span::s(3), BEYOND_ONE_HOP),
    ] {
        let (_, share) = wasted(scenario, "bug", limit, cause, true);
        page += &format!("{scenario}: {share:.3} is {cause}\n");
        assert!(share > 0.8, "{page}");
    }
    println!("{page}");
}

/// A task that has just left an idle CPU keeps others from it, since its load still counts (seed
/// 001, UA). It is the direct reason of a small part of the waste only, but no wakeup passes over
/// its idle previous CPU once that decides.
#[test]
fn recent_load_keeps_tasks_from_an_idle_cpu() {
    let of = |variant: &str, cause: &str| {
        let (waste, share) = wasted("wake-affine-ua", variant, Span::s(2), cause, false);
        waste * share
    };
    let idle = "scheduler/placement/previous-idle";
    let recent = of("ambient before", "scheduler/placement/previous-idle/recent-load");
    let [before, after] = ["ambient before", "ambient after"].map(|it| of(it, idle));
    println!("{recent:.0} of {before:.0} ns a second, {after:.0} after");
    assert!(recent > 0.0 && after < 0.1 * recent);
}
