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

#[test]
fn print_table() {
    let machine = Machine::flat(4);
    for waiting in [Waiting::Spin, Waiting::Block] {
        for name in ["linux-2.4", "linux-2.6-o1"] {
            for s in [0, 1, 4, 8, 12] {
                let mut line = format!("{waiting:?} {name} s={s}:");
                for g in [1, 5, 20, 100, 500] {
                    let grain = Span::ms(g);
                    let total = Span::ms((g * 20).max(2000));
                    let costs = Costs::default();
                    let of = |who| job(&machine, &costs, who, (3, grain, total), s, waiting);
                    let (default, gang) = (of((name, &[])), of(("gang", &[])));
                    line += &format!(" {:.2} ({:.1}/{:.1})", default / gang, default, gang);
                }
                println!("{line}");
            }
        }
    }
}
