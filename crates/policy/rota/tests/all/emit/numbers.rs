//! Arithmetic without 128 bits has the same results as the evaluator, which uses them.

use std::path::Path;
use std::process::Command;

use wastenot_model::workload::Random;
use wastenot_rota::eval::{decayed, scaled, until};

use super::native::decided;
use super::scratch;

/// A random number: every size up to this many bits is equally likely.
fn number(random: &mut Random, bits: u64) -> i64 {
    let bits = random.below(bits + 1);
    (random.bits() >> 1) as i64 & ((1u64 << bits) - 1) as i64
}

/// A computation for the C, and the expected result. Times and weights stay below 2^61.
fn question(random: &mut Random, letter: char) -> (String, i64) {
    let sign = |value: i64, random: &mut Random| if random.below(2) == 0 { value } else { -value };
    let value = number(random, 63);
    let (a, b) = (sign(value, random), number(random, 63));
    let (time, small, half) = (number(random, 61), number(random, 61), 1 + number(random, 60));
    let (b, c, answer) = match letter {
        '+' => (b, 0, a.saturating_add(b)),
        '-' => (b, 0, a.saturating_sub(b)),
        '*' => {
            let by = sign(small, random);
            (by, 0, a.saturating_mul(by))
        }
        '/' => (small + 1, 0, a.div_euclid(small + 1)),
        's' => (small, 0, scaled(a, small)),
        'd' => (time, half, decayed(a, time, half)),
        _ => return (format!("u {value} {small} 0\n"), until(value, small)),
    };
    (format!("{letter} {a} {b} {c}\n"), answer)
}

#[test]
fn numbers_come_to_what_the_evaluator_says() {
    if !wastenot_needs::program("numbers_come_to_what_the_evaluator_says", "cc", "gcc") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native");
    let to = scratch("numbers");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-w", "-I"])
        .arg(wastenot_chance::together::native())
        .arg(folder.join("numbers.c"))
        .arg("-o")
        .arg(&to);
    let output = cc.output().expect("cc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut random = Random::stream(5, 0, 0);
    let letters = ['+', '-', '*', '/', 's', 'd', 'u'].into_iter().cycle().take(140_000);
    let questions: Vec<(String, i64)> = letters.map(|it| question(&mut random, it)).collect();
    let input = questions.iter().map(|(text, _)| text.as_str()).collect();
    let answers = decided(&to, input);
    assert_eq!(answers.len(), questions.len());
    for ((text, answer), said) in questions.iter().zip(answers) {
        assert_eq!(said.trim(), answer.to_string(), "{text}");
    }
}
