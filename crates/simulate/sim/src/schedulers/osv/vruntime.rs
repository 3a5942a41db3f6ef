//! The heuristic that OSv's decaying average replaced: cumulative runtime, corrected.
//!
//! A thread is charged for each stint, but for at most 10 ms, so that it does not pay for a clock
//! that jumps. It is kept until it has had 4 ms more than the next thread. A thread that wakes is
//! set to at least the runtime of the current one, less 10 ms. The measure of one CPU means nothing
//! on another, yet a thread that is moved keeps it: a thread with a large measure is not scheduled
//! until the others have caught up, and since a long stint is charged only 10 ms that may be never.

use wastenot_model::policy::View;
use wastenot_model::workload::Random;
use wastenot_model::{CpuId, Policy, Span, Time};

use super::super::{Make, Scheduler, Settings, Tunable, Values};
use super::{Measure, Osv, SWITCH_PENALTY};

pub(in super::super) const SCHEDULER: Scheduler = Scheduler {
    name: "osv-vruntime",
    about: "the predecessor of osv: the thread with the least total runtime runs first; the \
            tunables `wake-floor` and `cap` correct the counted runtime",
    source: "OSv, the parent of commit dbc0d5073 (core/sched.cc)",
    groups: false,
    tunables: &[
        Tunable {
            name: "wake-floor",
            about: "whether the runtime of a woken thread is set to at least the runtime of the \
                    current thread minus 10 ms",
            values: Values::Words(&["on", "off"]),
            default: "on",
        },
        Tunable {
            name: "cap",
            about: "whether a thread is charged at most 10 ms for one run",
            values: Values::Words(&["on", "off"]),
            default: "on",
        },
        Tunable {
            name: "clock-jump",
            about: "OSv's clock jumps at boot. Each balancing thread is affected with probability \
                    1/2. This tunable is the runtime that is charged to an affected thread",
            values: Values::Span,
            default: "0s",
        },
    ],
    make: Make::Policy(|settings: &Settings| Box::new(make(settings))),
};

fn make(settings: &Settings) -> impl Policy + use<> {
    let measure = Cumulative {
        floor: settings.word("wake-floor") == "on",
        cap: settings.word("cap") == "on",
        jump: settings.span("clock-jump").0 as f64,
        ..Cumulative::default()
    };
    Osv::new(settings.label(&SCHEDULER), measure)
}

/// The longest stint that is charged, and the most that a woken thread may be ahead.
const MAX_SLICE: f64 = 10e6;
/// How much more the current thread may have had than the next.
const BIAS: f64 = 4e6;
/// The random stream of the balancers that the jump of the clock hit.
const JUMPED: u32 = 0x05f1;

#[derive(Debug, Default)]
struct Cumulative {
    floor: bool,
    cap: bool,
    jump: f64,
    /// When each CPU last switched, and the run time since then, as it is charged.
    cpus: Vec<(Time, f64)>,
    /// Nanoseconds that each thread has had, until it was last switched out.
    threads: Vec<f64>,
}

impl Measure for Cumulative {
    fn grow(&mut self, view: &View) {
        self.cpus.resize(view.cpus.len(), (view.now, 0.0));
        self.threads.resize(self.threads.len().max(view.tasks.len()), 0.0);
    }

    fn born(&mut self, child: u32, parent: Option<u32>) {
        let had = parent.map_or(0.0, |parent| self.threads[parent as usize]);
        let child = child as usize;
        self.threads.resize(self.threads.len().max(child + 1), 0.0);
        self.threads[child] = had;
    }

    fn balancer(&mut self, thread: u32, view: &View) {
        let mut chance = Random::stream(view.seed, JUMPED, u64::from(thread));
        if chance.below(2) == 0 {
            self.threads[thread as usize] += self.jump;
        }
    }

    fn woken(&mut self, thread: u32, _: CpuId, current: Option<u32>) {
        if let Some(current) = current.filter(|_| self.floor) {
            let floor = self.threads[current as usize] - MAX_SLICE;
            let had = &mut self.threads[thread as usize];
            *had = had.max(floor);
        }
    }

    fn moved(&mut self, _: u32, _: CpuId) {}

    fn key(&self, thread: u32) -> f64 {
        self.threads[thread as usize]
    }

    fn account(&mut self, cpu: CpuId, _: Option<u32>, now: Time) {
        let most = if self.cap { MAX_SLICE } else { f64::INFINITY };
        let (since, ran) = &mut self.cpus[cpu.index()];
        *ran = ((now - *since).0 as f64).min(most);
    }

    fn keeps(&self, cpu: CpuId, current: u32, head: f64) -> bool {
        self.key(current) + self.cpus[cpu.index()].1 < head + BIAS
    }

    fn until(&self, cpu: CpuId, current: u32, head: f64) -> Option<Span> {
        let ahead = head - (self.key(current) + self.cpus[cpu.index()].1) + BIAS;
        Some(Span(ahead.max(0.0) as u64).max(SWITCH_PENALTY))
    }

    fn switched_out(&mut self, cpu: CpuId, thread: u32) {
        self.threads[thread as usize] += self.cpus[cpu.index()].1;
    }

    fn switched_in(&mut self, cpu: CpuId, thread: Option<u32>, displaced: bool, now: Time) {
        self.cpus[cpu.index()] = (now, 0.0);
        if let Some(thread) = thread.filter(|_| displaced) {
            self.threads[thread as usize] += SWITCH_PENALTY.0 as f64;
        }
    }
}
