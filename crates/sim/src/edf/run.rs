//! A task set on a machine under one of the designs.

use wastenot_model::machine::Profile;
use wastenot_model::sporadic::TaskSet;
use wastenot_model::workload::{Program, Step, Template, Variate};
use wastenot_model::{CpuId, History, Machine, Span, Workload};

use super::core::Rule;
use super::gsn::GsnEdf;
use super::jobs::Jobs;
use super::messages::{Mailboxes, Messages};
use super::paths::{Walking, Walks};
use super::per_cpu::{PerCpu, Server};
use super::plain::Done;
use crate::mechanism::{Contention, LockId, Overhead, Seen};
use crate::{Kernel, Options, Outcome, simulate_mechanism};

/// How global EDF is implemented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Design {
    /// One lock for all: GSN-EDF of LITMUS^RT. With a `master`, CPU 0 releases all jobs and runs
    /// none.
    Coarse {
        /// Dedicated interrupt handling.
        master: bool,
    },
    /// CPU 0 schedules for all others, which write to it: G-EDF-MP.
    Messages(Mailboxes),
    /// A lock and a queue for each CPU: SCHED_DEADLINE.
    PerCpu {
        /// Dedicated interrupt handling: CPU 0 releases all jobs and runs none.
        master: bool,
        /// What tasks' servers let them use; `None`: jobs have their deadlines and no server
        /// watches them.
        server: Option<Server>,
    },
    /// One lock for each cluster of so many CPUs, as they are numbered; tasks are assigned.
    Clustered {
        /// Of how many CPUs a cluster is; the last may have less.
        size: u32,
        /// By task: its cluster.
        cluster_of: Vec<u32>,
    },
}

/// A real-time run.
#[derive(Clone, Debug)]
pub struct Real {
    /// How decisions come about.
    pub design: Design,
    /// Whose job goes first.
    pub rule: Rule,
    /// What everything takes.
    pub profile: Profile,
}

/// What overheads a run showed.
#[derive(Clone, Debug, Default)]
pub struct Overheads {
    /// By kind, as in [`Overhead::ALL`].
    pub seen: [Seen; Overhead::ALL.len()],
    /// Of each lock of the scheduler.
    pub locks: Vec<Contention>,
    /// Of each mailbox: how many CPUs ever wrote it.
    pub mailbox_writers: Vec<usize>,
    /// Lines that went from one CPU to another.
    pub transfers: u64,
}

impl Overheads {
    pub(super) fn of(kernel: &Kernel, locks: impl Iterator<Item = LockId>) -> Overheads {
        Overheads {
            seen: Overhead::ALL.map(|kind| kernel.samples.of(kind)),
            locks: locks.map(|lock| kernel.hardware.contention(lock)).collect(),
            transfers: kernel.hardware.transfers(),
            ..Overheads::default()
        }
    }
    /// What was seen of one kind.
    pub fn seen(&self, kind: Overhead) -> Seen {
        self.seen[kind as usize]
    }
}

/// Tasks that compute for C and then wait for their next job, for ever.
fn workload(tasks: &TaskSet, cpus: usize) -> Workload {
    let mut workload = Workload::new();
    for (n, task) in tasks.iter().enumerate() {
        let us = |us: u64| Span(us * 1_000);
        let steps = vec![
            Step::Loop(None),
            Step::Compute(Variate::Fixed(us(task.wcet_us))),
            Step::Beat(us(task.period_us)),
            Step::End { of: 0 },
        ];
        let program = Program::new(steps).unwrap_or_default();
        let template = workload.template(Template::new(&format!("t{n}"), program));
        workload.launch(template, CpuId((n % cpus) as u16));
    }
    workload
}

/// Runs `tasks` on `machine` until `until_us`, and tells of each job when it is complete.
///
/// `release` says when the next job of a task comes, given when the last one did: the first time
/// `None`. A task's jobs run one after the other, in order.
pub fn run<'t>(
    machine: &Machine,
    tasks: &'t TaskSet,
    real: &Real,
    options: &Options,
    release: impl FnMut(u32, Option<u64>) -> u64 + 't,
    done: impl FnMut(Done) + 't,
) -> (History, Outcome, Overheads) {
    let workload = workload(tasks, machine.len());
    let all: Vec<CpuId> = (0..machine.len() as u16).map(CpuId).collect();
    let (first, rest) = (all[0], all[1..].to_vec());
    let jobs = |cpus: usize| Jobs::new(tasks, cpus as u32, real.rule.order, release, done);
    let (profile, tie) = (real.profile, real.rule.tie);
    let (master, domains, domain_of) = match &real.design {
        Design::Messages(mailboxes) => {
            let jobs = jobs(rest.len());
            let it = Messages::new(profile, tie, jobs, first, rest, *mailboxes);
            return walked(machine, real, &workload, it, options);
        }
        Design::PerCpu { master, server } => {
            let jobs = jobs(all.len() - usize::from(*master));
            let it = PerCpu::new(profile, jobs, *server, master.then_some(first));
            return walked(machine, real, &workload, it, options);
        }
        Design::Coarse { master: true } => (Some(first), vec![rest], vec![0; tasks.len()]),
        Design::Coarse { master: false } => (None, vec![all], vec![0; tasks.len()]),
        Design::Clustered { size, cluster_of } => {
            let clusters = all.chunks(*size as usize).map(<[CpuId]>::to_vec).collect();
            (None, clusters, cluster_of.clone())
        }
    };
    let jobs = jobs(domains[0].len());
    let it = GsnEdf::new(profile, tie, jobs, master, domains, domain_of);
    walked(machine, real, &workload, it, options)
}

fn walked(
    machine: &Machine,
    real: &Real,
    workload: &Workload,
    walks: impl Walks,
    options: &Options,
) -> (History, Outcome, Overheads) {
    let mut it = Walking::new(walks);
    let costs = real.profile.costs();
    let (history, outcome) = simulate_mechanism(machine, &costs, workload, &mut it, options);
    (history, outcome, it.overheads)
}
