//! The shape of Cerqueira, Vanga, Brandenburg, "Scaling global scheduling with message passing"
//! (RTAS 2014), over every pair of parameters that fits the one figure that was published.

use std::path::Path;

use rayon::prelude::*;
use wastenot_lab::calibrate::{Fit, Point, Setting, Statistic, overheads};
use wastenot_model::Span;
use wastenot_sim::edf::{Design, Mailboxes, Overheads, Profile, Server, Worst};
use wastenot_sim::{Overhead, Spin};

/// How often whoever waits for a ticket lock fetches its line when it is handed on: not published.
const FETCHES: [u32; 5] = [0, 2, 4, 8, 9];
const CPUS: [u32; 4] = [8, 16, 32, 64];
/// The one figure: the longest that GSN-EDF took at 64 CPUs.
const PUBLISHED_NS: f64 = 3_000_000.0;

fn timed(cpus: u32, setting: Setting, design: &Design, profile: Profile) -> Overheads {
    overheads(setting, design, (cpus, cpus / 8), profile)
}

/// How `values` grow with the CPUs: the exponent, from the first to the last.
fn slope(values: &[f64]) -> f64 {
    let doublings = f64::from(CPUS[CPUS.len() - 1] / CPUS[0]).log2();
    (values[values.len() - 1] / values[0]).log2() / doublings
}

fn us(span: Span) -> f64 {
    span.0 as f64 / 1_000.0
}

fn maxima(design: &Design, profile: Profile, kind: Overhead) -> Vec<f64> {
    let most = |&cpus: &u32| us(timed(cpus, Setting::Together, design, profile).seen(kind).max);
    CPUS.iter().map(most).collect()
}

fn mean(cpus: u32, design: &Design, profile: Profile) -> f64 {
    us(timed(cpus, Setting::Apart, design, profile).seen(Overhead::Schedule).mean())
}

const COARSE: Design = Design::Coarse { master: false };
const PER_CPU: Design = Design::PerCpu { master: false, server: Some(Server::AMPLE) };
const MESSAGES: Design = Design::Messages(Mailboxes::Shared(8));

/// So many lines under the one lock that GSN-EDF takes as long as was published.
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

/// What one pair of parameters gives.
struct Pair {
    lines: u32,
    fetches: u32,
    /// Longest times in the kernel by CPUs, in us: GSN-EDF with ticket locks, and with a line for
    /// each CPU that waits.
    coarse: [Vec<f64>; 2],
    /// What a CPU of SCHED_DEADLINE may take at most, in the same two ways.
    pull: [Vec<f64>; 2],
    /// Of a client of the dedicated processor, and until that reads a message.
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
            pull: profiles.map(|profile| pulls(&profile)),
            client: maxima(&MESSAGES, ticket, Overhead::Schedule),
            request: maxima(&MESSAGES, ticket, Overhead::RequestLatency),
            means: [&COARSE, &PER_CPU, &MESSAGES].map(|design| mean(64, design, ticket)),
        }
    }
}

/// How long a pull may take, by CPUs.
fn pulls(profile: &Profile) -> Vec<f64> {
    let bound = |&cpus: &u32| {
        let (cpus, tasks) = (cpus as usize, 4 * cpus as usize);
        us(Worst { profile, cpus, tasks }.pull().expect("nobody waits for ever"))
    };
    CPUS.iter().map(bound).collect()
}

#[test]
fn one_lock_does_not_scale_many_do_on_average_and_messages_do() {
    let pairs: Vec<Pair> = FETCHES.into_par_iter().map(Pair::of).collect();
    for pair in &pairs {
        let at = format!("{} lines, {} fetches", pair.lines, pair.fetches);
        let [ticket, own] = pair.coarse.each_ref().map(|maxima| slope(maxima));
        // Faster than linearly; by how much more than with a line for each CPU is the ticket's own.
        assert!(ticket > 1.05 && ticket >= own, "{at}: {ticket} {own}");
        assert!(pair.fetches == 0 || ticket > own + 0.05, "{at}: {ticket} {own}");
        // Many locks: shorter on average, quadratic in the worst case, and worse with tickets.
        assert!(pair.means[1] < pair.means[0], "{at}: {:?}", pair.means);
        let [ticket, own] = pair.pull.each_ref().map(|bounds| slope(bounds));
        assert!((1.9..2.2).contains(&own), "{at}: {own}");
        assert!(pair.fetches == 0 || ticket > own, "{at}: {ticket} {own}");
        // Messages: clients take what they took, and wait for the processor.
        assert!(slope(&pair.client) < 0.3, "{at}: {:?}", pair.client);
        assert!((0.8..1.5).contains(&slope(&pair.request)), "{at}: {:?}", pair.request);
        assert!(pair.client[3] < pair.coarse[0][3] / 20.0, "{at}: {:?}", pair.client);
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/message-passing.md");
    wastenot_golden::page_holds(page, [("simulated", table(&pairs))]);
}

fn table(pairs: &[Pair]) -> String {
    let mut text = String::from(
        "| fetches | lines | GSN-EDF, ticket | its slope | a line each | pull, a line each | pull, \
         ticket | client | request | means at 64 |\n|---|---|---|---|---|---|---|---|---|---|\n",
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
            format!("{:.2}", slope(&it.pull[1])),
            format!("{:.2}", slope(&it.pull[0])),
            row(&it.client, 1),
            row(&it.request, 0),
            row(&it.means, 1),
        ];
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}
