//! Compiled schedulers.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use libbpf_rs::btf::Btf;
use libbpf_rs::query::{ProgInfoIter, ProgramInfo};
use libbpf_rs::{MapType, ObjectBuilder, OpenObject, ProgramType};
use wastenot_host::sched_ext;
use wastenot_rota::emit::Tables;

use crate::fill::{Places, constants, fill, places, variable};
use crate::{Error, log};

/// The members with which the emitted table of operations begins, in words.
const FLAGS_AT: usize = 0;
const HOTPLUGS_AT: usize = 1;
/// `enum scx_ops_flags`: why each is set stands in the emitted code.
const FLAGS: [&str; 3] =
    ["SCX_OPS_KEEP_BUILTIN_IDLE", "SCX_OPS_ENQ_EXITING", "SCX_OPS_ENQ_MIGRATION_DISABLED"];
const KEEP_IDLE: u64 = 1;
const SWITCH_PARTIAL: u64 = 1 << 3;

/// What clang made of emitted C, not loaded yet.
#[derive(Debug)]
pub struct Object {
    path: PathBuf,
    open: OpenObject,
    rodata: Places,
    bss: Places,
}

/// A program that the kernel verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Its name.
    pub name: String,
    /// How many instructions the verifier looked at; it gives up at a million.
    pub instructions: u64,
}

impl Verified {
    /// How many instructions the verifier looked at in all programs.
    pub fn instructions_of(programs: &[Verified]) -> u64 {
        programs.iter().fold(0, |sum, it| sum.saturating_add(it.instructions))
    }
}

/// A scheduler that the kernel verified. It does not schedule yet.
#[derive(Debug)]
pub struct Loaded {
    pub(crate) object: libbpf_rs::Object,
    pub(crate) bss: Places,
}

impl Object {
    /// The object in a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no emitted scheduler.
    pub fn open(path: &Path) -> Result<Object, Error> {
        let unreadable = |error: io::Error| Error::Unreadable {
            path: path.to_owned(),
            why: wastenot_host::reason(&error),
        };
        Object::of(path, &fs::read(path).map_err(unreadable)?)
    }

    /// The object in `elf`, which came from `path`.
    ///
    /// # Errors
    /// It is no emitted scheduler.
    pub fn of(path: &Path, elf: &[u8]) -> Result<Object, Error> {
        let not = |why: String| Error::NotEmitted { path: path.to_owned(), why };
        let rodata = places(elf, ".rodata").map_err(not)?;
        let bss = places(elf, ".bss").map_err(not)?;
        let listener = log::listen();
        let open = ObjectBuilder::default()
            .open_memory(elf)
            .map_err(|error| not(listener.first().unwrap_or_else(|| format!("{error:#}"))))?;
        Ok(Object { path: path.to_owned(), open, rodata, bss })
    }

    /// Fills in the machine and the constants of the running kernel.
    ///
    /// # Errors
    /// The object has no such tables, or the kernel no type description.
    pub fn fill(&mut self, tables: &Tables) -> Result<(), Error> {
        let kernel = Btf::from_vmlinux().map_err(|error| Error::Failed {
            doing: "read the BTF of the kernel",
            why: format!("{error:#}"),
        })?;
        let not = |why: String| Error::NotEmitted { path: self.path.clone(), why };
        let constants = constants(&kernel);
        let mut maps = self.open.maps_mut();
        let mut map = maps.find(|map| map.name().to_string_lossy().ends_with(".rodata"));
        let data = map.as_mut().and_then(|map| map.initial_value_mut());
        let data = data.ok_or_else(|| not("it has no read-only data".to_owned()))?;
        fill(data, &self.rodata, tables, &constants).map_err(not)?;
        drop(maps);
        // Those that this kernel knows.
        let flags = FLAGS.iter().filter_map(|name| constants.get(name)).fold(0, |all, it| all | it);
        self.write(FLAGS_AT, |_| flags)
    }

    /// It gets the tasks of the class SCHED_EXT only, not those of the fair class.
    ///
    /// # Errors
    /// The object is of another version.
    pub(crate) fn partial(&mut self) -> Result<(), Error> {
        self.write(FLAGS_AT, |flags| flags | SWITCH_PARTIAL)
    }

    /// The kernel refuses it if a CPU came or went after [`sched_ext::hotplugs`] gave this
    /// number: then its tables are out of date.
    ///
    /// # Errors
    /// The object is of another version.
    pub(crate) fn expects(&mut self, hotplugs: u64) -> Result<(), Error> {
        self.write(HOTPLUGS_AT, |_| hotplugs)
    }

    /// Changes a member of the table of operations.
    fn write(&mut self, at: usize, change: impl FnOnce(u64) -> u64) -> Result<(), Error> {
        let mut maps = self.open.maps_mut();
        let mut operations = maps.find(|map| map.map_type() == MapType::StructOps);
        let bytes = operations.as_mut().and_then(|map| map.initial_value_mut());
        let (words, _) = bytes.unwrap_or_default().as_chunks_mut::<8>();
        // Objects of other versions begin with something else.
        let is_ours = words.first().is_some_and(|it| u64::from_ne_bytes(*it) & KEEP_IDLE != 0);
        match words.get_mut(at).filter(|_| is_ours) {
            Some(word) => *word = change(u64::from_ne_bytes(*word)).to_ne_bytes(),
            None => {
                let why = "its operations have an unexpected layout".to_owned();
                return Err(Error::NotEmitted { path: self.path.clone(), why });
            }
        }
        Ok(())
    }

    /// Lets the kernel verify it.
    ///
    /// # Errors
    /// The kernel has no sched_ext, allows no BPF, or its verifier refuses a program.
    pub fn load(self) -> Result<Loaded, Error> {
        if sched_ext::state().is_none() {
            return Err(Error::NoSchedExt);
        }
        let listener = log::listen();
        let Object { open, bss, .. } = self;
        match open.load() {
            Ok(object) => Ok(Loaded { object, bss }),
            Err(error) => Err(match listener.refusal() {
                Some(refusal) => Error::Refused(refusal),
                None if format!("{error:#}").contains("Operation not permitted") => {
                    Error::NotAllowed
                }
                None => {
                    let why = listener.first().unwrap_or_else(|| format!("{error:#}"));
                    Error::Failed { doing: "load the object", why }
                }
            }),
        }
    }
}

/// The digest of the text that the object `elf`, which came from `path`, was made from
/// ([`wastenot_rota::emit::digest`]).
///
/// # Errors
/// It is no emitted scheduler, or one of another version.
pub fn digest(path: &Path, elf: &[u8]) -> Result<u64, Error> {
    let not = |why: String| Error::NotEmitted { path: path.to_owned(), why };
    let bytes = variable(elf, ".rodata", "text_digest").map_err(not)?;
    let bytes = bytes.try_into().map_err(|_| not("its digest has an unexpected size".into()))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// The programs of all schedulers that are loaded now, by name.
pub fn operations() -> Vec<Verified> {
    let is_operation = |it: &ProgramInfo| it.ty == ProgramType::StructOps;
    let all = ProgInfoIter::default().filter(is_operation);
    let mut all: Vec<Verified> = all
        .map(|it| Verified {
            name: it.name.to_string_lossy().into_owned(),
            instructions: it.verified_insns.into(),
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

impl Loaded {
    /// Its programs, by name.
    pub fn programs(&self) -> Vec<Verified> {
        let one = |program: libbpf_rs::Program<'_>| {
            let instructions = wastenot_host::fdinfo(program.as_fd(), "verified_insns")?;
            let name = program.name().to_string_lossy().into_owned();
            Some(Verified { name, instructions })
        };
        let mut all: Vec<Verified> = self.object.progs().filter_map(one).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}
