//! The rules of State: placement, waker, start, loss, contradictions.

use wastenot_model::{
    By, Carries, Change, Context, Contradiction, CpuId, CpuMode, CpuState, Entry, Event, Head,
    History, How, Left, Machine, MaskId, Observer, Origin, Past, Phase, Prio, Replay, Silent, Sink,
    Start, State, Task, TaskId, TaskState, Time,
};

const A: TaskId = TaskId(CpuId::LIMIT as u32);
const B: TaskId = TaskId(CpuId::LIMIT as u32 + 1);
const CPU0: CpuId = CpuId(0);
const CPU1: CpuId = CpuId(1);
const WAKEUPS: Carries = Carries::WAKEUPS;

fn at(time: u64, cpu: CpuId, event: Event) -> Entry {
    Entry { time: Time(time), cpu, by: By::task(TaskId::idle(cpu)), event }
}
fn switch(time: u64, cpu: CpuId, prev: TaskId, next: TaskId, left: Left) -> Entry {
    Entry::switch(Time(time), cpu, prev, next, left)
}
fn idle(cpu: CpuId) -> TaskId {
    TaskId::idle(cpu)
}
fn waking(time: u64, task: TaskId, prev: CpuId) -> Entry {
    at(time, CPU0, Event::Waking { task, prev: Some(prev), prio: Prio::UNKNOWN })
}
fn queued(time: u64, task: TaskId, on: CpuId) -> Entry {
    at(time, CPU0, Event::Queued { task, on: Some(on), how: How::Wakeup, prio: Prio::UNKNOWN })
}
fn migrate(time: u64, task: TaskId, to: CpuId) -> Entry {
    at(time, CPU0, Event::Migrate { task, from: None, to })
}
fn lost(time: u64, cpu: CpuId) -> Entry {
    at(time, cpu, Event::Lost { count: Some(3) })
}

/// Everything that State told.
#[derive(Default)]
struct Told {
    held: Vec<(u64, u64)>,
    contradictions: Vec<Contradiction>,
    phases: Vec<(TaskId, Phase, Phase)>,
}

impl Observer for Told {
    fn held(&mut self, _: &State, from: Time, to: Time) {
        self.held.push((from.0, to.0));
    }
    fn task(&mut self, _: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        self.phases.push((task, was.phase, now.phase));
    }
    fn contradiction(&mut self, _: &State, _: &Entry, what: Contradiction) {
        self.contradictions.push(what);
    }
}

/// The names of all calls, in order.
#[derive(Default)]
struct Calls(Vec<String>);

impl Observer for Calls {
    fn held(&mut self, _: &State, from: Time, to: Time) {
        self.0.push(format!("held {}-{}", from.0, to.0));
    }
    fn task(&mut self, _: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let name = if task == A { "A" } else { "B" };
        self.0.push(format!("{name} {:?} to {:?}", was.phase, now.phase));
    }
    fn cpu(&mut self, _: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        self.0.push(format!("cpu{cpu} {:?} to {:?}", was.length(), now.length()));
    }
    fn event(&mut self, _: &State, entry: &Entry) {
        self.0.push(format!("event at {}", entry.time.0));
    }
    fn contradiction(&mut self, _: &State, _: &Entry, what: Contradiction) {
        self.0.push(format!("{what:?}"));
    }
}

#[test]
fn observers_are_called_in_the_order_that_they_are_promised() {
    let entries = [
        switch(5, CPU0, idle(CPU0), A, Left::Runnable),
        waking(6, B, CPU1), // a first sight of B: it was asleep
        waking(7, B, CPU1), // a waking of a sleeper changes nothing that is told
        queued(8, B, CPU1),
        migrate(9, B, CPU0),
        switch(9, CPU0, A, B, Left::Sleeping),
        switch(11, CPU0, B, B, Left::Preempted),
        switch(12, CPU0, A, B, Left::Sleeping), // but B ran
    ];
    let (mut state, mut calls) = (State::new(2, WAKEUPS), Calls::default());
    entries.iter().for_each(|entry| state.apply(entry, &mut calls));
    let want = [
        "held 0-5",
        "A Unknown to Running",
        "cpu0 None to Some(1)",
        "event at 5",
        "held 5-6",
        "B Unknown to Sleeping",
        "event at 6",
        "event at 7",
        "held 6-8",
        "B Sleeping to Waiting",
        "cpu1 None to None",
        "event at 8",
        "held 8-9",
        "B Waiting to Waiting",
        "cpu1 None to None",
        "cpu0 Some(1) to Some(2)",
        "event at 9",
        "A Running to Sleeping",
        "B Waiting to Running",
        "cpu0 Some(2) to Some(1)",
        "event at 9",
        "held 9-11",
        "B Running to Waiting",
        "B Waiting to Running",
        "cpu0 Some(1) to Some(1)",
        "event at 11",
        "held 11-12",
        "OtherPrev",
        "B Running to Unknown",
        "A Sleeping to Sleeping",
        "B Unknown to Running",
        "cpu0 Some(1) to Some(1)",
        "event at 12",
    ];
    assert_eq!(calls.0, want);
}

fn run(carries: Carries, entries: &[Entry]) -> (State, Told) {
    let (mut state, mut told) = (State::new(2, carries), Told::default());
    entries.iter().for_each(|entry| state.apply(entry, &mut told));
    (state, told)
}

#[test]
fn a_wait_begins_at_the_wakeup_on_its_target() {
    let (state, _) = run(WAKEUPS, &[waking(5, A, CPU0), queued(7, A, CPU1)]);
    let task = state.task(A);
    assert_eq!((task.phase, task.cpu, task.since), (Phase::Waiting, Some(CPU1), Time(7)));
    assert_eq!((task.waking, task.prev, task.origin), (Some(Time(5)), Some(CPU0), Origin::Wakeup));
    assert_eq!(state.first_waiting(CPU1), Some(A));
}

#[test]
fn without_wakeups_it_begins_at_the_waking_and_a_migrate_moves_it() {
    let carries = Carries::WAKINGS | Carries::PLACEMENT;
    let (state, _) = run(carries, &[waking(5, A, CPU0), migrate(6, A, CPU1)]);
    let task = state.task(A);
    assert_eq!((task.cpu, task.since, task.moves), (Some(CPU1), Time(5), 1));
    assert_eq!((state.cpu(CPU0).waiting, state.cpu(CPU1).waiting), (0, 1));
}

#[test]
fn without_placement_it_waits_nowhere_known() {
    let (state, _) = run(Carries::WAKINGS, &[waking(5, A, CPU0)]);
    assert_eq!((state.task(A).cpu, state.unplaced_count()), (None, 1));
    let (state, told) = run(
        Carries::WAKINGS,
        &[waking(5, A, CPU0), switch(9, CPU1, idle(CPU1), A, Left::Runnable)],
    );
    assert_eq!((state.unplaced_count(), state.cpu(CPU1).mode), (0, CpuMode::Busy(A)));
    assert!(told.contradictions.is_empty());
}

#[test]
fn a_waking_of_a_running_task_begins_no_wait() {
    let entries =
        [switch(1, CPU0, idle(CPU0), A, Left::Runnable), waking(2, A, CPU0), queued(3, A, CPU0)];
    let (state, _) = run(WAKEUPS, &entries);
    assert_eq!((state.task(A).phase, state.cpu(CPU0).waiting), (Phase::Running, 0));
}

#[test]
fn r_and_r_plus_both_stay_on_the_queue() {
    for (left, origin) in [(Left::Runnable, Origin::Yielded), (Left::Preempted, Origin::Preempted)]
    {
        let (state, _) = run(WAKEUPS, &[switch(4, CPU0, A, B, left)]);
        assert_eq!((state.task(A).phase, state.task(A).origin), (Phase::Waiting, origin));
        assert_eq!(state.waiting(CPU0).collect::<Vec<_>>(), [A]);
    }
    let (state, _) = run(WAKEUPS, &[switch(4, CPU0, A, B, Left::Dead)]);
    assert_eq!(state.task(A).phase, Phase::Dead);
}

#[test]
fn a_task_that_yields_to_itself_runs_on() {
    let entries =
        [switch(1, CPU0, idle(CPU0), A, Left::Runnable), switch(2, CPU0, A, A, Left::Runnable)];
    let (state, told) = run(WAKEUPS, &entries);
    assert_eq!((state.task(A).phase, state.cpu(CPU0).waiting), (Phase::Running, 0));
    assert!(told.contradictions.is_empty());
}

#[test]
fn a_migrate_moves_a_waiting_task_and_only_the_last_cpu_of_a_sleeping_one() {
    let (state, _) = run(WAKEUPS, &[queued(1, A, CPU0), migrate(2, A, CPU1)]);
    assert_eq!((state.task(A).since, state.cpu(CPU1).waiting), (Time(1), 1));
    let (state, _) = run(WAKEUPS, &[switch(1, CPU0, A, B, Left::Sleeping), migrate(2, A, CPU1)]);
    assert_eq!((state.task(A).phase, state.task(A).cpu), (Phase::Sleeping, Some(CPU1)));
    assert_eq!(state.cpu(CPU1).waiting, 0);
}

#[test]
fn the_order_of_a_queue_is_the_order_of_joining_it() {
    let c = TaskId::nth(2);
    let entries = [
        queued(1, A, CPU0),
        queued(2, B, CPU1),
        queued(3, c, CPU0),
        migrate(4, B, CPU0),
        migrate(5, A, CPU1),
    ];
    let (state, _) = run(WAKEUPS, &entries);
    assert_eq!(state.waiting(CPU0).collect::<Vec<_>>(), [c, B]);
    assert_eq!(state.waiting(CPU1).collect::<Vec<_>>(), [A]);
}

#[test]
fn after_a_loss_that_cpu_is_unknown_and_who_runs_elsewhere_stays_known() {
    let entries = [
        switch(1, CPU0, idle(CPU0), A, Left::Runnable),
        switch(1, CPU1, idle(CPU1), B, Left::Runnable),
        queued(2, TaskId::nth(2), CPU1),
        switch(3, CPU1, B, TaskId::nth(3), Left::Sleeping),
        lost(4, CPU0),
    ];
    let (state, _) = run(WAKEUPS, &entries);
    assert_eq!(state.cpu(CPU0).mode, CpuMode::Unknown);
    assert_eq!(state.cpu(CPU1).mode, CpuMode::Busy(TaskId::nth(3)));
    assert_eq!(state.cpu(CPU1).waiting, 0);
    for (task, phase) in
        [(A, Phase::Unknown), (B, Phase::Unknown), (TaskId::nth(2), Phase::Unknown)]
    {
        assert_eq!(state.task(task).phase, phase);
    }
    assert_eq!(state.task(TaskId::nth(3)).phase, Phase::Running);
    let (state, told) = {
        let mut more = entries.to_vec();
        more.push(switch(9, CPU0, TaskId::nth(7), B, Left::Sleeping));
        run(WAKEUPS, &more)
    };
    assert_eq!(state.cpu(CPU0).mode, CpuMode::Busy(B));
    assert!(told.contradictions.is_empty(), "a loss explains what a contradiction would");
}

#[test]
fn contradictions_are_told_and_the_event_wins() {
    let a_runs = switch(1, CPU0, idle(CPU0), A, Left::Runnable);
    let (state, told) = run(WAKEUPS, &[a_runs, switch(2, CPU0, B, idle(CPU0), Left::Sleeping)]);
    assert_eq!(told.contradictions, [Contradiction::OtherPrev]);
    assert_eq!((state.task(A).phase, state.cpu(CPU0).mode), (Phase::Unknown, CpuMode::Idle));

    let twice = switch(2, CPU1, idle(CPU1), A, Left::Runnable);
    let (state, told) = run(WAKEUPS, &[a_runs, twice]);
    assert_eq!(told.contradictions, [Contradiction::RanTwice]);
    assert_eq!(state.cpu(CPU0).mode, CpuMode::Unknown);

    let asleep = switch(2, CPU0, A, idle(CPU0), Left::Sleeping);
    let (_, told) = run(WAKEUPS, &[a_runs, asleep, switch(3, CPU0, idle(CPU0), A, Left::Runnable)]);
    assert_eq!(told.contradictions, [Contradiction::RanAsleep]);
}

#[test]
fn a_cpu_that_comes_up_is_unknown_until_its_first_switch() {
    let down = at(2, CPU1, Event::Cpu { cpu: CPU1, up: false });
    let up = at(3, CPU1, Event::Cpu { cpu: CPU1, up: true });
    let (state, _) = run(WAKEUPS, &[down]);
    assert_eq!(state.cpu(CPU1).mode, CpuMode::Offline);
    let (state, _) = run(WAKEUPS, &[down, up]);
    assert_eq!(state.cpu(CPU1).mode, CpuMode::Unknown);
}

#[test]
fn a_loss_forgets_where_a_task_was_in_life_but_not_what_it_may_use() {
    let mask = at(1, CPU0, Event::Changed { task: A, what: Change::Affinity(MaskId(3)) });
    let (state, _) = run(WAKEUPS, &[mask, queued(2, A, CPU0), lost(3, CPU1)]);
    assert_eq!((state.task(A).phase, state.task(A).mask), (Phase::Unknown, Some(MaskId(3))));
}

#[test]
fn a_nice_value_is_of_the_last_row_that_told_it_and_outlives_a_loss() {
    let changed = |nice| at(1, CPU0, Event::Changed { task: A, what: Change::Nice(nice) });
    let priority = |prio| Prio(Some(prio));
    let woken =
        |prio| at(2, CPU0, Event::Waking { task: A, prev: Some(CPU0), prio: priority(prio) });
    let switched = |prev, prev_prio, next, next_prio| {
        let [prev_prio, next_prio] = [prev_prio, next_prio].map(priority);
        let left = Left::Sleeping;
        at(3, CPU0, Event::Switch { cpu: CPU0, prev, next, left, prev_prio, next_prio })
    };
    let queued = |prio| {
        let (on, how) = (Some(CPU0), How::Wakeup);
        at(4, CPU0, Event::Queued { task: A, on, how, prio: priority(prio) })
    };
    let forked = at(9, CPU0, Event::Fork { parent: B, child: A });
    let (in_139, out_139) = (switched(B, 120, A, 139), switched(A, 139, B, 120));
    for (entries, nice) in [
        (vec![], None),
        (vec![changed(-20)], Some(-20)),
        (vec![woken(100)], Some(-20)),
        (vec![queued(101)], Some(-19)),
        (vec![in_139], Some(19)),
        (vec![out_139], Some(19)),
        (vec![in_139, changed(3)], Some(3)),
        (vec![changed(3), in_139], Some(19)),
        // While it runs or waits a wakeup is no news, but for the nice value.
        (vec![in_139, woken(110)], Some(-10)),
        (vec![queued(139), woken(110)], Some(-10)),
        (vec![in_139, queued(110)], Some(-10)),
        // Priorities of other classes tell none.
        (vec![changed(5), woken(99), queued(-1), switched(B, 120, A, 140)], Some(5)),
        (vec![in_139, lost(5, CPU0)], Some(19)),
        (vec![changed(7), lost(5, CPU0), woken(0)], Some(7)),
        (vec![changed(7), forked], None),
    ] {
        let (state, _) = run(WAKEUPS, &entries);
        assert_eq!(state.task(A).nice, nice, "{entries:?}");
    }
    let (state, told) = run(WAKEUPS, &[in_139, woken(110)]);
    assert_eq!((state.task(A).phase, state.task(A).since), (Phase::Running, Time(3)));
    assert_eq!(told.contradictions, []);
}

#[test]
fn held_covers_time_without_gaps_or_overlaps() {
    let entries = [queued(3, A, CPU0), queued(3, B, CPU0), migrate(8, A, CPU1), lost(8, CPU0)];
    let (mut state, mut told) = run(WAKEUPS, &entries);
    state.finish(Time(20), &mut told);
    assert_eq!(told.held, [(0, 3), (3, 8), (8, 20)]);
}

fn history(entries: &[Entry]) -> History {
    let mut sink = wastenot_model::Builder::new(Head::new(Machine::flat(2)));
    let name = sink.name("t");
    (0..4).for_each(|tid| {
        sink.task(Task::new(tid + 1, name));
    });
    entries.iter().for_each(|entry| sink.push(*entry));
    sink.finish()
}

#[test]
fn before_its_first_switch_a_cpu_ran_who_it_switched_from() {
    let start = Start::infer(&history(&[switch(5, CPU0, A, B, Left::Sleeping)]), Silent::Unknown);
    assert_eq!(start.cpus, [CpuMode::Busy(A), CpuMode::Unknown]);
    assert_eq!(start.silent, [CPU1]);
    let idle_start = Start::infer(&history(&[switch(5, CPU0, A, B, Left::Sleeping)]), Silent::Idle);
    assert_eq!(idle_start.cpus, [CpuMode::Busy(A), CpuMode::Idle]);
}

#[test]
fn a_silent_cpu_ran_the_task_whose_context_its_events_carry() {
    let mut wakeup = queued(5, A, CPU1);
    wakeup.cpu = CPU1;
    wakeup.by = By { task: Some(B), context: Context::Hardirq };
    let begins = switch(4, CPU0, idle(CPU0), A, Left::Sleeping);
    let start = Start::infer(&history(&[begins, wakeup]), Silent::Idle);
    assert_eq!(start.cpus, [CpuMode::Idle, CpuMode::Busy(B)]);
    assert_eq!(start.silent, [CPU1]);
    // Without any switch the source may tell none: then silence says nothing.
    let start = Start::infer(&history(&[wakeup]), Silent::Idle);
    assert_eq!(start.cpus, [CpuMode::Unknown, CpuMode::Unknown]);
    assert!(start.silent.is_empty());
}

#[test]
fn a_silent_cpu_that_the_head_does_not_know_is_what_it_is_taken_for() {
    let mut history = history(&[switch(5, CPU0, A, B, Left::Sleeping)]);
    history.head.start = Some(Start { cpus: vec![CpuMode::Unknown; 2], ..Start::default() });
    let modes = |silent| Start::infer(&history, silent).cpus;
    assert_eq!(modes(Silent::Unknown), [CpuMode::Unknown; 2]);
    // CPU 0 switches, so that it is not silent: its start stays what the head says.
    assert_eq!(modes(Silent::Idle), [CpuMode::Unknown, CpuMode::Idle]);
}

#[test]
fn a_cpu_that_the_machine_calls_offline_is_unless_its_events_say_otherwise() {
    let mut history = history(&[switch(5, CPU0, A, B, Left::Sleeping)]);
    history.head.machine.cpus.iter_mut().for_each(|cpu| cpu.online = false);
    for silent in [Silent::Unknown, Silent::Idle] {
        let start = Start::infer(&history, silent);
        assert_eq!(start.cpus, [CpuMode::Busy(A), CpuMode::Offline]);
    }
    history.head.start =
        Some(Start { cpus: vec![CpuMode::Idle, CpuMode::Idle], ..Start::default() });
    assert_eq!(Start::infer(&history, Silent::Unknown).cpus, [CpuMode::Idle; 2]);
}

#[test]
fn a_cpu_that_first_comes_up_was_offline() {
    let up = |up| Entry {
        time: Time(3),
        cpu: CPU0,
        by: By::UNKNOWN,
        event: Event::Cpu { cpu: CPU1, up },
    };
    let mode = |entries: &[Entry]| Start::infer(&history(entries), Silent::Unknown).cpus[1];
    assert_eq!(mode(&[up(true), switch(5, CPU1, A, B, Left::Sleeping)]), CpuMode::Offline);
    assert_eq!(mode(&[up(false)]), CpuMode::Unknown);
    let before = switch(2, CPU1, A, B, Left::Sleeping);
    assert_eq!(mode(&[before, up(true)]), CpuMode::Busy(A));
}

#[test]
fn a_part_of_a_recording_remembers_what_the_whole_knew() {
    let mut history = history(&[switch(50, CPU0, A, B, Left::Sleeping)]);
    let unknown = State::new(2, Carries::NONE).task(B);
    let past = Past {
        since: Time(20),
        origin: Origin::Preempted,
        moves: 2,
        prev: Some(CPU1),
        throttled: true,
        nice: Some(-5),
        ..Past::of(B, &unknown)
    };
    history.head.window.from = Time(40);
    history.head.start = Some(Start {
        cpus: vec![CpuMode::Busy(A), CpuMode::Unknown],
        waiting: vec![(B, Some(CPU0))],
        past: Some(vec![past]),
        ..Start::default()
    });
    let state = Replay::begin(&history, Silent::Unknown, &mut ()).state;
    let known = state.task(B);
    assert_eq!((known.phase, known.cpu, known.since), (Phase::Held, Some(CPU0), Time(20)));
    assert_eq!((known.origin, known.moves, known.prev), (Origin::Preempted, 2, Some(CPU1)));
    assert_eq!((known.throttled, known.nice), (true, Some(-5)));
    assert_eq!(state.task(A).since, Time(40));
    // The whole saw a switch of it: it is not silent, although this part holds none.
    assert!(!state.cpu(CPU1).silent);
}

#[test]
fn a_loss_before_its_first_switch_leaves_a_cpu_unknown() {
    let entries = [lost(1, CPU0), switch(5, CPU0, A, B, Left::Sleeping)];
    assert_eq!(Start::infer(&history(&entries), Silent::Idle).cpus[0], CpuMode::Unknown);
}

#[test]
fn who_is_held_back_is_on_no_queue_and_comes_back_behind_all_others() {
    let throttled = |time, on| {
        let what = Change::Throttled(on);
        at(time, CPU0, Event::Changed { task: A, what })
    };
    let begin = [queued(1, A, CPU0), queued(2, B, CPU0), throttled(3, true)];
    let (state, _) = run(WAKEUPS, &begin);
    assert_eq!((state.task(A).phase, state.task(A).cpu), (Phase::Held, Some(CPU0)));
    assert_eq!(state.task(A).since, Time(3));
    assert_eq!(state.waiting(CPU0).collect::<Vec<_>>(), [B]);
    // A wakeup of it begins no wait; a migrate says where it comes back.
    let entries = [&begin[..], &[queued(4, A, CPU0), throttled(5, false)]].concat();
    let (state, _) = run(WAKEUPS, &entries);
    assert_eq!(state.waiting(CPU0).collect::<Vec<_>>(), [B, A]);
    assert_eq!((state.task(A).origin, state.task(A).since), (Origin::Released, Time(5)));
    let entries = [&begin[..], &[migrate(4, A, CPU1), throttled(5, false)]].concat();
    let (state, _) = run(WAKEUPS, &entries);
    assert_eq!(state.waiting(CPU1).collect::<Vec<_>>(), [A]);
    // It may be switched in unreleased, and is held back where it is switched out.
    let entries = [
        &begin[..],
        &[switch(6, CPU1, idle(CPU1), A, Left::Sleeping)],
        &[switch(7, CPU1, A, idle(CPU1), Left::Preempted)],
    ];
    let (state, told) = run(WAKEUPS, &entries.concat());
    assert_eq!((state.task(A).phase, state.task(A).cpu), (Phase::Held, Some(CPU1)));
    assert!(state.cpu(CPU1).is_idle() && told.contradictions.is_empty());
}

#[test]
fn a_loss_tells_that_who_was_held_back_is_unknown() {
    let throttled =
        |time, on| at(time, CPU0, Event::Changed { task: A, what: Change::Throttled(on) });
    let begin = [queued(1, A, CPU0), throttled(3, true)];
    let (state, told) = run(WAKEUPS, &[&begin[..], &[lost(4, CPU1)]].concat());
    assert_eq!(state.task(A).phase, Phase::Unknown);
    assert_eq!(told.phases.last(), Some(&(A, Phase::Held, Phase::Unknown)));
    // Once; and not of one that no quota holds back any more.
    let (_, told) = run(WAKEUPS, &[&begin[..], &[lost(4, CPU1), lost(5, CPU1)]].concat());
    assert_eq!(told.phases.iter().filter(|(.., now)| *now == Phase::Unknown).count(), 1);
    let ran = [switch(4, CPU0, idle(CPU0), A, Left::Sleeping), lost(5, CPU1)];
    let (state, _) = run(WAKEUPS, &[&begin[..], &ran].concat());
    assert_eq!(state.task(A).phase, Phase::Running);
}
