//! How fast deadlines are tested and schedules are simulated: jobs per second of global EDF,
//! without overhead and in the machine of each of its designs, and task sets per second of each
//! test.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use cpu_time::{ProcessTime, ThreadTime};
use rayon::prelude::*;
use serde_json::{Value, json};
use wastenot_bounds::verdict::Test;
use wastenot_bounds::{Answer, Budget};
use wastenot_model::Time;
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_scenario::task_sets::Recipe;
use wastenot_sim::edf::{
    Design, Done, Mailboxes, Profile, Real, Rule, Rules, Server, Tie, gedf, run, synchronous,
};
use wastenot_sim::{End, Options};

use crate::error::Error;
use crate::simulate::machine;

/// `count` random sets of tasks that together use `utilization` CPUs: one set per line, of
/// PERIOD:WORK in us. Deadlines equal periods, which are between 10 and 100 ms.
pub(crate) fn sets(tasks: usize, utilization: &str, count: u64) -> Result<String, Error> {
    let total = utilization.parse().map_err(|_| Error::Unfit("a utilization"))?;
    let recipe = Recipe {
        tasks,
        total: Some(total),
        utilizations: "randfixedsum".parse()?,
        periods: "log-uniform 10-100 ms by 1 us".parse()?,
        deadlines: "implicit".parse()?,
        working_sets: "4-512 KiB".parse()?,
    };
    let maker = recipe.maker()?;
    let lines: Result<Vec<String>, Error> = (0..count)
        .map(|number| {
            let made = maker.make(1, number)?;
            let task = |it: &Sporadic| format!("{}:{}", it.period_us, it.wcet_us);
            Ok(made.tasks.iter().map(task).collect::<Vec<_>>().join(","))
        })
        .collect();
    Ok(lines?.join("\n"))
}

fn read(path: &Path) -> Result<Vec<TaskSet>, Error> {
    let text = std::fs::read_to_string(path)?;
    let task = |text: &str| {
        let (period, work) = text.split_once(':')?;
        Some(Sporadic::implicit(work.parse().ok()?, period.parse().ok()?))
    };
    let set = |line: &str| {
        let tasks: Option<Vec<Sporadic>> = line.split(',').map(task).collect();
        TaskSet::new(tasks?).ok()
    };
    text.lines().map(set).collect::<Option<_>>().ok_or(Error::Unfit("a line of PERIOD:WORK in us"))
}

/// The outcome of the jobs of a set.
#[derive(Clone, Copy, Default, PartialEq)]
struct Jobs {
    jobs: u64,
    late: u64,
    late_sum_us: u64,
    late_max_us: u64,
}

impl Jobs {
    fn count(&mut self, done: Done) {
        let late_us = done.at_us.saturating_sub(done.deadline_us);
        self.jobs += 1;
        self.late += u64::from(late_us > 0);
        self.late_sum_us += late_us;
        self.late_max_us = self.late_max_us.max(late_us);
    }
}

/// The jobs of all sets: by set, and how many per second of CPU time.
fn all_jobs(
    path: &Path,
    mut one: impl FnMut(&TaskSet) -> Result<Jobs, Error>,
) -> Result<Value, Error> {
    let sets = read(path)?;
    let cpu = ThreadTime::now();
    let seen: Vec<Jobs> = sets.iter().map(&mut one).collect::<Result<_, _>>()?;
    let cpu_seconds = cpu.elapsed().as_secs_f64();
    let jobs: u64 = seen.iter().map(|it| it.jobs).sum();
    let of = |it: &Jobs| json!([it.jobs, it.late, it.late_sum_us, it.late_max_us]);
    Ok(json!({
        "jobs": jobs, "cpu_seconds": cpu_seconds, "jobs_per_second": jobs as f64 / cpu_seconds,
        "seen": seen.iter().map(of).collect::<Vec<_>>(),
    }))
}

/// Global EDF without overhead. Tie-breaking: among equal deadlines the running job goes first, as
/// in SchedCAT, which does not define the order of waiting jobs. The result includes the sets,
/// counted from 0, in which tie-breaking changes the outcome of jobs.
pub(crate) fn plain(cpus: usize, ms: u64, path: &Path) -> Result<Value, Error> {
    let jobs = |tasks: &TaskSet, tie| {
        let mut seen = Jobs::default();
        let (cpus, rule) = (cpus as u32, Rule::edf(tie));
        gedf(tasks, cpus, rule, ms * 1_000, synchronous(tasks), |done| {
            seen.count(done);
            ControlFlow::Continue(())
        });
        seen
    };
    let mut answer = all_jobs(path, |tasks| Ok(jobs(tasks, Tie::Running)))?;
    let matters = |tasks: &TaskSet| {
        let running = jobs(tasks, Tie::Running);
        [Tie::First, Tie::Last].into_iter().any(|tie| jobs(tasks, tie) != running)
    };
    let sets = read(path)?;
    let ties = sets.iter().enumerate().filter(|(_, tasks)| matters(tasks)).map(|(n, _)| n);
    answer["ties_matter"] = ties.collect::<Vec<usize>>().into();
    Ok(answer)
}

/// The same with one of its designs, where every operation takes time.
pub(crate) fn design(name: &str, cpus: usize, ms: u64, path: &Path) -> Result<Value, Error> {
    let design = match name {
        "gsn-edf" => Design::Coarse { master: false },
        "sched-deadline" => {
            Design::PerCpu { master: false, rules: Rules::Heap, server: Some(Server::AMPLE) }
        }
        "gedf-mp" => Design::Messages(Mailboxes::Shared(8)),
        _ => return Err(Error::Unfit("gsn-edf, sched-deadline or gedf-mp")),
    };
    let real = Real { design, rule: Rule::default(), profile: Profile::X7550_ASSUMED };
    let options = Options { limit: Time(ms * 1_000_000), ..Options::default() };
    let machine = machine(cpus);
    let mut rows = 0;
    let mut answer = all_jobs(path, |tasks| {
        let mut seen = Jobs::default();
        let ran = run(&machine, tasks, &real, &options, synchronous(tasks));
        ran.done.into_iter().for_each(|done| seen.count(done));
        rows += ran.outcome.rows;
        match ran.outcome.end {
            End::Limit => Ok(seen),
            _ => Err(Error::Unfit("sets that run on for so long")),
        }
    })?;
    answer["rows"] = rows.into();
    Ok(answer)
}

/// One test of every set, several at a time. The answers have one character per set: 1 accepts, 0
/// does not, ? exceeded its budget.
pub(crate) fn tests(key: &str, cpus: usize, threads: usize, path: &Path) -> Result<Value, Error> {
    let found = Test::ALL.into_iter().find(|test| test.key() == key);
    let test = found.ok_or(Error::Unfit("the name of a test"))?;
    let sets = read(path)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let ask = |tasks: &TaskSet| match test.ask(tasks, cpus as u32, &mut Budget::USUAL.clone()) {
        Answer::Accept => '1',
        Answer::Unknown => '?',
        Answer::Reject | Answer::NotApplicable(_) => '0',
    };
    pool.broadcast(|_| ()); // all threads exist
    let (begin, cpu) = (Instant::now(), ProcessTime::now());
    let answers: String = pool.install(|| sets.par_iter().map(ask).collect());
    let (seconds, cpu_seconds) = (begin.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    Ok(json!({
        "test": key, "sets": sets.len(), "threads": threads, "answers": answers,
        "seconds": seconds, "cpu_seconds": cpu_seconds,
    }))
}
