//! A History with steps in words: the picture numbers the steps and lists them.

use wastenot_draw::*;
use wastenot_model::report::{Column, Table, Unit, Value};
use wastenot_model::*;

use crate::made::Maker;

/// CPU 0 runs `one`, and from 2 us on `two` waits.
fn told(rows: Vec<Vec<Value>>) -> History {
    let mut made = Maker::new(2);
    made.sink.head().clock.name = "steps".into();
    made.sink.head().carries |= Carries::MIGRATIONS;
    made.sink.head().window = Window { from: Time(0), to: Time(5_000) };
    let (one, two) = (made.task(1, "one"), made.task(2, "two"));
    made.switch(0, 0, None, Some(one), Left::Runnable);
    made.switch(0, 1, Some(one), None, Left::Sleeping);
    made.wake(2, two, 0);
    let columns =
        ["time_ns", "cpu", "task", "step"].map(|name| Column::new(name, name, Unit::None));
    let mut table = Table::new("steps", "Steps", columns);
    rows.into_iter().for_each(|row| table.push(row));
    made.sink.annex(Annex { table });
    made.sink.finish()
}

fn row(time: u64, cpu: Option<u16>, task: Option<usize>, words: &str) -> Vec<Value> {
    vec![time.into(), cpu.into(), task.into(), words.into()]
}

#[test]
fn steps_are_numbered_where_they_happen_and_told_below() {
    let history = told(vec![
        row(0, None, None, "CPU 1 is idle"),
        row(1_000, Some(1), None, "CPU 1 looks"),
        row(2_000, None, Some(1), "two comes"),
        row(3_000, None, None, "two waits for ever"),
    ]);
    let scene = cores(&history, &Cores::default());
    let signs = scene.plot.signs.iter();
    let signs: Vec<(usize, &str)> = signs.map(|sign| (sign.lane, sign.text.as_str())).collect();
    assert_eq!(signs, [(1, "1"), (2, "2")]);
    let labels: Vec<&str> = scene.plot.lanes.iter().map(|lane| lane.label.as_str()).collect();
    assert_eq!(labels, ["0", "1", "two"]);
    let text = scene.terminal(60, 24, false);
    for line in ["at first  CPU 1 is idle\n", "       1  CPU 1 looks\n", "      so  two waits"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let waits: Vec<&str> = text.lines().filter(|line| line.starts_with("two │")).collect();
    assert!(waits.len() == 1 && waits[0].ends_with("░░░"), "{text}");
    assert!(!text.contains("seconds") && text.lines().all(|line| line.chars().count() <= 60));
}

/// What is seen after the last step is longer than a step; its number stands where others would.
#[test]
fn the_number_of_an_only_step_stands_in_its_microsecond() {
    let history = told(vec![
        row(0, None, None, "CPU 1 is idle"),
        row(1_000, Some(1), None, "CPU 1 looks"),
        row(2_000, None, None, "two waits for ever"),
    ]);
    let scene = cores(&history, &Cores::default());
    let [only] = scene.plot.signs.as_slice() else { panic!("one number") };
    let (left, right) = (scene.plot.area.x, scene.plot.area.x + scene.plot.area.width);
    let share = (only.x - left) / (right - left);
    assert!((0.2..0.4).contains(&share), "1.5 of 5 us: {share}");
}

#[test]
fn no_steps_are_no_story() {
    assert!(cores(&crate::made::tiny(), &Cores::default()).story.is_empty());
}

#[test]
fn whatever_stands_in_the_steps_there_is_a_picture() {
    let nasty = || {
        [
            Value::Unknown,
            Value::Int(-1),
            Value::Int(i64::MAX),
            Value::Int(4_000),
            Value::Text("\u{1b}[2J\u{202e}x".into()),
            Value::Text("word ".repeat(500)),
            Value::List(vec![Value::Int(1)]),
        ]
    };
    for at in 0..4 {
        let rows = nasty().map(|value| {
            let mut row = row(1_000, Some(0), Some(1), "a step");
            row[at] = value;
            row
        });
        let history = told(rows.into_iter().cycle().take(500).collect());
        let scene = cores(&history, &Cores::default());
        assert!(scene.story.len() <= 61, "{}", scene.story.len());
        assert!(!scene.terminal(40, 24, true).contains("\u{1b}[2J"));
        assert!(scene.pdf().ends_with(b"%%EOF"));
        scene.png(1.0).expect("a picture");
    }
}
