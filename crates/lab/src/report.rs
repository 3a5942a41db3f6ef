//! An experiment in words and tables.

use wastenot_model::report::Unit;
use wastenot_model::{Report, Table, Value};

use crate::experiment::{Experiment, Outcome, Worked};

impl Experiment {
    /// The answer of `wastenot simulate`.
    pub fn report(&self) -> Report {
        let title = format!("{}: simulated", self.scenario);
        let mut report = Report::new("simulate/1", title);
        report.measure("scenario", "", self.scenario.as_str(), Unit::None);
        report.measure("seeds", "Seeds", self.seeds.len(), Unit::None);
        report.verdict = self.verdict();
        report.tables.push(self.variants_table());
        if !self.figures.is_empty() {
            report.tables.push(self.figures_table());
        }
        report.assumptions.push(
            "simulated: what the model leaves out (caches, memory, interrupts) costs nothing \
             unless [costs] says so"
                .into(),
        );
        let limited = self.variants.iter().filter(|it| it.cells.iter().any(|cell| !cell.done));
        let limited: Vec<&str> = limited.map(|it| it.name.as_str()).collect();
        if !limited.is_empty() {
            report.assumptions.push(format!(
                "ended by the limit of simulated time, not by its tasks: {}",
                limited.join(", ")
            ));
        }
        report
    }

    fn verdict(&self) -> String {
        let about = self.about.split_whitespace().collect::<Vec<_>>().join(" ");
        let banded: Vec<bool> = self.figures.iter().filter_map(Worked::in_band).collect();
        let inside = banded.iter().filter(|&&inside| inside).count();
        match (inside, banded.len()) {
            (_, 0) if about.is_empty() => format!(
                "{} of {}, simulated with {} each.",
                counted(self.variants.len(), "variant"),
                self.scenario,
                counted(self.seeds.len(), "seed")
            ),
            (_, 0) => about,
            (1, 1) => format!("{about} Its figure lies in its band."),
            (0, 1) => format!("{about} Its figure does not lie in its band."),
            (inside, all) => format!("{about} {inside} of {all} figures lie in their band."),
        }
    }

    fn variants_table(&self) -> Table {
        let columns = [
            ("name", "variant", Unit::None),
            ("completion_ns", "", Unit::None),
            ("waste", "", Unit::None),
            ("completion_median", "completion", Unit::Ns),
            ("completion_spread", "min to max", Unit::None),
            ("waste_median", "waste", Unit::Ns),
            ("migrations", "migrations", Unit::None),
            ("rows", "events", Unit::None),
            ("digest", "", Unit::None),
        ];
        let mut table = Table::new("variants", "Variants", &columns);
        table.shown = 40;
        for variant in &self.variants {
            table.push(variant_row(variant));
        }
        table
    }

    fn figures_table(&self) -> Table {
        let columns = [
            ("name", "figure", Unit::None),
            ("value", "value", Unit::None),
            ("min", "min", Unit::None),
            ("max", "max", Unit::None),
            ("published", "published", Unit::None),
            ("formula", "formula", Unit::None),
            ("band", "", Unit::None),
            ("within", "band", Unit::None),
            ("in_band", "in band", Unit::None),
        ];
        let mut table = Table::new("figures", "Figures", &columns);
        table.shown = 60;
        for worked in &self.figures {
            let figure = &worked.figure;
            let range = worked.range();
            table.push(vec![
                figure.name.as_str().into(),
                worked.value.into(),
                range.map(|(low, _)| low).into(),
                range.map(|(_, high)| high).into(),
                figure.published.into(),
                figure.formula.as_ref().map(|formula| formula.value).into(),
                figure.band.map(|(low, high)| vec![low, high]).into(),
                figure.band.map(|(low, high)| format!("{low} to {high}")).into(),
                worked.in_band().into(),
            ]);
        }
        table
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn variant_row(variant: &Outcome) -> Vec<Value> {
    let done = variant.cells.iter().map(|cell| cell.done.then_some(cell.time_ns));
    let times: Option<Vec<u64>> = done.collect();
    let waste = median(variant.cells.iter().map(|cell| cell.waste_cpu_ns).collect());
    let migrations =
        variant.cells.iter().map(|cell| cell.kinds.iter().map(|kind| kind.migrations).sum());
    let rows = variant.cells.iter().map(|cell| cell.rows);
    let min = times.as_ref().and_then(|times| times.iter().min().copied());
    let max = times.as_ref().and_then(|times| times.iter().max().copied());
    let middle = times.and_then(median);
    let map = |pairs: &[(&str, Option<u64>)]| {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        Value::Map(pairs.collect())
    };
    let shown = |ns: u64| wastenot_model::Span(ns).to_string();
    let spread = min.zip(max).map(|(min, max)| format!("{} to {}", shown(min), shown(max)));
    vec![
        variant.name.as_str().into(),
        map(&[("median", middle), ("min", min), ("max", max)]),
        map(&[("cpu_ns", waste)]),
        middle.into(),
        spread.into(),
        waste.into(),
        median(migrations.collect()).into(),
        median(rows.collect()).into(),
        variant.cells.first().map(|cell| format!("{:016x}", cell.digest)).into(),
    ]
}

/// The one in the middle, the lower one of two.
fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}
