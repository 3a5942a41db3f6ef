//! Spans of CPUs and tasks: what is handed out, and when it was so.

use wastenot_model::{
    Activity, Carries, CpuId, CpuReceiver, CpuSpans, CpuState, Entry, Event, Head, History, How,
    Left, Machine, Phase, Prio, Silent, Sink, Task, TaskId, TaskReceiver, TaskSpan, TaskSpans,
    TaskState, Time, Window, replay,
};

const A: TaskId = TaskId(CpuId::LIMIT as u32);
const B: TaskId = TaskId(CpuId::LIMIT as u32 + 1);
const CPU0: CpuId = CpuId(0);
const CPU1: CpuId = CpuId(1);

fn history(entries: &[Entry]) -> History {
    let mut head = Head::new(Machine::flat(2));
    head.carries = Carries::WAKEUPS;
    head.window = Window { from: Time(0), to: Time(100) };
    let mut sink = wastenot_model::Builder::new(head);
    for tid in [7, 8] {
        let name = sink.name("worker");
        sink.task(Task::new(tid, name));
    }
    entries.iter().for_each(|entry| sink.push(*entry));
    sink.finish()
}

fn at(time: u64, cpu: CpuId, event: Event) -> Entry {
    let by = wastenot_model::By::UNKNOWN;
    Entry { time: Time(time), cpu, by, event }
}
fn queued(time: u64, task: TaskId, on: CpuId) -> Entry {
    let (on, how, prio) = (Some(on), How::Wakeup, Prio::UNKNOWN);
    at(time, CPU0, Event::Queued { task, on, how, prio })
}
fn switch(time: u64, cpu: CpuId, prev: TaskId, next: TaskId) -> Entry {
    Entry::switch(Time(time), cpu, prev, next, Left::Sleeping)
}

#[derive(Default)]
struct Cpus(Vec<(u16, Activity, u64, u64)>);

impl CpuReceiver for Cpus {
    type Seen = Activity;
    fn see(&self, is: &CpuState) -> Activity {
        is.activity()
    }
    fn span(&mut self, cpu: CpuId, seen: Activity, window: Window) {
        self.0.push((cpu.0, seen, window.from.0, window.to.0));
    }
}

#[derive(Default)]
struct Tasks(Vec<(TaskId, Phase, u64, u64, Option<Phase>)>);

impl TaskReceiver for Tasks {
    type Seen = Phase;
    fn see(&self, is: &TaskState) -> Phase {
        is.phase
    }
    fn span(&mut self, span: TaskSpan<'_, Phase>) {
        let Window { from, to } = span.window;
        self.0.push((span.task, span.seen, from.0, to.0, span.next.map(|next| next.phase)));
    }
}

fn cpus(entries: &[Entry]) -> Vec<(u16, Activity, u64, u64)> {
    let mut spans = CpuSpans::new(Cpus::default());
    replay(&history(entries), Silent::Unknown, &mut spans);
    spans.to.0
}

fn tasks(entries: &[Entry]) -> Vec<(TaskId, Phase, u64, u64, Option<Phase>)> {
    let mut spans = TaskSpans::new(Tasks::default());
    replay(&history(entries), Silent::Unknown, &mut spans);
    spans.to.0
}

#[test]
fn a_cpu_is_idle_then_about_to_start_a_task_then_runs_it() {
    let idle = TaskId::idle(CPU0);
    let entries = [queued(10, A, CPU0), switch(15, CPU0, idle, A), switch(40, CPU0, A, idle)];
    let want = [
        (0, Activity::Idle, 0, 10),
        (0, Activity::Waking, 10, 15),
        (0, Activity::Run(A), 15, 40),
        (0, Activity::Idle, 40, 100),
        (1, Activity::Unknown, 0, 100),
    ];
    assert_eq!(cpus(&entries), want);
}

#[test]
fn a_task_is_unknown_until_it_is_met_and_what_it_does_last_ends_with_the_history() {
    let idle = TaskId::idle(CPU0);
    let entries = [queued(10, A, CPU0), switch(15, CPU0, idle, A), switch(40, CPU0, A, idle)];
    let want = [
        (A, Phase::Unknown, 0, 10, Some(Phase::Waiting)),
        (A, Phase::Waiting, 10, 15, Some(Phase::Running)),
        (A, Phase::Running, 15, 40, Some(Phase::Sleeping)),
        (A, Phase::Sleeping, 40, 100, None),
    ];
    assert_eq!(tasks(&entries), want);
}

#[test]
fn a_task_that_yields_to_itself_waits_for_no_time_between_two_runs() {
    let yields = Entry::switch(Time(20), CPU0, A, A, Left::Runnable);
    let found = tasks(&[yields]);
    assert_eq!(found[0], (A, Phase::Running, 0, 20, Some(Phase::Waiting)));
    assert_eq!(found[1], (A, Phase::Waiting, 20, 20, Some(Phase::Running)));
    assert_eq!(found[2], (A, Phase::Running, 20, 100, None));
}

/// No change is told of a sleeper that a loss makes unknown: its span must not go on.
#[test]
fn a_loss_ends_the_sleep_of_a_task_that_no_event_shows() {
    let idle = TaskId::idle(CPU0);
    let lost = |time| at(time, CPU1, Event::Lost { count: None });
    let sleeps = [switch(10, CPU0, A, idle), lost(30), lost(60)];
    let known = [
        (A, Phase::Running, 0, 10, Some(Phase::Sleeping)),
        (A, Phase::Sleeping, 10, 30, None),
        (A, Phase::Unknown, 30, 100, None),
    ];
    assert_eq!(tasks(&sleeps), known);
    let wakes = [&sleeps[..], &[queued(70, A, CPU0), switch(80, CPU0, idle, A)]].concat();
    let found = tasks(&wakes);
    assert_eq!(found[1], (A, Phase::Sleeping, 10, 30, None));
    assert_eq!(found[2], (A, Phase::Unknown, 30, 70, Some(Phase::Waiting)));
    assert_eq!(found[3], (A, Phase::Waiting, 70, 80, Some(Phase::Running)));
}

#[test]
fn the_spans_of_each_cpu_and_task_touch_and_fill_the_window() {
    let idle = TaskId::idle(CPU0);
    let entries = [
        switch(5, CPU1, TaskId::idle(CPU1), B),
        queued(10, A, CPU1),
        at(12, CPU0, Event::Migrate { task: A, from: None, to: CPU0 }),
        switch(15, CPU0, idle, A),
        at(20, CPU1, Event::Lost { count: Some(2) }),
        switch(40, CPU0, A, idle),
        switch(50, CPU1, B, TaskId::idle(CPU1)),
    ];
    let (cpus, tasks) = (cpus(&entries), tasks(&entries));
    let of_cpu = |cpu: u16| cpus.iter().filter(move |it| it.0 == cpu).map(|it| (it.2, it.3));
    let of_task = |task| tasks.iter().filter(move |it| it.0 == task).map(|it| (it.2, it.3));
    let each: Vec<Vec<(u64, u64)>> =
        vec![of_cpu(0).collect(), of_cpu(1).collect(), of_task(A).collect(), of_task(B).collect()];
    for spans in each {
        assert_eq!((spans[0].0, spans.last().expect("some").1), (0, 100), "{spans:?}");
        assert!(spans.windows(2).all(|two| two[0].1 == two[1].0), "{spans:?}");
    }
}
