//! Bulk synchronous jobs beside stressors: what Frachtenberg and Etsion show of default schedulers
//! against gang scheduling ("Hardware Parallelism: Are Operating Systems Ready?").

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template, Variate, Waiting};
use wastenot_model::{CpuId, Machine, Span, Time, Workload};
use wastenot_sim::{End, Options, checkers, scheduler, simulate};

/// Seconds that a job of `width` tasks takes, which meet after each `grain` for `total` of work,
/// beside so many stressors.
fn job(
    machine: &Machine,
    costs: &Costs,
    (name, set): (&str, &[(&str, &str)]),
    (width, grain, total): (u32, Span, Span),
    stressors: u32,
    waiting: Waiting,
) -> f64 {
    let mut load = Workload::new();
    let barrier = load.barrier("all", width, waiting);
    let compute = |span| Step::Compute(Variate::Fixed(span));
    let steps = |rounds, steps: &[Step]| {
        let steps = [&[Step::Loop(rounds)], steps, &[Step::End { of: 0 }]].concat();
        Program::new(steps).expect("a program")
    };
    let rounds = Some((total.0 / grain.0) as u32);
    let task = steps(rounds, &[compute(grain), Step::Barrier(barrier)]);
    let task = load.template(Template { job: Some(1), ..Template::new("task", task) });
    let stressor = steps(None, &[compute(Span::ms(10))]);
    let stressor = Template { awaited: false, ..Template::new("stressor", stressor) };
    let stressor = load.template(stressor);
    let cpus = machine.len() as u32;
    // Stressors run first, as when somebody measures: the job begins 1 s later.
    (0..stressors).for_each(|n| load.launch(stressor, CpuId((n % cpus) as u16)));
    (0..width).for_each(|_| load.launch(task, CpuId(0)));
    let start = Time(Span::s(1).0);
    load.launches.iter_mut().skip(stressors as usize).for_each(|launch| launch.at = start);
    let set: Vec<(String, String)> =
        set.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    let policy = scheduler(name, &set).expect("known");
    let options = Options { limit: Time(Span::s(5000).0), ..Options::default() };
    let (history, outcome) = simulate(machine, costs, &load, policy, &options);
    assert_eq!(outcome.end, End::Done, "{name}");
    assert_eq!(checkers::wrong(&history), Vec::<String>::new());
    (outcome.time - start).as_secs()
}

/// How much longer a job takes under `name` than under gang scheduling on four CPUs: for each
/// grain in milliseconds.
fn slowdown(name: &str, stressors: u32, grains: &[u64], waiting: Waiting) -> Vec<f64> {
    let (machine, costs) = (Machine::flat(4), Costs::default());
    let of = |who, ms: u64| {
        let shape = (3, Span::ms(ms), Span::ms((ms * 20).max(1000)));
        job(&machine, &costs, who, shape, stressors, waiting)
    };
    grains.iter().map(|&ms| of((name, &[]), ms) / of(("gang", &[]), ms)).collect()
}

#[test]
fn with_a_cpu_for_each_there_is_nothing_to_gain() {
    for name in ["linux-2.4", "linux-2.6-o1"] {
        for stressors in [0, 1] {
            for ratio in slowdown(name, stressors, &[1, 5, 20, 100, 500], Waiting::Spin) {
                assert!((0.98..1.02).contains(&ratio), "{name}: {ratio} beside {stressors}");
            }
        }
    }
}

#[test]
fn the_finer_the_grain_the_more_a_spinning_job_loses_without_its_gang() {
    for stressors in [4, 8, 12] {
        for (name, fine) in [("linux-2.4", 2.5), ("linux-2.6-o1", 9.0)] {
            let ratios = slowdown(name, stressors, &[1, 5, 20, 100, 500], Waiting::Spin);
            assert!(ratios.is_sorted_by(|a, b| a > b), "{name}: {ratios:?} beside {stressors}");
            assert!(ratios[1] > fine && ratios[4] < 1.1, "{name}: {ratios:?} beside {stressors}");
        }
    }
}

#[test]
fn queues_of_their_own_lose_more_the_more_there_is_to_do() {
    // As long as a round of all queues is: stressors on a CPU, times their slices.
    let beside = |stressors| slowdown("linux-2.6-o1", stressors, &[5], Waiting::Spin)[0];
    let (four, eight) = (beside(4), beside(8));
    assert!(eight > 1.2 * four, "{four} beside four, {eight} beside eight");
}

#[test]
fn a_job_that_blocks_loses_little() {
    for name in ["linux-2.4", "linux-2.6-o1"] {
        for ratio in slowdown(name, 8, &[1, 5, 20, 100, 500], Waiting::Block) {
            assert!((0.3..2.0).contains(&ratio), "{name}: {ratio}");
        }
    }
}

/// A job of so many tasks on four cores of two threads: how much longer it takes than under gang
/// scheduling, which fills columns in the order of CPUs, and than when it fills cores first.
fn slowdown_smt(width: u32, stressors: u32) -> [f64; 2] {
    let machine = wastenot_scenario::machine("xeon4ht").expect("a preset");
    let costs = Costs { smt: 0.6, ..Costs::default() };
    let shape = (width, Span::ms(5), Span::s(1));
    let of = |name, set: &[(&str, &str)]| {
        job(&machine, &costs, (name, set), shape, stressors, Waiting::Spin)
    };
    let default = of("linux-2.6-o1", &[]);
    ["cpu", "cores"].map(|order| default / of("gang", &[("order", order)]))
}

#[test]
fn rigid_gangs_are_no_answer_on_smt() {
    for stressors in 0..=4 {
        let [rigid, _] = slowdown_smt(4, stressors);
        assert!((0.595..=1.05).contains(&rigid), "4 threads beside {stressors}: {rigid}");
    }
    for stressors in 0..=1 {
        let [rigid, _] = slowdown_smt(7, stressors);
        assert!((0.85..=1.20).contains(&rigid), "7 threads beside {stressors}: {rigid}");
    }
}

#[test]
fn a_gang_that_fills_cores_first_is_as_good_as_balancing() {
    let [rigid, aware] = slowdown_smt(4, 0);
    assert!(rigid < 0.65 && (aware - 1.0).abs() < 0.02, "{rigid} and {aware}");
}
