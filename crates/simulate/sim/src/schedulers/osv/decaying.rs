//! The decaying average of OSv since November 2013.
//!
//! R of a thread follows dR/dt = (p run(t) - R)/tau, with run 1 or 0 and p its priority: a lower p
//! means more CPU time. A factor c of each CPU, which grows by e^(dt/tau), makes it unnecessary to
//! update all threads all the time: with R'' = R c (`rtt`, as in OSv) only the R'' of the running
//! thread changes, by p times the growth of c. A thread borrows `thyst` when it is switched in and
//! returns it when it is switched out, so that two equal hogs alternate every 2 `thyst`.
//!
//! OSv approximates the logarithm to about five digits and lengthens the result by 1 %, so that a
//! slice is never too short; here the logarithm is exact and lengthened all the same.

use wastenot_model::dsq::Ordered;
use wastenot_model::policy::View;
use wastenot_model::{CpuId, Policy, Span, Time};

use super::super::{Make, Scheduler, Settings, Tunable, Values};
use super::{Measure, Osv, SWITCH_PENALTY};

pub(in super::super) const SCHEDULER: Scheduler = Scheduler {
    name: "osv",
    about: "OSv: the thread whose decaying average of runtime is the smallest runs first; one \
            queue per CPU",
    source: "OSv commit dbc0d5073 (core/sched.cc, include/sched.hh), November 2013",
    groups: false,
    tunables: &[
        Tunable {
            name: "tau",
            about: "the time over which runtime is averaged",
            values: Values::Span,
            default: "200ms",
        },
        Tunable {
            name: "thyst",
            about: "half of the shortest slice; OSv has used 5ms since August 2014",
            values: Values::Span,
            default: "2ms",
        },
        Tunable {
            name: "float",
            about: "the precision of the averages; OSv uses f32",
            values: Values::Words(&["f64", "f32"]),
            default: "f64",
        },
    ],
    make: Make::Policy(|settings: &Settings| Box::new(make(settings))),
};

fn make(settings: &Settings) -> impl Policy + use<> {
    let measure = Decaying {
        tau: (settings.span("tau").0 as f64).max(1.0),
        thyst: settings.span("thyst").0 as f64,
        single: settings.word("float") == "f32",
        cpus: Vec::new(),
        threads: Vec::new(),
    };
    Osv::new(settings.label(&SCHEDULER), measure)
}

/// The initial c. Once c exceeds the inverse, R'' is multiplied by this twice.
const LEAST: f64 = 1.0 / (1u64 << 63) as f64;
const MOST: f64 = (1u64 << 63) as f64;
/// The factor by which a slice is lengthened.
const OVERSHOOT: f64 = 1.01;

#[derive(Debug)]
struct Decaying {
    tau: f64,
    thyst: f64,
    single: bool,
    cpus: Vec<Cpu>,
    threads: Vec<Thread>,
}

#[derive(Clone, Copy, Debug)]
struct Cpu {
    c: f64,
    renormalised: u64,
    accounted: Time,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    rtt: f64,
    /// How often `cpu` had renormalised when `rtt` was last right.
    renormalised: u64,
    cpu: CpuId,
    priority: f64,
}

impl Decaying {
    /// Rounds to the precision of the averages.
    fn round(&self, x: f64) -> f64 {
        if self.single { f64::from(x as f32) } else { x }
    }

    /// e^(t/tau), which is nearly linear for short times.
    fn growth(&self, t: f64) -> f64 {
        let x = t / self.tau;
        self.round(if x.abs() < 1e-3 { 1.0 + x } else { libm::exp(x) })
    }

    /// Charges `t` of CPU time to `thread`, in nanoseconds; a negative `t` is lent.
    fn ran_for(&mut self, cpu: CpuId, thread: Option<u32>, t: f64) {
        let c = self.cpus[cpu.index()].c;
        let grown = self.round(c * self.growth(t));
        if !grown.is_finite() {
            return; // OSv does so too: its clock jumps at boot
        }
        self.cpus[cpu.index()].c = grown;
        if let Some(thread) = thread {
            let Thread { rtt, priority, .. } = self.threads[thread as usize];
            self.threads[thread as usize].rtt = self.round(rtt + priority * (grown - c));
        }
    }

    /// R of a thread, whose `rtt` may have missed renormalisations.
    fn average(&self, thread: u32) -> f64 {
        let Thread { rtt, renormalised, cpu, .. } = self.threads[thread as usize];
        let cpu = &self.cpus[cpu.index()];
        self.round(scaled(rtt, cpu.renormalised - renormalised) / cpu.c)
    }
}

/// `rtt` after `renormalised` renormalisations; it is zero after two.
fn scaled(rtt: f64, renormalised: u64) -> f64 {
    match renormalised {
        0 => rtt,
        1 => rtt * LEAST * LEAST,
        _ => 0.0,
    }
}

impl Measure for Decaying {
    fn grow(&mut self, view: &View) {
        let cpu = Cpu { c: LEAST, renormalised: 0, accounted: view.now };
        self.cpus.resize(view.cpus.len(), cpu);
        let known = self.threads.len();
        let news = view.tasks[known.min(view.tasks.len())..].iter().map(|task| Thread {
            rtt: 0.0,
            renormalised: 0,
            cpu: task.cpu,
            priority: task.priority,
        });
        self.threads.extend(news);
    }

    /// R = 0: the thread runs before every thread that has run.
    fn born(&mut self, _: u32, _: Option<u32>) {}

    fn woken(&mut self, thread: u32, cpu: CpuId, _: Option<u32>) {
        self.moved(thread, cpu);
    }

    fn moved(&mut self, thread: u32, cpu: CpuId) {
        let average = self.average(thread);
        let Cpu { c, renormalised, .. } = self.cpus[cpu.index()];
        let state = &self.threads[thread as usize];
        let rtt = match state.cpu == cpu {
            true => scaled(state.rtt, renormalised - state.renormalised),
            false => self.round(average * c),
        };
        self.threads[thread as usize] = Thread { rtt, renormalised, cpu, ..*state };
    }

    fn key(&self, thread: u32) -> f64 {
        self.threads[thread as usize].rtt
    }

    fn account(&mut self, cpu: CpuId, current: Option<u32>, now: Time) {
        let since = std::mem::replace(&mut self.cpus[cpu.index()].accounted, now);
        let passed = if now == since { SWITCH_PENALTY } else { now - since };
        self.ran_for(cpu, current, passed.0 as f64);
    }

    fn renormalise(&mut self, cpu: CpuId, current: Option<u32>, queues: &mut Ordered<f64>) {
        while self.cpus[cpu.index()].c >= MOST {
            let state = &mut self.cpus[cpu.index()];
            state.c *= LEAST * LEAST;
            state.renormalised += 1;
            let renormalised = state.renormalised;
            let mut members = Vec::with_capacity(queues.len(cpu.index()));
            while let Some((_, thread)) = queues.pop(cpu.index()) {
                members.push(thread);
            }
            for &thread in members.iter().chain(&current) {
                let state = &mut self.threads[thread as usize];
                (state.rtt, state.renormalised) = (scaled(state.rtt, 1), renormalised);
            }
            for thread in members {
                queues.insert(cpu.index(), thread, self.key(thread));
            }
        }
    }

    fn keeps(&self, _: CpuId, current: u32, head: f64) -> bool {
        self.key(current) < head
    }

    /// At least [`SWITCH_PENALTY`]: shorter times might be lost in rounding.
    fn until(&self, cpu: CpuId, current: u32, head: f64) -> Option<Span> {
        let Thread { rtt, priority, .. } = self.threads[current as usize];
        let ratio = 1.0 + (head - rtt) / (priority * self.cpus[cpu.index()].c);
        let t = self.tau * libm::log(ratio) * OVERSHOOT;
        (t > 0.0 && t.is_finite()).then(|| Span(t as u64).max(SWITCH_PENALTY))
    }

    /// With the time that it borrowed and returns, the other runs for 2 `thyst`.
    fn yields(&mut self, current: u32, head: f64) {
        self.threads[current as usize].rtt = head;
    }

    fn switched_out(&mut self, cpu: CpuId, thread: u32) {
        self.ran_for(cpu, Some(thread), self.thyst);
        self.threads[thread as usize].renormalised = self.cpus[cpu.index()].renormalised;
    }

    fn switched_in(&mut self, cpu: CpuId, thread: Option<u32>, displaced: bool, _: Time) {
        if thread.is_none() {
            return; // the idle thread is always last, and borrows nothing
        }
        self.ran_for(cpu, thread, -self.thyst);
        if displaced {
            self.ran_for(cpu, thread, SWITCH_PENALTY.0 as f64);
        }
    }
}
