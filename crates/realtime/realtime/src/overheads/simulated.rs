//! Tables of overheads out of the simulated machine.

use rayon::prelude::*;
use wastenot_model::machine::Profile;
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_model::{Machine, Span, Time};
use wastenot_scenario::overheads::{KINDS, Overhead as Row, Table};
use wastenot_scenario::task_sets::Recipe;
use wastenot_sim::edf::{Real, Rule, run};
use wastenot_sim::{Options, Overhead, Seen};

use crate::Implementation;

/// A machine in which overheads are looked for.
#[derive(Clone, Debug)]
pub struct Simulated<'m> {
    /// Who decides, where.
    pub implementation: Implementation,
    /// All its CPUs, with those that run no task.
    pub machine: &'m Machine,
    /// What everything takes.
    pub profile: Profile,
    /// For how long each load runs.
    pub length: Span,
    /// Another seed, other sets.
    pub seed: u64,
}

/// What tasks do while overheads are looked for.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// All tasks are alike, with a period of 20 ms, so that jobs end together, too; else
    /// log-uniform 10-100 ms and randfixedsum.
    alike: bool,
    /// All begin together and come as often as they may; else up to a period later.
    together: bool,
    /// How much they use of the CPUs that run tasks.
    per_cent: u32,
}

/// Averages are those of the last, maxima those of all.
const LOADS: [Load; 3] = [
    Load { alike: true, together: true, per_cent: 50 },
    Load { alike: false, together: true, per_cent: 90 },
    Load { alike: false, together: false, per_cent: 50 },
];
/// The period of tasks that are alike.
const PERIOD_US: u64 = 20_000;
/// No task uses more of a CPU, however few there are.
const MOST_PER_CENT: u32 = 90;

impl Simulated<'_> {
    /// What was seen with each of these numbers of tasks, in the order of [`KINDS`]. A kind that
    /// was seen with some of them only has a row for all: with few tasks nothing may have needed
    /// it, and it takes no less if something does. What the machine does not have, the tick and
    /// caches, is not in it.
    ///
    /// # Errors
    /// There are no sets of so many tasks.
    pub fn table(&self, counts: &[u32]) -> Result<Table, wastenot_scenario::Error> {
        let rows: Vec<Vec<Row>> =
            counts.par_iter().map(|&count| self.rows(count)).collect::<Result<_, _>>()?;
        let mut rows: Vec<Row> = rows.into_iter().flatten().collect();
        self.complete(&mut rows, counts);
        rows.sort_by_key(|row| (KINDS.iter().position(|kind| *kind == row.kind), row.at));
        let implementation = Some(self.implementation.name().to_owned());
        Ok(Table { implementation, cpus: Some(self.machine.len() as u32), rows })
    }

    /// What was not seen with so many tasks is what it was with the next number: more tasks never
    /// cost less. An interrupt that was never seen takes at least as long as it is on its way.
    fn complete(&self, rows: &mut Vec<Row>, counts: &[u32]) {
        for kind in KINDS {
            let seen: Vec<Row> = rows.iter().filter(|row| row.kind == kind).copied().collect();
            for at in counts.iter().map(|&count| Some(u64::from(count))) {
                if seen.iter().any(|row| row.at == at) {
                    continue;
                }
                let more = seen.iter().filter(|row| row.at > at).min_by_key(|row| row.at);
                let nearest = more.or(seen.iter().max_by_key(|row| row.at)).copied();
                let ns = self.profile.ipi.0;
                let ipi = Row { kind, at, max_ns: ns, average_ns: Some(ns) };
                let never = (kind == "ipi" && self.machine.len() > 1).then_some(ipi);
                rows.extend(nearest.or(never).map(|row| Row { at, ..row }));
            }
        }
    }

    fn rows(&self, count: u32) -> Result<Vec<Row>, wastenot_scenario::Error> {
        let mut most = [Seen::default(); Overhead::ALL.len()];
        let mut usual = most;
        for load in LOADS {
            usual = self.seen(load, count)?;
            most.iter_mut().zip(usual).for_each(|(most, seen)| most.merge(seen));
        }
        let row = |kind, max: Span, average: Span| Row {
            kind,
            at: Some(count.into()),
            max_ns: max.0,
            average_ns: Some(average.0.min(max.0)),
        };
        let seen = Overhead::ALL.map(|kind| {
            let [most, usual] = [&most, &usual].map(|all| all[kind as usize]);
            (most.count > 0).then(|| row(named(kind), most.max, usual.mean()))
        });
        let switch = row("switch", self.profile.switch, self.profile.switch);
        Ok(seen.into_iter().flatten().chain([switch]).collect())
    }

    /// What a load shows.
    fn seen(
        &self,
        load: Load,
        count: u32,
    ) -> Result<[Seen; Overhead::ALL.len()], wastenot_scenario::Error> {
        let tasks = self.tasks(load, count)?;
        let (implementation, profile) = (self.implementation, self.profile);
        let real = Real { design: implementation.design(), rule: Rule::default(), profile };
        let options = Options { limit: Time(self.length.0), ..Options::default() };
        let mut random: Vec<Random> =
            (0..count).map(|task| Random::stream(self.seed, 1, task.into())).collect();
        let release = |task: u32, last: Option<u64>| {
            let (random, period) = (&mut random[task as usize], tasks[task as usize].period_us);
            let late = if load.together { 0 } else { random.below(period) };
            last.map_or(late, |last| last + period + late)
        };
        Ok(run(self.machine, &tasks, &real, &options, release).overheads.seen)
    }

    fn tasks(&self, load: Load, count: u32) -> Result<TaskSet, wastenot_scenario::Error> {
        let cpus = self.machine.len() as u32 - self.implementation.dedicated();
        let per_cent = (load.per_cent * cpus).min(MOST_PER_CENT * count);
        if load.alike {
            let wcet_us = PERIOD_US * u64::from(per_cent) / 100 / u64::from(count);
            let task = Sporadic::implicit(wcet_us.max(1), PERIOD_US);
            return Ok(TaskSet::new(vec![task; count as usize]).expect("a task set"));
        }
        let recipe = Recipe {
            tasks: count as usize,
            total: Some(f64::from(per_cent) / 100.0),
            utilizations: "randfixedsum".parse()?,
            periods: "log-uniform 10-100 ms".parse()?,
            deadlines: "implicit".parse()?,
            working_sets: "4-512 KiB".parse()?,
        };
        Ok(recipe.maker()?.make(self.seed, 0)?.tasks)
    }
}

/// Its name in tables.
fn named(kind: Overhead) -> &'static str {
    match kind {
        Overhead::Schedule => "schedule",
        Overhead::Release => "release",
        Overhead::SendResched => "ipi",
        Overhead::ReleaseLatency => "latency",
        Overhead::RequestLatency => "request",
        Overhead::Handler => "handler",
    }
}
