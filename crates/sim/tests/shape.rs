//! The shape of Cerqueira, Vanga, Brandenburg, "Scaling global scheduling with message passing"
//! (RTAS 2014), over every pair of parameters that fits the one figure that was published.

use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_model::{Span, Time};
use wastenot_sim::edf::{
    Design, Mailboxes, Overheads, Profile, Real, Rule, Section, Worst, run, synchronous,
};
use wastenot_sim::{Options, Overhead, Prices, Spin};

/// How often whoever waits for a ticket lock fetches its line when it is handed on; nobody has told.
const FETCHES: [u32; 5] = [0, 2, 4, 8, 9];
const CPUS: [u32; 4] = [8, 16, 32, 64];
/// The one figure: the longest that GSN-EDF took at 64 CPUs.
const PUBLISHED_US: f64 = 3_000.0;

fn profile((lines, fetches): (u32, u32), spin: Spin) -> Profile {
    let assumed = Profile::X7550_ASSUMED;
    Profile {
        hardware: Prices { fetches, ..assumed.hardware },
        coarse: Section { lines, ..assumed.coarse },
        spin,
        ..assumed
    }
}

/// Four tasks a CPU that use half of the machine and begin together: all alike, so that jobs end
/// together, too, or of 10 to 100 ms by chance.
fn tasks(cpus: u32, alike: bool) -> TaskSet {
    let mut random = Random::stream(1, 0, 0);
    let tasks = (0..4 * cpus).map(|_| {
        let period = if alike { 20_000 } else { 10_000 + random.below(90_000) };
        Sporadic::implicit(period / 8, period)
    });
    TaskSet::new(tasks.collect()).expect("a task set")
}

fn overheads(cpus: u32, alike: bool, design: &Design, profile: Profile) -> Overheads {
    let sockets = cpus / 8;
    let text = format!("pack:{sockets} numa:1 l3:1 core:8 pu:1");
    let machine = wastenot_scenario::machine(&text).expect("a machine");
    let tasks = tasks(cpus, alike);
    let design = design.clone();
    let real = Real { design, rule: Rule::default(), profile };
    let options = Options { limit: Time(Span::ms(200).0), ..Options::default() };
    run(&machine, &tasks, &real, &options, synchronous(&tasks), |_| {}).2
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
    let most = |&cpus: &u32| us(overheads(cpus, true, design, profile).seen(kind).max);
    CPUS.iter().map(most).collect()
}

fn mean(cpus: u32, design: &Design, profile: Profile) -> f64 {
    us(overheads(cpus, false, design, profile).seen(Overhead::Schedule).mean())
}

const COARSE: Design = Design::Coarse { master: false };
const PER_CPU: Design = Design::PerCpu { master: false, budget: Some(200) };
const MESSAGES: Design = Design::Messages(Mailboxes::Shared(8));

/// So many lines under the one lock that GSN-EDF takes as long as was published.
fn fit(fetches: u32) -> u32 {
    let most = |lines: u32| {
        let profile = profile((lines, fetches), Spin::Ticket);
        us(overheads(64, true, &COARSE, profile).seen(Overhead::Schedule).max)
    };
    let (mut low, mut high) = (0_u32, 2_000_u32);
    while high - low > 1 {
        let middle = low.midpoint(high);
        *(if most(middle) < PUBLISHED_US { &mut low } else { &mut high }) = middle;
    }
    high
}

#[test]
fn one_lock_does_not_scale_many_do_on_average_and_messages_do() {
    let mut pulls = Vec::new();
    for fetches in FETCHES {
        let pair = (fit(fetches), fetches);
        let ticket = profile(pair, Spin::Ticket);
        let one = maxima(&COARSE, ticket, Overhead::Schedule);
        let line = profile(pair, Spin::Own);
        let alone = maxima(&COARSE, line, Overhead::Schedule);
        // Faster than linearly; by how much more than with a line for each CPU is the ticket's own.
        assert!(slope(&one) > 1.05, "{pair:?}: {one:?}");
        assert!(slope(&one) >= slope(&alone), "{pair:?}: {one:?}, {alone:?}");
        if fetches > 0 {
            assert!(slope(&one) > slope(&alone) + 0.05, "{pair:?}: {one:?}, {alone:?}");
        }
        // Many locks: shorter on average.
        let means = [&COARSE, &PER_CPU, &MESSAGES].map(|design| mean(64, design, ticket));
        assert!(means[1] < means[0], "{pair:?}: {means:?}");
        // Messages: clients take what they took, and wait for the processor.
        let client = maxima(&MESSAGES, ticket, Overhead::Schedule);
        assert!(slope(&client) < 0.3, "{pair:?}: {client:?}");
        let request = maxima(&MESSAGES, ticket, Overhead::RequestLatency);
        assert!((0.8..1.5).contains(&slope(&request)), "{pair:?}: {request:?}");
        assert!(client[3] < one[3] / 20.0, "{pair:?}: {client:?}, {one:?}");
        pulls.push((slope(&bounds(&line)), slope(&bounds(&ticket))));
    }
    // The worst case of many locks is quadratic; tickets make it worse.
    assert!(pulls.iter().all(|(line, _)| (1.9..2.2).contains(line)), "{pulls:?}");
    assert!(pulls.iter().skip(1).all(|(line, ticket)| ticket > line), "{pulls:?}");
}

/// How long a pull may take, by CPUs.
fn bounds(profile: &Profile) -> Vec<f64> {
    let bound = |&cpus: &u32| {
        let (cpus, tasks) = (cpus as usize, 4 * cpus as usize);
        us(Worst { profile, cpus, tasks }.pull().expect("nobody waits for ever"))
    };
    CPUS.iter().map(bound).collect()
}
