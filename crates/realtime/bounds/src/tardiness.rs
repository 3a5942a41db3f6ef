//! By how much jobs may be late where not all deadlines can be met: soft real-time.
//!
//! - Devi, Anderson, "Tardiness bounds under global EDF scheduling on a multiprocessor", Real-Time
//!   Systems 38 (2008).
//! - Erickson, Devi, Baruah, "Improved tardiness bounds for global EDF", ECRTS 2010; Erickson,
//!   Anderson, "Fair lateness scheduling: reducing maximum lateness in G-EDF-like scheduling",
//!   ECRTS 2012: compliant vectors.

use std::cmp::Ordering;

use wastenot_model::sporadic::{Sporadic, TaskSet};

use crate::demand::{compare, total, utilization};
use crate::number::{Budget, Exact, Halt, Interval, Number, decide};

/// How late jobs may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tardiness {
    /// The longest response time of each task in us, rounded up, in the order of the set.
    Responses(Vec<u64>),
    /// It may grow without limit: tasks use more than the CPUs, or one of them more than a CPU.
    Unbounded,
    /// The bound says nothing of such sets: why.
    NotApplicable(&'static str),
}

/// What says whose job goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The deadline: global EDF.
    Deadline,
    /// The deadline less (m - 1) / m of what the job takes: global fair lateness.
    FairLateness,
    /// The same, less a whole number of us: as SchedCAT rounds it, whose bounds can be shorter.
    FairLatenessWhole,
}

/// Whether tardiness is bounded under global EDF at all: if and only if tasks use no more than the
/// CPUs, and none more than one. `None`: what they use is too close to the CPUs, and too many
/// fractions to be added up.
pub fn is_bounded(tasks: &TaskSet, cpus: u32) -> Option<bool> {
    fn fits<N: Number>(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Result<bool, Halt> {
        Ok(!N::whole(cpus.into()).below(&total(tasks, budget)?)?)
    }
    if tasks.iter().any(|task| task.wcet_us > task.period_us) {
        return Some(false);
    }
    let all = |budget: &mut Budget| fits::<Interval>(tasks, cpus, budget);
    decide(&mut Budget::once(), all, |budget| fits::<Exact>(tasks, cpus, budget)).ok()
}

/// Devi and Anderson's bound: T + x + C, with one x for all. Of implicit deadlines.
pub fn devi_anderson(tasks: &TaskSet, cpus: u32) -> Tardiness {
    if !tasks.is_implicit() {
        return Tardiness::NotApplicable("a deadline differs from its period");
    }
    match is_bounded(tasks, cpus) {
        Some(true) => {}
        Some(false) => return Tardiness::Unbounded,
        None => return Tardiness::NotApplicable(LONG),
    }
    let quick = |budget: &mut Budget| late::<Interval>(tasks, cpus, budget);
    let exact = |budget: &mut Budget| late::<Exact>(tasks, cpus, budget);
    let Ok(late) = decide(&mut Budget::once(), quick, exact) else {
        return Tardiness::NotApplicable(LONG);
    };
    let of = |task: &Sporadic| task.period_us + task.wcet_us + late as u64;
    Tardiness::Responses(tasks.iter().map(of).collect())
}

/// Why there is no bound where fractions would be too long.
const LONG: &str = "the numbers are too long";

/// x, rounded up.
fn late<N: Number>(tasks: &TaskSet, cpus: u32, budget: &mut Budget) -> Result<i128, Halt> {
    let busy = (total::<N>(tasks, budget)?.ceil()? - 1).max(0) as usize;
    let mut wcets: Vec<u64> = tasks.iter().map(|task| task.wcet_us).collect();
    wcets.sort_unstable_by(|a, b| b.cmp(a));
    let mut heavy: Vec<&Sporadic> = tasks.iter().collect();
    heavy.sort_by(|a, b| heavier(b, a));
    let carried: i128 = wcets.iter().take(busy).map(|&wcet| i128::from(wcet)).sum();
    let carried = carried - wcets.last().map_or(0, |&wcet| i128::from(wcet));
    if carried <= 0 {
        return Ok(0);
    }
    let used = heavy.iter().take(busy.saturating_sub(1)).map(|task| utilization(task));
    (N::whole(carried) / (N::whole(cpus.into()) - N::sum(used, budget)?)).ceil()
}

/// By utilisation.
fn heavier(a: &Sporadic, b: &Sporadic) -> Ordering {
    let of = |task: &Sporadic| (task.wcet_us.into(), task.period_us.into());
    compare(of(a), of(b))
}

/// The bound by compliant vectors: of any deadlines, also where all CPUs are used up.
pub fn compliant(tasks: &TaskSet, cpus: u32, point: Point) -> Tardiness {
    if tasks.is_empty() {
        return Tardiness::Responses(Vec::new());
    }
    match is_bounded(tasks, cpus) {
        Some(true) => {}
        Some(false) => return Tardiness::Unbounded,
        None => return Tardiness::NotApplicable(LONG),
    }
    if cpus == 1 && point == Point::Deadline && tasks.is_implicit() {
        // EDF on one CPU meets all deadlines.
        return Tardiness::Responses(tasks.iter().map(|task| task.period_us).collect());
    }
    let all = |budget: &mut Budget| responses::<Interval>(tasks, cpus, point, budget);
    let exact = |budget: &mut Budget| match tasks.len() {
        ..=EXACT => responses::<Exact>(tasks, cpus, point, budget),
        _ => Err(Halt::Spent),
    };
    match decide(&mut Budget::once(), all, exact) {
        Ok(all) => Tardiness::Responses(all),
        Err(_) => Tardiness::NotApplicable(LONG),
    }
}

/// Of more tasks the bound is not worked out where doubles are too close: fractions get too long.
const EXACT: usize = 400;

/// A task as a line in s: what it adds to the work that is late, `at_0 + u s`.
struct Line<'t, N> {
    task: &'t Sporadic,
    at_0: N,
}

impl<N: Number> Line<'_, N> {
    fn at(&self, s: &N) -> N {
        self.at_0.clone() + utilization::<N>(self.task) * s.clone()
    }
}

fn responses<N: Number>(
    tasks: &TaskSet,
    cpus: u32,
    point: Point,
    budget: &mut Budget,
) -> Result<Vec<u64>, Halt> {
    let cpus = i128::from(cpus);
    let points: Vec<N> = tasks.iter().map(|task| priority_point(task, cpus, point)).collect();
    let mut least = points[0].clone();
    for it in &points {
        least = least.least(it.clone())?;
    }
    // Only differences of priority points matter.
    let points = points.into_iter().map(|it| it - least.clone());
    let points: Vec<N> = points.collect();
    let mut spare = N::whole(0);
    let mut lines = Vec::with_capacity(tasks.len());
    for (task, point) in tasks.iter().zip(&points) {
        let (wcet, period) = (i128::from(task.wcet_us), i128::from(task.period_us));
        let own = N::whole(wcet) * (N::whole(1) - point.clone() / N::whole(period));
        let own = own.greatest(N::whole(0))?;
        let share = utilization::<N>(task) * N::ratio(wcet, cpus);
        lines.push(Line { task, at_0: N::whole(wcet) - own.clone() - share });
        spare = spare + own;
    }
    let busy = total::<N>(tasks, budget)?.ceil()? - 1;
    let s = root(&lines, busy.max(0) as usize, &spare, cpus, budget)?;
    let of = |(task, point): (&Sporadic, &N)| {
        let wcet = i128::from(task.wcet_us);
        let rest = N::ratio(wcet * (cpus - 1), cpus);
        Ok((s.clone() + rest + point.clone()).ceil()? as u64)
    };
    tasks.iter().zip(&points).map(of).collect()
}

fn priority_point<N: Number>(task: &Sporadic, cpus: i128, point: Point) -> N {
    let (wcet, deadline) = (i128::from(task.wcet_us), i128::from(task.deadline_us));
    match point {
        Point::Deadline => N::whole(deadline),
        Point::FairLateness => N::ratio(deadline * cpus - (cpus - 1) * wcet, cpus),
        Point::FairLatenessWhole => N::whole(deadline - (cpus - 1) * wcet / cpus),
    }
}

/// The s at which the `busy` greatest lines and `spare` add up to m s.
///
/// Their sum is convex and less steep than m s, so that there is one. From a choice of lines the
/// root of their sum is found; the greatest lines there are the next choice. Each root is at least
/// the one before, since greater lines were chosen (Newton's way), and there are finitely many.
fn root<N: Number>(
    lines: &[Line<'_, N>],
    busy: usize,
    spare: &N,
    cpus: i128,
    budget: &mut Budget,
) -> Result<N, Halt> {
    let mut s = N::whole(0);
    let mut chosen = greatest(lines, busy, &s)?;
    loop {
        let at_0 = N::sum(chosen.iter().map(|&n| lines[n].at_0.clone()), budget)? + spare.clone();
        let steep = N::sum(chosen.iter().map(|&n| utilization::<N>(lines[n].task)), budget)?;
        let root = at_0 / (N::whole(cpus) - steep);
        s = root.greatest(s)?;
        let next = greatest(lines, busy, &s)?;
        if next == chosen {
            return Ok(s);
        }
        chosen = next;
    }
}

/// Which lines are greatest at s: of equals the steeper, then the first.
fn greatest<N: Number>(lines: &[Line<'_, N>], count: usize, s: &N) -> Result<Vec<usize>, Halt> {
    let at: Vec<N> = lines.iter().map(|line| line.at(s)).collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    let mut close = None;
    order.sort_by(|&a, &b| {
        // Twins are equal however they are computed.
        if lines[a].task == lines[b].task {
            return a.cmp(&b);
        }
        let by_value = at[b].compare(&at[a]).unwrap_or_else(|halt| {
            close = Some(halt);
            Ordering::Equal
        });
        by_value.then_with(|| heavier(lines[b].task, lines[a].task)).then(a.cmp(&b))
    });
    order.truncate(count);
    order.sort_unstable();
    close.map_or(Ok(order), Err)
}
