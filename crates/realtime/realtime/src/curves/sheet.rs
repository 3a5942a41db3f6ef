//! Lines of a sweep's result laid out: what is on the axis, what is a panel, what is a curve.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use wastenot_draw::{Chart, Panel, Place, Series, Share};
use wastenot_scenario::sweep::Judged;

use super::{Column, Undrawable};

/// More would be none that anybody looks at.
const MOST_PANELS: usize = 48;

/// Lines, and how they are laid out.
pub(super) struct Sheet<'l> {
    lines: Vec<&'l Judged>,
    /// On the axis.
    over: Column,
    /// Of which all values are one point: their shares are weighted.
    load: Option<Column>,
    /// What tells panels apart, beside criterion and cache delay.
    apart: Vec<Column>,
    /// What is the same on all lines.
    common: Vec<Column>,
    /// The names of curves: those without overheads first.
    curves: Vec<Arc<str>>,
    criteria: Vec<Arc<str>>,
    /// The cache delays that have panels of their own; empty if they do not tell panels apart.
    delays: Vec<f64>,
}

/// The text of a cell; numbers as short as they are.
pub(super) fn cell(line: &Judged, column: Column) -> String {
    match column {
        Column::Cpus => line.cpus.to_string(),
        Column::Tasks => line.tasks.to_string(),
        Column::TasksPerCpu => per_cpu(line).to_string(),
        Column::Total => line.total.map_or_else(String::new, |total| total.to_string()),
        Column::Utilizations => line.utilizations.to_string(),
        Column::Periods => line.periods.to_string(),
        Column::Deadlines => line.deadlines.to_string(),
        Column::WorkingSets => line.working_sets.to_string(),
        Column::Curve => line.curve.to_string(),
        Column::Criterion => line.criterion.to_string(),
        Column::CacheDelay => line.cache_delay.to_string(),
    }
}

fn per_cpu(line: &Judged) -> f64 {
    f64::from(line.tasks) / f64::from(line.cpus.max(1))
}

/// What a column's value is called.
fn words(line: &Judged, column: Column) -> String {
    let cell = cell(line, column);
    let s = if cell == "1" { "" } else { "s" };
    match column {
        Column::Cpus => format!("{cell} CPU{s}"),
        Column::Tasks => format!("{cell} task{s}"),
        Column::TasksPerCpu => format!("{cell} task{s} per CPU"),
        Column::Total if cell.is_empty() => "no total".to_owned(),
        Column::Total => format!("total {cell}"),
        Column::Periods => format!("periods {cell}"),
        Column::Deadlines => format!("{cell} deadlines"),
        Column::WorkingSets => format!("working sets {cell}"),
        Column::CacheDelay => format!("cache delay \u{d7} {cell}"),
        Column::Utilizations | Column::Curve | Column::Criterion => cell,
    }
}

/// What the axis counts.
fn unit(over: Column) -> &'static str {
    match over {
        Column::Total => "total utilization",
        Column::Tasks => "tasks",
        Column::Cpus => "CPUs",
        _ => "cache delay, as a multiple of the value in the table",
    }
}

/// How many different values a column has.
fn values(lines: &[&Judged], column: Column) -> usize {
    lines.iter().map(|line| cell(line, column)).collect::<BTreeSet<_>>().len()
}

/// Words in the order in which they come first.
fn in_order<'l>(lines: &[&'l Judged], of: impl Fn(&'l Judged) -> &'l Arc<str>) -> Vec<Arc<str>> {
    let mut seen = BTreeSet::new();
    let words = lines.iter().map(|line| of(line));
    words.filter(|word| seen.insert(Arc::clone(word))).cloned().collect()
}

impl<'l> Sheet<'l> {
    /// Lays lines out, over this column or whatever is best.
    pub(super) fn new(
        lines: Vec<&'l Judged>,
        over: Option<Column>,
    ) -> Result<Sheet<'l>, Undrawable> {
        let varies = |column| values(&lines, column) > 1;
        let own = [Column::Total, Column::Tasks, Column::CacheDelay, Column::Cpus];
        let has_totals = lines.iter().all(|line| line.total.is_some());
        let one = if has_totals { Column::Total } else { Column::Tasks };
        let best = || own.into_iter().find(|&column| varies(column)).unwrap_or(one);
        let over = over.unwrap_or_else(best);
        if over == Column::Total && !has_totals {
            let what = "some sets have no total utilization, so the picture cannot have the total \
                        as its axis";
            return Err(Undrawable::new(
                what,
                "use the number of tasks as the axis: `--over tasks`",
            ));
        }
        let tasks = match over {
            // Machines of different size have as many tasks for each CPU, if anything.
            Column::Cpus if values(&lines, Column::TasksPerCpu) < values(&lines, Column::Tasks) => {
                Column::TasksPerCpu
            }
            _ => Column::Tasks,
        };
        let load = [Column::Total, tasks].into_iter().find(|&column| varies(column));
        let load = load.filter(|&load| {
            // What sets have to do is on the axis, or all of it is one point.
            over != load
                && over != Column::Total
                && (over != Column::Tasks || load == Column::Total)
        });
        let of_points = [
            Column::Cpus,
            tasks,
            Column::Total,
            Column::Utilizations,
            Column::Periods,
            Column::Deadlines,
            Column::WorkingSets,
        ];
        let free = of_points.into_iter().filter(|&it| it != over && Some(it) != load);
        let (apart, common) = free.partition(|&column| varies(column));
        let mut curves = in_order(&lines, |line| &line.curve);
        let paying = lines.iter().filter(|line| line.has_overheads());
        let paying: BTreeSet<&Arc<str>> = paying.map(|line| &line.curve).collect();
        curves.sort_by_key(|curve| paying.contains(curve));
        let criteria = in_order(&lines, |line| &line.criterion);
        let mut delays = delays(&lines);
        if over == Column::CacheDelay || delays.len() < 2 {
            delays.clear();
        }
        Ok(Sheet { lines, over, load, apart, common, curves, criteria, delays })
    }

    /// The picture.
    pub(super) fn chart(&self, name: &str) -> Result<Chart, Undrawable> {
        let mut gaps = Gaps::default();
        let points = self.points();
        let ways = self.criteria.len() * self.delays.len().max(1);
        if points.len() * ways > MOST_PANELS {
            return Err(self.too_many(points.len() * ways));
        }
        let mut panels = Vec::new();
        for point in &points {
            for criterion in &self.criteria {
                let own = || point.iter().copied().filter(|line| line.criterion == *criterion);
                for &delay in &self.delays {
                    let fits = |line: &&Judged| !line.has_overheads() || line.cache_delay == delay;
                    panels.extend(self.panel(&own().filter(fits).collect::<Vec<_>>(), &mut gaps)?);
                }
                if self.delays.is_empty() {
                    panels.extend(self.panel(&own().collect::<Vec<_>>(), &mut gaps)?);
                }
            }
        }
        let many = points.len() > 1 && ways > 1;
        let columns = match panels.len() {
            _ if many && ways <= 4 => ways,
            _ if many && (2..=4).contains(&self.delays.len()) => self.delays.len(),
            count @ 0..=3 => count.max(1),
            4 => 2,
            5..=9 => 3,
            _ => 4,
        };
        let what = match self.load {
            None => "share of task sets accepted",
            Some(_) => "weighted schedulability",
        };
        let over = unit(self.over).split(',').next().unwrap_or_default();
        Ok(Chart {
            title: format!("{name}: {what} over {over}"),
            subtitle: self.subtitle(),
            over: unit(self.over).to_owned(),
            series: self.series(),
            panels,
            columns,
            notes: self.notes(&gaps),
        })
    }

    /// The lines of each point that has panels of its own, in the order of the file.
    fn points(&self) -> Vec<Vec<&'l Judged>> {
        let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut points: Vec<Vec<&Judged>> = Vec::new();
        for &line in &self.lines {
            let key = self.apart.iter().map(|&column| cell(line, column)).collect();
            let next = points.len();
            let n = *known.entry(key).or_insert(next);
            if n == next {
                points.push(Vec::new());
            }
            points[n].push(line);
        }
        points
    }

    fn too_many(&self, count: usize) -> Undrawable {
        let mut help = "draw only some of the panels:".to_owned();
        let own =
            [(Column::Criterion, self.criteria.len()), (Column::CacheDelay, self.delays.len())];
        let apart = self.apart.iter().map(|&column| (column, values(&self.lines, column)));
        for (column, count) in apart.chain(own).filter(|(_, count)| *count > 1) {
            let value = match (column, self.delays.last()) {
                (Column::CacheDelay, Some(delay)) => delay.to_string(),
                _ => cell(self.lines[0], column),
            };
            let word = format!("{}={value}", column.name());
            let word = if word.contains(' ') { format!("'{word}'") } else { word };
            let _ = write!(help, " `--only {word}` (1 of {count})"); // to a String: cannot fail
        }
        Undrawable::new(
            format!("the picture has {count} panels; the maximum is {MOST_PANELS}"),
            help,
        )
    }

    /// A panel of these lines, if there are any.
    fn panel(&self, lines: &[&Judged], gaps: &mut Gaps) -> Result<Option<Panel>, Undrawable> {
        let Some(first) = lines.first() else { return Ok(None) };
        let point: Vec<String> = self.apart.iter().map(|&column| words(first, column)).collect();
        let mut way = words(first, Column::Criterion);
        let paying = lines.iter().find(|line| line.has_overheads());
        if let Some(line) = paying.filter(|_| self.over != Column::CacheDelay) {
            let _ = write!(way, ", {}", words(line, Column::CacheDelay)); // to a String
        }
        let none = lines.iter().find_map(|line| line.guarantee.strip_prefix("none: "));
        let remark = none.map_or_else(String::new, |none| format!("no guarantee: {none}"));
        let (heading, remark) = match (point.is_empty(), remark.is_empty()) {
            (true, _) => (way, remark),
            (false, true) => (point.join(", "), way),
            (false, false) => (point.join(", "), format!("{way} ({remark})")),
        };
        Ok(Some(Panel { heading, remark, curves: self.places(lines, gaps)? }))
    }

    /// By curve, where it is.
    fn places(&self, lines: &[&Judged], gaps: &mut Gaps) -> Result<Vec<Vec<Place>>, Undrawable> {
        let mut table: BTreeMap<Number, Vec<Vec<&Judged>>> = BTreeMap::new();
        let xs: BTreeSet<Number> = match self.over {
            Column::CacheDelay => delays(lines).into_iter().map(Number).collect(),
            over => lines.iter().map(|line| Number(number(line, over))).collect(),
        };
        // What has no overheads is the same at every cache delay.
        let everywhere = |line: &Judged| self.over == Column::CacheDelay && !line.has_overheads();
        for line in lines {
            let own = Number(number(line, self.over));
            let n = self.curves.iter().position(|curve| *curve == line.curve);
            let n = n.expect("curves are those of the lines");
            for &x in xs.iter().filter(|&&x| everywhere(line) || x == own) {
                let by_curve =
                    table.entry(x).or_insert_with(|| vec![Vec::new(); self.curves.len()]);
                by_curve[n].push(line);
            }
        }
        let mut places = vec![Vec::new(); self.curves.len()];
        for (Number(x), by_curve) in table {
            let load = |line: &&Judged| self.load.map(|load| cell(line, load));
            let loads: BTreeSet<_> = by_curve.iter().flatten().map(load).collect();
            for (n, lines) in by_curve.iter().enumerate() {
                let own: BTreeSet<_> = lines.iter().map(load).collect();
                if own.len() < lines.len() {
                    return Err(twice(lines[0]));
                }
                let share = match own.len() == loads.len() {
                    true => self.share(lines, gaps),
                    false => None,
                };
                places[n].push((Place { x, share }, own.len(), loads.len()));
            }
        }
        let curve = |curve: Vec<(Place, usize, usize)>| {
            if curve.iter().all(|(_, own, _)| *own == 0) {
                return Vec::new(); // it is not of this panel
            }
            gaps.missing += curve.iter().filter(|(_, own, all)| own < all).count();
            curve.into_iter().map(|(place, ..)| place).collect()
        };
        Ok(places.into_iter().map(curve).collect())
    }

    /// What lines at one place say together, if they are known.
    fn share(&self, lines: &[&Judged], gaps: &mut Gaps) -> Option<Share> {
        if lines.iter().any(|line| line.unknown > 0) {
            gaps.unknown += 1;
            return None;
        }
        if self.load.is_none() {
            let line = lines.first()?;
            let band = Some((line.share_low, line.share_high));
            return Some(Share { value: line.share, band });
        }
        let weight = |line: &&Judged| line.utilization * f64::from(line.sets);
        let all: f64 = lines.iter().map(weight).sum();
        let accepted: f64 = lines.iter().map(|line| weight(line) * line.share).sum();
        (all > 0.0).then(|| Share { value: accepted / all, band: None })
    }

    fn subtitle(&self) -> String {
        let Some(first) = self.lines.first() else { return String::new() };
        let mut said: Vec<String> = self.common.iter().map(|&it| words(first, it)).collect();
        said.retain(|words| words != "no total");
        if self.lines.iter().all(|line| line.sets == first.sets) {
            said.push(format!("{} sets per point", first.sets));
        }
        said.join(", ")
    }

    /// Curves, by what it means to be accepted.
    fn series(&self) -> Vec<Series> {
        let series = |curve: &Arc<str>| {
            let own = || self.lines.iter().filter(|line| line.curve == *curve);
            let mut said: Vec<String> = Vec::new();
            for line in own() {
                let guarantee = line.guarantee.trim_start_matches("none: ");
                let words = format!("{}: {guarantee}", line.criterion);
                if !said.contains(&words) {
                    said.push(words);
                }
            }
            let means = match own().any(|line| line.has_overheads()) {
                false => "without overheads, a guarantee",
                true => "with overheads, no guarantee",
            };
            Series { name: curve.to_string(), group: format!("{means} ({})", said.join("; ")) }
        };
        self.curves.iter().map(series).collect()
    }

    fn notes(&self, gaps: &Gaps) -> Vec<String> {
        let mut notes = vec![match self.load {
            None => "Bands are pointwise 95 % intervals (Wilson). Tests are only sufficient: each \
                     share is a lower bound on the share of sets that can be scheduled."
                .to_owned(),
            Some(load) => format!(
                "Shares are weighted over all {}. The weight of a set is the mean utilization at \
                 its point (Bastoni, Brandenburg, Anderson 2010). No confidence interval is known \
                 for weighted shares. Tests are only sufficient, so each share is a lower bound.",
                if load == Column::Total { "totals" } else { "numbers of tasks" }
            ),
        }];
        notes.extend(gaps.note());
        let sum = |of: fn(&Judged) -> u32| -> u64 {
            self.lines.iter().map(|line| u64::from(of(line))).sum()
        };
        let (beyond, verdicts) = (sum(|line| line.extrapolated), sum(|line| line.sets));
        if beyond > 0 {
            notes.push(format!(
                "{beyond} of {verdicts} verdicts use overheads that are extrapolated beyond the \
                 measured range."
            ));
        }
        if self.lines.iter().any(|line| line.empty > 0) {
            let what = "Some sets are empty and count as accepted: their utilization cap is below \
                        the utilization of the first random task.";
            notes.push(what.to_owned());
        }
        notes
    }
}

/// What is not drawn.
#[derive(Default)]
struct Gaps {
    /// At so many places tests were out of their budget.
    unknown: usize,
    /// At so many places a line is missing.
    missing: usize,
}

impl Gaps {
    fn note(&self) -> Option<String> {
        let places = |n: usize| if n == 1 { "1 place".to_owned() } else { format!("{n} places") };
        let unknown = (self.unknown > 0)
            .then(|| format!("at {}, tests exceeded their budget", places(self.unknown)));
        let missing = (self.missing > 0)
            .then(|| format!("at {}, the file has no line for a curve", places(self.missing)));
        let said: Vec<String> = unknown.into_iter().chain(missing).collect();
        (!said.is_empty()).then(|| format!("Gaps: {}.", said.join("; ")))
    }
}

/// A number that is one, in order.
#[derive(Clone, Copy, PartialEq)]
struct Number(f64);

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Where a line is on an axis.
fn number(line: &Judged, over: Column) -> f64 {
    match over {
        Column::Total => line.total.unwrap_or(0.0),
        Column::Tasks => f64::from(line.tasks),
        Column::Cpus => f64::from(line.cpus),
        _ => line.cache_delay,
    }
}

/// The cache delays of lines with overheads; 0 if there are none.
fn delays(lines: &[&Judged]) -> Vec<f64> {
    let paying = lines.iter().filter(|line| line.has_overheads());
    let delays: BTreeSet<Number> = paying.map(|line| Number(line.cache_delay)).collect();
    let delays: Vec<f64> = delays.into_iter().map(|Number(delay)| delay).collect();
    if delays.is_empty() { vec![0.0] } else { delays }
}

fn twice(line: &Judged) -> Undrawable {
    let what = format!(
        "the file has two lines for `{}`, {}, at {}, {}",
        line.curve,
        line.criterion,
        words(line, Column::Cpus),
        words(line, Column::Tasks)
    );
    Undrawable::new(what, "if the file contains several results, draw one result at a time")
}

#[cfg(test)]
mod tests {
    use wastenot_draw::{Chart, Place, Share};
    use wastenot_scenario::sweep::{Judged, results};

    use super::{Column, Sheet};

    const HEADER: &str = "cpus,tasks,total,utilizations,periods,deadlines,working_sets,curve,\
                          criterion,cache_delay,sets,accepted,unknown,share,share_low,share_high,\
                          share_max,utilization_mean,interrupts,latency,density,utilization,\
                          test,extrapolated,empty,guarantee";

    /// Lines of `cpus,tasks,total`, `curve`, `cache delay,share,unknown`; a set comes to the total.
    fn lines(all: &[(&str, &str, (u32, f64, u32))]) -> Vec<Judged> {
        let line = |(point, curve, (delay, share, unknown)): &(&str, &str, (u32, f64, u32))| {
            let total = point.rsplit(',').next().expect("a total");
            let accepted = share * 8.0;
            let guarantee = if *curve == "free" { "deadlines" } else { "none: observed maxima" };
            format!(
                "{point},randfixedsum,p,implicit,w,{curve},hard,{delay},8,{accepted},{unknown},\
                 {share},0,1,1,{total},0,0,0,0,0,0,0,{guarantee}\n"
            )
        };
        let text: String = all.iter().map(line).collect();
        results("made", format!("{HEADER}\n{text}").as_bytes()).expect("a result")
    }

    fn chart(lines: &[Judged], over: Option<Column>) -> Chart {
        let sheet = Sheet::new(lines.iter().collect(), over);
        sheet.and_then(|sheet| sheet.chart("made")).expect("a chart")
    }

    fn shares(curve: &[Place]) -> Vec<(f64, Option<f64>)> {
        let share = |place: &Place| (place.x, place.share.map(|Share { value, .. }| value));
        curve.iter().map(share).collect()
    }

    #[test]
    fn over_totals_shares_are_as_they_are_told_and_unknown_ones_gaps() {
        let lines = lines(&[
            ("2,4,1", "free", (0, 1.0, 0)),
            ("2,4,1", "paid", (1, 0.75, 0)),
            ("2,4,2", "free", (0, 0.5, 0)),
            ("2,4,2", "paid", (1, 0.25, 2)),
            ("2,4,3", "free", (0, 0.25, 0)),
        ]);
        let chart = chart(&lines, None);
        assert_eq!(
            (chart.title.as_str(), chart.panels.len()),
            ("made: share of task sets accepted over total utilization", 1,)
        );
        let panel = &chart.panels[0];
        assert_eq!(panel.heading, "hard, cache delay \u{d7} 1");
        let free = [(1.0, Some(1.0)), (2.0, Some(0.5)), (3.0, Some(0.25))];
        assert_eq!(shares(&panel.curves[0]), free);
        assert_eq!(shares(&panel.curves[1]), [(1.0, Some(0.75)), (2.0, None), (3.0, None)]);
        assert_eq!(panel.curves[0][0].share.and_then(|share| share.band), Some((0.0, 1.0)));
        let told = "Gaps: at 1 place, tests exceeded their budget; at 1 place, the file has no \
                    line for a curve.";
        assert!(chart.notes.iter().any(|note| note == told), "{:?}", chart.notes);
    }

    #[test]
    fn over_another_column_sets_that_have_more_to_do_count_more() {
        let lines = lines(&[
            ("2,4,1", "free", (0, 1.0, 0)),
            ("2,4,3", "free", (0, 0.5, 0)),
            ("2,4,1", "paid", (1, 0.5, 0)),
            ("2,4,3", "paid", (1, 0.0, 0)),
            ("2,4,1", "paid", (2, 0.5, 0)),
            ("2,8,1", "free", (0, 0.5, 0)),
            ("2,8,3", "free", (0, 0.5, 0)),
        ]);
        let over_tasks = chart(&lines, Some(Column::Tasks));
        // (1 x 1 + 3 x 0.5) / (1 + 3)
        let free = [(4.0, Some(0.625)), (8.0, Some(0.5))];
        assert_eq!(over_tasks.panels.len(), 2, "a panel for each cache delay");
        for panel in &over_tasks.panels {
            assert_eq!(shares(&panel.curves[0]), free);
            assert!(
                panel.curves[0].iter().all(|place| place.share.is_none_or(|it| it.band.is_none()))
            );
        }
        assert_eq!(shares(&over_tasks.panels[0].curves[1]), [(4.0, Some(0.125)), (8.0, None)]);
        // Of the total of 3 at this cache delay there is no line: the sum of the others says less.
        assert_eq!(shares(&over_tasks.panels[1].curves[1]), [(4.0, None), (8.0, None)]);
        let over_delay = chart(&lines, Some(Column::CacheDelay));
        assert_eq!(over_delay.title, "made: weighted schedulability over cache delay");
        let [few, many] = &over_delay.panels[..] else { panic!("{over_delay:?}") };
        assert_eq!((few.heading.as_str(), many.heading.as_str()), ("4 tasks", "8 tasks"));
        assert_eq!(shares(&few.curves[0]), [(1.0, Some(0.625)), (2.0, Some(0.625))]);
        assert_eq!(shares(&few.curves[1]), [(1.0, Some(0.125)), (2.0, None)]);
        assert!(many.curves[1].is_empty(), "no line, no curve");
    }
}
