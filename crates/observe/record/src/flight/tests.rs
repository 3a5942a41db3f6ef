use wastenot_model::{Carries, Column, Machine, Table};

use super::*;

fn flight(last: Span) -> Flight {
    Flight::new(head(), last, 1 << 20).in_parts()
}

fn head() -> Head {
    let mut head = Head::new(Machine::flat(2));
    head.carries = Carries::WAKEUPS | Carries::PLACEMENT;
    (head.window.from, head.window.to) = (Time(0), Time(0));
    head
}

fn push(flight: &mut Flight, time: u64, event: Event) {
    flight.push(Entry { time: Time(time), cpu: CpuId(0), by: By::UNKNOWN, event });
}

/// A flight of 100 ms without events yet, and a task.
fn begun() -> (Flight, TaskId) {
    let mut flight = flight(Span::ms(100));
    let name = flight.name("parent");
    let parent = flight.task(Task::new(1, name));
    flight.start(&Start { cpus: vec![wastenot_model::CpuMode::Idle; 2], ..Start::default() });
    (flight, parent)
}

/// A task that is created, gets a new name, a new mask and a new cgroup, runs and ends; of every
/// tenth task the end is lost.
fn life(flight: &mut Flight, number: u64, parent: TaskId, time: u64) {
    let name = flight.name(&format!("kworker/{number}"));
    let task = flight.task(Task::new(number as i32, name));
    push(flight, time, Event::Fork { parent, child: task });
    let mask = flight.mask(&[CpuId(0), CpuId((number % 1000) as u16 + 1)].into_iter().collect());
    push(flight, time, Event::Changed { task, what: Change::Affinity(mask) });
    let group = flight.name(&format!("/pod-{number}"));
    push(flight, time, Event::Changed { task, what: Change::Cgroup(group) });
    let (how, prio) = (wastenot_model::How::New, wastenot_model::Prio::UNKNOWN);
    push(flight, time, Event::Queued { task, on: Some(CpuId(0)), how, prio });
    let idle = TaskId::idle(CpuId(0));
    let switch = |prev, next, left| Entry::switch(Time(time), CpuId(0), prev, next, left).event;
    push(flight, time, switch(idle, task, Left::Sleeping));
    for _ in 0..2 {
        push(flight, time, switch(task, idle, Left::Preempted));
        push(flight, time, switch(idle, task, Left::Sleeping));
    }
    match number % 10 {
        0 => {
            push(flight, time, switch(task, idle, Left::Sleeping));
            flight.gone(task);
        }
        _ => push(flight, time, switch(task, idle, Left::Dead)),
    }
}

#[test]
fn a_storm_of_short_lives_leaves_memory_flat() {
    let (mut flight, parent) = begun();
    let (mut parts, mut events, mut sizes) = (0, 0, Vec::new());
    for number in 0..100_000 {
        // Each task lives a tenth of a millisecond: a thousand are kept.
        life(&mut flight, number, parent, 1 + number * 100_000);
        if number % 500 == 499 {
            let part = flight.part().expect("something happened");
            (parts, events) = (parts + 1, events + part.entries().count());
            let sizes_now = [flight.tasks.len(), flight.names.all.len(), flight.masks.all.len()];
            assert!(flight.rows.len() <= 16_000, "{} rows", flight.rows.len());
            sizes.push(sizes_now);
        }
    }
    assert_eq!((parts, events), (200, 1_000_000));
    // The second half of the storm needs no more than the first.
    let most = |sizes: &[[usize; 3]]| -> [usize; 3] {
        [0, 1, 2].map(|which| sizes.iter().map(|sizes| sizes[which]).max().unwrap_or(0))
    };
    let (early, late) = (most(&sizes[..100]), most(&sizes[100..]));
    assert_eq!(early, late);
    assert!(late[0] < 5_000 && late[1] < 16_000 && late[2] < 5_000, "{late:?}");
}

#[test]
fn what_is_saved_has_the_names_masks_and_groups_of_its_tasks_after_a_storm() {
    let (mut flight, parent) = begun();
    let group = flight.name("/old");
    push(&mut flight, 1, Event::Changed { task: parent, what: Change::Cgroup(group) });
    for number in 0..20_000 {
        life(&mut flight, number, parent, 1 + number * 100_000);
        if number % 500 == 499 {
            flight.part();
        }
    }
    let history = flight.history();
    assert_eq!(history.task_name(parent), "parent");
    let (mut groups, mut masks) = (0, 0);
    for entry in history.entries() {
        match entry.event {
            Event::Changed { task, what: Change::Cgroup(group) } if task == parent => {
                assert_eq!(history.name(group), "/old");
            }
            Event::Changed { task, what: Change::Cgroup(group) } => {
                let name = history.task_name(task);
                let name = name.trim_start_matches("kworker/");
                // Before the first row other tasks may have had that number.
                if entry.time > history.window().from {
                    assert_eq!(history.name(group), format!("/pod-{name}"));
                    groups += 1;
                }
            }
            Event::Changed { task, what: Change::Affinity(mask) } => {
                let name = history.task_name(task);
                let name = name.trim_start_matches("kworker/");
                let number: usize = name.parse().expect("a number");
                let mask = history.mask(mask).expect("a mask");
                assert!(mask.contains(CpuId((number % 1000) as u16 + 1)), "{name}");
                masks += 1;
            }
            _ => {}
        }
    }
    assert!(groups >= 900 && masks >= 900, "{groups} groups, {masks} masks");
}

#[test]
fn memory_is_taken_as_events_come_and_no_more_than_was_allowed() {
    // No machine has that much.
    for (memory, most) in [(u64::MAX, 1 << 18), (1 << 20, (1 << 20) / size_of::<Row>())] {
        let mut flight = Flight::new(head(), Span::s(1), memory);
        assert_eq!(flight.rows.capacity(), 0);
        let name = flight.name("parent");
        let parent = flight.task(Task::new(1, name));
        for number in 0..20_000 {
            life(&mut flight, number, parent, 1 + number);
        }
        assert!(flight.rows.capacity() <= most, "{} of {most}", flight.rows.capacity());
    }
}

#[test]
fn of_what_was_stolen_only_what_is_kept_is_told() {
    let mut flight = flight(Span(10));
    let columns =
        [Column::new("time_ns", "until", Unit::At), Column::new("steal_ns", "stolen", Unit::Ns)];
    let mut table = Table::new("steal", "", columns);
    (0..100u64).for_each(|time| table.push(vec![time.into(), 1u64.into()]));
    flight.annex(Annex { table });
    flight.end(Time(100));
    flight.turn();
    let rows = flight.history().annexes[0].table.rows.clone();
    assert_eq!((rows.len(), &rows[0][0]), (9, &91u64.into()));
}

#[test]
fn a_file_tells_which_wait_its_trigger_saw_first_though_nothing_was_wasted() {
    let trigger = "task=waiter wait > 5ms".parse().expect("a trigger");
    let mut flight = Flight::new(head(), Span::s(1), 1 << 20).with_trigger(trigger);
    let [hog, waiter] = ["hog", "waiter"].map(|name| flight.name(name));
    let (hog, waiter) = (flight.task(Task::new(7, hog)), flight.task(Task::new(8, waiter)));
    flight.start(&Start { cpus: vec![wastenot_model::CpuMode::Busy(hog); 2], ..Start::default() });
    let (how, prio) = (wastenot_model::How::Wakeup, wastenot_model::Prio::UNKNOWN);
    let ms = |ms| Span::ms(ms).0;
    push(&mut flight, ms(2), Event::Queued { task: waiter, on: Some(CpuId(0)), how, prio });
    flight.end(Time(ms(6)));
    assert_eq!(flight.turn(), None);
    let switch = |time, prev, next, left| Entry::switch(Time(time), CpuId(0), prev, next, left);
    push(&mut flight, ms(10), switch(ms(10), hog, waiter, Left::Preempted).event);
    flight.end(Time(ms(20)));
    assert_eq!(flight.turn().expect("it fired").what, "waiter:8 waited 8.000 ms");
    // A later and longer wait is not what ended it.
    flight.end(Time(ms(90)));
    flight.turn();
    let history = flight.history();
    let options = wastenot_check::Options::default();
    let check = wastenot_check::check(&history, &options);
    let report = check.report(&history, &options);
    let says = "waiter:8 waited 8.000 ms on CPU 0, from @0.002000000 to @0.010000000.";
    assert!(report.verdict.ends_with(says), "{}", report.verdict);
    assert_eq!((report.worst.is_none(), report.findings[0].code.as_str()), (true, "trigger"));
    let window = wastenot_model::Window { from: Time(ms(2)), to: Time(ms(10)) };
    let cpus = [CpuId(0)].into_iter().collect();
    assert_eq!(check.to_draw(&history, 2), Some((window, cpus)));
    // A part without that time tells nothing of it.
    let late = wastenot_model::Window { from: Time(ms(11)), to: Time(ms(90)) };
    let options = wastenot_check::Options { window: late, ..options };
    assert_eq!(wastenot_check::check(&history, &options).trigger, None);
}

fn decided(times: &[u64]) -> Annex {
    let row = |time: &u64| Decision {
        time: Time(*time),
        cpu: CpuId(0),
        what: Decision::NEWIDLE,
        task: None,
        considered: CpuSet::new(),
        local: CpuSet::new(),
        busiest: CpuSet::new(),
        outcome: Decision::BALANCED,
    };
    Annex { table: wastenot_model::decisions::table(times.iter().map(row)) }
}

/// The domains that `cpu` gets at `time`: one for each of the spans.
fn domains(cpu: u16, time: u64, spans: &[&str]) -> Annex {
    let row = |span: &&str| Decision {
        time: Time(time),
        cpu: CpuId(cpu),
        what: Decision::DOMAIN,
        task: None,
        considered: CpuSet::parse(span).expect("a list"),
        local: CpuSet::from_iter([CpuId(cpu)]),
        busiest: CpuSet::new(),
        outcome: "",
    };
    Annex { table: wastenot_model::decisions::table(spans.iter().map(row)) }
}

fn times(history: &History) -> Vec<u64> {
    history.decisions().expect("decisions").map(|it| it.time.0).collect()
}

#[test]
fn decisions_are_kept_as_long_as_events_and_each_part_has_its_own() {
    let (mut flight, task) = begun();
    let mut told = Vec::new();
    // One each millisecond; a tenth of a second is kept.
    for ms in 1..=300_u64 {
        push(&mut flight, ms * 1_000_000, Event::Exec { task });
        flight.annex(decided(&[ms * 1_000_000]));
        if ms % 10 == 0 {
            told.extend(times(&flight.part().expect("events")));
        }
    }
    assert_eq!(told, (1..=300).map(|ms| ms * 1_000_000).collect::<Vec<u64>>());
    assert_eq!(times(&flight.history()).len(), 100);
    assert!(flight.annexes[0].table.rows.len() <= 100);
}

#[test]
fn where_there_is_room_for_no_more_decisions_the_oldest_events_go_with_them() {
    let (mut flight, task) = begun();
    let room = flight.room / DECISION;
    let count = room as u64 * 3;
    for time in 1..=count {
        push(&mut flight, time, Event::Exec { task });
        flight.annex(decided(&[time]));
    }
    let history = flight.history();
    let kept = times(&history);
    assert_eq!(
        (kept.len(), kept[0], *kept.last().expect("many")),
        (room, count - room as u64 + 1, count)
    );
    assert_eq!(history.window().from, Time(kept[0] - 1));
    assert_eq!(history.len(), room);
}

#[test]
fn the_domains_that_cpus_have_are_kept_however_old_they_are() {
    let (mut flight, task) = begun();
    let room = flight.room / DECISION;
    flight.annex(domains(0, 1, &["0", "0-1"]));
    flight.annex(domains(1, 1, &["0-1"]));
    flight.annex(domains(1, 5, &["1"]));
    let count = room as u64 * 3;
    for time in 10..=count {
        push(&mut flight, time, Event::Exec { task });
        flight.annex(decided(&[time]));
    }
    let first = times(&flight.part().expect("events"));
    assert_eq!(first[..3], [1, 1, 5], "what CPU 1 had before is replaced");
    let history = flight.history();
    let kept: Vec<Decision> = history.decisions().expect("decisions").take(4).collect();
    let spans: Vec<String> = kept.iter().map(|it| it.considered.to_string()).collect();
    assert_eq!(spans, ["0", "0-1", "1", ""]);
    assert_eq!(times(&history).len(), 3 + room);
    // A part that begins later has the domains that hold then.
    push(&mut flight, count + 1, Event::Exec { task });
    flight.annex(domains(0, count + 1, &["0"]));
    assert_eq!(times(&flight.part().expect("an event")), [1, 1, 5, count + 1]);
    push(&mut flight, count + 2, Event::Exec { task });
    assert_eq!(times(&flight.part().expect("an event")), [5, count + 1]);
}
