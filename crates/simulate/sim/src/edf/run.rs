//! A task set on a machine under one of the designs.

use wastenot_model::machine::{Costs, Profile};
use wastenot_model::policy::Family;
use wastenot_model::report::Unit;
use wastenot_model::sporadic::TaskSet;
use wastenot_model::workload::{Program, Step, Template, Variate};
use wastenot_model::{Annex, Column, CpuId, History, Machine, Span, Table, Value, Workload};

use super::core::{Order, Rule};
use super::gsn::GsnEdf;
use super::jobs::{Jobs, Pending};
use super::messages::{Mailboxes, Messages};
use super::overheads::Overheads;
use super::paths::{Walking, Walks};
use super::per_cpu::{PerCpu, Rules, Server};
use super::plain::Done;
use super::sporadic::{NotSporadic, Sporadics};
use crate::{Options, Outcome, simulate_mechanism};

/// How global EDF is implemented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Design {
    /// One lock for all CPUs: GSN-EDF of LITMUS^RT. With a `master`, CPU 0 releases all jobs and
    /// runs no task.
    Coarse {
        /// Dedicated interrupt handling.
        master: bool,
    },
    /// CPU 0 schedules for all other CPUs, which write messages to it: G-EDF-MP.
    Messages(Mailboxes),
    /// A lock and a queue for each CPU: SCHED_DEADLINE.
    PerCpu {
        /// Dedicated interrupt handling: CPU 0 releases all jobs and runs no task.
        master: bool,
        /// How a task finds another CPU.
        rules: Rules,
        /// The server of each task; `None`: jobs have deadlines but no server enforces a budget.
        server: Option<Server>,
    },
    /// One lock for each cluster of consecutively numbered CPUs; tasks are assigned to clusters.
    Clustered {
        /// CPUs in a cluster; the last cluster may have fewer. 0: as many CPUs as share the
        /// last-level cache with CPU 0.
        size: u32,
        /// By task: its cluster. Empty: tasks are assigned in the order of their utilisation, each
        /// to the cluster with the most free utilisation.
        cluster_of: Vec<u32>,
    },
}

/// A real-time run.
#[derive(Clone, Debug)]
pub struct Real {
    /// How decisions are implemented.
    pub design: Design,
    /// Which job goes first.
    pub rule: Rule,
    /// How long each operation takes.
    pub profile: Profile,
}

impl Real {
    /// The name of the design under this rule.
    pub fn name(&self) -> &'static str {
        match (&self.design, self.rule.order) {
            (Design::Coarse { .. }, Order::Deadline) => "gsn-edf",
            (Design::Coarse { .. }, Order::FairLateness) => "g-fl",
            (Design::Coarse { .. }, Order::Fixed) => "gfp",
            (Design::Messages(_), Order::Deadline) => "gedf-mp",
            (Design::Messages(_), Order::FairLateness) => "gfl-mp",
            (Design::Messages(_), Order::Fixed) => "gfp-mp",
            (Design::PerCpu { .. }, _) => "sched-deadline",
            (Design::Clustered { size: 1, .. }, _) => "p-edf",
            (Design::Clustered { .. }, _) => "c-edf",
        }
    }
    /// Whether idle CPUs may belong to it by design: those of a cluster run no job of another.
    fn family(&self) -> Family {
        match &self.design {
            Design::Clustered { .. } => Family::Reserving,
            _ => Family::Other,
        }
    }
    /// Whether CPU 0 runs no task.
    pub fn has_master(&self) -> bool {
        use Design::{Coarse, Messages, PerCpu};
        match self.design {
            Coarse { master } | PerCpu { master, .. } => master,
            Messages(_) => true,
            Design::Clustered { .. } => false,
        }
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

/// Runs `tasks` on `machine` until the limit.
///
/// `release` returns when the next job of a task comes, given the release of the last one: `None`
/// the first time. A task's jobs run one after the other, in order.
pub fn run<'t>(
    machine: &Machine,
    tasks: &'t TaskSet,
    real: &Real,
    options: &Options,
    release: impl FnMut(u32, Option<u64>) -> u64 + 't,
) -> Ran {
    let workload = workload(tasks, machine.len());
    let work = Work { machine, costs: &real.profile.costs(), workload: &workload, tasks };
    work.run(real, options, release)
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What happened.
    pub history: History,
    /// How it ended.
    pub outcome: Outcome,
    /// The overheads of the run.
    pub overheads: Overheads,
    /// Complete jobs, in order of time.
    pub done: Vec<Done>,
    /// For each task, the job that was released but not complete at the end.
    pub pending: Vec<Pending>,
}

/// Runs `workload`, whose tasks are sporadic: a job is what a program does between two beats, which
/// come each period from the launch of the task. `costs` are those of the machine; its costs of
/// switches and interrupts count where the profile gives none.
///
/// The History has the annex `jobs`.
///
/// # Errors
/// A task has no period, has no bound on its computation, forks, or may not run on every CPU; or
/// not all CPUs are online all the time.
pub fn run_workload(
    machine: &Machine,
    costs: &Costs,
    workload: &Workload,
    real: &Real,
    options: &Options,
) -> Result<Ran, NotSporadic> {
    let Sporadics { tasks, come_us } = fitting(machine, workload, real)?;
    let mut real = real.clone();
    let profile = &mut real.profile;
    for (own, of_machine) in [(&mut profile.switch, costs.switch), (&mut profile.ipi, costs.ipi)] {
        if *own == Span::ZERO {
            *own = of_machine;
        }
    }
    let costs = Costs { switch: profile.switch, ipi: profile.ipi, ..costs.clone() };
    let release = |task: u32, last: Option<u64>| {
        let period_us = tasks[task as usize].period_us;
        last.map_or(come_us[task as usize], |last| last + period_us)
    };
    let work = Work { machine, costs: &costs, workload, tasks: &tasks };
    let mut ran = work.run(&real, options, release);
    ran.history.annexes.push(annex(&ran.done, &ran.pending));
    Ok(ran)
}

/// The sporadic tasks of `workload`, if it can be run under `real`.
///
/// # Errors
/// Those of [`run_workload`].
pub fn fits(machine: &Machine, workload: &Workload, real: &Real) -> Result<(), NotSporadic> {
    fitting(machine, workload, real).map(drop)
}

fn fitting(machine: &Machine, workload: &Workload, real: &Real) -> Result<Sporadics, NotSporadic> {
    if real.has_master() && machine.len() < 2 {
        let name = real.name();
        return Err(NotSporadic::new(
            format!("{name} needs one CPU that runs no task, but the machine has only one CPU"),
            "choose a machine with at least two CPUs",
        ));
    }
    Sporadics::of(workload, machine)
}

/// The jobs as a table; among the incomplete jobs the first of each task.
fn annex(done: &[Done], pending: &[Pending]) -> Annex {
    let columns = [
        Column::new("task", "task", Unit::None),
        Column::new("released_ns", "released", Unit::At),
        Column::new("deadline_ns", "deadline", Unit::At),
        Column::new("done_ns", "complete", Unit::At),
    ];
    let mut table = Table::new("jobs", "Jobs", columns);
    let mut row = |task: u32, released_us: u64, deadline_us: u64, done_us: Option<u64>| {
        let ns = |us: u64| Value::from(us * 1_000);
        table.push(vec![task.into(), ns(released_us), ns(deadline_us), done_us.map(ns).into()]);
    };
    for job in done {
        row(job.task, job.released_us, job.deadline_us, Some(job.at_us));
    }
    for job in pending {
        row(job.task, job.released_us, job.deadline_us, None);
    }
    Annex { table }
}

/// What is to be run.
struct Work<'w, 't> {
    machine: &'w Machine,
    costs: &'w Costs,
    workload: &'w Workload,
    tasks: &'t TaskSet,
}

impl<'t> Work<'_, 't> {
    fn run(
        &self,
        real: &Real,
        options: &Options,
        release: impl FnMut(u32, Option<u64>) -> u64 + 't,
    ) -> Ran {
        let tasks = self.tasks;
        let all: Vec<CpuId> = (0..self.machine.len() as u16).map(CpuId).collect();
        let (first, rest) = (all[0], all[1..].to_vec());
        let jobs = |cpus: usize| Jobs::new(tasks, cpus as u32, real.rule.order, release);
        let (profile, tie) = (real.profile, real.rule.tie);
        let (master, domains, domain_of) = match &real.design {
            Design::Messages(mailboxes) => {
                let jobs = jobs(rest.len());
                let it = Messages::new(profile, tie, jobs, first, rest, *mailboxes);
                return self.walked(real, it, options);
            }
            Design::PerCpu { master, rules, server } => {
                let jobs = jobs(all.len() - usize::from(*master));
                let it = PerCpu::new(profile, jobs, *rules, *server, master.then_some(first));
                return self.walked(real, it, options);
            }
            Design::Coarse { master: true } => (Some(first), vec![rest], vec![0; tasks.len()]),
            Design::Coarse { master: false } => (None, vec![all], vec![0; tasks.len()]),
            Design::Clustered { size, cluster_of } => {
                let size = if *size == 0 { sharing(self.machine) } else { *size as usize };
                let clusters: Vec<_> = all.chunks(size).map(<[CpuId]>::to_vec).collect();
                let cluster_of = match cluster_of.is_empty() {
                    true => spread(tasks, &clusters),
                    false => cluster_of.clone(),
                };
                (None, clusters, cluster_of)
            }
        };
        let jobs = jobs(domains[0].len());
        let it = GsnEdf::new(profile, tie, jobs, master, domains, domain_of);
        self.walked(real, it, options)
    }

    fn walked(&self, real: &Real, walks: impl Walks, options: &Options) -> Ran {
        let mut it = Walking::new(real.name(), real.family(), walks);
        let (history, outcome) =
            simulate_mechanism(self.machine, self.costs, self.workload, &mut it, options);
        let Walking { overheads, done, pending, .. } = it;
        Ran { history, outcome, overheads, done, pending }
    }
}

/// How many CPUs share the last-level cache of CPU 0.
fn sharing(machine: &Machine) -> usize {
    let llc = machine.cpus[0].llc;
    let share = machine.cpus.iter().filter(|cpu| llc.is_some() && cpu.llc == llc);
    share.count().max(1)
}

/// Assigns each task to the cluster with the most free utilisation.
fn spread(tasks: &TaskSet, clusters: &[Vec<CpuId>]) -> Vec<u32> {
    let cpus: Vec<u32> = clusters.iter().map(|cluster| cluster.len() as u32).collect();
    tasks.worst_fit(&cpus).into_iter().map(|cluster| cluster as u32).collect()
}
