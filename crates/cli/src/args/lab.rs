//! `wastenot lab`

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::check::Face;

/// Kernels to try schedulers in: list, fetch, look into one
#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "\
`run --on 7.2` runs a scenario in a guest with that kernel (docs/how-to/lab.md).

Examples:
  wastenot lab list
  wastenot lab fetch 6.12 7.2
  wastenot run scenarios/lab/barrier.toml --on 7.2"
)]
pub(crate) struct Lab {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    List(List),
    Fetch(Fetch),
    Shell(Shell),
    Bisect(Bisect),
    /// Be the first process of a guest
    #[command(hide = true)]
    Guest,
    /// Load the scheduler of an object
    #[command(hide = true)]
    Load(Load),
    /// Become QEMU
    #[command(hide = true)]
    Qemu(Qemu),
}

/// List the kernels of Debian
///
/// Those of the suites from bullseye to sid, for cloud machines, and those that
/// were fetched. `run` boots them in QEMU. Nothing is installed, and the
/// system's apt is left as it is.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 listed; 2 failure.

Examples:
  wastenot lab list
  wastenot lab list --refresh --json")]
pub(crate) struct List {
    /// Read the lists of the archive again, though they are not a day old
    #[arg(long)]
    pub(crate) refresh: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Fetch kernels into the cache, as `run --on` does by itself
#[derive(Args, Debug)]
#[command(after_help = "\
They are kept in ~/.cache/wastenot/kernels ($XDG_CACHE_HOME).

Exit codes: 0 fetched; 2 failure.

Examples:
  wastenot lab fetch 7.2
  wastenot lab fetch 5.10 6.1 6.12.118 sid --refresh")]
pub(crate) struct Fetch {
    /// A version, as 7.2 or 6.12.117, or the name of a suite, as sid
    #[arg(value_name = "KERNEL", required = true)]
    pub(crate) kernels: Vec<String>,
    /// Fetch the newest there is, though an older one is in the cache
    #[arg(long)]
    pub(crate) refresh: bool,
}

/// Boot a kernel, with a shell and wastenot in it
///
/// `exit` powers it off. It needs busybox on this machine.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 it was powered off; 2 failure.

Examples:
  wastenot lab shell 7.2
  wastenot lab shell 6.12 --machine bulldozer64")]
pub(crate) struct Shell {
    /// A version, as 7.2 or 6.12.117, or the name of a suite, as sid
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: String,
    /// Machine that QEMU builds: a preset, or an hwloc description
    #[arg(long, value_name = "MACHINE", default_value = "numa:2 core:2 pu:1")]
    pub(crate) machine: String,
}

/// Find the version of the kernel that changed a figure
///
/// It halves the versions that Debian has between the two, runs the scenario in
/// each with every seed, and compares the values of the figure by their ranks.
#[derive(Args, Debug)]
#[command(override_usage = "wastenot lab bisect [OPTIONS] --figure NAME --from KERNEL \\
                             --to KERNEL SCENARIO")]
#[command(after_help = "\
Exit codes: 0 found; 1 the figure is alike in both; 2 failure.

Examples:
  wastenot lab bisect scenarios/lab/make.toml --figure waste --from 6.1 --to 7.2")]
pub(crate) struct Bisect {
    /// Scenario (TOML)
    #[arg(value_name = "SCENARIO")]
    pub(crate) file: PathBuf,
    /// The figure: one of the scenario's
    #[arg(long, value_name = "NAME")]
    pub(crate) figure: String,
    /// The first version
    #[arg(long, value_name = "KERNEL")]
    pub(crate) from: String,
    /// The last version
    #[arg(long, value_name = "KERNEL")]
    pub(crate) to: String,
    /// How often each version runs it: 4 is the least that can decide
    #[arg(long, value_name = "N", default_value_t = 6)]
    #[arg(value_parser = clap::value_parser!(u64).range(4..=100))]
    pub(crate) repeat: u64,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Load the scheduler of an object of BPF, as it is, until SIGINT
#[derive(Args, Debug)]
pub(crate) struct Load {
    /// The object
    #[arg(value_name = "OBJECT")]
    pub(crate) object: PathBuf,
}

/// Become QEMU, and end with the process that started it
#[derive(Args, Debug)]
pub(crate) struct Qemu {
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}
