//! Linux 2.6: two arrays, a bonus for sleepers, queues of equal length.

use wastenot_model::{CpuSet, Machine, Span, Time};

use crate::lives::{Life, Seen, assert_near, live};

fn cpus(cpus: usize, set: &[(&str, &str)], lives: &[Life], seconds: u64) -> Seen {
    live(&Machine::flat(cpus), "linux-2.6-o1", set, lives, seconds)
}

#[test]
fn two_hogs_on_a_cpu_run_100_ms_each() {
    for hz in ["1000", "100"] {
        let seen = cpus(1, &[("hz", hz)], &[Life::hog(), Life::hog()], 10);
        assert_near(seen.slice_ms(0), 100.0, 0.02);
        assert_near(seen.used(0).as_secs(), 5.0, 0.03);
    }
}

#[test]
fn slices_follow_nice() {
    let seen = cpus(1, &[], &[Life::hog(), Life { nice: 19, ..Life::hog() }], 21);
    assert_near(seen.used(0).as_secs() / seen.used(1).as_secs(), 100.0 / 5.0, 0.05);
}

#[test]
fn an_interactive_task_runs_as_soon_as_it_wakes() {
    let sleeper = Life { at: Time(1), ..Life::in_turn(Span::ms(2), Span::ms(40)) };
    let seen = cpus(1, &[], &[Life::hog(), Life::hog(), sleeper], 20);
    let late: Vec<_> = seen.runs_of(2).filter(|run| run.from > Time(1_000_000_000)).collect();
    assert!(late.len() > 400, "once every 42 ms: {}", late.len());
    for pair in late.windows(2) {
        assert_eq!(pair[1].from - pair[0].to, Span::ms(40), "it is not kept waiting");
    }
}

#[test]
fn a_hog_is_not_starved_by_interactive_tasks_for_ever() {
    // Four tasks that together want more than the CPU has, each asleep often enough for a bonus.
    let mut lives = vec![Life::in_turn(Span::ms(25), Span::ms(60)); 4];
    lives.push(Life { at: Time(1), ..Life::hog() });
    let seen = cpus(1, &[], &lives, 60);
    let runs: Vec<_> = seen.runs_of(4).collect();
    let longest = runs.windows(2).map(|pair| pair[1].from - pair[0].to).max();
    assert!(longest < Some(Span::s(10)), "{longest:?}");
    assert!(seen.used(4) > Span::s(3), "{:?}", seen.used(4));
}

#[test]
fn idle_cpus_take_what_waits_and_busy_ones_even_out() {
    let seen = cpus(4, &[], &vec![Life::hog(); 8], 10);
    for hog in 0..8 {
        let used = seen.used_between(hog, Time(2_000_000_000), Time(10_000_000_000));
        assert_near(used.as_secs(), 4.0, 0.05);
    }
}

#[test]
fn one_task_too_many_stays_where_it_is() {
    // Two tasks on one CPU and one on the other differ by one: balancing by length moves none.
    let seen = cpus(2, &[], &vec![Life::hog(); 3], 20);
    let mut used: Vec<f64> = (0..3).map(|hog| seen.used(hog).as_secs()).collect();
    used.sort_by(f64::total_cmp);
    assert_near(used[2], 20.0, 0.05);
    assert_near(used[0], 10.0, 0.05);
}

#[test]
fn hogs_get_a_core_each_before_they_share_one() {
    let mut machine = Machine::flat(8);
    for (cpu, it) in machine.cpus.iter_mut().enumerate() {
        it.core = Some(cpu as u32 / 2);
    }
    let seen = live(&machine, "linux-2.6-o1", &[], &vec![Life::hog(); 4], 5);
    let core = |n: usize| seen.runs_of(n).last().expect("it runs").cpu.0 / 2;
    let mut cores: Vec<u16> = (0..4).map(core).collect();
    cores.sort_unstable();
    assert_eq!(cores, [0, 1, 2, 3]);
}

#[test]
fn whoever_blocks_is_boosted_whole_if_asked() {
    // Nearly a hog: it blocks for a moment every 30 ms. Two hogs compete with it.
    let nearly = Life { at: Time(1), ..Life::in_turn(Span::ms(30), Span::us(100)) };
    let lives = [Life::hog(), Life::hog(), nearly];
    let share = |boost| cpus(1, &[("boost", boost)], &lives, 30).used(2).as_secs() / 30.0;
    let (sleep, block) = (share("sleep"), share("block"));
    assert!(sleep < 0.45 && block > 0.6, "{sleep} by sleep, {block} by blocking");
}

#[test]
fn a_woken_task_goes_to_an_idle_sibling() {
    let mut machine = Machine::flat(2);
    machine.cpus.iter_mut().for_each(|cpu| cpu.core = Some(0));
    let pinned = Life { affinity: Some(CpuSet::first(1)), ..Life::hog() };
    let nap = Life { at: Time(1), ..Life::in_turn(Span::ms(1), Span::ms(3)) };
    let seen = live(&machine, "linux-2.6-o1", &[], &[pinned, nap], 1);
    assert!(seen.runs_of(1).count() > 200);
    // Once it has run: a new task begins where it was created.
    assert!(seen.waste() <= Span::ms(3), "{:?}", seen.waste());
}
