//! Settings that replace values of a scenario: `--set`.

use wastenot_model::Help;
use wastenot_scenario::scenario::{Choice, Instead, Setting};
use wastenot_scenario::{Error, Scenario, scenario, scenario_for};

/// Two variants of a scheduler with tunables, a swept parameter.
const SET: &str = r#"schema = "wastenot.scenario/1"
machine = "smp4"
seeds = 3
parameters = { work = "1ms" }
scheduler = { name = "osv", thyst = "5ms" }
sweep = { work = ["1ms", "2ms"] }

[[tasks]]
name = "t"
program = ["compute ${work}"]

[[variants]]
name = "a"

[[variants]]
name = "b"
scheduler = { thyst = "2ms" }
machine = "up1"
"#;

fn set(settings: &[(&str, &str)], machine: Option<&str>) -> Result<Scenario, Error> {
    let owned = |&(name, value): &(&str, &str)| Setting { name: name.into(), value: value.into() };
    let machine = machine.map(|text| wastenot_scenario::machine(text).expect("a machine"));
    let instead = Instead { set: settings.iter().map(owned).collect(), machine };
    scenario_for("set.toml", SET, &instead, &|_| Ok(()))
}

#[test]
fn what_is_set_holds_in_all_variants() {
    let plain = set(&[], None).expect("a scenario");
    assert_eq!((plain.variants.len(), plain.seeds), (4, 3));
    assert_eq!(plain.changes, Vec::<String>::new());
    assert_eq!(plain, scenario("set.toml", SET).expect("a scenario"));

    let several = [("seeds", "2"), ("limit", "2s"), ("scheduler.thyst", "3ms")];
    let changed = set(&several, Some("flat(1,8)")).expect("a scenario");
    assert_eq!((changed.seeds, changed.limit), (2, wastenot_model::Span::s(2)));
    assert_eq!(changed.changes, ["machine flat(1,8)", "limit=2s", "scheduler.thyst=3ms"]);
    for variant in &changed.variants {
        assert_eq!(variant.scheduler.tunables, [("thyst".to_owned(), "3ms".to_owned())]);
        assert_eq!(variant.machine.len(), 8);
    }

    // A parameter that is set is no longer swept; the last setting of a key wins.
    let once = set(&[("work", "9ms"), ("parameters.work", "'7ms'")], None).expect("a scenario");
    assert_eq!(once.variants.len(), 2);
    let as_if = SET.replace("work = \"1ms\"", "work = \"7ms\"");
    let as_if = as_if.replace("sweep = { work = [\"1ms\", \"2ms\"] }", "");
    let as_if = scenario("set.toml", &as_if).expect("a scenario");
    assert_eq!(once.variants, as_if.variants);

    // Another scheduler starts from its own defaults.
    let other = set(&[("scheduler.name", "pinned")], None).expect("a scenario");
    assert!(other.variants.iter().all(|it| it.scheduler == Choice::named("pinned")));
    let machine = set(&[("machine", "flat(2,8)")], None).expect("a scenario");
    assert!(machine.variants.iter().all(|it| it.machine.len() == 16));
    let tasks = set(&[("tasks", "[{ name = 'u', program = ['compute 1ms'] }]")], None);
    assert_eq!(tasks.expect("a scenario").variants[0].workload.templates[0].name, "u");
}

#[test]
fn figures_of_variants_that_a_setting_replaces_are_left_out() {
    let figures = r#"
[[figures]]
name = "swept"
measure = "completion"
variant = "a work=1ms"

[[figures]]
name = "over swept"
measure = "completion"
variant = "b work=1ms"
over = { variant = "a work=2ms" }
"#;
    let text = format!("{SET}{figures}");
    let names = |set: &[(&str, &str)]| {
        let owned =
            |&(name, value): &(&str, &str)| Setting { name: name.into(), value: value.into() };
        let instead = Instead { set: set.iter().map(owned).collect(), machine: None };
        let scenario = scenario_for("set.toml", &text, &instead, &|_| Ok(()))?;
        let figures = scenario.figures.iter().map(|figure| figure.name.clone());
        Ok::<_, Error>((figures.collect::<Vec<_>>(), scenario.notes))
    };
    let (all, notes) = names(&[]).expect("a scenario");
    assert_eq!((all.len(), notes.len()), (2, 0), "{all:?}");
    let (all, notes) = names(&[("limit", "2s")]).expect("a scenario");
    assert_eq!((all.len(), notes.len()), (2, 0), "{all:?}");
    let (left, notes) = names(&[("work", "9ms")]).expect("a scenario");
    assert_eq!(left, Vec::<String>::new());
    assert!(notes[0].ends_with("are left out: 2"), "{notes:?}");
    let wrong = text.replace("a work=1ms", "a work=3ms");
    scenario("set.toml", &wrong).expect_err("a variant that never was");
}

#[test]
fn what_cannot_be_set_is_named() {
    for (name, value, what, help) in [
        ("limitt", "2s", "there is no key or parameter `limitt`", "did you mean `limit`?"),
        ("wrok", "2s", "there is no key or parameter `wrok`", "did you mean `work`?"),
        (
            "schema",
            "x",
            "there is no key or parameter `schema`",
            "use a parameter of this scenario (work)",
        ),
        ("", "", "there is no key or parameter ``", "use a parameter of this scenario (work)"),
        (
            "figures",
            "[]",
            "there is no key or parameter `figures`",
            "use a parameter of this scenario (work)",
        ),
        ("limit", "0s", "`limit` is not a valid length of a run", "86400s"),
        ("limit.a", "2s", "`limit` cannot be", ""),
        ("seeds", "many", "`seeds` cannot be `many`", "a whole number"),
        ("seeds", "99999999999999999999", "the number is too large", "18 digits"),
        ("machine", "smp", "machine", ""),
        ("machine", "2026-01-01", "a date", ""),
        ("costs.swtch", "1us", "[costs] has no key `swtch`", "did you mean `switch`?"),
        ("tasks", "x", "`tasks` cannot be `x`", "a list in square brackets"),
        ("tasks.name", "x", "`tasks` cannot be a table", "a list in square brackets"),
    ] {
        let error = set(&[("seeds", "2"), (name, value)], None).expect_err(name);
        let (text, hint) = (error.to_string(), error.help());
        assert!(text.starts_with(&format!("--set {name}={value}: ")), "{text}");
        assert!(text.contains(what) && hint.contains(help), "{text}\n{hint}");
    }
}
