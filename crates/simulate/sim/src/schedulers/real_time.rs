//! Real-time schedulers: the designs of `edf` by name.

use super::{Make, Scheduler, Settings, Tunable, Values};
use crate::edf::{Design, Mailboxes, Order, Profile, Real, Rule, Rules, Server, Tie};
use crate::mechanism::Spin;

const PROFILE: Tunable = Tunable {
    name: "profile",
    about: "the times of kernel code and hardware. `free`: no time. `x7550-assumed`: times that \
            are assumed for 8 x 8 CPUs at 2 GHz. Other times are in a profile file \
            (docs/reference/profile.md)",
    values: Values::Profile,
    default: "free",
};
const LOCKS: Tunable = Tunable {
    name: "locks",
    about: "the way in which CPUs spin on a lock. `profile`: as in the profile. `mcs`: each CPU \
            spins on its own cache line. `ticket` and `test-and-set`: all CPUs spin on one line",
    values: Values::Words(&["profile", "mcs", "ticket", "test-and-set"]),
    default: "profile",
};
const TIE: Tunable = Tunable {
    name: "tie",
    about: "if tasks have equal deadlines, one of these tasks has priority: the first task in the \
            file, the last task in the file, or the running task",
    values: Values::Words(&["first", "last", "running"]),
    default: "first",
};
const INTERRUPTS: Tunable = Tunable {
    name: "interrupts",
    about: "which CPU a timer interrupts. `shared`: the CPU that set the timer. `dedicated`: \
            always CPU 0, which then runs no task",
    values: Values::Words(&["shared", "dedicated"]),
    default: "shared",
};
const MAILBOXES: Tunable = Tunable {
    name: "mailboxes",
    about: "the number of mailboxes through which CPUs send messages to CPU 0; 0: one mailbox per \
            CPU",
    values: Values::Count,
    default: "8",
};

pub(super) const GSN_EDF: Scheduler = Scheduler {
    name: "gsn-edf",
    about: "global EDF with one global lock; tasks are linked to CPUs",
    source: "LITMUS^RT, litmus/sched_gsn_edf.c; Block et al., RTCSA 2007",
    groups: false,
    tunables: &[INTERRUPTS, TIE, PROFILE, LOCKS],
    make: Make::RealTime(|settings| real(settings, coarse(settings), Order::Deadline)),
};

pub(super) const SCHED_DEADLINE: Scheduler = Scheduler {
    name: "sched-deadline",
    about: "global EDF with a run queue per CPU, push and pull, and a constant bandwidth server \
            for each task. A task does not preempt a task with an equal deadline. If waiting tasks \
            have equal deadlines, the first of these tasks in the file runs first",
    source: "kernel/sched/{deadline,cpudeadline}.c of Linux around 3.14; version 8 of the patches \
             for SCHED_DEADLINE",
    groups: false,
    tunables: &[
        INTERRUPTS,
        Tunable {
            name: "rules",
            about: "how a task finds another CPU. `v8`: by a scan of all CPUs, as in the measured \
                    patches of 2013. `3.14`: with a heap that has its own lock, as in Linux since \
                    3.14",
            values: Values::Words(&["v8", "3.14"]),
            default: "3.14",
        },
        Tunable {
            name: "server",
            about: "whether each task has a constant bandwidth server, which limits its CPU time \
                    per period",
            values: Values::Words(&["on", "off"]),
            default: "on",
        },
        Tunable {
            name: "budget",
            about: "the server budget of a task in each period, in per cent of its longest job",
            values: Values::Count,
            default: "100",
        },
        Tunable {
            name: "spare",
            about: "extra time in the server budget, because kernel code on the task's CPU also \
                    uses this budget",
            values: Values::Span,
            default: "1ms",
        },
        PROFILE,
        LOCKS,
    ],
    make: Make::RealTime(|settings| {
        let (percent, spare) = (settings.count("budget").into(), settings.span("spare"));
        let server = (settings.word("server") == "on").then_some(Server { percent, spare });
        let design = Design::PerCpu {
            master: dedicated(settings),
            rules: if settings.word("rules") == "v8" { Rules::V8 } else { Rules::Heap },
            server,
        };
        real(settings, design, Order::Deadline)
    }),
};

pub(super) const GEDF_MP: Scheduler = Scheduler {
    name: "gedf-mp",
    about: "global EDF by message passing: CPU 0 schedules for all other CPUs",
    source: "LITMUS^RT, G-EDF-MP; Cerqueira, Vanga, Brandenburg, RTAS 2014",
    groups: false,
    tunables: &[MAILBOXES, TIE, PROFILE, LOCKS],
    make: Make::RealTime(|settings| real(settings, messages(settings), Order::Deadline)),
};

pub(super) const P_EDF: Scheduler = Scheduler {
    name: "p-edf",
    about: "EDF on each CPU; each task is assigned to the CPU with the most free capacity",
    source: "LITMUS^RT; Liu and Layland 1973",
    groups: false,
    tunables: &[TIE, PROFILE, LOCKS],
    make: Make::RealTime(|settings| real(settings, clustered(1), Order::Deadline)),
};

pub(super) const C_EDF: Scheduler = Scheduler {
    name: "c-edf",
    about: "global EDF in each cluster of CPUs; each task is assigned to the cluster with the most \
            free capacity",
    source: "LITMUS^RT; Calandrino, Anderson, Baumberger, ECRTS 2007",
    groups: false,
    tunables: &[
        Tunable {
            name: "size",
            about: "the number of CPUs in a cluster; 0: the CPUs that share a last-level cache",
            values: Values::Count,
            default: "0",
        },
        TIE,
        PROFILE,
        LOCKS,
    ],
    make: Make::RealTime(|settings| {
        real(settings, clustered(settings.count("size")), Order::Deadline)
    }),
};

pub(super) const G_FL: Scheduler = Scheduler {
    name: "g-fl",
    about: "global fair lateness: a task with longer jobs has an earlier priority point; \
            everything else is as in gsn-edf",
    source: "Erickson and Anderson, ECRTS 2012",
    groups: false,
    tunables: &[INTERRUPTS, TIE, PROFILE, LOCKS],
    make: Make::RealTime(|settings| real(settings, coarse(settings), Order::FairLateness)),
};

pub(super) const GFP_MP: Scheduler = Scheduler {
    name: "gfp-mp",
    about: "global fixed priority by message passing: the first task in the file has the highest \
            priority",
    source: "this project; the mechanism of gedf-mp with fixed priorities",
    groups: false,
    tunables: &[MAILBOXES, PROFILE, LOCKS],
    make: Make::RealTime(|settings| real(settings, messages(settings), Order::Fixed)),
};

fn dedicated(settings: &Settings) -> bool {
    settings.word("interrupts") == "dedicated"
}

fn coarse(settings: &Settings) -> Design {
    Design::Coarse { master: dedicated(settings) }
}

fn messages(settings: &Settings) -> Design {
    Design::Messages(match settings.count("mailboxes") {
        0 => Mailboxes::Own,
        boxes => Mailboxes::Shared(boxes),
    })
}

fn clustered(size: u32) -> Design {
    Design::Clustered { size, cluster_of: Vec::new() }
}

fn real(settings: &Settings, design: Design, order: Order) -> Real {
    let tie = match settings.word("tie") {
        "last" => Tie::Last,
        "running" => Tie::Running,
        _ => Tie::First,
    };
    let profile = settings.profile(PROFILE.name);
    let spin = match settings.word("locks") {
        "mcs" => Spin::Own,
        "ticket" => Spin::Ticket,
        "test-and-set" => Spin::TestAndSet,
        _ => profile.spin,
    };
    Real { design, rule: Rule { order, tie }, profile: Profile { spin, ..profile } }
}
