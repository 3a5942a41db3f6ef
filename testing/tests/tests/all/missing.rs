//! A recording in which a CPU's rows are missing: the bounds of its waste contain the value of the
//! complete recording.

use std::path::Path;

use rayon::prelude::*;
use wastenot_check::{Options, check, waste};
use wastenot_experiment::{Bench as _, Sim};
use wastenot_model::{By, Carries, CpuId, Entry, Event, History, How, LossKind, Missing, Time};
use wastenot_read::read;
use wastenot_tests::random::adapted;
use wastenot_tests::reference::{self, Asked};

use crate::traces::{name, traces};
use crate::waste::measured;

/// What is missing in a damaged recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lacks {
    All,
    FirstHalf,
    LastThird,
    /// A fifth, and a row reports it.
    Lost,
}

/// `history` without the rows of `cpu`, and the number of these rows, from a source that does not
/// know what CPUs did when it began. Its window stays: other rows show when that was.
fn without(history: &History, cpu: CpuId, lacks: Lacks) -> (History, usize) {
    let window = history.window();
    let at = |part| Time(window.from.0 + (window.to - window.from).0 / 10 * part);
    let (from, to) = match lacks {
        Lacks::All => (Time(0), Time::MAX),
        Lacks::FirstHalf => (Time(0), at(5)),
        Lacks::LastThird => (at(7), Time::MAX),
        Lacks::Lost => (at(4), at(6)),
    };
    let mut dropped = 0;
    let mut damaged = adapted(history, |entry| {
        let drop = entry.cpu == cpu && from <= entry.time && entry.time < to;
        dropped += usize::from(drop);
        let first = drop && dropped == 1 && lacks == Lacks::Lost;
        let lost = Entry { event: Event::Lost { count: None }, by: By::UNKNOWN, ..entry };
        if first { Some(lost) } else { (!drop).then_some(entry) }
    });
    damaged.head.window = window;
    if lacks != Lacks::Lost {
        damaged.head.carries = damaged.head.carries.without(Carries::START);
    }
    (damaged.tell_early_ends(), dropped)
}

/// One damaged recording.
struct Damaged {
    cpu: CpuId,
    lacks: Lacks,
    dropped: usize,
    /// Whether anything shows that rows are missing.
    shows: bool,
    low: u64,
    high: u64,
}

/// Each CPU's rows removed in turn: all, the first half, the last third, and a fifth in the middle.
fn each_damage(history: &History, cpus: &[CpuId]) -> Vec<Damaged> {
    let kinds = [Lacks::All, Lacks::FirstHalf, Lacks::LastThird, Lacks::Lost];
    let kinds: Vec<_> = cpus.iter().flat_map(|&cpu| kinds.map(|lacks| (cpu, lacks))).collect();
    let measure = |(cpu, lacks)| {
        let (damaged, dropped) = without(history, cpu, lacks);
        let found = Missing::find(&damaged);
        let is_lost = |entry: Entry| matches!(entry.event, Event::Lost { .. }) && entry.cpu == cpu;
        let shows = match lacks {
            Lacks::All | Lacks::FirstHalf => found.iter().any(|missing| missing.cpu == cpu),
            Lacks::LastThird | Lacks::Lost => damaged.entries().any(is_lost),
        };
        let found = waste::measure(&damaged, &Options::default());
        Damaged { cpu, lacks, dropped, shows, low: found.cpu_ns, high: found.cpu_ns_max }
    };
    kinds.into_par_iter().map(measure).filter(|damaged| damaged.dropped > 0).collect()
}

/// The results of all damaged recordings.
#[derive(Default)]
struct Tally {
    cases: usize,
    hidden: Vec<String>,
    /// The cases without last rows, and how many of these show no sign of it.
    ends: (usize, usize),
    wrong: Vec<String>,
    /// Lower bound over exact value, where one CPU of at least eight is missing.
    ratios: Vec<f64>,
}

impl Tally {
    /// The complete recording may itself leave doubt: then the two intervals must overlap; if it
    /// leaves none, the interval must contain the value.
    fn add(&mut self, name: &str, history: &History, cpus: &[CpuId]) {
        let exact = waste::measure(history, &Options::default());
        for it in each_damage(history, cpus) {
            self.cases += 1;
            self.ends.0 += usize::from(it.lacks == Lacks::LastThird);
            let told = format!(
                "{name} without {:?} of CPU {}, {} rows: {}..={}, complete {}..={}",
                it.lacks, it.cpu, it.dropped, it.low, it.high, exact.cpu_ns, exact.cpu_ns_max
            );
            let holds = it.low <= exact.cpu_ns_max && it.high >= exact.cpu_ns;
            match (holds, it.shows) {
                (true, _) => {}
                (false, true) => self.wrong.push(told),
                (false, false) if it.lacks == Lacks::LastThird => self.ends.1 += 1,
                (false, false) => self.hidden.push(told),
            }
            if it.lacks == Lacks::All && exact.cpu_ns > 0 && history.cpu_count() >= 8 {
                self.ratios.push(it.low as f64 / exact.cpu_ns as f64);
            }
        }
    }

    fn judge(mut self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        // Nothing outside those few rows shows that they are missing.
        let hidden = self.hidden.len();
        let told = self.hidden.join("\n");
        assert!(hidden * 200 <= self.cases, "{hidden} of {}:\n{told}", self.cases);
        // Other CPUs show less often what a CPU did last.
        let (ends, unseen) = self.ends;
        assert!(unseen * 8 <= ends, "{unseen} of {ends} early ends");
        self.ratios.sort_by(f64::total_cmp);
        let median = self.ratios[self.ratios.len() / 2];
        let cases = self.cases;
        println!("{cases} damaged, {hidden} and {unseen} show nothing, median {median:.3}");
        assert!(median >= 0.5, "the lower bound is {median} of the exact value");
    }
}

#[test]
fn the_bounds_of_a_damaged_recording_hold_the_value_of_the_complete_one() {
    let mut tally = Tally::default();
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        let Ok(history) = read(&bytes, &wastenot_read::Options::default()) else { continue };
        if Missing::find(&history).is_empty() {
            let cpus: Vec<CpuId> = history.cpus().collect();
            tally.add(&name(&path), &history, &cpus);
        }
    }
    assert!(tally.cases > 2_000, "{}", tally.cases);
    tally.judge();
}

/// Scenarios of the seeds with their first seed; of large ones only the beginning.
#[test]
fn the_bounds_of_a_damaged_simulation_hold_the_value_of_the_complete_one() {
    let mut tally = Tally::default();
    for name in ["group-imbalance-make", "scheduling-groups-cg", "wake-affine-h2", "workpile"] {
        let file = format!("scenarios/seeds/{name}.toml");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        let text = std::fs::read_to_string(&file).expect("a scenario");
        let scenario = wastenot_experiment::scenario(name, &text).unwrap_or_else(|e| panic!("{e}"));
        let options = wastenot_sim::Options { limit: Time(400_000_000), ..Default::default() };
        for variant in scenario.variants.iter().take(1) {
            let ran = Sim.run(variant, &options).unwrap_or_else(|e| panic!("{e}"));
            let cpus: Vec<CpuId> = ran.history.cpus().collect();
            tally.add(name, &ran.history, &cpus[..cpus.len().min(8)]);
        }
    }
    assert!(tally.cases > 20, "{}", tally.cases);
    tally.judge();
}

/// One kind of row removed: what is left must not claim more certainty than the whole.
fn without_kind(history: &History, carries: Carries, is: impl Fn(&Event) -> bool) -> History {
    let window = history.window();
    let mut less = adapted(history, |entry| (!is(&entry.event)).then_some(entry));
    less.head.window = window;
    less.head.carries = less.head.carries.without(carries);
    less
}

#[test]
fn the_bounds_of_a_recording_without_a_kind_of_event_hold_the_value_of_the_complete_one() {
    let (mut wrong, mut cases, mut ratios) = (Vec::new(), 0, Vec::new());
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        let Ok(history) = read(&bytes, &wastenot_read::Options::default()) else { continue };
        let measure = |history: &History| waste::measure(history, &Options::default());
        let exact = measure(&history);
        type Is = fn(&Event) -> bool;
        let kinds: [(&str, Carries, Is); 7] = [
            ("moves", Carries::MIGRATIONS, |it| matches!(it, Event::Migrate { .. })),
            ("wakeups of new tasks", Carries::NEW, |it| {
                matches!(it, Event::Queued { how: How::New, .. })
            }),
            ("wakeups", Carries::WAKEUPS, |it| {
                matches!(it, Event::Queued { how: How::Wakeup | How::NoSelection, .. })
            }),
            ("wakings", Carries::WAKINGS, |it| matches!(it, Event::Waking { .. })),
            ("forks", Carries::FORKS, |it| matches!(it, Event::Fork { .. })),
            ("execs", Carries::EXECS, |it| matches!(it, Event::Exec { .. })),
            ("exits", Carries::EXITS, |it| matches!(it, Event::Exit { .. })),
        ];
        for (kind, carries, is) in kinds {
            let found = measure(&without_kind(&history, carries, is));
            cases += 1;
            if kind == "wakeups" && exact.cpu_ns > 0 {
                ratios.push(found.cpu_ns as f64 / exact.cpu_ns as f64);
            }
            if found.cpu_ns > exact.cpu_ns_max || found.cpu_ns_max < exact.cpu_ns {
                wrong.push(format!(
                    "{} without {kind}: {}..={}, complete {}..={}",
                    name(&path),
                    found.cpu_ns,
                    found.cpu_ns_max,
                    exact.cpu_ns,
                    exact.cpu_ns_max
                ));
            }
        }
        // Without switches nothing is known.
        let is = |it: &Event| matches!(it, Event::Switch { .. });
        let silent = without_kind(&history, Carries::START, is);
        if silent.head.start.is_none() {
            assert_eq!(measure(&silent).known_ns, 0, "{}", name(&path));
        }
    }
    assert!(cases > 300, "{cases}");
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    assert!(median >= 0.5, "without wakeups the lower bound is {median} of the exact value");
}

/// For each recording another CPU: the first half of its rows, and a fifth of them.
#[test]
fn the_slow_reference_measures_damaged_recordings_alike() {
    let mut unlike = Vec::new();
    for (n, path) in traces().into_iter().enumerate() {
        let bytes = std::fs::read(&path).expect("readable");
        let Ok(history) = read(&bytes, &wastenot_read::Options::default()) else { continue };
        let cpu = CpuId((n * 5 % history.cpu_count()) as u16);
        for lacks in [Lacks::All, Lacks::FirstHalf, Lacks::LastThird, Lacks::Lost] {
            let (damaged, _) = without(&history, cpu, lacks);
            let ours = measured(&damaged, &Asked::ALL);
            let theirs = reference::measure(&damaged, &Asked::ALL);
            if ours != theirs {
                unlike.push(format!("{} {cpu} {lacks:?}\n{ours:?}\n{theirs:?}", name(&path)));
            }
        }
    }
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}

#[test]
fn a_report_tells_what_shows_that_a_cpu_is_missing() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/5.10-b8x8-make.dat");
    let bytes = std::fs::read(file).expect("readable");
    let whole = read(&bytes, &wastenot_read::Options::default()).expect("a recording");
    let exact = waste::measure(&whole, &Options::default()).cpu_ns;
    assert_eq!(Missing::find(&whole), []);
    let (damaged, _) = without(&whole, CpuId(0), Lacks::All);
    let options = Options::default();
    let found = check(&damaged, &options);
    assert!(found.waste.cpu_ns <= exact && exact < found.waste.cpu_ns_max);
    assert!(found.waste.cpu_ns * 2 > exact, "{} of {exact}", found.waste.cpu_ns);
    let report = found.report(&damaged, &options);
    let losses = report.losses.iter().filter(|loss| loss.kind == LossKind::Missing);
    let losses: Vec<_> = losses.collect();
    assert_eq!(losses.len(), 1, "{losses:?}");
    assert_eq!(losses[0].cpu, Some(CpuId(0)));
    assert!(losses[0].note.starts_with("all events of this CPU are missing: "), "{losses:?}");
}
