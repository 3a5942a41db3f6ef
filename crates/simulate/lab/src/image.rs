//! The first file system of a guest: this program, the libraries that it is linked with, and what
//! it has to do, as a cpio archive (Documentation/driver-api/early-userspace/buffer-format.rst).

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, elf};

/// An archive that grows.
#[derive(Debug, Default)]
pub(crate) struct Image {
    bytes: Vec<u8>,
    /// Of all entries.
    paths: Vec<String>,
    nodes: u32,
}

/// Types of files in a mode (stat(2)).
const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_755;
const DEVICE: u32 = 0o020_600;

impl Image {
    /// The file system of a guest that this program runs.
    pub(crate) fn with_this_program() -> io::Result<Image> {
        let mut image = Image::default();
        for folder in ["/dev", "/proc", "/sys", "/tmp", "/bin"] {
            image.folder(folder);
        }
        image.device("/dev/console", (5, 1));
        let program = fs::read("/proc/self/exe")?;
        image.file(PROGRAM, loaded(&program));
        let maps = fs::read_to_string("/proc/self/maps")?;
        image.libraries(&program, &mapped(&maps))?;
        Ok(image)
    }

    /// Adds a program of this machine as `path`, with the libraries that it needs.
    pub(crate) fn program(&mut self, path: &str, from: &Path) -> io::Result<()> {
        let program = fs::read(from)?;
        self.file(path, loaded(&program));
        let Some(interpreter) = interpreter(&program) else { return Ok(()) };
        // What it would load, as ldd(1) has it: `libz.so.1 => /lib/libz.so.1 (0x...)`.
        let output = Command::new(&interpreter).arg("--list").arg(from).output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(io::Error::other(why));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let file = |line: &str| {
            let path = line.split("=>").last()?.split(" (").next()?.trim();
            path.starts_with('/').then(|| path.to_owned())
        };
        let files: Vec<String> = text.lines().filter_map(file).chain([interpreter]).collect();
        self.libraries(&program, &files.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Adds those of `files` that are libraries, and the interpreter of `program` where it has it.
    fn libraries(&mut self, program: &[u8], files: &[&str]) -> io::Result<()> {
        let interpreter = interpreter(program);
        for file in files {
            let library = fs::read(file)?;
            let Some(name) = soname(&library) else { continue };
            let is_interpreter = |path: &&String| Path::new(path).ends_with(&name);
            let path = match interpreter.as_ref().filter(is_interpreter) {
                Some(path) => path.clone(),
                None => format!("{LIBRARIES}/{name}"),
            };
            if !self.paths.contains(&path) {
                self.file(&path, loaded(&library));
            }
        }
        Ok(())
    }

    /// Whether it has a file or folder at `path`.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.iter().any(|it| it == path)
    }

    /// Adds a file, and the folders above it. `path` begins with `/`.
    pub(crate) fn file(&mut self, path: &str, content: &[u8]) {
        let above = Path::new(path).parent().map(Path::to_owned).unwrap_or_default();
        self.folder(&above.display().to_string());
        self.entry(path, FILE, (0, 0), content);
    }

    /// Adds a folder, and those above it.
    pub(crate) fn folder(&mut self, path: &str) {
        if path == "/" || path.is_empty() || self.has(path) {
            return;
        }
        if let Some(above) = Path::new(path).parent() {
            self.folder(&above.display().to_string());
        }
        self.entry(path, FOLDER, (0, 0), &[]);
    }

    /// Adds a device of characters.
    pub(crate) fn device(&mut self, path: &str, number: (u32, u32)) {
        self.entry(path, DEVICE, number, &[]);
    }

    /// The archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("/TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        let name = path.trim_start_matches('/');
        self.nodes += 1;
        self.paths.push(path.to_owned());
        let fields = [
            self.nodes,
            mode,
            0, // user
            0, // group
            1, // links
            0, // time
            content.len() as u32,
            0,
            0, // the device that the file is on
            device.0,
            device.1,
            name.len() as u32 + 1,
            0, // no checksum
        ];
        self.bytes.extend(b"070701");
        fields.iter().for_each(|field| self.bytes.extend(format!("{field:08x}").bytes()));
        self.bytes.extend(name.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// The program in the image.
pub(crate) const PROGRAM: &str = "/wastenot";
/// Where the libraries are in a guest; its kernel sets `LD_LIBRARY_PATH` to it.
pub(crate) const LIBRARIES: &str = "/lib";

/// The files whose code is mapped, each once, in the text of /proc/self/maps.
fn mapped(maps: &str) -> Vec<&str> {
    let mut files = Vec::new();
    for line in
        maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|it| it.contains('x')))
    {
        if let Some(at) = line.find('/').map(|at| &line[at..]).filter(|it| !files.contains(it)) {
            files.push(at);
        }
    }
    files
}

type Header = elf::FileHeader64<LittleEndian>;

/// What of a program or library is loaded when it runs: not its symbols and what debuggers read. Of
/// an object, which has no such parts, all.
fn loaded(file: &[u8]) -> &[u8] {
    let end = || {
        let header = Header::parse(file).ok()?;
        let parts = header.program_headers(LittleEndian, file).ok()?;
        let end = |it: &elf::ProgramHeader64<LittleEndian>| {
            it.p_offset(LittleEndian).checked_add(it.p_filesz(LittleEndian))
        };
        let parts = parts.iter().map(end);
        parts.reduce(|most, end| Some(most?.max(end?))).flatten()
    };
    let end = end().and_then(|end| usize::try_from(end).ok()).unwrap_or(file.len());
    &file[..end.min(file.len())]
}

/// The interpreter that a program names.
fn interpreter(program: &[u8]) -> Option<String> {
    let header = Header::parse(program).ok()?;
    let parts = header.program_headers(LittleEndian, program).ok()?;
    let path = parts.iter().find_map(|it| it.interpreter(LittleEndian, program).ok().flatten())?;
    String::from_utf8(path.to_vec()).ok()
}

/// The name by which programs ask for a library.
fn soname(library: &[u8]) -> Option<String> {
    let header = Header::parse(library).ok()?;
    let parts = header.program_headers(LittleEndian, library).ok()?;
    let table = parts.iter().find_map(|it| it.dynamic(LittleEndian, library).ok().flatten())?;
    let value = |tag: elf::DynamicTag| {
        let is = |it: &&elf::Dyn64<LittleEndian>| it.d_tag.get(LittleEndian) == tag;
        table.iter().find(is).map(|it| it.d_val.get(LittleEndian))
    };
    let (names, name) = (value(elf::DT_STRTAB)?, value(elf::DT_SONAME)?);
    // The table of names is at an address; the part that is loaded there has its place in the file.
    let place = parts.iter().find_map(|it| {
        let (from, size) = (it.p_vaddr(LittleEndian), it.p_filesz(LittleEndian));
        let is_there =
            it.p_type(LittleEndian) == elf::PT_LOAD && (from..from + size).contains(&names);
        is_there.then(|| names - from + it.p_offset(LittleEndian))
    })?;
    let at = usize::try_from(place.checked_add(name)?).ok()?;
    let name = library.get(at..)?.split(|&byte| byte == 0).next()?;
    String::from_utf8(name.to_vec()).ok()
}
