//! Scenarios under real-time schedulers: every figure lies in its band, and the report tells whose
//! jobs were late.

use std::fs;
use std::path::Path;

use wastenot_lab::{Experiment, Grid, Options, scenario};

fn read(name: &str, text: &str) -> Experiment {
    let scenario = scenario(name, text).unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()));
    let grid = Grid::new(&scenario, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    grid.run(|_| ()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn refused(text: &str) -> (String, String) {
    let scenario = scenario("t.toml", text).unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()));
    let error = Grid::new(&scenario, &Options::default()).expect_err("refused");
    (error.to_string(), error.help())
}

#[test]
fn every_figure_lies_in_its_band() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/real-time");
    let mut figures = 0;
    for entry in fs::read_dir(folder).expect("scenarios") {
        let path = entry.expect("a file").path();
        let name = path.to_string_lossy().into_owned();
        let experiment = read(&name, &fs::read_to_string(&path).expect("text"));
        for worked in &experiment.figures {
            let figure = &worked.figure.name;
            assert_ne!(worked.in_band(), Some(false), "{name}: {figure} is {:?}", worked.value);
            assert!(worked.value.is_some(), "{name}: {figure} is unknown");
            figures += 1;
        }
    }
    assert!(figures >= 10, "{figures}");
}

const TWO_FOR_ONE: &str = r#"
schema = "wastenot.scenario/1"
machine = "pu:1"
seeds = 2
limit = "100ms"
scheduler = { name = "gsn-edf", profile = "x7550-assumed" }

[[tasks]]
name = "a"
program = ["loop forever", "every 10ms", "compute 6ms", "mark done", "end"]
deadline = "8ms"
background = true

[[tasks]]
name = "b"
count = 2
program = ["loop 3", "every 20ms", "compute 3ms", "end"]
"#;

#[test]
fn what_is_no_set_of_sporadic_tasks_is_refused_before_it_runs() {
    let with = |from: &str, to: &str| TWO_FOR_ONE.replace(from, to);
    let (what, help) = refused(&with("\"every 20ms\", ", ""));
    assert_eq!(what, "variant `default` under gsn-edf: `b` has no period");
    assert!(help.contains("every 10ms"), "{help}");
    let (what, help) = refused(&with("compute 3ms", "compute exp(3ms)"));
    assert_eq!(what, "variant `default` under gsn-edf: `b` may compute for any time");
    assert!(help.contains("wcet"), "{help}");
    assert!(refused(&with("name = \"gsn-edf\"", "name = \"gedf-mp\"")).0.contains("one only"));
    let bound = with("deadline = \"8ms\"", "cpus = \"0\"");
    assert!(refused(&bound).0.contains("may not run everywhere"));
    let two = with("machine = \"pu:1\"", "machine = \"core:2 pu:1\"");
    let off = format!("{two}\n[[hotplug]]\ncpu = 0\noff = \"1ms\"\non = \"2ms\"\n");
    assert!(refused(&off).0.contains("keep all CPUs"));
}
