//! Properties of the emitted text.

use std::path::Path;

use wastenot_model::workload::Random;
use wastenot_rota::compile;
use wastenot_rota::emit::emit;

use super::policies;

/// The emitted files of the project's policies.
fn emitted() -> Vec<(String, String)> {
    let emit = |(name, program)| (name, emit(&program).expect("it can be emitted"));
    policies().into_iter().map(emit).collect()
}

#[test]
fn two_policies_are_emitted_as_they_stand_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, text) in emitted() {
        if !["work-stealing", "fair-vtime"].contains(&name.as_str()) {
            continue;
        }
        wastenot_golden::holds(folder.join(format!("{name}.bpf.c")), &text);
    }
}

#[test]
fn the_same_program_gives_the_same_text() {
    assert_eq!(emitted(), emitted());
}

#[test]
fn nothing_loops_but_iterators_of_queues() {
    for (name, text) in emitted() {
        for line in text.lines() {
            let loops = ["for (", "while (", "do {", "goto "].iter().any(|it| line.contains(it));
            let iterator = line.contains("bpf_iter_scx_dsq_next(&it)");
            assert!(!loops || iterator, "{name}: {line}");
        }
    }
}

#[test]
fn every_count_of_a_loop_is_a_constant_or_guarded() {
    for (name, text) in emitted() {
        let lines: Vec<&str> = text.lines().collect();
        let mut loops = 0;
        for (n, line) in lines.iter().enumerate() {
            let Some((_, call)) = line.split_once("bpf_loop(") else { continue };
            if line.contains("*const bpf_loop") {
                continue;
            }
            let count = call.split(',').next().expect("a first argument");
            let constant = count.parse::<u32>().is_ok() || ["MAX_CPUS", "PARTS"].contains(&count);
            let guard = format!("if ({count}");
            assert!(constant || lines[n - 1].trim_start().starts_with(&guard), "{name}: {line}");
            loops += 1;
        }
        assert!(loops > 5, "{name}");
    }
}

#[test]
fn calls_have_five_arguments_at_most() {
    for (name, text) in emitted() {
        let heads = text.lines().filter(|line| is_head(line));
        for head in heads.filter(|head| !head.contains("ALWAYS_INLINE")) {
            assert!(head.matches(", ").count() < 5, "{name}: {head}");
        }
    }
}

#[test]
fn every_function_of_a_policy_stands_under_its_clause() {
    for (name, text) in emitted() {
        let lines: Vec<&str> = text.lines().collect();
        let begin = lines.iter().position(|line| line.starts_with(" * Policy ")).expect("a policy");
        let end = lines.iter().position(|line| *line == " * Which policy it is.").expect("an end");
        let functions = (begin..end).filter(|&n| is_head(lines[n]) && lines[n + 1] == "{");
        let mut count = 0;
        for n in functions {
            let folds = lines[n].contains("(struct frame *f)") && lines[n - 1].is_empty();
            let clause = lines[n - 1].starts_with("/* ") && lines[n - 1].ends_with(" */");
            assert!(clause || folds || lines[n].contains("s32 cpu"), "{name}: {}", lines[n]);
            count += usize::from(clause);
        }
        assert!(count > 0, "{name}");
    }
}

#[test]
fn tabs_indent_and_lines_are_no_longer_than_what_they_quote() {
    for (name, text) in emitted() {
        let mut quotes = false;
        for line in text.lines() {
            quotes = (quotes || line.starts_with(" * Policy ")) && line != " * Which policy it is.";
            let width = line.chars().map(|c| if c == '\t' { 8 } else { 1 }).sum::<usize>();
            assert!(width <= 110 || quotes, "{name}: {line}");
            assert!(!line.starts_with("  ") && line.trim_end() == line, "{name}: `{line}`");
        }
    }
}

/// The first line of a function.
fn is_head(line: &str) -> bool {
    let begins = ["static ", "ONCE "].iter().any(|word| line.starts_with(word));
    begins && line.ends_with(')')
}

/// Each is a search or a long division, in loops: within the loop of a set operator, or one in the
/// other, the verifier follows more states than it is ready for.
#[test]
fn homes_are_looked_for_once_and_divisions_verified_once() {
    let (mut homes, mut divisions) = (0, 0);
    for seed in 0..300 {
        let program = compile(&wastenot_chance::program(&mut Random::stream(seed, 0, 0)));
        let Ok(text) = program.and_then(|program| emit(&program)) else { continue };
        for line in text.lines().filter(|line| line.contains("home_of(")) {
            let looks = line == "\tf->home = home_of(f->p, f->t->prev);";
            assert!(looks || is_head(line), "{seed}: {line}");
            homes += u32::from(looks);
        }
        for line in text.lines().filter(|line| is_head(line)) {
            let divides = [" scaled(", " decayed("].iter().any(|name| line.contains(name));
            assert!(!divides || line.starts_with("ONCE "), "{seed}: {line}");
            divisions += u32::from(divides);
        }
    }
    assert!(homes > 50 && divisions > 50, "{homes} {divisions}");
}

/// A CPU is woken for a task only if it looks into that task's queue.
#[test]
fn who_only_balances_is_not_woken_for_its_own_queue() {
    let text = include_str!("../../../../../../policies/work-stealing.rota");
    let only = text.replace("take c.ready else balance idle", "balance idle");
    assert_ne!(text, only);
    let looks = |text: &str| {
        let emitted =
            emit(&wastenot_rota::compile(text).expect("it compiles")).expect("it is right");
        let (_, looks) = emitted.split_once("static bool looks(").expect("it is there");
        looks.split_once("return ").expect("it says who").1.lines().next().map(str::to_owned)
    };
    assert_eq!(looks(text).as_deref(), Some("true;"));
    assert_eq!(looks(&only).as_deref(), Some("of != group(CPU, cpu);"));
}
