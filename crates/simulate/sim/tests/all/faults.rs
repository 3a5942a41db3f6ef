//! Policies that do what no scheduler may: the run ends, and its outcome names the fault.

use wastenot_model::machine::Costs;
use wastenot_model::policy::{Context, Happening, TimerId, Why};
use wastenot_model::workload::{Hotplug, Program, Step, Template, Variate};
use wastenot_model::{CpuId, Machine, Policy, Span, TaskId, Time, Workload};
use wastenot_sim::{End, Options, scheduler, simulate};

/// The faults.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    /// Each dispatch requests another one.
    Nags,
    /// A timer is armed to expire now, each time it expires.
    Ticks,
    /// Tasks are sent where they may not run.
    Misplaces,
    /// Tasks are dispatched that are not queued on the CPU.
    Steals,
    /// No task is ever dispatched.
    Sits,
    /// Tasks that are queued on a CPU that goes off stay there.
    Leaves,
    /// A preempted task is moved before it has left its CPU.
    Hurries,
}

/// `pinned`, except for one fault.
struct Bad {
    inner: Box<dyn Policy>,
    wrong: Wrong,
    timer: TimerId,
}

impl Policy for Bad {
    fn name(&self) -> String {
        "bad".into()
    }
    fn init(&mut self, cx: &mut Context) {
        self.timer = cx.new_timers(1);
        if self.wrong == Wrong::Ticks {
            cx.timer(self.timer, CpuId(0), Some(Time(5)));
        }
        self.inner.init(cx);
    }
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        match self.wrong {
            Wrong::Misplaces => CpuId(1),
            _ => self.inner.select_cpu(cx, task, prev, why),
        }
    }
    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        if self.wrong == Wrong::Hurries && why == Why::Yield {
            cx.moved(task, CpuId(1 - cpu.0));
        }
        self.inner.enqueue(cx, task, cpu, why);
    }
    fn dequeue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId) {
        self.inner.dequeue(cx, task, cpu);
    }
    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        match self.wrong {
            Wrong::Nags => cx.preempt(cpu),
            Wrong::Steals => return Some(TaskId::nth(0)),
            Wrong::Sits => return None,
            _ => {}
        }
        self.inner.dispatch(cx, cpu)
    }
    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId) {
        self.inner.running(cx, cpu, task);
    }
    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        self.inner.stopping(cx, cpu, task, runnable);
    }
    fn on(&mut self, cx: &mut Context, happening: Happening) {
        match (self.wrong, happening) {
            (Wrong::Ticks, Happening::Timer(timer)) => cx.timer(timer, CpuId(0), Some(cx.now)),
            (Wrong::Leaves, Happening::Cpu { .. }) => {}
            _ => self.inner.on(cx, happening),
        }
    }
}

#[test]
fn what_a_policy_may_not_do_is_named() {
    for (wrong, told) in [
        (Wrong::Nags, "the scheduler makes decision after decision while no time passes"),
        (Wrong::Ticks, "the scheduler makes decision after decision while no time passes"),
        (Wrong::Misplaces, "queued TaskId(8192) on CPU 1, but this task may not run there"),
        (
            Wrong::Steals,
            "dispatched TaskId(8192) on CPU 1, but the state of this task is Running on CPU 0",
        ),
        (Wrong::Sits, "the scheduler left tasks in its queues while all CPUs were idle"),
        (Wrong::Leaves, "left tasks on the run queue of CPU 1, which is offline"),
        (Wrong::Hurries, "moved TaskId(8192) while CPU 0 ran this task"),
    ] {
        let mut load = Workload::new();
        let compute = |us| Step::Compute(Variate::Fixed(Span::us(us)));
        let yields = if wrong == Wrong::Hurries { vec![Step::Yield] } else { Vec::new() };
        let steps = [vec![compute(500)], yields, vec![compute(9_500)]].concat();
        let program = Program::new(steps).expect("a program");
        let mut task = Template::new("t", program);
        if wrong == Wrong::Misplaces {
            task.affinity = Some([CpuId(0)].into_iter().collect());
        }
        let task = load.template(task);
        (0..4).for_each(|_| load.launch(task, CpuId(0)));
        load.hotplug = vec![Hotplug { at: Time(1_000_000), cpu: CpuId(1), up: false }];
        let inner = scheduler("pinned", &[]).expect("a scheduler");
        let policy = Bad { inner, wrong, timer: TimerId(0) };
        let (machine, costs) = (Machine::flat(2), Costs::default());
        let (_, outcome) = simulate(&machine, &costs, &load, policy, &Options::default());
        let End::Fault(fault) = outcome.end else { panic!("{wrong:?}: {:?}", outcome.end) };
        assert!(fault.what.contains(told), "{wrong:?}: {}", fault.what);
    }
}
