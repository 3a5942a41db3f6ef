//! A program that is given a text and a time limit, and whatever it says until then.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// No answer is longer; what follows is thrown away.
const ANSWER_MAX: u64 = 64 << 20;

/// What a program said.
pub(super) struct Told {
    /// On standard output. What is not UTF-8 is replaced.
    pub(super) out: String,
    /// On standard error.
    pub(super) complaint: String,
    /// How it ended; `None` if it had to be ended.
    pub(super) status: Option<ExitStatus>,
    /// Whether it had to be ended.
    pub(super) timed_out: bool,
    /// How long it took.
    pub(super) took: Duration,
}

/// Runs a program to its end or to that of its time. It stays in our process group, so that Ctrl-C
/// reaches it too.
pub(super) fn run(
    program: &Path,
    arguments: &[OsString],
    text: &str,
    timeout: Duration,
) -> io::Result<Told> {
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    write_aside(&mut child, text);
    let out = child.stdout.take().map(read_aside);
    let complaint = child.stderr.take().map(read_aside);
    let until = began + timeout;
    let out = out.and_then(|out| wait(&out, until));
    let complaint = complaint.and_then(|complaint| wait(&complaint, until));
    let (Some(out), Some(complaint)) = (out, complaint) else {
        end(&mut child);
        let (out, complaint) = (String::new(), String::new());
        return Ok(Told { out, complaint, status: None, timed_out: true, took: began.elapsed() });
    };
    // Both its outputs are closed: it ends now, or it is made to.
    let status = match ended_by(&mut child, until.max(Instant::now() + CLOSING))? {
        Some(status) => Some(status),
        None => {
            end(&mut child);
            None
        }
    };
    Ok(Told { out, complaint, status, timed_out: false, took: began.elapsed() })
}

/// How long a program may live after it has closed its outputs.
const CLOSING: Duration = Duration::from_millis(200);

/// A program that reads nothing must not hold us up, nor one that writes before it has read.
fn write_aside(child: &mut Child, text: &str) {
    if let Some(mut stdin) = child.stdin.take() {
        let text = text.to_owned();
        // A program that ends before it has read all says in its own words why.
        thread::spawn(move || stdin.write_all(text.as_bytes()).ok());
    }
}

fn read_aside(mut stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let whole = stream.by_ref().take(ANSWER_MAX).read_to_end(&mut bytes);
        if whole.and_then(|_| io::copy(&mut stream, &mut io::sink())).is_ok() {
            // After the time limit the channel has no receiver.
            sender.send(String::from_utf8_lossy(&bytes).into_owned()).ok();
        }
    });
    receiver
}

/// The text, once the stream is closed; `None` if it is not in time.
fn wait(text: &Receiver<String>, until: Instant) -> Option<String> {
    match text.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(text) => Some(text),
        Err(RecvTimeoutError::Disconnected) => Some(String::new()),
        Err(RecvTimeoutError::Timeout) => None,
    }
}

fn ended_by(child: &mut Child, until: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Ends a program and those that it started: a solver may hide behind a script.
fn end(child: &mut Child) {
    let mut family = vec![child.id()];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        family.extend(children(parent));
        next += 1;
    }
    for pid in family.iter().skip(1).filter_map(|&pid| Pid::from_raw(pid as i32)) {
        // It may have ended meanwhile.
        kill_process(pid, Signal::KILL).ok();
    }
    child.kill().ok();
    child.wait().ok();
}

/// The children of a live process, from `/proc` (`proc_pid_task(5)`). Empty if Linux does not list
/// them.
fn children(parent: u32) -> Vec<u32> {
    let file = format!("/proc/{parent}/task/{parent}/children");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, text: &str, timeout: Duration) -> Told {
        run(Path::new("/bin/sh"), &["-c".into(), script.into()], text, timeout).unwrap()
    }

    #[test]
    fn what_a_program_says_comes_back_however_long_it_is() {
        let text = "x".repeat(1 << 20);
        let told = shell("cat; echo no >&2; exit 3", &text, Duration::from_secs(60));
        assert_eq!((told.out.len(), told.complaint.as_str()), (1 << 20, "no\n"));
        assert_eq!(told.status.and_then(|status| status.code()), Some(3));
    }

    #[test]
    fn a_program_that_reads_nothing_is_no_hindrance() {
        let text = "x".repeat(1 << 20);
        assert_eq!(shell("exec 0<&-; echo yes", &text, Duration::from_secs(60)).out, "yes\n");
    }

    #[test]
    fn a_late_process_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let told = shell(&script, "", Duration::from_millis(500));
        assert!(told.timed_out && told.took < Duration::from_secs(60));
        let pid: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
        let gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        assert!((0..1_000).any(|_| gone() || {
            thread::sleep(Duration::from_millis(5));
            false
        }));
    }
}
