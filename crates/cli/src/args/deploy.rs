//! `wastenot deploy`

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use wastenot_model::Span;
use wastenot_model::quantity::some_span;

use super::address::address;
use super::check::Face;

/// Run a policy as the scheduler of this machine (sched_ext)
#[derive(Args, Debug)]
#[command(after_help = "\
`deploy` translates the policy to C, compiles the C code with clang, and loads
the result into the kernel. The kernel verifies the loaded code. The policy
schedules all tasks of the fair class, or only the tasks of COMMAND. `deploy`
unloads the policy after the time of --for, when the command ends, or after a
signal. If wastenot ends in any other way, the kernel unloads the policy. When a
CPU goes online or offline, `deploy` loads the policy again.

Exit codes: 0 the policy ran, or passed --dry-run; 1 the policy has faults, or
the kernel ended it; 2 failure. With a command, `deploy` returns the exit code
of the command, or 125 if the policy was not loaded or the kernel ended it.

Examples:
  sudo wastenot deploy my.rota --dry-run
  sudo wastenot deploy my.rota --for 10s
  sudo wastenot deploy my.rota --for 5s --steps took.wn
  sudo wastenot deploy my.rota -- make -j8
  sudo wastenot deploy web.rota=0-3:nginx* batch.rota=rest
  sudo wastenot deploy my.rota --for 1h --listen 9777")]
pub(crate) struct Deploy {
    /// Policy in Rota. For several policies, give FILE=CPUS[:TASKS] for each. CPUS is a list
    /// (0-3,8), node0, llc1 or rest. TASKS is the name of a cgroup, or command=NAME; * and ? are
    /// allowed in both. A policy without TASKS gets all other tasks
    #[arg(value_name = "POLICY", required = true)]
    pub(crate) policies: Vec<OsString>,
    /// Load this object file, which clang compiled from the C code of the same policy
    #[arg(long, value_name = "FILE.o")]
    pub(crate) object: Option<PathBuf>,
    /// Let the kernel verify the policy, and unload it at once
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: verify the policy as if it ran on MACHINE (a preset, an hwloc description,
    /// or a file)
    #[arg(long, value_name = "MACHINE", requires = "dry_run")]
    pub(crate) machine: Option<String>,
    /// Unload the policy after this time [default: 60s without a command]
    #[arg(long = "for", value_name = "TIME", value_parser = some_span)]
    pub(crate) span: Option<Span>,
    /// Load the policy even if a claim is refuted or not proved
    #[arg(long)]
    pub(crate) allow_unproved: bool,
    /// Load the policy even if cgroups have weights or quotas, which no policy enforces
    #[arg(long)]
    pub(crate) ignore_cgroups: bool,
    /// Write the protocol steps of the policy to FILE (.wn), for `prove --conforms`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "dry_run", "object"])]
    pub(crate) steps: Option<PathBuf>,
    /// Overwrite the file of --steps
    #[arg(long, requires = "steps")]
    pub(crate) force: bool,
    /// Serve /metrics (OpenMetrics) and /healthz at this address; without ADDR, the server listens
    /// on the loopback interface
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Schedule only this command and the processes that it starts
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "dry_run")]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) face: Face,
}
