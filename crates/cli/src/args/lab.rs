//! `wastenot lab`

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::check::Face;

/// List, fetch, boot and bisect kernels for experiments
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

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    List(List),
    Fetch(Fetch),
    Shell(Shell),
    Bisect(Bisect),
    /// Run as the first process of a guest
    #[command(hide = true)]
    Guest,
    /// Load the scheduler of a BPF object
    #[command(hide = true)]
    Load(Load),
    /// Become QEMU
    #[command(hide = true)]
    Qemu(Qemu),
}

/// List the kernels of Debian
///
/// The list contains the cloud kernels of the Debian suites from bullseye to sid,
/// and all kernels in the cache. `run --on` boots these kernels in QEMU. `lab`
/// installs no package and does not change the apt lists of the system.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 success; 2 failure.

Examples:
  wastenot lab list
  wastenot lab list --refresh --json")]
pub(crate) struct List {
    /// Download the package lists again, even if they are less than a day old
    #[arg(long)]
    pub(crate) refresh: bool,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Fetch kernels into the cache, as `run --on` does automatically
#[derive(Args, Debug)]
#[command(after_help = "\
The cache is ~/.cache/wastenot/kernels, or below $XDG_CACHE_HOME.

Exit codes: 0 success; 2 failure.

Examples:
  wastenot lab fetch 7.2
  wastenot lab fetch 5.10 6.1 6.12.118 sid --refresh")]
pub(crate) struct Fetch {
    /// Kernel version (7.2, 6.12.117) or Debian suite (sid)
    #[arg(value_name = "KERNEL", required = true)]
    pub(crate) kernels: Vec<String>,
    /// Fetch the newest kernel that matches, even if the cache has an older one
    #[arg(long)]
    pub(crate) refresh: bool,
}

/// Boot a kernel with a shell and wastenot
///
/// `exit` powers the guest off. This machine needs busybox.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 the guest was powered off; 2 failure.

Examples:
  wastenot lab shell 7.2
  wastenot lab shell 6.12 --machine bulldozer64")]
pub(crate) struct Shell {
    /// Kernel version (7.2, 6.12.117) or Debian suite (sid)
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: String,
    /// Emulate this machine with QEMU: a preset or an hwloc description
    #[arg(long, value_name = "MACHINE", default_value = "numa:2 core:2 pu:1")]
    pub(crate) machine: String,
}

/// Find the kernel version in which a measured figure changed
///
/// `bisect` does a binary search over the Debian kernels between two versions.
/// The scenario runs under each tested version with every seed. A rank test decides
/// whether the values of the figure differ between two versions.
#[derive(Args, Debug)]
#[command(override_usage = "wastenot lab bisect [OPTIONS] --figure NAME --from KERNEL \\
                             --to KERNEL SCENARIO")]
#[command(after_help = "\
Exit codes: 0 found; 1 the figure does not differ between the two versions; 2
failure.

Examples:
  wastenot lab bisect scenarios/lab/make.toml --figure waste --from 6.1 --to 7.2")]
pub(crate) struct Bisect {
    /// Scenario (TOML)
    #[arg(value_name = "SCENARIO")]
    pub(crate) file: PathBuf,
    /// Compare this figure of the scenario
    #[arg(long, value_name = "NAME")]
    pub(crate) figure: String,
    /// Start at this version, the older one
    #[arg(long, value_name = "KERNEL")]
    pub(crate) from: String,
    /// End at this version, the newer one
    #[arg(long, value_name = "KERNEL")]
    pub(crate) to: String,
    /// Run each version N times; a verdict needs at least 4 runs
    #[arg(long, value_name = "N", default_value_t = 6)]
    #[arg(value_parser = clap::value_parser!(u64).range(4..=100))]
    pub(crate) repeat: u64,
    #[command(flatten)]
    pub(crate) face: Face,
}

/// Load the scheduler of a BPF object unchanged, until SIGINT
#[derive(Args, Debug)]
pub(crate) struct Load {
    /// BPF object
    #[arg(value_name = "OBJECT")]
    pub(crate) object: PathBuf,
}

/// Become QEMU, and end with the process that started it
#[derive(Args, Debug)]
pub(crate) struct Qemu {
    /// Arguments of QEMU
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}
