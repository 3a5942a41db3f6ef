//! The results of Cerqueira, Vanga, Brandenburg, "Scaling global scheduling with message passing"
//! (RTAS 2014), for every pair of parameters that fits the only published figure.

use std::fs::{self, File};
use std::path::Path;

use rayon::prelude::*;
use wastenot_chance::Worst;
use wastenot_model::Span;
use wastenot_realtime::calibrate::{Fit, Point, Setting, Statistic, overheads};
use wastenot_realtime::overheads::curves;
use wastenot_realtime::sweep::{NAMES, Outcome, Plan, Wanted, Working};
use wastenot_scenario::overheads::read;
use wastenot_scenario::sweep::{Criterion, Curve, sweep};
use wastenot_sim::edf::{Design, Mailboxes, Overheads, Profile, Rules, Server};
use wastenot_sim::{Overhead, Spin};

/// How often a waiter for a ticket lock fetches its line when it is handed on: not published.
const FETCHES: [u32; 5] = [0, 2, 4, 8, 9];
const CPUS: [u32; 4] = [8, 16, 32, 64];
/// The figure: the longest time that GSN-EDF took at 64 CPUs.
const PUBLISHED_NS: f64 = 3_000_000.0;

fn timed(cpus: u32, setting: Setting, design: &Design, profile: Profile) -> Overheads {
    overheads(setting, design, (cpus, cpus / 8), profile)
}

/// How `values` grow with the number of CPUs: the exponent, from the first to the last.
fn slope(values: &[f64]) -> f64 {
    let doublings = f64::from(CPUS[CPUS.len() - 1] / CPUS[0]).log2();
    (values[values.len() - 1] / values[0]).log2() / doublings
}

fn us(span: Span) -> f64 {
    span.0 as f64 / 1_000.0
}

fn maxima(design: &Design, profile: Profile, kind: Overhead) -> Vec<f64> {
    maxima_when(Setting::Together, design, profile, kind)
}

fn maxima_when(setting: Setting, design: &Design, profile: Profile, kind: Overhead) -> Vec<f64> {
    let most = |&cpus: &u32| us(timed(cpus, setting, design, profile).seen(kind).max);
    CPUS.iter().map(most).collect()
}

fn mean(cpus: u32, design: &Design, profile: Profile) -> f64 {
    us(timed(cpus, Setting::Apart, design, profile).seen(Overhead::Schedule).mean())
}

const COARSE: Design = Design::Coarse { master: false };
const PER_CPU: Design = per_cpu(Rules::Heap);
/// As RTAS 2014 measured it.
const V8: Design = per_cpu(Rules::V8);
const MESSAGES: Design = Design::Messages(Mailboxes::Shared(8));

const fn per_cpu(rules: Rules) -> Design {
    Design::PerCpu { master: false, rules, server: Some(Server::AMPLE) }
}

/// The number of lines under the one lock for which GSN-EDF takes as long as published.
fn fit(fetches: u32) -> u32 {
    let published = Point {
        setting: Setting::Together,
        spin: None,
        cpus: 64,
        sockets: 8,
        of: Statistic::Max,
        ns: PUBLISHED_NS,
    };
    let pair = Fit { base: Profile::X7550_ASSUMED, points: vec![published] }.nearest(fetches);
    assert!(pair.off() < 0.005, "{pair:?}");
    pair.lines
}

/// The results of one pair of parameters.
struct Pair {
    lines: u32,
    fetches: u32,
    /// Longest times in the kernel by number of CPUs, in us: GSN-EDF with ticket locks, and with a
    /// separate line for each waiter.
    coarse: [Vec<f64>; 2],
    /// SCHED_DEADLINE when all CPUs pull at once, in the same two variants.
    pull: [Vec<f64>; 2],
    /// Its upper bound, in the same two variants.
    bound: [Vec<f64>; 2],
    /// A client of the dedicated processor, and the time until that processor reads a message.
    client: Vec<f64>,
    request: Vec<f64>,
    /// Means at 64 CPUs, by design.
    means: [f64; 3],
}

impl Pair {
    fn of(fetches: u32) -> Pair {
        let lines = fit(fetches);
        let profiles = [Spin::Ticket, Spin::Own]
            .map(|spin| Profile { spin, ..Profile::X7550_ASSUMED.with_lines(lines, fetches) });
        let ticket = profiles[0];
        Pair {
            lines,
            fetches,
            coarse: profiles.map(|profile| maxima(&COARSE, profile, Overhead::Schedule)),
            pull: profiles
                .map(|profile| maxima_when(Setting::Storm, &V8, profile, Overhead::Schedule)),
            bound: profiles.map(|profile| bounds(&profile, |worst| worst.run_queues(Rules::V8))),
            client: maxima(&MESSAGES, ticket, Overhead::Schedule),
            request: maxima(&MESSAGES, ticket, Overhead::RequestLatency),
            means: [&COARSE, &PER_CPU, &MESSAGES].map(|design| mean(64, design, ticket)),
        }
    }

    /// The power of the number of CPUs with which the worst case of SCHED_DEADLINE grows, in the
    /// same two variants: with so many CPUs that nothing else counts.
    fn power(&self) -> [f64; 2] {
        let profile = Profile::X7550_ASSUMED.with_lines(self.lines, self.fetches);
        [Spin::Ticket, Spin::Own].map(|spin| {
            let [one, two] = [1 << 13, 1 << 14].map(|cpus| {
                let profile = &Profile { spin, ..profile };
                let bound = Worst { profile, cpus, tasks: 4 * cpus }.run_queues(Rules::V8);
                us(bound.expect("nobody waits for ever"))
            });
            (two / one).log2()
        })
    }

    /// The observed times, beside their upper bounds.
    fn bounded(&self) -> [(&'static str, Vec<f64>, Vec<f64>); 8] {
        let profile = Profile::X7550_ASSUMED.with_lines(self.lines, self.fetches);
        let [ticket, own] = [Spin::Ticket, Spin::Own].map(|spin| Profile { spin, ..profile });
        let messages = |kind| maxima(&MESSAGES, ticket, kind);
        let [one, all] = [|_| 1, |tasks| tasks].map(|jobs: fn(usize) -> usize| {
            bounds(&ticket, move |worst| worst.handler(jobs(worst.tasks)))
        });
        [
            ("one lock, ticket", self.coarse[0].clone(), bounds(&ticket, Worst::coarse)),
            ("one lock, a line each", self.coarse[1].clone(), bounds(&own, Worst::coarse)),
            ("pull, ticket", self.pull[0].clone(), self.bound[0].clone()),
            ("pull, a line each", self.pull[1].clone(), self.bound[1].clone()),
            ("client", self.client.clone(), bounds(&ticket, Worst::client)),
            ("request", self.request.clone(), bounds(&ticket, Worst::request)),
            ("handler", messages(Overhead::Handler), one),
            ("release", messages(Overhead::Release), all),
        ]
    }
}

/// The upper bounds, by number of CPUs.
fn bounds<'p>(profile: &'p Profile, bound: impl Fn(&Worst<'p>) -> Option<Span>) -> Vec<f64> {
    let of = |&cpus: &u32| {
        let (cpus, tasks) = (cpus as usize, 4 * cpus as usize);
        us(bound(&Worst { profile, cpus, tasks }).expect("nobody waits for ever"))
    };
    CPUS.iter().map(of).collect()
}

#[test]
fn one_lock_does_not_scale_many_do_on_average_and_messages_do() {
    let pairs: Vec<Pair> = FETCHES.into_par_iter().map(Pair::of).collect();
    for pair in &pairs {
        let at = format!("{} lines, {} fetches", pair.lines, pair.fetches);
        let [ticket, own] = pair.coarse.each_ref().map(|maxima| slope(maxima));
        // Faster than linearly; the excess over the variant with separate lines is due to the
        // ticket.
        assert!(ticket > 1.05 && ticket >= own, "{at}: {ticket} {own}");
        assert!(pair.fetches == 0 || ticket > own + 0.05, "{at}: {ticket} {own}");
        // Many locks: shorter on average, quadratic in the worst case, and worse with tickets.
        assert!(pair.means[1] < pair.means[0], "{at}: {:?}", pair.means);
        let [ticket, own] = pair.bound.each_ref().map(|bounds| slope(bounds));
        assert!(pair.fetches == 0 || ticket > own, "{at}: {ticket} {own}");
        let [ticket, own] = pair.power();
        assert!((1.95..2.05).contains(&own), "{at}: {own}");
        assert!(pair.fetches == 0 || (2.95..3.05).contains(&ticket), "{at}: {ticket}");
        // The observed time when all pull at once grows faster than linearly, too, and is below the
        // bound.
        let [ticket, own] = pair.pull.each_ref().map(|maxima| slope(maxima));
        assert!(own > 1.1 && (pair.fetches == 0 || ticket > own + 0.05), "{at}: {ticket} {own}");
        // Messages: clients take the same time, and wait for the processor.
        assert!(slope(&pair.client) < 0.3, "{at}: {:?}", pair.client);
        assert!((0.8..1.5).contains(&slope(&pair.request)), "{at}: {:?}", pair.request);
        assert!(pair.client[3] < pair.coarse[0][3] / 20.0, "{at}: {:?}", pair.client);
        for (what, seen, bound) in pair.bounded() {
            let within = seen.iter().zip(&bound).all(|(seen, bound)| seen <= bound);
            assert!(within, "{at}: {what}: {seen:?} and {bound:?}");
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/message-passing.md");
    wastenot_golden::page_holds(page, [("simulated", table(&pairs))]);
}

fn table(pairs: &[Pair]) -> String {
    let mut text = String::from(
        "| fetches | lines | GSN-EDF, ticket | its slope | a line each | storm, a line each | its \
         slope | ticket | bound, a line each | ticket | client | request | means at 64 \
         |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let row = |values: &[f64], digits: usize| {
        let words: Vec<String> = values.iter().map(|value| format!("{value:.digits$}")).collect();
        words.join(", ")
    };
    for it in pairs {
        let cells = [
            it.fetches.to_string(),
            it.lines.to_string(),
            row(&it.coarse[0], 0),
            format!("{:.2}", slope(&it.coarse[0])),
            format!("{:.2}", slope(&it.coarse[1])),
            row(&it.pull[1], 0),
            format!("{:.2}", slope(&it.pull[1])),
            format!("{:.2}", slope(&it.pull[0])),
            format!("{:.2}", slope(&it.bound[1])),
            format!("{:.2}", slope(&it.bound[0])),
            row(&it.client, 1),
            row(&it.request, 0),
            row(&it.means, 1),
        ];
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// The measurements, as on the page: a line for each design, number of CPUs and kind.
fn measured() -> String {
    let table = include_str!("../../../../scenarios/measured/epyc-2.csv");
    let ns = |text: &str| text.parse().map_or_else(|_| text.to_owned(), |ns| Span(ns).to_string());
    let mut text = String::from(
        "| design | CPUs | | samples | median | 99 of 100 within | longest |\n\
         |---|---|---|---|---|---|---|\n",
    );
    let columns: Vec<&str> = table.lines().next().unwrap_or_default().split(',').collect();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name| cells[columns.iter().position(|it| *it == name).expect(name)];
        let [median, p99, max] = ["median_ns", "p99_ns", "max_ns"].map(|name| ns(cell(name)));
        let (design, cpus, kind) = (cell("design"), cell("cpus"), cell("kind"));
        let samples = cell("samples");
        text +=
            &format!("| `{design}` | {cpus} | {kind} | {samples} | {median} | {p99} | {max} |\n");
    }
    text
}

#[test]
fn the_page_has_what_was_measured() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/message-passing.md");
    wastenot_golden::page_holds(page, [("measured", measured())]);
}

#[test]
fn messages_meet_more_deadlines_than_locks_and_lose_little_softly() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/sweeps");
    let text = fs::read_to_string(folder.join("message-passing.toml")).expect("the file");
    let mut sweep = sweep("message-passing.toml", &text, &NAMES).expect("a sweep");
    // `make long-messages` judges all of this, for each pair.
    sweep.sets = 10;
    sweep.points.retain(|point| point.cpus == 32);
    let table = |wanted: &Wanted| {
        let file = File::open(folder.join(&wanted.file)).expect("a table");
        let table = read(&wanted.file, file).expect("overheads");
        assert!(
            table.is_told() && table.stranger(wanted.implementation.name(), wanted.cpus).is_none()
        );
        Ok::<_, String>(curves(&table, wanted.criterion).expect("curves").expect("averages"))
    };
    let plan = Plan::new(&sweep, table).expect("a plan");
    let outcome = plan.run(&Working::default(), |_| {}).expect("it runs");
    let Outcome::Whole(swept) = outcome else { panic!("points are missing") };
    for delay in [0, 1000] {
        let accepted = |name: &str, criterion| -> u64 {
            let is = |curve: &&Curve| {
                let own = curve.costs.as_ref().is_none_or(|costs| costs.cache_delay == delay);
                curve.name == name && curve.criterion == criterion && own
            };
            let curve = sweep.curves.iter().position(|curve| is(&curve)).expect(name);
            swept.rows.iter().map(|row| row.count(curve, None)).sum()
        };
        let of = |criterion| {
            ["on m - 1", "GSN-EDF", "SCHED_DEADLINE", "SCHED_DEADLINE v8", "message passing"]
                .map(|name| accepted(name, criterion))
        };
        let [_, locks @ .., messages] = of(Criterion::Hard);
        assert!(locks.iter().all(|lock| messages > lock + 5), "{:?}", of(Criterion::Hard));
        let [spare, .., messages] = of(Criterion::Soft);
        assert!(messages * 10 >= spare * 9, "{:?}", of(Criterion::Soft));
    }
}
