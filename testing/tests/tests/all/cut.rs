//! A file that ends in the middle is read up to there, and the cut is reported.

use libdeflater::{CompressionLvl, Compressor};
use wastenot_model::{CpuId, Entry, Event, History, LossKind};
use wastenot_read::{Options, read};
use wastenot_tests::Rng;
use wastenot_tests::encode::{Family, encoded};
use wastenot_tests::random::Plan;

/// The switches of one CPU: other events may move to another row if some are missing.
fn switches(history: &History, cpu: CpuId) -> Vec<(u64, i32)> {
    let of = |entry: Entry| match entry.event {
        Event::Switch { cpu: on, next, .. } if on == cpu => {
            Some((entry.time.0, history.task(next).map_or(0, |task| task.tid)))
        }
        _ => None,
    };
    history.entries().filter_map(of).collect()
}

/// `None` if the part is a beginning of the whole, and is reported as cut if it lacks rows.
fn wrong(whole: &History, part: &History) -> Option<String> {
    for cpu in part.cpus() {
        let (all, some) = (switches(whole, cpu), switches(part, cpu));
        if !all.starts_with(&some) {
            return Some(format!("cpu {cpu}: {some:?} is no beginning of {all:?}"));
        }
    }
    let kinds = [LossKind::Cut, LossKind::Damaged, LossKind::LostEvents];
    let says = part.losses().iter().any(|loss| kinds.contains(&loss.kind));
    let lacks = part.len() < whole.len();
    (lacks && !says).then(|| format!("{} of {} rows, no word", part.len(), whole.len()))
}

/// Whether a format without an end mark seems whole here: behind a line, behind a packet.
fn seems_whole(bytes: &[u8], at: usize) -> bool {
    if bytes[0] != 0x0a {
        let text = bytes.is_ascii();
        return text && (bytes[at - 1] == b'\n' || bytes.get(at) == Some(&b'\n'));
    }
    // Perfetto: field 1, a length of seven bits a byte, a packet.
    let mut end = 0;
    while end < at {
        let (mut length, mut shift) = (0, 0);
        end += 1;
        while let Some(&byte) = bytes.get(end) {
            end += 1;
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        end += length;
    }
    end == at
}

fn cut_anywhere(name: &str, files: impl Iterator<Item = Vec<u8>>) {
    let (mut failed, mut read_in_part) = (Vec::new(), 0);
    for (seed, bytes) in files.enumerate() {
        let Ok(whole) = read(&bytes, &Options::default()) else { continue };
        let mut rng = Rng::new(seed as u64);
        for _ in 0..8 {
            let at = 1 + rng.below(bytes.len());
            if seems_whole(&bytes, at) {
                continue;
            }
            let Ok(part) = read(&bytes[..at], &Options::default()) else { continue };
            read_in_part += 1;
            let wrong = wrong(&whole, &part);
            failed.extend(wrong.map(|note| format!("seed {seed} cut at {at}: {note}")));
        }
    }
    let first = &failed[..failed.len().min(3)];
    assert!(failed.is_empty(), "{name}: {} wrong\n{}", failed.len(), first.join("\n"));
    assert!(read_in_part > 10, "{name}: only {read_in_part} cut files could be read");
}

fn family(family: Family) {
    cut_anywhere(&format!("{family:?}"), (0..60).map(|seed| encoded(family, seed, 200).bytes));
}

/// The file as users compress it before they send it.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut packed = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let size = compressor.gzip_compress(bytes, &mut packed).expect("the bound holds");
    packed.truncate(size);
    packed
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).expect("memory")
}

fn packed_families(pack: impl Fn(&[u8]) -> Vec<u8>) {
    for family in [Family::TraceDat, Family::PerfData, Family::Text] {
        let files = (0..24).map(|seed| pack(&encoded(family, seed, 4000).bytes));
        cut_anywhere(&format!("packed {family:?}"), files);
    }
}

#[test]
fn a_cut_gzip_reads_up_to_the_cut() {
    packed_families(gzip);
}

#[test]
fn a_cut_zstd_reads_up_to_the_cut() {
    packed_families(zstd);
}

#[test]
fn a_cut_trace_dat_reads_up_to_the_cut() {
    family(Family::TraceDat);
}

#[test]
fn a_cut_perf_data_reads_up_to_the_cut() {
    family(Family::PerfData);
}

#[test]
fn a_cut_perfetto_trace_reads_up_to_the_cut() {
    family(Family::Perfetto);
}

#[test]
fn a_cut_text_reads_up_to_the_cut() {
    family(Family::Text);
}

#[test]
fn a_cut_file_of_our_own_reads_up_to_the_cut() {
    let files = (0..60).map(|seed| {
        let mut bytes = Vec::new();
        let history = Plan { steps: 400, ..Plan::small(seed) }.history();
        wastenot_read::write::wn(&history, &mut bytes).expect("memory");
        bytes
    });
    cut_anywhere("own", files);
}
