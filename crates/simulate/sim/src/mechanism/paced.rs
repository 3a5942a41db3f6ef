//! The mechanism of a kernel without its prices: decisions take steps, and each step its time.
//!
//! How long a step takes is left to chance: mostly next to nothing, sometimes up to a limit, as if
//! an interrupt or a cache miss had come between. So with many seeds, the steps of several CPUs
//! interleave in many ways. Or all take equally long ([`Pace`]). While a CPU is between two steps
//! it runs no task.

use std::fmt;

use wastenot_model::policy::{Family, Steps, Went, Why};
use wastenot_model::workload::Random;
use wastenot_model::{Context, CpuId, Span, TaskId};

use super::{Direct, Mechanism, Step, Trigger};
use crate::Kernel;
use crate::engine::Leaves;

/// How long steps take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The longest that a step takes.
    pub most: Span,
    /// Whether each takes so long.
    pub even: bool,
}

/// As it is set.
impl fmt::Display for Pace {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "steps={}{}", self.most, if self.even { " pace=even" } else { "" })
    }
}

/// A policy whose decisions take steps.
#[derive(Debug)]
pub struct Paced<P> {
    direct: Direct<P>,
    pace: Pace,
    random: Random,
    /// By CPU: where its path is.
    at: Vec<At>,
}

/// Where the path of a CPU is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Begin,
    /// It puts the task that it ran, or that was woken.
    Puts { looks: bool },
    /// It looks for its next task.
    Looks,
}

impl<P: Steps> Paced<P> {
    /// Steps of this pace; `seed` chooses how long each takes.
    pub fn new(policy: P, pace: Pace, seed: u64) -> Paced<P> {
        let random = Random::stream(seed, u32::from_le_bytes(*b"step"), 0);
        Paced { direct: Direct(policy), pace, random, at: Vec::new() }
    }

    /// How long a step takes: nothing half of the time, else the longest, or half of it, a quarter,
    /// and so on to a 128th, each as often.
    fn takes(&mut self) -> Step {
        let most = self.pace.most.0;
        let span = match self.random.below(2) {
            _ if self.pace.even => most,
            0 => 0,
            _ => (most >> self.random.below(8)).max(1),
        };
        Step::Work(Span(span))
    }

    fn at(&mut self, cpu: CpuId) -> &mut At {
        let index = cpu.index();
        if self.at.len() <= index {
            self.at.resize(index + 1, At::Begin);
        }
        &mut self.at[index]
    }

    /// `task` is woken or new, and is about to be put.
    fn wakes(&mut self, kernel: &mut Kernel, cpu: CpuId, (task, why): (TaskId, Why), by: Context) {
        self.direct.tell(kernel, cpu, (task, why), by);
        let (policy, prev) = (&mut self.direct.0, kernel.cx.task(task).cpu);
        let to = policy.select_cpu(&mut kernel.cx, task, prev, why);
        kernel.carry_out();
        kernel.place(task, to, why, by);
        policy.puts(&mut kernel.cx, task, to, why);
        kernel.carry_out();
    }

    /// The running task of `cpu` leaves, which idles until it has found another one. Whether a put
    /// began.
    fn leaves(&mut self, kernel: &mut Kernel, cpu: CpuId) -> bool {
        let Some((task, how)) = kernel.leaves(cpu) else { return false };
        let how = self.direct.leaving(kernel, cpu, task, how);
        let policy = &mut self.direct.0;
        policy.stopping(&mut kernel.cx, cpu, task, how.is_runnable());
        kernel.stopped(task, how);
        kernel.carry_out();
        kernel.switch(cpu, Some((task, how)), None);
        policy.update_idle(&mut kernel.cx, cpu, true);
        kernel.carry_out();
        let (to, why) = match how {
            Leaves::Runnable(why) => (cpu, why),
            Leaves::Displaced { to, why } => {
                kernel.place(task, to, why, Context::Task);
                (to, why)
            }
            Leaves::Sleeps | Leaves::Completes | Leaves::Ends => return false,
        };
        policy.puts(&mut kernel.cx, task, to, why);
        kernel.carry_out();
        true
    }

    /// The next step of the path of `cpu`.
    fn goes_on(&mut self, kernel: &mut Kernel, cpu: CpuId) -> Step {
        let policy = &mut self.direct.0;
        let went = policy.goes_on(&mut kernel.cx, cpu);
        kernel.carry_out();
        match went {
            Went::On => {}
            Went::Found(task) => {
                // Else two CPUs that kick each other while they look would preempt for ever what
                // they found.
                kernel.picked(cpu);
                kernel.switch(cpu, None, Some(task));
                policy.running(&mut kernel.cx, cpu, task);
                policy.update_idle(&mut kernel.cx, cpu, false);
                kernel.carry_out();
            }
            Went::Over if *self.at(cpu) == (At::Puts { looks: true }) => {
                *self.at(cpu) = At::Looks;
                self.direct.0.looks(&mut kernel.cx, cpu);
                kernel.carry_out();
            }
            Went::Over => {
                *self.at(cpu) = At::Begin;
                return Step::Done;
            }
        }
        self.takes()
    }
}

impl<P: Steps> Mechanism for Paced<P> {
    fn name(&self) -> String {
        format!("{} {}", self.direct.name(), self.pace)
    }

    fn family(&self) -> Family {
        self.direct.family()
    }

    fn init(&mut self, kernel: &mut Kernel) {
        self.direct.init(kernel);
    }

    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step {
        if *self.at(cpu) != At::Begin {
            return self.goes_on(kernel, cpu);
        }
        let at = match trigger {
            Trigger::Wake { task, why, by } => {
                self.wakes(kernel, cpu, (task, why), by);
                At::Puts { looks: false }
            }
            Trigger::Schedule => match self.leaves(kernel, cpu) {
                true => At::Puts { looks: true },
                false => {
                    self.direct.0.looks(&mut kernel.cx, cpu);
                    kernel.carry_out();
                    At::Looks
                }
            },
            _ => return self.direct.step(kernel, cpu, trigger, turn),
        };
        *self.at(cpu) = at;
        self.takes()
    }
}
