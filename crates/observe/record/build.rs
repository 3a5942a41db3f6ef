//! Compiles the BPF programs with clang and generates their skeletons. Without clang there are no
//! BPF programs and recording uses tracefs; with `WASTENOT_BPF=required` the build fails instead.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libbpf_cargo::SkeletonBuilder;

const PROGRAMS: [&str; 2] = ["record", "watch"];

fn main() -> ExitCode {
    println!("cargo::rustc-check-cfg=cfg(bpf)");
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=WASTENOT_BPF");
    println!("cargo::rerun-if-env-changed=CLANG");
    match PROGRAMS.iter().try_for_each(|name| compile(name)) {
        Ok(()) => println!("cargo::rustc-cfg=bpf"),
        Err(why) if env::var_os("WASTENOT_BPF").is_some_and(|value| value == "required") => {
            println!("cargo::error=WASTENOT_BPF=required, but {why}");
            return ExitCode::FAILURE;
        }
        Err(why) => println!("cargo::warning=recording will use tracefs instead of BPF: {why}"),
    }
    ExitCode::SUCCESS
}

fn compile(name: &str) -> Result<(), String> {
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let found = Command::new(&clang).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        return Err(format!("{} is missing (apt install clang)", Path::new(&clang).display()));
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    SkeletonBuilder::new()
        .source(format!("bpf/{name}.bpf.c"))
        .clang(&clang)
        .clang_args(["-Wall", "-Wno-unused-function", "-Wno-missing-declarations"])
        .build_and_generate(out.join(format!("{name}.skel.rs")))
        .map_err(|error| format!("bpf/{name}.bpf.c does not compile: {error:#}"))
}
