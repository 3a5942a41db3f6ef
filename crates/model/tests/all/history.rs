//! What a History keeps, and when two of them tell the same.

use wastenot_model::{
    Builder, By, Carries, Context, CpuId, Entry, Event, Head, History, How, Left, Loss, LossKind,
    Machine, Prio, Sink, Task, TaskId, Time,
};

fn build(carries: Carries, tids: &[i32], entries: &[Entry]) -> History {
    let mut head = Head::new(Machine::flat(2));
    head.carries = carries;
    let mut sink = Builder::new(head);
    for tid in tids {
        let name = sink.name(&format!("task{tid}"));
        sink.task(Task::new(*tid, name));
    }
    entries.iter().for_each(|entry| sink.push(*entry));
    sink.finish()
}

fn queued(time: u64, task: TaskId) -> Entry {
    let event = Event::Queued { task, on: Some(CpuId(1)), how: How::Wakeup, prio: Prio(Some(120)) };
    Entry { time: Time(time), cpu: CpuId(0), by: By { task: None, context: Context::Task }, event }
}

fn switch(time: u64, task: TaskId) -> Entry {
    Entry::switch(Time(time), CpuId(1), TaskId::idle(CpuId(1)), task, Left::Runnable)
}

#[test]
fn more_rows_than_a_chunk_holds_keep_their_order() {
    let entries: Vec<Entry> = (0..150_000).map(|n| queued(n, TaskId::nth(0))).collect();
    let history = build(Carries::WAKEUPS, &[7], &entries);
    assert_eq!(history.len(), entries.len());
    assert!(history.entries().eq(entries));
}

#[test]
fn the_machine_grows_to_every_cpu_that_an_event_names() {
    let event = Event::Migrate { task: TaskId::nth(0), from: None, to: CpuId(9) };
    let entry = Entry { time: Time(1), cpu: CpuId(3), by: By::UNKNOWN, event };
    assert_eq!(build(Carries::NONE, &[7], &[entry]).cpu_count(), 10);
}

#[test]
fn the_window_holds_every_event() {
    let history =
        build(Carries::NONE, &[7], &[queued(5, TaskId::nth(0)), queued(9, TaskId::nth(0))]);
    assert_eq!((history.window().from, history.window().to), (Time(5), Time(9)));
    let empty = build(Carries::NONE, &[], &[]);
    assert!(empty.window().from <= empty.window().to);
}

#[test]
fn losses_of_one_kind_on_one_cpu_add_up() {
    let mut sink = Builder::new(Head::new(Machine::flat(1)));
    for (time, count) in [(9, 3), (4, 5)] {
        let mut loss = Loss::new(LossKind::LostEvents, "dropped");
        (loss.cpu, loss.time, loss.count) = (Some(CpuId(0)), Some(Time(time)), Some(count));
        sink.loss(loss);
    }
    let history = sink.finish();
    assert_eq!(history.losses().len(), 1);
    assert_eq!(history.losses()[0].time, Some(Time(4)));
    assert_eq!(history.lost_events(), (8, false));
}

#[test]
fn histories_are_the_same_whatever_their_tasks_are_numbered() {
    let (a, b) = (TaskId::nth(0), TaskId::nth(1));
    let left = build(Carries::WAKEUPS, &[7, 8], &[queued(1, a), switch(2, b)]);
    let right = build(Carries::WAKEUPS, &[8, 7], &[queued(1, b), switch(2, a)]);
    assert_eq!(left.same(&right), Ok(()));
    let other = build(Carries::WAKEUPS, &[7, 9], &[queued(1, a), switch(2, b)]);
    assert_eq!(left.same(&other).expect_err("another tid").index, 1);
    let late = build(Carries::WAKEUPS, &[7, 8], &[queued(1, a), switch(3, b)]);
    assert!(left.same(&late).is_err());
}

#[test]
fn what_one_side_does_not_carry_is_not_compared() {
    let a = TaskId::nth(0);
    let full = build(Carries::WAKEUPS | Carries::PRIO, &[7], &[queued(1, a), switch(2, a)]);
    let poor = build(Carries::NONE, &[7], &[switch(2, a)]);
    assert_eq!(full.same(&poor), Ok(()));
    let missing = build(Carries::WAKEUPS, &[7], &[switch(2, a)]);
    assert!(full.same(&missing).is_err());
}
