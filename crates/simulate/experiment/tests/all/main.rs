//! What must hold of experiments.

mod again;
mod confirm;
mod faults;
mod optimum;
mod real_time;
mod recorded;
mod what_if;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};
use wastenot_experiment::{Bench, Cell, Error, Experiment, Grid, Options, Run, Sim, compared};
use wastenot_host::store::Error as Kept;
use wastenot_model::report::Value;
use wastenot_model::workload::{Program, Step, Template, Variate};
use wastenot_model::{CpuId, Help, Source, Span, Time, Workload};
use wastenot_scenario::scenario::{Choice, Scenario, Variant};

/// A scenario whose figures depend on the seed.
const TEXT: &str = r#"
schema = "wastenot.scenario/1"
about = "workers that meet"
machine = "flat(2,2)"
limit = "10s"
seeds = 5

[parameters]
scheduler = "cfs-4.1"

[scheduler]
name = "${scheduler}"

[[tasks]]
use = "omp_barrier"
name = "team"
threads = 6
rounds = 20
grain = "1ms +-50%"

[sweep]
scheduler = ["cfs-4.1", "global-fifo", "pinned"]

[[figures]]
name = "ratio"
measure = "completion"
variant = "scheduler=cfs-4.1"
over = { variant = "scheduler=pinned" }
"#;

fn scenario() -> Scenario {
    wastenot_scenario::scenario("meet.toml", TEXT).expect("a scenario")
}

fn experiment(options: &Options) -> Experiment {
    let scenario = scenario();
    Grid::new(&scenario, &Sim, options).expect("a grid").run(|_| {}).expect("an experiment")
}

fn cells(experiment: &Experiment) -> Vec<(String, Vec<Cell>)> {
    let outcomes = experiment.variants.iter();
    outcomes.map(|outcome| (outcome.name.clone(), outcome.cells.clone())).collect()
}

fn values(experiment: &Experiment) -> Vec<Option<f64>> {
    experiment.figure("ratio").expect("the figure").values.clone()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let experiment = pool.install(|| experiment(&Options::default()));
        (cells(&experiment), values(&experiment))
    };
    let one = with(1);
    assert_eq!((one.0.len(), one.0[0].1.len()), (3, 5));
    let times: Vec<u64> = one.0[0].1.iter().map(|cell| cell.time_ns).collect();
    assert!(times.iter().any(|time| *time != times[0]), "seeds differ: {times:?}");
    assert_eq!(one, with(2));
    assert_eq!(one, with(7));
}

fn stored(path: &Path) -> Options {
    Options { store: Some(path.to_owned()), ..Options::default() }
}

#[test]
fn a_stored_grid_goes_on_where_it_was_interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.jsonl");
    let whole = experiment(&stored(&path));
    let lines = |text: &str| text.lines().count();
    let text = fs::read_to_string(&path).expect("the cells");
    assert_eq!(lines(&text), 15);
    // Cut in the middle of the eighth line.
    let seven: usize = text.split_inclusive('\n').take(7).map(str::len).sum();
    fs::write(&path, &text[..seven + 40]).expect("written");
    let resumed = experiment(&stored(&path));
    assert_eq!((cells(&resumed), values(&resumed)), (cells(&whole), values(&whole)));
    let again = fs::read_to_string(&path).expect("the cells");
    // Seven stay as they are, what is left of the eighth is passed over, eight are run.
    assert!(again.starts_with(&text[..seven]));
    assert_eq!(lines(&again), 7 + 1 + 8);
    let last = experiment(&stored(&path));
    assert_eq!(cells(&last), cells(&whole));
    assert_eq!(fs::read_to_string(&path).expect("the cells"), again, "nothing is run again");
}

#[test]
fn a_stored_cell_is_taken_instead_of_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.jsonl");
    let variants = vec!["scheduler=pinned".to_owned()];
    let options = Options { variants, seeds: vec![4], ..stored(&path) };
    let ran = experiment(&options).variants[0].cells[0].clone();
    let text = fs::read_to_string(&path).expect("the cell");
    let forged = text.replace(&format!("\"rows\":{}", ran.rows), "\"rows\":1");
    assert_ne!(forged, text);
    // With the digest that its lines end with.
    let (body, _) = forged.rsplit_once(",\"sum\":").expect("a digest");
    let sum = wastenot_host::hex(&Sha256::digest(format!("{body}}}"))[..16]);
    fs::write(&path, format!("{body},\"sum\":\"{sum}\"}}\n")).expect("written");
    assert_eq!(experiment(&options).variants[0].cells[0].rows, 1);
    // Another seed is another cell.
    let options = Options { seeds: vec![5], ..options };
    assert_ne!(experiment(&options).variants[0].cells[0].rows, 1);
}

#[test]
fn progress_counts_every_cell_once() {
    let scenario = scenario();
    let options = Options { seeds: vec![1, 2], ..Options::default() };
    let grid = Grid::new(&scenario, &Sim, &options).expect("a grid");
    assert_eq!((grid.len(), grid.is_empty()), (6, false));
    let (calls, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let told = |done: usize| {
        calls.fetch_add(1, Ordering::Relaxed);
        sum.fetch_add(done, Ordering::Relaxed);
    };
    grid.run(told).expect("an experiment");
    assert_eq!((calls.into_inner(), sum.into_inner()), (6, 1 + 2 + 3 + 4 + 5 + 6));
}

#[test]
fn a_figure_is_there_if_its_variants_are() {
    let only = |name: &str| Options { variants: vec![name.into()], ..Options::default() };
    assert!(experiment(&only("scheduler=cfs-4.1")).figures.is_empty());
}

/// The error, and what to do.
fn refused(options: &Options) -> (String, String) {
    let error = Grid::new(&scenario(), &Sim, options).expect_err("refused");
    (error.to_string(), error.help().into_owned())
}

#[test]
fn unknown_names_are_refused_with_those_that_there_are() {
    let variant = Options { variants: vec!["fixed".into()], ..Options::default() };
    let (what, help) = refused(&variant);
    assert_eq!(what, "there is no variant `fixed`");
    assert!(help.contains("scheduler=global-fifo"), "{help}");

    let choice = |name: &str, tunables: &[(&str, &str)]| {
        let tunables = tunables.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        let scheduler = Some(Choice { tunables, ..Choice::named(name) });
        refused(&Options { scheduler, ..Options::default() })
    };
    let (what, help) = choice("cfs-4.2", &[]);
    assert!(what.contains("`cfs-4.2`") && help.contains("cfs-4.1"), "{what}: {help}");
    let (what, help) = choice("cfs-4.1", &[("grops", "own")]);
    assert!(what.contains("`grops`") && help.contains("groups"), "{what}: {help}");
    let (what, help) = choice("cfs-4.1", &[("groups", "owned")]);
    assert!(what.contains("owned") && help.contains("own-balanced"), "{what}: {help}");
}

#[test]
fn a_store_that_is_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = scenario();
    let options = stored(folder.path());
    let ran = Grid::new(&scenario, &Sim, &options).expect("a grid").run(|_| {});
    let error = ran.expect_err("a folder");
    assert!(matches!(error, Error::Store(Kept::File { .. })), "{error}");
    assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
}

#[test]
fn a_deadlock_is_an_error_that_says_who_waits_for_whom() {
    let scenario = scenario();
    let mut variant = scenario.variants[0].clone();
    let mut load = Workload::new();
    let (a, b) = (load.lock("a", Default::default()), load.lock("b", Default::default()));
    for (name, first, then) in [("ann", a, b), ("bob", b, a)] {
        let meet = wastenot_model::workload::Variate::Fixed(wastenot_model::Span::ms(1));
        let steps = vec![Step::Lock(first), Step::Compute(meet), Step::Lock(then)];
        let program = Program::new(steps).expect("a program");
        let task = load.template(Template::new(name, program));
        load.launch(task, CpuId(0));
    }
    variant.workload = load;
    let limit = Time(1_000_000_000);
    let options = wastenot_sim::Options { limit, ..Default::default() };
    let error = Sim.run(&variant, &options).expect_err("a deadlock");
    let said = error.to_string();
    assert!(said.starts_with("variant `scheduler=cfs-4.1`, seed 1: deadlock: "), "{said}");
    for words in ["waits for the lock `b`, held by bob", "waits for the lock `a`, held by ann"] {
        assert!(said.contains(words), "{said}");
    }
    assert!(error.help().contains("unlock"), "{}", error.help());
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let scenario = scenario();
    for text in [
        TEXT,
        "\n\n[[tasks]]\n",
        "[1, 2]\n",
        "{\"key\":5}\n",
        "{\"key\":\"x\"}\n{\"key\":\"y\"}\n",
        "{\"time\": 1",
        "\0\0\0",
    ] {
        fs::write(&path, text).expect("written");
        let ran = Grid::new(&scenario, &Sim, &stored(&path)).expect("a grid").run(|_| {});
        let error = ran.expect_err(text);
        assert!(matches!(error, Error::Store(Kept::Foreign { .. })), "{error}");
        assert!(error.to_string().contains("not a results file"), "{error}");
        assert!(error.help().contains("a new file"), "{}", error.help());
        assert_eq!(fs::read_to_string(&path).expect("the file"), text);
    }
}

#[test]
fn a_store_that_was_cut_in_its_first_line_or_is_of_another_version_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.jsonl");
    let variants = vec!["scheduler=pinned".to_owned()];
    let options = Options { variants, seeds: vec![4], ..stored(&path) };
    for text in ["", "{\"k", "{\"key\":\"51f4", "{\"key\":\"51f4\",\"cell\":{\"old\":1}}\n"] {
        fs::write(&path, text).expect("written");
        for _ in 0..2 {
            experiment(&options);
        }
        let after = fs::read_to_string(&path).expect("the cells");
        assert!(after.starts_with(text), "{after}");
        assert_eq!(after.matches("\"time_ns\"").count(), 1, "run once, then known\n{after}");
    }
}

/// The simulator under another name, which takes and runs what these do.
struct Double<F> {
    name: &'static str,
    fits: fn(&Variant) -> Result<(), Error>,
    run: F,
}

impl<F> std::fmt::Debug for Double<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl<F> Bench for Double<F>
where
    F: Fn(&Variant, &wastenot_sim::Options) -> Result<Run, Error> + Sync,
{
    fn name(&self) -> &str {
        self.name
    }
    fn doing(&self) -> String {
        Sim.doing()
    }
    fn how(&self) -> String {
        Sim.how()
    }
    fn assumes(&self) -> Vec<String> {
        Sim.assumes()
    }
    fn fits(&self, variant: &Variant) -> Result<(), Error> {
        (self.fits)(variant)
    }
    fn is_prepared(&self) -> bool {
        true
    }
    fn run(&self, variant: &Variant, options: &wastenot_sim::Options) -> Result<Run, Error> {
        (self.run)(variant, options)
    }
}

#[test]
fn a_bench_refuses_before_it_runs_and_has_stored_cells_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.jsonl");
    let (scenario, runs) = (scenario(), AtomicUsize::new(0));
    let fits = |variant: &Variant| match variant.scheduler.name == "pinned" {
        true => Err(Error::Variant { name: variant.name.clone(), known: Vec::new() }),
        false => Sim.fits(variant),
    };
    let run = |variant: &Variant, options: &wastenot_sim::Options| {
        runs.fetch_add(1, Ordering::Relaxed);
        Sim.run(variant, options)
    };
    let bench = Double { name: "counting", fits, run };
    Grid::new(&scenario, &bench, &stored(&path)).expect_err("one variant is refused");
    assert_eq!(runs.load(Ordering::Relaxed), 0);

    let scheduler = Some(Choice::named("work-conserving"));
    let options = Options { scheduler, seeds: vec![4], ..stored(&path) };
    let cells = |bench: &dyn Bench| {
        let grid = Grid::new(&scenario, bench, &options).expect("a grid");
        grid.run(|_| {}).expect("an experiment").variants[0].cells.clone()
    };
    let simulated = cells(&Sim);
    for _ in 0..2 {
        assert_eq!(cells(&bench), simulated);
        assert_eq!(runs.load(Ordering::Relaxed), 1, "run once, then known");
    }
}

#[test]
fn how_long_programs_of_users_take_is_not_told_where_instructions_are_counted() {
    let text = "schema = \"wastenot.scenario/1\"\nmachine = \"smp4\"\nseeds = 6\n\
                scheduler = { name = \"work-conserving\" }\n\
                [[tasks]]\nname = \"t\"\nprogram = [\"run hackbench -g 1\"]\n\
                [[figures]]\nname = \"completion\"\nmeasure = \"completion\"\n\
                [[figures]]\nname = \"first\"\nmeasure = \"first-completion\"\n\
                [[figures]]\nname = \"wait\"\nmeasure = \"wait\"\n";
    let scenario = wastenot_experiment::scenario("p.toml", text).expect("a scenario");
    let error =
        Grid::new(&scenario, &Sim, &Options::default()).expect_err("it cannot be simulated");
    assert!(
        error.to_string().contains("`hackbench -g 1`, but the simulator cannot run"),
        "{error}"
    );
    assert!(error.help().contains("--on 7.2; or record the program"), "{}", error.help());
    let ran = |counted: bool| {
        // Where programs of users run: with another program, which is called as they are.
        let run = |variant: &Variant, options: &wastenot_sim::Options| {
            let mut variant = variant.clone();
            variant.workload.commands.clear();
            let step = Step::Compute(Variate::Exponential { mean: Span::ms(1) });
            variant.workload.templates[0].program = Program::new(vec![step]).expect("one step");
            let mut run = Sim.run(&variant, options)?;
            if counted {
                let how = format!("QEMU, {} shift=1", Source::COUNTED);
                run.history.head.source.notes.push((Source::GUEST.into(), how));
            }
            Ok(run)
        };
        let name = if counted { "counted" } else { "timed" };
        let bench = Double { name, fits: |_| Ok(()), run };
        let grid = Grid::new(&scenario, &bench, &Options::default()).expect("a grid");
        grid.run(|_| {}).expect("an experiment")
    };
    let [timed, counted] = [false, true].map(ran);
    let known =
        |it: &Experiment| it.figures.iter().map(|it| it.value.is_some()).collect::<Vec<_>>();
    assert_eq!((known(&timed), known(&counted)), (vec![true; 3], vec![false, false, true]));
    let [timed_text, counted_text] = [&timed, &counted].map(|it| it.report().text());
    let words = counted_text.split_whitespace().collect::<Vec<_>>().join(" ");
    let left_out = "leaves out completion times, because QEMU counted instructions";
    assert!(words.contains(left_out), "{words}");
    assert!(!timed_text.contains("leaves out"), "{timed_text}");
    let rows =
        |it: &Experiment| serde_json::to_value(it.report()).expect("JSON")["variants"][0].clone();
    assert!(rows(&timed)["completion_ns"]["median"].is_u64());
    assert!(rows(&counted)["completion_ns"]["median"].is_null());
    let compared: Vec<String> =
        compared(&counted, &counted).into_iter().map(|it| it.figure).collect();
    assert_eq!(compared, ["wait"]);
}

#[test]
fn an_about_without_a_full_stop_does_not_run_into_the_verdict() {
    for (about, begins) in [
        ("workers that meet", "workers that meet. "),
        ("Workers that meet.", "Workers that meet. "),
        ("Do they meet?", "Do they meet? "),
        ("They meet (\\\"here.\\\")", "They meet (\"here.\") "),
        ("", "The figure lies"),
    ] {
        let band = "over = { variant = \"scheduler=pinned\" }\nband = [0, 100]";
        let text = TEXT.replace("over = { variant = \"scheduler=pinned\" }", band);
        let text = text.replace("workers that meet", about);
        let scenario = wastenot_scenario::scenario("meet.toml", &text).expect("a scenario");
        let options = Options { seeds: vec![1], ..Options::default() };
        let ran =
            Grid::new(&scenario, &Sim, &options).expect("a grid").run(|_| {}).expect("it runs");
        let verdict = ran.report().verdict;
        assert!(verdict.starts_with(begins), "{about}: {verdict}");
    }
}

#[test]
fn a_stored_line_that_was_edited_is_refused_with_its_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.jsonl");
    experiment(&stored(&path));
    let text = fs::read_to_string(&path).expect("the cells");
    let lines: Vec<&str> = text.lines().collect();
    let edit = |line: usize, from: &str, to: &str| {
        let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        assert!(lines[line - 1].contains(from), "{}", lines[line - 1]);
        lines[line - 1] = lines[line - 1].replacen(from, to, 1);
        lines.join("\n") + "\n"
    };
    // A figure, whose cell it is, what it is held by, and a word that is no JSON any more.
    for (line, from, to) in [
        (3, "\"waste_cpu_ns\":", "\"waste_cpu_ns\":1"),
        (1, "\"key\":\"", "\"key\":\"0"),
        (15, "\"sum\":\"", "\"sum\":\"0"),
        (7, "\"done\":true", "\"done\":yes"),
    ] {
        let edited = edit(line, from, to);
        fs::write(&path, &edited).expect("written");
        let scenario = scenario();
        let ran = Grid::new(&scenario, &Sim, &stored(&path)).expect("a grid").run(|_| {});
        let error = ran.expect_err("edited");
        assert!(
            matches!(error, Error::Store(Kept::Edited { line: found, .. }) if found == line),
            "{error}"
        );
        let said = format!("cells.jsonl:{line}: ");
        assert!(error.to_string().contains(&said), "{error}");
        assert!(error.help().contains("delete this line"), "{}", error.help());
        assert_eq!(fs::read_to_string(&path).expect("the cells"), edited, "left as it is");
    }
}

/// The error of a scenario read with built-in schedulers only, and what to do.
fn misread(from: &str, to: &str) -> (String, String) {
    let text = TEXT.replace(from, to);
    assert_ne!(text, TEXT);
    let error = wastenot_experiment::scenario("meet.toml", &text).expect_err(to);
    (error.to_string(), error.help().into_owned())
}

#[test]
fn a_scheduler_that_there_is_not_is_named_with_its_line_when_the_scenario_is_read() {
    let name = "name = \"${scheduler}\"";
    let (what, help) = misread(name, "name = \"cfs-41\"");
    assert_eq!(what, "meet.toml:12: there is no scheduler `cfs-41`");
    assert_eq!(help, "did you mean `cfs-4.1`?");
    let (what, help) = misread(name, "name = \"cfs-4.1\"\ngroup = \"own\"");
    assert_eq!(what, "meet.toml:13: cfs-4.1 has no tunable `group`");
    assert_eq!(help, "did you mean `groups`?");
    let (what, help) = misread(name, "name = \"gang\"\n\nquantum = \"0ms\"");
    assert_eq!(what, "meet.toml:14: gang: `quantum` cannot be `0ms`");
    assert!(help.contains("`10us`"), "{help}");
    assert!(wastenot_experiment::scenario("meet.toml", TEXT).is_ok());
}

/// Two variants that differ in their scheduler only, figures of every kind.
const FIGURES: &str = r#"
schema = "wastenot.scenario/1"
about = "the story of osv"
machine = "smp4"
limit = "500ms"
scheduler = { name = "osv" }

[[tasks]]
name = "work"
count = 6
program = ["compute 10ms +-10%"]

[[variants]]
name = "bug"

[[variants]]
name = "fix"
scheduler = { thyst = "5ms" }

[[variants]]
name = "long"
tasks = [{ name = "work", program = ["compute 10s"] }]

[[figures]]
name = "spread"
measure = "completion"
variant = "bug"
pick = "spread"
published = 1.2
formula = 1.2
band = [0, 100]

[[figures]]
name = "ratio"
measure = "completion"
variant = "bug"
over = { variant = "fix" }
band = [0.0, 1000]

[[figures]]
name = "long"
measure = "completion"
variant = "long"
band = [0, 1e9]
"#;

fn figures(options: &Options) -> Experiment {
    let scenario = wastenot_experiment::scenario("kinds.toml", FIGURES).expect("a scenario");
    Grid::new(&scenario, &Sim, options).expect("a grid").run(|_| {}).expect("an experiment")
}

#[test]
fn an_unknown_value_is_neither_in_its_band_nor_out_of_it() {
    let experiment = figures(&Options::default());
    let long = experiment.figure("long").expect("a figure");
    assert_eq!((long.value, long.in_band()), (None, None));
    let report = experiment.report();
    let json = serde_json::to_value(&report).expect("JSON");
    assert!(json["figures"][2]["in_band"].is_null() && json["figures"][2]["band"].is_array());
    assert_eq!(json["figures"][1]["in_band"], true);
    let text = report.text();
    let line = text.lines().find(|line| line.starts_with("  long ") && line.contains("s to"));
    assert!(line.is_some_and(|line| line.ends_with("unknown")), "{text}");
    assert!(report.verdict.contains("2 of 3 figures lie in their bands; 1 is unknown."), "{text}");
}

#[test]
fn a_spread_has_no_smallest_and_largest() {
    let experiment = figures(&Options::default());
    let spread = experiment.figure("spread").expect("a figure");
    assert!(spread.value.is_some_and(|value| (1.0..2.0).contains(&value)), "{spread:?}");
    assert_eq!(spread.range(), None);
    assert!(experiment.figure("ratio").is_some_and(|ratio| ratio.range().is_some()));
}

#[test]
fn a_report_says_what_was_run() {
    let options = Options { seeds: vec![1, 2, 3, 7], ..Options::default() };
    let report = figures(&options).report();
    let (text, json) = (report.text(), serde_json::to_value(&report).expect("JSON"));
    for words in ["Seeds  1-3, 7", "osv           smp4 (4 CPUs) bug, long", "osv thyst=5ms smp4"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert_eq!(json["seeds"], serde_json::json!([1, 2, 3, 7]));
    let fix = &json["variants"][1];
    assert_eq!((&fix["name"], &fix["scheduler"]), (&"fix".into(), &"osv thyst=5ms".into()));
    assert_eq!((&fix["machine"], &fix["cpus"]), (&"smp4".into(), &4.into()));
    let completion = fix["completion_ns"].as_object().expect("an object");
    assert!(["median", "min", "max"].iter().all(|name| completion[*name].is_u64()), "{fix}");
    assert!(fix["waste"]["cpu_ns"].is_u64(), "{fix}");
}

#[test]
fn under_another_scheduler_nothing_is_judged_and_what_is_the_same_runs_once() {
    let scheduler = Some(Choice::named("pinned"));
    let experiment = figures(&Options { scheduler, ..Options::default() });
    let names: Vec<&str> = experiment.variants.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["bug", "long"]);
    assert_eq!(experiment.variants[0].same, ["fix"]);
    let report = experiment.report();
    assert!(!report.verdict.contains("the story of osv"), "{}", report.verdict);
    assert!(!report.verdict.contains("in their band"), "{}", report.verdict);
    assert!(report.verdict.contains("bug and fix are identical"), "{}", report.verdict);
    let json = serde_json::to_value(&report).expect("JSON");
    assert_eq!(json["variants"][0]["same"], serde_json::json!(["fix"]));
    for figure in json["figures"].as_array().expect("figures") {
        for expectation in ["in_band", "band", "published", "formula"] {
            assert!(figure[expectation].is_null(), "{figure}");
        }
    }
    assert_eq!(json["figures"][1]["value"], 1.0, "bug over fix, the same run");
    let rows = &report.table("variants").expect("a table").rows;
    assert_eq!(rows[0][..2], [Value::from("sim"), Value::from("bug")]);
}

#[test]
fn quotas_that_a_scheduler_does_not_look_at_are_an_assumption() {
    let text = TEXT.replace("name = \"team\"", "name = \"team\"\ngroup = \"box\"")
        + "\n[groups.box]\nquota = \"50ms/100ms\"\n";
    let scenario = wastenot_scenario::scenario("box.toml", &text).expect("a scenario");
    let grid = Grid::new(&scenario, &Sim, &Options { seeds: vec![1], ..Options::default() });
    let report = grid.expect("a grid").run(|_| {}).expect("an experiment").report();
    let unread: Vec<&String> =
        report.assumptions.iter().filter(|it| it.contains("ignores groups")).collect();
    let named = |name: &str| unread.iter().any(|it| it.starts_with(name));
    assert!(named("global-fifo") && named("pinned") && unread.len() == 2, "{unread:?}");
}

/// Five tasks of 10 ms on one CPU, first come, first served: they wait 0, 10, 20, 30 and 40 ms.
const WAITS: &str = r#"
schema = "wastenot.scenario/1"
machine = "up1"
seeds = 1
scheduler = { name = "global-fifo" }

[[tasks]]
name = "t"
count = 5
program = ["compute 10ms"]

[[figures]]
name = "longest"
measure = "wait"

[[figures]]
name = "p50"
measure = "wait"
percentile = 50

[[figures]]
name = "p20.001"
measure = "wait"
percentile = 20.001

[[figures]]
name = "p20"
measure = "wait"
of = "t*"
percentile = 20

[[figures]]
name = "tail"
measure = "wait"
percentile = 80
over = { percentile = 40 }
"#;

#[test]
fn percentiles_of_waits_are_figures() {
    let scenario = wastenot_experiment::scenario("waits.toml", WAITS).expect("a scenario");
    let grid = Grid::new(&scenario, &Sim, &Options::default()).expect("a grid");
    let experiment = grid.run(|_| {}).expect("an experiment");
    let value = |name: &str| experiment.figure(name).and_then(|figure| figure.value);
    assert_eq!(value("longest"), Some(40e6));
    assert_eq!(value("p50"), Some(20e6));
    assert_eq!((value("p20"), value("p20.001")), (Some(0.0), Some(10e6)));
    assert_eq!(value("tail"), Some(3.0), "30 ms over 10 ms");
    assert!(experiment.report().text().contains("40.00 ms"), "{}", experiment.report().text());
    for (from, to) in [
        ("percentile = 50", "percentile = 0"),
        ("percentile = 50", "percentile = 101"),
        ("percentile = 50", "percentile = 50.0001"),
        ("measure = \"wait\"\npercentile = 50", "measure = \"share\"\npercentile = 50"),
    ] {
        let error = wastenot_experiment::scenario("waits.toml", &WAITS.replace(from, to));
        let error = error.expect_err(to).to_string();
        assert!(error.starts_with("waits.toml:") && error.contains("`percentile` "), "{error}");
    }
}
