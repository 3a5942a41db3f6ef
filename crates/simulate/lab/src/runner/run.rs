//! Running a plan.

#[cfg(task)]
use std::fs::File;
#[cfg(task)]
use std::io::{self, Read, Seek, SeekFrom, Write};
#[cfg(task)]
use std::os::fd::AsRawFd;
#[cfg(task)]
use std::os::unix::process::CommandExt as _;
#[cfg(task)]
use std::process::{Child, Command, Stdio};

#[cfg(task)]
use crate::runner::class::{in_memory, memory, memory_for};
use crate::runner::groups::Groups;
use crate::runner::{Error, Plan, Program, Told, notes};

/// The program, without a C library.
#[cfg(task)]
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/task"));

/// So many bytes of what programs of users write to their standard error have room; the kernel
/// refuses them more.
#[cfg(task)]
const SAID: u64 = 64 << 20;

/// A plan that runs.
#[cfg(task)]
#[derive(Debug)]
pub struct Running {
    child: Child,
    plan: File,
    names: Vec<String>,
    programs: Vec<Program>,
    /// What programs of users wrote to their standard error.
    said: File,
    /// While this end is open the program goes on.
    alive: Option<io::PipeWriter>,
    /// Removed after the program.
    _groups: Groups,
}

/// A plan that runs: without clang there is none.
#[cfg(not(task))]
#[derive(Debug)]
pub struct Running(std::convert::Infallible);

impl Plan {
    /// Runs it until its awaited tasks have ended or its limit is reached.
    ///
    /// # Errors
    /// The program cannot be started, or the kernel refuses a task something.
    pub fn begin(&self) -> Result<Running, Error> {
        self.begin_after(&|| {})
    }

    /// The same, and does something between: the cgroups are there, and no task is yet.
    ///
    /// # Errors
    /// The program cannot be started, or the kernel refuses a task something.
    #[cfg(task)]
    pub(crate) fn begin_after(&self, between: &dyn Fn()) -> Result<Running, Error> {
        let failed = |doing| move |error: io::Error| Error::Start { doing, error };
        let program = in_memory("wastenot-task", PROGRAM)
            .map_err(failed("write the program that runs the tasks"))?;
        let mut plan = memory("wastenot-plan").map_err(failed("write the plan of the tasks"))?;
        let groups = Groups::new(&self.groups)?;
        between();
        let written =
            plan.write_all(&self.with(&groups.paths)).and_then(|()| plan.set_len(self.bytes));
        written.map_err(failed("write the plan of the tasks"))?;
        let (gone, alive) = io::pipe().map_err(failed("open a pipe"))?;
        let shared = plan.try_clone().map_err(failed("open the plan of the tasks"))?;
        let said =
            memory_for("wastenot-said", SAID).map_err(failed("open a file for error messages"))?;
        let errors = said.try_clone().map_err(failed("open a file for error messages"))?;
        let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
        if self.programs.is_empty() {
            // To pass it on takes time in each `exec`.
            command.env_clear();
        }
        let child = command
            .arg("launch")
            .stdin(gone)
            .stdout(Stdio::from(shared))
            .stderr(errors)
            // Who ends all processes of our group leaves it, and it ends its tasks.
            .process_group(0)
            .spawn()
            .map_err(failed("start the program that runs the tasks"))?;
        let (names, programs) = (self.names.clone(), self.programs.clone());
        Ok(Running { child, plan, names, programs, said, alive: Some(alive), _groups: groups })
    }

    /// Runs it until its awaited tasks have ended or its limit is reached.
    ///
    /// # Errors
    /// Always: there is no program.
    #[cfg(not(task))]
    pub(crate) fn begin_after(&self, _between: &dyn Fn()) -> Result<Running, Error> {
        Err(Error::NotBuilt)
    }
}

#[cfg(task)]
impl Running {
    /// Whether it is over.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn is_over(&mut self) -> Result<bool, Error> {
        let failed =
            |error| Error::Start { doing: "wait for the program that runs the tasks", error };
        Ok(self.child.try_wait().map_err(failed)?.is_some())
    }

    /// What came of it; waits until it is over.
    ///
    /// # Errors
    /// The program was killed, or the kernel refused a task something.
    pub fn told(mut self) -> Result<Told, Error> {
        let failed = |doing| move |error: io::Error| Error::Start { doing, error };
        let status =
            self.child.wait().map_err(failed("wait for the program that runs the tasks"))?;
        let mut bytes = Vec::new();
        let read = self.plan.seek(SeekFrom::Start(0));
        let read = read.and_then(|_| self.plan.read_to_end(&mut bytes));
        read.map_err(failed("read the results of the tasks"))?;
        if !status.success() {
            notes::processes(&bytes).into_iter().for_each(end);
            return Err(Error::Ended { how: status.to_string() });
        }
        Told::read(&bytes, &self.names, &self.programs, || last_lines(&mut self.said))
    }
}

#[cfg(task)]
impl Drop for Running {
    /// The program ends its tasks when it sees that it is not wanted any more.
    fn drop(&mut self) {
        drop(self.alive.take());
        let _ = self.child.wait();
    }
}

#[cfg(not(task))]
impl Running {
    /// Is never called: without clang no plan runs.
    ///
    /// # Errors
    /// Never.
    pub fn is_over(&mut self) -> Result<bool, Error> {
        match self.0 {}
    }
    /// Is never called: without clang no plan runs.
    ///
    /// # Errors
    /// Never.
    pub fn told(self) -> Result<Told, Error> {
        match self.0 {}
    }
}

/// The last lines of a file of errors, on one line.
#[cfg(task)]
fn last_lines(file: &mut File) -> String {
    const BYTES: u64 = 2048;
    const LINES: usize = 4;
    let mut bytes = Vec::new();
    // Who wrote shares our position.
    let length = file.stream_position().unwrap_or(0);
    let begin = length.saturating_sub(BYTES);
    let read = file.seek(SeekFrom::Start(begin));
    // What cannot be read is left out: it only explains the failure.
    let _ = read.and_then(|_| file.take(length - begin).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("; ")
}

/// Ends a process of the program, which was killed and could not do it.
#[cfg(task)]
fn end(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid);
    pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
}
