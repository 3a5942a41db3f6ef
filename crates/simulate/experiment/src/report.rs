//! An experiment in words and tables.

use std::borrow::Borrow;

use wastenot_model::report::{Row, Unit, counted, ranges};
use wastenot_model::{Machine, Report, Span, Table, Value};

use crate::cell::Cell;
use crate::experiment::{Experiment, Outcome, Worked};
use crate::kernels::{self, Change, Compared};
use crate::shifts;
use crate::{Bench as _, Sim, real_time_tables};

/// The end of the verdict on a scenario that ran with other settings.
const EXPECTATIONS: &str = ", so the expectations in the scenario file do not apply";

impl Experiment {
    /// The answer of `wastenot run`.
    pub fn report(&self) -> Report {
        report_with(std::slice::from_ref(self), &[])
    }

    fn verdict(&self) -> String {
        let about = sentence(&self.about);
        if !self.changes.is_empty() {
            return self.verdict_of_changes();
        }
        let banded = self.figures.iter().filter(|worked| worked.figure.band.is_some());
        let banded: Vec<Option<bool>> = banded.map(Worked::in_band).collect();
        let count = |answer| banded.iter().filter(|&&inside| inside == answer).count();
        let (inside, unknown) = (count(Some(true)), count(None));
        let judged = match (inside, unknown, banded.len()) {
            (_, _, 0) if about.is_empty() => format!(
                "The table shows {} of {}, {} with {} each.",
                counted(self.variants.len(), "variant"),
                self.scenario,
                self.how,
                counted(self.seeds.len(), "seed")
            ),
            (_, _, 0) => String::new(),
            (1, _, 1) => "The figure lies in its band.".into(),
            (_, 1, 1) => "The figure is unknown.".into(),
            (_, _, 1) => "The figure lies outside its band.".into(),
            (inside, 0, all) => format!("{inside} of {all} figures lie in their bands."),
            (inside, unknown, all) => format!(
                "{inside} of {all} figures lie in their bands; {unknown} {} unknown.",
                if unknown == 1 { "is" } else { "are" }
            ),
        };
        format!("{about} {judged}").trim().to_owned()
    }

    /// What the scenario says of itself is no answer then.
    fn verdict_of_changes(&self) -> String {
        let changes: Vec<&str> = self.changes.iter().map(String::as_str).collect();
        let same = self.variants.iter().filter(|variant| !variant.same.is_empty());
        let same = same.map(|it| {
            format!(
                " With the changed settings, the variants {} are identical, so only one of them \
                 ran.",
                listed(&names(it))
            )
        });
        format!(
            "{} ran with {}{}.{}",
            self.scenario,
            listed(&changes),
            if self.about.is_empty() { "" } else { EXPECTATIONS },
            same.collect::<String>()
        )
    }
}

/// The answer of `wastenot run` with several benches: what each made of the same scenario. Those of
/// `pairs` are compared, the first with the second.
pub fn report_with(all: &[Experiment], pairs: &[(usize, usize)]) -> Report {
    let Some(first) = all.first() else { return Report::new("run/1", "") };
    let benches = Benches { all };
    let how: Vec<&str> = all.iter().map(|it| it.how.as_str()).collect();
    let mut report = Report::new("run/1", format!("{}: {}", first.scenario, listed(&how)));
    report.measure("scenario", "", first.scenario.as_str(), Unit::None);
    report.measure("seeds", "", first.seeds.clone(), Unit::None);
    let label = if first.seeds.len() == 1 { "Seed" } else { "Seeds" };
    report.measure("", label, ranges(&first.seeds), Unit::None);
    let verdict = match all.len() {
        1 => first.verdict(),
        _ => format!("{} {}.", sentence(&first.about), capital(&listed(&how))),
    };
    let faults = kernels::sentences(all);
    let of = |&(a, b): &(usize, usize)| all.get(a).zip(all.get(b));
    let compared: Vec<Compared> =
        pairs.iter().filter_map(of).flat_map(|(a, b)| kernels::compared(a, b)).collect();
    let changes = changes(&compared);
    report.verdict =
        format!("{faults}{verdict}{}{}{changes}", benches.limited(), benches.untimed());
    report.verdict = report.verdict.trim().to_owned();
    report.tables = vec![benches.schedulers_table()];
    if !faults.is_empty() {
        report.tables.extend([kernels::faults_table(all), kernels::lines_table(all)]);
    }
    report.tables.push(benches.variants_table());
    if all.iter().any(|it| !it.figures.is_empty()) {
        report.tables.push(benches.figures_table());
    }
    if !compared.is_empty() {
        report.tables.push(kernels::compared_table(&compared));
    }
    let real = [shifts::table(all), kernels::waits_table(all)];
    report.tables.extend(real.into_iter().filter(|it| !it.rows.is_empty()));
    let real_time = all.iter().flat_map(|it| real_time_tables::tables(&it.variants));
    report.tables.extend(real_time);
    let unread = all.iter().flat_map(|it| &it.variants).flat_map(|it| &it.unread);
    let assumed = all.iter().flat_map(|it| it.assumes.iter().chain(&it.notes)).chain(unread);
    let few = pairs.iter().filter_map(of).filter_map(|(a, b)| kernels::too_few(a, b));
    let extra: Vec<String> = kernels::help(all).into_iter().chain(few).collect();
    for sentence in assumed.chain(&extra) {
        if !report.assumptions.contains(sentence) {
            report.assumptions.push(sentence.clone());
        }
    }
    report
}

/// The reports of several scenarios as one.
pub fn together(mut reports: Vec<Report>) -> Report {
    if reports.len() == 1 {
        return reports.remove(0);
    }
    let mut all = Report::new("run/1", format!("{} scenarios", reports.len()));
    for report in reports {
        let name = report.get("scenario").map_or_else(String::new, |it| it.show(Unit::None));
        all.verdict += &format!("{name}: {} ", report.verdict);
        all.tables.extend(report.tables.into_iter().map(|mut table| {
            table.title = format!("{name}: {}", table.title);
            table
        }));
        let new = report.assumptions.into_iter().filter(|it| !all.assumptions.contains(it));
        let new: Vec<String> = new.collect();
        all.assumptions.extend(new);
    }
    all
}

/// Which figures are better or worse, in sentences.
fn changes(all: &[Compared]) -> String {
    let is_told = |it: &&Compared| matches!(it.change, Change::Better | Change::Worse);
    let mut text = String::new();
    let mut last: Option<&[String; 2]> = None;
    for it in all.iter().filter(is_told) {
        if last != Some(&it.benches) {
            let [before, after] = &it.benches;
            text += &format!(" {after} compared with {before}:");
            last = Some(&it.benches);
        }
        text += &format!(" {}.", it.sentence());
    }
    text
}

/// What several benches made of a scenario.
struct Benches<'e> {
    all: &'e [Experiment],
}

impl<'e> Benches<'e> {
    fn are_several(&self) -> bool {
        self.all.len() > 1
    }
    /// Each variant, with its bench.
    fn variants(&self) -> impl Iterator<Item = (&'e str, &'e Outcome)> {
        self.all.iter().flat_map(|it| it.variants.iter().map(|of| (it.bench.as_str(), of)))
    }
    /// Each figure, with its bench.
    fn figures(&self) -> impl Iterator<Item = (&'e str, &'e Worked)> {
        // Those of a scheduler that never ran to an end are not known, and only fill the screen.
        let ran = self.all.iter().filter(|it| it.variants.iter().any(|of| of.sound().count() > 0));
        ran.flat_map(|it| it.figures.iter().map(|of| (it.bench.as_str(), of)))
    }

    /// Which variants reached the limit: their figures are of unfinished work.
    fn limited(&self) -> String {
        let is_limited = |(_, it): &(_, &Outcome)| it.sound().any(|cell| !cell.done);
        let on = |bench: &str| match self.are_several() {
            true => format!(" on {bench}"),
            false => String::new(),
        };
        let limited: Vec<(&str, &Outcome)> = self.variants().filter(is_limited).collect();
        let named = |(bench, it): &(&str, &Outcome)| {
            let on = on(bench);
            names(it).into_iter().map(|name| format!("{name}{on}")).collect::<Vec<_>>()
        };
        let names: Vec<String> = limited.iter().flat_map(named).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.dedup();
        let who = match names.len() {
            0 => return String::new(),
            _ if limited.len() == self.variants().count() => "All runs".to_owned(),
            _ => format!("Runs of {}", listed(&names)),
        };
        let is_simulated = self.all.iter().all(|it| it.bench == Sim.name());
        let time = if is_simulated { "simulated time" } else { "time" };
        format!(
            " {who} reached the limit of {time} before all tasks ended. Completion times of these \
             runs are unknown; all other figures cover the time up to the limit."
        )
    }

    /// Where completions are left out, and why.
    fn untimed(&self) -> String {
        let benches = self.all.iter().filter(|it| it.is_untimed());
        let benches: Vec<&str> = benches.map(|it| it.bench.as_str()).collect();
        let on = match benches.is_empty() {
            true => return String::new(),
            false if self.are_several() => format!(" on {}", listed(&benches)),
            false => String::new(),
        };
        format!(
            " The report leaves out completion times{on}, because QEMU counted instructions: \
             programs take a different time in QEMU than on hardware. Waits, placements, \
             migrations and waste show the decisions of the scheduler."
        )
    }

    /// Who scheduled what where: each scheduler once, with its variants.
    fn schedulers_table(&self) -> Table {
        const SHOWN: usize = 4;
        let mut rows: Vec<(&str, &Machine, Vec<&str>)> = Vec::new();
        for (_, it) in self.variants() {
            let is = |row: &&mut (&str, &Machine, Vec<&str>)| {
                row.0 == it.scheduler && *row.1 == it.machine
            };
            match rows.iter_mut().find(is) {
                Some((_, _, variants)) => variants.extend(names(it)),
                None => rows.push((&it.scheduler, &it.machine, names(it))),
            }
        }
        Table::of("", "Schedulers", rows, |row, (scheduler, machine, variants)| {
            let machine = match machine.name.as_str() {
                "" => counted(machine.len(), "CPU"),
                name => format!("{name} ({})", counted(machine.len(), "CPU")),
            };
            let shown = variants.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
            let variants = match variants.len().saturating_sub(SHOWN) {
                0 => shown,
                more => format!("{shown} and {more} more"),
            };
            row.cell("", "scheduler", scheduler)
                .cell("", "machine", machine)
                .cell("", "variants", variants)
        })
        .shown(usize::MAX)
    }

    fn variants_table(&self) -> Table {
        let (several, varied) = (self.are_several(), self.all.iter().any(|it| it.seeds.len() > 1));
        Table::of("variants", "Variants", self.variants(), |row, (bench, variant)| {
            variant_row(row.cell("bench", "on", bench).shown_if(several), variant, varied)
        })
        .shown(40)
    }

    fn figures_table(&self) -> Table {
        // Of what no figure has people need no column.
        let any = |has: fn(&Worked) -> bool| self.figures().any(|it| has(it.1));
        let has = [
            any(|it| it.show_range().is_some()),
            any(|it| it.figure.published.is_some()),
            any(|it| it.figure.formula.is_some()),
            any(|it| it.figure.band.is_some()),
        ];
        Table::of("figures", "Figures", self.figures(), |row, (bench, worked)| {
            figure_row(row.cell("bench", "on", bench).shown_if(self.are_several()), worked, has)
        })
        .shown(60)
    }
}

/// What a variant is called, and what it is called as well.
fn names(variant: &Outcome) -> Vec<&str> {
    std::iter::once(&variant.name).chain(&variant.same).map(String::as_str).collect()
}

/// On one line, with a full stop where it has none: another sentence follows.
fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = text.trim_end_matches(['"', '\'', ')', ']', '`']);
    let ends = words.is_empty() || words.ends_with(['.', '!', '?', ':', ';', '…']);
    if ends { text } else { text + "." }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed<Name: Borrow<str>>(names: &[Name]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => {
            format!("{} and {}", first.join(", "), last.borrow())
        }
        _ => names.concat(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}

fn variant_row<'t>(row: Row<'t>, variant: &Outcome, varied: bool) -> Row<'t> {
    let is_told = |cell: &Cell| cell.done && !cell.untimed;
    let done = variant.sound().map(|cell| is_told(cell).then_some(cell.time_ns));
    let times: Option<Vec<u64>> = done.collect();
    let waste = median(variant.sound().map(|cell| cell.waste_cpu_ns).collect());
    let migrations =
        variant.sound().map(|cell| cell.kinds.iter().map(|kind| kind.migrations).sum());
    let rows = variant.sound().map(|cell| cell.rows);
    let min = times.as_ref().and_then(|times| times.iter().min().copied());
    let max = times.as_ref().and_then(|times| times.iter().max().copied());
    let middle = times.and_then(median);
    let map = |pairs: &[(&str, Option<u64>)]| {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        Value::Map(pairs.collect())
    };
    let ends = min.zip(max).map(|(min, max)| (Span(min).to_string(), Span(max).to_string()));
    let ends = ends.filter(|(min, max)| min != max);
    let spread = ends.map_or(String::new(), |(min, max)| format!("{min} to {max}"));
    row.cell("name", "", variant.name.as_str())
        .cell("same", "", variant.same.clone())
        .cell("scheduler", "", variant.scheduler.as_str())
        .cell("machine", "", variant.machine.name.as_str())
        .cell("cpus", "", variant.machine.len())
        .cell("", "variant", names(variant).join(", "))
        .cell("completion_ns", "", map(&[("median", middle), ("min", min), ("max", max)]))
        .cell("waste", "", map(&[("cpu_ns", waste)]))
        .ns("", "completion", middle)
        .cell("", "min to max", spread)
        .shown_if(varied)
        .ns("", "waste", waste)
        .cell("migrations", "migrations", median(migrations.collect()))
        .cell("rows", "events", median(rows.collect()))
        .cell("digest", "", variant.cells.first().map(|cell| format!("{:016x}", cell.digest)))
}

/// `has`: whether any figure has a range, a published value, a formula, a band.
fn figure_row<'t>(row: Row<'t>, worked: &Worked, has: [bool; 4]) -> Row<'t> {
    let (figure, range) = (&worked.figure, worked.range());
    let formula = figure.formula.as_ref().map(|formula| formula.value);
    let given = |value: Option<f64>| value.map_or(String::new(), |it| worked.show_given(it));
    let inside = match (figure.band, worked.in_band()) {
        (None, _) => "",
        (_, None) => "unknown",
        (_, Some(true)) => "yes",
        (_, Some(false)) => "no",
    };
    let value = worked.value.map_or("unknown".to_owned(), |value| worked.show(value));
    let [has_range, has_published, has_formula, has_band] = has;
    row.cell("name", "figure", figure.name.as_str())
        .cell("value", "", worked.value)
        .cell("min", "", range.map(|(low, _)| low))
        .cell("max", "", range.map(|(_, high)| high))
        .cell("published", "", figure.published)
        .cell("formula", "", formula)
        .cell("band", "", figure.band.map(|(low, high)| vec![low, high]))
        .cell("in_band", "", worked.in_band())
        .cell("", "value", value)
        .cell("", "min to max", worked.show_range().unwrap_or_default())
        .shown_if(has_range)
        .cell("", "published", given(figure.published))
        .shown_if(has_published)
        .cell("", "formula", given(formula))
        .shown_if(has_formula)
        .cell("", "band", worked.show_band().unwrap_or_default())
        .shown_if(has_band)
        .cell("", "in band", inside)
        .shown_if(has_band)
}

/// As figures have it: the one in the middle, or half way between the two there.
fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    let [low, high] = [values.len().saturating_sub(1) / 2, values.len() / 2];
    Some(u64::midpoint(*values.get(low)?, *values.get(high)?))
}
