//! Tiles show at every zoom what the slow reference finds: all of it, and no more.

use std::collections::BTreeMap;

use wastenot_check::marks::Waited;
use wastenot_check::{Options, check_beside};
use wastenot_model::{
    Activity, CpuId, History, Observer, Origin, Silent, State, TaskId, Time, Window, replay,
};
use wastenot_needs::effort;
use wastenot_read::read;
use wastenot_tests::Rng;
use wastenot_tests::random::Plan;
use wastenot_tests::reference::{Piece, lanes};
use wastenot_view::tiles::{Builder, Bytes, Cell, Sum, Tiles, Total, Was};

use crate::traces::{name, traces};

/// Tiles, with why as the number of the task: the lowest of those that waited in vain on a CPU.
fn tiles(history: &History) -> (Tiles, Vec<Waited>) {
    let mut spilled = Vec::new();
    let mut builder = Builder::new(history, &mut spilled);
    let options = Options { causes: false, marks: true, ..Options::default() };
    let found = check_beside(history, &options, &mut builder);
    let waited = found.violations.marks.waited;
    let tiles = builder.finish(waited.iter().map(|it| (it.cpu, it.window, why(it))));
    (tiles.expect("memory does not fail"), waited)
}

fn why(waited: &Waited) -> u8 {
    (waited.task.ordinal() % 5) as u8 + 1
}

/// What the pieces say of a window, in the order of a sum's fields.
fn told(pieces: &[Piece], waited: &[&Waited], window: Window) -> [u64; 9] {
    let mut sum = [0; 9];
    let mut until = window.from;
    for it in waited {
        let Some((from, to)) = window.clip(it.window.from, it.window.to) else { continue };
        sum[8] += to.since(from.max(until)).0;
        until = until.max(to);
    }
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

fn fields(sum: &Sum) -> [u64; 9] {
    let Sum { busy_ns, idle_ns, waking_ns, unknown_ns, offline_ns, wanted_ns, .. } = *sum;
    let rest = [sum.waiting_ns, u64::from(sum.waiting_max), sum.in_vain_ns];
    let [waiting, most, in_vain] = rest;
    [busy_ns, idle_ns, waking_ns, unknown_ns, offline_ns, wanted_ns, waiting, most, in_vain]
}

/// A share is within a step of what the reference says, and zero exactly where that is.
fn near(share: u8, ns: u64, all: u64, steps: f64) -> bool {
    let exact = (ns as f64 * steps / all as f64).min(255.0);
    (share == 0) == (ns == 0) && (f64::from(share) - exact).abs() <= 1.0
}

fn fits(cell: &Cell, told: [u64; 9]) -> bool {
    let all: u64 = told[..5].iter().sum();
    let shares = [
        (cell.busy, 0),
        (cell.waking, 2),
        (cell.unknown, 3),
        (cell.offline, 4),
        (cell.wanted, 5),
        (cell.in_vain, 8),
    ];
    shares.iter().all(|&(share, field)| near(share, told[field], all, 255.0))
        && near(cell.waiting, told[6], all, 16.0)
        && u64::from(cell.waiting_max) == told[7].min(255)
        && cell.task().is_some() == (told[0] > 0)
        && (cell.why != 0) == (told[8] > 0)
}

/// Who waits, since when, how that began, and who woke it.
type Waits = (TaskId, Time, Origin, Option<TaskId>);

/// What holds at one moment of a replay.
#[derive(Debug)]
struct Moment {
    window: Window,
    /// Of each CPU what it does, and who waits on it.
    cpus: Vec<(Activity, Vec<Waits>)>,
}

/// Keeps every moment.
struct Moments(Vec<Moment>);

impl Observer for Moments {
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let cpus = (0..state.cpus().count()).map(|n| {
            let cpu = CpuId(n as u16);
            let waits = state.waiting(cpu).map(|task| (task, state.task(task)));
            let waits = waits.map(|(task, known)| {
                let waker = known.waker.task.filter(|waker| !waker.is_idle());
                let is_woken = !known.origin.is_switched_out()
                    && !matches!(known.origin, Origin::Unknown | Origin::Released);
                (task, known.since, known.origin, waker.filter(|_| is_woken))
            });
            (state.cpu(cpu).activity(), waits.collect())
        });
        self.0.push(Moment { window: Window { from, to }, cpus: cpus.collect() });
    }
}

/// Strips say at each moment who ran and who waited, and of each task where it did so.
fn is_exact(tiles: &Tiles, history: &History, name: &str) {
    let mut moments = Moments(Vec::new());
    replay(history, Silent::Unknown, &mut moments);
    let mut time_of: BTreeMap<(TaskId, usize, Was), u64> = BTreeMap::new();
    let mut active: Vec<Option<(Activity, Time)>> = vec![None; tiles.cpus()];
    for moment in &moments.0 {
        let recorded = tiles.window();
        let Some((from, to)) = recorded.clip(moment.window.from, moment.window.to) else {
            continue;
        };
        for (n, (activity, waits)) in moment.cpus.iter().enumerate() {
            let mut add = |task, was| {
                *time_of.entry((task, n, was)).or_default() += (to - from).0;
            };
            if let Activity::Run(task) = activity {
                add(*task, Was::Running);
            }
            for (task, _, origin, _) in waits {
                add(*task, Was::Waiting(*origin));
            }
            if active[n].is_none_or(|(was, _)| was != *activity) {
                active[n] = Some((*activity, from));
            }
            for time in [from, Time(to.0 - 1)] {
                let (is, since, queue) = tiles.at(CpuId(n as u16), time).expect("recorded");
                assert_eq!(Some((is.activity, since)), active[n], "{name} CPU {n} at {time}");
                assert_eq!(is.waiting as usize, waits.len(), "{name} CPU {n} at {time}");
                let mut queue: Vec<_> = queue
                    .iter()
                    .map(|it| (it.task, it.since.max(recorded.from), it.origin, it.waker))
                    .collect();
                let mut waits: Vec<_> =
                    waits.iter().map(|it| (it.0, it.1.max(recorded.from), it.2, it.3)).collect();
                queue.sort_unstable_by_key(|it| it.0);
                waits.sort_unstable_by_key(|it| it.0);
                assert_eq!(queue, waits, "{name} CPU {n} at {time}");
            }
        }
    }
    let mut ways: BTreeMap<(TaskId, usize, Was), u64> = BTreeMap::new();
    for (task, _) in history.tasks() {
        for it in tiles.way(task, Window::ALL) {
            *ways.entry((task, it.cpu.index(), it.was)).or_default() += it.window.span().0;
        }
    }
    assert_eq!(ways, time_of, "{name}");
}

/// What all CPUs did together is the sum of what each did, at every width.
fn totals_are_sums(tiles: &Tiles, name: &str) {
    let mut width = 1 << 8;
    loop {
        let count = tiles.window().span().0.div_ceil(width).min(50);
        let first = (tiles.window().span().0 / width).saturating_sub(count);
        let totals = tiles.totals(width, first, 50);
        let mut sums: Vec<Total> = Vec::new();
        for n in 0..tiles.cpus() {
            let of_cpu = tiles.sums(CpuId(n as u16), width, first, 50);
            sums.resize(of_cpu.len(), Total::default());
            sums.iter_mut().zip(&of_cpu).for_each(|(sum, it)| *sum += Total::from(it));
        }
        assert_eq!(totals, sums, "{name} {width}");
        if count <= 1 {
            break;
        }
        width *= 4;
    }
}

fn agrees(history: &History, name: &str, seed: u64) {
    let (made, waited) = tiles(history);
    // What is kept in a file is what was made.
    let (spilled, tail) = (made.spilled().clone(), made.tail());
    let tiles = Tiles::from_parts(spilled.clone(), &tail).expect("tiles");
    assert_eq!(tiles.tail(), tail, "{name}");
    assert!(Tiles::from_parts(spilled.clone(), &tail[..tail.len() - 1]).is_none(), "{name}");
    let cut = Bytes::new(spilled[..spilled.len() - 1].to_vec());
    assert!(Tiles::from_parts(cut, &tail).is_none(), "{name}");
    let window = history.window();
    let mut rng = Rng::new(seed);
    let rows = history.len() * 24;
    assert!(tiles.size() <= rows / 4 + (1 << 19), "{name}: {} of {rows}", tiles.size());
    if history.len() < 2_000 {
        is_exact(&tiles, history, name);
    }
    totals_are_sums(&tiles, name);
    for (cpu, pieces) in lanes(history) {
        let mut waited: Vec<&Waited> = waited.iter().filter(|it| it.cpu == cpu).collect();
        waited.sort_unstable_by_key(|it| it.window.from);
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
                let told = told(&pieces, &waited, window);
                assert_eq!(fields(sum), told, "{name} {cpu:?} {window:?}");
                assert!(fits(cell, told), "{name} {cpu:?} {window:?}: {cell:?} is not {told:?}");
            }
            width *= 4;
        }
    }
}

#[test]
fn tiles_of_random_histories_show_what_the_reference_finds() {
    for seed in 0..effort(2_000) {
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
