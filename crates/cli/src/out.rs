//! Writes results: to standard output, or to a file that appears complete or not at all.

use std::borrow::Cow;
use std::fmt;
use std::fs::{self, Permissions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write, stdout};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;
use wastenot_draw::{Scene, ascii};
use wastenot_host::part;
use wastenot_model::{is_printable, printable, printable_lines};

use crate::fail::Stop;

/// Prints a result for people, and escapes characters that would act on a terminal.
pub(crate) fn print(text: &str) -> Result<(), Stop> {
    print_as_is(&printable_lines(text))
}

/// Prints text as it is: pictures and excerpts with colours, in which the caller has escaped all
/// names, or output for programs.
pub(crate) fn print_as_is(text: &str) -> Result<(), Stop> {
    let mut out = stdout().lock();
    let result = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    result.map_err(|error| unprinted(&error))
}

/// Prints a result as JSON.
pub(crate) fn print_json(result: &impl Serialize) -> Result<(), Stop> {
    let mut out = Shown::new(stdout().lock(), escaped);
    let written = serde_json::to_writer_pretty(&mut out, result).map_err(io::Error::from);
    let result = written.and_then(|()| writeln!(out)).and_then(|()| out.flush());
    result.map_err(|error| unprinted(&error))
}

/// Prints a result as one line of JSON, one of several.
pub(crate) fn print_line(result: &impl Serialize) -> Result<(), Stop> {
    let mut out = Shown::new(stdout().lock(), escaped);
    let written = serde_json::to_writer(&mut out, result).map_err(io::Error::from);
    let result = written.and_then(|()| writeln!(out)).and_then(|()| out.flush());
    result.map_err(|error| unprinted(&error))
}

/// Escapes characters of JSON that would act on a terminal. serde_json escapes only ASCII control
/// characters. Other such characters occur only in strings, so an escape has the same meaning.
fn escaped(json: &str) -> Cow<'_, str> {
    let stays = |letter: char| letter == '\n' || is_printable(letter);
    let done = match json.is_ascii() {
        true => !json.as_bytes().contains(&0x7f),
        false => json.chars().all(stays),
    };
    if done {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if stays(letter) {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            _ = fmt::Write::write_fmt(&mut out, format_args!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(out)
}

/// The bytes that are shown at once, in whole lines.
const BATCH: usize = 1 << 16;

/// A writer that escapes the content of files, so that it cannot act on a terminal.
struct Shown<W: Write> {
    out: W,
    show: fn(&str) -> Cow<'_, str>,
    /// The bytes that were not written yet.
    rest: Vec<u8>,
}

impl<W: Write> Shown<W> {
    fn new(out: W, show: fn(&str) -> Cow<'_, str>) -> Shown<W> {
        Shown { out, show, rest: Vec::new() }
    }

    fn put(&mut self, upto: usize) -> io::Result<()> {
        let bytes = &self.rest[..upto];
        let text = str::from_utf8(bytes).map(Cow::Borrowed);
        let text = text.unwrap_or_else(|_| String::from_utf8_lossy(bytes));
        self.out.write_all((self.show)(&text).as_bytes())?;
        self.rest.drain(..upto);
        Ok(())
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.rest.extend_from_slice(bytes);
        if self.rest.len() >= BATCH
            && let Some(last) = self.rest.iter().rposition(|byte| *byte == b'\n')
        {
            self.put(last + 1)?;
        }
        Ok(())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.put(self.rest.len())?;
        self.out.flush()
    }
}

fn unprinted(error: &io::Error) -> Stop {
    let help = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some disk space, or write to another disk"
        }
        _ => "redirect the output to a file: `... > FILE`",
    };
    Stop::io("cannot write to standard output", error, help)
}

/// Prints a message on stderr, in addition to the result.
pub(crate) fn note(text: &str) {
    // If stderr is closed, no reader is left.
    let _ = writeln!(io::stderr(), "wastenot: {}", printable(text));
}

/// Quotes a path for the shell. `None` if a command line cannot contain the path.
pub(crate) fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control))?;
    let plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    match text.chars().all(plain) {
        true => Some(text.to_owned()),
        false => Some(format!("'{}'", text.replace('\'', r"'\''"))),
    }
}

/// Prints formatted text on stderr, before an error.
pub(crate) fn complain(text: &str) {
    // If stderr is closed, no reader is left.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Replaces the text of an existing file by way of a temporary file in the same directory, so that
/// no reader sees an incomplete file. Links and permissions do not change.
pub(crate) fn rewrite(path: &Path, text: &str) -> Result<(), Stop> {
    let failed = |error: &io::Error| {
        let what = format!("cannot write {}", path.display());
        Stop::io(what, error, "check the permissions of the file and of its directory")
    };
    let replace = || {
        let path = path.canonicalize()?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let permissions = path.metadata()?.permissions();
        let mut file = tempfile::Builder::new().prefix(".wastenot-").tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(permissions)?;
        file.as_file().sync_data()?;
        file.persist(&path).map_err(|error| error.error)
    };
    replace().map(drop).map_err(|error| failed(&error))
}

/// Standard output gets colour if it is a capable terminal and NO_COLOR is not set.
pub(crate) fn colour() -> bool {
    colour_on(&stdout())
}

/// Stderr gets colour under the same conditions.
pub(crate) fn colour_of_errors() -> bool {
    colour_on(&io::stderr())
}

fn colour_on(face: &impl IsTerminal) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    face.is_terminal() && !set("NO_COLOR") && !dumb
}

/// A picture for the terminal, in characters that the terminal supports.
pub(crate) fn drawn(scene: &Scene) -> String {
    let (columns, rows) = size();
    let drawn = scene.terminal(columns, rows, colour());
    if is_unicode() { drawn } else { ascii(&drawn) }
}

/// Returns true if the locale supports more than ASCII. Without a locale, terminals are assumed to
/// use UTF-8.
fn is_unicode() -> bool {
    let told = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(told);
    locale.is_none_or(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

/// Width and height of the terminal in characters; 80 x 24 without a terminal.
pub(crate) fn size() -> (usize, usize) {
    let told = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    let seen = terminal_size::terminal_size();
    let columns = seen.map(|(columns, _)| usize::from(columns.0));
    let rows = seen.map(|(_, rows)| usize::from(rows.0));
    (told("COLUMNS").or(columns).unwrap_or(80), told("LINES").or(rows).unwrap_or(24))
}

/// An output file. It is checked before the work begins, so that an hour of work is not lost.
#[derive(Debug)]
pub(crate) struct Target {
    path: PathBuf,
    /// The option that names the file.
    option: &'static str,
    force: bool,
}

impl Target {
    /// The output file `path` of the option `-o`. Fails if the file exists and may not be
    /// overwritten. `-` is standard output.
    pub(crate) fn new(path: &Path, force: bool) -> Result<Target, Stop> {
        Target::named("-o", path, force)
    }

    /// The output file of another option.
    pub(crate) fn named(option: &'static str, path: &Path, force: bool) -> Result<Target, Stop> {
        let target = Target { path: path.to_owned(), option, force };
        if target.is_file() && path.exists() {
            if path.is_dir() {
                let what = format!("{} is a directory", path.display());
                return Err(Stop::new(what, format!("give a file: `{option} FILE`")));
            }
            if !force {
                return Err(target.exists());
            }
        }
        Ok(target)
    }

    fn exists(&self) -> Stop {
        let what = format!("{} exists already", self.path.display());
        let option = self.option;
        let help = format!("overwrite it with `--force`, or give another file: `{option} FILE`");
        Stop::new(what, help)
    }

    /// Writes the file: first into a temporary file in the same directory, so that no reader sees
    /// an incomplete file.
    pub(crate) fn write(
        &self,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Stop> {
        if !self.is_file() {
            let result = if stdout().is_terminal() {
                let mut out = Shown::new(stdout(), printable_lines);
                fill(&mut out).and_then(|()| out.flush())
            } else {
                let mut out = BufWriter::new(stdout());
                fill(&mut out).and_then(|()| out.flush())
            };
            return result.map_err(|error| self.failed(&error));
        }
        let file = tempfile::Builder::new()
            .prefix(".wastenot-")
            .permissions(Permissions::from_mode(0o666)) // less the umask, as any new file
            .tempfile_in(self.folder())
            .map_err(|error| self.failed(&error))?;
        let mut out = BufWriter::new(file);
        let filled = fill(&mut out).and_then(|()| out.flush());
        let file = filled.and_then(|()| out.into_inner().map_err(|error| error.into_error()));
        self.persist(file.map_err(|error| self.failed(&error))?)
    }

    /// Begins a file that grows during a recording. Until the end it has the extension `.part`, and
    /// can be read even if the recorder is killed.
    pub(crate) fn grow(&self) -> Result<Growing<'_>, Stop> {
        if !self.is_file() {
            return Ok(Growing { target: self, out: Some(GrowingOut::Stdout(stdout())), bytes: 0 });
        }
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let path = self.folder().join(&name);
        let path = path.strip_prefix("./").unwrap_or(&path);
        if path.exists() {
            self.clear(path)?;
        }
        let file = tempfile::Builder::new()
            .prefix(&name)
            .rand_bytes(0)
            .disable_cleanup(true)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(self.folder())
            .map_err(|error| self.failed(&error))?;
        // The lock is held while the file grows, so that other processes can tell it from an
        // abandoned part.
        if !part::hold(file.as_file(), path).map_err(|error| self.failed(&error))? {
            return Err(is_recorded(path));
        }
        Ok(Growing { target: self, out: Some(GrowingOut::File(file)), bytes: 0 })
    }

    /// Removes the part at `path` if it was abandoned, and is empty or may be overwritten.
    fn clear(&self, path: &Path) -> Result<(), Stop> {
        let left = part::left(path).map_err(|error| self.failed(&error))?;
        let left = left.ok_or_else(|| is_recorded(path))?;
        let is_empty = left.metadata().is_ok_and(|it| it.len() == 0);
        if !is_empty && !self.force {
            let shown = path.display();
            let what = format!("{shown} exists already: a killed recording left it behind");
            let help =
                format!("move {shown} away, or add `--force`; `wastenot check {shown}` reads it");
            return Err(Stop::new(what, help));
        }
        fs::remove_file(path).map_err(|error| self.failed(&error))
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        }
    }

    fn persist(&self, file: NamedTempFile) -> Result<(), Stop> {
        // The name may reach the disk before the content. After a crash of the machine, the file
        // would then be empty, and a recording cannot be repeated.
        file.as_file().sync_data().map_err(|error| self.failed(&error))?;
        let result = match self.force {
            true => file.persist(&self.path),
            false => file.persist_noclobber(&self.path),
        };
        match result {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(self.exists()),
            Err(error) => Err(self.failed(&error.error)),
        }
    }

    /// The error if the file cannot be written.
    pub(crate) fn failed(&self, error: &io::Error) -> Stop {
        let help = format!("give a file in a writable directory: `{} FILE`", self.option);
        Stop::io(format_args!("cannot write {}", self.path.display()), error, help)
    }

    /// True if the target is a file, false if it is standard output.
    pub(crate) fn is_file(&self) -> bool {
        self.path != Path::new("-")
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A directory of files that appears complete or not at all.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    force: bool,
    /// The names of its files. A directory with other files is not replaced.
    files: &'static [&'static str],
}

impl Folder {
    /// Returns true if `path` ends in `/` or is a directory.
    pub(crate) fn is_named(path: &Path) -> bool {
        path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
    }

    /// The output directory `path` of the option `-o`, for these files. Fails if the directory
    /// exists and may not be overwritten.
    pub(crate) fn new(
        path: &Path,
        force: bool,
        files: &'static [&'static str],
    ) -> Result<Folder, Stop> {
        let named = path.canonicalize();
        let folder = Folder { path: named.unwrap_or_else(|_| path.to_owned()), force, files };
        let Ok(there) = fs::read_dir(path) else {
            // For a file name with a trailing slash, the system reports that it does not exist.
            return match path.components().as_path().exists() || path.file_name().is_none() {
                true => Err(folder.stop("is not a writable directory")),
                false => Ok(folder),
            };
        };
        let names = there.flatten().map(|entry| entry.file_name());
        let mut names = names.collect::<Vec<_>>();
        names.sort();
        let is_other = |name: &&std::ffi::OsString| !files.iter().any(|file| *name == *file);
        if let Some(other) = names.iter().find(is_other) {
            return Err(folder.stop(&format!("contains another file, {}", other.display())));
        }
        if !names.is_empty() && !force {
            let what = format!("{} exists already", path.display());
            let help = "overwrite it with `--force`, or give another directory: `-o DIR/`";
            return Err(Stop::new(what, help));
        }
        Ok(folder)
    }

    fn stop(&self, what: &str) -> Stop {
        Stop::new(format!("{} {what}", self.path.display()), "give a new directory: `-o DIR/`")
    }

    /// Writes the directory: `fill` writes into a temporary directory, which is then renamed.
    pub(crate) fn write(&self, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), Stop> {
        let write = || {
            let beside = match self.path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            let room = tempfile::Builder::new().prefix(".wastenot-").tempdir_in(beside)?;
            let (new, old) = (room.path().join("new"), room.path().join("old"));
            fs::create_dir(&new)?;
            fill(&new)?;
            for file in self.files {
                fs::File::open(new.join(file))?.sync_data()?;
            }
            if self.force && self.path.exists() {
                fs::rename(&self.path, &old)?;
            }
            // The rename fails if another process has created a directory that is not empty.
            fs::rename(&new, &self.path).inspect_err(|_| {
                let _ = fs::rename(&old, &self.path);
            })
        };
        write().map_err(|error| {
            let what = format!("cannot write {}", self.path.display());
            Stop::io(what, &error, "give a directory in a writable place: `-o DIR/`")
        })
    }
}

/// A file that grows. Unless it is finished, it stays as a part.
pub(crate) struct Growing<'t> {
    target: &'t Target,
    out: Option<GrowingOut>,
    bytes: u64,
}

enum GrowingOut {
    File(NamedTempFile),
    Stdout(io::Stdout),
}

impl Growing<'_> {
    /// Completes the file: renames it, and returns its size in bytes.
    pub(crate) fn finish(mut self) -> Result<u64, Stop> {
        if let Some(GrowingOut::File(file)) = self.out.take() {
            self.target.persist(file)?;
        }
        Ok(self.bytes)
    }

    /// Removes the file, because it has no content.
    pub(crate) fn discard(mut self) {
        if let Some(GrowingOut::File(mut file)) = self.out.take() {
            file.disable_cleanup(false);
        }
    }
}

impl Write for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.out {
            Some(GrowingOut::File(file)) => file.write(bytes)?,
            Some(GrowingOut::Stdout(out)) => out.write(bytes)?,
            None => 0,
        };
        self.bytes += written as u64;
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Some(GrowingOut::File(file)) => file.flush(),
            Some(GrowingOut::Stdout(out)) => out.flush(),
            None => Ok(()),
        }
    }
}

fn is_recorded(part: &Path) -> Stop {
    let what = format!("another process records into {}", part.display());
    Stop::new(what, "give another file: `-o FILE`")
}
