//! Linux 2.4: epochs, and one queue that leaves no CPU idle.

use wastenot_model::{Machine, Span};

use crate::lives::{Life, Seen, assert_near, live};

fn cpus(cpus: usize, lives: &[Life], seconds: u64) -> Seen {
    live(&Machine::flat(cpus), "linux-2.4", &[], lives, seconds)
}

#[test]
fn hogs_share_cpus_evenly() {
    for (n, hogs) in [(1, 3), (2, 3), (4, 7), (4, 12)] {
        let seen = cpus(n, &vec![Life::hog(); hogs], 20);
        for hog in 0..hogs {
            // A task that runs when an epoch ends loses half of what it has left.
            assert_near(seen.used(hog).as_secs(), 20.0 * n as f64 / hogs as f64, 0.06);
        }
    }
}

#[test]
fn two_hogs_on_a_cpu_run_60_ms_each() {
    let seen = cpus(1, &[Life::hog(), Life::hog()], 6);
    // All but the first run, which begins between two ticks, and the last, which the end cuts off.
    let slices: Vec<Span> = seen.runs_of(0).map(|run| run.to - run.from).collect();
    assert!(slices.len() > 40 && slices[0] <= Span::ms(60));
    assert!(slices[1..slices.len() - 1].iter().all(|&slice| slice == Span::ms(60)));
}

#[test]
fn nice_tasks_have_shorter_slices() {
    let seen = cpus(1, &[Life::hog(), Life { nice: 19, ..Life::hog() }], 7);
    assert_near(seen.used(0).as_secs() / seen.used(1).as_secs(), 6.0, 0.02);
}

#[test]
fn a_sleeper_preempts_a_hog() {
    let sleeper = Life { rounds: Some(2), ..Life::in_turn(Span::ms(1), Span::s(3)) };
    let seen = cpus(1, &[Life::hog(), sleeper], 4);
    let runs: Vec<_> = seen.runs_of(1).collect();
    assert_eq!(runs[1].from - runs[0].to, Span::s(3));
}

#[test]
fn no_cpu_is_idle_while_a_task_waits() {
    let nap = |n: u64| Life::in_turn(Span::us(700 + 130 * n), Span::us(900 + 70 * n));
    let lives: Vec<Life> = (0..8).map(nap).collect();
    assert_eq!(cpus(4, &lives, 1).waste(), Span::ZERO);
}
