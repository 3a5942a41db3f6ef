//! Gang scheduling: all tasks of a job run at the same time, or none.

use wastenot_model::{Machine, Span, Time};

use crate::lives::{Life, Seen, assert_near, live};

fn cpus(cpus: usize, set: &[(&str, &str)], lives: &[Life], seconds: u64) -> Seen {
    live(&Machine::flat(cpus), "gang", set, lives, seconds)
}

fn job_of(width: usize, others: usize) -> Vec<Life> {
    let mut lives = vec![Life { job: Some(1), ..Life::hog() }; width];
    lives.extend(vec![Life::hog(); others]);
    lives
}

/// How long at least one of the first `width` tasks ran, and how long all of them.
fn together(seen: &Seen, width: usize) -> (Span, Span) {
    let mut turns: Vec<(Time, i32)> = Vec::new();
    for n in 0..width {
        turns.extend(seen.runs_of(n).flat_map(|run| [(run.from, 1), (run.to, -1)]));
    }
    turns.sort_unstable();
    let (mut any, mut all, mut on, mut since) = (Span::ZERO, Span::ZERO, 0, Time(0));
    for (at, step) in turns {
        if on > 0 {
            any += at - since;
        }
        if on == width as i32 {
            all += at - since;
        }
        (on, since) = (on + step, at);
    }
    (any, all)
}

#[test]
fn the_tasks_of_a_job_run_together() {
    for stressors in [0, 1, 4, 5, 8, 12] {
        let seen = cpus(4, &[], &job_of(3, stressors), 12);
        let (any, all) = together(&seen, 3);
        assert_eq!(any, all, "{stressors} stressors");
        let rows = if stressors <= 1 { 1 } else { 1 + (stressors - 1).div_ceil(4) };
        assert_near(all.as_secs(), 12.0 / rows as f64, 0.02);
    }
}

#[test]
fn rows_are_on_for_a_quantum() {
    for (quantum, ms) in [("100ms", 100.0), ("20ms", 20.0)] {
        let seen = cpus(4, &[("quantum", quantum)], &job_of(3, 5), 10);
        assert_near(seen.slice_ms(0), ms, 0.02);
    }
}

#[test]
fn a_row_that_sleeps_is_skipped() {
    // Two jobs, one of which sleeps nearly always: the other has nearly all CPU time.
    let mut lives = job_of(4, 0);
    let nap = Life { job: Some(2), ..Life::in_turn(Span::ms(1), Span::ms(999)) };
    lives.extend(vec![nap; 4]);
    let seen = cpus(4, &[], &lives, 20);
    assert!(seen.used(0) > Span::ms(19_900), "{:?}", seen.used(0));
    assert!(seen.used(4) > Span::ms(15), "{:?}", seen.used(4));
}

#[test]
fn an_empty_cell_is_idle_unless_alternatives_are_allowed() {
    // Rows of three tasks and three tasks on four CPUs: one column is idle.
    let mut lives = job_of(3, 0);
    lives.extend(vec![Life { job: Some(2), ..Life::hog() }; 3]);
    let used = |set: &[(&str, &str)]| {
        let seen = cpus(4, set, &lives, 10);
        (0..6).map(|n| seen.used(n).as_secs()).sum::<f64>()
    };
    assert_near(used(&[]), 30.0, 0.01);
    assert_near(used(&[("alternative", "on")]), 40.0, 0.01);
}

#[test]
fn when_tasks_leave_the_others_move_up() {
    // Four tasks that end after 1 s each, and a job of four: two rows, then one.
    let mut lives = vec![Life { run: Span::s(1), ..Life::hog() }; 4];
    lives.extend(vec![Life { job: Some(1), ..Life::hog() }; 4]);
    let seen = cpus(4, &[], &lives, 10);
    let (from, to) = (Time(3_000_000_000), Time(10_000_000_000));
    assert_eq!(seen.used_between(4, from, to), Span::s(7));
}

#[test]
fn cores_first_gives_a_narrow_job_a_core_a_task() {
    let mut machine = Machine::flat(8);
    for (cpu, it) in machine.cpus.iter_mut().enumerate() {
        it.core = Some(cpu as u32 / 2);
    }
    let cores = |order: &str| {
        let seen = live(&machine, "gang", &[("order", order)], &job_of(4, 0), 1);
        let on = |n: usize| seen.runs_of(n).last().expect("it runs").cpu.0 / 2;
        let mut cores: Vec<u16> = (0..4).map(on).collect();
        cores.dedup();
        cores.len()
    };
    assert_eq!((cores("cpu"), cores("cores")), (2, 4));
}
