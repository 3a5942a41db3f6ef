//! Workloads on this machine: what tasks do is what their programs say.

use std::ffi::OsString;
use std::io;

use wastenot_lab::runner::{End, Error, Plan, Told, Unfit, class};
use wastenot_model::workload::{Class, Group, Launch, MarkId, Program, Step, Template, TemplateId};
use wastenot_model::workload::{Variate, Waiting};
use wastenot_model::{CpuId, CpuSet, Help, Span, Time, Workload};
use wastenot_needs::{has, skipped};

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

/// One task that runs `words` and then marks that it goes on.
fn running(words: &[&str]) -> (Workload, MarkId) {
    let mut workload = Workload::new();
    let command = workload.command(words.iter().map(|&it| it.to_owned()).collect());
    let mark = workload.mark("after");
    let steps = [Step::Run(command), Step::Mark(mark)];
    let task = workload.template(Template::new("user", program(&steps)));
    workload.launch(task, CpuId(0));
    (workload, mark)
}

fn attempt(workload: &Workload, limit: Span) -> Result<Told, Error> {
    Plan::new(workload, 1, 1, limit).expect("fits").begin().expect("begins").told()
}

#[test]
fn programs_of_users_run_where_they_are_told_and_are_waited_for() {
    let folder = std::env::temp_dir().join(format!("wastenot-runs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    // What it says is no part of the plan, to which the file 1 belongs.
    let script = "sleep 0.2 & wait; echo said; cat <&0; test $$ != 1 && echo \"$0\" > 'a file'";
    let (mut workload, mark) = running(&["sh", "-c", script, "two words"]);
    workload.commands[0].folder = folder.display().to_string();
    let told = run(&workload, Span::s(20));
    let file = std::fs::read_to_string(folder.join("a file"));
    std::fs::remove_dir_all(&folder).expect("a folder");
    assert_eq!(file.expect("a file"), "two words\n");
    assert_eq!((told.end, marks(&told, mark)), (End::Done, 1));
    assert!(told.span_ns() >= 200_000_000, "{}", told.span_ns());
}

#[test]
fn what_programs_of_users_leave_behind_ends_with_the_run() {
    let folder = std::env::temp_dir().join(format!("wastenot-left-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! test -s pid; do :; done";
    for (script, limit) in [(script.to_owned(), 20_000), (format!("{script}; sleep 1000"), 500)] {
        let (mut workload, _) = running(&["sh", "-c", &script]);
        workload.commands[0].folder = folder.display().to_string();
        run(&workload, Span::ms(limit));
        let pid = std::fs::read_to_string(folder.join("pid")).expect("it wrote its number");
        let name = std::fs::read_to_string(format!("/proc/{}/comm", pid.trim()));
        assert!(name.is_err(), "{name:?} is left");
        std::fs::remove_file(folder.join("pid")).expect("a file");
    }
    std::fs::remove_dir_all(&folder).expect("a folder");
}

#[test]
fn programs_of_users_that_fail_end_the_run_with_what_they_said() {
    for (script, how) in [
        ("echo no such thing >&2; exit 3", "ended with exit status 3: no such thing"),
        ("kill -SEGV $$", "was ended by signal 11: it printed no error"),
    ] {
        let error = attempt(&running(&["sh", "-c", script]).0, Span::s(20)).expect_err("it fails");
        assert_eq!(error.to_string(), format!("`sh -c {script}` of the task `user` {how}"));
    }
    let (mut workload, _) = running(&["sh", "-c", "true"]);
    workload.commands[0].folder = "/no/such/folder".into();
    let error = attempt(&workload, Span::s(20)).expect_err("no folder");
    let said = "the kernel refused to execute the program of `user`: no such file or directory";
    assert_eq!(error.to_string().to_lowercase(), said);
}

#[test]
fn programs_of_users_that_are_missing_are_named_with_their_package() {
    for (program, help) in [
        ("schbench", "build `schbench`, because Debian 12 has no package of it"),
        ("rt-app", "install the program: apt install rt-app"),
        ("./no/such", "install the program, or"),
    ] {
        let mut workload = running(&[program, "-x"]).0;
        if has(program) {
            skipped(program, "it is installed", "remove it");
            continue;
        }
        workload.commands[0].folder = "/tmp".into();
        let unfit = Plan::new(&workload, 1, 1, Span::s(1)).expect_err("it is missing");
        assert!(
            unfit.to_string().starts_with(&format!("the task `user` runs `{program}`, which ")),
            "{unfit}"
        );
        assert!(unfit.help().starts_with(help), "{}", unfit.help());
    }
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
    // The program is the one above the task whose parent this is.
    let above = |pid: i32| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split(' ').nth(2)?.parse().ok()
    };
    let task = processes("wastenot-hog-v")[0].file_name().and_then(|it| it.to_str()?.parse().ok());
    let ours = std::process::id() as i32;
    let mut parents = std::iter::successors(task, |pid| above(*pid));
    let parent = parents.find(|pid| above(*pid) == Some(ours));
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
    for from in [0, 1000, 1024, 4000, 65_000] {
        workload.launch(task, CpuId(from));
    }
    assert_eq!(run(&workload, Span::s(20)).tasks.len(), 5);
    let far = workload.affinity(CpuSet::parse("4-7").expect("a list"));
    workload.template(Template::new("far", program(&[Step::Affinity(far)])));
    let unfit = Plan::new(&workload, 2, 1, Span::s(20)).expect_err("it has no CPU");
    assert!(matches!(unfit, Unfit::NoCpu { there: 2, .. }), "{unfit}");
}

/// How many processes and threads of this name there are with this policy and real-time priority
/// (proc(5): fields 41 and 40 of `stat`).
fn seen(name: &str, class: Class) -> usize {
    let threads = std::fs::read_dir("/proc").expect("proc").flatten();
    let threads = threads.filter_map(|it| std::fs::read_dir(it.path().join("task")).ok());
    let of_class = threads.flatten().flatten().filter(|it| {
        let stat = std::fs::read_to_string(it.path().join("stat")).unwrap_or_default();
        let Some((before, rest)) = stat.rsplit_once(')') else { return false };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |n: usize| fields.get(n - 3).and_then(|it| it.parse().ok());
        before.ends_with(&format!("({name}"))
            && number(41) == Some(u32::from(class.policy()))
            && number(40) == Some(u32::from(class.priority()))
    });
    of_class.count()
}

#[test]
fn tasks_have_the_classes_that_they_ask_for_whoever_creates_them() {
    use std::os::unix::fs::MetadataExt as _;
    let test = "tasks_have_the_classes_that_they_ask_for_whoever_creates_them";
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
    if !is_root {
        return skipped(test, "it sets real-time classes", "run it as root");
    }
    let mut workload = Workload::new();
    let stay = Step::Sleep(Variate::Fixed(Span::s(100)));
    let (runtime, period) = (Span::ms(2), Span::ms(50));
    let classes = [
        ("wn-fifo", Class::Fifo { priority: 50 }),
        ("wn-rr", Class::RoundRobin { priority: 7 }),
        ("wn-batch", Class::Batch),
        ("wn-idle", Class::Idle),
        ("wn-deadline", Class::Deadline { runtime, deadline: period, period }),
        ("wn-other", Class::Other),
    ];
    let kinds = classes.map(|(name, class)| {
        workload.template(Template { class, ..Template::new(name, program(&[stay])) })
    });
    // Each class creates each: as threads, and those that execute as processes.
    for (n, (_, class)) in classes.into_iter().enumerate() {
        let forks = kinds.map(Step::Fork);
        let mut steps = vec![stay; 0];
        steps.extend(forks);
        steps.extend((n % 2 == 1).then_some(Step::Exec));
        steps.push(stay);
        let parent = Template { class, ..Template::new("wn-parent", program(&steps)) };
        let parent = workload.template(parent);
        workload.launch(parent, CpuId(0));
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let plan = Plan::new(&workload, cpus, 1, Span::s(100)).expect("fits");
    let mut running = plan.begin().expect("begins");
    let all = || classes.iter().map(|(name, class)| seen(name, *class)).collect::<Vec<_>>();
    let there = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        all() == [6; 6] && seen("wn-parent", Class::Idle) == 1
    });
    if running.is_over().expect("known") {
        let error = running.told().expect_err("refused");
        return skipped(test, &error.to_string(), &error.help());
    }
    assert!(there, "{:?}", all());
    drop(running);
    assert!(classes.iter().all(|(name, _)| left(name) == 0));
}

#[test]
fn what_the_kernel_refuses_deadlines_is_refused_before() {
    let (ms, one) = (Span::ms, CpuSet::parse("0"));
    let plan = |class: [Span; 3], affinity: Option<CpuSet>, steps: &[Step]| {
        let [runtime, deadline, period] = class;
        let mut workload = Workload::new();
        workload.affinity(CpuSet::parse("0").expect("list"));
        let class = Class::Deadline { runtime, deadline, period };
        let task = Template { class, affinity, ..Template::new("t", program(steps)) };
        let task = workload.template(task);
        workload.launch(task, CpuId(0));
        Plan::new(&workload, 2, 1, Span::s(1)).map(|plan| plan.notes)
    };
    let usual = [ms(2), ms(5), ms(10)];
    let narrow = Err(Unfit::Narrow { name: "t".into(), cpus: "0".into() });
    assert_eq!(plan(usual, None, &[]), Ok(Vec::new()));
    assert_eq!(plan(usual, CpuSet::parse("0-1"), &[]), Ok(Vec::new()));
    assert_eq!(plan(usual, one, &[]), narrow);
    assert_eq!(plan(usual, None, &[Step::Affinity(Default::default())]), narrow);
    assert!(matches!(plan([ms(6), ms(5), ms(10)], None, &[]), Err(Unfit::Runtime { .. })));
    assert!(matches!(plan([Span(1000), ms(5), ms(10)], None, &[]), Err(Unfit::Runtime { .. })));
    let short = [Span::us(20), Span::us(99), Span::us(99)];
    assert!(matches!(plan(short, None, &[]), Err(Unfit::Period { .. })));
}

#[test]
fn a_fifo_task_goes_before_a_hog_of_its_cpu() {
    let beside_hog = |class| {
        let mut workload = Workload::new();
        let done = workload.mark("done");
        let hog = Template::new("hog", program(&[compute(Span::s(1000))]));
        let hog = workload.template(Template { awaited: false, ..hog });
        let steps = [
            Step::Loop(Some(100)),
            Step::Beat(Span::ms(5)),
            compute(Span::us(200)),
            Step::Mark(done),
            END,
        ];
        let task = Template { class, ..Template::new("beats", program(&steps)) };
        let task = workload.template(task);
        (0..3).for_each(|_| workload.launch(hog, CpuId(0)));
        workload.launch(task, CpuId(0));
        let plan = Plan::new(&workload, 1, 1, Span::s(4)).expect("fits");
        let mut late: Vec<u64> = match plan.begin().expect("begins").told() {
            Ok(told) => told.marks.iter().map(|it| it.late_ns).collect(),
            Err(error) => {
                skipped("a_fifo_task_goes_before_a_hog", &error.to_string(), &error.help());
                return None;
            }
        };
        late.sort_unstable();
        Some(late.get(late.len() / 2).copied().unwrap_or(u64::MAX))
    };
    // The lowest class next to three hogs has next to nothing, so that its beats are ever later.
    let fifo = beside_hog(Class::Fifo { priority: 10 });
    let idle = beside_hog(Class::Idle);
    if let (Some(fifo), Some(idle)) = (fifo, idle) {
        assert!(fifo < 5_000_000 && idle > 4 * fifo, "{fifo} {idle}");
    }
}

#[test]
fn tasks_that_are_launched_into_a_session_share_it() {
    let mut workload = Workload::new();
    let names = ["wn-session-a", "wn-session-b"];
    for name in names {
        let session = workload.group(Group { session: true, ..Group::root() });
        let hog = Template::new(name, program(&[compute(Span::s(1000))]));
        let hog = workload.template(Template { group: session, ..hog });
        (0..3).for_each(|_| workload.launch(hog, CpuId(0)));
    }
    let plan = Plan::new(&workload, 1, 1, Span::s(100)).expect("fits");
    let running = plan.begin().expect("begins");
    // The fourth field after the name (proc_pid_stat(5)).
    let session = |path: &std::path::PathBuf| {
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        stat.rsplit(')').next()?.split(' ').nth(4).map(str::to_owned)
    };
    let sessions =
        || names.map(|name| processes(name).iter().filter_map(session).collect::<Vec<_>>());
    let there = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        sessions().iter().all(|it| it.len() == 3)
    });
    let [a, b] = sessions();
    drop(running);
    assert!(there, "{a:?} {b:?}");
    assert!(a.iter().all(|it| *it == a[0]) && b.iter().all(|it| *it == b[0]) && a[0] != b[0]);
    assert!(names.iter().all(|name| left(name) == 0) && left("wastenot-task") == 0);
}

#[test]
fn a_pipe_without_a_limit_that_is_full_is_no_deadlock() {
    let mut workload = Workload::new();
    let pipe = workload.pipe("p", None, Waiting::Block);
    let steps = [Step::Loop(Some(1_200_000)), Step::Put(pipe), END];
    let task = workload.template(Template::new("puts", program(&steps)));
    workload.launch(task, CpuId(0));
    let plan = Plan::new(&workload, 1, 1, Span::s(60)).expect("fits");
    let error = plan.begin().expect("begins").told().expect_err("it is full");
    assert!(error.to_string().contains("the pipe is full"), "{error}");
}

#[test]
fn a_command_begins_in_its_class_and_is_found_as_shells_find_it() {
    const BATCH: u32 = 3;
    let code = |policy, words: &[&str]| {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut child = class::spawn(policy, &words)?;
        Ok::<_, io::Error>(child.wait()?.code())
    };
    // Field 41 of proc_pid_stat(5).
    let class = "exit $(cut -d' ' -f41 /proc/self/stat)";
    assert_eq!(code(BATCH, &["sh", "-c", class]).expect("it runs"), Some(BATCH as i32));
    assert_eq!(code(0, &["/bin/sh", "-c", "exit 7"]).expect("it runs"), Some(7));
    assert_eq!(code(99, &["true"]).expect("it runs"), Some(125), "there is no such class");
    let missing = code(0, &["nonesuch"]).expect_err("there is none");
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    let folder = code(0, &["/"]).expect_err("it is no program");
    assert_eq!(folder.kind(), io::ErrorKind::PermissionDenied);
}
