//! Mechanisms with costs work: a contended lock, a mailbox.

use wastenot_model::machine::Costs;
use wastenot_model::policy::{Happening, TimerId, Why};
use wastenot_model::workload::{Step as Do, Waiting};
use wastenot_model::{CpuId, Event, Machine, Policy, Span, Time, Workload};
use wastenot_sim::{
    Direct, End, Kernel, LockId, MailboxId, Mechanism, Options, Prices, Spin, Step, Trigger,
    checkers, simulate_mechanism,
};

use crate::made::{self, END, compute, launch, sleep, template};

/// Every path holds one lock for a while: a global run queue.
pub(crate) struct OneLock {
    inner: Direct<Box<dyn Policy>>,
    held: Span,
    lock: LockId,
    waiting_max: usize,
}

impl OneLock {
    pub(crate) fn new(inner: Direct<Box<dyn Policy>>, held: Span) -> OneLock {
        OneLock { inner, held, lock: LockId(0), waiting_max: 0 }
    }
}

impl Mechanism for OneLock {
    fn name(&self) -> String {
        "one lock".into()
    }
    fn init(&mut self, kernel: &mut Kernel) {
        self.lock = kernel.hardware.lock(Spin::Own);
        self.inner.init(kernel);
    }
    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step {
        match turn {
            0 => Step::Lock(self.lock),
            1 => {
                assert_eq!(kernel.hardware.holder(self.lock), Some(cpu));
                self.waiting_max = self.waiting_max.max(kernel.hardware.waiting(self.lock));
                Step::Work(self.held)
            }
            2 => {
                self.inner.step(kernel, cpu, trigger, 0);
                Step::Unlock(self.lock)
            }
            _ => Step::Done,
        }
    }
}

/// CPU 0 decides for all: the other CPUs send it messages, and it interrupts them when there is
/// work.
struct Dispatcher {
    inner: Direct<Box<dyn Policy>>,
    mailbox: MailboxId,
    letters: u64,
}

const DISPATCHER: CpuId = CpuId(0);

impl Mechanism for Dispatcher {
    fn name(&self) -> String {
        "dispatcher".into()
    }
    fn init(&mut self, kernel: &mut Kernel) {
        kernel.hardware.prices = Prices { message: Span::us(2), ..Prices::default() };
        self.mailbox = kernel.hardware.mailbox(DISPATCHER);
        self.inner.init(kernel);
    }
    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step {
        match (trigger, turn) {
            (Trigger::Wake { task, why: Why::Wakeup { .. }, .. }, 0) => {
                Step::Post(self.mailbox, u64::from(task.0))
            }
            (Trigger::Mail(mailbox), 0) => {
                assert_eq!(cpu, DISPATCHER);
                let letter = kernel.hardware.read(mailbox).expect("told that there is one");
                self.letters += 1;
                let (task, why) =
                    (wastenot_model::TaskId(letter as u32), Why::Wakeup { sync: false });
                let by = wastenot_model::Context::Hardirq;
                self.inner.step(kernel, cpu, Trigger::Wake { task, why, by }, 0)
            }
            (Trigger::Wake { why: Why::Wakeup { .. }, .. }, _) => Step::Done,
            (trigger, _) => self.inner.step(kernel, cpu, trigger, 0),
        }
    }
}

/// Tasks that compute for 1 ms and sleep for 1 ms; each round begins for all tasks at one instant.
fn in_step(tasks: u16, rounds: u32) -> Workload {
    let mut load = Workload::new();
    let all = load.barrier("all", u32::from(tasks), Waiting::Spin);
    let ms = Span::ms(1);
    let steps = [Do::Loop(Some(rounds)), Do::Barrier(all), compute(ms), sleep(ms), END];
    launch(&mut load, u32::from(tasks), template("t", &steps));
    load
}

fn policy(name: &str) -> Direct<Box<dyn Policy>> {
    Direct(made::policy(name))
}

#[test]
fn all_cpus_queue_for_one_lock_when_all_wake_at_once() {
    let mut ends = Vec::new();
    for cpus in [1, 2, 4, 8] {
        let mut mechanism = OneLock::new(policy("pinned"), Span::us(10));
        let (history, outcome) = simulate_mechanism(
            &Machine::flat(cpus),
            &Costs::default(),
            &in_step(cpus as u16, 3),
            &mut mechanism,
            &Options::default(),
        );
        assert_eq!(outcome.end, End::Done);
        assert_eq!(checkers::wrong(&history), Vec::<String>::new());
        assert_eq!(mechanism.waiting_max, cpus - 1);
        ends.push(outcome.time);
    }
    // Two paths at its start and after each sleep: it is queued, and dispatched. The path that puts
    // it to sleep is over before its alarm. And two at the end: it leaves, and no other task is
    // found.
    assert_eq!(ends[0], Time(6_000_000 + 10_000 * 2 * 5));
    assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{ends:?}");
}

#[test]
fn messages_take_time_and_only_their_reader_gets_them() {
    let inner = policy("pinned");
    let mut mechanism = Dispatcher { inner, mailbox: MailboxId(0), letters: 0 };
    let (history, outcome) = simulate_mechanism(
        &Machine::flat(4),
        &Costs::default(),
        &in_step(4, 3),
        &mut mechanism,
        &Options::default(),
    );
    assert_eq!(outcome.end, End::Done);
    assert_eq!(checkers::wrong(&history), Vec::<String>::new());
    assert_eq!(mechanism.letters, 4 * 3);
    assert_eq!(outcome.time, Time(6_000_000 + 3 * 2_000));
    let wakings = history.entries().filter(|entry| matches!(entry.event, Event::Waking { .. }));
    assert!(wakings.map(|entry| entry.cpu).all(|cpu| cpu == DISPATCHER));
}

/// An interrupt at 1 ms that takes 1 ms, in pieces.
struct Interrupted {
    inner: Direct<Box<dyn Policy>>,
}

impl Mechanism for Interrupted {
    fn name(&self) -> String {
        "interrupted".into()
    }
    fn init(&mut self, kernel: &mut Kernel) {
        self.inner.init(kernel);
        let timer: TimerId = kernel.cx.new_timers(1);
        kernel.cx.timer(timer, CpuId(0), Some(Time(1_000_000)));
    }
    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step {
        match (trigger, turn) {
            (Trigger::Happening(Happening::Timer(_)), 0..4) => Step::Work(Span::us(250)),
            (Trigger::Happening(Happening::Timer(_)), _) => Step::Done,
            _ => self.inner.step(kernel, cpu, trigger, 0),
        }
    }
}

#[test]
fn whom_a_path_interrupts_makes_no_progress_meanwhile() {
    // Another CPU's events cut the path into other pieces, and change nothing.
    for other_us in [0, 1_300] {
        let mut load = Workload::new();
        for (cpu, us) in [(0, 10_000), (1, other_us)].into_iter().filter(|&(_, us)| us > 0) {
            let task = load.template(template("t", &[compute(Span::us(us))]));
            load.launch(task, CpuId(cpu));
        }
        let mut mechanism = Interrupted { inner: policy("pinned") };
        let (machine, costs) = (Machine::flat(2), Costs::default());
        let options = Options::default();
        let run = simulate_mechanism(&machine, &costs, &load, &mut mechanism, &options);
        assert_eq!((run.1.end, run.1.time), (End::Done, Time(11_000_000)));
    }
}

/// Its paths never end, and take no time.
struct Endless;

impl Mechanism for Endless {
    fn name(&self) -> String {
        "endless".into()
    }
    fn init(&mut self, _: &mut Kernel) {}
    fn step(&mut self, _: &mut Kernel, _: CpuId, _: Trigger, _: u32) -> Step {
        Step::Work(Span::ZERO)
    }
}

#[test]
fn a_path_without_end_ends_the_run() {
    let (machine, costs, load) = (Machine::flat(1), Costs::default(), in_step(1, 1));
    let run = simulate_mechanism(&machine, &costs, &load, Endless, &Options::default());
    assert!(matches!(run.1.end, End::Fault(_)), "{:?}", run.1.end);
}
