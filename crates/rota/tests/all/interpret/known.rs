//! Known answers on workloads that one can work out by hand.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template, Variate};
use wastenot_model::{CpuId, History, Machine, Span, Workload};
use wastenot_rota::interpret::Interpreter;
use wastenot_rota::ir::Policy;
use wastenot_sim::{End, Options, Outcome, checkers, simulate};

use super::built::{program, virtual_time, work_stealing};

fn hogs(count: usize, span: Span) -> Workload {
    let mut load = Workload::new();
    let steps = vec![Step::Compute(Variate::Fixed(span))];
    let hog = load.template(Template::new("hog", Program::new(steps).expect("a program")));
    (0..count).for_each(|_| load.launch(hog, CpuId(0)));
    load
}

#[track_caller]
fn run(policy: Policy, machine: &Machine, load: &Workload) -> (History, Outcome) {
    let policy = Interpreter::new(program(policy), &[]).expect("no parameters are set");
    let options = Options::default();
    let (history, outcome) = simulate(machine, &Costs::default(), load, policy, &options);
    assert_eq!(outcome.end, End::Done);
    assert_eq!(checkers::wrong(&history), Vec::<String>::new());
    (history, outcome)
}

#[test]
fn three_tasks_on_two_cpus_take_as_long_as_the_work_shared() {
    for policy in [work_stealing(), virtual_time()] {
        let (history, outcome) = run(policy, &Machine::flat(2), &hogs(3, Span::ms(40)));
        // Slices of 20 ms: 60 ms. Of 5 ms: the last one is alone for at most one slice.
        assert!((60..=65).contains(&(outcome.time.0 / 1_000_000)), "{}", outcome.time);
        let found = wastenot_check::check(&history, &wastenot_check::Options::default());
        assert_eq!(found.waste.cpu_ns, 0);
    }
}
