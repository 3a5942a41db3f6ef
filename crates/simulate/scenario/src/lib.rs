//! Builds machines, workloads and task sets: the argument of `--machine` becomes a [`Machine`], a
//! file becomes a [`Scenario`] or a [`sweep`], and a short description becomes many random task
//! sets ([`task_sets`]).
//!
//! ```
//! let machine = wastenot_scenario::machine("bulldozer64")?;
//! assert_eq!(machine.len(), 64);
//! let machine = wastenot_scenario::machine("pack:2 numa:2 l3:1 core:4 pu:2")?;
//! assert_eq!(machine.node_count(), 4);
//! let machine = wastenot_scenario::machine_from("laptop.txt", b"# CPU,Core\n0,0\n1,0\n")?;
//! assert_eq!(machine.count(|cpu| cpu.core), 1);
//! # Ok::<(), wastenot_scenario::Error>(())
//! ```
//!
//! The crate opens no file and makes no system call: the caller passes text, bytes, or a function
//! that reads `/sys`. Numbers of cores, caches and packages are unique on the machine and ascend in
//! the order of their lowest CPU, so that two descriptions of one machine compare equal; CPUs and
//! nodes keep the numbers that the kernel gives them.

pub mod ambient;
mod error;
mod hwloc;
pub mod listing;
mod lscpu;
pub mod measured;
pub mod overheads;
mod preset;
pub mod profile;
mod regular;
mod rtapp;
pub mod scenario;
pub mod sweep;
mod synthetic;
mod sys;
mod table;
pub mod task_set;
pub mod task_sets;

use wastenot_model::machine::Hops;
use wastenot_model::{Help, Machine};

pub use error::Error;
pub use preset::{Preset, presets};
pub use rtapp::{RtApp, from_rtapp, is_rtapp};
pub use scenario::catalogue::{Argument, ArgumentKind, CATALOGUE, Family, Function};
pub use scenario::{Scenario, scenario, scenario_for};

/// The command that prints a snapshot of `/sys` as lines `path:value`.
pub const SYS_COMMAND: &str = "grep -rs . /sys/devices/system/cpu /sys/devices/system/node";

/// The maximum number of nodes of a machine.
pub(crate) const NODE_LIMIT: usize = Hops::NODE_LIMIT;

/// `bytes` as text. `file` is the file's name in messages.
///
/// # Errors
/// If the bytes are not UTF-8: the line of the first such byte.
pub fn text<'t>(file: &str, bytes: &'t [u8]) -> Result<&'t str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (before, rest) = bytes.split_at(error.valid_up_to());
        let byte = rest.first().copied().unwrap_or_default();
        Error::Wrong {
            file: file.to_owned(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            what: format!("the file is not text: byte {byte:#04x} is not valid UTF-8"),
            help: "check that this is the right file, and save it as UTF-8".to_owned(),
        }
    })
}

/// The machine that `text` describes: a preset (`bulldozer64`, `flat(2,8)`) or an hwloc synthetic
/// description (`pack:2 numa:2 core:4 pu:2`).
pub fn machine(text: &str) -> Result<Machine, Error> {
    let text = text.trim();
    // No preset begins with a digit or a bracket, and no preset has a colon.
    let synthetic = text.contains(':')
        || text.starts_with(|c: char| "[(".contains(c))
        || text.starts_with(|c: char| c.is_ascii_digit());
    if synthetic { synthetic::read(text) } else { preset::find(text) }
}

/// The machine that a file describes. The format is recognised by content: hwloc XML, `lscpu -p`,
/// or lines `/sys/path:value` as [`SYS_COMMAND`] prints them. `file` is the file's name in
/// messages.
pub fn machine_from(file: &str, content: &[u8]) -> Result<Machine, Error> {
    let text = String::from_utf8_lossy(content);
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    if first.starts_with('<') {
        hwloc::read(file, text)
    } else if first.starts_with('#') {
        lscpu::read(file, text)
    } else if text.lines().any(|line| line.starts_with("/sys/devices/system/")) {
        sys::read(file, text)
    } else {
        Err(Error::Unrecognised { file: file.into() })
    }
}

/// Tries every reader on any `data`: the entry point for fuzzing. Must not panic, hang, or allocate
/// in proportion to a number in the data.
pub fn fuzz_one(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let results = [
        machine(&text),
        machine_from("data", data),
        hwloc::read("data", &text),
        lscpu::read("data", &text),
        sys::read("data", &text),
    ];
    let tables = [
        task_set::read("data", data).err(),
        overheads::read("data", data).err(),
        measured::read("data", data).err(),
        measured::figures("overhead=SCHED_m=4.csv", data, Some(2_000.0)).err(),
        sweep::results("data", data).err(),
    ];
    let texts = [
        scenario("data", &text).err(),
        sweep::sweep("data", &text, &sweep::Names { tests: &[], implementations: &[] }).err(),
        profile::profile("data", &text).err(),
        from_rtapp("data", &text, None).err(),
        text.parse::<task_sets::Periods>().err(),
        text.parse::<task_sets::WorkingSets>().err(),
        text.parse::<task_sets::Utilizations>().err(),
    ];
    for result in texts.into_iter().chain(tables) {
        let Some(error) = result else { continue };
        assert!(!error.to_string().is_empty() && !error.help().is_empty());
    }
    for result in results {
        match result {
            Ok(machine) => assert!(!machine.is_empty(), "a machine has CPUs"),
            Err(error) => assert!(!error.to_string().is_empty() && !error.help().is_empty()),
        }
    }
}
