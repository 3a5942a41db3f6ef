//! Pictures show the actual activity: a comparison with runs that are derived from switches alone.

use wastenot_draw::*;
use wastenot_model::*;

use crate::made::{Maker, busy, columns, runs};

/// Pixel columns of a plot at print resolution.
fn count(scene: &Scene) -> usize {
    (scene.plot.area.width * 4.0) as usize
}

fn dense(scene: &Scene) -> usize {
    scene.items.iter().filter(|item| matches!(item, Item::Stack { .. })).count()
}

/// A trace that fits as bars, one that does not, and one of both.
fn samples() -> Vec<(History, bool)> {
    vec![
        (busy(4, 300, 20_000, 1), false),
        (busy(4, 40_000, 2_000, 2), true),
        (busy(3, 4_000, 9_000, 3), false),
        (busy(64, 300_000, 500, 4), true),
    ]
}

#[test]
fn coloured_width_is_run_time() {
    for (history, is_dense) in samples() {
        let scene = cores(&history, &Cores::default());
        assert_eq!(dense(&scene) > 0, is_dense, "{} rows", history.len());
        let count = count(&scene);
        let per_ns = count as f64 / history.window().span().0 as f64;
        let mut wanted = vec![0.0; history.cpu_count()];
        let mut short = vec![0.0; history.cpu_count()];
        for run in runs(&history) {
            wanted[run.cpu] += (run.to - run.from) as f64 * per_ns;
            short[run.cpu] += f64::from(u8::from(((run.to - run.from) as f64 * per_ns) < 1.0));
        }
        for (cpu, lane) in columns(&scene, count).iter().enumerate() {
            let drawn: f64 = lane.iter().flatten().map(|(_, share)| share).sum();
            // A run shorter than a column is drawn as one; a stack rounds to whole pixels.
            let room = 1.0 + short[cpu].min(0.1 * count as f64);
            let off = drawn - wanted[cpu];
            assert!(off.abs() <= room, "CPU {cpu}: {drawn} columns for {}", wanted[cpu]);
        }
    }
}

#[test]
fn no_run_is_invisible() {
    for (history, _) in samples() {
        let scene = cores(&history, &Cores::default());
        let (count, start) = (count(&scene), history.window().from.0);
        let lanes = columns(&scene, count);
        let span = history.window().span().0;
        for run in runs(&history).iter().filter(|run| run.to > run.from) {
            let column = (u128::from(run.from - start) * count as u128 / u128::from(span)) as usize;
            let near = &lanes[run.cpu][column.saturating_sub(1)..(column + 2).min(count)];
            let label = format!("{}  ", history.task_label(run.task));
            let known = scene.legend.iter().find(|(_, name)| name.starts_with(&label));
            let own = |colour: Colour| known.is_none_or(|(known, _)| *known == colour);
            let shares = near.iter().flatten().filter(|(colour, _)| own(*colour));
            let ink: f64 = shares.map(|(_, share)| share).sum();
            assert!(ink >= 1.0 / 16.0, "{run:?} in column {column}: {near:?}");
        }
    }
}

#[test]
fn a_dense_picture_shows_the_same_shares_as_bars_would() {
    let history = busy(2, 60_000, 1_000, 5);
    let scene = cores(&history, &Cores::default());
    assert!(dense(&scene) > 0);
    let count = count(&scene);
    let (start, span) = (history.window().from.0, history.window().span().0);
    let edge = |column: usize| start + (u128::from(span) * column as u128 / count as u128) as u64;
    let mut wanted = vec![vec![0u64; count]; 2];
    for run in runs(&history) {
        let column = |time: u64| {
            ((u128::from(time - start) * count as u128 / u128::from(span)) as usize).min(count - 1)
        };
        let (first, last) = (column(run.from).saturating_sub(1), column(run.to) + 2);
        for (index, ns) in wanted[run.cpu].iter_mut().enumerate().take(last).skip(first) {
            let (from, to) = (run.from.max(edge(index)), run.to.min(edge(index + 1)));
            *ns += to.saturating_sub(from);
        }
    }
    for (cpu, lane) in columns(&scene, count).iter().enumerate() {
        for (index, shares) in lane.iter().enumerate() {
            let drawn: f64 = shares.iter().map(|(_, share)| share).sum();
            let wanted = wanted[cpu][index] as f64 / (edge(index + 1) - edge(index)) as f64;
            // Two tasks a CPU: each rounds to a sixteenth, and shows with at least one.
            let off = (drawn - wanted).abs();
            assert!(off <= 2.0 / 16.0 + 0.01, "CPU {cpu} column {index}: {drawn} for {wanted}");
        }
    }
}

#[test]
fn a_peak_of_a_nanosecond_is_seen_among_millions() {
    let mut made = Maker::new(2);
    let tasks: Vec<_> = (0..40).map(|n| made.task(100 + n, "t")).collect();
    for n in 0..20_000u64 {
        made.switch(n, 0, None, Some(tasks[0]), Left::Runnable);
        made.switch(n, 0, Some(tasks[0]), None, Left::Sleeping);
        if n == 12_345 {
            tasks[1..].iter().for_each(|&task| made.wake(n, task, 1));
            let idle = TaskId::idle(CpuId(1));
            for (at, pair) in tasks[1..].iter().enumerate() {
                let time = Time(n * 1000 + 1);
                let prev = if at == 0 { idle } else { tasks[at] };
                let entry = Entry::switch(time, CpuId(1), prev, *pair, Left::Sleeping);
                made.sink.push(entry);
            }
        }
    }
    let scene = waiting(&made.sink.finish(), &Waiting::default());
    assert!(
        scene.legend.iter().any(|(_, label)| label.contains("waiting") && label.contains("max 39"))
    );
    let top = |item: &Item| match item {
        Item::Fill { points, .. } => points.iter().map(|point| point.1).fold(f64::MAX, f64::min),
        _ => f64::MAX,
    };
    let top = scene.items.iter().map(top).fold(f64::MAX, f64::min);
    let area = scene.plot.area;
    let most = 39.0 + 4.0; // room above the highest
    assert!((top - (area.bottom() - 39.0 / most * area.height)).abs() < 0.5, "{top}");
}

#[test]
fn wakeups_onto_a_busy_cpu_and_moves_are_counted() {
    let mut made = Maker::new(3);
    let tasks: Vec<_> = (0..4).map(|n| made.task(100 + n, "t")).collect();
    for cpu in 0..3 {
        made.switch(0, cpu, None, None, Left::Runnable);
    }
    made.switch(1, 0, None, Some(tasks[0]), Left::Runnable);
    made.wake(2, tasks[1], 0); // CPUs 1 and 2 are idle: bad
    made.wake(3, tasks[2], 1); // onto an idle CPU: good
    made.switch(4, 1, None, Some(tasks[2]), Left::Runnable);
    made.push(5, 2, Event::Migrate { task: tasks[1], from: Some(CpuId(0)), to: CpuId(2) });
    made.switch(6, 2, None, Some(tasks[1]), Left::Runnable);
    made.wake(7, tasks[3], 0); // onto a busy one while none is idle: not bad
    let scene = queues(&made.sink.finish(), &Queues::default());
    let texts: Vec<&str> = scene
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(texts.iter().any(|text| text.starts_with("Blue marks: 1 moves")), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("Black squares: 1 wakeups")), "{texts:?}");
}

#[test]
fn marks_in_tens_of_thousands_stay_few() {
    let history = busy(2, 2_000, 1_000, 6);
    let from = history.window().from;
    let mark = |n: u64| Mark {
        window: Window { from: from + Span(n * 30), to: from + Span(n * 30 + 10) },
        cpu: Some(CpuId((n % 2) as u16)),
        kind: MarkKind::Waited,
    };
    let marks = Marks { all: (0..50_000).map(mark).collect(), classes: Vec::new() };
    let plain = cores(&history, &Cores::default()).items.len();
    let marked = cores(&history, &Cores { marks: &marks, ..Cores::default() }).items.len();
    assert!(marked > plain && marked < plain + 3_500, "{plain} {marked}");
}
