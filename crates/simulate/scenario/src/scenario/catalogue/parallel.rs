//! Programs whose threads work on one problem: the NAS benchmarks as measured in the paper on
//! wasted cores, and the bulk-synchronous and workpile programs of the case studies.

use wastenot_model::Span;
use wastenot_model::workload::{Step, Variate, Waiting};

use super::ArgumentKind::{Count, Time, Variate as Varying, Waiting as How};
use super::maker::{Maker, compute, times};
use super::{Argument, Arguments, Function, argument};

const WASTED_CORES: &str =
    "Lozi et al., The Linux Scheduler: a Decade of Wasted Cores, EuroSys 2016; NAS benchmarks";
const GANG: &str = "Frachtenberg and Etsion, case studies of mis-scheduling";

const THREADS: Argument =
    argument("threads", Count(4096), "16", "number of threads, including the master");
const ROUNDS: Argument =
    argument("rounds", Count(u32::MAX), "100", "number of rounds of each thread");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "ep",
        about: "threads that divide some work equally and never synchronize; random numbers change \
                each part by up to 1 %",
        source: WASTED_CORES,
        arguments: &[THREADS, argument("work", Time, "16s", "CPU time of all threads together")],
        make: |arguments, maker| {
            let threads = arguments.count("threads").max(1);
            let part = Span(arguments.time("work").0 / u64::from(threads));
            maker.team(threads, &[Step::Compute(Variate::around(part, 0.01))]);
        },
    },
    Function {
        name: "spin_pipeline",
        about: "a pipeline of threads, as in the benchmark lu. At every step, thread i waits for \
                thread i-1, and spins on a flag that holds one token. Random numbers change the \
                time of a step by up to 5 %",
        source: WASTED_CORES,
        arguments: &[
            THREADS,
            argument("steps", Count(u32::MAX), "400", "number of steps of each thread"),
            argument(
                "serial",
                Time,
                "0.108ms",
                "part of the step time that does not depend on the number of threads",
            ),
            argument(
                "shared",
                Time,
                "5.87ms",
                "part of the step time that is divided by the number of threads",
            ),
        ],
        make: spin_pipeline,
    },
    Function {
        name: "spin_barrier",
        about: "threads compute, then spin until all threads have arrived",
        source: WASTED_CORES,
        arguments: &[THREADS, ROUNDS, argument("grain", Varying, "1ms", "CPU time of a round")],
        make: |arguments, maker| rounds(arguments, maker, Waiting::Spin),
    },
    Function {
        name: "omp_barrier",
        about: "threads compute, then wait at a barrier as OpenMP does: they spin first and then \
                block",
        source: WASTED_CORES,
        arguments: &[
            THREADS,
            ROUNDS,
            argument("grain", Varying, "1ms +-5%", "CPU time of a round"),
            argument(
                "spin",
                Time,
                "1.1ms",
                "time for which a thread spins before it blocks; libgomp polls 300 000 times",
            ),
            argument(
                "episode",
                Count(u32::MAX),
                "0",
                "number of rounds after which the master works alone for a while; 0: never",
            ),
            argument("serial", Time, "0ms", "CPU time for which the master works alone"),
        ],
        make: omp_barrier,
    },
    Function {
        name: "bsp",
        about: "processes compute and meet at a barrier in every round (bulk synchronous)",
        source: GANG,
        arguments: &[
            argument(
                "processes",
                Count(4096),
                "3",
                "number of processes; on N CPUs, N-1 processes leave one CPU to the system",
            ),
            ROUNDS,
            argument("grain", Varying, "5ms", "CPU time of a round"),
            argument("waiting", How, "spin", "the way in which processes wait at the barrier"),
        ],
        make: |arguments, maker| {
            let processes = arguments.count("processes").max(1);
            let barrier = maker.barrier(processes, arguments.waiting("waiting"));
            let round = [Step::Compute(arguments.variate("grain")), Step::Barrier(barrier)];
            let process = maker.kind("", times(arguments.count("rounds"), round));
            maker.launch(process, processes);
        },
    },
    Function {
        name: "workpile",
        about: "workers take chunks of work from a pile. The task NAME-pile ends when the workers \
                have finished the last chunk",
        source: GANG,
        arguments: &[
            argument("workers", Count(4096), "4", "workers"),
            argument("chunks", Count(1_000_000), "400", "number of chunks on the pile"),
            argument("chunk", Varying, "10ms", "CPU time of a chunk"),
        ],
        make: workpile,
    },
];

fn spin_pipeline(arguments: &Arguments, maker: &mut Maker) {
    let threads = arguments.count("threads").max(1);
    let step = arguments.time("serial") + Span(arguments.time("shared").0 / u64::from(threads));
    let mut before = None;
    let mut workers = Vec::new();
    let mut master = Vec::new();
    for thread in 0..threads {
        // A thread sets the flag after it has seen the flag's last setting, and the last thread
        // sets none.
        let last = thread + 1 == threads;
        let flag = (!last).then(|| maker.pipe(&format!("flag{thread}"), Some(1), Waiting::Spin));
        let wait = before.map(Step::Get);
        let steps = wait
            .into_iter()
            .chain([Step::Compute(Variate::around(step, 0.05))])
            .chain(flag.map(Step::Put));
        let work = times(arguments.count("steps"), steps);
        match thread {
            0 => master = work,
            _ => workers.push(Step::Fork(maker.kind("", work))),
        }
        before = flag;
    }
    workers.extend(master);
    let master = maker.kind("", workers);
    maker.launch(master, 1);
}

fn rounds(arguments: &Arguments, maker: &mut Maker, waiting: Waiting) {
    let threads = arguments.count("threads").max(1);
    let barrier = maker.barrier(threads, waiting);
    let grain: Variate = arguments.variate("grain");
    let round = [Step::Compute(grain), Step::Barrier(barrier)];
    maker.team(threads, &times(arguments.count("rounds"), round));
}

/// The master may do serial work after each episode, such as refining the mesh.
fn omp_barrier(arguments: &Arguments, maker: &mut Maker) {
    let (episode, rounds) = (arguments.count("episode"), arguments.count("rounds"));
    let threads = arguments.count("threads").max(1);
    let barrier = maker.barrier(threads, Waiting::SpinThenBlock(arguments.time("spin")));
    let round = [Step::Compute(arguments.variate("grain")), Step::Barrier(barrier)];
    let episodes = rounds.checked_div(episode).unwrap_or(0);
    let program = |alone: Option<Step>| {
        let mut steps = times(episode, round);
        steps.extend(alone.into_iter().chain([Step::Barrier(barrier)]));
        let mut all = times(episodes, steps);
        all.extend(times(rounds - episodes * episode, round));
        all
    };
    let serial = compute(arguments.time("serial"));
    maker.team_of(threads, &program(Some(serial)), &program(None));
}

fn workpile(arguments: &Arguments, maker: &mut Maker) {
    let chunks = arguments.count("chunks");
    let pile = maker.pipe("chunks", None, Waiting::Block);
    maker.fill(pile, chunks);
    let done = maker.pipe("done", None, Waiting::Block);
    let chunk = Step::Compute(arguments.variate("chunk"));
    let work = super::maker::forever([Step::Get(pile), chunk, Step::Put(done)]);
    let worker = maker.kind_with("", work, |template| template.awaited = false);
    maker.launch(worker, arguments.count("workers").max(1));
    let counter = maker.kind("pile", times(chunks, [Step::Get(done)]));
    maker.launch(counter, 1);
}
