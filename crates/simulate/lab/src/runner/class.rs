//! Scheduling classes of commands and of this program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::fs::{MemfdFlags, memfd_create};
#[cfg(task)]
use rustix::fs::{SealFlags, fcntl_add_seals};
use rustix::io::Errno;

/// `SCHED_EXT` of include/uapi/linux/sched.h: the class of a sched_ext scheduler that does not get
/// the tasks of the fair class.
pub const SCHED_EXT: u32 = 7;
const SCHED_FIFO: u32 = 1;

#[cfg(task)]
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/class"));
#[cfg(not(task))]
const PROGRAM: &[u8] = &[];

/// Runs a command, which begins in the class `policy`, as do all that it starts. It exits with 125
/// if the kernel refuses the class.
///
/// # Errors
/// There is no such program, or it cannot be executed.
pub fn spawn(policy: u32, words: &[OsString]) -> io::Result<Child> {
    let name = words.first().ok_or(io::ErrorKind::InvalidInput)?;
    let path = find(name)?;
    run(policy, 0, |class| class.arg("run").arg(path).args(words))
}

/// The calling thread runs from now on before all that sched_ext schedules; what it starts does
/// not.
///
/// # Errors
/// The kernel refuses.
pub fn go_first() -> io::Result<()> {
    let tid = rustix::thread::gettid().as_raw_nonzero().to_string();
    let status = run(SCHED_FIFO, 1, |class| class.arg("task").arg(tid))?.wait()?;
    if status.success() { Ok(()) } else { Err(Errno::PERM.into()) }
}

fn run(
    policy: u32,
    priority: u32,
    words: impl FnOnce(&mut Command) -> &mut Command,
) -> io::Result<Child> {
    let program = in_memory("wastenot-class", PROGRAM)?;
    let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
    words(command.arg(policy.to_string()).arg(priority.to_string())).spawn()
}

/// A file in memory that can be executed: one that is open for writing cannot.
pub(crate) fn in_memory(name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = memory(name)?;
    file.write_all(bytes)?;
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// An empty file in memory.
pub(crate) fn memory(name: &str) -> io::Result<File> {
    Ok(File::from(memfd_create(name, MemfdFlags::CLOEXEC)?))
}

/// An empty file in memory in which only the first `most` bytes find room.
#[cfg(task)]
pub(crate) fn memory_for(name: &str, most: u64) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create(name, flags)?);
    file.set_len(most)?;
    fcntl_add_seals(&file, SealFlags::GROW)?;
    Ok(file)
}

/// The program of a name, as execvp(3) finds it.
pub(crate) fn find(name: &OsStr) -> io::Result<PathBuf> {
    let folders = match Path::new(name).components().count() {
        1 if !name.as_encoded_bytes().contains(&b'/') => env::var_os("PATH").unwrap_or_default(),
        _ => return runs(Path::new(name)).map(|()| name.into()),
    };
    let mut answer = io::Error::from(Errno::NOENT);
    for folder in env::split_paths(&folders) {
        let path = folder.join(name);
        match runs(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => answer = error,
            Err(_) => {}
        }
    }
    Err(answer)
}

/// Whether it is a file that someone may execute.
fn runs(path: &Path) -> io::Result<()> {
    let meta = path.metadata()?;
    match meta.is_file() && meta.permissions().mode() & 0o111 != 0 {
        true => Ok(()),
        false => Err(Errno::ACCESS.into()),
    }
}
