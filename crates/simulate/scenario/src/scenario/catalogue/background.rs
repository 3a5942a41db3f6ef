//! Background load: batch jobs, stressors, kernel threads.

use wastenot_model::workload::{Step, Template, Variate};
use wastenot_model::{CpuSet, Span};

use super::ArgumentKind::{Count, Time, Variate as Varying};
use super::maker::{Maker, compute, forever};
use super::{Arguments, Function, argument};
use crate::scenario::program::FOREVER;

const WASTED_CORES: &str = "Lozi et al., EuroSys 2016";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "r_batch",
        about: "single-threaded jobs that compute until their work is done",
        source: WASTED_CORES,
        arguments: &[
            argument("count", Count(4096), "1", "jobs"),
            argument("work", Time, "2s", "CPU time of each job"),
        ],
        make: |arguments, maker| {
            let job = maker.kind("", vec![compute(arguments.time("work"))]);
            maker.launch(job, arguments.count("count"));
        },
    },
    Function {
        name: "stressor",
        about: "processes that compute forever; the run does not wait for them",
        source: "Frachtenberg and Etsion; stress-ng --cpu",
        arguments: &[argument("count", Count(4096), "1", "processes")],
        make: |arguments, maker| {
            let steps = vec![Step::Compute(FOREVER)];
            let process = maker.kind_with("", steps, |template| template.awaited = false);
            maker.launch(process, arguments.count("count"));
        },
    },
    Function {
        name: "transient",
        about: "one task is bound to each CPU; the task sleeps for a random time, then computes \
                for a short time",
        source: WASTED_CORES,
        arguments: &[
            argument(
                "every",
                Varying,
                "uniform(20ms, 100ms)",
                "time between two runs of these tasks on the whole machine",
            ),
            argument("compute", Varying, "uniform(0.2ms, 1ms)", "CPU time of each run"),
        ],
        make: transient,
    },
    Function {
        name: "kworker",
        about: "one kernel thread per CPU; each thread runs at regular intervals",
        source: "Lawall, slides on wake_affine_idle: with the ondemand governor, the thread runs \
                 60us every 4ms",
        arguments: &[
            argument("compute", Varying, "60us", "CPU time of each run"),
            argument(
                "period",
                Time,
                "4ms",
                "time from the start of one run to the start of the next",
            ),
        ],
        make: kworker,
    },
];

/// The tasks of all CPUs together have the requested rate.
fn transient(arguments: &Arguments, maker: &mut Maker) {
    let cpus = maker.cpus();
    let pause = slower(arguments.variate("every"), cpus.len() as u64);
    let steps = forever([Step::Sleep(pause), Step::Compute(arguments.variate("compute"))]);
    bound(maker, &cpus, &steps);
}

fn kworker(arguments: &Arguments, maker: &mut Maker) {
    let period = arguments.time("period").max(Span(1));
    // Their periods do not start at the same time.
    let apart = Step::Sleep(Variate::Uniform { from: Span::ZERO, to: period });
    let mut steps = vec![apart];
    steps.extend(forever([Step::Beat(period), Step::Compute(arguments.variate("compute"))]));
    let cpus = maker.cpus();
    bound(maker, &cpus, &steps);
}

/// A kernel thread on each CPU, named as the kernel names them.
fn bound(maker: &mut Maker, cpus: &CpuSet, steps: &[Step]) {
    for cpu in cpus.iter() {
        let change = |template: &mut Template| {
            template.name = format!("{}/{cpu}", template.name);
            template.affinity = Some(CpuSet::from_iter([cpu]));
            template.kthread = true;
            template.awaited = false;
        };
        let thread = maker.kind_with("", steps.to_vec(), change);
        maker.launch(thread, 1);
    }
}

fn slower(variate: Variate, times: u64) -> Variate {
    let slow = |span: Span| Span(span.0.saturating_mul(times).min(Span::s(1_000_000).0));
    match variate {
        Variate::Fixed(span) => Variate::Fixed(slow(span)),
        Variate::Uniform { from, to } => Variate::Uniform { from: slow(from), to: slow(to) },
        Variate::Exponential { mean } => Variate::Exponential { mean: slow(mean) },
        Variate::LogNormal { mean, cv } => Variate::LogNormal { mean: slow(mean), cv },
    }
}
