//! The speed and memory of the simulator: History rows per second, jobs of periodic tasks per
//! second, and bytes per task and per CPU.

use std::time::Instant;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template, Variate, Waiting};
use wastenot_model::{CpuId, Machine, Span, Time, Workload};
use wastenot_sim::{End, Options, Outcome, scheduler, simulate};

use crate::error::Error;

/// Tasks in a group.
const GROUP: usize = 32;
/// Simulated time of a first, short run that determines the length of the measured one.
const TRIAL: Span = Span::ms(20);

/// Groups of tasks that send messages to each other, until there are about `rows` rows. JSON: rows,
/// seconds, rows per second of CPU time.
pub(crate) fn messages(name: &str, cpus: usize, tasks: usize, rows: u64) -> Result<Value, Error> {
    let machine = machine(cpus);
    let load = messaging(tasks, cpus);
    let trial = timed(name, &machine, &load, TRIAL)?.outcome.rows;
    let span = Span((TRIAL.0 as f64 * rows as f64 / trial.max(1) as f64) as u64);
    let run = timed(name, &machine, &load, span)?;
    let rows = run.outcome.rows;
    Ok(json!({
        "scheduler": name, "cpus": cpus, "tasks": tasks, "simulated_ns": span.0, "rows": rows,
        "seconds": run.seconds, "cpu_seconds": run.cpu_seconds,
        "rows_per_second": rows as f64 / run.cpu_seconds,
    }))
}

/// Tasks that work for a while once a period, `PERIOD:WORK` in us each, on CPUs with unknown
/// topology. JSON: jobs done in `ms` simulated ms, seconds, jobs per second of CPU time.
pub(crate) fn periodic(name: &str, cpus: usize, ms: u64, tasks: &str) -> Result<Value, Error> {
    let mut load = Workload::new();
    let mut jobs = 0;
    for (n, task) in tasks.split(',').enumerate() {
        let numbers =
            task.split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let Some((period, work)) = numbers.filter(|&(period, _): &(u64, u64)| period > 0) else {
            return Err(Error::Unfit("a list of PERIOD:WORK in us"));
        };
        let count = ms * 1000 / period;
        let steps = vec![
            Step::Loop(Some(u32::try_from(count).map_err(|_| Error::Unfit("so few jobs"))?.max(1))),
            Step::Beat(Span::us(period)),
            Step::Compute(Variate::Fixed(Span::us(work))),
            Step::End { of: 0 },
        ];
        let task = load.template(template("periodic", steps));
        load.launch(task, CpuId((n % cpus) as u16));
        jobs += count.max(1);
    }
    let run = timed(name, &Machine::flat(cpus), &load, Span::ms(2 * ms))?;
    if run.outcome.end != End::Done {
        return Err(Error::Unfit("a set of tasks that can be done in time"));
    }
    Ok(json!({
        "scheduler": name, "cpus": cpus, "jobs": jobs, "rows": run.outcome.rows,
        "seconds": run.seconds, "cpu_seconds": run.cpu_seconds,
        "jobs_per_second": jobs as f64 / run.cpu_seconds,
    }))
}

/// The most memory that a run takes in addition to its machine and workload, with `tasks` tasks
/// that all exist at once. JSON: bytes, without those of the rows.
pub(crate) fn memory(name: &str, cpus: usize, tasks: usize) -> Result<Value, Error> {
    const ROW: u64 = 24;
    let machine = machine(cpus);
    let mut load = Workload::new();
    let steps =
        [Step::Compute(Variate::Fixed(Span::us(5))), Step::Sleep(Variate::Fixed(Span::ms(1)))];
    let task = load.template(template("sleeper", steps.to_vec()));
    (0..tasks).for_each(|n| load.launch(task, CpuId((n % cpus) as u16)));
    std::fs::write("/proc/self/clear_refs", "5")?; // the peak counts from here
    let before = status("VmRSS:")?;
    let rows = timed(name, &machine, &load, Span::s(1))?.outcome.rows as u64;
    let bytes = status("VmHWM:")?.saturating_sub(before + rows * ROW);
    Ok(json!({ "scheduler": name, "cpus": cpus, "tasks": tasks, "rows": rows, "bytes": bytes }))
}

/// A line of /proc/self/status, in bytes.
fn status(key: &str) -> Result<u64, Error> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or(Error::Unfit("a kernel that tells memory"))
}

struct Timed {
    outcome: Outcome,
    seconds: f64,
    cpu_seconds: f64,
}

fn timed(name: &str, machine: &Machine, load: &Workload, span: Span) -> Result<Timed, Error> {
    let policy = scheduler(name, &[]).map_err(|error| Error::Simulation(error.to_string()))?;
    let options = Options { limit: Time(span.0), ..Options::default() };
    let (begin, cpu) = (Instant::now(), ThreadTime::now());
    let (_history, outcome) = simulate(machine, &Costs::default(), load, policy, &options);
    let (seconds, cpu_seconds) = (begin.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    Ok(Timed { outcome, seconds, cpu_seconds })
}

/// Nodes of eight CPUs, one cache each.
pub(crate) fn machine(cpus: usize) -> Machine {
    let mut machine = Machine::flat(cpus);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let node = Some((n / 8) as u32);
        (cpu.core, cpu.llc, cpu.node, cpu.package) = (Some(n as u32), node, node, node);
    }
    machine
}

/// In each group half as many messages as tasks circulate: a task that receives one works on it and
/// sends it on.
fn messaging(tasks: usize, cpus: usize) -> Workload {
    let mut load = Workload::new();
    for first in (0..tasks).step_by(GROUP) {
        let members = (tasks - first).min(GROUP);
        let boxes: Vec<_> = (0..members)
            .map(|n| {
                let id = load.pipe(&format!("box{}", first + n), None, Waiting::Block);
                load.pipes[id.index()].tokens = u32::from(n % 2 == 0);
                id
            })
            .collect();
        for n in 0..members {
            let steps = vec![
                Step::Loop(None),
                Step::Get(boxes[n]),
                Step::Compute(Variate::around(Span::us(5), 0.5)),
                Step::Put(boxes[(n + 1) % members]),
                Step::End { of: 0 },
            ];
            let task = load.template(template("actor", steps));
            load.launch(task, CpuId(((first + n) % cpus) as u16));
        }
    }
    load
}

fn template(name: &str, steps: Vec<Step>) -> Template {
    Template::new(name, Program::new(steps).expect("steps that nest"))
}
