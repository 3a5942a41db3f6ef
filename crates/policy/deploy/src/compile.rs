//! C to an object, by clang.

use std::env;
use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use crate::Error;

/// What clang is told: docs/explain/emit.md.
const FLAGS: [&str; 8] = ["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-c", "-x", "c"];

/// The object that clang (`$CLANG`, or the first in PATH) makes of emitted C. No file is written.
///
/// # Errors
/// There is no clang, or it refuses the text.
pub fn compile(text: &str) -> Result<Vec<u8>, Error> {
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Error::NoClang { name: clang.to_string_lossy().into_owned() },
        _ => Error::Failed { doing: "run clang", why: error.to_string() },
    };
    let mut child = Command::new(&clang)
        .args(FLAGS)
        .args(["-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let stdin = child.stdin.take();
    let text = text.to_owned();
    // It may write before it has read all: the pipe must not fill.
    let writer = std::thread::spawn(move || stdin.map(|mut it| it.write_all(text.as_bytes())));
    let output = child.wait_with_output().map_err(failed)?;
    // What clang did not read, it did not want: its own words say why.
    let _ = writer.join();
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().find(|line| line.contains("error:"));
            let why = line.unwrap_or("clang printed no message").trim().to_owned();
            Err(Error::Failed { doing: "compile the emitted C", why })
        }
    }
}
