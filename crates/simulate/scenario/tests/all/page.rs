//! `docs/reference/scenario.md`, `docs/reference/sweep.md` and `docs/reference/profile.md`: their
//! tables are those of the code, and their examples can be read.

use std::fmt::Write;
use std::fs;

use wastenot_model::Help;
use wastenot_scenario::scenario::{Form, MEASURES, PICKS, SCHEMA, STEPS, Section, TIMES, WAITINGS};
use wastenot_scenario::task_sets::{DEADLINES, SPREADS, UTILIZATIONS};
use wastenot_scenario::{ArgumentKind, CATALOGUE, profile, scenario, sweep};

use super::seeds::root;

/// A table of two columns.
fn table<'a>(head: &str, rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = format!("| {head} | |\n|---|---|\n");
    for (name, about) in rows {
        writeln!(text, "| `{}` | {about} |", name.replace('|', "\\|")).expect("a text");
    }
    text
}

fn forms(head: &str, forms: &'static [Form]) -> String {
    table(head, forms.iter().map(|form| (form.form, form.about)))
}

fn schema(sections: &[&Section]) -> String {
    let mut text = String::new();
    for section in sections {
        write!(text, "### {}\n\n{}\n\n", section.title, section.about).expect("a text");
        text += "| key | value | |\n|---|---|---|\n";
        for key in section.keys {
            let form = key.form.replace('|', "\\|");
            writeln!(text, "| `{}` | {form} | {} |", key.name, key.about).expect("a text");
        }
        text += "\n";
    }
    text.trim_end().to_owned() + "\n"
}

fn catalogue() -> String {
    let mut text = String::new();
    for family in CATALOGUE {
        write!(text, "### {}\n\n", family.about).expect("a text");
        for function in family.functions {
            let (name, about, source) = (function.name, function.about, function.source);
            write!(text, "**`{name}`**: {about}. Source: {source}.\n\n").expect("a text");
            text += "| argument | value | unless set | |\n|---|---|---|---|\n";
            for argument in function.arguments {
                let kind = match argument.kind {
                    ArgumentKind::Count(most) => format!("up to {most}"),
                    ArgumentKind::Time => "a fixed TIME".into(),
                    ArgumentKind::Variate => "TIME".into(),
                    ArgumentKind::Waiting => "WAITING".into(),
                    ArgumentKind::Cpus => "list of CPUs".into(),
                };
                let (name, about) = (argument.name, argument.about);
                writeln!(text, "| `{name}` | {kind} | {} | {about} |", argument.default)
                    .expect("a text");
            }
            text += "\n";
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// The generated blocks of `docs/reference/scenario.md`, by name.
fn of_scenarios() -> Vec<(&'static str, String)> {
    let measures = MEASURES.iter().map(|(_, name, about)| (*name, *about));
    vec![
        ("steps", forms("step", STEPS)),
        ("times", forms("TIME", TIMES)),
        ("waitings", forms("WAITING", WAITINGS)),
        ("schema", schema(SCHEMA)),
        ("measures", table("MEASURE", measures)),
        ("picks", table("PICK", PICKS.iter().copied())),
        ("catalogue", catalogue()),
    ]
}

/// The generated blocks of `docs/reference/sweep.md`, by name.
fn of_sweeps() -> Vec<(&'static str, String)> {
    let utilizations = UTILIZATIONS.iter().map(|(_, name, about)| (*name, *about));
    let spreads = SPREADS.iter().map(|(_, name, about)| (*name, *about));
    let deadlines = DEADLINES.iter().map(|(_, name, about)| (*name, *about));
    vec![
        ("schema", schema(sweep::SCHEMA)),
        ("utilizations", table("UTILIZATIONS", utilizations)),
        ("periods", table("PERIODS begin with", spreads)),
        ("deadlines", table("DEADLINES", deadlines)),
    ]
}

#[test]
fn the_pages_have_the_tables_of_the_code() {
    let of_profiles = vec![("schema", schema(profile::SCHEMA))];
    wastenot_golden::page_holds(root().join("docs/reference/scenario.md"), of_scenarios());
    wastenot_golden::page_holds(root().join("docs/reference/sweep.md"), of_sweeps());
    wastenot_golden::page_holds(root().join("docs/reference/profile.md"), of_profiles);
}

#[test]
fn the_examples_of_the_page_can_be_read() {
    let page = fs::read_to_string(root().join("docs/reference/scenario.md")).expect("the page");
    let examples: Vec<&str> = page.split("```toml\n").skip(1).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let example = example.split("```").next().expect("a block");
        let read = scenario("example.toml", example);
        read.unwrap_or_else(|e| panic!("{e}\nhelp: {}\n{example}", e.help()));
    }
}

#[test]
fn the_example_of_a_profile_can_be_read() {
    let page = fs::read_to_string(root().join("docs/reference/profile.md")).expect("the page");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let read = profile::profile("example.toml", example.expect("an example"));
    read.unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()));
}
