//! The generated pages in `docs/reference`.

use std::fs;

use serde_json::Value;

use crate::examples::verbs;
use crate::root;
use crate::shell::Desk;

/// Holds a generated page of the reference against its file.
pub(crate) fn page(name: &str, text: &str) {
    wastenot_golden::holds(root().join("docs/reference").join(name), text);
}

#[test]
fn the_command_line_page_is_up_to_date() {
    let desk = Desk::new();
    let mut text = String::from(
        "# Command line\n\nGenerated from the program; change `crates/cli/src/args`.\n",
    );
    let mut section = |title: &str, line: &str| {
        let help = desk.exits(0, line);
        let help = help.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        text += &format!("\n## {title}\n\n```text\n{}\n```\n", help.trim_end());
    };
    section("wastenot", "wastenot --help");
    for verb in verbs(&Desk::new()) {
        section(&format!("wastenot {verb}"), &format!("wastenot {verb} --help"));
    }
    page("cli.md", &text);
}

#[test]
fn the_page_of_schedulers_is_up_to_date() {
    let (json, _) = Desk::new().json("wastenot list schedulers --json");
    let rows = |name: &str| json[name].as_array().cloned().unwrap_or_default();
    let cell = |row: &Value, name: &str| row[name].as_str().expect(name).replace('|', " \\| ");
    let mut text =
        String::from("# Schedulers\n\nGenerated from the program: `wastenot list schedulers`.\n");
    for scheduler in rows("schedulers") {
        let name = cell(&scheduler, "name");
        let (about, source) = (cell(&scheduler, "about"), cell(&scheduler, "source"));
        let groups = match scheduler["groups"].as_bool().expect("groups") {
            true => "Uses sessions and cgroups with their shares and quotas.",
            false => "Ignores groups.",
        };
        text += &format!("\n## {name}\n\n{about}. Source: {source}. {groups}\n");
        let tunables = rows("tunables");
        let own = tunables.iter().filter(|row| row["scheduler"] == name.as_str());
        let lines: Vec<String> = own
            .map(|row| {
                let column = |name: &str| cell(row, name);
                let (tunable, values) = (column("tunable"), column("values"));
                let (default, about) = (column("default"), column("about"));
                format!("| `{tunable}` | {values} | {default} | {about} |\n")
            })
            .collect();
        if !lines.is_empty() {
            text += "\n| tunable | values | default | what it changes |\n|---|---|---|---|\n";
            text += &lines.concat();
        }
    }
    page("schedulers.md", &text);
}

#[test]
fn the_page_on_causes_is_up_to_date() {
    let (json, _) = Desk::laid().json("wastenot list causes --json");
    let mut text = String::from(
        "# Causes of lost time\n\nGenerated from the program: `wastenot list causes --json`.\n\n",
    );
    text += json["verdict"].as_str().expect("a verdict");
    text += "\n\nFor each stretch of lost time, `check` goes through this list from the top. The \
             first cause with matching evidence gets the time. `check` charges waste to waiting \
             tasks that may use an idle CPU. It charges as many tasks as CPUs are idle, and \
             chooses the tasks with the longest waits. [Measurements](../results/causes.md) show \
             how often each cause is right.\n";
    for row in json["causes"].as_array().expect("rows") {
        let cell = |name: &str| row[name].as_str().expect(name);
        text += &format!("\n## {}\n\nTime was lost because {}.\n\n", cell("cause"), cell("about"));
        for (title, name) in [
            ("Evidence", "evidence"),
            ("Refuted by", "refuted_by"),
            ("What to do", "advice"),
            ("Missing data", "missing"),
            ("Source", "source"),
        ] {
            text += &format!("- {title}: {}\n", cell(name));
        }
    }
    page("causes.md", &text);
}

/// Paths of single values, and of lists with the keys of their first object.
fn names(path: &str, value: &Value, found: &mut Vec<(String, Vec<String>)>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                names(&path, field, found);
            }
        }
        Value::Array(rows) => {
            let keys = rows.first().and_then(Value::as_object).map(|row| row.keys().cloned());
            found.push((path.to_owned(), keys.into_iter().flatten().collect()));
        }
        _ => found.push((path.to_owned(), Vec::new())),
    }
}

#[test]
fn the_pages_on_json_name_all_that_is_printed_and_nothing_else() {
    names_all("check.md", "wastenot check trace.dat --json");
    let run = "wastenot run scenarios/seeds/scheduling-groups-cg.toml --json";
    names_all("run.md", run);
    let forced = "wastenot prove --replay counterexample.wn --scheduler mended.rota --json";
    names_all("counterexample.md", forced);
    let prove = "sed 's/^    on block/    on start(t) { kick here preempt }\\n&/' \
                 policies/wrong/one-try.rota > live.rota; \
                 wastenot prove live.rota --solver none --json";
    names_all("prove.md", prove);
    let bounds = "wastenot bounds test scenarios/tasksets/control.csv --cpus 1 --json \
                  --overheads scenarios/tasksets/overheads.csv";
    names_all("bounds.md", bounds);
    names_all("bounds-clusters.md", &format!("{bounds} --cluster 1"));
    names_all("bounds-sweep.md", "wastenot bounds sweep scenarios/sweeps/small.toml --json");
    names_all("bounds-measure.md", "wastenot bounds measure --span 5ms --json");
    let calibrate = "wastenot bounds calibrate scenarios/measured/epyc-2.csv --within 100% --json";
    names_all("bounds-calibrate.md", calibrate);
    let hunt = "wastenot hunt --scheduler cfs-4.1,groups=core0 --trials 512 --findings 1 --json";
    names_all("hunt.md", hunt);
    names_all("what-if.md", "wastenot what-if trace.dat --scheduler cfs-4.1 --json");
}

#[test]
fn the_page_on_accounts_names_all_that_is_printed_with_and_without_every() {
    names_all("explain.md", "wastenot explain trace.dat --task cc --json");
    names_all("explain.md", "wastenot explain trace.dat --task cc --every --json");
}

#[test]
fn the_page_on_confirmations_names_all_that_is_printed() {
    let line = "sed 's/^steps = .*/steps = 200/' scenarios/seeds/missing-domains-lu.toml > lu.toml; \
                wastenot run lu.toml --variant bug -o lu.wn > run.txt; \
                wastenot explain lu.wn --confirm --seeds 6 --json";
    names_all("confirm.md", line);
}

#[test]
fn the_page_on_bounds_names_every_implementation() {
    let page = fs::read_to_string(root().join("docs/reference/bounds.md")).expect("the page");
    let row = page.lines().find(|line| line.starts_with("| `implementation` |")).expect("a row");
    for name in wastenot_realtime::sweep::NAMES.implementations.iter().map(|it| it.name) {
        assert!(row.contains(&format!("`{name}`")), "{name}: {row}");
    }
}

/// A section of a page names the columns of this table.
pub(crate) fn names_columns(page: &str, section: &str, table: &str) {
    let text = fs::read_to_string(root().join("docs/reference").join(page)).expect(page);
    let part = text.split(section).nth(1).and_then(|rest| rest.split("\n## ").next());
    let rows = part.expect("its columns").lines();
    let named = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    let columns = table.lines().next().expect("a header").split(',');
    assert!(columns.eq(named), "{page}: {part:?}");
}

/// The page names what `line` prints, and nothing else.
fn names_all(page: &str, line: &str) {
    let (json, _) = Desk::laid().json(line);
    let mut printed = Vec::new();
    names("", &json, &mut printed);
    let text = fs::read_to_string(root().join("docs/reference").join(page)).expect(page);
    let entries: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("| `")).collect();
    let name_of = |entry: &str| entry.split('`').next().unwrap_or_default().to_owned();
    let covers = |entry: &str, path: &str| match name_of(entry).strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => name_of(entry) == path,
    };
    for (path, keys) in &printed {
        if ["schema", "verdict", "assumptions"].contains(&path.as_str()) {
            continue;
        }
        let entry = entries.iter().find(|entry| covers(entry, path));
        let entry = entry.unwrap_or_else(|| panic!("{page} lacks `{path}`"));
        for key in keys {
            assert!(entry.contains(&format!("`{key}`")), "{page} lacks `{key}` of `{path}`");
        }
    }
    for entry in entries {
        assert!(
            printed.iter().any(|(path, _)| covers(entry, path)),
            "nobody prints {entry} of {page}"
        );
    }
}
