//! Programs execute their steps as defined.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Step, Template, Waiting};
use wastenot_model::{CpuId, CpuSet, Machine, Span, TaskId, Time, Workload};
use wastenot_sim::{End, Options, Outcome, Stuck, simulate};

use crate::made::{self, END, compute, launch, policy, sleep, template};

fn run(cpus: usize, name: &str, workload: &Workload) -> Outcome {
    made::run(&Machine::flat(cpus), &Costs::default(), name, workload).1
}

#[test]
fn a_loop_computes_and_sleeps_for_as_long_as_it_says() {
    let mut load = Workload::new();
    let steps = [Step::Loop(Some(3)), compute(Span::ms(2)), sleep(Span::ms(5)), END];
    launch(&mut load, 1, template("t", &steps));
    let outcome = run(1, "pinned", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, Time(21_000_000)));
}

#[test]
fn a_lock_lets_one_in_at_a_time_however_they_wait() {
    for waiting in [Waiting::Block, Waiting::Spin, Waiting::SpinThenBlock(Span::us(500))] {
        let mut load = Workload::new();
        let lock = load.lock("l", waiting);
        let steps = [Step::Lock(lock), compute(Span::ms(1)), Step::Unlock(lock)];
        launch(&mut load, 4, template("t", &steps));
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
            launch(&mut load, 1, template("t", &steps));
        }
        let outcome = run(3, "pinned", &load);
        assert_eq!((outcome.end, outcome.time), (End::Done, Time(6_000_000)), "{waiting:?}");
    }
}

#[test]
fn a_pipe_holds_as_much_as_it_has_room_for() {
    // The reader takes 2 ms per token, the writer 1 ms, with room for one: both proceed at 2 ms per
    // token.
    let mut load = Workload::new();
    let pipe = load.pipe("p", Some(1), Waiting::Block);
    let write = [Step::Loop(Some(4)), compute(Span::ms(1)), Step::Put(pipe), END];
    let read = [Step::Loop(Some(4)), Step::Get(pipe), compute(Span::ms(2)), END];
    for steps in [write, read] {
        launch(&mut load, 1, template("t", &steps));
    }
    let outcome = run(2, "pinned", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, Time(9_000_000)));
}

#[test]
fn a_flag_that_is_spun_on_changes_only_where_its_spinners_run() {
    // On one CPU, in turns of 4 ms (a slice of 3 ms, which ends at the next tick): the reader takes
    // one token per turn, since the writer that waits for room has to run to put the next.
    let mut load = Workload::new();
    let flag = load.pipe("flag", Some(1), Waiting::Spin);
    let write = [Step::Loop(Some(10)), compute(Span::us(10)), Step::Put(flag), END];
    let read = [Step::Loop(Some(10)), Step::Get(flag), compute(Span::us(10)), END];
    for steps in [write, read] {
        launch(&mut load, 1, template("t", &steps));
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
    launch(&mut load, 1, template("parent", &steps));
    let outcome = run(2, "global-fifo", &load);
    assert_eq!((outcome.end, outcome.time), (End::Done, Time(6_000_000)));
    assert_eq!(outcome.ended.len(), 5);
}

#[test]
fn who_forks_for_ever_is_stopped() {
    let mut load = Workload::new();
    let child = load.template(template("child", &[compute(Span::us(1))]));
    let steps = [Step::Loop(None), Step::Fork(child), compute(Span::us(1)), END];
    let parent = load.template(template("parent", &steps));
    load.launch(parent, CpuId(0));
    let outcome = run(2, "global-fifo", &load);
    assert!(matches!(outcome.end, End::Crowd { parent } if parent == TaskId::nth(0)));
    assert!(outcome.ended.len() <= 1_000_000, "{} tasks", outcome.ended.len());
}

#[test]
fn a_child_is_waited_for_once() {
    let mut load = Workload::new();
    let child = load.template(template("child", &[compute(Span::ms(10))]));
    let (fork, after) = (Step::Fork(child), load.mark("after"));
    let steps = [fork, Step::WaitAll, fork, Step::WaitOne, Step::Mark(after)];
    launch(&mut load, 1, template("parent", &steps));
    let outcome = run(4, "global-fifo", &load);
    assert_eq!(outcome.marks[0].time, Time(20_000_000));
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
    launch(&mut load, 1, template("t", &steps));
    let outcome = run(1, "pinned", &load);
    let late: Vec<u64> = outcome.marks.iter().map(|mark| mark.late.0 / 1_000_000).collect();
    assert_eq!(late, [3, 4, 5, 4, 5]);
}

#[test]
fn conditions_wake_one_or_all_and_forget() {
    let mut load = Workload::new();
    let go = load.condition("go");
    launch(&mut load, 3, template("waiter", &[Step::Await(go), compute(Span::ms(1))]));
    let steps = [compute(Span::ms(1)), Step::Signal(go), sleep(Span::ms(4)), Step::Broadcast(go)];
    launch(&mut load, 1, template("caller", &steps));
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
        launch(&mut load, 1, template("t", &[compute(Span::ms(ms))]));
    }
    // Both at half speed for 2 ms, then 2 ms of work alone.
    let outcome = made::run(&machine, &costs, "pinned", &load).1;
    assert_eq!(outcome.time, Time(4_000_000));
}

#[test]
fn switches_moves_and_lost_caches_cost_what_they_say() {
    let mut load = Workload::new();
    let steps = [Step::Loop(Some(2)), compute(Span::ms(1)), Step::Yield, END];
    let task = load.template(template("t", &steps));
    (0..2).for_each(|_| load.launch(task, CpuId(0)));
    let costs = Costs { switch: Span::us(3), cold: Span::us(10), ..Costs::default() };
    let outcome = made::run(&Machine::flat(1), &costs, "pinned", &load).1;
    // Six switches to a task: two rounds each, and once more each to end. All but the very first
    // are cache-cold.
    assert_eq!(outcome.time, Time(4_000_000 + 6 * 3_000 + 5 * 10_000));
}

#[test]
fn a_task_that_may_not_stay_moves_away() {
    let mut load = Workload::new();
    let second = load.affinity(CpuSet::from_iter([CpuId(1)]));
    let steps = [compute(Span::ms(1)), Step::Affinity(second), compute(Span::ms(1))];
    launch(&mut load, 1, template("t", &steps));
    for name in ["pinned", "global-fifo"] {
        let machine = Machine::flat(2);
        let (history, outcome) = made::run(&machine, &Costs::default(), name, &load);
        assert_eq!((outcome.end, outcome.time), (End::Done, Time(2_000_000)));
        let last = history.entries().last().expect("rows");
        assert_eq!(last.cpu, CpuId(1));
    }
}

#[test]
fn a_deadlock_is_reported_with_who_waits_for_whom() {
    let mut load = Workload::new();
    let (a, b) = (load.lock("a", Waiting::Block), load.lock("b", Waiting::Spin));
    for (first, then) in [(a, b), (b, a)] {
        let steps = [Step::Lock(first), compute(Span::ms(1)), Step::Lock(then)];
        launch(&mut load, 1, template("t", &steps));
    }
    let End::Deadlock(stuck) = run(2, "pinned", &load).end else { panic!("no deadlock") };
    assert_eq!(words(&stuck), [(0, "the lock `b`", Some(1)), (1, "the lock `a`", Some(0))]);
}

/// Which task waits for what, and which task has it; tasks by number.
fn words(stuck: &[Stuck]) -> Vec<(usize, &str, Option<usize>)> {
    let number = |task: TaskId| task.index().expect("no idle task");
    let words = |it| {
        let Stuck { task, waits_for, held_by, .. }: &Stuck = it;
        (number(*task), waits_for.as_str(), held_by.map(number))
    };
    stuck.iter().map(words).collect()
}

/// Computes for ever; the run may end before it does.
fn stressor() -> Template {
    let steps = [Step::Loop(None), compute(Span::ms(10)), END];
    Template { awaited: false, ..template("stressor", &steps) }
}

#[test]
fn a_deadlock_is_reported_at_once_whoever_else_goes_on() {
    for waiting in [Waiting::Block, Waiting::Spin, Waiting::SpinThenBlock(Span::us(5))] {
        let mut load = Workload::new();
        launch(&mut load, 1, stressor());
        let locks = ["a", "b", "c"].map(|name| load.lock(name, waiting));
        for n in 0..3 {
            let (first, then) = (Step::Lock(locks[n]), Step::Lock(locks[(n + 1) % 3]));
            let task = load.template(template("t", &[first, compute(Span::ms(1)), then]));
            load.launch(task, CpuId(0));
        }
        // A task that waits for one of them is not part of the cycle.
        let other = [compute(Span::us(500)), Step::Lock(locks[0])];
        launch(&mut load, 1, template("other", &other));
        let outcome = run(5, "pinned", &load);
        let End::Deadlock(stuck) = outcome.end else { panic!("{:?}", outcome.end) };
        let expected = [
            (1, "the lock `b`", Some(2)),
            (2, "the lock `c`", Some(3)),
            (3, "the lock `a`", Some(1)),
        ];
        assert_eq!((words(&stuck), outcome.time), (expected.to_vec(), Time(1_000_000)));
    }
}

#[test]
fn who_takes_a_lock_twice_waits_for_itself() {
    let mut load = Workload::new();
    let lock = load.lock("l", Waiting::Block);
    for template in [template("t", &[Step::Lock(lock), Step::Lock(lock)]), stressor()] {
        launch(&mut load, 1, template);
    }
    let End::Deadlock(stuck) = run(2, "pinned", &load).end else { panic!("no deadlock") };
    assert_eq!(words(&stuck), [(0, "the lock `l`", Some(0))]);
}

#[test]
fn spinners_that_keep_others_from_running_are_named_and_not_the_scheduler() {
    let mut load = Workload::new();
    let barrier = load.barrier("b", 3, Waiting::Spin);
    launch(&mut load, 3, template("t", &[compute(Span::ms(1)), Step::Barrier(barrier)]));
    let outcome = run(2, "global-fifo", &load);
    let End::Deadlock(stuck) = outcome.end else { panic!("{:?}", outcome.end) };
    let there = "the barrier `b` (2 of 3 tasks have arrived)";
    assert_eq!(words(&stuck), [(0, there, None), (1, there, None), (2, "CPU 0", Some(0))]);
}

#[test]
fn at_the_limit_it_is_told_who_waits_in_vain() {
    let mut load = Workload::new();
    let lock = load.lock("kept", Waiting::Block);
    let barrier = load.barrier("b", 3, Waiting::Spin);
    let pipe = load.pipe("empty", Some(1), Waiting::Block);
    let (never, late) = (load.condition("never"), load.condition("late"));
    let child = load.template(template("child", &[Step::Await(never)]));
    let programs: [&[Step]; 8] = [
        &[Step::Lock(lock)],
        &[compute(Span::ms(1)), Step::Lock(lock)],
        &[Step::Barrier(barrier)],
        &[Step::Get(pipe)],
        &[Step::Fork(child), Step::WaitAll],
        // These may yet continue: the last one will call, once it has slept for long enough.
        &[Step::Await(late)],
        &[Step::Loop(None), compute(Span::ms(1)), sleep(Span::ms(1)), END],
        &[sleep(Span::s(1000)), Step::Signal(late)],
    ];
    for steps in programs {
        launch(&mut load, 1, template("t", steps));
    }
    launch(&mut load, 1, stressor());
    let options = Options { limit: Time(Span::s(1).0), ..Options::default() };
    let (_, outcome) =
        simulate(&Machine::flat(10), &Costs::default(), &load, policy("pinned"), &options);
    assert_eq!(outcome.end, End::Limit);
    let expected = [
        (1, "the lock `kept`", Some(0)),
        (2, "the barrier `b` (1 of 3 tasks have arrived)", None),
        (3, "a token in the pipe `empty`", None),
        (4, "all its children to end", None),
        (5, "a signal of the condition `never`", None),
    ];
    assert_eq!(words(&outcome.stuck), expected);
}

#[test]
fn what_is_due_in_a_hundred_years_is_not_due_now() {
    let mut load = Workload::new();
    launch(&mut load, 1, template("t", &[sleep(Span(1 << 61))]));
    assert_eq!(run(1, "pinned", &load).end, End::Limit);
    let options = Options { limit: Time::MAX, ..Options::default() };
    let (_, outcome) =
        simulate(&Machine::flat(1), &Costs::default(), &load, policy("pinned"), &options);
    assert_eq!(outcome.end, End::Limit);
}

#[test]
fn steps_without_time_for_ever_are_noticed() {
    let mut load = Workload::new();
    launch(&mut load, 1, template("t", &[Step::Loop(None), Step::Yield, END]));
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
