//! OSv's load balancer: a thread bound to each CPU, which is scheduled like any other.
//!
//! CPUs come up one after the other, so that their balancers do not run at the same time. The time
//! between them decides how long a lone third loop stays where it is. It is not published: it is
//! drawn from the seed.

use wastenot_model::policy::{Context, TimerId};
use wastenot_model::workload::Random;
use wastenot_model::{CpuId, Span, TaskId};

use super::{Measure, Osv};

/// The interval between two balancings.
const PERIOD: Span = Span::ms(100);
/// CPU time of one balancing. Not published; a scan of a few counters.
const WORK: Span = Span::us(2);
/// The random stream of the first run of each balancer.
const PHASE: u32 = 0x05f2;

/// The balancers of all CPUs; on one CPU there is nothing to balance.
#[derive(Debug, Default)]
pub(super) struct Balancers {
    threads: Vec<TaskId>,
    /// The timer of CPU 0; those of the other CPUs follow.
    timers: u32,
}

impl Balancers {
    pub(super) fn begin(cx: &mut Context) -> Balancers {
        let cpus = cx.cpus.len() as u16;
        if cpus < 2 {
            return Balancers::default();
        }
        let TimerId(timers) = cx.new_timers(u32::from(cpus));
        let thread = |cpu| {
            let phase = Random::stream(cx.seed, PHASE, u64::from(cpu)).below(PERIOD.0);
            let first = cx.now + Span(phase);
            cx.timer(TimerId(timers + u32::from(cpu)), CpuId(cpu), Some(first));
            cx.thread(format!("balancer{cpu}"), CpuId(cpu), WORK)
        };
        Balancers { threads: (0..cpus).map(thread).collect(), timers }
    }

    pub(super) fn threads(&self) -> &[TaskId] {
        &self.threads
    }

    pub(super) fn expired(&self, cx: &mut Context, timer: TimerId) {
        let cpu = CpuId((timer.0 - self.timers) as u16);
        match cx.online.contains(cpu) {
            true => cx.wake(self.threads[cpu.index()]),
            false => self.rest(cx, cpu),
        }
    }

    fn rest(&self, cx: &mut Context, cpu: CpuId) {
        let timer = TimerId(self.timers + u32::from(cpu.0));
        cx.timer(timer, cpu, Some(cx.now + PERIOD));
    }
}

impl<M: Measure> Osv<M> {
    /// Moves the thread with the greatest measure to the CPU with the shortest queue, if that is
    /// shorter by more than the balancer itself. The idle thread counts where it is queued: on each
    /// CPU where another thread runs.
    pub(super) fn balance(&mut self, cx: &mut Context, balancer: TaskId) {
        let here = cx.task(balancer).cpu;
        self.balancers.rest(cx, here);
        let load = |cpu: &CpuId| {
            let idle_waits = *cpu == here || self.cpus[cpu.index()].current.is_some();
            self.queues.len(cpu.index()) + usize::from(idle_waits)
        };
        let Some(least) = cx.online.iter().min_by_key(load) else { return };
        if least == here || load(&least) + 1 >= load(&here) {
            return;
        }
        let movable = self.queues.iter(here.index()).filter(|&(_, thread)| {
            let task = TaskId::nth(thread as usize);
            !cx.pinned(task) && cx.allowed(task, least)
        });
        let Some((_, thread)) = movable.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        self.queues.remove(thread);
        self.send(cx, thread, least);
    }
}
