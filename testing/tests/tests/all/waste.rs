//! The measure of waste compared with the slow reference, to the nanosecond.

use wastenot_check::causes::LostTime;
use wastenot_check::{Options, Scope, throttled, waste};
use wastenot_model::{CpuId, History, Silent, TaskId, Time, Window, replay};
use wastenot_needs::effort;
use wastenot_tests::Rng;
use wastenot_tests::random::{Plan, shrink};
use wastenot_tests::reference::{self, Asked, Measured};

/// The library's results, in the reference's types.
pub(crate) fn measured(history: &History, asked: &Asked) -> Measured {
    let options = Options {
        silent: asked.silent,
        window: asked.window,
        cpus: asked.cpus.clone(),
        tasks: asked.tasks.as_ref().map(|tasks| tasks.iter().copied().collect()),
        shared_queue: asked.shared_queue,
        ..Options::default()
    };
    let figures = waste::measure(history, &options);
    each_nanosecond_has_one_cause(&figures);
    let scope = Scope::new(history, &options);
    let mut throttled = throttled::Watch::new(history, &scope);
    replay(history, options.silent, &mut throttled);
    let kept = figures.kept.as_ref();
    // Throttled tasks are known only if the source has throttling.
    let held_ns = throttled.finish().map_or(0, |found| found.all.held_ns);
    Measured {
        waste_cpu_ns: figures.cpu_ns,
        waste_cpu_ns_max: figures.cpu_ns_max,
        wake_delay_cpu_ns: figures.wake_delay.cpu_ns,
        known_cpu_ns: figures.known_ns,
        online_cpu_ns: figures.online_ns,
        episodes: figures.episodes,
        longest_ns: figures.longest_ns,
        held_ns,
        affinity_cpu_ns: kept.map(|kept| kept.cpu_ns),
        kept_ns: kept.iter().flat_map(|it| &it.tasks).map(|it| (it.task, it.kept_ns)).collect(),
    }
}

/// The parts of each loss sum to the whole.
fn each_nanosecond_has_one_cause(figures: &waste::Figures) {
    let causes = figures.causes.as_ref().expect("causes are asked for");
    // Stamps of damaged files may lie centuries apart: then sums stay at the largest number.
    let parts = |loss| causes.iter().map(|(_, part)| u128::from(part.ns[loss as usize])).sum();
    let is = |whole: u64, parts: u128| whole == u64::MAX || u128::from(whole) == parts;
    assert!(is(figures.cpu_ns, parts(LostTime::Waste)), "{figures:?}");
    assert!(is(figures.wake_delay.cpu_ns, parts(LostTime::WakeDelay)), "{figures:?}");
    let kept = figures.kept.as_ref().map_or(0, |kept| kept.cpu_ns);
    assert!(is(kept, parts(LostTime::Affinity)), "{figures:?}");
}

/// Half of the questions are about a part of the time, a third assume that silent CPUs are idle, a
/// quarter each are about some CPUs and some tasks only, a fifth assume shared queues.
pub(crate) fn question(seed: u64, history: &History) -> Asked {
    let mut rng = Rng::new(seed ^ 0xa5ed);
    let Window { from, to } = history.window();
    let third = (to - from).0 / 3;
    let part = Window { from: Time(from.0 + third), to: Time(to.0 - third / 2) };
    let mut some = |each: usize| if rng.one_in(4) { Some(each) } else { None };
    let (cpus, tasks) = (some(history.cpu_count()), some(history.task_count()));
    let mut half = |count: usize| (0..count).filter(|_| rng.one_in(2)).collect::<Vec<_>>();
    let cpus = cpus.map(&mut half).map(|few| few.iter().map(|&n| CpuId(n as u16)).collect());
    let tasks = tasks.map(&mut half).map(|few| few.into_iter().map(TaskId::nth).collect());
    Asked {
        silent: if seed.is_multiple_of(3) { Silent::Idle } else { Silent::Unknown },
        window: if seed.is_multiple_of(2) { Window::ALL } else { part },
        cpus,
        tasks,
        shared_queue: seed.is_multiple_of(5),
    }
}

/// A small history on a page.
pub(crate) fn told(history: &History) -> String {
    let mut page = format!(
        "{} CPUs, {:?}, carries {}\nmasks {:?}\nstart {:?}\n",
        history.cpu_count(),
        history.window(),
        history.head.carries,
        history.masks(),
        history.head.start
    );
    for entry in history.entries() {
        page += &format!("{} cpu {} {:?} {:?}\n", entry.time, entry.cpu, entry.by, entry.event);
    }
    page
}

#[test]
fn waste_of_random_histories_is_what_the_slow_reference_measures() {
    let agree = |seed: u64, history: &History| {
        let asked = question(seed, history);
        let (ours, theirs) = (measured(history, &asked), reference::measure(history, &asked));
        if ours == theirs { Ok(ours) } else { Err(Box::new((ours, theirs))) }
    };
    let (mut wasteful, mut doubtful, mut rows) = (0, 0, 0);
    let cases = effort(40_000);
    for seed in 0..cases {
        let plan = Plan::small(seed);
        let history = plan.history();
        match agree(seed, &history) {
            Ok(same) => {
                rows += history.len();
                wasteful += u64::from(same.waste_cpu_ns > 0);
                doubtful += u64::from(same.waste_cpu_ns_max > same.waste_cpu_ns);
            }
            Err(_) => {
                let least = shrink(plan, |history| agree(seed, history).is_err());
                let history = least.history();
                let (ours, theirs) = *agree(seed, &history).expect_err("it fails");
                let asked = question(seed, &history);
                let page = told(&history);
                panic!("{least:?}\n{page}{asked:?}\nours      {ours:?}\nreference {theirs:?}");
            }
        }
    }
    println!("{cases} histories of {rows} rows: {wasteful} with waste, {doubtful} with doubt");
    assert!(wasteful * 4 > cases, "only {wasteful} of {cases} histories waste anything");
    assert!(doubtful * 10 > cases, "only {doubtful} of {cases} histories leave doubt");
}

#[test]
fn a_reference_that_is_wrong_by_a_nanosecond_would_be_noticed() {
    let differs = |seed: u64| {
        let history = Plan::small(seed).history();
        let Window { from, to } = history.window();
        let short = Window { from, to: Time(to.0.saturating_sub(1)) };
        let asked = Asked { window: short, ..Asked::ALL };
        measured(&history, &Asked::ALL) != reference::measure(&history, &asked) && from < to
    };
    assert!((0..20).filter(|&seed| differs(seed)).count() > 10);
}
