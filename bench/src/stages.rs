//! Where the time of `read` + `check` goes, and the best that the machine could do: the roofline.
//!
//! Everything runs on one thread, on bytes that are in memory, `runs` times. The description of a
//! stage states which earlier stages it includes; the reader can compute differences.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use wastenot_check::{
    Movable, Options as Asked, Scope, check, check_beside, violations, waits, waste,
};
use wastenot_model::{History, Silent, replay};
use wastenot_read::{Options, Until};
use wastenot_view::tiles::Builder;

use crate::dat::{Dat, each_record};
use crate::error::Error;
use crate::perf;

/// Bytes of a row of a History before it is packed, as it was when the roofline was chosen.
const ROW: usize = 24;

/// The stages, in order. Their descriptions are kept with the figures.
const STAGES: &[(&str, &str)] = &[
    ("stream", "sum the file's bytes as 64-bit words"),
    ("copy", "copy the file's bytes"),
    ("rows", "write 24 bytes an event and read them back"),
    ("unpack", "zstd alone, where the file is compressed"),
    ("walk", "find every record's head, decode nothing"),
    ("decode", "file to raw events: unpack, walk, decode"),
    ("merge", "decode + put the CPUs' streams in order"),
    ("read", "merge + identity of tasks + rows: a History"),
    ("entries", "unpack every row into an Entry"),
    ("state", "entries + State, nobody looking"),
    ("survey", "who may move, from names and places"),
    ("waste", "entries + State + waste alone"),
    ("violations", "entries + State + violations alone"),
    ("waits", "entries + State + waits alone"),
    ("check", "survey + entries + State + all findings"),
    ("tiles", "check without causes + tiles"),
    ("report", "the findings as JSON text"),
];

/// Measures all stages of one file.
pub(crate) fn stages(path: &Path, runs: u64) -> Result<Value, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| measure(path, runs.max(1)))
}

fn measure(path: &Path, runs: u64) -> Result<Value, Error> {
    let bytes = fs::read(path)?;
    let options = Options { name: path.display().to_string(), ..Options::default() };
    let history = wastenot_read::read(&bytes, &options)?;
    let source = Source::of(&bytes)?;
    let asked = Asked::default();
    let mut stages = Vec::new();
    for &(name, what) in STAGES {
        let mut seconds = Vec::new();
        for _ in 0..runs {
            let Some(time) = stage(name, &bytes, &source, &history, &options, &asked)? else {
                break;
            };
            seconds.push(time);
        }
        if !seconds.is_empty() {
            stages.push(json!({ "name": name, "what": what, "seconds": seconds }));
        }
    }
    Ok(json!({
        "file_bytes": bytes.len(),
        "record_bytes": source.record_bytes(),
        "rows": history.len(),
        "cpus": history.cpu_count(),
        "tasks": history.task_count(),
        "stages": stages,
    }))
}

/// Seconds that one run of a stage takes; `None` if the stage does not apply.
fn stage(
    name: &str,
    bytes: &[u8],
    source: &Source,
    history: &History,
    options: &Options,
    asked: &Asked,
) -> Result<Option<f64>, Error> {
    Ok(Some(match name {
        "stream" => timed(|| sum(bytes)),
        "copy" => {
            let mut copy = vec![1u8; bytes.len()];
            timed(|| copy.copy_from_slice(black_box(bytes)))
        }
        "rows" => {
            let row = vec![1u8; ROW << 10];
            let mut rows = vec![1u8; ROW * history.len().next_multiple_of(1 << 10)];
            timed(|| {
                rows.chunks_exact_mut(row.len()).for_each(|chunk| chunk.copy_from_slice(&row));
                sum(black_box(&rows))
            })
        }
        "unpack" if source.is_packed() => source.unpack(bytes)?,
        "unpack" => return Ok(None),
        "walk" => timed(|| source.walk()),
        "decode" | "merge" => {
            let until = if name == "decode" { Until::Decoded } else { Until::Merged };
            let options = Options { until, ..options.clone() };
            timed(|| wastenot_read::read(bytes, &options).map(|history| history.len()))
        }
        "read" => timed(|| wastenot_read::read(bytes, options).map(|history| history.len())),
        "entries" => timed(|| history.entries().fold(0, |sum, entry| sum ^ entry.time.0)),
        "state" => timed(|| replay(history, Silent::Unknown, &mut ())),
        "survey" => timed(|| Movable::survey(history)),
        "waste" | "violations" | "waits" => observed(name, history, asked),
        "check" => timed(|| check(history, asked)),
        "tiles" => {
            let asked = Asked { causes: false, ..asked.clone() };
            let mut spilled = Vec::new();
            let mut tiles = Builder::new(history, &mut spilled);
            timed(|| check_beside(history, &asked, &mut tiles))
        }
        "report" => {
            let found = check(history, asked);
            timed(|| serde_json::to_string(&found.report(history, asked)).map(|text| text.len()))
        }
        _ => unreachable!("every stage of the table has its arm"),
    }))
}

/// CPU time of this thread, which other programs on the machine disturb least. The result is
/// dropped after the clock has stopped.
fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let begin = ThreadTime::now();
    let made = black_box(work());
    let seconds = begin.elapsed().as_secs_f64();
    drop(made);
    seconds
}

/// A replay with one observer; which tasks may move is known.
fn observed(name: &str, history: &History, asked: &Asked) -> f64 {
    let (movable, scope) = (Movable::survey(history), Scope::new(history, asked));
    match name {
        "waste" => {
            let mut watch = waste::Waste::new(history, &scope, &movable, asked);
            timed(|| replay(history, asked.silent, &mut watch))
        }
        "violations" => {
            let mut watch = violations::Watch::new(history, &scope, &movable, asked);
            timed(|| replay(history, asked.silent, &mut watch))
        }
        _ => {
            let mut watch = waits::Watch::new(history, &scope);
            timed(|| replay(history, asked.silent, &mut watch))
        }
    }
}

fn sum(bytes: &[u8]) -> u64 {
    let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
    bytes.chunks_exact(8).map(word).fold(0, u64::wrapping_add)
}

/// The records of a file, unpacked beforehand.
enum Source {
    Perf { records: Vec<u8>, packed: bool },
    Dat { lanes: Vec<Vec<u8>>, page_size: usize, packed: bool },
}

impl Source {
    fn of(bytes: &[u8]) -> Result<Source, Error> {
        if perf::is_perf(bytes) {
            let unpacked = perf::unpack(bytes)?;
            let packed = !unpacked.is_empty();
            let records = if packed { unpacked } else { perf::records(bytes)?.to_vec() };
            return Ok(Source::Perf { records, packed });
        }
        let dat = Dat::parse(bytes.to_vec())?;
        let lanes = dat.lanes.iter().map(|lane| Ok(dat.pages(lane)?.into_owned()));
        let lanes = lanes.collect::<Result<_, Error>>()?;
        Ok(Source::Dat { lanes, page_size: dat.page_size, packed: dat.is_packed() })
    }

    fn is_packed(&self) -> bool {
        match self {
            Source::Perf { packed, .. } | Source::Dat { packed, .. } => *packed,
        }
    }

    fn record_bytes(&self) -> usize {
        match self {
            Source::Perf { records, .. } => records.len(),
            Source::Dat { lanes, .. } => lanes.iter().map(Vec::len).sum(),
        }
    }

    fn unpack(&self, bytes: &[u8]) -> Result<f64, Error> {
        if matches!(self, Source::Perf { .. }) {
            return Ok(timed(|| perf::unpack(bytes).map(|records| records.len())));
        }
        let dat = Dat::parse(bytes.to_vec())?;
        Ok(timed(|| {
            let len = |lane| dat.pages(lane).map_or(0, |pages| pages.len());
            dat.lanes.iter().map(len).sum::<usize>()
        }))
    }

    fn walk(&self) -> u64 {
        let mut count = 0;
        match self {
            Source::Perf { records, .. } => {
                let walked = perf::each(records, |kind, _| count += u64::from(kind));
                count + u64::from(walked.is_err())
            }
            Source::Dat { lanes, page_size, .. } => {
                for lane in lanes {
                    let walked = each_record(lane, *page_size, |record| count ^= record.time);
                    count ^= u64::from(walked.is_err());
                }
                count
            }
        }
    }
}
