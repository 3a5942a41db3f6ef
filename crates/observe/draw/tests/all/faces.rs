//! Other programs can read every output format of a Scene.

use std::collections::BTreeSet;
use std::process::Command;

use wastenot_draw::*;
use wastenot_model::Help;

use crate::made::{busy, tiny};

/// Output of a tool on a file, or nothing, said aloud, where the tool is not installed.
fn tool(name: &str, arguments: &[&str], data: &[u8]) -> Option<String> {
    if !wastenot_needs::program(name, name, "poppler-utils mupdf-tools") {
        return None;
    }
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), data).expect("writing it");
    let path = file.path().to_str().expect("a plain path").to_owned();
    let arguments = arguments.iter().map(|argument| argument.replace("FILE", &path));
    let output = Command::new(name).args(arguments).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {said}");
    assert!(!said.contains("error") && !said.contains("Error"), "{name}: {said}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn other_programs_read_the_pdf() {
    let sparse = cores(&tiny(), &Cores::default());
    let dense = cores(&busy(16, 100_000, 500, 7), &Cores::default());
    let marked = waiting(&busy(16, 30_000, 500, 8), &Waiting::default());
    for scene in [&sparse, &dense, &marked] {
        let pdf = scene.pdf();
        if let Some(said) = tool("pdfinfo", &["FILE"], &pdf) {
            assert!(said.contains("Pages:           1"), "{said}");
            assert!(said.contains(&scene.title), "{said}");
        }
        if let Some(said) = tool("pdftotext", &["FILE", "-"], &pdf) {
            assert!(said.contains(&scene.title), "{said}");
        }
        if let Some(said) = tool("pdffonts", &["FILE"], &pdf) {
            assert!(said.contains("NotoSans") && said.contains("yes yes yes"), "{said}");
        }
        tool("mutool", &["info", "FILE"], &pdf);
    }
}

#[test]
fn an_svg_brings_its_letters_and_keeps_its_text() {
    let history = busy(16, 30_000, 500, 13);
    for scene in [cores(&history, &Cores::default()), waiting(&history, &Waiting::default())] {
        let svg = scene.svg();
        assert!(!svg.contains("font-family") && !svg.contains("<text"));
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let all = |attribute: &'static str| {
            document.descendants().filter_map(move |node| node.attribute(attribute))
        };
        let outlines: Vec<&str> = all("id").collect();
        let xlink = "http://www.w3.org/1999/xlink";
        let uses = document.descendants().filter(|node| node.has_tag_name("use"));
        let used: BTreeSet<&str> =
            uses.filter_map(|node| node.attribute((xlink, "href"))?.strip_prefix('#')).collect();
        assert!(used.len() > 20, "{used:?}");
        assert_eq!(used, outlines.iter().copied().collect(), "none missing, none idle");
        assert_eq!(used.len(), outlines.len(), "each once");
        let texts = scene.items.iter().filter_map(|item| match item {
            Item::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        assert!(texts.eq(all("aria-label")));
    }
}

#[test]
fn every_face_is_the_same_twice() {
    let draw = || cores(&busy(8, 20_000, 500, 9), &Cores::default());
    assert_eq!(draw().pdf(), draw().pdf());
    assert_eq!(draw().svg(), draw().svg());
    assert_eq!(draw().png(1.0).unwrap(), draw().png(1.0).unwrap());
    assert_eq!(draw().terminal(80, 24, true), draw().terminal(80, 24, true));
}

#[test]
fn files_do_not_grow_with_the_trace() {
    let size = |events| {
        let scene = cores(&busy(32, events, 400, 10), &Cores::default());
        (scene.pdf().len(), scene.svg().len())
    };
    let (few, many) = (size(100_000), size(400_000));
    assert!(many.0 < few.0 * 2 && many.1 < few.1 * 2, "{few:?} {many:?}");
    assert!(many.0 < 500_000, "{many:?}");
}

#[test]
fn a_png_too_large_is_refused_and_says_what_to_do() {
    let scene = cores(&tiny(), &Cores::default());
    assert!(scene.png(2.0).unwrap().starts_with(b"\x89PNG"));
    for scale in [100.0, f64::INFINITY, 1e300] {
        let error = scene.png(scale).unwrap_err();
        assert!(!error.help().is_empty() && error.to_string().contains("pixels"), "{error}");
    }
    assert!(scene.png(f64::NAN).is_ok() || scene.png(f64::NAN).is_err());
}

#[test]
fn terminal_lines_fit_and_colour_can_be_left_out() {
    for cpus in [1, 7, 16, 128, 1024] {
        let history = busy(cpus, 3_000, 1_000, 11);
        let scenes = [
            cores(&history, &Cores::default()),
            waiting(&history, &Waiting::default()),
            queues(&history, &Queues::default()),
        ];
        for (scene, columns) in scenes.iter().flat_map(|s| [40, 80, 200].map(|c| (s, c))) {
            let text = scene.terminal(columns, 24, false);
            assert!(!text.contains('\u{1b}'));
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= columns, "{widest} > {columns}\n{text}");
            assert!(text.lines().count() <= 26, "{text}");
            let coloured = scene.terminal(columns, 24, true);
            assert!(coloured.contains("\u{1b}[38;5;"));
            let ended = |line: &str| {
                line.rfind('\u{1b}').is_none_or(|at| line[at..].starts_with("\u{1b}[0m"))
            };
            assert!(coloured.lines().all(ended), "a colour ends on its line");
        }
    }
}

#[test]
fn a_busy_lane_is_a_full_block_and_an_idle_one_is_blank() {
    let text = cores(&tiny(), &Cores::default()).terminal(60, 24, false);
    let lane = text.lines().nth(1).expect("CPU 0");
    assert!(lane.chars().filter(|c| *c == '█').count() > 50, "{text}");
    let lane = text.lines().nth(2).expect("CPU 1");
    assert!(lane.contains("   ") && lane.contains('█') && lane.contains('/'), "{text}");
}
