//! Compiles the programs of `c/` with clang. They need no C library, so that they start as fast as
//! a program can. Without clang nothing can be run for real; with `WASTENOT_BPF=required`, which
//! needs clang as well, the build fails instead.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const ARGUMENTS: [&str; 13] = [
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-ffreestanding",
    "-nostdlib",
    "-static",
    "-fno-pic",
    "-fno-stack-protector",
    "-fno-math-errno",
    "-Wl,--build-id=none",
    "-Wl,-z,noexecstack",
    "-Wno-unused-command-line-argument",
];

fn main() -> ExitCode {
    println!("cargo::rustc-check-cfg=cfg(task)");
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-env-changed=WASTENOT_BPF");
    println!("cargo::rerun-if-env-changed=CLANG");
    match compile() {
        Ok(()) => println!("cargo::rustc-cfg=task"),
        Err(why) if env::var_os("WASTENOT_BPF").is_some_and(|value| value == "required") => {
            println!("cargo::error=WASTENOT_BPF=required, but {why}");
            return ExitCode::FAILURE;
        }
        Err(why) => println!("cargo::warning=workloads run in the simulator only: {why}"),
    }
    ExitCode::SUCCESS
}

fn compile() -> Result<(), String> {
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let machine = env::var("CARGO_CFG_TARGET_ARCH").map_err(|error| error.to_string())?;
    let target = format!("--target={machine}-linux-gnu");
    for program in ["task", "class"] {
        let text = format!("c/{program}.c");
        let mut command = Command::new(&clang);
        command.arg(&target).args(ARGUMENTS).arg(&text).arg("-o").arg(out.join(program));
        match command.output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(format!("{text} does not compile: {said}"));
            }
            Err(_) => {
                let name = Path::new(&clang).display();
                return Err(format!("{name} is missing (apt install clang)"));
            }
        }
    }
    Ok(())
}
