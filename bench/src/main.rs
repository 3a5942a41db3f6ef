//! `wastenot-bench`: what the benchmarks need in addition to `wastenot` itself.
//!
//! ```text
//! wastenot-bench repeat IN OUT EVENTS   a trace.dat v7, over and over until it holds EVENTS
//! wastenot-bench count FILE             records in a trace.dat v7, samples in a perf.data
//! wastenot-bench stages FILE RUNS       JSON: seconds of each stage of read + check, one thread
//! wastenot-bench looks ROUNDS           JSON: ns of a look of `watch` at no CPU, and at all
//! wastenot-bench switches RATE SECONDS  threads that sleep and wake, RATE switches per second
//! wastenot-bench simulate SCHEDULER CPUS TASKS ROWS   JSON: rows a second of the simulator
//! wastenot-bench periodic SCHEDULER CPUS MS PERIOD:WORK,...   JSON: jobs a second, times in us
//! wastenot-bench memory SCHEDULER CPUS TASKS   JSON: bytes that a simulation takes
//! wastenot-bench sets TASKS UTILIZATION COUNT   random task sets, a line each: PERIOD:WORK,...
//! wastenot-bench gedf CPUS MS SETS      JSON: jobs per second of global EDF, no overhead
//! wastenot-bench design NAME CPUS MS SETS   JSON: the same by a design, in a machine
//! wastenot-bench tests TEST CPUS THREADS SETS   JSON: seconds that a test takes for all sets
//! wastenot-bench attach FILE            the BPF programs of an object, until stdin ends
//! ```

mod dat;
mod error;
mod perf;
mod real_time;
mod repeat;
mod simulate;
mod stages;

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use error::Error;
use libbpf_rs::{Link, ObjectBuilder};
use wastenot_model::CpuId;
use wastenot_record::watch;

const USAGE: &str = "wastenot-bench repeat IN OUT EVENTS | count FILE | stages FILE RUNS \
     | looks ROUNDS | switches RATE SECONDS | simulate SCHEDULER CPUS TASKS ROWS \
     | periodic SCHEDULER CPUS MS PERIOD:WORK,... | memory SCHEDULER CPUS TASKS \
     | sets TASKS UTILIZATION COUNT | gedf CPUS MS SETS | design NAME CPUS MS SETS \
     | tests TEST CPUS THREADS SETS | attach FILE";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = run(&words).and_then(|answer| Ok(writeln!(io::stdout(), "{answer}")?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "wastenot-bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[&str]) -> Result<String, Error> {
    match words {
        ["repeat", from, to, events] => repeat::repeat(from.as_ref(), to.as_ref(), number(events)?),
        ["count", file] => Ok(count(file.as_ref())?.to_string()),
        ["stages", file, runs] => Ok(stages::stages(file.as_ref(), number(runs)?)?.to_string()),
        ["looks", rounds] => looks(number(rounds)?),
        ["switches", rate, seconds] => Ok(switches(number(rate)?, number(seconds)?)),
        ["simulate", name, cpus, tasks, rows] => {
            let (cpus, tasks) = (cpus_of(cpus)?, number(tasks)? as usize);
            Ok(simulate::messages(name, cpus, tasks, number(rows)?)?.to_string())
        }
        ["periodic", name, cpus, ms, tasks] => {
            Ok(simulate::periodic(name, cpus_of(cpus)?, number(ms)?, tasks)?.to_string())
        }
        ["memory", name, cpus, tasks] => {
            let tasks = number(tasks)? as usize;
            Ok(simulate::memory(name, cpus_of(cpus)?, tasks)?.to_string())
        }
        ["sets", tasks, total, count] => {
            real_time::sets(number(tasks)? as usize, total, number(count)?)
        }
        ["gedf", cpus, ms, sets] => {
            Ok(real_time::plain(cpus_of(cpus)?, number(ms)?, sets.as_ref())?.to_string())
        }
        ["design", name, cpus, ms, sets] => {
            let (cpus, ms) = (cpus_of(cpus)?, number(ms)?);
            Ok(real_time::design(name, cpus, ms, sets.as_ref())?.to_string())
        }
        ["tests", test, cpus, threads, sets] => {
            let (cpus, threads) = (cpus_of(cpus)?, number(threads)? as usize);
            Ok(real_time::tests(test, cpus, threads, sets.as_ref())?.to_string())
        }
        ["attach", file] => attach(file.as_ref()),
        _ => Err(Error::Usage(USAGE)),
    }
}

/// Each waking causes two switches: from the idle task, and back.
fn switches(rate: u64, seconds: u64) -> String {
    const THREADS: u64 = 20;
    let wakings = rate * seconds / 2 / THREADS;
    let pause = Duration::from_secs(seconds) / u32::try_from(wakings.max(1)).unwrap_or(u32::MAX);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS as u32 {
            scope.spawn(move || {
                // In lockstep they would all be queued at once.
                let begun = begun + pause * thread / THREADS as u32;
                for waking in 1..=wakings {
                    let due = pause * waking as u32;
                    std::thread::sleep((begun + due).saturating_duration_since(Instant::now()));
                }
            });
        }
    });
    format!("{} wakings", wakings * THREADS)
}

/// Prints `attached` once they are.
fn attach(object: &Path) -> Result<String, Error> {
    let object = ObjectBuilder::default().open_file(object)?.load()?;
    let links: Result<Vec<Link>, _> = object.progs_mut().map(|program| program.attach()).collect();
    let links = links?;
    writeln!(io::stdout(), "attached")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(format!("detached {}", links.len()))
}

fn looks(rounds: u64) -> Result<String, Error> {
    let pairs: Result<Vec<[u64; 2]>, _> = (0..rounds).map(|_| watch::look_ns()).collect();
    let pairs = pairs.map_err(|error| Error::Watch(error.to_string()))?;
    Ok(serde_json::json!({ "look_ns": pairs }).to_string())
}

fn number(word: &str) -> Result<u64, Error> {
    word.parse().map_err(|_| Error::Usage(USAGE))
}

fn cpus_of(word: &str) -> Result<usize, Error> {
    let cpus = number(word)? as usize;
    if (1..=CpuId::LIMIT).contains(&cpus) { Ok(cpus) } else { Err(Error::Usage(USAGE)) }
}

fn count(path: &Path) -> Result<u64, Error> {
    let bytes = fs::read(path)?;
    if perf::is_perf(&bytes) {
        return perf::count(&bytes);
    }
    let dat = dat::Dat::parse(bytes)?;
    let mut count = 0;
    for lane in &dat.lanes {
        dat::each_record(&dat.pages(lane)?, dat.page_size, |_| count += 1)?;
    }
    Ok(count)
}
