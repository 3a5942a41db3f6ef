//! Scenarios under real-time schedulers: every figure lies in its band, and the report tells whose
//! jobs were late.

use wastenot_experiment::{Experiment, Grid, Options, Sim, scenario};
use wastenot_model::Help;

fn read(name: &str, text: &str) -> Experiment {
    let scenario = scenario(name, text).unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()));
    let grid =
        Grid::new(&scenario, &Sim, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    grid.run(|_| ()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn refused(text: &str) -> (String, String) {
    let scenario = scenario("t.toml", text).unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()));
    let error = Grid::new(&scenario, &Sim, &Options::default()).expect_err("refused");
    (error.to_string(), error.help().into_owned())
}

#[test]
fn every_figure_lies_in_its_band() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scenarios/real-time");
    let mut figures = 0;
    for (path, text) in wastenot_needs::texts(folder, "toml") {
        let name = path.to_string_lossy().into_owned();
        let experiment = read(&name, &text);
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
    assert_eq!(what, "variant `default` under gsn-edf: the task `b` has no period");
    assert!(help.contains("every 10ms"), "{help}");
    let (what, help) = refused(&with("compute 3ms", "compute exp(3ms)"));
    assert_eq!(
        what,
        "variant `default` under gsn-edf: the task `b` has no limit for the CPU time of a job"
    );
    assert!(help.contains("wcet"), "{help}");
    assert!(refused(&with("name = \"gsn-edf\"", "name = \"gedf-mp\"")).0.contains("only one CPU"));
    let bound = with("deadline = \"8ms\"", "cpus = \"0\"");
    assert!(refused(&bound).0.contains("may run only on some CPUs"));
    let two = with("machine = \"pu:1\"", "machine = \"core:2 pu:1\"");
    let off = format!("{two}\n[[hotplug]]\ncpu = 0\noff = \"1ms\"\non = \"2ms\"\n");
    assert!(refused(&off).0.contains("all CPUs of the machine must be online"));
}

#[test]
fn classes_that_the_simulator_does_not_have_are_refused_with_a_kernel_that_has_them() {
    let with = |from: &str, to: &str| TWO_FOR_ONE.replace(from, to);
    let (what, help) = refused(&with("name = \"b\"", "name = \"b\"\nclass = \"fifo 50\""));
    let expected = "variant `default`: task `b` has the scheduling class `fifo 50`; gsn-edf \
                    does not support this class in the simulator";
    let on = "run the scenario on a kernel: --on 7.2";
    assert_eq!((what.as_str(), help.as_str()), (expected, on));
    let in_class = with("deadline = \"8ms\"", "class = \"deadline\"\nwcet = \"6ms\"");
    read("t.toml", &in_class);
    let fair = "name = \"eevdf-6.12\"";
    let fair = in_class.replace("name = \"gsn-edf\", profile = \"x7550-assumed\"", fair);
    let (what, help) = refused(&fair);
    assert!(what.contains("task `a` has the scheduling class `deadline`; eevdf-6.12"), "{what}");
    assert!(help.contains("--on 7.2; or use a real-time scheduler"), "{help}");
}

#[test]
fn of_tasks_without_jobs_the_longest_response_is_unknown() {
    let figure = |name: &str, of: &str, measure: &str| {
        format!("\n[[figures]]\nname = \"{name}\"\nmeasure = \"{measure}\"\nof = \"{of}\"\n")
    };
    let none = "\n[[tasks]]\nname = \"none\"\nprogram = [\"compute 1ms\"]\n";
    let fair =
        TWO_FOR_ONE.replace("name = \"gsn-edf\", profile = \"x7550-assumed\"", "name = \"osv\"");
    let text = format!(
        "{}{none}{}{}{}",
        fair.replace("deadline = \"8ms\"\n", ""),
        figure("response", "none", "response"),
        figure("tardiness", "none", "tardiness"),
        figure("jobs", "none", "jobs"),
    );
    let experiment = read("t.toml", &text);
    let values: Vec<Option<f64>> = experiment.figures.iter().map(|it| it.value).collect();
    assert_eq!(values, [None, None, Some(0.0)]);
    let report = experiment.report().text();
    assert!(
        report.lines().any(|line| line.contains("response") && line.contains("unknown")),
        "{report}"
    );
    let text = format!("{TWO_FOR_ONE}{}", figure("response", "b", "response"));
    assert!(read("t.toml", &text).figures[0].value.is_some_and(|ns| ns >= 3e6));
}

#[test]
fn a_count_of_zero_launches_none_as_in_a_sweep() {
    let text = "schema = \"wastenot.scenario/1\"\nmachine = \"smp4\"\n\
        scheduler = { name = \"osv\" }\n[parameters]\nn = 0\n[sweep]\nn = [0, 4]\n\
        [[tasks]]\nname = \"always\"\nprogram = [\"compute 1ms\"]\n\
        [[tasks]]\nname = \"some\"\ncount = \"${n}\"\nprogram = [\"compute 1ms\"]\n\
        [[figures]]\nname = \"n=0\"\nmeasure = \"tasks\"\nvariant = \"n=0\"\n\
        [[figures]]\nname = \"n=4\"\nmeasure = \"tasks\"\nvariant = \"n=4\"\n";
    let values: Vec<_> = read("t.toml", text).figures.iter().map(|it| it.value).collect();
    assert_eq!(values, [Some(1.0), Some(5.0)]);
    let nobody = text.replace("[[tasks]]\nname = \"always\"\nprogram = [\"compute 1ms\"]\n", "");
    let error = scenario("t.toml", &nobody.replace("n = [0, 4]", "n = [0]"));
    let grid = error.map(|scenario| Grid::new(&scenario, &Sim, &Options::default()).err());
    let said = match grid {
        Err(error) => error.to_string(),
        Ok(error) => error.expect("refused").to_string(),
    };
    assert!(said.contains("no task starts"), "{said}");
}
