//! What a loader fills in before the kernel verifies an object: the tables of the machine, the
//! constants of the kernel.

use std::collections::BTreeMap;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Enum, Enum64};
use object::{Object as _, ObjectSection, ObjectSymbol};
use wastenot_model::Machine;
use wastenot_rota::emit::Tables;
use wastenot_rota::ir::Program;
use wastenot_rota::{Tree, partitions};

use crate::Error;

/// Where the variables of a section are: offset and size, by name.
pub(crate) type Places = BTreeMap<String, (usize, usize)>;

/// Constants of the kernel by its names: flags of operations, and what the emitted code has as
/// read-only variables. A macro is not in its type description: then the value in the code stands.
const CONSTANTS: [&str; 11] = [
    "SCX_OPS_KEEP_BUILTIN_IDLE",
    "SCX_OPS_ENQ_EXITING",
    "SCX_OPS_ENQ_MIGRATION_DISABLED",
    "SCX_DSQ_LOCAL",
    "SCX_DSQ_LOCAL_ON",
    "SCX_SLICE_INF",
    "SCX_KICK_IDLE",
    "SCX_KICK_PREEMPT",
    "SCX_ENQ_WAKEUP",
    "SCX_DEQ_SLEEP",
    "SCX_TASK_QUEUED",
];

/// The variables of the section `name` of an ELF file.
pub(crate) fn places(elf: &[u8], name: &str) -> Result<Places, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    let section =
        file.section_by_name(name).ok_or_else(|| format!("it has no section {name}"))?.index();
    let inside = file.symbols().filter(|it| it.section_index() == Some(section) && it.size() > 0);
    let place = |it: object::Symbol<'_, '_>| {
        let place = (it.address() as usize, it.size() as usize);
        Some((it.name().ok()?.to_owned(), place))
    };
    Ok(inside.filter_map(place).collect())
}

/// The bytes of a variable in the section `name` of an ELF file.
pub(crate) fn variable<'e>(elf: &'e [u8], name: &str, variable: &str) -> Result<&'e [u8], String> {
    let (at, size) = *places(elf, name)?
        .get(variable)
        .ok_or_else(|| format!("it has no variable {variable}"))?;
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    let section = file.section_by_name(name).and_then(|it| it.data().ok()).unwrap_or_default();
    section
        .get(at..at.saturating_add(size))
        .ok_or_else(|| format!("the variable {variable} is incomplete"))
}

/// The values of the constants in this kernel.
pub(crate) fn constants(kernel: &Btf<'_>) -> BTreeMap<&'static str, u64> {
    let mut found = BTreeMap::new();
    let mut take = |name: Option<&std::ffi::OsStr>, value: u64| {
        let known = CONSTANTS.into_iter().find(|it| name.is_some_and(|name| name == *it));
        found.extend(known.map(|known| (known, value)));
    };
    for of in kernel.type_by_kind::<Enum<'_>>() {
        of.iter().for_each(|it| take(it.name, it.value as u64));
    }
    for of in kernel.type_by_kind::<Enum64<'_>>() {
        of.iter().for_each(|it| take(it.name, it.value as u64));
    }
    found
}

/// Writes tables and constants into `data`, which has the variables at these places. Returns the
/// first that is not there.
pub(crate) fn fill(
    data: &mut [u8],
    places: &Places,
    tables: &Tables,
    constants: &BTreeMap<&'static str, u64>,
) -> Result<(), String> {
    for (name, bytes) in tables.images() {
        let fits = places.get(name).filter(|(_, size)| *size == bytes.len());
        let (at, size) = *fits.ok_or_else(|| format!("its table {name} has an unexpected size"))?;
        let place =
            data.get_mut(at..at + size).ok_or_else(|| format!("its table {name} is incomplete"))?;
        place.copy_from_slice(&bytes);
    }
    for (name, value) in constants {
        let Some((at, size)) = places.get(*name).copied() else { continue };
        let bytes = value.to_ne_bytes();
        let bytes = if cfg!(target_endian = "big") {
            bytes.get(8usize.saturating_sub(size)..)
        } else {
            bytes.get(..size)
        };
        let place = data.get_mut(at..at + size);
        if let (Some(place), Some(bytes)) = (place, bytes) {
            place.copy_from_slice(bytes);
        }
    }
    Ok(())
}

/// The tables of a machine for a program.
///
/// # Errors
/// The machine does not fit into them.
pub fn tables(program: &Program, machine: &Machine) -> Result<Tables, Error> {
    let trees: Vec<Tree> =
        partitions::cpus(program, machine).iter().map(|cpus| Tree::of(machine, cpus)).collect();
    let why = format!("{} CPUs, {} partitions", machine.len(), trees.len());
    Tables::of(&trees).ok_or(Error::DoesNotFit { why })
}
