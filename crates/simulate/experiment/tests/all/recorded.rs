//! Recordings of which the answer is known: whom a run waits for, what quotas hold back, windows,
//! losses, cgroups, CPUs that go.

use wastenot_experiment::extract::{self, Extracted};
use wastenot_experiment::{Bench as _, Question, Sim, WhatIf, what_if};
use wastenot_model::report::Value;
use wastenot_model::{
    Builder, By, Carries, Change, Context, CpuId, Entry, Event, Head, Help, History, How, Left,
    Machine, Prio, Report, Sink, Span, Task, TaskId, Time, Window,
};
use wastenot_read::write::edit;
use wastenot_scenario::scenario::Choice;
use wastenot_sim::Options;

/// What happened in a scenario, as if a kernel had been recorded.
fn recorded(text: &str) -> History {
    let head = "schema = \"wastenot.scenario/1\"\nlimit = \"10s\"\n";
    let scenario = wastenot_scenario::scenario("test", &format!("{head}{text}"));
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let options = Options { seed: 1, limit: Time(10_000_000_000), ..Options::default() };
    let mut history = Sim.run(&scenario.variants[0], &options).expect("it runs").history;
    history.head.source.format = "trace.dat".into();
    history.annexes.clear();
    history
}

fn question(name: &str) -> Question {
    let scheduler = Some(Choice::named(name));
    Question { scheduler, seed: 1, ..Question::default() }
}

fn answer(history: &History) -> WhatIf {
    what_if(history, &question("global-fifo")).expect("work")
}

/// Names of those the run waits for, in alphabetical order.
fn awaited(answer: &WhatIf) -> Vec<&str> {
    let mut names: Vec<&str> =
        answer.as_recorded.ends.iter().map(|end| end.name.as_str()).collect();
    names.sort_unstable();
    names
}

fn ms(from: u64, to: u64) -> Window {
    Window { from: Time(from * 1_000_000), to: Time(to * 1_000_000) }
}

fn says(answer: &WhatIf, what: &str) -> bool {
    answer.report().assumptions.iter().any(|it| it.contains(what))
}

/// A job of 20 pieces on one CPU of two; a hog on the other, a daemon, and whoever recorded.
const JOB: &str = r#"
machine = "flat(1,2)"
scheduler = { name = "pinned" }
tasks = [
    { name = "job", at = "20ms", program = ["loop 20", "fork piece", "end", "wait all"] },
    { name = "piece", forked = true, program = ["compute 3ms"] },
    { name = "daemon", background = true, program = [
        "loop forever", "sleep 9ms", "compute 0.1ms", "end",
    ] },
    { name = "hog", from = 1, background = true, program = ["compute 10s"] },
    { name = "trace-cmd", at = "30ms", background = true, program = ["compute 1ms", "sleep 10s"] },
]"#;

#[test]
fn a_run_waits_for_whoever_came_or_ended_and_runs_from_one_end_to_the_other_for_nobody() {
    let whole = recorded(JOB);
    let part = edit::window(&whole, ms(10, 70));
    let answer = answer(&part);
    assert_eq!(awaited(&answer), ["job", "piece"]);
    let share = answer.at_most().expect("the same machine");
    assert!(share > 0.2, "pieces of 3 ms wait for each other on one CPU: {share}");
    assert!(says(&answer, "began or ended within the trace"));
    assert!(says(&answer, "`hog`"), "who runs beside them is named");
}

#[test]
fn a_hog_that_came_within_the_recording_and_who_waits_for_its_end_limit_nothing() {
    let history = recorded(
        r#"
machine = "flat(1,3)"
scheduler = { name = "global-fifo" }
tasks = [
    { name = "shell", program = ["fork hog", "compute 0.1ms", "fork a", "fork b", "wait all"] },
    { name = "hog", forked = true, program = ["compute 45ms"] },
    { name = "a", forked = true, program = ["compute 10ms", "sleep 1ms", "compute 10ms"] },
    { name = "b", forked = true, program = ["compute 10ms", "sleep 1ms", "compute 10ms"] },
]"#,
    );
    let answer = answer(&history);
    assert_eq!(awaited(&answer), ["a", "b"]);
    assert_eq!(answer.as_recorded.chain.span(), Span::us(21_100));
}

#[test]
fn who_only_computes_is_waited_for_if_nobody_else_does_anything_and_is_named_as_the_limit() {
    let history = recorded(
        r#"
machine = "flat(1,4)"
scheduler = { name = "global-fifo" }
tasks = [
    { name = "gzip", program = ["exec", "compute 100ms"] },
    { name = "date", at = "50ms", program = ["exec", "compute 0.1ms"] },
]"#,
    );
    let answer = answer(&history);
    assert_eq!(awaited(&answer), ["date", "gzip"]);
    let verdict = answer.report().verdict;
    assert!(verdict.contains("at most 0 % of this run"), "{verdict}");
    assert!(verdict.contains("`gzip` is busy") && verdict.contains("--task"), "{verdict}");
}

#[test]
fn work_that_fills_all_cpus_is_named_as_the_limit() {
    let history = recorded(
        r#"
machine = "flat(1,2)"
scheduler = { name = "global-fifo" }
tasks = [{ name = "a", count = 4, program = ["compute 10ms"] }]"#,
    );
    let verdict = answer(&history).report().verdict;
    assert!(verdict.contains("because the work keeps CPUs 0-1 busy"), "{verdict}");
}

#[test]
fn who_is_kept_waiting_until_the_end_is_no_hog() {
    let history = recorded(
        r#"
machine = "flat(1,1)"
scheduler = { name = "global-fifo" }
tasks = [{ name = "a", count = 2, program = ["compute 10ms"] }]"#,
    );
    let answer = answer(&history);
    assert_eq!((answer.extracted.awaited, answer.extracted.recorded), (2, Span::ms(20)));
}

#[test]
fn a_part_from_the_midst_of_a_job_waits_for_those_who_wait_for_each_other() {
    let whole = recorded(
        r#"
machine = "flat(1,4)"
scheduler = { name = "cfs-4.1" }
barriers = { b = { parties = 6 } }
tasks = [
    { name = "team", count = 6, program = ["loop 60", "compute 2ms +-20%", "barrier b", "end"] },
    { name = "hog", background = true, program = ["compute 10s"] },
    { name = "date", at = "60ms", program = ["compute 0.1ms"] },
]"#,
    );
    let answer = answer(&edit::window(&whole, ms(40, 100)));
    assert_eq!(awaited(&answer), ["team"]);
    assert!(says(&answer, "that other tasks woke"));
    let (recorded, bound) = (answer.extracted.recorded, answer.bound.span());
    let bound = bound.expect("it is known");
    assert!(bound <= recorded && recorded <= Span::ms(60), "{bound} {recorded}");
}

#[test]
fn what_a_quota_holds_back_is_no_schedulers_fault() {
    let history = recorded(
        r#"
machine = "flat(1,2)"
scheduler = { name = "cfs-4.1" }
groups = { g = { quota = "10ms/100ms" } }
tasks = [{ name = "a", group = "g", program = ["compute 100ms"] }]"#,
    );
    let answer = answer(&history);
    let extracted = &answer.extracted;
    assert!(extracted.recorded > Span::ms(900), "{}", extracted.recorded);
    assert_eq!(extracted.held + extracted.work, extracted.recorded, "it ran or was held back");
    assert_eq!(answer.as_recorded(), Some(extracted.recorded));
    assert_eq!(answer.asked.makespan, Some(extracted.recorded));
    assert!(says(&answer, "throttling by quotas"));
    let verdict = answer.report().verdict;
    assert!(verdict.contains("throttled by a quota"), "{verdict}");
}

#[test]
fn what_a_quota_holds_back_is_no_wake_delay() {
    let history = recorded(
        r#"
machine = "flat(1,2)"
scheduler = { name = "cfs-4.1" }
groups = { g = { quota = "10ms/100ms" } }
tasks = [{ name = "a", group = "g", program = ["compute 100ms"] }]"#,
    );
    let found = wastenot_check::check(&history, &wastenot_check::Options::default());
    let throttled = found.throttled.expect("a simulation tells it");
    let (ran, all) = (found.waits.all.run_ns, throttled.all);
    assert_eq!(all.held_ns + ran, history.window().span().0, "it ran or was held back");
    // In each of ten periods it runs for 10 ms, give or take a tick; the last one ends with it.
    assert_eq!((ran, all.count), (100_000_000, 9));
    assert!((86_000_000..=94_000_000).contains(&all.longest_ns), "{all:?}");
    let delay = &found.waste.wake_delay;
    assert_eq!((delay.cpu_ns, delay.not_started_count, found.waste.cpu_ns), (0, 0, 0));
    let groups: Vec<_> = throttled
        .by_cgroup
        .iter()
        .map(|(name, held)| (history.name(*name), held.held_ns))
        .collect();
    assert_eq!(groups, [("g", all.held_ns)]);
}

#[test]
fn a_part_is_replayed_as_what_happened_in_it() {
    let whole = recorded(
        r#"
machine = "flat(1,2)"
scheduler = { name = "global-fifo" }
tasks = [
    { name = "a", program = ["compute 10ms", "sleep 4ms", "compute 10ms"] },
    { name = "b", at = "12ms", program = ["compute 20ms"] },
]"#,
    );
    let extracted = |window| {
        let part = edit::window(&whole, window);
        extract::extract(&part, &extract::Options::default()).expect("work")
    };
    let figures = |it: &Extracted| (it.recorded, it.work, it.as_recorded().span(), it.tasks);
    let whole = extracted(ms(0, 32));
    assert_eq!(figures(&whole), (Span::ms(32), Span::ms(40), Span::ms(32), 2));
    // `a` has 6 ms of its first 10 left, sleeps, and has done 6 of the last 10.
    let part = extracted(ms(4, 20));
    assert_eq!(figures(&part), (Span::ms(16), Span::ms(20), Span::ms(16), 2));
}

#[test]
fn a_part_without_an_end_of_its_own_holds_the_end_of_the_recording() {
    let whole = recorded(
        r#"
machine = "core:2 pu:1"
scheduler = { name = "global-fifo" }
locks = { l = {} }
tasks = [
    { name = "short", count = 2, program = ["compute 1ms", "lock l", "compute 10ms", "unlock l"] },
    { name = "long", program = [
        "compute 1ms", "lock l", "compute 1ms", "unlock l", "compute 50ms",
    ] },
]"#,
    );
    let end = whole.window().to;
    let part = |from| answer(&edit::window(&whole, Window { from: Time(from), to: end }));
    for (from, names) in [(5_000_000, &["long", "short"] as &[_]), (25_000_000, &["long"])] {
        let answer = part(from);
        assert_eq!(awaited(&answer), names, "from {from}");
        assert_eq!(answer.extracted.recorded, end - Time(from), "from {from}");
    }
}

#[test]
fn a_part_without_a_switch_says_that_it_is_too_short() {
    let whole = recorded(JOB);
    let mut part = ms(10, 11);
    part.to = Time(part.from.0 + 1_000);
    let error = what_if(&edit::window(&whole, part), &question("global-fifo"));
    let error = error.expect_err("nothing is switched in a microsecond");
    let (what, help) = (error.to_string(), error.help());
    assert!(what.contains("part") && what.contains("1.000 us"), "{what}");
    assert!(help.contains("--from") && !help.contains("record"), "{help}");
}

#[test]
fn cpus_that_go_off_are_off_in_the_replay() {
    let history = recorded(
        r#"
machine = "flat(1,2)"
scheduler = { name = "global-fifo" }
hotplug = [{ cpu = 1, off = "10ms", on = "30ms" }]
tasks = [{ name = "a", count = 2, program = ["compute 25ms"] }]"#,
    );
    // Both run for 10 ms, one of them goes on for 15, the other for its 15 from 25 ms on.
    let answer = answer(&history);
    assert_eq!(answer.extracted.recorded, Span::ms(40));
    assert_eq!(answer.asked.makespan, Some(Span::ms(40)));
    assert_eq!(answer.bound.span(), Some(Span::ms(25)), "no CPU need have been missed for that");
    let plugs: Vec<(Time, bool)> =
        answer.extracted.workload.hotplug.iter().map(|it| (it.at, it.up)).collect();
    assert_eq!(plugs, [(Time(10_000_000), false), (Time(30_000_000), true)]);
}

/// A recording by hand.
struct Tape(Builder);

impl Tape {
    fn new(cpus: usize) -> Tape {
        let mut head = Head::new(Machine::flat(cpus));
        let all = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, ..)| all | *carry);
        head.carries = all.without(Carries::START);
        Tape(Builder::new(head))
    }

    fn task(&mut self, tid: i32, name: &str) -> TaskId {
        let name = self.0.name(name);
        self.0.task(Task { tid, pid: Some(tid), name })
    }

    fn at(&mut self, us: u64, cpu: u16, by: TaskId, event: Event) {
        let time = Time(us * 1_000);
        self.0.push(Entry { time, cpu: CpuId(cpu), by: By::task(by), event });
    }

    fn switch(&mut self, us: u64, cpu: u16, prev: TaskId, next: TaskId, left: Left) {
        self.0.push(Entry::switch(Time(us * 1_000), CpuId(cpu), prev, next, left));
    }

    fn wake(&mut self, us: u64, cpu: u16, by: TaskId, task: TaskId) {
        let (on, prio) = (Some(CpuId(cpu)), Prio::UNKNOWN);
        self.at(us, cpu, by, Event::Waking { task, prev: on, prio });
        self.at(us, cpu, by, Event::Queued { task, on, how: How::Wakeup, prio });
    }

    fn done(self) -> History {
        self.0.finish()
    }
}

#[test]
fn children_of_kthreadd_are_kernel_threads_whatever_they_are_called() {
    let mut tape = Tape::new(2);
    let (idle, idle_1) = (TaskId::idle(CpuId(0)), TaskId::idle(CpuId(1)));
    let (kthreadd, odd) = (tape.task(2, "kthreadd"), tape.task(300, "odd"));
    let (shell, child) = (tape.task(40, "sh"), tape.task(301, "ls"));
    tape.switch(0, 0, idle, kthreadd, Left::Runnable);
    tape.switch(0, 1, idle_1, shell, Left::Runnable);
    let new = |task, cpu| Event::Queued {
        task,
        on: Some(CpuId(cpu)),
        how: How::New,
        prio: Prio::UNKNOWN,
    };
    tape.at(10, 0, kthreadd, Event::Fork { parent: kthreadd, child: odd });
    tape.at(10, 0, kthreadd, new(odd, 0));
    tape.at(20, 1, shell, Event::Fork { parent: shell, child });
    tape.at(20, 1, shell, new(child, 1));
    tape.switch(30, 0, kthreadd, odd, Left::Sleeping);
    tape.switch(40, 1, shell, child, Left::Sleeping);
    tape.switch(2_000, 1, child, idle_1, Left::Dead);
    tape.switch(9_000, 0, odd, idle, Left::Sleeping);
    let history = tape.done();
    assert_eq!(awaited(&answer(&history)), ["ls"]);
}

#[test]
fn cgroups_become_groups_within_each_other() {
    let mut tape = Tape::new(1);
    let idle = TaskId::idle(CpuId(0));
    let (a, b, c) = (tape.task(10, "a"), tape.task(11, "b"), tape.task(12, "c"));
    for (task, path) in [(a, "/user.slice/one.scope"), (b, "/user.slice"), (c, "/")] {
        let name = tape.0.name(path);
        tape.at(0, 0, idle, Event::Changed { task, what: Change::Cgroup(name) });
    }
    tape.wake(0, 0, idle, a);
    tape.wake(0, 0, idle, b);
    tape.wake(0, 0, idle, c);
    tape.switch(0, 0, idle, a, Left::Runnable);
    tape.switch(1_000, 0, a, b, Left::Dead);
    tape.switch(2_000, 0, b, c, Left::Dead);
    tape.switch(3_000, 0, c, idle, Left::Dead);
    let history = tape.done();
    let answer = answer(&history);
    let load = &answer.extracted.workload;
    let group = |name: &str| {
        let template = load.templates.iter().find(|it| it.name == name).expect("it ran");
        &load.groups[template.group.index()]
    };
    let parent = |name: &str| &load.groups[group(name).parent.expect("not the root").index()];
    assert_eq!(
        (group("a").name.as_str(), parent("a").name.as_str()),
        ("/user.slice/one.scope", "/user.slice")
    );
    assert_eq!((group("b").name.as_str(), parent("b").parent), ("/user.slice", None));
    assert_eq!(group("c").parent, None);
    assert!(says(&answer, "global-fifo ignores groups"));
    let grouping = what_if(&history, &question("cfs-4.1")).expect("work");
    assert!(!says(&grouping, "ignores groups"));
}

#[test]
fn what_was_lost_is_sleep_of_that_length_and_stands_in_the_report() {
    let mut tape = Tape::new(1);
    let idle = TaskId::idle(CpuId(0));
    let a = tape.task(10, "a");
    tape.wake(0, 0, idle, a);
    tape.switch(0, 0, idle, a, Left::Runnable);
    tape.at(2_000, 0, a, Event::Lost { count: Some(5) });
    tape.switch(7_000, 0, idle, a, Left::Runnable);
    tape.switch(10_000, 0, a, idle, Left::Dead);
    let history = tape.done();
    let answer = answer(&history);
    let extracted = &answer.extracted;
    assert_eq!((extracted.work, extracted.unknown), (Span::ms(5), Span::ms(5)));
    assert_eq!((extracted.recorded, answer.as_recorded()), (Span::ms(10), Some(Span::ms(10))));
    assert_eq!(answer.bound.span(), Some(Span::ms(5)), "it may have waited for anything");
    let report = answer.report();
    assert_eq!(report.losses[0].count, Some(5), "{:?}", report.losses);
    assert!(says(&answer, "the trace lost events"));
}

fn trace(name: &str) -> History {
    let path = format!("{}/../../../traces/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect("a trace");
    wastenot_read::read(&bytes, &wastenot_read::Options::default()).expect("readable")
}

#[test]
fn recordings_are_asked_about_their_job_and_not_about_whoever_was_there_before() {
    for (name, job, least) in [
        ("7.2-t4x4-barrier.dat", "ua-3", 0.4),
        ("7.2-b8x2-barrier.dat", "ua-3", 0.4),
        ("5.10-t4x4-barrier.dat", "ua-3", 0.3),
        ("7.2-k920-make.dat", "cc1", 0.05),
        ("6.12-t4x4-pipe.dat", "stC-2", 0.09),
        ("6.12-t4x4-lost.dat", "stC-2", 0.06),
        ("host-6.18-2cpu-messaging.dat", "sched-messaging", 0.25),
    ] {
        let answer = answer(&trace(name));
        let awaited = awaited(&answer);
        assert!(awaited.contains(&job), "{name}: {awaited:?}");
        for other in ["init", "<...>", "cryptomgr_test", "trace-cmd", "R", "hog"] {
            assert!(!awaited.contains(&other), "{name} waits for {other}");
        }
        let share = answer.at_most().expect("the same machine");
        assert!(share > least, "{name}: {share}");
    }
}

#[test]
fn losses_are_those_of_a_check() {
    for name in ["6.12-t4x4-overwrite.dat", "host-6.18-2cpu-messaging.dat"] {
        let history = trace(name);
        let options = wastenot_check::Options::default();
        let checked = wastenot_check::check(&history, &options).report(&history, &options);
        assert!(!checked.losses.is_empty(), "{name}");
        assert_eq!(answer(&history).report().losses, checked.losses, "{name}");
    }
}

#[test]
fn another_machine_is_named() {
    let history = recorded(JOB);
    let on = |machine| {
        let question = Question { machine: Some(machine), ..question("global-fifo") };
        what_if(&history, &question).expect("work").report().verdict
    };
    let up = on(wastenot_scenario::machine("up1").expect("a preset"));
    assert!(up.starts_with("On up1, global-fifo takes"), "{up}");
    let mut nameless = Machine::flat(3);
    nameless.name.clear();
    let three = on(nameless);
    assert!(three.starts_with("On a machine of 3 CPUs, global-fifo takes"), "{three}");
}

/// The same recording, made without `sched_waking`.
fn without_wakings(history: &History) -> History {
    let mut head = history.head.clone();
    head.carries = head.carries.without(Carries::WAKINGS);
    let mut sink = Builder::new(head);
    for (_, task) in history.tasks() {
        let name = sink.name(history.name(task.name));
        sink.task(Task { name, ..*task });
    }
    for entry in history.entries() {
        match entry.event {
            Event::Waking { .. } | Event::Changed { .. } => {}
            _ => sink.push(entry),
        }
    }
    sink.finish()
}

#[test]
fn nothing_is_a_bound_where_nothing_tells_who_woke_whom() {
    let whole = trace("7.2-b8x2-barrier.dat");
    let told = answer(&whole);
    let (bound, kept) = (told.bound.span().expect("known"), told.as_recorded().expect("known"));
    assert!(bound <= kept && kept < Span::ms(174), "{bound} {kept}");
    let mute = answer(&without_wakings(&whole));
    // Sleeps that other tasks ended look like timers: a schedule of 174 ms exists.
    assert!(mute.as_recorded.span() > Span::ms(240), "{}", mute.as_recorded.span());
    assert_eq!((mute.bound.span(), mute.as_recorded(), mute.at_most()), (None, None, None));
    let report = mute.report();
    let verdict = &report.verdict;
    for words in ["cannot state", "Record sched_waking to get a bound"] {
        assert!(verdict.contains(words), "{verdict}");
    }
    assert!(!verdict.contains("no scheduler can finish"), "{verdict}");
    nothing_is_known(&report);
}

fn nothing_is_known(report: &Report) {
    for name in [
        "bound.makespan_ns",
        "bound.if",
        "scheduler_share_max",
        "as_recorded.makespan_ns",
        "bound.path_ns",
    ] {
        assert_eq!(measured(report, name), Value::Unknown, "{name}");
    }
    assert!(report.table("chains").is_some_and(|table| table.rows.is_empty()));
}

/// The same recording with the first `first` of its `sched_waking` and those from `then` on.
fn with_some_wakings(history: &History, first: usize, then: Time) -> History {
    let mut sink = Builder::new(history.head.clone());
    for (_, task) in history.tasks() {
        let name = sink.name(history.name(task.name));
        sink.task(Task { name, ..*task });
    }
    let mut met = 0;
    for entry in history.entries() {
        met += usize::from(matches!(entry.event, Event::Waking { .. }));
        match entry.event {
            Event::Waking { .. } if met > first && entry.time < then => {}
            Event::Changed { .. } => {}
            _ => sink.push(entry),
        }
    }
    sink.finish()
}

#[test]
fn a_few_wakings_do_not_tell_who_woke_all_others() {
    let whole = trace("7.2-b8x2-barrier.dat");
    let Window { from, to } = whole.window();
    let late = Time(from.0 + (to - from).0 / 2);
    for (first, then) in [(3, Time::MAX), (0, late)] {
        let answer = answer(&with_some_wakings(&whole, first, then));
        let verdict = answer.report().verdict;
        assert_eq!(answer.bound.span(), None, "{first} {then}: {verdict}");
        assert!(verdict.contains("cannot state"), "{verdict}");
        assert!(verdict.contains("wakeups of awaited tasks"), "{verdict}");
        nothing_is_known(&answer.report());
    }
    // Where all of them are there, none lacks one.
    let all = answer(&with_some_wakings(&whole, usize::MAX, Time::MAX));
    assert_eq!(all.bound.span(), answer(&whole).bound.span());
    assert!(!says(&all, "nothing tells who ended"), "{:?}", all.extracted.assumptions);
}

#[test]
fn what_is_woken_without_a_waking_is_not_asleep_until_then_as_recorded() {
    // `b` sleeps 200 times until a timer ends it; once nothing tells who did, and `c`, of which
    // nothing tells either, comes when all is over.
    let mut tape = Tape::new(2);
    let (idle, idle_1) = (TaskId::idle(CpuId(0)), TaskId::idle(CpuId(1)));
    let (b, c) = (tape.task(10, "b"), tape.task(11, "c"));
    tape.wake(0, 0, idle, b);
    tape.switch(0, 0, idle, b, Left::Runnable);
    let (prio, timer) = (Prio::UNKNOWN, Context::Hardirq);
    let queued = |task, cpu| Event::Queued { task, on: Some(cpu), how: How::Wakeup, prio };
    let tell = |tape: &mut Tape, ms, cpu, event| {
        let by = By { task: Some(TaskId::idle(cpu)), context: timer };
        tape.0.push(Entry { time: Time(ms * 1_000_000), cpu, by, event });
    };
    let mut ms = 0;
    for n in 1..=200 {
        tape.switch((ms + 1) * 1_000, 0, b, idle, Left::Sleeping);
        ms += if n == 100 { 101 } else { 2 };
        if n != 100 {
            tell(&mut tape, ms, CpuId(0), Event::Waking { task: b, prev: None, prio });
        }
        tell(&mut tape, ms, CpuId(0), queued(b, CpuId(0)));
        tape.switch(ms * 1_000, 0, idle, b, Left::Runnable);
    }
    tape.switch((ms + 1) * 1_000, 0, b, idle, Left::Dead);
    tell(&mut tape, ms + 2, CpuId(1), queued(c, CpuId(1)));
    tape.switch((ms + 2) * 1_000, 1, idle_1, c, Left::Runnable);
    tape.switch((ms + 3) * 1_000, 1, c, idle_1, Left::Dead);
    let answer = answer(&tape.done());
    let recorded = Span::ms(ms + 3);
    assert_eq!(answer.extracted.recorded, recorded);
    // All but the 100 ms, and the 2 ms in which `c` may as well have come earlier.
    assert_eq!(answer.as_recorded.chain.span(), Span(recorded.0 - 102_000_000));
    assert!(answer.bound.span() <= answer.as_recorded());
    assert!(says(
        &answer,
        "with an unknown waker keep their length in the simulated run. Number of these sleeps: 1"
    ));
}

#[test]
fn a_sleep_keeps_its_length_in_the_bound_only_if_a_waking_tells_that_an_interrupt_ended_it() {
    // `a` runs a program of its own for 1 ms at a time, and sleeps for 4 in between, ten times.
    let recording = |told: &dyn Fn(u64) -> Option<Context>| {
        let mut tape = Tape::new(1);
        let (idle, a) = (TaskId::idle(CpuId(0)), tape.task(10, "a"));
        tape.wake(0, 0, idle, a);
        tape.switch(0, 0, idle, a, Left::Runnable);
        tape.at(0, 0, a, Event::Exec { task: a });
        for n in 1..=10 {
            tape.switch(n * 5_000 - 4_000, 0, a, idle, Left::Sleeping);
            let (us, on, prio) = (n * 5_000, Some(CpuId(0)), Prio::UNKNOWN);
            let mut tell = |context, event| {
                let by = By { task: Some(idle), context };
                tape.0.push(Entry { time: Time(us * 1_000), cpu: CpuId(0), by, event });
            };
            if let Some(context) = told(n) {
                tell(context, Event::Waking { task: a, prev: on, prio });
            }
            let queued = Event::Queued { task: a, on, how: How::Wakeup, prio };
            tell(Context::Hardirq, queued);
            tape.switch(us, 0, idle, a, Left::Runnable);
        }
        tape.switch(51_000, 0, a, idle, Left::Dead);
        answer(&tape.done())
    };
    let timer = Some(Context::Hardirq);
    let path = |answer: &WhatIf| answer.bound.path;
    assert_eq!(path(&recording(&|_| timer)), Some(Span::ms(51)));
    let soft = recording(&|_| Some(Context::Softirq));
    assert_eq!(path(&soft), Some(Span::ms(11)), "a message may have been behind each");
    let unclear = recording(&|_| Some(Context::Unknown));
    assert_eq!(path(&unclear), Some(Span::ms(11)), "interrupts are not told from softirqs");
    assert_eq!(path(&recording(&|n| timer.filter(|_| n > 1))), None, "one of ten lacks it");
}

#[test]
fn the_headline_of_a_recording_says_that_it_holds_unless_tasks_spun() {
    let spun = |waiting: &str| {
        recorded(&format!(
            r#"
machine = "flat(1,2)"
scheduler = {{ name = "global-fifo" }}
locks = {{ l = {{ waiting = "{waiting}" }} }}
tasks = [
    {{ name = "a", program = ["exec", "lock l", "compute 20ms", "unlock l"] }},
    {{ name = "b", program = ["exec", "compute 1ms", "lock l", "unlock l", "compute 10ms"] }},
]"#
        ))
    };
    // `b` spins for 19 ms, which looks like work; another schedule gives it the lock first.
    let report = answer(&spun("spin")).report();
    let (verdict, condition) = (&report.verdict, "no task busy-waited");
    assert!(verdict.contains(&format!("if {condition}")), "{verdict}");
    assert_eq!(measured(&report, "bound.if"), Value::from(condition));
}

fn measured(report: &Report, name: &str) -> Value {
    let measure = report.measures.iter().find(|it| it.name == name);
    measure.unwrap_or_else(|| panic!("{name}")).value.clone()
}

#[test]
fn what_is_known_to_have_been_spinning_is_no_work() {
    let text = r#"
schema = "wastenot.scenario/1"
machine = "flat(1,2)"
scheduler = { name = "global-fifo" }
locks = { l = { waiting = "spin" } }
tasks = [
    { name = "a", program = ["lock l", "compute 20ms", "unlock l"] },
    { name = "b", program = ["compute 1ms", "lock l", "unlock l", "compute 10ms"] },
]"#;
    let scenario = wastenot_scenario::scenario("spun", text).expect("a scenario");
    let ran =
        Sim.run(&scenario.variants[0], &Options { limit: Time(u64::MAX), ..Options::default() });
    let answer = answer(&ran.expect("it runs").history);
    assert_eq!((answer.extracted.recorded, answer.extracted.work), (Span::ms(30), Span::ms(50)));
    // The work is 31 ms on two CPUs, and `a` alone takes 20.
    assert_eq!(answer.bound.span(), Some(Span::ms(20)), "{:?}", answer.bound);
    assert_eq!(answer.as_recorded(), Some(Span::ms(30)));
    let report = answer.report();
    assert!(!report.verdict.contains("spinning"), "{}", report.verdict);
    assert_eq!(measured(&report, "bound.if"), Value::Unknown, "nothing is supposed");
}
