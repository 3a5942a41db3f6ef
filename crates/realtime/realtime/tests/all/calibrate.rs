//! Parameters of a lock, fitted: those that made figures are found, and nothing else is claimed.

use wastenot_model::machine::{Profile, Section, Spin};
use wastenot_model::{Help, Span};
use wastenot_realtime::calibrate::{Fit, Point, Question, Setting, Statistic, Unusable, overheads};
use wastenot_scenario::measured::{By, Figure};
use wastenot_sim::Overhead;
use wastenot_sim::edf::Design;

const COARSE: Design = Design::Coarse { master: false };

fn profile(lines: u32, fetches: u32, work: u64) -> Profile {
    let mut profile = Profile::X7550_ASSUMED;
    profile.coarse = Section { work: Span(work), lines };
    profile.hardware.fetches = fetches;
    profile
}

/// What a kernel with that profile would show.
fn kernel(profile: Profile, cpus: u32) -> Figure {
    let on = (cpus, cpus.div_ceil(8));
    let max = overheads(Setting::Together, &COARSE, on, profile).seen(Overhead::Schedule).max;
    figure(By::FeatherTrace, "GSN-EDF", cpus, max.0)
}

fn figure(by: By, design: &str, cpus: u32, ns: u64) -> Figure {
    Figure {
        by,
        machine: "here".into(),
        design: design.into(),
        kind: "SCHED".into(),
        cpus,
        sockets: None,
        samples: 1,
        mean_ns: ns,
        median_ns: ns,
        max_ns: ns,
    }
}

fn question(within: f64) -> Question {
    Question {
        base: Profile::X7550_ASSUMED,
        base_name: "x7550-assumed".into(),
        machine: None,
        designs: Vec::new(),
        of: None,
        socket: 8,
        within,
    }
}

#[test]
fn the_pair_that_made_the_figures_is_found() {
    for (lines, fetches) in [(40, 8), (100, 2)] {
        let made = profile(lines, fetches, 1_000);
        let figures = [4, 8, 12, 16].map(|cpus| kernel(made, cpus));
        let found = question(0.01).ask(&figures).expect("figures of a lock");
        let nearest = found.nearest();
        assert_eq!((nearest.fetches, nearest.lines), (fetches, lines), "{nearest:?}");
        assert_eq!((nearest.profile, nearest.off()), (made, 0.0));
        assert!(found.fits());
        let report = found.report("made");
        assert_eq!(report.get("determined"), Some(&true.into()), "{}", report.text());
        assert!(
            report.verdict.contains(&format!("Only pairs with {fetches} fetches")),
            "{}",
            report.verdict
        );
    }
}

#[test]
fn one_figure_has_many_pairs_and_all_of_them_are_told() {
    let figures = [kernel(profile(40, 4, 1_000), 8)];
    let found = question(0.05).ask(&figures).expect("a figure of a lock");
    let report = found.report("one");
    assert!(report.verdict.contains("do not determine"), "{}", report.verdict);
    assert_eq!(report.get("determined"), Some(&false.into()));
    let table = &report.tables[0];
    assert!(table.rows.len() > 2, "{}", report.text());
    // Both ends of every range fit, and what is beyond them does not.
    let wastenot_model::Value::Int(pairs) = report.get("pairs").expect("their number").clone()
    else {
        panic!("a number")
    };
    let mut counted = 0;
    let point = Point {
        setting: Setting::Together,
        spin: None,
        cpus: 8,
        sockets: 1,
        of: Statistic::Max,
        ns: figures[0].max_ns as f64,
    };
    for row in &table.rows {
        let cell = |n: usize| match row[n] {
            wastenot_model::Value::Int(n) => n as u32,
            _ => panic!("{row:?}"),
        };
        let (fetches, from, to) = (cell(0), cell(1), cell(2));
        counted += i64::from(to - from) + 1;
        let off = |lines: u32| {
            let seen = overheads(point.setting, &COARSE, (8, 1), profile(lines, fetches, 1_000));
            (seen.seen(Overhead::Schedule).max.0 as f64 / point.ns - 1.0).abs()
        };
        assert!(off(from) <= 0.05 && off(to) <= 0.05, "{row:?}");
        assert!(from == 0 || off(from - 1) > 0.05, "{row:?}");
        assert!(off(to + 1) > 0.05, "{row:?}");
    }
    assert_eq!(pairs, counted);
}

#[test]
fn figures_that_contradict_each_other_fit_nothing() {
    let figures = [kernel(profile(40, 8, 1_000), 8), kernel(profile(200, 8, 1_000), 8)];
    let found = question(0.1).ask(&figures).expect("figures of a lock");
    assert!(!found.fits());
    let report = found.report("torn");
    assert!(report.verdict.contains("fits the figures within 10 %"), "{}", report.verdict);
    // As near to the one as to the other.
    let residuals = &found.nearest().residuals;
    assert!(residuals[0] > 0.1 && residuals[1] < -0.1, "{residuals:?}");
    assert!((residuals[0] + residuals[1]).abs() < 0.05, "{residuals:?}");
}

/// Threads that decide all the time wait for all others: what is simulated can be worked out by
/// hand.
#[test]
fn threads_wait_for_all_others() {
    let base = profile(0, 3, 400);
    for (cpus, spin) in [(2, Spin::Own), (2, Spin::Ticket), (4, Spin::Ticket), (8, Spin::Own)] {
        let fetched = if spin == Spin::Ticket { 3 * (cpus - 1) } else { 0 };
        let each = 400 + 50 * (10 + 1 + fetched);
        let point = Point {
            setting: Setting::Threads,
            spin: Some(spin),
            cpus,
            sockets: 1,
            of: Statistic::Median,
            ns: f64::from(each * cpus),
        };
        let found = Fit { base, points: vec![point] }.nearest(3);
        assert_eq!(found.lines, 10, "{cpus} {spin:?}: {found:?}");
        assert!(found.off() < 0.002, "{cpus} {spin:?}: {found:?}");
    }
}

#[test]
fn two_kinds_of_locks_determine_a_pair_where_one_does_not() {
    let base = profile(20, 2, 300);
    let each = |lines: u64| 300 + 50 * lines;
    let table = [
        figure(By::Threads, "coarse-ticket", 1, 3 + 300 + 3 * 20),
        figure(By::Threads, "coarse-queued", 2, 2 * each(20 + 1)),
        figure(By::Threads, "coarse-ticket", 2, 2 * each(20 + 1 + 2)),
        figure(By::Threads, "per-cpu", 2, 100),
    ];
    let ask = |figures: &[Figure]| {
        let question = Question { base, ..question(0.01) };
        question.ask(figures).expect("figures of a lock")
    };
    let found = ask(&table);
    let nearest = found.nearest();
    assert_eq!((nearest.fetches, nearest.lines, nearest.profile.coarse.work.0), (2, 20, 300));
    assert_eq!(found.report("both").get("left_out"), Some(&1_u64.into()));
    let queued = Question { base, designs: vec!["coarse-queued".into()], ..question(0.01) };
    let found = queued.ask(&table).expect("figures of a lock");
    let report = found.report("one");
    assert_eq!(report.get("figures"), Some(&1_u64.into()), "{}", report.text());
    assert!(report.verdict.contains("do not determine"), "{}", report.verdict);
}

/// The lines of a profile's file, but for what it says of itself.
fn keys(profile: &Profile) -> Vec<String> {
    let file = wastenot_scenario::profile::written(profile, "");
    file.lines().filter(|line| !line.starts_with("about")).map(str::to_owned).collect()
}

#[test]
fn a_profile_says_which_of_its_numbers_are_fitted() {
    let base = Profile::X7550_ASSUMED;
    let threads = [
        figure(By::Threads, "coarse-ticket", 1, 300),
        figure(By::Threads, "coarse-ticket", 2, 2_700),
    ];
    let kernel = [kernel(profile(40, 4, 1_000), 8)];
    for (figures, known) in [
        (&threads[..], &["fetches", "coarse", "heap_step", "hand_off"][..]),
        (&kernel, &["fetches", "coarse"]),
    ] {
        let found = question(0.01).ask(figures).expect("figures of a lock");
        let about = found.about();
        let made = keys(&found.nearest().profile);
        let differ = keys(&base).into_iter().zip(&made).filter(|(base, made)| base != *made);
        for (line, _) in differ {
            let key = line.split(' ').next().expect("a key");
            assert!(known.contains(&key) && about.contains(key), "{key}: {about}");
        }
        let told = found.report("made").assumptions.join("\n");
        for key in ["heap_step", "hand_off"] {
            let is_zero = made.contains(&format!("{key} = \"0ns\""));
            assert_eq!(is_zero, known.contains(&key), "{made:?}");
            assert_eq!(told.contains(key) && about.contains(key), is_zero, "{told}\n{about}");
        }
        assert!(about.ends_with("all other values are from x7550-assumed"), "{about}");
    }
}

#[test]
fn whose_figure_is_typed_is_not_asked() {
    let typed = Figure { machine: String::new(), ..kernel(profile(40, 4, 1_000), 8) };
    let found = question(0.05).ask(&[typed]).expect("a figure of a lock");
    let text = found.report("typed").text();
    assert!(!text.contains("measured"), "{text}");
    assert!(found.about().contains("fitted to 1 figure, with an error of"), "{}", found.about());
}

#[test]
fn what_does_not_belong_together_is_told() {
    let threads = figure(By::Threads, "coarse-ticket", 2, 500);
    let kernel = figure(By::FeatherTrace, "GSN-EDF", 2, 500);
    let there = Figure { machine: "there".into(), ..threads.clone() };
    let other = Figure { kind: "CXS".into(), ..kernel.clone() };
    let large = Figure { cpus: 2_000, ..kernel.clone() };
    let ask = |figures: &[Figure], machine: Option<&str>| {
        Question { machine: machine.map(str::to_owned), ..question(0.1) }.ask(figures)
    };
    let refused = |figures: &[Figure]| match ask(figures, None) {
        Err(error) => {
            assert!(!error.help().is_empty());
            error
        }
        Ok(found) => panic!("{found:?}"),
    };
    let Unusable::Other { there: kinds } = refused(&[other]) else { panic!("other kinds") };
    assert_eq!(kinds, ["CXS of GSN-EDF"]);
    assert!(matches!(refused(&[threads.clone(), kernel]), Unusable::Mixed));
    assert!(matches!(refused(&[]), Unusable::Other { .. }));
    assert!(matches!(refused(&[large]), Unusable::Large(_)));
    let two = [threads, there];
    let Unusable::Machines { machines } = refused(&two) else { panic!("two machines") };
    assert_eq!(machines, ["here", "there"]);
    let found = ask(&two, Some("ther")).expect("one machine");
    assert!(found.about().contains("of there"), "{}", found.about());
}
