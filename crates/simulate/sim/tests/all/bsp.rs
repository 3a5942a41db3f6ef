//! Bulk synchronous jobs beside stressors: what Frachtenberg and Etsion show for default schedulers
//! against gang scheduling ("Hardware Parallelism: Are Operating Systems Ready?").

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template, Variate, Waiting};
use wastenot_model::{CpuId, Machine, Span, Time, Workload};
use wastenot_sim::{End, Options, checkers, scheduler, simulate};

/// Seconds that a job of `width` tasks takes, which synchronise after each `grain` until `total` of
/// work is done, beside `stressors` stressors.
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
    // Stressors run first, as in a measurement: the job begins 1 s later.
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

/// By [`GRAINS`]: how many times as long a job takes under a scheduler as under gang scheduling, on
/// four CPUs.
fn slowdown(who: (&str, &[(&str, &str)]), stressors: u32, waiting: Waiting) -> Vec<f64> {
    let (machine, costs) = (Machine::flat(4), Costs::default());
    let of = |who, ms: u64| {
        let shape = (3, Span::ms(ms), Span::ms((ms * 20).max(1000)));
        job(&machine, &costs, who, shape, stressors, waiting)
    };
    GRAINS.iter().map(|&ms| of(who, ms) / of(("gang", &[]), ms)).collect()
}

/// Grains in milliseconds.
const GRAINS: [u64; 5] = [1, 5, 20, 100, 500];

#[test]
fn with_a_cpu_for_each_there_is_nothing_to_gain() {
    for name in ["linux-2.4", "linux-2.6-o1"] {
        for stressors in [0, 1] {
            for ratio in slowdown((name, &[]), stressors, Waiting::Spin) {
                assert!((0.98..1.02).contains(&ratio), "{name}: {ratio} beside {stressors}");
            }
        }
    }
}

/// Numbers of stressors at which gang scheduling should gain.
const STRESSORS: [u32; 3] = [4, 8, 12];
/// Figures within this fraction are equal.
const EQUAL: f64 = 0.02;

/// The expectations for a default scheduler where jobs spin that do not hold.
fn unexpected(name: &str) -> Vec<String> {
    let ratios = STRESSORS.map(|s| slowdown((name, &[]), s, Waiting::Spin));
    let mut list = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            list.push(what);
        }
    };
    for (s, ratios) in STRESSORS.iter().zip(&ratios) {
        for (g, ratio) in GRAINS.iter().zip(ratios) {
            expect(*ratio >= 1.0, format!("gang is better at g={g} s={s}"));
        }
        let falls = ratios.windows(2).all(|two| two[1] <= two[0] * (1.0 + EQUAL));
        expect(falls, format!("the finer the worse at s={s}"));
        expect(ratios[4] <= 1.10, format!("at most a tenth at g=500 s={s}"));
    }
    for (index, g) in GRAINS.iter().enumerate() {
        let grows = ratios.windows(2).all(|two| two[1][index] >= two[0][index] * (1.0 - EQUAL));
        expect(grows, format!("the more there is to do the worse at g={g}"));
    }
    expect(ratios[1][1] >= 3.0, "at least 3 at g=5 s=8".into());
    list
}

/// With twelve stressors gang needs one row more than with eight, as queues do one task more: the
/// expectation that the loss keeps growing is missed by 4 %.
#[test]
fn queues_of_their_own_lose_to_gangs_as_expected() {
    let expected = [1, 5, 20, 100].map(|g| format!("the more there is to do the worse at g={g}"));
    assert_eq!(unexpected("linux-2.6-o1"), expected);
    let [four, eight] = [4, 8].map(|s| slowdown(("linux-2.6-o1", &[]), s, Waiting::Spin)[1]);
    assert!(eight > 1.2 * four, "{four} beside four, {eight} beside eight");
}

/// The expectations are for one queue per CPU, not for one queue for all CPUs. One queue puts the
/// three tasks of a job next to each other, so that they are nearly a gang by themselves. It gives
/// each task a fair share, 4 / (3 + s) of a CPU, where gang gives the job one of several rows.
#[test]
fn one_queue_for_all_comes_closer_to_gangs_than_expected() {
    let expected = [
        "gang is better at g=500 s=4",
        "gang is better at g=100 s=8",
        "gang is better at g=500 s=8",
        "gang is better at g=500 s=12",
        "the more there is to do the worse at g=1",
        "the more there is to do the worse at g=5",
        "the more there is to do the worse at g=20",
        "the more there is to do the worse at g=100",
        "the more there is to do the worse at g=500",
        "at least 3 at g=5 s=8",
    ];
    assert_eq!(unexpected("linux-2.4"), expected);
    let fine = slowdown(("linux-2.4", &[]), 8, Waiting::Spin)[1];
    assert!(fine > 2.5, "it still loses where grains are fine: {fine}");
}

/// A scheduler that ran each woken task at once would need a third to two thirds of a gang's time.
/// These schedulers do not: the last task to arrive at a barrier has not slept, so it has no
/// advantage over the stressors of its CPU, and all wait for it.
#[test]
fn a_job_that_blocks_is_held_up_by_the_one_that_does_not() {
    for who in
        [("linux-2.4", &[][..]), ("linux-2.6-o1", &[]), ("linux-2.6-o1", &[("boost", "block")])]
    {
        for ratio in slowdown(who, 8, Waiting::Block) {
            assert!((0.8..1.7).contains(&ratio), "{who:?}: {ratio}");
        }
    }
}

/// A job of `width` tasks on four cores of two threads: how many times as long it takes as under
/// gang scheduling that fills columns in the order of CPUs, and as under one that fills cores
/// first.
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
        assert!((0.60..=1.05).contains(&rigid), "4 threads beside {stressors}: {rigid}");
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
