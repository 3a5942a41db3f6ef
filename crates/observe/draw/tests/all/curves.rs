//! Curves of an experiment: gaps, odd charts, and more curves than colours.

use wastenot_draw::*;

fn place(x: f64, share: Option<(f64, f64, f64)>) -> Place {
    let share = share.map(|(low, value, high)| Share { value, band: Some((low, high)) });
    Place { x, share }
}

fn series(name: &str, group: &str) -> Series {
    Series { name: name.into(), group: group.into() }
}

/// Two panels: a curve with a gap and a lone place behind it, and one without intervals.
pub(crate) fn chart() -> Chart {
    let whole = [(1.0, 1.0), (2.0, 0.75), (3.0, 0.0)];
    let first = whole.map(|(x, share)| place(x, Some((share * 0.9, share, share * 0.9 + 0.1))));
    let second = vec![
        place(1.0, Some((0.8, 0.9, 1.0))),
        place(1.5, Some((0.4, 0.5, 0.6))),
        place(2.0, None),
        place(3.0, Some((0.0, 0.1, 0.2))),
    ];
    let weighted = |x, value| Place { x, share: Some(Share { value, band: None }) };
    let panel =
        |heading: &str, curves| Panel { heading: heading.into(), remark: "hard".into(), curves };
    Chart {
        title: "made: share over total".into(),
        subtitle: "100 sets a point".into(),
        over: "total".into(),
        series: vec![series("free", "a guarantee"), series("paid", "none")],
        panels: vec![
            panel("2 CPUs", vec![first.to_vec(), second]),
            panel("4 CPUs", vec![vec![weighted(4.0, 0.5), weighted(8.0, 0.25)], Vec::new()]),
        ],
        columns: 2,
        notes: vec!["Gaps: at 1 place.".into()],
    }
}

#[test]
fn nothing_is_drawn_in_a_gap() {
    let blue = Colour::rgb(0x0072b2);
    let left = |chart: &Chart| {
        let scene = curves(chart);
        let area = scene.plot.area;
        let drawn = scene.items.iter().filter_map(|item| match item {
            Item::Line { points, colour, .. } | Item::Fill { points, colour } => {
                let inside = points.iter().all(|p| p.0 < area.right() && p.1 < area.bottom());
                (colour.alpha(255) == blue && inside).then(|| points.clone())
            }
            _ => None,
        });
        (area, drawn.collect::<Vec<_>>())
    };
    let (area, drawn) = left(&chart());
    // From 1.5 to 3, of a width that stands for 1 to 3: nothing but the lone place at its end.
    let gap = area.x + area.width * 0.35..area.right() - 12.0;
    assert!(drawn.len() >= 5, "a band, a line, three marks and a bar: {drawn:?}");
    let inside = |points: &[(f64, f64)]| points.iter().any(|point| gap.contains(&point.0));
    let across = |points: &[(f64, f64)]| {
        points.iter().any(|p| p.0 <= gap.start) && points.iter().any(|p| p.0 >= gap.end)
    };
    assert!(!drawn.iter().any(|points| inside(points) || across(points)), "{drawn:?}");
    let mut whole = chart();
    whole.panels[0].curves[1][2].share = Some(Share { value: 0.3, band: None });
    assert!(left(&whole).1.iter().any(|points| across(points)), "the test sees lines");
}

#[test]
fn odd_charts_still_make_pictures() {
    let name = "</text><script>\u{1b}[2J\u{202e}&\"'".repeat(20);
    let mut hostile = chart();
    hostile.title = name.clone();
    hostile.subtitle = name.clone();
    hostile.over = name.clone();
    hostile.notes = vec![name.clone()];
    hostile.panels.iter_mut().for_each(|panel| panel.heading = name.clone());
    hostile.series.iter_mut().for_each(|series| series.name = name.clone());
    let mut many = chart();
    many.series = (0..100).map(|n| series(&format!("curve {n}"), "all")).collect();
    let curve =
        |n| (0..500).map(move |x| place(f64::from(x), Some((0.0, f64::from(n) / 99.0, 1.0))));
    many.panels =
        vec![
            Panel { curves: (0..100).map(|n| curve(n).collect()).collect(), ..Panel::default() };
            7
        ];
    many.columns = 0;
    let mut lone = chart();
    lone.panels =
        vec![Panel { curves: vec![vec![place(1e9, Some((0.0, 1.0, 1.0)))]], ..Panel::default() }];
    let mut unknown = chart();
    unknown
        .panels
        .iter_mut()
        .flat_map(|p| p.curves.iter_mut().flatten())
        .for_each(|p| p.share = None);
    for chart in [Chart::default(), hostile, many, lone, unknown] {
        let scene = curves(&chart);
        assert!(scene.pdf().ends_with(b"%%EOF"));
        let svg = scene.svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        assert!(!document.descendants().any(|node| node.has_tag_name("script")));
        scene.png(1.0).expect("a picture");
        for columns in [20, 80, 200] {
            let text = scene.terminal(columns, 24, false);
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        }
        for item in &scene.items {
            if let Item::Line { points, .. } | Item::Fill { points, .. } = item {
                assert!(points.iter().all(|p| p.0.is_finite() && p.1.is_finite()), "{item:?}");
            }
        }
    }
}

#[test]
fn more_curves_than_colours_differ_in_shape() {
    let mut chart = chart();
    chart.series = (0..20).map(|n| series(&format!("{n}"), "all")).collect();
    chart.panels = vec![Panel {
        curves: (0..20).map(|_| vec![place(1.0, Some((0.0, 0.5, 1.0)))]).collect(),
        ..Panel::default()
    }];
    let scene = curves(&chart);
    let shape = |item: &Item| match item {
        Item::Fill { points, colour } => {
            let tenths = |p: &(f64, f64)| {
                let (x, y) = (p.0 - points[0].0, p.1 - points[0].1);
                ((x * 10.0).round() as i32, (y * 10.0).round() as i32)
            };
            Some((*colour, points.iter().map(tenths).collect::<Vec<_>>()))
        }
        _ => None,
    };
    let keys = scene.items.iter().rev().filter_map(shape).take(20);
    let keys: std::collections::BTreeSet<_> = keys.collect();
    assert_eq!(keys.len(), 20);
}
