//! Workloads on this machine: what tasks do is what their programs say.

use wastenot_model::workload::{Group, Launch, MarkId, Program, Step, Template, TemplateId};
use wastenot_model::workload::{Variate, Waiting};
use wastenot_model::{CpuId, CpuSet, Span, Time, Workload};
use wastenot_runner::{End, Error, Plan, Told, Unfit};

fn program(steps: &[Step]) -> Program {
    Program::new(steps.to_vec()).expect("nested")
}

fn run(workload: &Workload, limit: Span) -> Told {
    let plan = Plan::new(workload, 1, 1, limit).expect("fits");
    plan.begin().expect("begins").told().expect("ends")
}

const END: Step = Step::End { of: 0 };

fn compute(span: Span) -> Step {
    Step::Compute(Variate::Fixed(span))
}

/// How often each mark was made.
fn marks(told: &Told, mark: MarkId) -> usize {
    told.marks.iter().filter(|it| it.mark == mark.0).count()
}

#[test]
fn a_master_forks_threads_and_waits_for_them() {
    let mut workload = Workload::new();
    let barrier = workload.barrier("b", 4, Waiting::Block);
    let met = workload.mark("met");
    let worker = workload.template(Template::new(
        "worker",
        program(&[
            Step::Loop(Some(20)),
            compute(Span::us(100)),
            Step::Barrier(barrier),
            Step::Mark(met),
            END,
        ]),
    ));
    let all = [Step::Loop(Some(4)), Step::Fork(worker), END, Step::WaitAll];
    let master = workload.template(Template::new("master", program(&all)));
    workload.launch(master, CpuId(0));
    let told = run(&workload, Span::s(20));
    assert_eq!(told.end, End::Done);
    assert_eq!(told.tasks.len(), 5);
    assert!(told.tasks.iter().all(|it| it.tid > 0 && it.ended_ns.is_some()));
    assert_eq!(told.tasks.iter().filter(|it| it.template == worker.0).count(), 4);
    assert_eq!(marks(&told, met), 80);
    // No task is a round ahead.
    for round in told.marks.chunks(4) {
        let mut tasks: Vec<u32> = round.iter().map(|it| it.task).collect();
        tasks.sort_unstable();
        assert_eq!(tasks, [1, 2, 3, 4]);
    }
    let last = told.tasks.iter().skip(1).filter_map(|it| it.ended_ns).max();
    assert!(last <= told.tasks[0].ended_ns, "the master waits for all");
    assert!(told.span_ns() >= 8_000_000, "8 ms of CPU time on one CPU: {}", told.span_ns());
}

#[test]
fn processes_execute_and_go_on() {
    let mut workload = Workload::new();
    let mark = workload.mark("after");
    let steps = [Step::Loop(Some(3)), Step::Exec, compute(Span::us(50)), Step::Mark(mark), END];
    let child = workload.template(Template::new("child", program(&steps)));
    let all = [
        Step::Loop(Some(5)),
        Step::Fork(child),
        END,
        Step::Loop(Some(5)),
        Step::WaitOne,
        END,
        Step::WaitOne,
    ];
    let master = workload.template(Template::new("master", program(&all)));
    workload.launch(master, CpuId(0));
    let told = run(&workload, Span::s(20));
    assert_eq!((told.end, marks(&told, mark)), (End::Done, 15));
}

#[test]
fn locks_go_by_arrival_and_pipes_keep_their_capacity() {
    let mut workload = Workload::new();
    let lock = workload.lock("l", Waiting::SpinThenBlock(Span::us(5)));
    let (full, empty) = (workload.mark("put"), workload.mark("got"));
    for (pipe, sync) in [(0, true), (1, false)] {
        let it = workload.pipe("p", Some(3), Waiting::Block);
        workload.pipes[pipe].sync = sync;
        let steps = [
            Step::Loop(Some(50)),
            Step::Lock(lock),
            Step::Mark(full),
            Step::Unlock(lock),
            Step::Put(it),
            END,
        ];
        let source = workload.template(Template::new("source", program(&steps)));
        let steps = [
            Step::Loop(Some(50)),
            Step::Get(it),
            Step::Lock(lock),
            Step::Mark(empty),
            Step::Unlock(lock),
            END,
        ];
        let sink = workload.template(Template::new("sink", program(&steps)));
        workload.launch(source, CpuId(0));
        workload.launch(sink, CpuId(0));
    }
    let told = run(&workload, Span::s(20));
    assert_eq!(told.end, End::Done);
    assert_eq!((marks(&told, full), marks(&told, empty)), (100, 100));
    for pair in [(0, 1), (2, 3)] {
        let mut inside = 0i32;
        for it in &told.marks {
            let (source, sink) = pair;
            inside += i32::from(it.task == source && it.mark == full.0);
            inside -= i32::from(it.task == sink && it.mark == empty.0);
            // One may be marked and not yet in, and one be out and not yet marked.
            assert!((0..=5).contains(&inside), "{inside} in a pipe of three");
        }
    }
}

#[test]
fn conditions_lose_signals_that_none_awaits() {
    let mut workload = Workload::new();
    let condition = workload.condition("c");
    let woken = workload.mark("woken");
    let steps = [Step::Await(condition), Step::Mark(woken)];
    let waiter = workload.template(Template::new("waiter", program(&steps)));
    let sleep = |span| Step::Sleep(Variate::Fixed(span));
    let steps = [
        Step::Broadcast(condition),
        Step::Loop(Some(3)),
        Step::Fork(waiter),
        END,
        sleep(Span::ms(50)),
        Step::Signal(condition),
        sleep(Span::ms(50)),
        Step::Mark(MarkId(1)),
        Step::Broadcast(condition),
        Step::WaitAll,
    ];
    workload.mark("second");
    let master = workload.template(Template::new("master", program(&steps)));
    workload.launch(master, CpuId(0));
    let told = run(&workload, Span::s(20));
    assert_eq!(told.end, End::Done);
    let order: Vec<u32> = told.marks.iter().map(|it| it.mark).collect();
    assert_eq!(order, [0, 1, 0, 0]);
}

#[test]
fn beats_are_caught_up_and_launches_are_in_time() {
    let mut workload = Workload::new();
    let beat = workload.mark("beat");
    let late = workload.mark("in time");
    let steps = [
        Step::Loop(Some(3)),
        Step::Beat(Span::ms(1)),
        Step::UnlessLate(Span::ms(500)),
        Step::Sleep(Variate::Fixed(Span::ms(600))),
        Step::Mark(late),
        END,
        Step::Mark(beat),
        END,
    ];
    let task = workload.template(Template::new("player", program(&steps)));
    let at = Time(20_000_000);
    workload.launches.push(Launch { at, template: task, from: CpuId(0) });
    let told = run(&workload, Span::s(20));
    assert!(told.tasks[0].began_ns >= told.start_ns + at.0);
    assert_eq!(marks(&told, beat), 3);
    // When the first frame is done, the second beat and the third are late already.
    assert_eq!(marks(&told, late), 1);
    let late: Vec<u64> = told.marks.iter().map(|it| it.late_ns / 1_000_000).collect();
    assert!(late.iter().all(|&ms| ms >= 598), "{late:?}");
}

#[test]
fn a_limit_ends_everything_also_sessions() {
    let mut workload = Workload::new();
    let session = workload.group(Group { session: true, ..Group::root() });
    let hog = Template::new("wastenot-hog-t", program(&[compute(Span::s(1000))]));
    let hog = workload.template(Template { group: session, ..hog });
    workload.launch(hog, CpuId(0));
    let forks = [
        Step::Fork(TemplateId(0)),
        Step::Loop(None),
        Step::Sleep(Variate::Fixed(Span::ms(1))),
        END,
    ];
    let other =
        workload.template(Template { awaited: false, ..Template::new("forks", program(&forks)) });
    workload.launch(other, CpuId(0));
    let told = run(&workload, Span::ms(100));
    assert_eq!((told.end, told.tasks.len()), (End::Limit, 3));
    assert!(told.tasks.iter().all(|it| it.ended_ns.is_none()));
    assert!((100..2000).contains(&(told.span_ns() / 1_000_000)));
    assert_eq!(left("wastenot-hog-t"), 0, "tasks are left");
}

#[test]
fn who_is_not_wanted_any_more_leaves_nothing() {
    let mut workload = Workload::new();
    let session = workload.group(Group { session: true, ..Group::root() });
    let hog = Template::new("wastenot-hog-u", program(&[compute(Span::s(1000))]));
    let hog = workload.template(Template { group: session, ..hog });
    (0..3).for_each(|_| workload.launch(hog, CpuId(0)));
    let plan = Plan::new(&workload, 1, 1, Span::s(100)).expect("fits");
    let running = plan.begin().expect("begins");
    let seen = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        left("wastenot-hog-u") == 3
    });
    assert!(seen, "three tasks run");
    drop(running);
    assert_eq!(left("wastenot-hog-u"), 0);
}

/// How many processes of this name there are.
fn left(name: &str) -> usize {
    processes(name).len()
}

/// The processes of this name.
fn processes(name: &str) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir("/proc").expect("proc").flatten();
    let named = all.map(|it| it.path()).filter(|it| {
        let comm = std::fs::read_to_string(it.join("comm"));
        comm.is_ok_and(|comm| comm.trim_end() == name)
    });
    named.collect()
}

#[test]
fn tasks_end_although_their_program_was_killed() {
    let mut workload = Workload::new();
    let session = workload.group(Group { session: true, ..Group::root() });
    let hog = Template::new("wastenot-hog-v", program(&[compute(Span::s(1000))]));
    let hog = workload.template(Template { group: session, ..hog });
    (0..3).for_each(|_| workload.launch(hog, CpuId(0)));
    let plan = Plan::new(&workload, 1, 1, Span::s(100)).expect("fits");
    let running = plan.begin().expect("begins");
    let wait = |count: usize| {
        (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            left("wastenot-hog-v") == count
        })
    };
    assert!(wait(3), "three tasks run");
    let stat = processes("wastenot-hog-v")[0].join("stat");
    let stat = std::fs::read_to_string(stat).expect("stat");
    let parent = stat.rsplit(')').next().and_then(|it| it.split(' ').nth(2)?.parse().ok());
    let parent = parent.and_then(rustix::process::Pid::from_raw).expect("a parent");
    rustix::process::kill_process(parent, rustix::process::Signal::KILL).expect("it is there");
    let error = running.told().expect_err("it was killed");
    assert!(matches!(error, Error::Ended { .. }), "{error}");
    assert!(wait(0), "tasks are left");
}

#[test]
fn marks_without_room_are_not_left_out_unseen() {
    let mut workload = Workload::new();
    let mark = workload.mark("m");
    let steps = [Step::Loop(Some(65_540)), Step::Mark(mark), END];
    let task = workload.template(Template::new("task", program(&steps)));
    workload.launch(task, CpuId(0));
    let plan = Plan::new(&workload, 1, 1, Span::s(20)).expect("fits");
    let error = plan.begin().expect("begins").told().expect_err("four have no room");
    assert!(matches!(error, Error::LostMarks { lost: 4, kept: 65_536 }), "{error}");
}

#[test]
fn nice_values_are_those_of_the_scenario_however_it_was_started() {
    let mut workload = Workload::new();
    for (name, nice) in [("wastenot-nice-0", 0), ("wastenot-nice-7", 7)] {
        let hog = Template::new(name, program(&[compute(Span::s(1000))]));
        let hog = workload.template(Template { nice, ..hog });
        workload.launch(hog, CpuId(0));
    }
    let plan = Plan::new(&workload, 1, 1, Span::s(100)).expect("fits");
    // It is the thread that is nice, and the program inherits that.
    let begin = move || {
        let own = rustix::process::getpriority_process(None).expect("a nice value");
        rustix::process::setpriority_process(None, own + 5).expect("nicer");
        plan.begin().map_err(|error| error.to_string())
    };
    let running = std::thread::spawn(begin).join().expect("no panic").expect("begins");
    let seen = |name: &str, nice: &str| {
        (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let stats = processes(name).into_iter().filter_map(|it| {
                let stat = std::fs::read_to_string(it.join("stat")).ok()?;
                Some(stat.rsplit(')').next()?.split(' ').nth(17)? == nice)
            });
            stats.into_iter().any(|it| it)
        })
    };
    assert!(seen("wastenot-nice-0", "0"));
    assert!(seen("wastenot-nice-7", "7"));
    drop(running);
}

#[test]
fn where_none_is_awaited_all_are() {
    let mut workload = Workload::new();
    let mark = workload.mark("m");
    let steps = [compute(Span::ms(2)), Step::Mark(mark)];
    let task = Template { awaited: false, ..Template::new("task", program(&steps)) };
    let task = workload.template(task);
    (0..2).for_each(|_| workload.launch(task, CpuId(0)));
    let told = run(&workload, Span::s(20));
    assert_eq!((told.end, marks(&told, mark)), (End::Done, 2));
}

#[test]
fn cpus_that_are_not_there() {
    let mut workload = Workload::new();
    let task = workload.template(Template::new("task", program(&[compute(Span::us(10))])));
    // Whoever creates it may be on a CPU of a larger machine.
    [0, 1000, 1024, 4000, 65_000].map(|from| workload.launch(task, CpuId(from)));
    assert_eq!(run(&workload, Span::s(20)).tasks.len(), 5);
    let far = workload.affinity(CpuSet::parse("4-7").expect("a list"));
    workload.template(Template::new("far", program(&[Step::Affinity(far)])));
    let unfit = Plan::new(&workload, 2, 1, Span::s(20)).expect_err("it has no CPU");
    assert!(matches!(unfit, Unfit::NoCpu { there: 2, .. }), "{unfit}");
}
