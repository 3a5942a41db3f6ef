//! clang compiles every emitted policy to BPF without a warning.

use std::fs;
use std::process::Command;

use wastenot_rota::emit::{Options, emit_with};

use super::{policies, scratch, vocabulary};

const CLANG: [&str; 9] = [
    "-g",
    "-O2",
    "-target",
    "bpf",
    "-mcpu=v3",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Werror",
];

#[test]
fn clang_compiles_every_policy_without_a_warning() {
    let test = "clang_compiles_every_policy_without_a_warning";
    if !wastenot_needs::program(test, "clang", "clang") {
        return;
    }
    let all: Vec<_> = policies().into_iter().chain(vocabulary::policies()).collect();
    let with = [false, true].into_iter().flat_map(|steps| all.iter().map(move |it| (steps, it)));
    for (steps, (name, program)) in with {
        let c = emit_with(program, Options { steps }).expect("it can be emitted");
        let name = if steps { format!("{name}.steps") } else { name.clone() };
        let (from, to) = (scratch(&format!("{name}.bpf.c")), scratch(&format!("{name}.bpf.o")));
        fs::write(&from, c).expect("room");
        let mut clang = Command::new("clang");
        clang.args(CLANG).arg("-c").arg(&from).arg("-o").arg(&to);
        let output = clang.output().expect("clang runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{name}: {said}");
    }
}
