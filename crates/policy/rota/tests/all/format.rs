//! The formatter: one form for each text, and nothing lost.

use proptest::prelude::*;
use wastenot_chance::sample;
use wastenot_rota::{format, parse};

use crate::texts::{FAIR, STEALING, meaning, mutated};

const UNTIDY: &str = "\
// Of the file.

policy p( slice :time=20ms ){
queue   ready:fifo per cpu;queue all : ordered( vt ) per machine
task{ a: count = 0 owner queue,b :time=3ms owner queue }
    metric n( c:cpu ):count=queued( c.ready )+( 1 )

  // Of the handler.


  on wake( t ){   // here
     if a{ run t on c }else{ kick here;kick here }
     if a{ kick here;kick here }else if b{ kick here } else{
     kick c }
     let x = a +
b // why

     // before the end

  }
  on block(t){ }
  on exit(t){
  }
  on tick(t){ if exists c in machine:idle(c) { kick here } }
}
partition web on cpus 0 - 3,8 runs p for cgroup \"web*\"
// Last.
";

const TIDY: &str = "\
// Of the file.

policy p(slice: time = 20ms) {
    queue ready : fifo per cpu
    queue all : ordered(vt) per machine
    task {
        a: count = 0 owner queue
        b: time = 3ms owner queue
    }
    metric n(c: cpu) : count = queued(c.ready) + (1)

    // Of the handler.

    on wake(t) {  // here
        if a { run t on c } else {
            kick here
            kick here
        }
        if a {
            kick here
            kick here
        } else if b { kick here } else {
            kick c
        }
        let x = a +
            b  // why

        // before the end
    }
    on block(t) { }
    on exit(t) { }
    on tick(t) { if exists c in machine : idle(c) { kick here } }
}
partition web on cpus 0-3, 8 runs p for cgroup \"web*\"
// Last.
";

#[test]
fn an_untidy_text_becomes_tidy() {
    assert_eq!(format(UNTIDY).unwrap(), TIDY);
    assert_eq!(format(TIDY).unwrap(), TIDY);
}

#[test]
fn comments_of_lines_that_follow_each_other_stand_in_one_column() {
    let text = "policy p {\n task {\n a: count = 0 // one\n bcd: count = 0 // two\n }\n}\n";
    let tidy = format(text).unwrap();
    let columns: Vec<_> = tidy.lines().filter_map(|line| line.find("//")).collect();
    assert_eq!(columns.len(), 2);
    assert_eq!(columns[0], columns[1], "{tidy}");
}

#[test]
fn a_block_that_does_not_fit_its_line_gets_lines() {
    let name = "a".repeat(80);
    let tidy = format(&format!("policy p {{\n on tick(t) {{ kick {name} }}\n}}")).unwrap();
    assert_eq!(tidy.lines().nth(2), Some(&*format!("        kick {name}")));
}

#[test]
fn where_a_line_of_two_blocks_is_too_long_both_get_lines() {
    let name = "a".repeat(40);
    let line = format!("if a {{ kick {name} }} else {{ kick {name} }}");
    let tidy = format(&format!("policy p {{\n on tick(t) {{\n{line}\n}}\n}}")).unwrap();
    let lines: Vec<&str> = tidy.lines().map(str::trim).collect();
    let kick = format!("kick {name}");
    assert_eq!(lines[2..7], ["if a {", &kick, "} else {", &kick, "}"]);
}

#[test]
fn a_text_with_faults_is_refused() {
    assert_eq!(format("policy p {").unwrap_err()[0].code, "R010");
}

/// The tokens of a text, without those that only separate pieces; and its comments in order.
fn pieces(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut tokens, mut comments) = (String::new(), Vec::new());
    for line in text.lines() {
        // In the texts of these tests, no quoted text contains `//`.
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        tokens += &format!("{code}\n");
        if line.contains("//") {
            comments.push(comment.trim_end().to_string());
        }
    }
    let letters = tokens.split_whitespace().collect::<String>().replace([';', ','], "");
    (vec![letters], comments)
}

fn holds_of(text: &str) {
    let once = format(text).expect("no faults");
    assert_eq!(format(&once).as_ref(), Ok(&once), "twice is once");
    assert_eq!(meaning(&once), meaning(text), "it means the same");
    assert_eq!(pieces(&once), pieces(text), "nothing is lost");
    let lines: Vec<&str> = once.lines().collect();
    assert!(lines.iter().all(|line| line.trim_end() == *line && !line.contains('\t')), "{once}");
    assert!(!once.contains("\n\n\n"), "{once}");
}

#[test]
fn both_examples_are_formatted_without_loss() {
    for text in [STEALING, FAIR, TIDY, "", "// only this", "\n\n"] {
        holds_of(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn formatting_twice_is_formatting_once_and_changes_no_meaning(seed: u64) {
        holds_of(&sample(seed));
    }

    #[test]
    fn what_is_damaged_is_refused_or_formatted(seed: u64, places: Vec<(u32, u8)>) {
        let text = mutated(&sample(seed), &places);
        match format(&text) {
            Ok(_) => holds_of_damaged(&text),
            Err(faults) => prop_assert_eq!(faults, parse(&text).1),
        }
    }
}

/// Like [`holds_of`], without a check of where comments are.
fn holds_of_damaged(text: &str) {
    let once = format(text).expect("no faults");
    assert_eq!(format(&once).as_ref(), Ok(&once), "{text}");
    assert_eq!(meaning(&once), meaning(text), "{text}");
}
