//! clang compiles every emitted policy to BPF without a warning.

use std::fs;
use std::process::Command;

use wastenot_rota::emit::emit;

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
    if Command::new("clang").arg("--version").output().is_err() {
        println!("SKIPPED emit: clang is missing: apt-get install clang");
        return;
    }
    for (name, program) in policies().into_iter().chain(vocabulary::policies()) {
        let c = emit(&program).expect("it can be emitted");
        let (from, to) = (scratch(&format!("{name}.bpf.c")), scratch(&format!("{name}.bpf.o")));
        fs::write(&from, c).expect("room");
        let mut clang = Command::new("clang");
        clang.args(CLANG).arg("-c").arg(&from).arg("-o").arg(&to);
        let output = clang.output().expect("clang runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{name}: {said}");
    }
}
