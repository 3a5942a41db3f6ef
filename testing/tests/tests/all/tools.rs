//! The output of real tools for a trace.dat is read as the same History.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wastenot_model::{Carries, History};
use wastenot_needs::program;
use wastenot_read::{Options, read};
use wastenot_tests::random::without_preemption;

use crate::traces::{name, traces};

fn recordings() -> impl Iterator<Item = (PathBuf, History)> {
    traces().into_iter().filter(|path| path.extension().is_some_and(|end| end == "dat")).filter_map(
        |path| {
            let bytes = std::fs::read(&path).expect("readable");
            let history = read(&bytes, &Options::default()).ok()?;
            Some((path, history))
        },
    )
}

fn differs(history: &History, bytes: &[u8]) -> Option<String> {
    match read(bytes, &Options::default()) {
        Err(error) => Some(error.to_string()),
        Ok(other) => history.same(&other).err().map(|difference| format!("{difference:?}")),
    }
}

/// Versions 6 and 7, compressed and not, in turn for each recording.
const CONVERSIONS: [&[&str]; 3] = [
    &["--file-version", "6"],
    &["--file-version", "7", "--compression", "none"],
    &["--file-version", "7", "--compression", "zstd"],
];

fn convert(from: &Path, to: &Path, how: &[&str]) -> bool {
    let mut command = Command::new("trace-cmd");
    command.arg("convert").args(how).arg("-i").arg(from).arg("-o").arg(to);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn a_trace_dat_that_trace_cmd_converts_reads_to_the_same_history() {
    if !program("trace-cmd convert", "trace-cmd", "trace-cmd") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (mut failed, mut converted) = (Vec::new(), 0);
    for (number, (path, history)) in recordings().enumerate() {
        let how = CONVERSIONS[number % CONVERSIONS.len()];
        let to = folder.path().join("converted.dat");
        // This build of trace-cmd may lack a compression. And 3.1.6 sometimes drops the data of the
        // first CPU: then its output for its own file is shorter than for the original.
        if !convert(&path, &to, how) || lines(&path) != lines(&to) {
            continue;
        }
        converted += 1;
        let bytes = std::fs::read(&to).expect("written");
        let note = differs(&history, &bytes);
        failed.extend(note.map(|note| format!("{} {how:?}: {note}", name(&path))));
        std::fs::remove_file(&to).expect("it is there");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    println!("{converted} recordings were converted whole");
    assert!(converted > 20, "only {converted} recordings were converted whole");
}

fn lines(path: &Path) -> usize {
    report(path, &["-R", "-t"]).iter().filter(|&&byte| byte == b'\n').count()
}

fn report(path: &Path, how: &[&str]) -> Vec<u8> {
    let mut command = Command::new("trace-cmd");
    command.arg("report").args(how).arg("-i").arg(path).stderr(Stdio::null());
    command.output().expect("trace-cmd runs").stdout
}

fn reports_read_the_same(how: &[&str], told: impl Fn(History) -> History) {
    let mut failed = Vec::new();
    for (path, history) in recordings() {
        if !history.head.clock.nanoseconds {
            continue; // cycles are printed unchanged, without a point
        }
        let text = report(&path, how);
        // What State knows of CPUs beyond the text is not compared here.
        assert!(history.head.carries.has(Carries::LEFT));
        let note = differs(&told(history), &text);
        failed.extend(note.map(|note| format!("{}: {note}", name(&path))));
    }
    let first = &failed[..failed.len().min(5)];
    assert!(failed.is_empty(), "{how:?}: {} differ\n{}", failed.len(), first.join("\n"));
}

#[test]
fn a_report_of_trace_cmd_reads_to_the_same_history() {
    if program("trace-cmd report -t", "trace-cmd", "trace-cmd") {
        reports_read_the_same(&["-t"], |history| without_preemption(&history));
    }
}

#[test]
fn a_raw_report_of_trace_cmd_reads_to_the_same_history() {
    if program("trace-cmd report -R -t", "trace-cmd", "trace-cmd") {
        reports_read_the_same(&["-R", "-t"], |history| history);
    }
}
