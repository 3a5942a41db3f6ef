//! Many short jobs: a compilation as make runs it.

use wastenot_model::Span;
use wastenot_model::workload::{Step, Variate};

use super::ArgumentKind::{Count, Time, Variate as Varying};
use super::maker::{Maker, compute, times};
use super::{Arguments, Function, argument};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "make_j",
    about: "a manager (like make) keeps a fixed number of jobs (NAME-cc) running, and links after \
        the last job",
    source: "Lozi et al., EuroSys 2016: make -j64 of the kernel",
    arguments: &[
        argument("parallel", Count(4096), "64", "number of jobs that run at the same time (-j)"),
        argument("jobs", Count(1_000_000), "500", "total number of jobs"),
        argument("compute", Varying, "exp(37.5ms)", "CPU time of each part of a job"),
        argument("io", Varying, "uniform(1ms, 5ms)", "sleep after each part"),
        argument("parts", Count(1000), "4", "number of parts in a job"),
        argument("link", Time, "0ms", "CPU time of the manager after the last job"),
    ],
    make: make_j,
}];

fn make_j(arguments: &Arguments, maker: &mut Maker) {
    let part = [Step::Compute(arguments.variate("compute")), Step::Sleep(arguments.variate("io"))];
    let mut job = vec![Step::Exec];
    job.extend(times(arguments.count("parts").max(1), part));
    let job = maker.kind("cc", job);

    // make takes some time to decide what to do next.
    let think = Step::Compute(Variate::Fixed(Span::us(50)));
    let jobs = arguments.count("jobs").max(1);
    let at_once = arguments.count("parallel").clamp(1, jobs);
    let mut manager = times(at_once, [think, Step::Fork(job)]);
    manager.extend(times(jobs - at_once, [Step::WaitOne, think, Step::Fork(job)]));
    manager.push(Step::WaitAll);
    let link = arguments.time("link");
    if link > Span::ZERO {
        manager.push(compute(link));
    }
    let manager = maker.kind("", manager);
    maker.launch(manager, 1);
}
