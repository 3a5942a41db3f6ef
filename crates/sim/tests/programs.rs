//! Programs do what their steps say.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template, Variate, Waiting};
use wastenot_model::{CpuId, CpuSet, History, Machine, Span, Time, Workload};
use wastenot_sim::{End, Options, Outcome, checkers, scheduler, simulate};

const END: Step = Step::End { of: 0 };

fn compute(span: Span) -> Step {
    Step::Compute(Variate::Fixed(span))
}
fn sleep(span: Span) -> Step {
    Step::Sleep(Variate::Fixed(span))
}
fn template(name: &str, steps: &[Step]) -> Template {
    Template::new(name, Program::new(steps.to_vec()).expect("a program"))
}

fn run_on(machine: &Machine, costs: &Costs, name: &str, load: &Workload) -> (History, Outcome) {
    let policy = scheduler(name, &[]).expect("a scheduler");
    let (history, outcome) = simulate(machine, costs, load, policy, &Options::default());
    assert_eq!(checkers::wrong(&history), Vec::<String>::new());
    (history, outcome)
}
fn run(cpus: usize, name: &str, workload: &Workload) -> Outcome {
    run_on(&Machine::flat(cpus), &Costs::default(), name, workload).1
}

#[test]
fn a_loop_computes_and_sleeps_for_as_long_as_it_says() {
    let mut load = Workload::new();
    let steps = [Step::Loop(Some(3)), compute(Span::ms(2)), sleep(Span::ms(5)), END];
    let task = load.template(template("t", &steps));
    load.launch(task, CpuId(0));
    let outcome = run(1, "pinned", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, Time(21_000_000)));
}

#[test]
fn a_lock_lets_one_in_at_a_time_however_they_wait() {
    for waiting in [Waiting::Block, Waiting::Spin, Waiting::SpinThenBlock(Span::us(500))] {
        let mut load = Workload::new();
        let lock = load.lock("l", waiting);
        let steps = [Step::Lock(lock), compute(Span::ms(1)), Step::Unlock(lock)];
        let task = load.template(template("t", &steps));
        (0..4).for_each(|_| load.launch(task, CpuId(0)));
        let outcome = run(4, "pinned", &load);
        assert_eq!((outcome.end, outcome.time), (End::Done, Time(4_000_000)), "{waiting:?}");
    }
}

#[test]
fn a_barrier_waits_for_the_slowest() {
    for waiting in [Waiting::Block, Waiting::Spin, Waiting::SpinThenBlock(Span::us(500))] {
        let mut load = Workload::new();
        let barrier = load.barrier("b", 3, waiting);
        for ms in 1..=3 {
            let steps = [Step::Loop(Some(2)), compute(Span::ms(ms)), Step::Barrier(barrier), END];
            let task = load.template(template("t", &steps));
            load.launch(task, CpuId(0));
        }
        let outcome = run(3, "pinned", &load);
        assert_eq!((outcome.end, outcome.time), (End::Done, Time(6_000_000)), "{waiting:?}");
    }
}

#[test]
fn a_pipe_holds_as_much_as_it_has_room_for() {
    // The reader takes 2 ms a token, the writer 1 ms, with room for one: they meet at 2 ms a token.
    let mut load = Workload::new();
    let pipe = load.pipe("p", Some(1), Waiting::Block);
    let write = [Step::Loop(Some(4)), compute(Span::ms(1)), Step::Put(pipe), END];
    let read = [Step::Loop(Some(4)), Step::Get(pipe), compute(Span::ms(2)), END];
    for steps in [write, read] {
        let task = load.template(template("t", &steps));
        load.launch(task, CpuId(0));
    }
    let outcome = run(2, "pinned", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, Time(9_000_000)));
}

#[test]
fn a_flag_that_is_spun_on_changes_only_where_its_spinners_run() {
    // On one CPU, in turns of 4 ms (a slice of 3 ms, seen to be over at the tick): the reader takes
    // one token a turn, since the writer that waits for room has to run to put the next.
    let mut load = Workload::new();
    let flag = load.pipe("flag", Some(1), Waiting::Spin);
    let write = [Step::Loop(Some(10)), compute(Span::us(10)), Step::Put(flag), END];
    let read = [Step::Loop(Some(10)), Step::Get(flag), compute(Span::us(10)), END];
    for steps in [write, read] {
        let task = load.template(template("t", &steps));
        load.launch(task, CpuId(0));
    }
    let outcome = run(1, "cfs-4.1", &load);
    assert_eq!(outcome.end, End::Done);
    assert!((72..80).contains(&(outcome.time.0 / 1_000_000)), "{:?}", outcome.time);
}

#[test]
fn a_parent_waits_for_its_children() {
    let mut load = Workload::new();
    let child = load.template(template("child", &[compute(Span::ms(3))]));
    let steps = [Step::Loop(Some(4)), Step::Fork(child), END, Step::WaitOne, Step::WaitAll];
    let parent = load.template(template("parent", &steps));
    load.launch(parent, CpuId(0));
    let outcome = run(2, "global-fifo", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, Time(6_000_000)));
    assert_eq!(outcome.ended.len(), 5);
}

#[test]
fn beats_catch_up_and_what_is_late_is_left_out() {
    let mut load = Workload::new();
    let shown = load.mark("shown");
    // 3 ms of work every 2 ms: one millisecond later each time; more than 2 ms is too late.
    let steps = [
        Step::Loop(Some(6)),
        Step::Beat(Span::ms(2)),
        Step::UnlessLate(Span::ms(2)),
        compute(Span::ms(3)),
        Step::Mark(shown),
        END,
        END,
    ];
    let task = load.template(template("t", &steps));
    load.launch(task, CpuId(0));
    let outcome = run(1, "pinned", &load);
    let late: Vec<u64> = outcome.marks.iter().map(|mark| mark.late.0 / 1_000_000).collect();
    assert_eq!(late, [3, 4, 5, 4, 5]);
}

#[test]
fn conditions_wake_one_or_all_and_forget() {
    let mut load = Workload::new();
    let go = load.condition("go");
    let waiter = load.template(template("waiter", &[Step::Await(go), compute(Span::ms(1))]));
    (0..3).for_each(|_| load.launch(waiter, CpuId(0)));
    let steps = [compute(Span::ms(1)), Step::Signal(go), sleep(Span::ms(4)), Step::Broadcast(go)];
    let caller = load.template(template("caller", &steps));
    load.launch(caller, CpuId(0));
    let outcome = run(4, "pinned", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, Time(6_000_000)));
}

#[test]
fn busy_siblings_share_a_core() {
    let mut machine = Machine::flat(2);
    machine.cpus.iter_mut().for_each(|cpu| cpu.core = Some(0));
    let costs = Costs { smt: 0.5, ..Costs::default() };
    let mut load = Workload::new();
    for ms in [1, 3] {
        let task = load.template(template("t", &[compute(Span::ms(ms))]));
        load.launch(task, CpuId(0));
    }
    // Both at half speed for 2 ms, then 2 ms of work alone.
    let outcome = run_on(&machine, &costs, "pinned", &load).1;
    assert_eq!(outcome.time, Time(4_000_000));
}

#[test]
fn switches_moves_and_lost_caches_cost_what_they_say() {
    let mut load = Workload::new();
    let steps = [Step::Loop(Some(2)), compute(Span::ms(1)), Step::Yield, END];
    let task = load.template(template("t", &steps));
    (0..2).for_each(|_| load.launch(task, CpuId(0)));
    let costs = Costs { switch: Span::us(3), cold: Span::us(10), ..Costs::default() };
    let outcome = run_on(&Machine::flat(1), &costs, "pinned", &load).1;
    // Six switches to a task: two rounds each, and once more each to end. All but the very first
    // find the cache cold.
    assert_eq!(outcome.time, Time(4_000_000 + 6 * 3_000 + 5 * 10_000));
}

#[test]
fn a_task_that_may_not_stay_moves_away() {
    let mut load = Workload::new();
    let second = load.affinity(CpuSet::from_iter([CpuId(1)]));
    let steps = [compute(Span::ms(1)), Step::Affinity(second), compute(Span::ms(1))];
    let task = load.template(template("t", &steps));
    load.launch(task, CpuId(0));
    for name in ["pinned", "global-fifo"] {
        let machine = Machine::flat(2);
        let (history, outcome) = run_on(&machine, &Costs::default(), name, &load);
        assert_eq!((outcome.end, outcome.time), (End::Done, Time(2_000_000)));
        let last = history.entries().last().expect("rows");
        assert_eq!(last.cpu, CpuId(1));
    }
}

#[test]
fn nobody_stays_on_a_cpu_that_is_off() {
    use wastenot_model::workload::Hotplug;
    let mut load = Workload::new();
    let task = load.template(template("t", &[compute(Span::ms(10))]));
    (0..2).for_each(|_| load.launch(task, CpuId(0)));
    let at = |ms: u64| Time(ms * 1_000_000);
    load.hotplug = vec![
        Hotplug { at: at(4), cpu: CpuId(0), up: false },
        Hotplug { at: at(6), cpu: CpuId(0), up: true },
    ];
    let (history, outcome) = run_on(&Machine::flat(2), &Costs::default(), "global-fifo", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, at(12)));
    assert_eq!(history.task_count(), 2);
}

#[test]
fn a_deadlock_is_reported_with_who_waits_for_whom() {
    let mut load = Workload::new();
    let (a, b) = (load.lock("a", Waiting::Block), load.lock("b", Waiting::Spin));
    for (first, then) in [(a, b), (b, a)] {
        let steps = [Step::Lock(first), compute(Span::ms(1)), Step::Lock(then)];
        let task = load.template(template("t", &steps));
        load.launch(task, CpuId(0));
    }
    let End::Deadlock(stuck) = run(2, "pinned", &load).end else { panic!("no deadlock") };
    let words: Vec<(String, Option<u32>)> = stuck
        .iter()
        .map(|it| (it.waits_for.clone(), it.held_by.map(|task| task.0 - 8192)))
        .collect();
    let expected = [("the lock `b`", Some(1)), ("the lock `a`", Some(0))];
    assert_eq!(words, expected.map(|(what, who)| (what.to_owned(), who)));
}

#[test]
fn steps_without_time_for_ever_are_noticed() {
    let mut load = Workload::new();
    let task = load.template(template("t", &[Step::Loop(None), Step::Yield, END]));
    load.launch(task, CpuId(0));
    assert!(matches!(run(1, "pinned", &load).end, End::Livelock { .. }));
}

#[test]
fn who_is_not_awaited_ends_with_the_others() {
    let mut load = Workload::new();
    let mut hog = template("hog", &[Step::Loop(None), compute(Span::s(1)), END]);
    hog.awaited = false;
    let (hog, task) = (load.template(hog), load.template(template("t", &[compute(Span::ms(7))])));
    load.launch(hog, CpuId(0));
    load.launch(task, CpuId(0));
    let outcome = run(2, "pinned", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, Time(7_000_000)));
}
