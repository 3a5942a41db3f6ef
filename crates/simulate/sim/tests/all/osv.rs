//! What the tests of OSv publish about its schedulers, and what follows from the formula.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template, Variate, Waiting};
use wastenot_model::{CpuId, CpuSet, Event, Machine, Span, Time, Workload};
use wastenot_sim::{End, Options, scheduler, simulate};

use crate::lives::{Life, Seen, assert_near, live, live_with};

fn one_cpu(set: &[(&str, &str)], lives: &[Life], seconds: u64) -> Seen {
    live(&Machine::flat(1), "osv", set, lives, seconds)
}

fn hogs(priorities: &[f64]) -> Vec<Life> {
    priorities.iter().map(|&priority| Life { priority, ..Life::hog() }).collect()
}

#[test]
fn cpu_time_is_inverse_to_priority() {
    for (priorities, within) in [
        (&[1.0, 4.0][..], 0.08),
        (&[1.0, 2.0], 0.05),
        (&[1.0, 1.0], 0.05),
        (&[1.0, 1.0, 1.0, 1.0], 0.05),
        (&[1.0, 1.0, 0.5, 2.0], 0.05),
    ] {
        let seen = one_cpu(&[], &hogs(priorities), 10);
        let last = priorities.len() - 1;
        for n in 0..last {
            let ratio = seen.used(n).0 as f64 / seen.used(last).0 as f64;
            assert_near(ratio, priorities[last] / priorities[n], within);
        }
    }
}

#[test]
fn two_hogs_alternate_every_two_thyst() {
    for (thyst, slice, off) in [("2ms", 4.0, 0.15), ("5ms", 10.0, 0.4)] {
        for float in ["f64", "f32"] {
            let set = [("thyst", thyst), ("float", float)];
            let got = one_cpu(&set, &hogs(&[1.0, 1.0]), 10).slice_ms(0);
            assert!((got - slice).abs() <= off, "{got} ms with thyst {thyst}, {float}");
        }
    }
}

#[test]
fn a_thread_that_wakes_a_thousand_times_a_second_shortens_slices() {
    let mut lives = hogs(&[1.0, 1.0]);
    lives.push(Life::in_turn(Span::us(5), Span::us(995)));
    let slice = one_cpu(&[], &lives, 10).slice_ms(0);
    assert!(slice <= 1.2, "{slice} ms");
}

#[test]
fn a_new_thread_runs_tau_ln_2_before_a_hog_runs_again() {
    let hog = Life::hog();
    let late = Life { at: Time(5_000_000_000), ..Life::hog() };
    let seen = one_cpu(&[], &[hog, late], 6);
    let on = seen.runs_of(1).next().expect("it runs").from;
    let after = seen.runs_of(0).find(|run| run.from > on).expect("the hog runs again").from;
    let alone = after - on;
    // Both borrow thyst, which weighs twice as much for the thread with R = 0; slices are 1 %
    // longer.
    assert_near(alone.0 as f64 / 1e6, 200.0 * std::f64::consts::LN_2, 0.03);
}

#[test]
fn renormalisation_changes_nothing() {
    let mut lives = hogs(&[1.0, 1.0]);
    lives.push(Life::in_turn(Span::ms(3), Span::ms(7)));
    lives.push(Life::in_turn(Span::ms(3), Span::s(5)));
    let shares = |seen: &Seen, from: u64, to: u64| {
        let at = |s: u64| Time(Span::s(s).0);
        let used = (0..4).map(|n| seen.used_between(n, at(from), at(to)).as_secs());
        used.map(|used| used / (to - from) as f64).collect::<Vec<f64>>()
    };
    let period = 126.0 * std::f64::consts::LN_2 * 0.2;
    assert!((17.0..18.0).contains(&period), "it happens within each of these spans");
    for float in ["f64", "f32"] {
        let seen = one_cpu(&[("float", float)], &lives, 61);
        let first = shares(&seen, 1, 16);
        for (from, to) in [(16, 31), (31, 46), (46, 61)] {
            for (a, b) in first.iter().zip(shares(&seen, from, to)) {
                assert!((a - b).abs() < 0.004, "{first:?}, later {b}, {float}");
            }
        }
    }
}

#[test]
fn a_thread_that_sleeps_half_the_time_has_its_fair_half() {
    // Loops of 10 s of work, one of which sleeps as long as it runs: OSv published 19 s and 21.4 s
    // for 32 ms, near 20 s for less.
    for (n, tight, intermittent) in [
        (1, 1.93..2.07, 1.93..2.07),
        (2, 1.93..2.07, 1.93..2.07),
        (4, 1.93..2.07, 1.93..2.07),
        (8, 1.93..2.07, 1.93..2.07),
        (16, 1.88..2.12, 1.88..2.12),
        (32, 1.83..1.95, 2.07..2.18),
    ] {
        let loops = Life { run: Span::s(10), ..Life::hog() };
        let steps =
            Life { rounds: Some(10_000 / n as u32), ..Life::in_turn(Span::ms(n), Span::ms(n)) };
        let seen = one_cpu(&[], &[loops, steps], 40);
        let took = [0, 1].map(|life| seen.ended(life).expect("ends").0 as f64 / 10e9);
        assert!(tight.contains(&took[0]), "{n} ms: tight loop x{}", took[0]);
        assert!(intermittent.contains(&took[1]), "{n} ms: intermittent x{}", took[1]);
    }
}

#[test]
fn copies_of_a_loop_share_a_cpu_and_end_together() {
    for copies in [2, 3] {
        let lives = vec![Life { run: Span::s(10), ..Life::hog() }; copies];
        let seen = one_cpu(&[], &lives, 40);
        let took = (0..copies).map(|n| seen.ended(n).expect("ends").0 as f64 / 10e9);
        let took: Vec<f64> = took.collect();
        took.iter().for_each(|&took| assert_near(took, copies as f64, 0.02));
        let last = took.iter().copied().fold(0.0, f64::max);
        let first = took.iter().copied().fold(f64::MAX, f64::min);
        assert!(last / first - 1.0 <= 0.01, "{took:?}");
    }
}

#[test]
fn passing_a_token_switches_as_often_as_under_the_old_heuristic() {
    // Both on one CPU, one on each, and without affinities.
    let (zero, one) = (CpuSet::from_iter([CpuId(0)]), CpuSet::from_iter([CpuId(1)]));
    for (first, second) in
        [(Some(zero.clone()), Some(zero.clone())), (Some(zero), Some(one)), (None, None)]
    {
        let mut load = Workload::new();
        let [there, back] = ["there", "back"].map(|it| load.pipe(it, Some(1), Waiting::Block));
        let (put, get) = (Step::Put, Step::Get);
        for (affinity, pass) in
            [(first, [put(there), get(back)]), (second, [get(there), put(back)])]
        {
            let compute = Step::Compute(Variate::Fixed(Span(1)));
            let steps = [&[Step::Loop(Some(1000)), compute], &pass[..], &[Step::End { of: 0 }]];
            let program = Program::new(steps.concat()).expect("a program");
            let template = Template { affinity, ..Template::new("t", program) };
            let template = load.template(template);
            load.launch(template, CpuId(0));
        }
        let switches = ["osv", "osv-vruntime"].map(|name| {
            let policy = scheduler(name, &[]).expect("known");
            let (machine, options) = (Machine::flat(2), Options::default());
            let costs = Costs { switch: Span(382), ..Costs::default() };
            let (history, outcome) = simulate(&machine, &costs, &load, policy, &options);
            assert_eq!(outcome.end, End::Done);
            let switch = |event: &Event| matches!(event, Event::Switch { .. });
            history.entries().filter(|entry| switch(&entry.event)).count()
        });
        assert!(switches[0] >= 2000, "{switches:?}: each pass is one");
        assert_eq!(switches[0], switches[1]);
    }
}

/// For each life, the time that it takes on two CPUs over its `work`.
fn stretched(lives: &[Life], work: Span, seed: u64) -> Vec<f64> {
    let seen = live_with(&Machine::flat(2), "osv", &[], lives, 90, seed);
    let ended = (0..lives.len()).filter_map(|n| seen.ended(n));
    ended.map(|ended| ended.0 as f64 / work.0 as f64).collect()
}

fn loops(n: usize) -> Vec<Life> {
    vec![Life { run: Span::s(20), ..Life::hog() }; n]
}

/// The median over seeds: the times at which balancers run are random.
fn median(mut of: impl FnMut(u64) -> f64) -> f64 {
    let mut all: Vec<f64> = (1..=9).map(&mut of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

#[test]
fn loops_are_spread_over_the_cpus() {
    for (n, expected, within) in [(2, 1.0, 0.05), (3, 1.5, 0.08), (4, 2.0, 0.05)] {
        for nth in 0..n {
            let took = median(|seed| {
                let mut took = stretched(&loops(n), Span::s(20), seed);
                took.sort_by(f64::total_cmp);
                took[nth]
            });
            assert_near(took, expected, within);
        }
    }
}

#[test]
fn a_task_that_hardly_runs_disturbs_them_little() {
    for (n, band) in [(2, 1.0..1.15), (4, 2.0..2.25)] {
        let mut lives = loops(n);
        lives.push(Life::in_turn(Span::ms(1), Span::ms(10)));
        for seed in 1..=5 {
            let took = stretched(&lives, Span::s(20), seed);
            assert!(took.len() == n && took.iter().all(|took| band.contains(took)), "{took:?}");
        }
    }
}

#[test]
fn balancing_is_blind_to_priority() {
    // One loop with twice the share and twice the work: with a CPU for it alone all would end at
    // the same time. Published: 0.93, 0.94 and 1.14 of it.
    let mut lives = loops(2);
    lives.push(Life { run: Span::s(40), priority: 0.5, ..Life::hog() });
    let spread = median(|seed| {
        let took = stretched(&lives, Span::s(40), seed);
        took[2] / took[0].min(took[1])
    });
    assert!((1.1..1.35).contains(&spread), "{spread}");
}

#[test]
fn who_yields_lets_the_other_run_for_two_thyst() {
    let forever = |steps: &[Step]| {
        let steps = [&[Step::Loop(None)], steps, &[Step::End { of: 0 }]].concat();
        Template::new("forever", Program::new(steps).expect("a program"))
    };
    let compute = Step::Compute(Variate::Fixed(Span::us(100)));
    let mut load = Workload::new();
    for template in [forever(&[compute, Step::Yield]), forever(&[compute])] {
        let template = load.template(template);
        load.launch(template, CpuId(0));
    }
    let policy = scheduler("osv", &[]).expect("known");
    let options = Options { limit: Time(Span::s(1).0), ..Options::default() };
    let machine = Machine::flat(1);
    let (history, _) = simulate(&machine, &Costs::default(), &load, policy, &options);
    let switches = history.entries().filter(|entry| matches!(entry.event, Event::Switch { .. }));
    let turns = switches.count() as f64 / 2.0;
    assert_near(turns, 1000.0 / (0.1 + 4.04), 0.03);
}

#[test]
fn the_old_heuristic_switches_every_8_ms() {
    let seen = live(&Machine::flat(1), "osv-vruntime", &[], &hogs(&[1.0, 1.0]), 10);
    assert_near(seen.slice_ms(0), 8.0, 0.02);
}

#[test]
fn a_clock_that_jumped_leaves_a_cpu_unused() {
    let slowest = |jump: &str, cap: &str, seed: u64| {
        let lives = vec![Life { run: Span::s(5), ..Life::hog() }; 2];
        let set = [("clock-jump", jump), ("cap", cap)];
        let seen = live_with(&Machine::flat(2), "osv-vruntime", &set, &lives, 30, seed);
        seen.ended(0).max(seen.ended(1)).expect("both end").0 as f64 / 5e9
    };
    let bad = (0..20).filter(|&seed| slowest("10s", "on", seed) >= 1.6).count();
    assert!((5..=15).contains(&bad), "{bad} of 20 seeds");
    assert!(slowest("0s", "on", 0) < 1.1);
}
