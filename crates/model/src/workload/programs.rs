//! The programs of a simulated History, as annexes of it: what its tasks would do under any other
//! scheduler, too, in whatever order they came to locks and pipes.
//!
//! A simulator writes them; the computation of what no scheduler could beat reads them.

use std::collections::BTreeMap;

use super::natures::number;
use super::{
    AffinityId, Barrier, BarrierId, ConditionId, Lock, LockId, MarkId, Pipe, PipeId, Program,
    Random, Step, Template, TemplateId, Variate, Waiting,
};
use crate::report::Unit;
use crate::{Annex, Column, CpuSet, History, Span, Table, Time, Value, Workload};

/// The most steps that are written: a workload that was itself extracted from a History has one
/// step for each wakeup, and adds nothing to its events.
const STEPS: usize = 1 << 14;
/// Most tasks.
const TASKS: usize = 1 << 16;

/// The programs of tasks, and what they share.
#[derive(Clone, Debug, PartialEq)]
pub struct Programs {
    /// The seed of the random numbers that tasks draw.
    pub seed: u64,
    /// The template of each task, by tid, in the order of creation; and the launch time, unless the
    /// task was forked.
    pub kinds: BTreeMap<i32, (TemplateId, Option<Time>)>,
    /// Programs and affinities of templates, locks, barriers, pipes, conditions and affinities;
    /// names and the rest are elsewhere in the History.
    pub workload: Workload,
}

impl Random {
    /// The random stream of the `ordinal`th task of a template, counted from 1.
    pub fn of_task(seed: u64, template: TemplateId, ordinal: u32) -> Random {
        /// The purpose of the streams of tasks.
        const TASKS: u32 = 1;
        Random::stream(seed, TASKS, u64::from(template.0) << 32 | u64::from(ordinal))
    }
}

impl Programs {
    /// As annexes, unless they are too large. `kinds` are the tasks, in the order of creation, and
    /// whether they were forked.
    pub fn annexes(
        workload: &Workload,
        seed: u64,
        kinds: &[(i32, TemplateId, bool)],
    ) -> Vec<Annex> {
        let steps: usize = workload.templates.iter().map(|it| it.program.steps().len()).sum();
        if steps > STEPS || kinds.len() > TASKS {
            return Vec::new();
        }
        let mut all = vec![steps_table(workload), shared_table(workload)];
        let columns = [
            Column::new("tid", "tid", Unit::None),
            Column::new("template", "template", Unit::None),
            Column::new("launched_ns", "launched", Unit::At),
        ];
        let mut table = Table::new("program_of", "Program of each task", columns);
        let mut launches = workload.launches.iter();
        for &(tid, template, forked) in kinds {
            let launch = if forked { None } else { launches.next() };
            let at = launch.map(|launch| launch.at);
            table.push(vec![tid.into(), template.0.into(), at.into()]);
        }
        all.push(table);
        let title = "Seed of the random numbers of tasks";
        let mut table = Table::new("draws", title, [Column::new("seed", "seed", Unit::None)]);
        table.push(vec![seed.to_string().into()]);
        all.push(table);
        all.into_iter().map(|table| Annex { table }).collect()
    }

    /// The programs in `history`; `None` if any of it makes no sense: files may be damaged.
    pub fn told(history: &History) -> Option<Programs> {
        let seed = history.annex_cells("draws", ["seed"]).next()?[0].text()?.parse().ok()?;
        let mut workload = Workload::new();
        for row in
            history.annex_cells("shared", ["what", "size", "tokens", "waiting", "span_ns", "cpus"])
        {
            share(&mut workload, row)?;
        }
        let mut programs: Vec<(Vec<Step>, Option<CpuSet>)> = Vec::new();
        let columns = ["template", "step", "of", "variate", "a", "b", "cpus"];
        for row in history.annex_cells("programs", columns) {
            let template = row[0].int::<u32>()? as usize;
            match row[1].text()? {
                "template" if template == programs.len() => {
                    let cpus = row[6].text().map(CpuSet::parse);
                    programs.push((Vec::new(), cpus.map_or(Some(None), |it| it.map(Some))?));
                }
                name => {
                    let steps = &mut programs.get_mut(template)?.0;
                    steps.push(step_of(name, row[2].int(), variate_of(&row[3..6]))?);
                }
            }
        }
        let count = programs.len();
        for (steps, affinity) in programs {
            steps.iter().all(|&step| is_known(&workload, count, step)).then_some(())?;
            let program = Program::new(steps).ok()?;
            workload.template(Template { affinity, ..Template::new("", program) });
        }
        let kinds = history.annex_cells("program_of", ["tid", "template", "launched_ns"]);
        let kinds = kinds.map(|row| {
            let template = row[1].int().filter(|&it| (it as usize) < count)?;
            Some((row[0].int()?, (TemplateId(template), row[2].int().map(Time))))
        });
        Some(Programs { seed, kinds: kinds.collect::<Option<_>>()?, workload })
    }
}

fn steps_table(workload: &Workload) -> Table {
    let columns = [
        Column::new("template", "template", Unit::None),
        Column::new("step", "step", Unit::None),
        Column::new("of", "of", Unit::None),
        Column::new("variate", "time", Unit::None),
        Column::new("a", "first", Unit::None),
        Column::new("b", "second", Unit::None),
        Column::new("cpus", "CPUs", Unit::None),
    ];
    let mut table = Table::new("programs", "Programs of tasks", columns);
    for (n, template) in workload.templates.iter().enumerate() {
        let cpus = template.affinity.as_ref().map(CpuSet::to_string);
        let (none, at) = (Value::Unknown, Value::from(n as u32));
        let begin = vec![at.clone(), "template".into(), none.clone(), none.clone(), none.clone()];
        table.push([begin, vec![none.clone(), cpus.into()]].concat());
        for step in template.program.steps() {
            let (name, of, variate) = told(*step);
            let [kind, a, b] = variate.map_or([none.clone(), none.clone(), none.clone()], cells);
            table.push(vec![at.clone(), name.into(), of.into(), kind, a, b, none.clone()]);
        }
    }
    table
}

/// A step's name, its number, and how long it takes.
fn told(step: Step) -> (&'static str, Option<u32>, Option<Variate>) {
    let span = |span: Span| Some(Variate::Fixed(span));
    match step {
        Step::Compute(variate) => ("compute", None, Some(variate)),
        Step::Sleep(variate) => ("sleep", None, Some(variate)),
        Step::Beat(period) => ("beat", None, span(period)),
        Step::Lock(id) => ("lock", Some(id.0), None),
        Step::Unlock(id) => ("unlock", Some(id.0), None),
        Step::Barrier(id) => ("barrier", Some(id.0), None),
        Step::Put(id) => ("put", Some(id.0), None),
        Step::Get(id) => ("get", Some(id.0), None),
        Step::Await(id) => ("await", Some(id.0), None),
        Step::Signal(id) => ("signal", Some(id.0), None),
        Step::Broadcast(id) => ("broadcast", Some(id.0), None),
        Step::Fork(id) => ("fork", Some(id.0), None),
        // A simulator runs no programs of users.
        Step::Exec | Step::Run(_) => ("exec", None, None),
        Step::WaitOne => ("wait", None, None),
        Step::WaitAll => ("wait all", None, None),
        Step::Yield => ("yield", None, None),
        // Neither changes the work to be done.
        Step::Nice(_) => ("yield", None, None),
        Step::Mark(id) => ("mark", Some(id.0), None),
        Step::Affinity(id) => ("cpus", Some(id.0), None),
        Step::Loop(rounds) => ("loop", rounds, None),
        Step::UnlessLate(limit) => ("unless late", None, span(limit)),
        Step::End { .. } => ("end", None, None),
    }
}

/// The step that [`told`] describes so.
fn step_of(name: &str, of: Option<u32>, variate: Option<Variate>) -> Option<Step> {
    let fixed = || match variate {
        Some(Variate::Fixed(span)) => Some(span),
        _ => None,
    };
    Some(match name {
        "compute" => Step::Compute(variate?),
        "sleep" => Step::Sleep(variate?),
        "beat" => Step::Beat(fixed()?),
        "lock" => Step::Lock(LockId(of?)),
        "unlock" => Step::Unlock(LockId(of?)),
        "barrier" => Step::Barrier(BarrierId(of?)),
        "put" => Step::Put(PipeId(of?)),
        "get" => Step::Get(PipeId(of?)),
        "await" => Step::Await(ConditionId(of?)),
        "signal" => Step::Signal(ConditionId(of?)),
        "broadcast" => Step::Broadcast(ConditionId(of?)),
        "fork" => Step::Fork(TemplateId(of?)),
        "exec" => Step::Exec,
        "wait" => Step::WaitOne,
        "wait all" => Step::WaitAll,
        "yield" => Step::Yield,
        "mark" => Step::Mark(MarkId(of?)),
        "cpus" => Step::Affinity(AffinityId(of?)),
        "loop" => Step::Loop(of),
        "unless late" => Step::UnlessLate(fixed()?),
        "end" => Step::End { of: 0 },
        _ => return None,
    })
}

/// Whether the object that `step` refers to exists.
fn is_known(workload: &Workload, templates: usize, step: Step) -> bool {
    match step {
        Step::Lock(id) | Step::Unlock(id) => id.index() < workload.locks.len(),
        Step::Barrier(id) => id.index() < workload.barriers.len(),
        Step::Put(id) | Step::Get(id) => id.index() < workload.pipes.len(),
        Step::Await(id) | Step::Signal(id) | Step::Broadcast(id) => {
            id.index() < workload.conditions.len()
        }
        Step::Fork(id) => id.index() < templates,
        Step::Affinity(id) => id.index() < workload.affinities.len(),
        _ => true,
    }
}

fn cells(variate: Variate) -> [Value; 3] {
    match variate {
        Variate::Fixed(span) => ["fixed".into(), span.into(), Value::Unknown],
        Variate::Uniform { from, to } => ["uniform".into(), from.into(), to.into()],
        Variate::Exponential { mean } => ["exp".into(), mean.into(), Value::Unknown],
        Variate::LogNormal { mean, cv } => ["lognormal".into(), mean.into(), cv.into()],
    }
}

fn variate_of(row: &[&Value]) -> Option<Variate> {
    let (a, b) = (Span(row[1].int()?), row[2]);
    match row[0].text()? {
        "fixed" => Some(Variate::Fixed(a)),
        "uniform" => {
            let to = Span(b.int()?);
            (a <= to).then_some(Variate::Uniform { from: a, to })
        }
        "exp" => Some(Variate::Exponential { mean: a }),
        "lognormal" => {
            let cv = number(b).or_else(|| b.int::<u32>().map(f64::from))?;
            Some(Variate::LogNormal { mean: a, cv })
        }
        _ => None,
    }
}

fn shared_table(workload: &Workload) -> Table {
    let columns = [
        Column::new("what", "kind", Unit::None),
        Column::new("size", "size", Unit::None),
        Column::new("tokens", "tokens", Unit::None),
        Column::new("waiting", "waiting", Unit::None),
        Column::new("span_ns", "spins for", Unit::Ns),
        Column::new("cpus", "CPUs", Unit::None),
    ];
    let mut table = Table::new("shared", "Objects that tasks share", columns);
    let mut row = |what: &str, size: Option<u32>, tokens: u32, waiting: Waiting| {
        let (word, span) = match waiting {
            Waiting::Block => ("block", None),
            Waiting::Spin => ("spin", None),
            Waiting::SpinThenBlock(span) => ("spin then block", Some(span)),
        };
        let span: Value = span.into();
        table.push(vec![
            what.into(),
            size.into(),
            tokens.into(),
            word.into(),
            span,
            Value::Unknown,
        ]);
    };
    workload.locks.iter().for_each(|it| row("lock", None, 0, it.waiting));
    workload.barriers.iter().for_each(|it| row("barrier", Some(it.parties), 0, it.waiting));
    workload.pipes.iter().for_each(|it| row("pipe", it.capacity, it.tokens, it.waiting));
    workload.conditions.iter().for_each(|_| row("condition", None, 0, Waiting::Block));
    for set in &workload.affinities {
        let none = Value::Unknown;
        let cells = [none.clone(), none.clone(), none.clone(), none];
        table.push([vec!["cpus".into()], cells.to_vec(), vec![set.to_string().into()]].concat());
    }
    table
}

fn share(workload: &mut Workload, row: [&Value; 6]) -> Option<()> {
    let (name, size) = (String::new(), row[1].int::<u32>());
    let waiting = || match row[3].text()? {
        "block" => Some(Waiting::Block),
        "spin" => Some(Waiting::Spin),
        "spin then block" => Some(Waiting::SpinThenBlock(Span(row[4].int()?))),
        _ => None,
    };
    match row[0].text()? {
        "lock" => workload.locks.push(Lock { name, waiting: waiting()? }),
        "barrier" => {
            let (parties, waiting) = (size?.max(1), waiting()?);
            workload.barriers.push(Barrier { name, parties, waiting });
        }
        "pipe" => {
            let (tokens, waiting) = (row[2].int()?, waiting()?);
            let (sync, at_once) = (false, false);
            workload.pipes.push(Pipe { name, capacity: size, tokens, waiting, sync, at_once });
        }
        "condition" => drop(workload.condition("")),
        "cpus" => drop(workload.affinity(CpuSet::parse(row[5].text()?)?)),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Launch;
    use crate::{Builder, CpuId, Head, Machine, Sink};

    fn read(annexes: Vec<Annex>) -> Option<Programs> {
        let mut sink = Builder::new(Head::new(Machine::flat(1)));
        annexes.into_iter().for_each(|annex| sink.annex(annex));
        Programs::told(&sink.finish())
    }

    fn some() -> Programs {
        let mut workload = Workload::new();
        let lock = workload.lock("", Waiting::SpinThenBlock(Span::us(3)));
        let barrier = workload.barrier("", 3, Waiting::Spin);
        let pipe = workload.pipe("", Some(4), Waiting::Block);
        workload.pipes[0].sync = false;
        workload.pipes[0].tokens = 2;
        let condition = workload.condition("");
        let set = workload.affinity(CpuSet::first(3));
        let (from, to) = (Span(2), Span(7));
        let steps = vec![
            Step::Loop(Some(3)),
            Step::Compute(Variate::Uniform { from, to }),
            Step::UnlessLate(Span(5)),
            Step::Sleep(Variate::LogNormal { mean: Span(9), cv: 0.5 }),
            Step::End { of: 2 },
            Step::Lock(lock),
            Step::Unlock(lock),
            Step::Barrier(barrier),
            Step::Put(pipe),
            Step::Get(pipe),
            Step::Await(condition),
            Step::Signal(condition),
            Step::Broadcast(condition),
            Step::Affinity(set),
            Step::Beat(Span(8)),
            Step::End { of: 0 },
            Step::Loop(None),
            Step::Fork(TemplateId(1)),
            Step::WaitOne,
            Step::WaitAll,
            Step::Exec,
            Step::Yield,
            Step::Mark(MarkId(4)),
            Step::End { of: 16 },
        ];
        workload.template(Template::new("", Program::new(steps).expect("nested")));
        let last = [Variate::Fixed(Span(4)), Variate::Exponential { mean: Span(6) }];
        let last = Program::new(last.map(Step::Compute).to_vec()).expect("nested");
        let affinity = Some(CpuSet::from_iter([CpuId(2)]));
        workload.template(Template { affinity, ..Template::new("", last) });
        let kinds = [(1000, (TemplateId(0), Some(Time(7)))), (1001, (TemplateId(1), None))];
        let kinds = BTreeMap::from(kinds);
        Programs { seed: u64::MAX, kinds, workload }
    }

    fn annexes() -> Vec<Annex> {
        let Programs { seed, mut workload, .. } = some();
        let (at, template, from) = (Time(7), TemplateId(0), CpuId(0));
        workload.launches.push(Launch { at, template, from });
        let kinds = [(1000, template, false), (1001, TemplateId(1), true)];
        Programs::annexes(&workload, seed, &kinds)
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(annexes()), Some(some()));
        assert_eq!(read(Vec::new()), None);
    }

    #[test]
    fn what_makes_no_sense_is_nothing() {
        for table in 0..4 {
            let count = annexes()[table].table.rows.len();
            for row in 0..count {
                let mut damaged = annexes();
                damaged[table].table.rows[row][0] = Value::Num(0.5);
                damaged[table].table.rows[row].truncate(2);
                assert_eq!(read(damaged), None, "table {table} row {row}");
            }
        }
    }

    #[test]
    fn a_workload_of_a_step_a_wakeup_is_not_told() {
        let mut workload = Workload::new();
        let program = Program::new(vec![Step::Yield; STEPS + 1]).expect("nested");
        workload.template(Template::new("", program));
        assert_eq!(Programs::annexes(&workload, 1, &[]), Vec::new());
    }
}
