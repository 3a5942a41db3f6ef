//! Servers: a database under TPC-H, a Java database under many clients, a request server.

use wastenot_model::Span;
use wastenot_model::workload::{Step, Variate, Waiting};

use super::ArgumentKind::{Count, Time, Variate as Varying};
use super::maker::{Maker, compute, forever, times};
use super::{Arguments, Function, argument};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "db_tpch",
        about: "a database: a query has several stages. In each stage, all workers compute and \
                then wait for each other. The queries follow one after another",
        source: "Lozi et al., EuroSys 2016: a commercial database, TPC-H",
        arguments: &[
            argument("workers", Count(4096), "64", "workers"),
            argument(
                "containers",
                Count(64),
                "1",
                "number of sessions; the workers are divided among them",
            ),
            argument("queries", Count(100_000), "1", "queries"),
            argument("stages", Count(1_000_000), "100", "number of stages in a query"),
            argument(
                "compute",
                Varying,
                "lognormal(8ms, 0.2)",
                "CPU time of a worker in each stage",
            ),
            argument("gap", Time, "0ms", "CPU time of one worker between two queries"),
        ],
        make: db_tpch,
    },
    Function {
        name: "java_h2",
        about: "for each request, a client computes without a lock, then with a lock, and then \
                sleeps; collector and compiler threads run in the background",
        source: "DaCapo h2, as in Lawall's slides on wake_affine_idle",
        arguments: &[
            argument("clients", Count(4096), "128", "clients"),
            argument("requests", Count(1_000_000), "200", "number of requests of each client"),
            argument("compute", Varying, "uniform(0.2ms, 2ms)", "CPU time of a request"),
            argument(
                "locked",
                Time,
                "5us",
                "CPU time for which a client holds the lock in each request",
            ),
            argument("pause", Varying, "uniform(0ms, 1ms)", "sleep after each request"),
            argument(
                "collectors",
                Count(1000),
                "16",
                "number of threads that collect garbage together",
            ),
            argument(
                "compilers",
                Count(1000),
                "4",
                "number of threads that compile from time to time",
            ),
        ],
        make: java_h2,
    },
    Function {
        name: "schbench",
        about: "messengers wake workers; each worker sleeps, computes and answers (schbench). The \
                workers record the mark `request`",
        source: "README of schbench (Mason)",
        arguments: &[
            argument("messengers", Count(100), "1", "messengers"),
            argument("workers", Count(100), "16", "number of workers of each messenger"),
            argument("requests", Count(1_000_000), "200", "number of requests of each worker"),
            argument("think", Varying, "100us", "sleep before and after the worker computes"),
            argument("compute", Varying, "1ms", "CPU time of a request"),
        ],
        make: schbench,
    },
];

fn db_tpch(arguments: &Arguments, maker: &mut Maker) {
    let workers = arguments.count("workers").max(1);
    let (queries, stages) = (arguments.count("queries").max(1), arguments.count("stages").max(1));
    let barrier = maker.barrier(workers, Waiting::Block);
    let stage = [Step::Compute(arguments.variate("compute")), Step::Barrier(barrier)];
    let gap = arguments.time("gap");
    let query = |first: bool| {
        let mut query = times(stages, stage);
        if gap > Span::ZERO {
            query.extend(first.then_some(compute(gap)));
            query.push(Step::Barrier(barrier));
        }
        times(queries, query)
    };
    let containers = arguments.count("containers").clamp(1, workers);
    for container in 0..containers {
        let group = (containers > 1).then(|| maker.session(&format!("container{container}")));
        let members = workers / containers + u32::from(container < workers % containers);
        let first = u32::from(container == 0);
        for (count, first) in [(first, true), (members - first, false)] {
            let worker = maker.kind_with("", query(first), |template| {
                template.group = group.unwrap_or(template.group);
            });
            maker.launch(worker, count);
        }
    }
}

fn java_h2(arguments: &Arguments, maker: &mut Maker) {
    let lock = maker.lock("row", Waiting::Block);
    let request = [
        Step::Compute(arguments.variate("compute")),
        Step::Lock(lock),
        compute(arguments.time("locked")),
        Step::Unlock(lock),
        Step::Sleep(arguments.variate("pause")),
    ];
    let client = maker.kind("", times(arguments.count("requests"), request));
    maker.launch(client, arguments.count("clients").max(1));

    let collectors = arguments.count("collectors");
    if collectors > 0 {
        let barrier = maker.barrier(collectors, Waiting::Block);
        let collect = forever([
            Step::Sleep(Variate::Uniform { from: Span::ms(50), to: Span::ms(150) }),
            Step::Barrier(barrier),
            Step::Compute(Variate::Uniform { from: Span::ms(1), to: Span::ms(3) }),
            Step::Barrier(barrier),
        ]);
        let collector = maker.kind_with("gc", collect, |template| template.awaited = false);
        maker.launch(collector, collectors);
    }
    let compile = forever([
        Step::Sleep(Variate::Exponential { mean: Span::ms(50) }),
        Step::Compute(Variate::Exponential { mean: Span::ms(5) }),
    ]);
    let compiler = maker.kind_with("jit", compile, |template| template.awaited = false);
    maker.launch(compiler, arguments.count("compilers"));
}

fn schbench(arguments: &Arguments, maker: &mut Maker) {
    let (workers, requests) = (arguments.count("workers").max(1), arguments.count("requests"));
    let think = Step::Sleep(arguments.variate("think"));
    let request = maker.mark("request");
    for messenger in 0..arguments.count("messengers").max(1) {
        let work = maker.pipe(&format!("work{messenger}"), None, Waiting::Block);
        let answer = maker.pipe(&format!("answer{messenger}"), None, Waiting::Block);
        let compute = Step::Compute(arguments.variate("compute"));
        let serve = [Step::Get(work), think, compute, think, request, Step::Put(answer)];
        let worker = maker.kind("worker", times(requests, serve));
        maker.launch(worker, workers);
        let mut send = times(workers, [Step::Put(work)]);
        send.extend(times(
            workers.saturating_mul(requests.saturating_sub(1)),
            [Step::Get(answer), Step::Put(work)],
        ));
        let messenger = maker.kind("", send);
        maker.launch(messenger, 1);
    }
}
