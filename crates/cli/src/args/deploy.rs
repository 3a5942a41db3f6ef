//! `wastenot deploy`

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use wastenot_model::Span;
use wastenot_model::quantity::some_span;

use super::address::address;
use super::check::Face;

/// Let a policy schedule this machine (sched_ext)
#[derive(Args, Debug)]
#[command(after_help = "\
The policy is emitted, compiled with clang, and verified by the kernel. It gets
all tasks of the fair class, or those of a command only. It is unloaded after
the time of --for, when the command ends, after a signal, or when wastenot
ends, however that is. When a CPU comes or goes, it is loaded again.

Exit codes: 0 it ran, or would; 1 the kernel ended it; 2 failure. With a
command, the exit code is that of the command: 125 means that the policy was
not loaded, or that the kernel ended it.

Examples:
  sudo wastenot deploy my.rota --dry-run
  sudo wastenot deploy my.rota --for 10s
  sudo wastenot deploy my.rota --for 5s --steps took.wn
  sudo wastenot deploy my.rota -- make -j8
  sudo wastenot deploy web.rota=0-3:nginx* batch.rota=rest
  sudo wastenot deploy my.rota --for 1h --listen 9777")]
pub(crate) struct Deploy {
    /// File in Rota. Several: FILE=CPUS[:TASKS] each; CPUS: 0-3,8, node0, llc1 or rest; TASKS: the
    /// name of cgroups, or command=NAME, with * and ?; without it, all other tasks
    #[arg(value_name = "POLICY", required = true)]
    pub(crate) policies: Vec<OsString>,
    /// Load this object, which clang made of the emitted C of the same file
    #[arg(long, value_name = "FILE.o")]
    pub(crate) object: Option<PathBuf>,
    /// Let the kernel verify it, and unload it at once
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: fill in the tables of this machine (preset, hwloc topology or file)
    #[arg(long, value_name = "MACHINE", requires = "dry_run")]
    pub(crate) machine: Option<String>,
    /// Unload it after this time; after 60s without a command
    #[arg(long = "for", value_name = "TIME", value_parser = some_span)]
    pub(crate) span: Option<Span>,
    /// Also load a policy of which a claim is refuted, or not proved
    #[arg(long)]
    pub(crate) allow_unproved: bool,
    /// Also load it where cgroups have weights or quotas, which no policy enforces
    #[arg(long)]
    pub(crate) ignore_cgroups: bool,
    /// Keep the steps of its protocol in FILE.wn, for `wastenot prove POLICY --conforms FILE.wn`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "dry_run", "object"])]
    pub(crate) steps: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "steps")]
    pub(crate) force: bool,
    /// Serve /metrics (OpenMetrics) and /healthz at this address; PORT alone is on the loopback
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Let it schedule this command only, and what the command starts
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "dry_run")]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) face: Face,
}
