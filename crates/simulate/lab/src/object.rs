//! Loads a scheduler of sched_ext from an object of BPF, as it is, without a program of its own.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use libbpf_rs::{Link, MapCore as _, MapType, ObjectBuilder, PrintLevel, set_print};

/// A scheduler that schedules until this is dropped.
#[derive(Debug)]
pub struct Scheduler {
    /// They unload it.
    _links: Vec<Link>,
    /// Its programs and maps.
    _object: libbpf_rs::Object,
}

impl Scheduler {
    /// Loads the object in a file, and attaches it: its operations last. What libbpf and the
    /// verifier say goes to stderr.
    ///
    /// # Errors
    /// The file cannot be read, the kernel refuses it, or it has no operations.
    pub fn load(path: &Path) -> io::Result<Scheduler> {
        let failed = |error: libbpf_rs::Error| io::Error::other(format!("{error:#}"));
        set_print(Some((PrintLevel::Warn, |_, text| {
            let _ = io::stderr().write_all(text.as_bytes());
        })));
        let elf = fs::read(path)?;
        let open = ObjectBuilder::default().open_memory(&elf).map_err(failed)?;
        let mut object = open.load().map_err(failed)?;
        let mut links = Vec::new();
        for program in object.progs_mut() {
            let section = program.section().to_string_lossy().into_owned();
            // Operations are attached together, and calls of user space are not.
            if !section.starts_with("struct_ops") && !section.starts_with("syscall") {
                links.push(program.attach().map_err(failed)?);
            }
        }
        let before = links.len();
        for mut map in object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
            let link = map.attach_struct_ops().map_err(|error| {
                io::Error::other(format!("Failed to attach struct_ops: {error:#}"))
            })?;
            links.push(link);
        }
        match links.len() > before {
            true => Ok(Scheduler { _links: links, _object: object }),
            false => {
                Err(io::Error::other("it has no scheduler operations (section .struct_ops.link)"))
            }
        }
    }
}
