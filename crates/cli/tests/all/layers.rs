//! The law of layers: who may import whom, and what stays above the water.

use cargo_metadata::{DependencyKind, Package};

use crate::metadata;

/// A crate, its layer, and the workspace crates that it may import. Every other edge is an error,
/// and so is a crate that is not in the table.
const LAW: &[(&str, u8, &[&str])] = &[
    ("wastenot-model", 0, &[]),
    ("wastenot-read", 1, &["wastenot-model"]),
    ("wastenot-scenario", 1, &["wastenot-model"]),
    ("wastenot-check", 1, &["wastenot-model"]),
    ("wastenot-draw", 1, &["wastenot-model"]),
    ("wastenot-tiles", 1, &["wastenot-model"]),
    ("wastenot-sim", 1, &["wastenot-model"]),
    ("wastenot-rota", 1, &["wastenot-model"]),
    ("wastenot-bounds", 1, &["wastenot-model"]),
    ("wastenot-host", 2, &["wastenot-model"]),
    ("wastenot-serve", 2, &[]),
    (
        "wastenot-record",
        3,
        &[
            "wastenot-model",
            "wastenot-read",
            "wastenot-scenario",
            "wastenot-check",
            "wastenot-host",
            "wastenot-serve",
        ],
    ),
    ("wastenot-prove", 3, &["wastenot-model", "wastenot-rota"]),
    ("wastenot-runner", 3, &["wastenot-model", "wastenot-host"]),
    ("wastenot-measure", 3, &["wastenot-model", "wastenot-sim"]),
    ("wastenot-deploy", 3, &["wastenot-model", "wastenot-rota", "wastenot-host"]),
    ("wastenot-store", 3, &[]),
    ("wastenot-export", 3, &["wastenot-model", "wastenot-read", "wastenot-check", "wastenot-draw"]),
    (
        "wastenot-view",
        3,
        &["wastenot-model", "wastenot-check", "wastenot-draw", "wastenot-tiles", "wastenot-serve"],
    ),
    (
        "wastenot-experiment",
        4,
        &[
            "wastenot-model",
            "wastenot-scenario",
            "wastenot-check",
            "wastenot-sim",
            "wastenot-rota",
            "wastenot-store",
        ],
    ),
    (
        "wastenot-realtime",
        4,
        &[
            "wastenot-model",
            "wastenot-scenario",
            "wastenot-draw",
            "wastenot-sim",
            "wastenot-bounds",
            "wastenot-measure",
            "wastenot-store",
        ],
    ),
    (
        "wastenot-lab",
        5,
        &[
            "wastenot-model",
            "wastenot-read",
            "wastenot-scenario",
            "wastenot-check",
            "wastenot-sim",
            "wastenot-rota",
            "wastenot-host",
            "wastenot-record",
            "wastenot-runner",
            "wastenot-deploy",
            "wastenot-experiment",
        ],
    ),
    (
        "wastenot-hunt",
        5,
        &[
            "wastenot-model",
            "wastenot-scenario",
            "wastenot-check",
            "wastenot-sim",
            "wastenot-store",
            "wastenot-experiment",
        ],
    ),
    (
        "wastenot",
        6,
        &[
            "wastenot-lab",
            "wastenot-hunt",
            "wastenot-store",
            "wastenot-model",
            "wastenot-host",
            "wastenot-read",
            "wastenot-scenario",
            "wastenot-bounds",
            "wastenot-check",
            "wastenot-draw",
            "wastenot-export",
            "wastenot-record",
            "wastenot-measure",
            "wastenot-experiment",
            "wastenot-realtime",
            "wastenot-sim",
            "wastenot-rota",
            "wastenot-prove",
            "wastenot-deploy",
            "wastenot-runner",
            "wastenot-view",
        ],
    ),
];

/// Where the layers meet in order to be held against each other; nobody imports these.
const MEETINGS: &[&str] = &[
    "wastenot-tests",
    "wastenot-golden",
    "wastenot-needs",
    "wastenot-fuzz",
    "wastenot-bench",
    "xtask",
];

/// What belongs to the command line: no crate below its layer uses it.
const EDGE: &[&str] = &["clap", "indicatif", "tokio"];
/// The layer of the command line.
const TOP: u8 = 6;

fn imports(package: &Package) -> impl Iterator<Item = &str> {
    let tests_only = |kind| kind == DependencyKind::Development;
    package.dependencies.iter().filter(move |d| !tests_only(d.kind)).map(|d| d.name.as_str())
}

#[test]
fn crates_import_only_what_the_law_allows() {
    let metadata = metadata();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        if MEETINGS.contains(&name) {
            continue;
        }
        let (_, layer, allowed) = LAW
            .iter()
            .find(|(known, ..)| *known == name)
            .unwrap_or_else(|| panic!("{name} has no layer: add it to LAW, with a reason"));
        for import in imports(package) {
            if import.starts_with("wastenot") {
                assert!(allowed.contains(&import), "{name} may not import {import}");
            }
            assert!(*layer == TOP || !EDGE.contains(&import), "{name} may not import {import}");
        }
    }
}

#[test]
fn the_law_itself_points_down_and_never_sideways() {
    let layer = |name: &str| LAW.iter().find(|(known, ..)| *known == name).map(|(_, l, _)| *l);
    for (name, own, allowed) in LAW {
        for import in *allowed {
            let below = layer(import).expect("a crate of the table");
            assert!(below < *own, "{name} (layer {own}) imports {import} (layer {below})");
        }
    }
}
