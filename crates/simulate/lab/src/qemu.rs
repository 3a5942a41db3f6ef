//! A guest in QEMU: it boots, does what its first file system has it do, and powers off.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use wastenot_model::Machine;

use crate::Error;
use crate::guest::SHELL;
use crate::image::{Image, LIBRARIES, PROGRAM};
use crate::job::SAYS;
use crate::topology;

/// How many lines of the console are kept.
const LINES: usize = 60;
/// So many bytes of one; the rest is another line.
const LINE: u64 = 4096;
/// The size of the disk that results are written to. It takes memory only as it is written.
const DISK: u64 = 8 << 30;
/// How long a guest with KVM may take until it is up.
const KVM_PATIENCE: Duration = Duration::from_secs(20);
/// How often it is looked whether to end.
const TURN: Duration = Duration::from_millis(100);

/// A guest that is to be booted.
#[derive(Debug)]
pub(crate) struct Guest<'g> {
    /// The kernel: an ELF, or what boot loaders take.
    pub(crate) kernel: &'g Path,
    /// The machine.
    pub(crate) machine: &'g Machine,
    /// The first file system.
    pub(crate) image: &'g [u8],
    /// Nanoseconds of an instruction, as a power of two.
    pub(crate) shift: u8,
    /// How long the guest may say nothing.
    pub(crate) patience: Duration,
}

/// What is left of a guest.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its disk.
    pub(crate) disk: File,
    /// Why, if it had more to do.
    pub(crate) why: Error,
}

/// How QEMU is started.
#[derive(Clone, Debug)]
pub struct Qemu {
    /// A program that becomes QEMU, with the arguments that it is given ([`exec`]): this one, and
    /// the words that make it do so.
    pub starter: (PathBuf, Vec<String>),
}

/// The program.
const QEMU: &str = "qemu-system-x86_64";
/// What a shell exits with when there is no such program.
const NOT_FOUND: i32 = 127;

/// Becomes QEMU, with these arguments, which is killed when its parent ends, however that ends.
/// Returns, with an exit code, only if QEMU cannot be executed.
pub fn exec(arguments: &[OsString]) -> u8 {
    let parent = getppid();
    let set = set_parent_process_death_signal(Some(Signal::KILL));
    // The parent may have ended before.
    if set.is_err() || getppid() != parent {
        return 1;
    }
    match Command::new(QEMU).args(arguments).exec().kind() {
        io::ErrorKind::NotFound => NOT_FOUND as u8,
        _ => 126,
    }
}

/// Whether the CPUs of a guest get equal turns in this version of QEMU where it counts their
/// instructions. Before 8.1 one may go on until the next timer, while the others stand still:
/// `make` of scenarios/lab takes three times as long with 7.2 as with 10.0.
pub fn has_equal_turns(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|it| it.parse::<u32>().ok());
    // What is not told is taken to be new.
    let known = numbers.next().zip(numbers.next());
    known.is_none_or(|it| it >= (8, 1))
}

/// Whether the CPUs of this machine may run a guest's instructions themselves: where there are as
/// many. Fewer would take turns, and a guest's CPU would stand still while its clock goes on.
pub(crate) fn may_use_kvm(machine: &Machine) -> bool {
    let here = thread::available_parallelism().map_or(1, usize::from);
    machine.len() <= here && File::options().read(true).write(true).open("/dev/kvm").is_ok()
}

impl Qemu {
    /// The version of QEMU; figures of guests depend on it.
    ///
    /// # Errors
    /// There is no QEMU.
    pub fn version(&self) -> Result<String, Error> {
        let output = Command::new(QEMU).arg("--version").output().map_err(|_| Error::NoQemu)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.split("version ").nth(1).and_then(|rest| rest.split(' ').next());
        Ok(version.unwrap_or("of an unknown version").trim().to_owned())
    }

    /// Boots `guest`, passes each line of its console to `said`, and gives what is left of it when
    /// it has ended, and whether CPUs of this machine ran its instructions. `is_over` ends it
    /// before that.
    ///
    /// # Errors
    /// There is no QEMU.
    pub(crate) fn boot(
        &self,
        guest: &Guest<'_>,
        is_over: &dyn Fn() -> bool,
        said: &mut dyn FnMut(&str),
    ) -> Result<(Ended, Way), Error> {
        if may_use_kvm(guest.machine) {
            // KVM can be there and not work, as in a guest without nested virtualisation.
            let mut is_up = false;
            let mut said = |line: &str| {
                is_up |= line.starts_with(SAYS);
                said(line);
            };
            match self.boot_by(Way::Kvm, guest, is_over, &mut said) {
                Ok(ended) if is_up || ended.why.is_interrupted() => return Ok((ended, Way::Kvm)),
                Err(error) if is_up => return Err(error),
                _ => {}
            }
        }
        Ok((self.boot_by(Way::Counted, guest, is_over, said)?, Way::Counted))
    }

    fn boot_by(
        &self,
        way: Way,
        guest: &Guest<'_>,
        is_over: &dyn Fn() -> bool,
        said: &mut dyn FnMut(&str),
    ) -> Result<Ended, Error> {
        let (image, mut disk) =
            files(guest.image).map_err(failed("write the files of the guest"))?;
        let child = self.command(way, guest, &image, &disk)?.spawn();
        let child = child.map_err(failed("start QEMU"))?;
        let mut running = Running::of(child);
        let patience = if way == Way::Kvm { KVM_PATIENCE } else { guest.patience };
        let end = running.listen((patience, guest.patience), is_over, said);
        let console = running.console.join("\n");
        let status = running.end().map_err(failed("wait for QEMU"))?;
        let why = match end {
            End::Closed if status.code() == Some(NOT_FOUND) => return Err(Error::NoQemu),
            End::Over => Error::Interrupted,
            // So ends a guest that powers off, and one whose kernel panics.
            End::Closed if status.success() => Error::Dead { console },
            End::Closed => Error::QemuFailed { how: status.to_string(), console },
            End::Silent(patience) => Error::Hangs { patience, console },
        };
        disk.seek(SeekFrom::Start(0)).map_err(failed("read the disk of the guest"))?;
        Ok(Ended { disk, why })
    }

    fn command(
        &self,
        way: Way,
        guest: &Guest<'_>,
        image: &File,
        disk: &File,
    ) -> Result<Command, Error> {
        let path = |file: &File| format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        let mut command = Command::new(&self.starter.0);
        command.args(&self.starter.1);
        match way {
            Way::Kvm => command.args(["-accel", "kvm", "-cpu", "host"]),
            Way::Counted => {
                let shift = format!("shift={},sleep=off", guest.shift);
                command.args(["-accel", "tcg,thread=single,tb-size=512", "-icount", &shift])
            }
            Way::Typed => command.args(["-accel", "tcg,thread=single,tb-size=512"]),
        };
        command.args(topology::arguments(guest.machine, way == Way::Kvm)?);
        command.args(["-display", "none", "-serial", "stdio", "-monitor", "none", "-nodefaults"]);
        command.args(["-no-reboot", "-bios", "qboot.rom", "-kernel"]).arg(guest.kernel);
        command.args(["-initrd", &path(image), "-append"]);
        // Loops of delay need no measuring, and the clock is the one of the instructions. Where
        // this machine is loaded, the test of the timer would see no tick, and panic.
        command.arg(format!(
            "console=ttyS0 panic=-1 quiet tsc=reliable nowatchdog mitigations=off \
             rcupdate.rcu_cpu_stall_suppress=1 lpj=10000000 no_timer_check rdinit={PROGRAM} \
             LD_LIBRARY_PATH={LIBRARIES} -- lab guest"
        ));
        let drive = format!("file={},if=none,id=d0,format=raw,cache=unsafe", path(disk));
        command.args(["-drive", &drive, "-device", "nvme,drive=d0,serial=1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// Boots `kernel` with a shell for the one who types, and waits until that one has left. `busybox`
/// is the program that has the shell, and all else but this one.
///
/// # Errors
/// There is no QEMU, or it fails.
pub fn shell(qemu: &Qemu, kernel: &Path, machine: &Machine, busybox: &Path) -> Result<(), Error> {
    qemu.version()?;
    let image = || {
        let mut image = Image::with_this_program()?;
        image.program(SHELL, busybox)?;
        files(&image.finish())
    };
    let (image, disk) = image().map_err(failed("create the image"))?;
    let guest = Guest { kernel, machine, image: &[], shift: 1, patience: Duration::MAX };
    // Who types wants an answer: instructions are not counted.
    let mut command = qemu.command(Way::Typed, &guest, &image, &disk)?;
    command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let status = command.status().map_err(failed("start QEMU"))?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::QemuFailed { how: status.to_string(), console: String::new() }),
    }
}

/// The files of a guest: its image, and a disk.
fn files(image: &[u8]) -> io::Result<(File, File)> {
    let (mut file, disk) = (memory("wastenot-image")?, memory("wastenot-disk")?);
    file.write_all(image)?;
    disk.set_len(DISK)?;
    Ok((file, disk))
}

fn failed(doing: &'static str) -> impl Fn(io::Error) -> Error {
    move |error| Error::Qemu { doing, why: wastenot_host::reason(&error) }
}

/// A file in memory: nothing is left of it when this program ends, however that is.
fn memory(name: &str) -> io::Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

/// Who runs the instructions of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// CPUs of this machine.
    Kvm,
    /// QEMU, which translates and counts them.
    Counted,
    /// QEMU, which translates them.
    Typed,
}

/// Why nothing more is heard of a guest.
enum End {
    Closed,
    Silent(Duration),
    Over,
}

/// A QEMU that runs; it is killed when this is dropped.
struct Running {
    child: Child,
    lines: Receiver<String>,
    console: Vec<String>,
}

impl Running {
    fn of(mut child: Child) -> Running {
        let (sender, lines) = sync_channel(LINES);
        let out = child.stdout.take().map(|it| Box::new(it) as Box<dyn io::Read + Send>);
        let err = child.stderr.take().map(|it| Box::new(it) as Box<dyn io::Read + Send>);
        for from in [out, err].into_iter().flatten() {
            let sender = sender.clone();
            thread::spawn(move || {
                let (mut from, mut line) = (BufReader::new(from), Vec::new());
                while (&mut from).take(LINE).read_until(b'\n', &mut line).is_ok_and(|it| it > 0) {
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    line.clear();
                    if sender.send(text).is_err() {
                        return;
                    }
                }
            });
        }
        Running { child, lines, console: Vec::new() }
    }

    fn listen(
        &mut self,
        (first, then): (Duration, Duration),
        is_over: &dyn Fn() -> bool,
        said: &mut dyn FnMut(&str),
    ) -> End {
        let (mut heard, mut patience) = (Instant::now(), first);
        loop {
            // A kernel in trouble may print for ever: that is no sign of life.
            if is_over() {
                return End::Over;
            }
            if heard.elapsed() > patience {
                return End::Silent(patience);
            }
            match self.lines.recv_timeout(TURN) {
                Ok(line) => {
                    if line.starts_with(SAYS) {
                        (heard, patience) = (Instant::now(), then);
                    }
                    said(&line);
                    if self.console.len() == LINES {
                        self.console.remove(0);
                    }
                    self.console.push(line);
                }
                Err(RecvTimeoutError::Disconnected) => return End::Closed,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Ends it if it has not ended.
    fn end(&mut self) -> io::Result<std::process::ExitStatus> {
        // It closes its output a moment before it ends.
        for _ in 0..50 {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_equal_from_8_1_on() {
        for (version, equal) in
            [("7.2.22", false), ("8.0.5", false), ("8.1", true), ("10.0.2", true), ("of", true)]
        {
            assert_eq!(has_equal_turns(version), equal, "{version}");
        }
    }
}
