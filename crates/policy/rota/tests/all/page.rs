//! `docs/reference/rota.md`: its tables are those of the code, and its examples compile.

use std::fs;
use std::path::{Path, PathBuf};

use wastenot_chance::grammar::{RULES, TOKENS};
use wastenot_rota::syntax::vocabulary::{self, CALLS, CLAIMS, EVENTS, Entry, PLACES, PROTOCOL};
use wastenot_rota::{codes, compile, format};

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/rota.md")
}

/// The rules of the grammar, each after its meaning.
fn grammar() -> String {
    let mut text = String::from("```text\n");
    for rule in RULES {
        text += &format!("{}\n", broken(&format!("# {}", rule.about), "# "));
        text += &format!("{}\n\n", broken(&format!("{} = {}", rule.name, rule.form), "    "));
    }
    format!("{}\n```\n", text.trim_end())
}

/// A text in lines of at most 80 columns.
fn broken(line: &str, indent: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in line.split(' ') {
        let letters = word.chars().count();
        if width > 0 && width + 1 + letters > 80 {
            text += &format!("\n{indent}{word}");
            width = indent.len() + letters;
        } else {
            let blank = if width > 0 { " " } else { "" };
            text += &format!("{blank}{word}");
            width += blank.len() + letters;
        }
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn entries(head: &str, entries: &[Entry]) -> String {
    let mut text = format!("| {head} | | |\n|---|---|---|\n");
    for entry in entries {
        text += &format!("| `{}` | {} | {} |\n", entry.form, cell(entry.gives), cell(entry.about));
    }
    text
}

fn tokens() -> String {
    let rows = TOKENS.iter().map(|(name, about)| format!("| {name} | {} |\n", cell(about)));
    format!("| token | is |\n|---|---|\n{}", rows.collect::<String>())
}

fn table_of_codes() -> String {
    let mut text = String::from("| code | fault |\n|---|---|\n");
    for (family, codes) in codes::families().filter(|(_, codes)| !codes.is_empty()) {
        text += &format!("| | *{family}* |\n");
        for code in codes {
            text += &format!("| {} | {} |\n", code.code, cell(code.title));
        }
    }
    text
}

#[test]
fn the_page_has_the_tables_of_the_code() {
    let parts = [
        ("grammar", grammar()),
        ("tokens", tokens()),
        ("events", entries("event", EVENTS)),
        ("places", entries("place", PLACES)),
        ("calls", entries("value", CALLS)),
        ("protocol", entries("fault", PROTOCOL)),
        ("claims", entries("claim", CLAIMS)),
        ("codes", table_of_codes()),
    ];
    wastenot_golden::page_holds(path(), parts);
}

#[test]
fn the_examples_of_the_page_compile_and_are_in_their_one_form() {
    let page = fs::read_to_string(path()).expect("the page");
    let examples: Vec<&str> = page.split("```rota\n").skip(1).collect();
    assert!(examples.len() >= 3);
    for example in examples {
        let example = example.split("```").next().expect("a block");
        compile(example).unwrap_or_else(|faults| panic!("{faults:#?}\n{example}"));
        assert_eq!(format(example).unwrap(), example);
    }
}

#[test]
fn every_word_of_the_tables_can_be_used_as_its_example_does() {
    for entry in [EVENTS, PLACES, CALLS, PROTOCOL, CLAIMS].concat() {
        let text = codes::whole(entry.example);
        if let Err(faults) = compile(&text) {
            panic!("{}: {faults:#?}\n{text}", entry.form);
        }
        let words: Vec<&str> = entry.form.split(|c: char| !is_of_name(c)).collect();
        let used = words.iter().any(|word| word.len() > 1 && entry.example.contains(word));
        assert!(used, "{}: {}", entry.form, entry.example);
    }
}

#[test]
fn claims_have_the_names_that_the_tables_say() {
    for (name, claim) in vocabulary::claims() {
        let text = codes::whole(&format!("prove {claim}"));
        let program = compile(&text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"));
        let names: Vec<&str> = program.policies[0].claims.iter().map(|it| it.kind.name()).collect();
        assert_eq!(names, [name]);
    }
}

#[test]
fn every_call_of_the_tables_is_known_by_its_name() {
    let called: Vec<&str> = vocabulary::called().collect();
    for name in ["queued", "min", "max", "seen", "allowed", "home", "smt", "llc", "node"] {
        assert!(called.contains(&name), "{name} in {called:?}");
        assert!(vocabulary::form(name).is_some_and(|form| form.starts_with(name)), "{name}");
    }
    assert_eq!(vocabulary::form("max"), Some("max(a, b)"));
    let places: Vec<&str> = called.into_iter().filter(|it| vocabulary::is_place(it)).collect();
    assert_eq!(places, ["home", "smt", "llc", "node"]);
}

fn is_of_name(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}
