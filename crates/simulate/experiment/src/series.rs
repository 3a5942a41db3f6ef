//! A scenario on several benches: which schedulers are compared, and what speaks against them.

use wastenot_model::Report;

use crate::experiment::Worked;
use crate::kernels::{Change, compared};
use crate::{Experiment, Grid, report_with};

/// What several benches made of one scenario. A bench that failed is missing.
#[derive(Clone, Debug)]
pub struct Series {
    experiments: Vec<Experiment>,
    /// Those to compare, before and after: each scheduler that a program loads, with the scheduler
    /// before it in the same kernel.
    pairs: Vec<(usize, usize)>,
}

impl Series {
    /// Runs the same scenario on several benches. If one of several fails, the others run all the
    /// same unless `is_over`, and the first error is given beside what they made of it.
    ///
    /// # Errors
    /// The only grid failed; or `run` failed in such a way that no other grid is to run.
    pub fn run<E>(
        grids: &[Grid<'_>],
        is_over: impl Fn() -> bool,
        mut run: impl FnMut(&Grid<'_>) -> Result<Result<Experiment, E>, E>,
    ) -> Result<(Series, Option<E>), E> {
        let (mut experiments, mut failed) = (Vec::new(), None);
        for grid in grids {
            match run(grid)? {
                Ok(experiment) => experiments.push(experiment),
                Err(why) if grids.len() == 1 => return Err(why),
                Err(why) => {
                    failed = failed.or(Some(why));
                    if is_over() {
                        break;
                    }
                }
            }
        }
        let bench = |it: &Experiment, of: &Grid<'_>| it.bench == of.bench.name();
        let place = |of: &Grid<'_>| experiments.iter().position(|it| bench(it, of));
        let loaded = grids.windows(2).filter(|it| it[1].bench.is_loaded());
        let pairs = loaded.filter_map(|it| place(&it[0]).zip(place(&it[1]))).collect();
        Ok((Series { experiments, pairs }, failed))
    }

    /// Whether no bench made anything of it.
    pub fn is_empty(&self) -> bool {
        self.experiments.is_empty()
    }

    /// What each bench made of it, and how schedulers compare.
    pub fn report(&self) -> Report {
        report_with(&self.experiments, &self.pairs)
    }

    /// Whether something was wrong with a scheduler; the report tells what.
    pub fn has_fault(&self) -> bool {
        self.experiments.iter().any(Experiment::has_fault)
    }

    /// Which figures are unknown or out of their bands, one sentence each.
    pub fn out_of_band(&self) -> Vec<String> {
        let figures = self.experiments.iter().flat_map(|it| &it.figures);
        let figures = figures.filter(|it| it.figure.band.is_some() && it.in_band() != Some(true));
        let sentence = |it: &Worked| {
            let is = match (it.value, it.show_band()) {
                (Some(value), Some(band)) => {
                    format!("{}, out of its band {band}", it.show(value))
                }
                _ => "unknown".to_owned(),
            };
            format!("figure `{}` is {is}", it.figure.name)
        };
        figures.map(sentence).collect()
    }

    /// Which schedulers reached the limit although those before them did not, one sentence each.
    pub fn limited(&self) -> Vec<String> {
        let limited = self.pairs().filter(|(before, it)| it.is_limited() && !before.is_limited());
        let sentence = |(before, it): (&Experiment, &Experiment)| {
            format!(
                "{}: a run reached the limit of the time; under {}, no run reached this limit",
                it.bench, before.bench
            )
        };
        limited.map(sentence).collect()
    }

    /// Which figures are worse than under the scheduler before, one sentence each.
    pub fn worse(&self) -> Vec<String> {
        let worse = self.pairs().flat_map(|(before, it)| compared(before, it));
        let worse = worse.filter(|it| it.change == Change::Worse);
        worse.map(|it| format!("worse on {}: {}", it.benches[1], it.sentence())).collect()
    }

    fn pairs(&self) -> impl Iterator<Item = (&Experiment, &Experiment)> {
        self.pairs.iter().map(|&(before, it)| (&self.experiments[before], &self.experiments[it]))
    }
}
