//! Marks of waste in pictures, by class of causes.

use wastenot_draw::*;
use wastenot_model::*;

use crate::made::tiny;

/// Marks of ten milliseconds: class 0 from 1 to 3 ms and class 2 from 2 to 6 ms, both on CPU 1,
/// where a task waits from 0 to 8 ms. Class 1 does not occur.
fn marks() -> Marks {
    let mark = |from: u64, to, kind| {
        let [from, to] = [from, to].map(|ms: u64| Time(ms * 1_000_000));
        Mark { window: Window { from, to }, cpu: Some(CpuId(1)), kind }
    };
    let class = |name, ms| Class { name, took: Some(Span::ms(ms)) };
    Marks {
        all: vec![
            mark(0, 8, MarkKind::Waited),
            mark(1, 3, MarkKind::Because(0)),
            mark(2, 6, MarkKind::Because(2)),
        ],
        classes: vec![class("placement", 2), class("balancing", 0), class("policy", 4)],
    }
}

fn scene(marks: &Marks) -> Scene {
    cores(&tiny(), &Cores { marks, ..Cores::default() })
}

fn colour_of(scene: &Scene, words: &str) -> Colour {
    let found = scene.legend.iter().find(|(_, label)| label.contains(words));
    found.unwrap_or_else(|| panic!("no {words} in {:?}", scene.legend)).0
}

/// From and to in milliseconds of the bars of a colour, those above the plot and those in it.
fn bars(scene: &Scene, colour: Colour) -> [Vec<(f64, f64)>; 2] {
    let plot = scene.plot.area;
    let (mut above, mut within) = (Vec::new(), Vec::new());
    for item in &scene.items {
        if let Item::Rect { area, colour: of } = item
            && *of == colour
            && area.y < plot.bottom()
        {
            let ms = |x: f64| ((x - plot.x) / plot.width * 100.0).round() / 10.0;
            let bars = if area.bottom() <= plot.y { &mut above } else { &mut within };
            bars.push((ms(area.x), ms(area.right())));
        }
    }
    [above, within]
}

#[test]
fn each_class_that_occurs_has_a_row_a_colour_and_its_amount() {
    let marks = marks();
    let scene = scene(&marks);
    let [placement, policy] =
        ["placement  2.000 ms", "policy  4.000 ms"].map(|it| colour_of(&scene, it));
    assert!(!scene.legend.iter().any(|(_, label)| label.contains("balancing")));
    // A row has all of a class; where two share a column the lane has the larger, here the first.
    assert_eq!(bars(&scene, placement), [vec![(1.0, 3.0)], vec![(1.0, 3.0)]]);
    assert_eq!(bars(&scene, policy), [vec![(2.0, 6.0)], vec![(3.0, 6.0)]]);
    let more = colour_of(&scene, "there were more waiting tasks than idle CPUs");
    assert_eq!(bars(&scene, more), [vec![], vec![(0.0, 1.0), (6.0, 8.0)]]);
    // The rows lie between the title and the plot, and do not overlap.
    let plot = scene.plot.area;
    let row = |colour| {
        scene.items.iter().find_map(|item| match item {
            Item::Rect { area, colour: of } if *of == colour && area.y < plot.y => Some(*area),
            _ => None,
        })
    };
    let (first, second) = (row(placement).expect("a bar"), row(policy).expect("a bar"));
    assert!(first.y > 22.0 && first.bottom() < second.y && second.bottom() < plot.y);
}

#[test]
fn classes_have_colours_of_their_own_in_every_picture() {
    let mut marks = marks();
    let all = scene(&marks);
    marks.all.retain(|mark| mark.kind == MarkKind::Because(2));
    let one = scene(&marks);
    assert_eq!(colour_of(&one, "policy"), colour_of(&all, "policy"));
    assert!(one.plot.area.y < all.plot.area.y, "one row takes less room than two");
}

#[test]
fn the_name_of_a_class_fits_beside_its_row() {
    let mut marks = marks();
    marks.classes[2].name = "configuration";
    let scene = scene(&marks);
    let size = |name: &str| {
        scene.items.iter().find_map(|item| match item {
            Item::Text { text, size, .. } if text == name => Some(*size),
            _ => None,
        })
    };
    let (short, long) = (size("placement").expect("a name"), size("configuration").expect("one"));
    assert!(long < short && long > 5.0, "{long} {short}");
}

#[test]
fn without_classes_waits_are_marked_as_waste() {
    let marks = Marks { all: marks().all[..1].to_vec(), classes: Vec::new() };
    let scene = scene(&marks);
    let waste = colour_of(&scene, "idle while a task waited");
    assert_eq!(bars(&scene, waste), [vec![], vec![(0.0, 8.0)]]);
    assert_eq!(scene.plot.area.y, cores(&tiny(), &Cores::default()).plot.area.y);
}

#[test]
fn a_terminal_has_the_letter_of_the_largest_class_above_each_cell() {
    let marks = marks();
    for (text, left) in [
        (scene(&marks).terminal(43, 24, false), 3), // 40 cells of a quarter of a millisecond
        (
            waiting(&tiny(), &Waiting { marks: &marks, ..Waiting::default() })
                .terminal(43, 24, false),
            3,
        ),
    ] {
        let above = text.lines().nth(1).expect("a line above the plot");
        let cells: String = above.chars().skip(left).collect();
        assert_eq!(cells, format!("{}{}{}", "    ", "p".repeat(8), "P".repeat(12)), "{text}");
        assert!(text.contains("p placement  2.000 ms"), "{text}");
    }
}
