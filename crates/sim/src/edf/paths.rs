//! Paths of CPUs through a kernel: the steps that are still to be done, and what comes then.

use std::collections::VecDeque;

use wastenot_model::machine::Section;
use wastenot_model::{CpuId, Span, Time};

use crate::Kernel;
use crate::mechanism::{LineId, LockId, Mechanism, Overhead, Step, Trigger};

use super::jobs::{Leaving, Pending};
use super::plain::Done;
use super::run::Overheads;

/// A design: what a CPU does in the kernel, one stretch of steps after the other.
pub(super) trait Walks {
    /// Where a path goes on once no step is left.
    type Then: Default;

    fn init(&mut self, kernel: &mut Kernel);
    fn paths(&mut self) -> &mut Paths<Self::Then>;
    /// The CPU that runs no task, if there is one.
    fn dedicated(&self) -> Option<CpuId>;
    /// `cpu` enters the kernel.
    fn begin(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger);
    /// No step is left; whether the path is over.
    fn goes_on(&mut self, kernel: &mut Kernel, cpu: CpuId) -> bool;
    /// The run is over: jobs that are complete, and those that are not.
    fn jobs(&mut self, kernel: &Kernel, leave: &[Leaving]) -> (Vec<Done>, Vec<Pending>);
    /// What the run showed.
    fn overheads(&self, kernel: &Kernel) -> Overheads;
    /// What is wrong although nothing is under way: then what was decided is what is.
    fn unsettled(&self, kernel: &Kernel) -> Option<String>;
}

/// A design as a mechanism.
#[derive(Debug)]
pub(super) struct Walking<W> {
    name: &'static str,
    pub(super) walks: W,
    pub(super) overheads: Overheads,
    pub(super) done: Vec<Done>,
    pub(super) pending: Vec<Pending>,
}

impl<W: Walks> Walking<W> {
    pub(super) fn new(name: &'static str, walks: W) -> Walking<W> {
        let overheads = Overheads::default();
        Walking { name, walks, overheads, done: Vec::new(), pending: Vec::new() }
    }
}

impl<W: Walks> Mechanism for Walking<W> {
    fn name(&self) -> String {
        self.name.into()
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

/// Of one CPU; `T` is where it goes on.
#[derive(Debug, Default)]
struct Path<T> {
    began: Time,
    steps: VecDeque<Step>,
    then: T,
    /// Since when an interrupt by another CPU is on its way here.
    told: Option<Time>,
    /// How many locks it has taken.
    locks: usize,
    /// How many one path of this CPU took at most.
    locks_max: usize,
}

/// Of all CPUs.
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
    /// Who leaves a CPU whose path has not come to it.
    fn leave(&self, kernel: &Kernel) -> Vec<Leaving> {
        let of = |(cpu, path): (usize, &Path<T>)| {
            let (task, how, is_begun) = kernel.about_to_leave(CpuId(cpu as u16))?;
            Some(Leaving { task, how, at: if is_begun { path.began } else { kernel.now() } })
        };
        self.0.iter().enumerate().filter_map(of).collect()
    }
    /// By CPU: how many locks one path took at most.
    fn locks(&self) -> Vec<usize> {
        self.0.iter().map(|path| path.locks_max).collect()
    }
    /// When `cpu` entered the kernel.
    pub(super) fn began(&self, cpu: CpuId) -> Time {
        self.0[cpu.index()].began
    }
    /// `cpu` looks who is next: that is what whoever interrupted it wants, if the interrupt, which
    /// takes `ipi`, is here.
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
    /// What comes now that no step is left.
    pub(super) fn take(&mut self, cpu: CpuId) -> T {
        std::mem::take(&mut self.0[cpu.index()].then)
    }
    /// What comes once no step is left.
    pub(super) fn then(&mut self, cpu: CpuId, then: T) {
        self.0[cpu.index()].then = then;
    }
    pub(super) fn push(&mut self, cpu: CpuId, step: Step) {
        self.0[cpu.index()].steps.push_back(step);
    }
    /// Works for so long, after the work before it without a break.
    pub(super) fn work(&mut self, cpu: CpuId, span: Span) {
        match self.0[cpu.index()].steps.back_mut() {
            Some(Step::Work(before)) => *before += span,
            _ => self.push(cpu, Step::Work(span)),
        }
    }
    /// Takes a lock and does something on lines.
    pub(super) fn lock(&mut self, cpu: CpuId, lock: LockId, section: Section, lines: LineId) {
        self.push(cpu, Step::Lock(lock));
        self.work(cpu, section.work);
        self.push(cpu, Step::Touch(lines));
    }
    /// Interrupts `other`, which takes `send` if that is another CPU.
    pub(super) fn interrupt(&mut self, cpu: CpuId, other: CpuId, send: Span) {
        if other != cpu {
            self.work(cpu, send);
        }
        self.push(cpu, Step::Interrupt(other));
    }
}
