//! In each call, the state of tasks that a policy sees agrees with what the policy did.

use std::collections::BTreeSet;

use wastenot_model::machine::Costs;
use wastenot_model::policy::{Context, Happening, Place, Why};
use wastenot_model::workload::Random;
use wastenot_model::{CpuId, Machine, Policy, Span, TaskId};
use wastenot_sim::{Direct, End, Options, SCHEDULERS, scheduler, simulate, simulate_mechanism};

use crate::every::anything;
use crate::mechanisms::OneLock;

/// Keeps which tasks were enqueued and not yet dispatched, and checks in each call whether exactly
/// those are queued.
struct Watched {
    inner: Box<dyn Policy>,
    queued: BTreeSet<TaskId>,
}

impl Watched {
    fn look(&self, cx: &Context) {
        let tasks = cx.tasks.iter().enumerate();
        let queued = tasks.filter(|(_, task)| task.place == Place::Queued);
        assert!(queued.map(|(n, _)| TaskId::nth(n)).eq(self.queued.iter().copied()));
    }
}

impl Policy for Watched {
    fn name(&self) -> String {
        self.inner.name()
    }
    fn init(&mut self, cx: &mut Context) {
        self.inner.init(cx);
    }
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        self.look(cx);
        self.inner.select_cpu(cx, task, prev, why)
    }
    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        assert!(self.queued.insert(task), "it was dispatched before it ran");
        self.look(cx);
        self.inner.enqueue(cx, task, cpu, why);
    }
    fn dequeue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId) {
        self.inner.dequeue(cx, task, cpu);
    }
    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        self.look(cx);
        let next = self.inner.dispatch(cx, cpu)?;
        assert!(self.queued.remove(&next));
        Some(next)
    }
    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId) {
        self.look(cx);
        assert_eq!((cx.task(task).place, cx.current(cpu)), (Place::Running, Some(task)));
        self.inner.running(cx, cpu, task);
    }
    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        self.look(cx);
        self.inner.stopping(cx, cpu, task, runnable);
    }
    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        self.look(cx);
        self.inner.tick(cx, cpu);
    }
    fn update_idle(&mut self, cx: &mut Context, cpu: CpuId, idle: bool) {
        self.look(cx);
        assert_eq!(cx.is_idle(cpu), idle);
        self.inner.update_idle(cx, cpu, idle);
    }
    fn on(&mut self, cx: &mut Context, happening: Happening) {
        self.look(cx);
        if let Happening::Cpu { cpu, up: false } = happening {
            assert_eq!(cx.current(cpu), None, "nobody runs there any more");
            assert!(!cx.online.contains(cpu));
        }
        self.inner.on(cx, happening);
    }
}

#[test]
fn a_task_is_queued_from_enqueue_to_dispatch() {
    for kind in SCHEDULERS {
        for seed in 0..6 {
            let mut random = Random::stream(seed, 9, 9);
            let cpus = 2 + random.below(7) as usize;
            let (machine, load) = (Machine::flat(cpus), anything(&mut random, cpus, true));
            let (costs, options) = (Costs::default(), Options { seed, ..Options::default() });
            let watched = || -> Box<dyn Policy> {
                let inner = scheduler(kind.name, &[]).expect("known");
                Box::new(Watched { inner, queued: BTreeSet::new() })
            };
            let (_, outcome) = simulate(&machine, &costs, &load, watched(), &options);
            assert_eq!(outcome.end, End::Done, "{} seed {seed}", kind.name);
            let lock = OneLock::new(Direct(watched()), Span::us(2));
            let (_, outcome) = simulate_mechanism(&machine, &costs, &load, lock, &options);
            assert_eq!(outcome.end, End::Done, "{} seed {seed}, one lock", kind.name);
        }
    }
}
