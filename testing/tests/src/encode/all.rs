//! Every way of writing a History that the encoders know, chosen by a seed.

use wastenot_model::{Entry, Event, History};

use super::Tamper;
use super::perf::{Perf, Zstd, perf_data};
use super::perfetto::{Perfetto, Wrap, perfetto};
use super::ring::Ring;
use super::text::{Text, text};
use super::tracedat::{Compression, TraceDat, Version, trace_dat};
use super::tracepoint::{CommLayout, Layout, STATES_NEW, STATES_OLD};
use super::wn::{Wn, wn};
use crate::Rng;
use crate::random::{Plan, Telling, adapted, spread, without_preemption};

/// A family of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// trace.dat.
    TraceDat,
    /// perf.data.
    PerfData,
    /// Perfetto.
    Perfetto,
    /// What tools print.
    Text,
    /// The own format.
    Own,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 5] =
        [Family::TraceDat, Family::PerfData, Family::Perfetto, Family::Text, Family::Own];
}

/// A History and a file that contains it.
pub struct Encoded {
    /// How it was written, for messages.
    pub how: String,
    /// What it should be read as.
    pub history: History,
    /// Whether it is arrays of switches and wakings, which do not contain the task that left.
    pub arrays: bool,
    /// Digits of stamps that the format does not print.
    pub grain_ns: u64,
    /// The file.
    pub bytes: Vec<u8>,
}

/// One History in one form of the family.
pub fn encoded(family: Family, seed: u64, steps: usize) -> Encoded {
    made(family, seed, steps, Tamper::NOT)
}

/// The same with damaged pieces.
pub fn tampered(family: Family, seed: u64, steps: usize, tamper: Tamper) -> Vec<u8> {
    made(family, seed, steps, tamper).bytes
}

fn made(family: Family, seed: u64, steps: usize, tamper: Tamper) -> Encoded {
    let mut rng = Rng::new(seed ^ 0x5eed);
    match family {
        Family::TraceDat => trace_dats(&mut rng, seed, steps, tamper),
        Family::PerfData => perfs(&mut rng, seed, steps, tamper),
        Family::Perfetto => perfettos(&mut rng, seed, steps, tamper),
        Family::Text => texts(&mut rng, seed, steps, tamper),
        Family::Own => owns(&mut rng, seed, steps, tamper),
    }
}

fn plan(seed: u64, steps: usize, telling: Telling, grain_ns: u64) -> History {
    Plan { seed, steps, grain_ns, telling: Some(telling), contradicts: Some(false) }.history()
}

fn telling(rng: &mut Rng) -> Telling {
    rng.pick(&[Telling::Ftrace, Telling::PerfSched, Telling::Wakeups])
}

fn layout(rng: &mut Rng) -> Layout {
    Layout {
        big: rng.one_in(3),
        long: rng.pick(&[8, 8, 4]),
        comm: rng.pick(&[CommLayout::Array, CommLayout::DataLoc, CommLayout::RelLoc]),
        first_id: rng.pick(&[20, 316, 1500]),
        gap: rng.pick(&[0, 0, 8]),
        states: rng.pick(&[&STATES_NEW, &STATES_OLD]),
    }
}

fn trace_dats(rng: &mut Rng, seed: u64, steps: usize, tamper: Tamper) -> Encoded {
    let counts = !rng.one_in(3);
    let ring = Ring {
        page: rng.pick(&[4096, 65_536]),
        records: rng.pick(&[3, 50, 10_000]),
        absolute: rng.pick(&[0, 1, 5]),
        discarded: rng.pick(&[0, 4]),
        counts,
    };
    let version = rng.pick(&[
        Version::V6,
        Version::V7(Compression::None),
        Version::V7(Compression::Zlib),
        Version::V7(Compression::Zstd),
    ]);
    let how = TraceDat { layout: layout(rng), ring, version, tamper };
    let history = plan(seed, steps, telling(rng), 1);
    let history = recount(&history, |count| count.filter(|_| counts));
    let bytes = trace_dat(&history, &how);
    Encoded { how: format!("{how:?}"), history, arrays: false, grain_ns: 1, bytes }
}

fn perfs(rng: &mut Rng, seed: u64, steps: usize, tamper: Tamper) -> Encoded {
    let zstd = rng.pick(&[Zstd::Not, Zstd::First, Zstd::Second]);
    let (pipe, round) = (rng.one_in(2), rng.pick(&[1, 10, 1000]));
    let how = Perf { layout: layout(rng), pipe, zstd, round, tamper };
    let history = plan(seed, steps, telling(rng), 1);
    let history = recount(&history, |count| Some(count.unwrap_or(1)));
    let bytes = perf_data(&history, &how);
    Encoded { how: format!("{how:?}"), history, arrays: false, grain_ns: 1, bytes }
}

fn perfettos(rng: &mut Rng, seed: u64, steps: usize, tamper: Tamper) -> Encoded {
    let compact = rng.one_in(2);
    let wrap = rng.pick(&[Wrap::Plain, Wrap::Gzip, Wrap::Packets]);
    let how = Perfetto { compact, wrap, bundle: rng.pick(&[1, 6, 1000]), tamper };
    let telling = if compact { Telling::Compact } else { telling(rng) };
    let history = recount(&plan(seed, steps, telling, 1), |_| None);
    // Two arrays do not show which of two events of one instant came first.
    let history = if compact { spread(&history) } else { history };
    let bytes = perfetto(&history, &how);
    Encoded { how: format!("{how:?}"), history, arrays: compact, grain_ns: 1, bytes }
}

fn texts(rng: &mut Rng, seed: u64, steps: usize, tamper: Tamper) -> Encoded {
    let tools = [Text::Ftrace, Text::Report, Text::ReportPlain, Text::ReportRaw, Text::PerfScript];
    let tool = rng.pick(&tools);
    // ftrace prints microseconds.
    let grain = if tool == Text::Ftrace { 1000 } else { 1 };
    let history = plan(seed, steps, telling(rng), grain);
    let history = match tool {
        Text::Report => without_preemption(&history),
        Text::PerfScript => adapted(&history, |entry| (!is_lost(&entry)).then_some(entry)),
        _ => history,
    };
    let mut bytes = text(&history, tool).into_bytes();
    tamper.piece(0, &mut bytes);
    Encoded { how: format!("{tool:?}"), history, arrays: false, grain_ns: grain, bytes }
}

/// It holds everything that a History does.
fn owns(rng: &mut Rng, seed: u64, steps: usize, tamper: Tamper) -> Encoded {
    let how = Wn::any(rng);
    let history = Plan { steps, ..Plan::small(seed) }.history();
    let mut bytes = wn(&history, &how);
    tamper.piece(0, &mut bytes);
    Encoded { how: format!("{how:?}"), history, arrays: false, grain_ns: 1, bytes }
}

fn is_lost(entry: &Entry) -> bool {
    matches!(entry.event, Event::Lost { .. })
}

/// Losses with the counts that a format can hold.
fn recount(history: &History, told: impl Fn(Option<u32>) -> Option<u32>) -> History {
    adapted(history, |mut entry| {
        if let Event::Lost { count } = &mut entry.event {
            *count = told(*count);
        }
        Some(entry)
    })
}
