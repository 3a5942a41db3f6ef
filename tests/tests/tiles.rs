//! Tiles show at every zoom what the slow reference finds: all of it, and no more.

use wastenot_check::{Options, check_beside};
use wastenot_model::{Activity, History, Time, Window};
use wastenot_read::read;
use wastenot_tests::Rng;
use wastenot_tests::random::Plan;
use wastenot_tests::reference::{Piece, lanes};
use wastenot_tiles::{Builder, Cell, Sum, Tiles};

use crate::cases;
use crate::traces::{name, traces};

fn tiles(history: &History) -> Tiles {
    let mut builder = Builder::new(history);
    check_beside(history, &Options { causes: false, ..Options::default() }, &mut builder);
    builder.finish()
}

/// What the pieces say of a window, in the order of a sum's fields.
fn told(pieces: &[Piece], window: Window) -> [u64; 8] {
    let mut sum = [0; 8];
    let first = pieces.partition_point(|piece| piece.window.to <= window.from);
    for piece in pieces[first..].iter().take_while(|piece| piece.window.from < window.to) {
        let Some((from, to)) = window.clip(piece.window.from, piece.window.to) else { continue };
        let ns = (to - from).0;
        let part = match piece.activity {
            Activity::Run(_) => 0,
            Activity::Idle => 1,
            Activity::Waking => 2,
            Activity::Unknown => 3,
            Activity::Offline => 4,
        };
        sum[part] += ns;
        sum[5] += if piece.wanted { ns } else { 0 };
        sum[6] += ns * piece.waiting;
        sum[7] = sum[7].max(piece.waiting);
    }
    sum
}

fn fields(sum: &Sum) -> [u64; 8] {
    let Sum { busy_ns, idle_ns, waking_ns, unknown_ns, offline_ns, wanted_ns, .. } = *sum;
    let (waiting_ns, waiting_max) = (sum.waiting_ns, u64::from(sum.waiting_max));
    [busy_ns, idle_ns, waking_ns, unknown_ns, offline_ns, wanted_ns, waiting_ns, waiting_max]
}

/// A share is within a step of what the reference says, and zero exactly where that is.
fn near(share: u8, ns: u64, all: u64, steps: f64) -> bool {
    let exact = (ns as f64 * steps / all as f64).min(255.0);
    (share == 0) == (ns == 0) && (f64::from(share) - exact).abs() <= 1.0
}

fn fits(cell: &Cell, told: [u64; 8]) -> bool {
    let all: u64 = told[..5].iter().sum();
    let shares =
        [(cell.busy, 0), (cell.waking, 2), (cell.unknown, 3), (cell.offline, 4), (cell.wanted, 5)];
    shares.iter().all(|&(share, field)| near(share, told[field], all, 255.0))
        && near(cell.waiting, told[6], all, 16.0)
        && u64::from(cell.waiting_max) == told[7].min(255)
        && cell.task().is_some() == (told[0] > 0)
}

fn agrees(history: &History, name: &str, seed: u64) {
    let tiles = tiles(history);
    let window = history.window();
    let mut rng = Rng::new(seed);
    let rows = history.len() * 24;
    assert!(tiles.size() <= rows / 4 + (1 << 19), "{name}: {} of {rows}", tiles.size());
    for (cpu, pieces) in lanes(history) {
        let at = |cell: u64, width: u64| Time(window.from.0.saturating_add(cell * width));
        let mut width = 1;
        while width <= window.span().0.max(1) * 4 {
            let all = window.span().0.div_ceil(width);
            let first = rng.below(all.max(1) as usize) as u64;
            let cells = tiles.cells(cpu, width, first, 40);
            let sums = tiles.sums(cpu, width, first, 40);
            assert_eq!(cells.len() as u64, (all - first.min(all)).min(40), "{name} {width}");
            for (n, (cell, sum)) in cells.iter().zip(&sums).enumerate() {
                let n = first + n as u64;
                let window = Window { from: at(n, width), to: at(n + 1, width).min(window.to) };
                let told = told(&pieces, window);
                assert_eq!(fields(sum), told, "{name} {cpu:?} {window:?}");
                assert!(fits(cell, told), "{name} {cpu:?} {window:?}: {cell:?} is not {told:?}");
            }
            width *= 4;
        }
    }
}

#[test]
fn tiles_of_random_histories_show_what_the_reference_finds() {
    for seed in 0..cases(2000) {
        agrees(&Plan::small(seed).history(), &format!("seed {seed}"), seed);
    }
}

#[test]
fn tiles_of_every_recording_show_what_the_reference_finds() {
    for (seed, path) in traces().into_iter().enumerate() {
        let bytes = std::fs::read(&path).expect("readable");
        let Ok(history) = read(&bytes, &wastenot_read::Options::default()) else { continue };
        agrees(&history, &name(&path), seed as u64);
    }
}
