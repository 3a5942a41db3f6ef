//! The scenarios of the repository can be read, and agree with their pages.

use std::path::{Path, PathBuf};

use wastenot_model::Help;
use wastenot_needs::texts;
use wastenot_scenario::Scenario;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the repository")
}

/// Every scenario under `scenarios/`, in the order of names.
pub(crate) fn all() -> Vec<(String, String)> {
    let name = |path: PathBuf| path.file_name().expect("a file").to_string_lossy().into_owned();
    let all = texts(root().join("scenarios/seeds"), "toml").into_iter();
    all.map(|(path, text)| (name(path), text)).collect()
}

fn read(file: &str, text: &str) -> Scenario {
    wastenot_scenario::scenario(file, text).unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()))
}

#[test]
fn every_scenario_is_understood_and_says_where_it_is_from() {
    let scenarios = all();
    assert_eq!(scenarios.len(), 43, "those of the seeds");
    for (file, text) in &scenarios {
        let scenario = read(file, text);
        assert!(!scenario.about.is_empty() && !scenario.source.is_empty(), "{file}");
        assert!(scenario.seeds >= 5 && !scenario.figures.is_empty(), "{file}");
        for figure in &scenario.figures {
            assert!(!figure.why.is_empty(), "{file}: {} has no `why`", figure.name);
        }
    }
}

#[test]
fn a_bug_and_its_fix_have_a_ratio_and_differ_in_one_switch() {
    for (file, text) in all() {
        let scenario = read(&file, &text);
        let variant = |name: &str| scenario.variants.iter().find(|variant| variant.name == name);
        let (Some(bug), Some(fix)) = (variant("bug"), variant("fix")) else { continue };
        assert!(scenario.figures.iter().any(|figure| figure.name == "ratio"), "{file}");
        assert_eq!((&bug.workload, &bug.machine), (&fix.workload, &fix.machine), "{file}");
        let (bug, fix) = (&bug.scheduler.tunables, &fix.scheduler.tunables);
        assert_eq!(bug.iter().filter(|switch| !fix.contains(switch)).count(), 1, "{file}");
    }
}
