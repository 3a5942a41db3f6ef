//! A scheduler that runs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use libbpf_rs::{Link, MapCore as _, MapFlags, MapType, ProgramInput};
use wastenot_host::{Hierarchy, Proc, sched_ext};
use wastenot_rota::ir::{Program, Tasks};
use wastenot_rota::partitions;

use crate::object::Loaded;
use crate::{Error, Exit};

/// The steps of the protocol that each CPU counts, in the order of the emitted code.
pub const STEPS: [&str; 9] =
    ["put", "run", "take", "select", "steal_ok", "steal_fail", "kick", "chain", "again"];
/// The program that kicks each idle CPU.
const LOOK: &str = "rota_look";
/// So many rows has each CPU in the emitted table.
const ROWS: usize = 16;

/// sched_wakeup, sched_wakeup_new, sched_switch: docs/explain/emit.md.
const TRACEPOINTS: usize = 3;

/// A scheduler that schedules. When it is dropped, the kernel's own takes over.
#[derive(Debug)]
pub struct Running {
    // Links first: they unload it.
    links: Vec<Link>,
    pub(crate) loaded: Loaded,
}

impl Loaded {
    /// From now on it schedules.
    ///
    /// # Errors
    /// Another scheduler is loaded, or the kernel refuses to attach it.
    pub fn start(mut self) -> Result<Running, Error> {
        let failed = |doing| {
            move |error: libbpf_rs::Error| Error::Failed { doing, why: format!("{error:#}") }
        };
        if let Some(name) = sched_ext::loaded() {
            return Err(Error::Busy { name });
        }
        // A wakeup is lost without these: they come before the scheduler.
        let mut links = Vec::new();
        for program in self.object.progs_mut() {
            if program.section().to_string_lossy().starts_with("tp_btf/") {
                links.push(program.attach().map_err(failed("attach a tracepoint"))?);
            }
        }
        if links.len() != TRACEPOINTS {
            let why = format!("it has {} of the {TRACEPOINTS} tracepoints", links.len());
            return Err(Error::Failed { doing: "attach the object", why });
        }
        let operations = self.object.maps_mut().find(|map| map.map_type() == MapType::StructOps);
        let Some(mut operations) = operations else {
            return Err(Error::Failed {
                doing: "attach the object",
                why: "it has no operations".into(),
            });
        };
        let link = operations.attach_struct_ops().map_err(failed("attach the scheduler"))?;
        links.push(link);
        let running = Running { links, loaded: self };
        running.look_again()?;
        Ok(running)
    }
}

impl Running {
    /// How often each step was taken so far, over all CPUs.
    pub fn steps(&self) -> [u64; STEPS.len()] {
        let mut sums = [0u64; STEPS.len()];
        let bytes = self.variable("steps").unwrap_or_default();
        for (n, word) in bytes.chunks_exact(8).enumerate() {
            let value = word.try_into().map_or(0, u64::from_ne_bytes);
            if let Some(sum) = sums.get_mut(n % ROWS) {
                *sum = sum.wrapping_add(value);
            }
        }
        sums
    }

    /// Lets each idle CPU look for a task. Needed when the kernel has bypassed the scheduler, as it
    /// does while it loads it: it dropped kicks meanwhile, and a CPU that was claimed may sleep on.
    ///
    /// # Errors
    /// The object is of another version, or the kernel refuses to run the program.
    pub fn look_again(&self) -> Result<(), Error> {
        let failed = |why: String| Error::Failed { doing: "wake idle CPUs", why };
        let look = self.loaded.object.progs_mut().find(|it| it.name() == LOOK);
        let look = look.ok_or_else(|| failed(format!("the object has no program `{LOOK}`")))?;
        let ran = look.test_run(ProgramInput::default());
        ran.map(drop).map_err(|error| failed(format!("{error:#}")))
    }

    /// Puts the tasks of each cgroup and process that `program` puts into a partition there; those
    /// that are made later have to be placed again.
    ///
    /// # Errors
    /// Tasks are scheduled by another hierarchy than the unified one, or there are too many.
    pub fn place(&self, program: &Program) -> Result<(), Error> {
        let rules = || program.partitions.iter().map(|it| &it.tasks);
        if rules().any(|it| matches!(it, Tasks::Cgroup(_))) {
            self.place_cgroups(program)?;
        }
        if rules().any(|it| matches!(it, Tasks::Command(_))) {
            self.place_processes(program)?;
        }
        Ok(())
    }

    fn map(&self, name: &str) -> Result<libbpf_rs::Map<'_>, Error> {
        let found = self.loaded.object.maps().find(|map| map.name() == name);
        let why = || format!("the object has no map `{name}`");
        found.ok_or_else(|| Error::Failed { doing: "place tasks", why: why() })
    }

    /// By the names of their processes.
    fn place_processes(&self, program: &Program) -> Result<(), Error> {
        let map = self.map("part_of_process")?;
        let failed = |error: libbpf_rs::Error| Error::Failed {
            doing: "place tasks by their commands",
            why: format!("{error:#}"),
        };
        let proc = Proc::mounted();
        if !proc.is_alike() {
            return Err(Error::Failed {
                doing: "place tasks by their commands",
                why: "this process is in a PID namespace, so it does not see the kernel's task IDs"
                    .into(),
            });
        }
        let mut gone: BTreeSet<Vec<u8>> = map.keys().collect();
        for (process, name) in proc.commands() {
            let Some(part) = partitions::of_command(program, &name) else { continue };
            let (key, part) = (process.to_ne_bytes(), part as u32);
            gone.remove(key.as_slice());
            map.update(&key, &part.to_ne_bytes(), MapFlags::ANY).map_err(failed)?;
        }
        // Their numbers may be those of others soon; one may have been removed meanwhile.
        gone.iter().for_each(|key| _ = map.delete(key));
        Ok(())
    }

    /// By the names of their cgroups.
    fn place_cgroups(&self, program: &Program) -> Result<(), Error> {
        let map = self.map("part_of_cgroup")?;
        let failed = |why: String| Error::Failed { doing: "place tasks by their cgroups", why };
        let hierarchy = Hierarchy::here();
        if !matches!(hierarchy, Hierarchy::V2(_)) {
            return Err(failed("no cgroup v2 hierarchy has the cpu controller".into()));
        }
        let mut gone: BTreeSet<Vec<u8>> = map.keys().collect();
        let mut wrong = None;
        hierarchy.each(|path, folder| {
            let part = part(program, &path);
            let (Some(part), Ok(meta)) = (part, fs::metadata(folder)) else { return };
            let (key, value) = (meta.ino().to_ne_bytes(), part.to_ne_bytes());
            gone.remove(key.as_slice());
            if let Err(error) = map.update(&key, &value, MapFlags::ANY) {
                wrong = Some(format!("{path}: {error:#}"));
            }
        });
        gone.iter().for_each(|key| _ = map.delete(key));
        wrong.map_or(Ok(()), |why| Err(failed(why)))
    }

    /// Why the kernel ended it, once it has.
    pub fn exit(&self) -> Option<Exit> {
        let kind = self.variable("exit_kind")?;
        let kind = u32::from_ne_bytes(kind.try_into().ok()?);
        let code = || self.variable("exit_code")?.try_into().ok();
        (kind > 0).then(|| Exit {
            kind,
            code: code().map_or(0, u64::from_ne_bytes),
            reason: self.text("exit_reason"),
            message: self.text("exit_message"),
        })
    }

    fn text(&self, name: &str) -> String {
        let bytes = self.variable(name).unwrap_or_default();
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }

    /// The bytes of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<Vec<u8>> {
        let (at, size) = *self.loaded.bss.get(name)?;
        let is_bss = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".bss");
        let map = self.loaded.object.maps().find(|map| is_bss(map.name()))?;
        let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        Some(bytes.get(at..at + size)?.to_owned())
    }

    /// Unloads it: the kernel's own takes over. What it counted and logged can still be read.
    pub fn unload(&mut self) {
        self.links.clear();
    }
}

/// The partition of a cgroup: of the one that the text names, or else the nearest one above it.
fn part(program: &Program, path: &str) -> Option<u32> {
    let named = |cgroup: &Path| {
        let name = cgroup.file_name().and_then(|name| name.to_str());
        let by_name = name.and_then(|name| partitions::of_group(program, name));
        by_name.or_else(|| partitions::of_group(program, cgroup.to_str()?))
    };
    Path::new(path).ancestors().find_map(named).map(|part| part as u32)
}
