//! Odd Histories still give pictures, and odd names stay names.

use wastenot_draw::*;
use wastenot_model::*;

use crate::made::{Maker, tiny};

fn every_face(history: &History, view: &View) {
    let scenes = [
        cores(history, &Cores { view: view.clone(), ..Cores::default() }),
        waiting(history, &Waiting { view: view.clone(), ..Waiting::default() }),
        queues(history, &Queues { view: view.clone(), ..Queues::default() }),
    ];
    for scene in scenes {
        assert!(scene.pdf().ends_with(b"%%EOF"));
        roxmltree::Document::parse(&scene.svg()).expect("well-formed");
        scene.png(1.0).expect("a picture");
        assert!(!scene.terminal(80, 24, true).is_empty());
        let finite =
            |points: &[(f64, f64)]| points.iter().all(|p| p.0.is_finite() && p.1.is_finite());
        for item in &scene.items {
            if let Item::Line { points, .. } | Item::Fill { points, .. } = item {
                assert!(finite(points), "{item:?}");
            }
        }
    }
}

#[test]
fn histories_of_nothing_still_make_pictures() {
    for cpus in [0, 1, 3] {
        let history = Maker::new(cpus).sink.finish();
        every_face(&history, &View::default());
    }
}

#[test]
fn windows_outside_and_backwards_still_make_pictures() {
    let history = tiny();
    for (min, max) in [(0, 0), (5, 2), (100, 200), (9, 9)] {
        let view = View { min: Some(Span::ms(min)), max: Some(Span::ms(max)), ..View::default() };
        every_face(&history, &view);
    }
    let view = View { min: Some(Span(u64::MAX)), ..View::default() };
    every_face(&history, &view);
}

#[test]
fn times_at_the_ends_of_the_clock_do_not_overflow() {
    let mut made = Maker::new(1);
    let task = made.task(7, "t");
    let idle = TaskId::idle(CpuId(0));
    for time in [0, 1, u64::MAX - 1, u64::MAX] {
        made.sink.push(Entry::switch(Time(time), CpuId(0), idle, task, Left::Runnable));
    }
    every_face(&made.sink.finish(), &View::default());
}

#[test]
fn a_machine_of_thousands_of_cpus_fits_a_page() {
    let mut made = Maker::new(8192);
    let task = made.task(7, "t");
    made.switch(0, 8191, None, Some(task), Left::Runnable);
    made.switch(10, 8191, Some(task), None, Left::Sleeping);
    let scene = cores(&made.sink.finish(), &Cores::default());
    assert!(scene.height < 14_400.0, "the largest page of PDF 1.7");
    assert!(scene.pdf().len() < 4_000_000);
}

#[test]
fn names_of_tasks_are_text_and_nothing_else() {
    let name = "</text><script>\u{1b}[2J\u{202e}&\"'";
    let mut made = Maker::new(1);
    let task = made.task(7, name);
    made.sink.head().source.name = name.into();
    made.switch(0, 0, None, Some(task), Left::Runnable);
    made.switch(10, 0, Some(task), None, Left::Sleeping);
    let scene = cores(&made.sink.finish(), &Cores::default());
    let svg = scene.svg();
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    assert!(!document.descendants().any(|node| node.has_tag_name("script")));
    let odd = |text: Option<&str>| {
        text.is_some_and(|text| text.contains("<script>\\x1b[2J\\u{202e}&\"'"))
    };
    assert!(document.descendants().any(|node| odd(node.text())), "{svg}");
    assert!(document.descendants().any(|node| odd(node.attribute("aria-label"))), "{svg}");
    let terminal = scene.terminal(80, 24, false);
    assert!(!terminal.contains(['\u{1b}', '\u{202e}']), "{terminal:?}");
    assert!(scene.pdf().starts_with(b"%PDF"));
}
