//! A desk to try things at: a folder with traces in it, and our binary in front of PATH.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::root;

/// A policy that is all right.
const POLICY: &str = "\
policy turns(slice: time = 10ms) {
    queue ready: fifo per machine
    on new(t), wake(t), preempt(t), yield(t) { put t in machine.ready slice slice }
    on block(t), exit(t) { }
    on dispatch(c) { take machine.ready }
    prove no_lost_task
}
";

/// A folder to type in.
pub(crate) struct Desk {
    folder: TempDir,
}

impl Desk {
    /// An empty desk.
    pub(crate) fn new() -> Desk {
        Desk { folder: tempfile::tempdir().expect("a folder") }
    }

    /// A desk with the files that the examples in help and README speak of.
    pub(crate) fn laid() -> Desk {
        let desk = Desk::new();
        for (name, trace) in [
            ("trace.dat", "7.2-k920-make.dat"),
            ("perf.data", "host-6.18-2cpu-messaging.perf.data"),
            ("before.dat", "5.10-k920-make.dat"),
            ("before-1.dat", "5.10-k920-make.dat"),
            ("before-2.dat", "5.10-t4x4-make.dat"),
            ("after.dat", "7.2-k920-make.dat"),
            ("after-1.dat", "7.2-k920-make.dat"),
            ("after-2.dat", "7.2-t4x4-make.dat"),
        ] {
            let trace = root().join("traces").join(trace);
            assert!(trace.is_file(), "{} is shipped", trace.display());
            symlink(trace, desk.path().join(name)).expect("a link");
        }
        for folder in ["traces", "scenarios", "policies"] {
            symlink(root().join(folder), desk.path().join(folder)).expect("a link");
        }
        for (name, table) in [("tasks.csv", "control.csv"), ("overheads.csv", "overheads.csv")] {
            let table = root().join("scenarios/tasksets").join(table);
            symlink(table, desk.path().join(name)).expect("a link");
        }
        desk.put("my.rota", POLICY);
        desk.put("counterexample.wn", counterexample());
        let mended = root().join("policies/work-stealing.rota");
        symlink(mended, desk.path().join("mended.rota")).expect("a link");
        // `--open` must not open a browser on whoever runs the tests.
        let opener = desk.path().join(".bin/xdg-open");
        fs::create_dir(desk.path().join(".bin")).expect("a folder");
        fs::write(&opener, "#!/bin/sh\n").expect("a script");
        fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).expect("a script");
        desk
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a file on it.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).expect("a file");
    }

    /// The text of a file on it.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect(name)
    }

    /// Runs a line, which must exit with `code`, and returns its output.
    pub(crate) fn exits(&self, code: i32, line: &str) -> String {
        let (text, actual) = said(&self.bash(line));
        assert_eq!(actual, code, "{line}\n{text}");
        text
    }

    /// Runs a line, which must exit with `code` and print each part, and returns its output.
    pub(crate) fn says(&self, code: i32, line: &str, parts: &[&str]) -> String {
        let text = self.exits(code, line);
        for part in parts {
            assert!(text.contains(part), "{line}: {part:?} is missing\n{text}");
        }
        text
    }

    /// Each row is the end of a line that begins with `start`, its error, and its help. The line
    /// must exit with 2.
    pub(crate) fn refuses(&self, start: &str, rows: &[(&str, &str, &str)]) {
        for (words, what, help) in rows {
            self.says(2, &format!("{start} {words}"), &[what, help]);
        }
    }

    /// Runs a line, which must print a JSON object and nothing on stderr. Returns the object and
    /// the exit code.
    pub(crate) fn json(&self, line: &str) -> (Value, i32) {
        let output = self.bash(line);
        let (text, code) = said(&output);
        assert!(output.stderr.is_empty(), "{line}\n{text}");
        let object = serde_json::from_slice(&output.stdout);
        (object.unwrap_or_else(|error| panic!("{line}: {error}\n{text}")), code)
    }

    /// Types a line.
    pub(crate) fn bash(&self, line: &str) -> Output {
        let binary = Path::new(env!("CARGO_BIN_EXE_wastenot"));
        let ours = [self.path().join(".bin"), binary.parent().expect("a folder").to_owned()];
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&rest)));
        // Under nohup, as tests on a distant machine may run, a shell could not hear SIGHUP.
        Command::new("env")
            .args(["--default-signal=HUP", "bash", "-c", line])
            .current_dir(self.path())
            .env("PATH", path.expect("a PATH"))
            .env("COLUMNS", "80")
            // Proofs are kept between calls, but not in the home of who runs the tests.
            .env("XDG_CACHE_HOME", self.path().join(".cache"))
            .env("LC_ALL", "C.UTF-8")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .output()
            .expect("env and bash")
    }
}

/// One of the gallery, made once: an example speaks of it.
fn counterexample() -> &'static [u8] {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    MADE.get_or_init(|| {
        let desk = Desk::new();
        let wrong = root().join("policies/wrong/minimum-for-all.rota");
        let line = format!("wastenot prove {} --solver none --cex cex.wn", wrong.display());
        desk.exits(1, &line);
        fs::read(desk.path().join("cex.wn")).expect("a counterexample")
    })
}

/// What a line printed, errors after results, and what it exited with.
pub(crate) fn said(output: &Output) -> (String, i32) {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    (text.concat(), output.status.code().expect("no signal"))
}
