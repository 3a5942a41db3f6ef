//! Known answers for workloads that can be computed by hand.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Group, GroupId, Hotplug, Program, Step, Template, Variate};
use wastenot_model::{CpuId, CpuSet, Help, History, Machine, Policy, Span, Time, Workload};
use wastenot_rota::compile;
use wastenot_rota::interpret::Interpreter;
use wastenot_sim::{End, Options, Outcome, checkers, simulate};

use super::{interpreter, policy};

fn computes(name: &str, span: Span) -> Template {
    let steps = vec![Step::Compute(Variate::Fixed(span))];
    Template::new(name, Program::new(steps).expect("a program"))
}

fn hogs(count: usize, span: Span) -> Workload {
    let mut load = Workload::new();
    let hog = load.template(computes("hog", span));
    (0..count).for_each(|_| load.launch(hog, CpuId(0)));
    load
}

#[track_caller]
fn run(policy: Interpreter, machine: &Machine, load: &Workload) -> (History, Outcome) {
    let options = Options::default();
    let (history, outcome) = simulate(machine, &Costs::default(), load, policy, &options);
    assert_eq!(outcome.end, End::Done);
    assert_eq!(checkers::wrong(&history), Vec::<String>::new());
    (history, outcome)
}

fn ended_ms(outcome: &Outcome) -> Vec<u64> {
    outcome.ended.iter().map(|at| at.expect("all ended").0 / 1_000_000).collect()
}

#[test]
fn three_tasks_on_two_cpus_take_as_long_as_the_work_shared() {
    for (name, ms) in [("work-stealing", 60..=60), ("fair-vtime", 60..=65)] {
        let load = hogs(3, Span::ms(40));
        let (history, outcome) = run(interpreter(&policy(name)), &Machine::flat(2), &load);
        assert!(ms.contains(&(outcome.time.0 / 1_000_000)), "{name} {}", outcome.time);
        let found = wastenot_check::check(&history, &wastenot_check::Options::default());
        assert_eq!(found.waste.cpu_ns, 0);
    }
}

#[test]
fn two_tasks_on_one_cpu_take_turns_of_a_slice() {
    let text = policy("work-stealing");
    let (_, outcome) = run(interpreter(&text), &Machine::flat(1), &hogs(2, Span::ms(30)));
    assert_eq!(ended_ms(&outcome), [50, 60]); // 20 + 20 + 10 + 10
    let program = compile(&text).expect("it means something");
    let set = [("slice".to_owned(), "30ms".to_owned())];
    let policy = Interpreter::new(program, &set).expect("there is such a parameter");
    assert_eq!(policy.name(), "ws slice=30ms");
    let (_, outcome) = run(policy, &Machine::flat(1), &hogs(2, Span::ms(30)));
    assert_eq!(ended_ms(&outcome), [30, 60]);
}

#[test]
fn virtual_time_shares_a_cpu_by_weight() {
    let mut load = Workload::new();
    let heavy = load.template(Template { nice: -5, ..computes("heavy", Span::ms(300)) });
    let light = load.template(computes("light", Span::ms(300)));
    [heavy, light].into_iter().for_each(|it| load.launch(it, CpuId(0)));
    let (_, outcome) = run(interpreter(&policy("fair-vtime")), &Machine::flat(1), &load);
    // Nice -5 weighs 305 against 100: when its 300 ms are done, the other had 98 ms, give or take
    // a slice.
    let ended = ended_ms(&outcome);
    assert!((393..=408).contains(&ended[0]) && ended[1] == 600, "{ended:?}");
}

#[test]
fn a_queue_full_of_bound_tasks_does_not_hide_the_one_that_is_not() {
    let mut load = Workload::new();
    let bound = Template {
        affinity: Some(CpuSet::from_iter([CpuId(0)])),
        ..computes("bound", Span::ms(10))
    };
    let bound = load.template(bound);
    (0..5).for_each(|_| load.launch(bound, CpuId(0)));
    let free = load.template(computes("free", Span::ms(10)));
    (0..2).for_each(|_| load.launch(free, CpuId(0)));
    // Whole slices one after another, or slices of 5 ms in turn.
    for (name, ended) in [("work-stealing", [10, 20]), ("fair-vtime", [15, 20])] {
        let (_, outcome) = run(interpreter(&policy(name)), &Machine::flat(2), &load);
        assert_eq!(ended_ms(&outcome)[5..], ended, "{name}");
        assert_eq!(outcome.time.0, 50_000_000, "{name}");
    }
}

#[test]
fn a_parameter_that_is_not_there_is_told_what_was_meant() {
    let new = |name: &str, value: &str| {
        let program = compile(&policy("work-stealing")).expect("it means something");
        let set = [(name.to_owned(), value.to_owned())];
        let error = Interpreter::new(program, &set).expect_err("refused");
        (error.to_string(), error.help().into_owned())
    };
    let (what, help) = new("slices", "5ms");
    assert_eq!(
        (what.as_str(), help.as_str()),
        ("ws has no parameter `slices`", "did you mean `slice`?")
    );
    let (what, help) = new("slice", "5");
    assert_eq!(what, "ws: `slice` cannot be `5`");
    assert!(help.contains("a time with its unit"), "{help}");
}

#[test]
fn a_tick_can_end_a_turn() {
    let text = "policy ticks() {
        queue q : fifo per machine
        on new(t), wake(t) { put t in machine.q slice forever }
        on preempt(t), yield(t) { put t in machine.q slice forever }
        on block(t), exit(t) { }
        on tick(t) { kick here preempt }
        on dispatch(c) { take c.q }
    }";
    let (history, outcome) = run(interpreter(text), &Machine::flat(1), &hogs(2, Span::ms(12)));
    assert_eq!(ended_ms(&outcome), [20, 24]); // turns of 4 ms
    assert_eq!(history.task_count(), 2);
}

/// The cgroup `web` has CPU 0, all other tasks have CPUs 1 and 2.
const PARTED: &str = "
    policy fifo() {
        queue q : fifo per machine
        on new(t), wake(t) {
            let c = idle cpu in allowed(t) near t.prev by [machine]
            if c { run t on c slice forever } else { put t in machine.q slice forever }
        }
        on preempt(t), yield(t) { put t in machine.q slice forever }
        on block(t), exit(t) { }
        on dispatch(c) { take c.q }
    }
    partition front on cpus 0 runs fifo for cgroup \"web*\"
    partition back on rest runs fifo for rest";

#[test]
fn tasks_run_in_the_partition_of_their_group() {
    let mut load = Workload::new();
    load.groups.push(Group { name: "web/1".into(), parent: Some(GroupId(0)), ..Group::root() });
    let web = load.template(Template { group: GroupId(1), ..computes("web", Span::ms(10)) });
    let other = load.template(computes("other", Span::ms(10)));
    (0..3).for_each(|_| load.launch(web, CpuId(2)));
    (0..3).for_each(|_| load.launch(other, CpuId(0)));
    let (_, outcome) = run(interpreter(PARTED), &Machine::flat(3), &load);
    assert_eq!(ended_ms(&outcome), [10, 20, 30, 10, 10, 20]);
}

#[test]
fn whoever_may_run_only_in_another_partition_runs_there() {
    let mut load = Workload::new();
    load.groups.push(Group { name: "web/1".into(), parent: Some(GroupId(0)), ..Group::root() });
    let affinity = Some(CpuSet::from_iter([CpuId(2)]));
    let web = Template { group: GroupId(1), affinity, ..computes("web", Span::ms(10)) };
    let web = load.template(web);
    (0..2).for_each(|_| load.launch(web, CpuId(0)));
    let (_, outcome) = run(interpreter(PARTED), &Machine::flat(3), &load);
    assert_eq!(ended_ms(&outcome), [10, 20]);
}

#[test]
fn who_waits_where_all_cpus_go_off_goes_on_elsewhere() {
    let mut load = Workload::new();
    load.groups.push(Group { name: "web/1".into(), parent: Some(GroupId(0)), ..Group::root() });
    let web = load.template(Template { group: GroupId(1), ..computes("web", Span::ms(10)) });
    (0..3).for_each(|_| load.launch(web, CpuId(0)));
    load.hotplug.push(Hotplug { at: Time(5_000_000), cpu: CpuId(0), up: false });
    let (_, outcome) = run(interpreter(PARTED), &Machine::flat(3), &load);
    // The first has 5 ms left when it comes to CPU 1 or 2; the others follow it there.
    assert_eq!(outcome.time.0, 20_000_000, "{outcome:?}");
}

/// A CPU that tries the longest queue only, whose tasks are bound elsewhere, fails again and again
/// while a task waits for it in a shorter queue.
#[test]
fn whoever_does_not_try_all_queues_is_charged_for_it() {
    let on = |cpu: u16, name: &str, steps: Vec<Step>| Template {
        affinity: Some(CpuSet::from_iter([CpuId(cpu)])),
        ..Template::new(name, Program::new(steps).expect("a program"))
    };
    let ms = |ms| Step::Compute(Variate::Fixed(Span::ms(ms)));
    let turns = vec![Step::Loop(Some(50)), ms(1), Step::Yield, Step::End { of: 0 }];
    let mut load = Workload::new();
    let crowd = load.template(on(0, "crowd", turns));
    let hog = load.template(on(1, "hog", vec![ms(100)]));
    let short = load.template(on(2, "short", vec![ms(5)]));
    let free = load.template(computes("free", Span::ms(10)));
    (0..4).for_each(|_| load.launch(crowd, CpuId(0)));
    for (task, cpu) in [(hog, 1), (short, 2), (free, 1)] {
        load.launch(task, CpuId(cpu));
    }
    let right = policy("work-stealing");
    let wrong = right.replace("retry untried", "retry 0");
    assert_ne!(right, wrong);
    let options = Options { notes: true, ..Options::default() };
    let charged = |text: &str| {
        let (machine, costs) = (Machine::flat(3), Costs::default());
        let (history, _) = simulate(&machine, &costs, &load, interpreter(text), &options);
        wastenot_chance::attempts(&history).expect("it tells its steps")
    };
    let right = charged(&right);
    assert_eq!((right.wrong.len(), right.failed_max), (0, 0));
    assert!(right.failed > 0, "{right:?}");
    let wrong = charged(&wrong);
    assert!(wrong.failed_max > 10, "{wrong:?}");
    assert!(wrong.wrong[0].contains("CPU 2 failed 2 times"), "{wrong:?}");
}
