//! Random task sets have the stated distributions, and the same seed gives the same sets
//! everywhere.
//!
//! All random streams are fixed, so a test that passes always passes. Distances of distributions
//! are compared with the bound that one in a thousand exceeds (Kolmogorov and Smirnov).

use wastenot_model::Help;
use wastenot_model::sporadic::Sporadic;
use wastenot_model::workload::Random;
use wastenot_scenario::Error;
use wastenot_scenario::task_sets::{
    DEADLINES, Deadlines, FixedSum, MOST_OF_A_SUM, Made, Periods, Recipe, UTILIZATIONS,
    Utilizations, WorkingSets, uunifast_discard,
};

fn stream(ordinal: u64) -> Random {
    Random::stream(2026, 9, ordinal)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

const ONE_IN_A_THOUSAND: f64 = 1.95;

/// Whether two samples may have one distribution.
fn assert_alike(a: Vec<f64>, b: Vec<f64>, what: &str) {
    let (a, b) = (sorted(a), sorted(b));
    let (mut i, mut j, mut distance) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let at = a[i].min(b[j]);
        i += a[i..].iter().take_while(|&&value| value <= at).count();
        j += b[j..].iter().take_while(|&&value| value <= at).count();
        distance = distance.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    let bound = ONE_IN_A_THOUSAND * (1.0 / a.len() as f64 + 1.0 / b.len() as f64).sqrt();
    assert!(distance < bound, "{what}: {distance} is not below {bound}");
}

/// Whether a sample may have the distribution with the cumulative function `below`.
fn assert_like(values: Vec<f64>, below: impl Fn(f64) -> f64, what: &str) {
    let values = sorted(values);
    let count = values.len() as f64;
    let mut distance = 0.0f64;
    for run in values.chunk_by(|a, b| a == b) {
        let upto = values.partition_point(|&value| value <= run[0]) as f64 / count;
        distance = distance.max((upto - below(run[0])).abs());
    }
    let bound = ONE_IN_A_THOUSAND / count.sqrt();
    assert!(distance < bound, "{what}: {distance} is not below {bound}");
}

type Statistic = fn(&[f64]) -> f64;

/// The statistics of sets that are compared: a single number does not show how numbers depend on
/// each other.
const STATISTICS: [(&str, Statistic); 3] = [
    ("the first", |set| set[0]),
    ("the largest", |set| set.iter().copied().fold(0.0, f64::max)),
    ("squares", |set| set.iter().map(|share| share * share).sum()),
];

fn assert_sets_alike(a: &[Vec<f64>], b: &[Vec<f64>], what: &str) {
    for (name, statistic) in STATISTICS {
        let of = |sets: &[Vec<f64>]| sets.iter().map(|set| statistic(set)).collect();
        assert_alike(of(a), of(b), &format!("{what}, {name}"));
    }
}

fn fixed_sums(tasks: usize, total: f64, sets: usize) -> Vec<Vec<f64>> {
    let sum = FixedSum::new(tasks, total).expect("there are such sets");
    let mut random = stream(0);
    (0..sets).map(|_| sum.draw(&mut random)).collect()
}

#[test]
fn a_fixed_sum_is_kept_and_nothing_leaves_its_bounds() {
    for (tasks, total) in [
        (1, 0.25),
        (1, 1.0),
        (2, 1.0),
        (2, 2.0),
        (5, 1e-300),
        (7, 3.0),
        (7, 7.0),
        (256, 200.0),
        (1024, 1e-3),
        (1024, 10.25),
        (1024, 512.0),
        (1024, 700.5),
        (1024, 1024.0 - 1e-9),
        (MOST_OF_A_SUM, 2000.125),
    ] {
        for set in fixed_sums(tasks, total, 20) {
            let (sum, at) = (set.iter().sum::<f64>(), format!("{tasks} of {total}"));
            assert_eq!(set.len(), tasks);
            assert!((sum - total).abs() < 1e-9, "{sum}: {at}");
            assert!(set.iter().all(|share| (0.0..=1.0).contains(share)), "{set:?}: {at}");
        }
    }
}

/// Random numbers until their sum happens to match.
fn by_rejection(tasks: usize, total: f64, sets: usize) -> Vec<Vec<f64>> {
    let mut random = stream(1);
    let draw = |_| loop {
        let mut set: Vec<f64> = (1..tasks).map(|_| random.unit()).collect();
        let last = total - set.iter().sum::<f64>();
        if (0.0..=1.0).contains(&last) {
            set.push(last);
            return set;
        }
    };
    (0..sets).map(draw).collect()
}

#[test]
fn few_numbers_of_a_sum_are_like_those_that_happen_to_have_it() {
    for (tasks, total) in [
        (2, 0.5),
        (2, 1.5),
        (3, 0.9),
        (3, 1.0),
        (3, 1.5),
        (3, 2.4),
        (4, 0.7),
        (4, 1.3),
        (4, 2.0),
        (4, 2.8),
        (4, 3.4),
    ] {
        let (ours, plain) = (fixed_sums(tasks, total, 20_000), by_rejection(tasks, total, 20_000));
        assert_sets_alike(&ours, &plain, &format!("{tasks} of {total}"));
    }
}

/// Like by rejection, but with numbers of density e^(tilt x): all sets with one sum are still
/// equally likely, and `tilt` is chosen so that many have that sum.
fn by_tilting(tasks: usize, total: f64, sets: usize) -> Vec<Vec<f64>> {
    let mean = |tilt: f64| 1.0 / (1.0 - (-tilt).exp()) - 1.0 / tilt;
    let (mut low, mut high) = (1e-6, 500.0);
    for _ in 0..200 {
        let tilt = (low + high) / 2.0;
        if mean(tilt) < total / tasks as f64 { low = tilt } else { high = tilt }
    }
    let tilt = low;
    let mut random = stream(2);
    let draw = |_| loop {
        let one = |unit: f64| (unit * tilt.exp_m1()).ln_1p() / tilt;
        let mut set: Vec<f64> = (1..tasks).map(|_| one(random.unit())).collect();
        let last = total - set.iter().sum::<f64>();
        if (0.0..=1.0).contains(&last) && random.unit() <= (tilt * (last - 1.0)).exp() {
            set.push(last);
            return set;
        }
    };
    (0..sets).map(draw).collect()
}

#[test]
fn many_numbers_of_a_sum_are_like_tilted_ones_that_have_it() {
    for (tasks, total, sets) in [(16, 9.5, 4000), (64, 50.0, 4000), (256, 200.0, 1500)] {
        let (ours, tilted) = (fixed_sums(tasks, total, sets), by_tilting(tasks, total, sets));
        assert_sets_alike(&ours, &tilted, &format!("{tasks} of {total}"));
    }
}

#[test]
fn a_thousand_numbers_of_a_small_sum_have_the_marginal_of_a_simplex() {
    // All lists with a sum of at most 1, and mirrored, of at least n - 1.
    let below = |share: f64| 1.0 - (1.0 - share).powi(1023);
    let few = fixed_sums(1024, 1.0, 2000).into_iter().map(|set| set[17]).collect();
    assert_like(few, below, "1024 of 1");
    let most = fixed_sums(1024, 1023.0, 2000).into_iter().map(|set| 1.0 - set[17]).collect();
    assert_like(most, below, "1024 of 1023");
}

#[test]
fn no_place_in_a_set_is_special() {
    for total in [1.3, 2.0, 3.4] {
        let sets = fixed_sums(4, total, 24_000);
        let at = |place: usize| sets.iter().map(|set| set[place]).collect::<Vec<f64>>();
        for place in 1..4 {
            assert_alike(at(0), at(place), &format!("4 of {total}, place {place}"));
        }
        // The largest and the smallest are equally likely in any of 12 pairs of places.
        let mut pairs = [[0u32; 4]; 4];
        for set in &sets {
            let place = |of: fn(f64, f64) -> bool| {
                (0..4).reduce(|best, at| if of(set[at], set[best]) { at } else { best })
            };
            let (Some(most), Some(least)) = (place(|a, b| a > b), place(|a, b| a < b)) else {
                unreachable!("four places")
            };
            pairs[most][least] += 1;
        }
        let expected = sets.len() as f64 / 12.0;
        let squares = pairs.iter().enumerate().flat_map(|(most, row)| {
            let others = row.iter().enumerate().filter(move |(least, _)| *least != most);
            others.map(|(_, &seen)| (f64::from(seen) - expected).powi(2) / expected)
        });
        let chi_square: f64 = squares.sum();
        assert!(chi_square < 31.26, "{chi_square} of 11 degrees: 4 of {total}: {pairs:?}");
    }
}

#[test]
fn uunifast_discard_gives_the_same_distribution() {
    for (tasks, total) in [(8, 2.0), (5, 0.6), (4, 2.2)] {
        let mut random = stream(3);
        let draw = |_| uunifast_discard(tasks, total, &mut random).expect("in 1000 draws");
        let tried: Vec<Vec<f64>> = (0..8000).map(draw).collect();
        for set in &tried {
            assert!((set.iter().sum::<f64>() - total).abs() < 1e-9 && set.len() == tasks);
            assert!(set.iter().all(|share| (0.0..=1.0).contains(share)), "{set:?}");
        }
        let what = format!("{tasks} of {total}");
        assert_sets_alike(&tried, &fixed_sums(tasks, total, 8000), &what);
        let last = |sets: &[Vec<f64>]| sets.iter().map(|set| set[tasks - 1]).collect();
        assert_alike(last(&tried), tried.iter().map(|set| set[0]).collect(), &what);
    }
}

#[test]
fn uunifast_discard_gives_up_and_says_what_to_do() {
    let error = uunifast_discard(64, 40.0, &mut stream(4)).expect_err("no such draw");
    assert_eq!(
        error.to_string(),
        "uunifast-discard failed: in 1000 draws of 64 utilizations with the sum 40, one \
         utilization was always above 1"
    );
    assert!(error.help().starts_with("use `randfixedsum`"), "{}", error.help());
}

fn recipe(utilizations: &str, tasks: usize, total: Option<f64>) -> Recipe {
    Recipe {
        tasks,
        total,
        utilizations: utilizations.parse().expect("utilizations"),
        periods: "log-uniform 10-100 ms".parse().expect("periods"),
        deadlines: Default::default(),
        working_sets: Default::default(),
    }
}

fn made(recipe: &Recipe, seed: u64, number: u64) -> Made {
    let maker = recipe.maker().unwrap_or_else(|error| panic!("{error}"));
    maker.make(seed, number).unwrap_or_else(|error| panic!("{error}"))
}

/// Utilizations to a millionth: of many tasks with a period of a second.
fn shares(utilizations: &str) -> Vec<f64> {
    let periods = "uniform 1-1 s".parse().expect("periods");
    let set = made(&Recipe { periods, ..recipe(utilizations, 20_000, None) }, 5, 0);
    set.tasks.iter().map(|task| task.wcet_us as f64 / 1e6).collect()
}

#[test]
fn families_are_distributed_as_their_names_say() {
    let uniform = |from: f64, to: f64| move |x: f64| ((x - from) / (to - from)).clamp(0.0, 1.0);
    assert_like(shares("uni-light"), uniform(0.001, 0.1), "uni-light");
    assert_like(shares("uni-medium"), uniform(0.1, 0.4), "uni-medium");
    assert_like(shares("uni-heavy"), uniform(0.5, 0.9), "uni-heavy");
    for (name, mean) in [("exp-light", 0.1f64), ("exp-medium", 0.25), ("exp-heavy", 0.5)] {
        let upto = |x: f64| (1.0 - (-x / mean).exp()) / (1.0 - (-1.0 / mean).exp());
        let all = shares(name);
        let (seen, count) = (all.iter().sum::<f64>(), all.len() as f64);
        assert_like(all, upto, name);
        // The mean of an exponential distribution whose values above 1 are drawn again.
        let expected = mean - 1.0 / ((1.0 / mean).exp() - 1.0);
        assert!((seen / count / expected - 1.0).abs() < 0.02, "{name}: {}", seen / count);
    }
    for (name, light) in [("bimo-light", 8.0), ("bimo-medium", 6.0), ("bimo-heavy", 4.0)] {
        let (low, high) = (uniform(0.001, 0.5), uniform(0.5, 0.9));
        let upto = |x: f64| (light * low(x) + (9.0 - light) * high(x)) / 9.0;
        assert_like(shares(name), upto, name);
    }
}

#[test]
fn periods_are_distributed_as_they_say() {
    for text in [
        "uniform 3-33 ms",
        "log-uniform 3-33 ms",
        "log-uniform 10-100 ms",
        "uniform 50-250 ms",
        "log-uniform 200-1000 ms",
        "uniform 10-1000 ms by 10 ms",
        "log-uniform 10-1000 ms by 10 ms",
        "log-uniform 1-1000 ms",
        "log-uniform 700-90000 us",
    ] {
        let periods: Periods = text.parse().expect("periods");
        let Periods { from_us, to_us, step_us, .. } = periods;
        let set = made(&Recipe { periods, ..recipe("uni-medium", 50_000, None) }, 6, 0);
        let all: Vec<f64> = set.tasks.iter().map(|task| task.period_us as f64).collect();
        let (from, beyond, step) = (from_us as f64, (to_us + step_us) as f64, step_us as f64);
        assert!(all.iter().all(|us| us % step == 0.0 && *us >= from && us + step <= beyond));
        match text.starts_with("log") {
            true => assert_like(all, |us| ((us + step) / from).ln() / (beyond / from).ln(), text),
            false => assert_like(all, |us| (us + step - from) / (beyond - from), text),
        }
    }
}

#[test]
fn deadlines_lie_evenly_where_they_say() {
    for (kind, most) in [("uni-constrained", 1.0), ("uni-arbitrary", 2.0)] {
        let deadlines = kind.parse().expect("deadlines");
        let set = made(&Recipe { deadlines, ..recipe("uni-medium", 20_000, None) }, 7, 0);
        let slack = set.tasks.iter().map(|task| {
            let over = task.deadline_us as f64 - task.wcet_us as f64;
            over / (task.period_us - task.wcet_us) as f64
        });
        let slack: Vec<f64> = slack.collect();
        assert!(slack.iter().all(|share| (0.0..=most).contains(share)));
        assert_like(slack, |share| share / most, kind);
    }
    let set = made(&recipe("uni-medium", 100, None), 7, 0);
    assert!(set.tasks.is_implicit());
}

#[test]
fn a_cost_is_whole_microseconds_and_never_more_than_was_drawn() {
    let recipe = recipe("randfixedsum", 64, Some(16.0));
    for number in 0..50 {
        let set = made(&recipe, 8, number);
        let lost: f64 = set.tasks.iter().map(|task| 1.0 / task.period_us as f64).sum();
        assert!((set.drawn - 16.0).abs() < 1e-9, "{}", set.drawn);
        assert!(set.utilization <= 16.0 && set.utilization > 16.0 - lost, "{}", set.utilization);
        assert!(set.tasks.iter().all(|task| (4..=512).contains(&task.wss_kb)));
    }
    // A cost that rounds to zero becomes 1 us.
    let tiny = made(&Recipe { total: Some(1e-9), ..recipe }, 8, 0);
    assert!(tiny.tasks.iter().all(|task| task.wcet_us == 1) && tiny.utilization > tiny.drawn);
}

#[test]
fn a_capped_set_is_the_longest_beginning_that_fits() {
    let free = made(&recipe("exp-medium", 100, None), 9, 3);
    assert_eq!(free.tasks.len(), 100);
    let capped = made(&recipe("exp-medium", 100, Some(7.5)), 9, 3);
    assert!(capped.drawn <= 7.5 && (20..60).contains(&capped.tasks.len()), "{capped:?}");
    assert_eq!(capped.tasks[..], free.tasks[..capped.tasks.len()]);
    let one_more = made(&recipe("exp-medium", capped.tasks.len() + 1, None), 9, 3);
    assert!(one_more.drawn > 7.5, "{}", one_more.drawn);
    let wide = made(&recipe("exp-medium", 100, Some(1000.0)), 9, 3);
    assert_eq!(wide, free);
    assert!(made(&recipe("uni-heavy", 5, Some(0.4)), 9, 3).tasks.is_empty());
}

#[test]
fn whoever_changes_one_thing_keeps_the_others() {
    let plain = recipe("randfixedsum", 40, Some(9.0));
    let all = made(&plain, 1, 2).tasks;
    let other = |change: fn(&mut Recipe)| {
        let mut recipe = plain.clone();
        change(&mut recipe);
        made(&recipe, 1, 2).tasks
    };
    let periods = other(|it| it.periods = "uniform 20-50 ms".parse().expect("periods"));
    let deadlines = other(|it| it.deadlines = "uni-arbitrary".parse().expect("deadlines"));
    let utilizations = other(|it| it.utilizations = "exp-light".parse().expect("utilizations"));
    let sets = other(|it| it.working_sets = "1-2 KiB".parse().expect("working sets"));
    assert_eq!((utilizations.len(), sets.len()), (40, 40));
    for (n, task) in all.iter().enumerate() {
        assert_eq!(periods[n].wss_kb, task.wss_kb);
        assert_eq!(
            (utilizations[n].period_us, utilizations[n].wss_kb),
            (task.period_us, task.wss_kb)
        );
        let but_deadline = (task.wcet_us, task.period_us, task.wss_kb);
        assert_eq!(
            (deadlines[n].wcet_us, deadlines[n].period_us, deadlines[n].wss_kb),
            but_deadline
        );
        assert_eq!((sets[n].wcet_us, sets[n].period_us), (task.wcet_us, task.period_us));
    }
    assert_ne!(made(&plain, 1, 3).tasks, all);
    assert_ne!(made(&plain, 2, 2).tasks, all);
}

#[test]
fn working_sets_reach_both_ends_and_no_further() {
    let working_sets = "4-7 KiB".parse().expect("working sets");
    let set = made(&Recipe { working_sets, ..recipe("uni-medium", 20_000, None) }, 10, 0);
    let all = set.tasks.iter().map(|task| f64::from(task.wss_kb)).collect();
    assert_like(all, |kb| ((kb - 3.0) / 4.0).clamp(0.0, 1.0), "4-7 KiB");
}

/// The correlation of two samples; 0 is none.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let off = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| value - mean).collect::<Vec<f64>>()
    };
    let (a, b) = (off(a), off(b));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

#[test]
fn what_is_drawn_for_one_thing_says_nothing_of_another() {
    const TASKS: usize = 20_000;
    let plain = recipe("uni-medium", TASKS, None);
    let periods = "uniform 100-1000 ms".parse().expect("periods");
    let deadlines = "uni-constrained".parse().expect("deadlines");
    let set = made(&Recipe { periods, deadlines, ..plain }, 11, 0);
    let of = |value: fn(&Sporadic) -> f64| set.tasks.iter().map(value).collect::<Vec<f64>>();
    let drawn = [
        of(|task| task.wcet_us as f64 / task.period_us as f64),
        of(|task| task.period_us as f64),
        of(|task| {
            (task.deadline_us - task.wcet_us) as f64 / (task.period_us - task.wcet_us) as f64
        }),
        of(|task| task.wss_kb.into()),
    ];
    for (n, a) in drawn.iter().enumerate() {
        for (m, b) in drawn[..n].iter().enumerate() {
            let correlation = correlation(a, b);
            assert!(correlation.abs() < 4.0 / (TASKS as f64).sqrt(), "{n}, {m}: {correlation}");
        }
    }
}

/// FNV-1a of all numbers in some sets.
fn digest(recipe: &Recipe) -> u64 {
    let maker = recipe.maker().expect("a recipe");
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    let mut word = |word: u64| {
        digest = (digest ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        digest ^= digest >> 29;
    };
    for number in 0..5 {
        let set = maker.make(2026, number).expect("a set");
        word(set.drawn.to_bits());
        word(set.tasks.len() as u64);
        for task in set.tasks.iter() {
            let times = [task.wcet_us, task.period_us, task.deadline_us];
            times.into_iter().chain([task.wss_kb.into()]).for_each(&mut word);
        }
    }
    digest
}

/// The digests of the first sets of a seed; each with another kind of deadlines.
const DIGESTS: [(&str, u64); 11] = [
    ("randfixedsum", 0xde47_6399_f0ef_0e87),
    ("uunifast-discard", 0x5a8e_50a8_532d_de8c),
    ("uni-light", 0xf49d_9143_c1e3_13f5),
    ("uni-medium", 0xf157_c310_34de_5a2b),
    ("uni-heavy", 0x4cc1_061e_c6b6_bc8e),
    ("exp-light", 0x4f0a_a74d_ef8c_7fcf),
    ("exp-medium", 0x4bb4_42b2_6e6d_5f72),
    ("exp-heavy", 0xeae0_1fbc_b965_a247),
    ("bimo-light", 0xe085_c381_cecd_1cfd),
    ("bimo-medium", 0x39f6_899b_ddb9_7066),
    ("bimo-heavy", 0x8b80_9045_e0a2_e9ee),
];

#[test]
fn a_seed_gives_the_same_sets_everywhere() {
    assert_eq!(UTILIZATIONS.len(), DIGESTS.len(), "every distribution has one");
    for (n, (name, expected)) in DIGESTS.into_iter().enumerate() {
        let periods = ["log-uniform 1-1000 ms", "uniform 10-100 ms"][n % 2];
        let is = digest(&Recipe {
            periods: periods.parse().expect("periods"),
            deadlines: DEADLINES[n % 3].0,
            ..recipe(name, 48, Some(7.3))
        });
        assert_eq!(is, expected, "{name}: {is:#x}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    for (value, name, _) in UTILIZATIONS {
        assert_eq!(name.parse().as_ref(), Ok(value));
        assert_eq!(value.to_string(), *name);
    }
    for (value, name, _) in DEADLINES {
        assert_eq!(name.parse().as_ref(), Ok(value));
        assert_eq!(value.to_string(), *name);
    }
    for text in [
        "uniform 3-33 ms",
        "log-uniform 10-100 ms",
        "log-uniform 1-1000 ms by 500 us",
        "uniform 1-2 s",
        "uniform 500-1500 us by 250 us",
    ] {
        let periods: Periods = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(periods.to_string().parse(), Ok(periods), "{text}");
    }
    let same = |a: &str, b: &str| assert_eq!(a.parse::<Periods>(), b.parse());
    same(" uniform  10-100ms by 5ms ", "uniform 10-100 ms by 5 ms");
    same("uniform 10-100 ms", "uniform 10000-100000 us by 1000 us");
    assert_eq!(
        "uniform 10000-100000 us by 1 ms".parse::<Periods>().expect("periods").to_string(),
        "uniform 10-100 ms"
    );
    let sets: WorkingSets = "4-512 KiB".parse().expect("sets");
    assert_eq!((sets, sets.to_string().as_str()), (Default::default(), "4-512 KiB"));
}

/// The error for a text or a recipe that makes no sense, with its help.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, what: &str, help: &str) {
    let error = result.expect_err("it makes no sense");
    assert!(error.to_string().contains(what), "{error}");
    assert!(error.help().contains(help), "{}", error.help());
}

#[test]
fn slips_of_the_pen_are_named() {
    let utilizations = |text: &str| text.parse::<Utilizations>();
    refused(utilizations("uni-ligth"), "`uni-ligth` is not one of", "did you mean `uni-light`?");
    refused(utilizations("RandFixedSum"), "is not one of", "did you mean `randfixedsum`?");
    refused(utilizations("pareto"), "`pareto` is not one of", "use one of randfixedsum, uunifast");
    refused("constrained".parse::<Deadlines>(), "not one of the kinds of d", "uni-constrained");
    let periods = |text: &str| text.parse::<Periods>();
    refused(periods("loguniform 1-2 ms"), "spreads of periods", "did you mean `log-uniform`?");
    for text in [
        "uniform",
        "uniform 10-100",
        "uniform 10 ms",
        "uniform 10-100 min",
        "uniform -5-10 ms",
        "uniform +5-10 ms",
        "uniform 1.5-10 ms",
        "uniform 1-99999999999999999999 ms",
        "uniform 1-18446744073709551615 s",
        "uniform 10-100 ms by",
        "uniform 10-100 ms by 5",
        "uniform 10-100 ms by 5 KiB",
    ] {
        refused(periods(text), "is not a valid distribution of periods", "`log-uniform 10-100 ms`");
    }
    refused(periods(""), "`` is not one of the spreads", "use one of uniform");
    refused(
        periods("uniform 100-10 ms"),
        "the range from 100000 to 10000 us is empty",
        "log-uniform",
    );
    refused(periods("uniform 0-10 ms"), "a period must be longer than 0", "log-uniform");
    refused(periods("uniform 1-10 ms by 0 ms"), "longer than 0", "log-uniform");
    refused(periods("uniform 1-86401 s"), "longer than a day", "86400 s");
    refused(periods("uniform 10-25 ms by 10 ms"), "multiples of 10000 us", "both ends");
    let sets = |text: &str| text.parse::<WorkingSets>();
    for text in ["", "512", "4-512", "4-512 MB", "4-5000000000 KiB", "a-b KiB"] {
        refused(sets(text), "is not a valid range of working sets", "`4-512 KiB`");
    }
    refused(sets("0-4 KiB"), "the range from 0", "`4-512 KiB`");
    refused(sets("9-4 KiB"), "the range from 9 to 4", "`4-512 KiB`");
}

#[test]
fn sets_that_cannot_be_are_refused() {
    for name in ["randfixedsum", "uunifast-discard"] {
        let refuses = |tasks, total: f64, what: &str, help: &str| {
            refused(recipe(name, tasks, Some(total)).maker(), what, help);
        };
        for total in [8.1, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            refuses(8, total, "8 utilizations from 0 to 1 cannot have the sum", "at most 8");
        }
        refuses(0, 0.5, "a set of 0 tasks", "1 to 4096");
        refuses(MOST_OF_A_SUM + 1, 0.5, "a set of 4097 tasks", "1 to 4096");
        refuses(usize::MAX, 0.5, "tasks", "1 to 4096");
        refused(
            recipe(name, 8, None).maker(),
            "needs the total utilization",
            "sum of the utilizations",
        );
    }
    refused(recipe("exp-light", 0, None).maker(), "a set of 0 tasks", "1 to 1048576");
    refused(recipe("exp-light", usize::MAX, None).maker(), "tasks", "1 to 1048576");
    for cap in [0.0, -1.0, f64::NAN] {
        refused(
            recipe("exp-light", 8, Some(cap)).maker(),
            "no task has a utilization below",
            "above 0",
        );
    }
    // Also if nothing was read from a text.
    let mut bad = recipe("exp-light", 8, None);
    bad.periods.from_us = 0;
    refused(bad.maker(), "longer than 0", "log-uniform");
    let mut bad = recipe("exp-light", 8, None);
    bad.working_sets.to_kb = 3;
    refused(bad.maker(), "the range from 4 to 3", "4-512 KiB");
}
