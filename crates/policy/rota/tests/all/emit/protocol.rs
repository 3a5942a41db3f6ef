//! The behaviour of an emitted scheduler where the kernel differs from the model: work stealing on
//! two CPUs, event by event.

use super::native::{built, decided, machines, tables};
use super::policies;

/// The decisions at the events, on a machine of two CPUs; `None` without a C compiler. Tasks 0 and
/// 1 may run everywhere, 2 and 3 on CPU 0 only.
fn answers(events: &[&str]) -> Option<Vec<String>> {
    let (name, program) =
        policies().into_iter().find(|(name, _)| name == "work-stealing").expect("it is there");
    let binary = built(&format!("{name}.protocol"), &program)?;
    let mut input = tables(&program, &machines()[0]).expect("a CPU for all");
    for (task, mask) in [(0, 3), (1, 3), (2, 1), (3, 1)] {
        input += &format!("c {task} 0 100 0 0 {mask} 0 0 0\n");
    }
    for (n, event) in events.iter().enumerate() {
        input += &format!("a {}\n{event}\n", 1000 * (n + 1));
    }
    Some(decided(&binary, input).split_off(5))
}

#[test]
fn a_cpu_is_woken_after_its_task_is_in_the_queue() {
    // CPU 1 goes to sleep while no task waits; CPU 0 never slept, so that `run` is not taken.
    let Some(said) = answers(&["d 1", "n 0 2"]) else { return };
    assert_eq!(said, [" idle", " put 1 0 0 0"], "nobody who may have it sleeps");
    let said = answers(&["d 0", "d 1", "n 0 0", "n 0 1"]).expect("a compiler");
    assert_eq!(said[2..], [" at 0 run on 0 kick 0 1", " at 1 run on 1 kick 1 1"]);
}

#[test]
fn pinned_tasks_wait_where_no_filter_sees_them() {
    let Some(said) = answers(&["n 0 2", "n 0 3", "d 1", "n 0 0", "d 1", "d 0", "d 0"]) else {
        return;
    };
    assert_eq!(said[..2], [" put 1 0 0 0", " put 1 0 0 0"]);
    assert_eq!(said[2], " idle", "nobody but CPU 0 may have them");
    assert_eq!(said[3], " at 1 run on 1 kick 1 1");
    assert!(said[5].starts_with(" runs 2"), "{said:?}");
}

#[test]
fn pinned_and_other_tasks_are_taken_in_one_order() {
    // No CPU sleeps: all tasks wait in the order of their arrival.
    let events = ["n 0 2", "n 0 0", "n 0 3", "n 0 1"];
    let takes = ["d 0", "s 0 b", "d 0", "s 0 b", "d 0", "s 0 b", "d 0"];
    let Some(said) = answers(&[&events[..], &takes[..]].concat()) else { return };
    let runs: Vec<&str> =
        said[4..].iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let order = ["runs 2 20000000", "runs 0 20000000", "runs 3 20000000", "runs 1 20000000"];
    assert_eq!(runs, order);
}

#[test]
fn whoever_takes_a_task_wakes_a_sleeper_for_the_next() {
    // Two tasks wait for which CPU 1, which slept before, was not woken: it was busy then.
    let events = ["n 0 0", "n 0 1", "d 1", "s 1 b", "d 1", "s 1 b", "d 1", "w 0 0", "w 0 1"];
    let Some(said) = answers(&events) else { return };
    assert_eq!(said[2], " runs 0 20000000", "CPU 1 stole it");
    assert_eq!(said[4], " runs 1 20000000");
    assert_eq!(said[7], " at 1 run on 1 kick 1 1", "{said:?}");
}

#[test]
fn a_cpu_whose_task_may_go_on_takes_nobody_from_others() {
    // As the kernel does: it dispatches before the task that ran is back in a queue.
    let events = ["n 0 0", "n 0 1", "d 0", "k 0", "k 0"];
    let Some(said) = answers(&events) else { return };
    assert_eq!(said[3..], [" local 1", " stays"]);
}
