//! How fast the simulator is: rows that it puts into a History a second.

use std::time::Instant;

use serde_json::json;
use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Step, Template, Variate, Waiting};
use wastenot_model::{CpuId, Machine, Span, Time, Workload};
use wastenot_sim::{Options, scheduler, simulate};

use crate::error::Error;

/// Tasks of a group.
const GROUP: usize = 32;
/// Simulated time of a first, short run that tells how long the measured one has to be.
const TRIAL: Span = Span::ms(20);

/// Groups of tasks that send messages to each other, until about so many rows are there. JSON: rows,
/// seconds, rows a second.
pub(crate) fn simulate_messaging(
    name: &str,
    cpus: usize,
    tasks: usize,
    rows: u64,
) -> Result<serde_json::Value, Error> {
    let machine = machine(cpus);
    let load = messaging(tasks, cpus);
    let run = |span: Span| -> Result<(usize, f64), Error> {
        let policy = scheduler(name, &[]).map_err(|error| Error::Simulation(error.to_string()))?;
        let options = Options { limit: Time(span.0), ..Options::default() };
        let begin = Instant::now();
        let (_, outcome) = simulate(&machine, &Costs::default(), &load, policy, &options);
        Ok((outcome.rows, begin.elapsed().as_secs_f64()))
    };
    let (trial, _) = run(TRIAL)?;
    let span = Span((TRIAL.0 as f64 * rows as f64 / trial.max(1) as f64) as u64);
    let (rows, seconds) = run(span)?;
    Ok(json!({
        "scheduler": name, "cpus": cpus, "tasks": tasks, "simulated_ns": span.0,
        "rows": rows, "seconds": seconds, "rows_per_second": rows as f64 / seconds,
    }))
}

/// Nodes of eight CPUs, one cache each.
fn machine(cpus: usize) -> Machine {
    let mut machine = Machine::flat(cpus);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let node = Some((n / 8) as u32);
        (cpu.core, cpu.llc, cpu.node, cpu.package) = (Some(n as u32), node, node, node);
    }
    machine
}

/// In each group half as many messages as tasks go round: who gets one works on it and sends it on.
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
