//! Reads traces, machines and other inputs, from files or from standard input (`-`).

use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Read};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use wastenot_model::machine::Profile;
use wastenot_model::{Carries, Help, History, Machine};
use wastenot_read::{Error, Format, Formats, Options};
use wastenot_scenario::scenario::Choice;

use crate::args::input::Reading;
use crate::args::scheduler::{Scheduler, Under};
use crate::fail::Stop;
use crate::map::Bytes;
use crate::progress;

/// Reads the trace in `file`, on the machine that the user named.
pub(crate) fn history(file: &Path, reading: &Reading) -> Result<History, Stop> {
    let source = Source::of(file, reading)?;
    let Source { bytes, options, .. } = &source;
    let name = &options.name;
    if reading.buffer.is_some() {
        has_buffers(name, bytes)?;
    }
    let read = || wastenot_read::read(bytes, options);
    let result = progress::during(&format!("reading {name}"), read);
    let history = result.map_err(|error| {
        let help = match (&error, &reading.buffer) {
            // The error lists the buffers of the trace.
            (Error::NoEvents { .. }, Some(_)) => {
                "choose another buffer with `--buffer`, or leave out this option".into()
            }
            _ => error.help(),
        };
        Stop::new(format_args!("{name}: {error}"), help)
    })?;
    source.on_its_machine(history)
}

/// Short parts of a long trace, if its format allows this. Errors are reported by [`history`].
pub(crate) fn glance(file: &Path, reading: &Reading) -> Option<History> {
    regular(file)?;
    let source = Source::of(file, reading).ok()?;
    let history = wastenot_read::glance(&source.bytes, &source.options, GLANCE)?;
    source.on_its_machine(history).ok()
}

/// The bytes of a glance: reading and checking them takes a second.
const GLANCE: usize = 24 << 20;

/// A trace that was not read yet.
struct Source {
    bytes: Bytes,
    options: Options,
    machine: Option<Machine>,
}

impl Source {
    fn of(file: &Path, reading: &Reading) -> Result<Source, Stop> {
        // Check this before reading the trace: a typing error must not cost a minute.
        let told = reading.machine.as_deref();
        let machine = told.map(|text| machine("--machine", text)).transpose()?;
        let formats = reading.formats_from.as_deref().map(formats).transpose()?;
        let options = Options {
            name: shown(file),
            clock_hz: reading.clock_hz,
            buffer: reading.buffer.clone(),
            formats,
            ..Options::default()
        };
        Ok(Source { bytes: bytes(file)?, options, machine })
    }

    /// The history that was read, on the machine that the user named.
    fn on_its_machine(self, mut history: History) -> Result<History, Stop> {
        if let Some(machine) = self.machine {
            put_on(&mut history, machine)?;
        }
        Ok(history)
    }
}

/// The event formats in the trace `file`.
fn formats(file: &Path) -> Result<Formats, Stop> {
    let name = shown(file);
    let failed = |error: Error| Stop::new(format_args!("{name}: {error}"), error.help());
    Formats::of(&bytes(file)?, &name).map_err(failed)
}

/// Fails if the format has no buffers, because `--buffer` would then have no effect.
fn has_buffers(name: &str, bytes: &[u8]) -> Result<(), Stop> {
    match wastenot_read::detect(bytes) {
        // The format of a compressed file is known only after it is read.
        Ok(Format::TraceDat) | Err(_) => Ok(()),
        Ok(_) => Err(Stop::new(
            format_args!("{name} has no buffers; only a trace.dat has buffers"),
            "leave out `--buffer`",
        )),
    }
}

/// The first line of an error if no program pipes data into standard input.
const TERMINAL: &str = "standard input is a terminal";

/// The metadata of a regular file. Other files can be read only once.
pub(crate) fn regular(file: &Path) -> Option<Metadata> {
    let is_named = file != Path::new("-");
    is_named.then(|| file.metadata().ok()).flatten().filter(Metadata::is_file)
}

/// The name of a file in messages.
pub(crate) fn shown(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

pub(crate) fn bytes(file: &Path) -> Result<Bytes, Stop> {
    let name = shown(file);
    let failed = |error: io::Error| {
        let help = match error.kind() {
            io::ErrorKind::NotFound => "check the path; `wastenot doctor` shows how to record",
            io::ErrorKind::PermissionDenied => "change the owner: `sudo chown $USER FILE`",
            _ => "check the path and its permissions",
        };
        Stop::io(format_args!("cannot open {name}"), &error, help)
    };
    if file == Path::new("-") {
        return stdin().map_err(failed)?.map_or_else(
            || Err(Stop::new(TERMINAL, "pipe a trace into wastenot: `... | wastenot check -`")),
            |bytes| Ok(Bytes::Owned(bytes)),
        );
    }
    let mut opened = File::open(file).map_err(failed)?;
    let meta = opened.metadata().map_err(failed)?;
    ends(
        file,
        &meta,
        "give one trace file; wastenot cannot read directories of `perf record --threads`",
    )?;
    if meta.is_file() && meta.len() > 0 {
        return Bytes::map(&opened).map_err(failed);
    }
    let mut bytes = Vec::new();
    opened.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Bytes::Owned(bytes))
}

/// A file that is read once, as far as the caller wants. `piped` is the help if standard input is a
/// terminal.
pub(crate) fn once(file: &Path, piped: &'static str) -> Result<Box<dyn Read>, Stop> {
    opened(file, piped, UNREADABLE)
}

/// The same; `help` is the help if the file cannot be opened.
fn opened(file: &Path, piped: &str, help: &str) -> Result<Box<dyn Read>, Stop> {
    if file == Path::new("-") {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Err(Stop::new(TERMINAL, piped));
        }
        return Ok(Box::new(stdin));
    }
    let opened = File::open(file).map_err(|error| unopened(file, &error, help))?;
    let meta = opened.metadata().map_err(|error| unopened(file, &error, help))?;
    ends(file, &meta, "give a file in it")?;
    Ok(Box::new(opened))
}

/// Refuses a directory, and a device, which may go on for ever. `inside` is the help for a
/// directory.
fn ends(file: &Path, meta: &Metadata, inside: &str) -> Result<(), Stop> {
    let name = file.display();
    match meta.file_type() {
        kind if kind.is_dir() => Err(Stop::new(format!("{name} is a directory"), inside)),
        kind if kind.is_char_device() => {
            Err(Stop::new(format!("{name} is a device"), "give a file"))
        }
        _ => Ok(()),
    }
}

/// The help if a file cannot be opened.
const UNREADABLE: &str = "check the path and its permissions";

fn unopened(file: &Path, error: &io::Error, help: &str) -> Stop {
    Stop::io(format_args!("cannot open {}", shown(file)), error, help)
}

/// The text of a policy. Of a file that is too long, it reads only enough to detect this.
pub(crate) fn policy(file: &Path) -> Result<Vec<u8>, Stop> {
    let opened = once(file, "pipe a policy into wastenot: `... | wastenot rota check -`")?;
    let mut bytes = Vec::new();
    let limit = wastenot_rota::syntax::BYTES as u64 + 1;
    let read = opened.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| unopened(file, &error, UNREADABLE))?;
    if bytes.is_empty() {
        let what = format!("{}: the file is empty", shown(file));
        return Err(Stop::new(what, "begin with `policy NAME { ... }`"));
    }
    Ok(bytes)
}

/// The name in messages and the text of an experiment; `help` names a valid input.
pub(crate) fn text(file: &Path, help: &'static str) -> Result<(String, String), Stop> {
    let (name, mut bytes) = (shown(file), Vec::new());
    let read = opened(file, help, help)?.read_to_end(&mut bytes);
    read.map_err(|error| unopened(file, &error, help))?;
    let text = wastenot_scenario::text(&name, &bytes).map_err(|error| Stop::new(error, help))?;
    Ok((name.clone(), text.to_owned()))
}

fn stdin() -> io::Result<Option<Vec<u8>>> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The machine that an option names: a file if one of this name exists, else a preset or a
/// description.
pub(crate) fn machine(option: &str, text: &str) -> Result<Machine, Stop> {
    let file = Path::new(text);
    let made = if file.is_file() {
        wastenot_scenario::machine_from(text, &bytes(file)?)
    } else {
        wastenot_scenario::machine(text)
    };
    made.map_err(|error| Stop::new(format_args!("{option}: {error}"), error.help()))
}

/// The profile that an option names: a file if one of this name exists, else a named profile.
pub(crate) fn profile(option: &str, name: &str) -> Result<Profile, Stop> {
    let file = Path::new(name);
    let read = if file.is_file() {
        let (shown, text) = text(file, "give a profile (TOML, docs/reference/profile.md)")?;
        wastenot_scenario::profile::profile(&shown, &text)
    } else {
        wastenot_scenario::profile::named(name)
    };
    read.map_err(|error| Stop::new(format_args!("{option}: {error}"), error.help()))
}

/// The scheduler that the user selected, with its text if it is a file.
pub(crate) fn scheduler(under: &Under) -> Result<Option<Choice>, Stop> {
    under.scheduler.as_ref().map(|scheduler| another(scheduler, under)).transpose()
}

/// Another scheduler, under the same options.
pub(crate) fn another(scheduler: &Scheduler, under: &Under) -> Result<Choice, Stop> {
    let mut choice = scheduler.0.clone();
    wastenot_experiment::resolve(&mut choice, Path::new(""))?;
    safe(&choice, under)?;
    Ok(choice)
}

/// Policies with an unsafe protocol need `--allow-unsafe`.
pub(crate) fn safe(choice: &Choice, under: &Under) -> Result<(), Stop> {
    if under.allow_unsafe || !wastenot_experiment::is_unsafe(choice) {
        return Ok(());
    }
    let what = format!("{} uses an unsafe protocol", choice.name);
    Err(Stop::new(what, "add `--allow-unsafe` to accept it"))
}

/// Sets the topology of a trace whose file lacks it. The CPUs that were online are those of the
/// trace.
fn put_on(history: &mut History, mut machine: Machine) -> Result<(), Stop> {
    let own = &history.head.machine;
    if machine.len() != own.len() {
        let what = format!("--machine has {} CPUs, but the trace has {}", machine.len(), own.len());
        return Err(Stop::new(what, "give the machine on which the trace was recorded"));
    }
    for (cpu, own) in machine.cpus.iter_mut().zip(&own.cpus) {
        (cpu.online, cpu.isolated) = (own.online, own.isolated);
    }
    history.head.machine = machine;
    history.head.carries |= Carries::TOPOLOGY;
    Ok(())
}
