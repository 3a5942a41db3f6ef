use wastenot_model::policy::Note;
use wastenot_model::{
    Annex, Builder, By, Carries, Change, Context, CpuId, CpuMode, CpuSet, Decision, Entry, Event,
    Head, History, How, Left, Loss, Machine, MaskId, NameId, Sink, Start, Task, TaskId, Time,
};

use super::Weave;
use crate::decided::Decided;
use crate::wire::{Facts, Kind, Wire, wire};
use wastenot_host::{Cgroups, Hierarchy};

/// A recording of two CPUs that began at 100.
struct Desk {
    weave: Weave,
    builder: Builder,
}

impl Desk {
    fn begin(walked: &[Facts], after: &[Wire]) -> Desk {
        let mut head = Head::new(Machine::flat(2));
        head.carries = Carries::WAKEUPS | Carries::PLACEMENT;
        let mut builder = Builder::new(head);
        let mut weave = Weave::new(Cgroups::of(&Hierarchy::None));
        weave.start(
            Time(100),
            &[true, true],
            walked,
            &after.iter().collect::<Vec<_>>(),
            &mut builder,
        );
        Desk { weave, builder }
    }

    fn push(&mut self, wire: Wire) {
        self.weave.push(&wire, None, &mut self.builder);
    }

    fn tell(&mut self, facts: &Facts) {
        let wire = wire(facts.time.0, 0, Kind::Facts, facts.tid, 0);
        self.weave.push(&wire, Some(facts), &mut self.builder);
    }

    fn history(self) -> History {
        self.builder.finish()
    }
}

fn facts(tid: u32) -> Facts {
    Facts {
        time: Time(110),
        tid,
        tgid: tid,
        start_time: u64::from(tid),
        cgroup: 1,
        name: format!("task{tid}"),
        policy: 0,
        nice: 0,
        throttled: false,
        migration_disabled: false,
        mask: vec![0b11],
        on: CpuId(0),
        running: false,
        queued: false,
    }
}

fn switch(time: u64, cpu: u16, prev: u32, next: u32, state: u16) -> Wire {
    Wire { on: state, ..wire(time, cpu, Kind::Switch, prev, next) }
}

/// The events after those that describe the start.
fn events(history: &History) -> Vec<Event> {
    history.entries().filter(|entry| entry.time > Time(100)).map(|entry| entry.event).collect()
}

#[test]
fn what_was_walked_is_the_start() {
    let runs = Facts { running: true, queued: true, on: CpuId(1), ..facts(7) };
    let waits = Facts { queued: true, on: CpuId(1), ..facts(8) };
    let history = Desk::begin(&[runs, waits, facts(9)], &[]).history();
    let start = history.head.start.as_ref().expect("told");
    let [seven, eight, nine] = [0, 1, 2].map(TaskId::nth);
    assert_eq!(start.cpus, [CpuMode::Idle, CpuMode::Busy(seven)]);
    assert_eq!(start.waiting, [(eight, Some(CpuId(1)))]);
    assert_eq!(start.sleeping, [(nine, Some(CpuId(0)))]);
    // Every task's affinity is reported at once.
    let affinity =
        |event: &Event| matches!(event, Event::Changed { what: Change::Affinity(_), .. });
    assert_eq!(history.entries().filter(|entry| affinity(&entry.event)).count(), 3);
}

#[test]
fn a_newer_event_wins_over_what_was_walked() {
    // The walk at 110 found it asleep on CPU 0; but at 105 it left CPU 1, so at 100 it ran there.
    // The task that it switched to was walked while it ran, and waited when the recording began.
    let came = Facts { running: true, queued: true, on: CpuId(1), ..facts(8) };
    let after = [switch(105, 1, 7, 8, 1)];
    let history = Desk::begin(&[facts(7), came], &after).history();
    let start = history.head.start.as_ref().expect("told");
    assert_eq!(start.cpus, [CpuMode::Idle, CpuMode::Busy(TaskId::nth(0))]);
    assert_eq!(start.waiting, [(TaskId::nth(1), Some(CpuId(1)))]);
    assert_eq!(start.sleeping, []);
}

#[test]
fn a_task_created_since_is_told_by_its_fork_alone() {
    let parent = Facts { running: true, queued: true, ..facts(7) };
    let child = Facts { start_time: 104, queued: true, ..facts(8) };
    let mut desk = Desk::begin(&[parent, child.clone()], &[]);
    desk.tell(&Facts { time: Time(105), ..child });
    desk.push(wire(105, 0, Kind::Fork, 8, 7));
    let history = desk.history();
    assert_eq!(history.task_count(), 2);
    let start = history.head.start.as_ref().expect("told");
    assert_eq!(start.waiting, []);
    let [parent, child] = [0, 1].map(TaskId::nth);
    assert_eq!(events(&history).last(), Some(&Event::Fork { parent, child }));
}

#[test]
fn only_what_changed_is_told() {
    let mut desk = Desk::begin(&[facts(7)], &[]);
    let moved = Facts { time: Time(120), mask: vec![0b10], ..facts(7) };
    desk.tell(&moved);
    desk.tell(&Facts { time: Time(130), ..moved.clone() });
    desk.tell(&Facts { time: Time(140), nice: 5, name: "new".into(), ..moved });
    let history = desk.history();
    let changes: Vec<Change> = events(&history)
        .into_iter()
        .map(|event| match event {
            Event::Changed { what, .. } => what,
            other => panic!("{other:?}"),
        })
        .collect();
    let [Change::Affinity(mask), Change::Name(name), Change::Nice(5)] = changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(history.mask(mask).expect("told").to_string(), "1");
    assert_eq!(history.name(name), "new");
}

#[test]
fn a_tid_means_a_new_task_once_the_old_one_is_dead() {
    let ran = Facts { running: true, queued: true, ..facts(7) };
    let mut desk = Desk::begin(&[ran], &[]);
    desk.push(switch(120, 0, 7, 0, 0x80));
    desk.tell(&Facts { time: Time(130), start_time: 129, ..facts(7) });
    desk.push(Wire { on: 1, ..wire(131, 0, Kind::New, 7, 0) });
    let history = desk.history();
    let second = TaskId::nth(1);
    assert!(matches!(
        events(&history).last(),
        Some(&Event::Queued { task, how: How::New, on: Some(CpuId(1)), .. }) if task == second
    ));
    let left = events(&history).into_iter().find_map(|event| match event {
        Event::Switch { left, .. } => Some(left),
        _ => None,
    });
    assert_eq!(left, Some(Left::Dead));
}

#[test]
fn a_task_whose_facts_were_lost_gets_its_name_later() {
    let mut desk = Desk::begin(&[], &[]);
    desk.push(switch(120, 0, 0, 7, 0));
    desk.tell(&Facts { time: Time(130), ..facts(7) });
    let history = desk.history();
    assert_eq!(history.task_count(), 1);
    assert_eq!(history.task_label(TaskId::nth(0)), "task7:7");
    assert_eq!(history.task(TaskId::nth(0)).and_then(|task| task.pid), Some(7));
}

#[test]
fn a_wakeup_of_a_task_that_was_still_queued_selects_nothing() {
    let mut desk = Desk::begin(&[facts(7)], &[]);
    desk.push(wire(120, 0, Kind::Waking, 7, 0).still_queued());
    desk.push(wire(121, 0, Kind::Wakeup, 7, 0));
    desk.push(wire(130, 0, Kind::Waking, 7, 0));
    desk.push(wire(131, 0, Kind::Wakeup, 7, 0));
    let hows: Vec<How> = events(&desk.history())
        .into_iter()
        .filter_map(|event| match event {
            Event::Queued { how, .. } => Some(how),
            _ => None,
        })
        .collect();
    assert_eq!(hows, [How::NoSelection, How::Wakeup]);
}

#[test]
fn a_throttled_task_is_so_until_it_runs() {
    let ran = Facts { running: true, queued: true, ..facts(7) };
    let mut desk = Desk::begin(&[ran], &[]);
    desk.push(switch(120, 0, 7, 0, 0));
    desk.tell(&Facts { time: Time(120), throttled: true, ..facts(7) });
    desk.push(switch(150, 0, 0, 7, 0));
    // The next look finds nothing new.
    desk.tell(&Facts { time: Time(160), ..facts(7) });
    let throttles: Vec<(u64, bool)> = desk
        .history()
        .entries()
        .filter_map(|entry| match entry.event {
            Event::Changed { what: Change::Throttled(on), .. } => Some((entry.time.0, on)),
            _ => None,
        })
        .collect();
    assert_eq!(throttles, [(120, true), (150, false)]);
}

#[test]
fn a_thread_that_executes_a_program_takes_its_leaders_tid() {
    let leader = Facts { tgid: 7, ..facts(7) };
    let thread = Facts { tgid: 7, running: true, queued: true, ..facts(8) };
    let mut desk = Desk::begin(&[leader, thread], &[]);
    desk.push(wire(120, 0, Kind::Exec, 7, 8));
    desk.tell(&Facts { time: Time(120), name: "sh".into(), ..facts(7) });
    desk.push(switch(130, 0, 7, 0, 1));
    let history = desk.history();
    let thread = TaskId::nth(1);
    assert_eq!(history.task_count(), 2);
    assert_eq!(history.task_name(thread), "sh");
    assert!(matches!(
        events(&history)[..],
        [
            Event::Exec { task: a },
            Event::Changed { task: b, what: Change::Name(_) },
            ..,
            Event::Switch { prev: c, .. }
        ] if [a, b, c] == [thread; 3]
    ));
}

#[test]
fn who_woke_whom_and_in_which_context() {
    let mut desk = Desk::begin(&[facts(7)], &[]);
    desk.push(wire(120, 1, Kind::Waking, 7, 0).in_hardirq());
    let history = desk.history();
    let entry = history.entries().last().expect("the waking");
    let idle = TaskId::idle(CpuId(1));
    assert_eq!(entry.by, By { task: Some(idle), context: Context::Hardirq });
}

#[test]
fn a_decision_is_about_the_task_that_has_the_tid_then() {
    let mut desk = Desk::begin(&[facts(7)], &[]);
    let note = Note::new(CpuId(1), Decision::WAKEUP, None, CpuSet::new(), String::new());
    let decided = Decided { tid: Some(7), notes: vec![note] };
    let decision = wire(120, 1, Kind::Decided, 7, 0);
    let task = |desk: &mut Desk, decided: &Decided| {
        let mut notes = desk.weave.decide(&decision, decided.clone(), &mut desk.builder);
        notes.next().expect("a decision").task
    };
    let first = task(&mut desk, &decided);
    // It ends, and another task gets its tid.
    desk.push(switch(130, 0, 7, 0, 0x80));
    desk.tell(&Facts { time: Time(140), start_time: 140, ..facts(7) });
    let second = task(&mut desk, &decided);
    assert_eq!((first, second), (Some(TaskId::nth(0)), Some(TaskId::nth(1))));
    // A pass is about none.
    assert_eq!(task(&mut desk, &Decided { tid: None, ..decided }), None);
    desk.push(decision);
    let decided = desk.history().entries().filter(|it| it.time == Time(120)).count();
    assert_eq!(decided, 0, "decisions are in the annex alone");
}

/// A sink that keeps nothing, as a sink to a file keeps no tasks.
#[derive(Default)]
struct Blank {
    tasks: usize,
}

impl Sink for Blank {
    fn name(&mut self, _: &str) -> NameId {
        NameId(0)
    }
    fn mask(&mut self, _: &CpuSet) -> MaskId {
        MaskId(0)
    }
    fn task(&mut self, _: Task) -> TaskId {
        self.tasks += 1;
        TaskId::nth(self.tasks - 1)
    }
    fn correct(&mut self, _: TaskId, _: &Task) {}
    fn push(&mut self, _: Entry) {}
    fn loss(&mut self, _: Loss) {}
    fn start(&mut self, _: &Start) {}
    fn annex(&mut self, _: Annex) {}
    fn end(&mut self, _: Time) {}
}

#[test]
fn nothing_is_held_of_a_task_that_is_dead() {
    let mut weave = Weave::new(Cgroups::of(&Hierarchy::None));
    let mut sink = Blank::default();
    // At any time 100 tasks live; tids wrap around as in the kernel.
    let tid = |life: u32| 300 + life % 30_000;
    for life in 0..100_000 {
        let born = Facts { start_time: u64::from(life) + 1, ..facts(tid(life)) };
        weave.push(&wire(110, 0, Kind::Facts, born.tid, 0), Some(&born), &mut sink);
        if let Some(old) = life.checked_sub(99) {
            weave.push(&switch(120, 0, tid(old), 0, 0x80), None, &mut sink);
        }
    }
    assert_eq!(sink.tasks, 100_000);
    assert_eq!(weave.known.len(), 100);
    assert_eq!(weave.known.iter().filter(|known| known.facts.is_some()).count(), 99);
}
