//! The law of imports: which crate may use which. ARCHITECTURE explains it.

use std::collections::BTreeSet;
use std::fs;

use cargo_metadata::{DependencyKind, Package};

use crate::circles::code;
use crate::{metadata, root, tidy};

/// Crates of the base. Every crate may import them.
const BASE: &[&str] = &["model", "host"];

/// Crates that import only the model, have no clock and no environment, and contain no `unsafe`.
const PURE: &[&str] = &["read", "check", "draw", "scenario", "sim", "rota", "bounds"];

/// A crate, and the crates of its house that it may import.
type Inside = (&'static str, &'static [&'static str]);

/// Houses, and the imports inside each.
const HOUSES: &[(&str, &[Inside])] = &[
    (
        "observe",
        &[
            ("read", &[]),
            ("check", &[]),
            ("draw", &[]),
            ("view", &["check"]),
            ("record", &["read", "check"]),
        ],
    ),
    (
        "simulate",
        &[
            ("scenario", &[]),
            ("sim", &[]),
            ("experiment", &["scenario", "sim"]),
            ("hunt", &["scenario", "sim", "experiment"]),
            ("lab", &["scenario", "sim", "experiment"]),
        ],
    ),
    ("policy", &[("rota", &[]), ("prove", &["rota"]), ("deploy", &["rota"])]),
    ("realtime", &[("bounds", &[]), ("measure", &[]), ("realtime", &["bounds", "measure"])]),
];

/// Imports from one house into another, each with its reason. The houses observe and policy have
/// none.
const BETWEEN: &[(&str, &str, &str)] = &[
    ("experiment", "check", "its figures are measures of the simulated History"),
    ("experiment", "rota", "a scheduler may be a policy in Rota"),
    ("hunt", "check", "a finding is waste that has a cause"),
    ("lab", "check", "its figures are measures of the recorded History"),
    ("lab", "read", "a guest sends its trace as a file"),
    ("lab", "record", "it records what the kernel does with a workload"),
    ("lab", "rota", "a policy is emitted as C for a guest"),
    ("lab", "deploy", "a policy is loaded into a kernel"),
    ("measure", "sim", "its threads decide as the simulated designs of global EDF do"),
    ("realtime", "draw", "a sweep is drawn as curves"),
    ("realtime", "scenario", "task sets, sweeps and profiles are files of scenarios"),
    ("realtime", "sim", "verdicts are compared with simulated schedules"),
];

/// The crate of the command line: it may import all others, and no other crate imports it.
const CLI: &str = "wastenot";

/// Crates that only tests and tools import.
const TESTING: &[&str] = &["chance", "golden", "needs", "tests", "bench", "fuzz", "xtask"];

/// Dependencies that only the command line has.
const EDGE: &[&str] = &["clap", "indicatif"];

/// Code that reads a clock or the environment, and `unsafe` items; `tidy` counts `unsafe` blocks.
const IMPURE: &[&str] =
    &["std::env", "env::var", "Instant::now", "SystemTime", "unsafe fn", "unsafe impl"];

fn short(name: &str) -> &str {
    name.strip_prefix("wastenot-").unwrap_or(name)
}

/// The house of a crate.
fn house(name: &str) -> Option<&'static str> {
    let of = |(_, crates): &&(&str, &[Inside])| crates.iter().any(|(it, _)| *it == name);
    HOUSES.iter().find(of).map(|(house, _)| *house)
}

fn inside(name: &str) -> &'static [&'static str] {
    let crates = HOUSES.iter().flat_map(|(_, crates)| *crates);
    crates.into_iter().find(|(it, _)| *it == name).map_or(&[], |(_, allowed)| *allowed)
}

fn may_import(name: &str, import: &str) -> bool {
    let is_between = BETWEEN.iter().any(|(from, to, _)| (*from, *to) == (name, import));
    match name {
        "model" => false,
        "host" => import == "model",
        CLI => !TESTING.contains(&import),
        _ if PURE.contains(&name) => import == "model",
        _ => BASE.contains(&import) || inside(name).contains(&import) || is_between,
    }
}

fn imports(package: &Package) -> impl Iterator<Item = &str> {
    let of_tests = |kind| kind == DependencyKind::Development;
    package.dependencies.iter().filter(move |d| !of_tests(d.kind)).map(|d| d.name.as_str())
}

#[test]
fn crates_import_only_what_the_law_allows() {
    for package in metadata().workspace_packages() {
        let name = short(&package.name);
        if TESTING.contains(&name) {
            continue;
        }
        for import in imports(package) {
            let is_ours = import.starts_with("wastenot");
            let allowed = !is_ours || may_import(name, short(import));
            assert!(allowed, "{name} may not import {import}: see {}", file!());
            assert!(name == CLI || !EDGE.contains(&import), "{name} may not import {import}");
        }
    }
}

#[test]
fn crates_of_rule_2_have_no_clock_no_environment_and_no_unsafe_code() {
    for name in PURE {
        let src = root().join("crates").join(house(name).expect("a house")).join(name).join("src");
        let mut files = Vec::new();
        tidy::sources(&src, &mut files);
        assert!(files.len() > 5, "{}", src.display());
        for file in files.into_iter().filter(|it| !it.ends_with("tests.rs")) {
            let code = code(&fs::read_to_string(&file).expect("a source file"));
            let found = IMPURE.iter().find(|word| code.contains(**word));
            assert_eq!(found, None, "{}", file.display());
        }
    }
}

#[test]
fn each_crate_is_in_the_folder_of_its_house() {
    let mut found = BTreeSet::new();
    for package in metadata().workspace_packages() {
        let name = short(&package.name);
        let folder = package.manifest_path.parent().expect("a folder");
        let folder = folder.strip_prefix(root().to_str().expect("UTF-8")).expect("in here");
        let expected = match (name, house(name)) {
            (CLI, _) => "crates/cli".to_owned(),
            ("bench" | "xtask", _) => name.to_owned(),
            (_, Some(house)) => format!("crates/{house}/{name}"),
            _ if BASE.contains(&name) => format!("crates/{name}"),
            _ => format!("testing/{name}"),
        };
        assert_eq!(folder.as_str(), expected, "{name}");
        found.insert(name.to_owned());
    }
    let known = HOUSES.iter().flat_map(|(_, crates)| crates.iter().map(|(name, _)| *name));
    let missing: Vec<&str> = known.filter(|name| !found.contains(*name)).collect();
    assert!(missing.is_empty(), "the law names crates that do not exist: {missing:?}");
}

#[test]
fn imports_inside_a_house_go_one_way_and_every_allowed_import_is_used() {
    let metadata = metadata();
    let is_used = |from: &str, to: &str| {
        let package = metadata.workspace_packages().into_iter().find(|it| short(&it.name) == from);
        imports(package.expect("a crate")).any(|it| short(it) == to)
    };
    for (house, crates) in HOUSES {
        for (at, (name, allowed)) in crates.iter().enumerate() {
            let before: Vec<&str> = crates[..at].iter().map(|(it, _)| *it).collect();
            let back: Vec<&&str> = allowed.iter().filter(|it| !before.contains(it)).collect();
            assert!(back.is_empty(), "{house}: {name} imports {back:?}, which is not before it");
            let unused: Vec<&&str> = allowed.iter().filter(|it| !is_used(name, it)).collect();
            assert!(unused.is_empty(), "{house}: {name} no longer imports {unused:?}");
        }
    }
    for (from, to, reason) in BETWEEN {
        let sides = (house(from).expect("a house"), house(to).expect("a house"));
        assert!(sides.0 != sides.1 && !["observe", "policy"].contains(&sides.0), "{from} -> {to}");
        assert!(is_used(from, to), "{from} no longer imports {to} ({reason})");
    }
}
