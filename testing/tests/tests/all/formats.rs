//! One History, written in every format by the tests' own encoders, is read back unchanged.

use std::io::Read;

use wastenot_model::{Carries, Entry, Event, History, LossKind, Time, Window};
use wastenot_needs::effort;
use wastenot_read::{Options, read, read_from};
use wastenot_tests::Rng;
use wastenot_tests::encode::wn::{Wn, wn};
use wastenot_tests::encode::{Encoded, Family, encoded};
use wastenot_tests::random::{Plan, adapted, as_arrays_tell, reduced};
use wastenot_tests::reference::Asked;

use crate::waste::measured;

/// Gives at most 100 bytes at a time, as a slow pipe does.
pub(crate) struct Pieces<'a>(pub(crate) &'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let size = into.len().min(100).min(self.0.len());
        let (now, later) = self.0.split_at(size);
        into[..size].copy_from_slice(now);
        self.0 = later;
        Ok(size)
    }
}

/// Whether both hold the same rows, tasks and losses, beyond what they carry.
pub(crate) fn identical(a: &History, b: &History) -> bool {
    a.entries().eq(b.entries())
        && a.tasks().eq(b.tasks())
        && a.names().eq(b.names())
        && a.losses() == b.losses()
        && a.head == b.head
}

/// Keeps a file with which a test failed, and returns where.
pub(crate) fn kept(name: &str, bytes: &[u8]) -> String {
    let path = std::env::temp_dir().join(format!("wastenot-{name}"));
    std::fs::write(&path, bytes).map_or_else(|e| e.to_string(), |()| path.display().to_string())
}

fn reads_back(family: Family, seed: u64) -> Result<(), String> {
    let encoded = encoded(family, seed, 40 + seed as usize % 160);
    let Encoded { how, history, bytes, .. } = &encoded;
    let told = |what: String| {
        let name = format!("{family:?}-{seed}").to_lowercase();
        Err(format!("seed {seed}, {how}: {what}; kept as {}", kept(&name, bytes)))
    };
    if !history.entries().any(|entry| matches!(entry.event, Event::Switch { .. })) {
        return Ok(()); // no trace without switches need be read
    }
    let back = match read(bytes, &Options::default()) {
        Ok(back) => back,
        Err(error) => return told(error.to_string()),
    };
    let bad = [LossKind::Cut, LossKind::Damaged];
    if let Some(loss) = back.losses().iter().find(|loss| bad.contains(&loss.kind)) {
        return told(format!("{loss:?}"));
    }
    if let Err(note) = tells_the_same(&encoded, &back) {
        return told(note);
    }
    let pieces = read_from(Pieces(bytes), &Options::default());
    if !pieces.is_ok_and(|pieces| identical(&back, &pieces)) {
        return told("reads otherwise in pieces".into());
    }
    Ok(())
}

fn tells_the_same(encoded: &Encoded, back: &History) -> Result<(), String> {
    let grain = encoded.grain_ns;
    // Stamps without their last digits are spread within one digit, so that the order is kept. If
    // the rows of a CPU seem to end too early, the reader reports that with a row of its own.
    let missing = back.losses().iter().filter(|loss| loss.kind == LossKind::Missing);
    let early: Vec<_> = missing.filter_map(|loss| loss.cpu.zip(loss.time)).collect();
    let coarse = |mut entry: Entry| {
        let is_lost = matches!(entry.event, Event::Lost { .. });
        if is_lost && early.contains(&(entry.cpu, entry.time)) {
            return None;
        }
        entry.time.0 -= entry.time.0 % grain;
        Some(entry)
    };
    let (mut ours, mut theirs) = (encoded.history.clone(), adapted(back, coarse));
    if encoded.arrays {
        (ours, theirs) = (as_arrays_tell(&ours), as_arrays_tell(&theirs));
    }
    ours.same(&theirs).map_err(|difference| format!("{difference:?}"))?;
    if encoded.arrays { Ok(()) } else { waste_is_the_same(&ours, &theirs) }
}

fn waste_is_the_same(history: &History, back: &History) -> Result<(), String> {
    let both = history.head.carries & back.head.carries;
    let matters = Carries::WAKEUPS | Carries::PLACEMENT;
    if both & matters != history.head.carries & matters {
        return Ok(()); // waits begin at other rows
    }
    let of = |history: &History| {
        let mut less = reduced(history, both);
        // A file without a CPU count has only the CPUs that it has seen.
        less.head.machine.cpus.truncate(history.cpu_count().min(back.cpu_count()));
        measured(&less, &Asked::ALL)
    };
    let (ours, theirs) = (of(history), of(back));
    if ours == theirs { Ok(()) } else { Err(format!("written {ours:?}, read {theirs:?}")) }
}

fn family_reads_back(family: Family) {
    let cases = effort(300).min(20_000);
    let failed: Vec<String> =
        (0..cases).filter_map(|seed| reads_back(family, seed).err()).collect();
    let first: Vec<&str> = failed.iter().take(3).map(|text| &**text).collect();
    assert!(failed.is_empty(), "{} of {cases} differ\n{}", failed.len(), first.join("\n"));
}

#[test]
fn trace_dat_reads_back() {
    family_reads_back(Family::TraceDat);
}

#[test]
fn perf_data_reads_back() {
    family_reads_back(Family::PerfData);
}

#[test]
fn perfetto_reads_back() {
    family_reads_back(Family::Perfetto);
}

#[test]
fn text_reads_back() {
    family_reads_back(Family::Text);
}

/// The own format leaves nothing out, so nothing may differ; also for a part with its past.
#[test]
fn our_own_format_as_its_documentation_says_holds_everything() {
    for seed in 0..effort(300).min(20_000) {
        let mut history = Plan::small(seed).history();
        let how = Wn::any(&mut Rng::new(seed));
        if seed % 2 == 0 {
            let Window { from, to } = history.window();
            let part = Window { from: Time(from.0 + (to - from).0 / 3), to };
            history = wastenot_read::write::edit::window(&history, part);
        }
        let bytes = wn(&history, &how);
        let back = read(&bytes, &Options::default()).expect("as it is documented");
        assert!(identical(&history, &back), "seed {seed}, {how:?}");
        assert!(history.masks() == back.masks(), "seed {seed}, {how:?}");
        let pieces = read_from(Pieces(&bytes), &Options::default()).expect("as before");
        assert!(identical(&back, &pieces), "seed {seed}, {how:?}");
    }
}

#[test]
fn an_encoder_that_forgets_a_row_is_noticed() {
    let Encoded { history, bytes, .. } = encoded(Family::TraceDat, 1, 200);
    let last = history.len() - 1;
    let back = read(&bytes, &Options::default()).expect("it reads");
    let mut row = 0;
    let fewer = adapted(&history, |entry| {
        row += 1;
        (row <= last).then_some(entry)
    });
    assert!(fewer.same(&back).is_err());
}

#[test]
fn one_two_and_seven_threads_read_the_same() {
    for seed in 0..20 {
        for family in Family::ALL {
            let bytes = encoded(family, seed, 400).bytes;
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().expect("threads");
                pool.install(|| read(&bytes, &Options::default()).ok())
            };
            let one = with(1);
            for threads in [2, 7] {
                let same = match (&one, with(threads)) {
                    (Some(one), Some(other)) => identical(one, &other),
                    (None, None) => true,
                    _ => false,
                };
                assert!(same, "{family:?} seed {seed} with {threads} threads");
            }
        }
    }
}
