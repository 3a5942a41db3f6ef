//! `docs/scenario.md`: its tables are those of the code, its examples can be read.

use std::fmt::Write;
use std::fs;

use wastenot_scenario::scenario::{Form, MEASURES, PICKS, SCHEMA, STEPS, TIMES, WAITINGS};
use wastenot_scenario::{ArgumentKind, CATALOGUE, scenario};

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

fn schema() -> String {
    let mut text = String::new();
    for section in SCHEMA {
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

/// The page with what is generated put between its marks.
fn generated(page: &str) -> String {
    let measures = MEASURES.iter().map(|(_, name, about)| (*name, *about));
    let parts = [
        ("steps", forms("step", STEPS)),
        ("times", forms("TIME", TIMES)),
        ("waitings", forms("WAITING", WAITINGS)),
        ("schema", schema()),
        ("measures", table("MEASURE", measures)),
        ("picks", table("PICK", PICKS.iter().copied())),
        ("catalogue", catalogue()),
    ];
    let mut page = page.to_owned();
    for (name, text) in parts {
        let begin = format!("<!-- begin {name} -->\n");
        let (before, rest) = page.split_once(&begin).expect(name);
        let (_, after) = rest.split_once("<!-- end -->").expect(name);
        page = format!("{before}{begin}{text}<!-- end -->{after}");
    }
    page
}

#[test]
fn the_page_has_the_tables_of_the_code() {
    let path = root().join("docs/scenario.md");
    let page = fs::read_to_string(&path).expect("docs/scenario.md");
    let text = generated(&page);
    if text != page && std::env::var("SNAPSHOTS").is_ok_and(|action| action == "overwrite") {
        fs::write(&path, text).expect("docs/scenario.md");
        return;
    }
    assert!(
        text == page,
        "docs/scenario.md is not up to date: SNAPSHOTS=overwrite cargo test -p wastenot-scenario"
    );
}

#[test]
fn the_examples_of_the_page_can_be_read() {
    let page = fs::read_to_string(root().join("docs/scenario.md")).expect("docs/scenario.md");
    let examples: Vec<&str> = page.split("```toml\n").skip(1).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let example = example.split("```").next().expect("a block");
        let read = scenario("example.toml", example);
        read.unwrap_or_else(|e| panic!("{e}\nhelp: {}\n{example}", e.help()));
    }
}
