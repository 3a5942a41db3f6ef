//! Paths of CPUs through a kernel: the steps that are left, and what follows them.

use std::collections::VecDeque;

use wastenot_model::machine::Section;
use wastenot_model::policy::Family;
use wastenot_model::{CpuId, Span, Time};

use crate::Kernel;
use crate::mechanism::{LineId, LockId, Mechanism, Overhead, Step, Trigger};

use super::jobs::{Leaving, Pending};
use super::overheads::Overheads;
use super::plain::Done;

/// A design: what a CPU does in the kernel, one sequence of steps after the other.
pub(super) trait Walks {
    /// What a path does once no step is left.
    type Then: Default;

    fn init(&mut self, kernel: &mut Kernel);
    fn paths(&mut self) -> &mut Paths<Self::Then>;
    /// The CPU that runs no task, if there is one.
    fn dedicated(&self) -> Option<CpuId>;
    /// `cpu` enters the kernel.
    fn begin(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger);
    /// No step is left; returns whether the path is over.
    fn goes_on(&mut self, kernel: &mut Kernel, cpu: CpuId) -> bool;
    /// The run is over: the jobs that are complete, and those that are not.
    fn jobs(&mut self, kernel: &Kernel, leave: &[Leaving]) -> (Vec<Done>, Vec<Pending>);
    /// The overheads of the run.
    fn overheads(&self, kernel: &Kernel) -> Overheads;
    /// What is wrong although no path is under way: at such a moment every decision is carried out.
    fn unsettled(&self, kernel: &Kernel) -> Option<String>;
}

/// A design as a mechanism.
#[derive(Debug)]
pub(super) struct Walking<W> {
    name: &'static str,
    family: Family,
    pub(super) walks: W,
    pub(super) overheads: Overheads,
    pub(super) done: Vec<Done>,
    pub(super) pending: Vec<Pending>,
}

impl<W: Walks> Walking<W> {
    pub(super) fn new(name: &'static str, family: Family, walks: W) -> Walking<W> {
        let overheads = Overheads::default();
        Walking { name, family, walks, overheads, done: Vec::new(), pending: Vec::new() }
    }
}

impl<W: Walks> Mechanism for Walking<W> {
    fn name(&self) -> String {
        self.name.into()
    }
    fn family(&self) -> Family {
        self.family
    }
    fn keeps_time(&self) -> bool {
        true
    }
    fn init(&mut self, kernel: &mut Kernel) {
        let cpus = kernel.cx.machine.len();
        self.walks.paths().init(cpus);
        self.walks.init(kernel);
    }
    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step {
        if turn == 0 {
            self.walks.paths().begin(kernel, cpu);
            self.walks.begin(kernel, cpu, trigger);
        }
        loop {
            if let Some(step) = self.walks.paths().next(kernel, cpu) {
                return step;
            }
            if self.walks.goes_on(kernel, cpu) {
                debug_assert!(self.walks.paths().is_done(cpu), "{} leaves steps", self.name);
                if cfg!(debug_assertions) && kernel.is_quiet() {
                    let unsettled = self.walks.unsettled(kernel);
                    assert_eq!(unsettled, None, "{} at {}", self.name, kernel.now());
                    let runs = self.walks.dedicated().and_then(|cpu| kernel.cx.current(cpu));
                    assert_eq!(
                        runs,
                        None,
                        "the dedicated CPU of {} at {}",
                        self.name,
                        kernel.now()
                    );
                }
                return Step::Done;
            }
        }
    }
    fn ended(&mut self, kernel: &Kernel) {
        let locks_of_path = self.walks.paths().locks();
        self.overheads = Overheads { locks_of_path, ..self.walks.overheads(kernel) };
        let leave = self.walks.paths().leave(kernel);
        (self.done, self.pending) = self.walks.jobs(kernel, &leave);
    }
}

/// The path of one CPU; `T` is what the path does once no step is left.
#[derive(Debug, Default)]
struct Path<T> {
    began: Time,
    steps: VecDeque<Step>,
    then: T,
    /// When another CPU sent the interrupt that is on its way here.
    told: Option<Time>,
    /// How many locks the path has taken.
    locks: usize,
    /// The most locks that one path of this CPU took.
    locks_max: usize,
}

/// The paths of all CPUs.
#[derive(Debug)]
pub(super) struct Paths<T>(Vec<Path<T>>);

impl<T: Default> Paths<T> {
    pub(super) fn new() -> Paths<T> {
        Paths(Vec::new())
    }
    fn init(&mut self, cpus: usize) {
        self.0.resize_with(cpus, Path::default);
    }
    fn begin(&mut self, kernel: &Kernel, cpu: CpuId) {
        let path = &mut self.0[cpu.index()];
        (path.began, path.locks) = (kernel.now(), 0);
    }
    /// The tasks that leave a CPU whose path has not processed that.
    fn leave(&self, kernel: &Kernel) -> Vec<Leaving> {
        let of = |(cpu, path): (usize, &Path<T>)| {
            let (task, how, is_begun) = kernel.about_to_leave(CpuId(cpu as u16))?;
            Some(Leaving { task, how, at: if is_begun { path.began } else { kernel.now() } })
        };
        self.0.iter().enumerate().filter_map(of).collect()
    }
    /// By CPU: the most locks that one path took.
    fn locks(&self) -> Vec<usize> {
        self.0.iter().map(|path| path.locks_max).collect()
    }
    /// When `cpu` entered the kernel.
    pub(super) fn began(&self, cpu: CpuId) -> Time {
        self.0[cpu.index()].began
    }
    /// `cpu` picks its next task, as the CPU that interrupted it wants, if that interrupt, which
    /// takes `ipi`, has arrived.
    pub(super) fn heard(&mut self, kernel: &mut Kernel, cpu: CpuId, ipi: Span) {
        let now = kernel.now();
        if let Some(since) = self.0[cpu.index()].told.take_if(|since| *since + ipi <= now) {
            kernel.sample(cpu, Overhead::SendResched, since);
        }
    }
    /// The next step of `cpu`, if one is left.
    fn next(&mut self, kernel: &Kernel, cpu: CpuId) -> Option<Step> {
        let path = &mut self.0[cpu.index()];
        let step = path.steps.pop_front()?;
        match step {
            Step::Interrupt(other) if other != cpu => {
                self.0[other.index()].told.get_or_insert(kernel.now());
            }
            Step::Lock(_) => {
                path.locks += 1;
                path.locks_max = path.locks_max.max(path.locks);
            }
            _ => {}
        }
        Some(step)
    }
    fn is_done(&self, cpu: CpuId) -> bool {
        self.0[cpu.index()].steps.is_empty()
    }
    /// Takes what follows, now that no step is left.
    pub(super) fn take(&mut self, cpu: CpuId) -> T {
        std::mem::take(&mut self.0[cpu.index()].then)
    }
    /// Sets what follows once no step is left.
    pub(super) fn then(&mut self, cpu: CpuId, then: T) {
        self.0[cpu.index()].then = then;
    }
    pub(super) fn push(&mut self, cpu: CpuId, step: Step) {
        self.0[cpu.index()].steps.push_back(step);
    }
    /// Works for `span`, directly after the work before it.
    pub(super) fn work(&mut self, cpu: CpuId, span: Span) {
        match self.0[cpu.index()].steps.back_mut() {
            Some(Step::Work(before)) => *before += span,
            _ => self.push(cpu, Step::Work(span)),
        }
    }
    /// Takes a lock, and executes `section` on `lines` under it.
    pub(super) fn lock(&mut self, cpu: CpuId, lock: LockId, section: Section, lines: LineId) {
        self.push(cpu, Step::Lock(lock));
        self.work(cpu, section.work);
        self.push(cpu, Step::Touch(lines));
    }
    /// Interrupts `other`; sending takes `send` if that is another CPU.
    pub(super) fn interrupt(&mut self, cpu: CpuId, other: CpuId, send: Span) {
        if other != cpu {
            self.work(cpu, send);
        }
        self.push(cpu, Step::Interrupt(other));
    }
}
