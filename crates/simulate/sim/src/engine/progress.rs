//! How far running tasks get with their work: at the speeds of their CPUs.

use wastenot_model::{CpuId, Span, TaskId};

use super::Kernel;
use super::calendar::Due;
use super::life::Doing;
use super::speed::FULL;

impl Kernel {
    /// The speed of `cpu` for its running task.
    fn speed(&self, cpu: CpuId) -> u64 {
        let speeds = &self.speeds;
        let mut speed = speeds.alone[cpu.index()];
        let busy = |&sibling: &CpuId| {
            let current = self.cx.current(sibling);
            current.is_some_and(|task| {
                let spins = matches!(self.lives[task.ordinal()].doing, Doing::Spin { .. });
                !(speeds.spin_yields && spins)
            })
        };
        if speeds.siblings[cpu.index()].iter().any(busy) {
            speed = speed * speeds.smt / FULL;
        }
        if let (Some(hops), Some(task)) = (&speeds.hops, self.cx.current(cpu)) {
            let home = self.lives[task.ordinal()].home;
            let here = self.cx.machine.cpus[cpu.index()].node;
            let away = home.zip(here).and_then(|(a, b)| hops.between(a as usize, b as usize));
            if let Some(away @ 1..) = away {
                let last = speeds.remote.len() - 1;
                speed = speed * speeds.remote[(away as usize - 1).min(last)] / FULL;
            }
        }
        speed.max(1)
    }

    /// Settles the progress of the running task of `cpu` since the last call.
    #[inline]
    pub(crate) fn settle(&mut self, cpu: CpuId) {
        let now = self.now();
        let run = &mut self.cpus[cpu.index()];
        let elapsed = now - std::mem::replace(&mut run.settled, now);
        let speed = run.speed;
        let Some(task) = self.cx.current(cpu) else { return };
        let life = self.life(task);
        let done = match life.doing {
            Doing::Work if speed == FULL => elapsed,
            Doing::Work => Span(((u128::from(elapsed.0) * u128::from(speed)) >> 16) as u64),
            Doing::Spin { forever: false } => elapsed,
            _ => return,
        };
        life.left = Span(life.left.0.saturating_sub(done.0));
    }

    /// Sets when the running task of `cpu` will be done with its work or its spinning; its progress
    /// is settled already.
    #[inline]
    pub(crate) fn arm(&mut self, cpu: CpuId, task: TaskId) {
        let speed = if self.speeds.uniform { FULL } else { self.speed(cpu) };
        self.cpus[cpu.index()].speed = speed;
        let life = self.life(task);
        let needs = match life.doing {
            Doing::Work if speed != FULL => {
                Span((u128::from(life.left.0) << 16).div_ceil(u128::from(speed)) as u64)
            }
            Doing::Work | Doing::Spin { forever: false } => life.left,
            _ => return,
        };
        let at = self.now() + needs;
        self.calendar.set(Due::Segment(cpu), at);
    }

    /// The siblings of `cpu` are faster or slower from now on.
    pub(crate) fn siblings_changed(&mut self, cpu: CpuId) {
        let siblings = std::mem::take(&mut self.speeds.siblings[cpu.index()]);
        for &sibling in &siblings {
            if let Some(task) = self.cx.current(sibling)
                && self.calendar.is_set(Due::Segment(sibling))
            {
                self.settle(sibling);
                self.arm(sibling, task);
            }
        }
        self.speeds.siblings[cpu.index()] = siblings;
    }
}
