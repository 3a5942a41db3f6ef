//! docs/results/message-passing.md, what is worked out of the simulated machine: curves of the
//! three designs for every pair of parameters that fits, and where the dedicated processor ends.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use indicatif::ProgressBar;
use wastenot_bounds::overheads::Overheads;
use wastenot_experiment::listed;
use wastenot_model::machine::Profile;
use wastenot_model::sporadic::{Criterion, Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_model::{Machine, Span, Time};
use wastenot_realtime::overheads::{Simulated, curves};
use wastenot_realtime::sweep::{NAMES, Outcome, Plan, Row, Swept, Wanted, Working};
use wastenot_realtime::{Implementation, calibrate};
use wastenot_scenario::overheads::Table;
use wastenot_scenario::sweep::{Curve, Sweep, sweep};
use wastenot_sim::edf::{Real, Rule, run};
use wastenot_sim::{Options, Overhead};

/// The sets and curves, with four tasks a CPU, as those by which pairs are fitted. Its tables are
/// of one pair; here each pair has its own.
const PAIRS: &str = "scenarios/sweeps/message-passing.toml";
/// The curve that the others are beside, and those that nothing costs anything.
const PASSING: &str = "message passing";
const FREE: [&str; 2] = ["no overheads", SPARE];
const SPARE: &str = "on m - 1";

/// What the tick and caches take: assumed.
const OTHERS: &str = "scenarios/sweeps/x7550-assumed/others.csv";
/// How long each run is by which overheads are looked for.
const LENGTH: Span = Span::ms(500);

/// Lines under the lock of GSN-EDF, and how often who waits fetches the lock's line.
type Pair = (u32, u32);

/// Works it out, and puts it between its marks. The verdict in a line. `ends` leaves the curves as
/// they are, which takes seconds instead of minutes.
pub(crate) fn write(page: &Path, ends_only: bool) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", page.display());
    let text = fs::read_to_string(page).map_err(failed)?;
    let mut parts = vec![("ends", ends()?)];
    if !ends_only {
        let sweep = read_sweep(PAIRS)?;
        parts.push(("curves", curves_told(&names(&sweep), &judged(&sweep, &pairs(&text)?)?)));
        parts.push(("delays", delays()?));
    }
    // Whoever wrote into the page meanwhile keeps it.
    let mut text = fs::read_to_string(page).map_err(failed)?;
    for (name, made) in &parts {
        text = wastenot_golden::with_part(&text, name, made)
            .ok_or_else(|| format!("{}: has no <!-- {name} -->", page.display()))?;
    }
    fs::write(page, &text).map_err(failed)?;
    Ok(format!("{} is written", page.display()))
}

/// What is said of each pair.
fn judged(sweep: &Sweep, pairs: &[Pair]) -> Result<BTreeMap<Group, Vec<Line>>, String> {
    let others = read_table(OTHERS)?;
    let bar = ProgressBar::new(pairs.len() as u64);
    let mut lines: BTreeMap<Group, Vec<Line>> = BTreeMap::new();
    for &pair in pairs {
        let tables = Tables { pair, others: &others, made: RefCell::default() };
        let plan = Plan::new(sweep, |wanted| tables.overheads(wanted))?;
        let outcome = plan.run(&Working::default(), |_| {}).map_err(|e| e.to_string())?;
        let Outcome::Whole(swept) = outcome else { return Err("points are missing".into()) };
        for group in groups(sweep) {
            lines.entry(group).or_default().push(Line::of(pair, group, sweep, &swept));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(lines)
}

fn read_sweep(path: &str) -> Result<Sweep, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    sweep(path, &text, &NAMES).map_err(|error| error.to_string())
}

fn read_table(name: &str) -> Result<Table, String> {
    let file = fs::File::open(name).map_err(|error| format!("{name}: {error}"))?;
    wastenot_scenario::overheads::read(name, file).map_err(|error| error.to_string())
}

/// What a table is to be counted with.
fn counted(name: &str, table: &Table, criterion: Criterion) -> Result<Overheads, String> {
    let curves = curves(table, criterion);
    let curves = curves.map_err(|(kind, twice)| format!("{name}: {kind}: {twice}"))?;
    curves.ok_or_else(|| format!("{name}: there are no averages"))
}

/// The names of its curves, in its order.
fn names(sweep: &Sweep) -> Vec<&str> {
    let mut names: Vec<&str> = sweep.curves.iter().map(|curve| curve.name.as_str()).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

/// Those of the table of the page, which `cargo test -p wastenot-tests messages` holds.
fn pairs(page: &str) -> Result<Vec<Pair>, String> {
    let table = wastenot_golden::part(page, "simulated");
    let pair = |row: &str| {
        let mut cells = row.strip_prefix("| ")?.split(" | ");
        let (fetches, lines) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
        Some((lines, fetches))
    };
    let pairs: Vec<Pair> = table.unwrap_or_default().lines().filter_map(pair).collect();
    if pairs.is_empty() { Err("the page has no table of pairs".into()) } else { Ok(pairs) }
}

fn machine(cpus: u32) -> Machine {
    calibrate::machine(cpus, cpus / 8)
}

/// Overheads with one pair of parameters, each table made once.
struct Tables<'o> {
    pair: Pair,
    others: &'o Table,
    made: RefCell<BTreeMap<String, Table>>,
}

impl Tables<'_> {
    fn overheads(&self, wanted: &Wanted) -> Result<Overheads, String> {
        let mut made = self.made.borrow_mut();
        let name = &wanted.file;
        if !made.contains_key(name) {
            made.insert(name.clone(), self.table(wanted)?);
        }
        counted(name, &made[name], wanted.criterion)
    }

    /// With four tasks a CPU, as sets have.
    fn table(&self, wanted: &Wanted) -> Result<Table, String> {
        let (implementation, cpus) = (wanted.implementation, wanted.cpus);
        let (machine, profile) = (&machine(cpus), {
            let (lines, fetches) = self.pair;
            Profile::X7550_ASSUMED.with_lines(lines, fetches)
        });
        let simulated = Simulated { implementation, machine, profile, length: LENGTH, seed: 1 };
        let mut table = simulated.table(&[4 * cpus]).map_err(|error| error.to_string())?;
        table.rows.extend_from_slice(&self.others.rows);
        Ok(table)
    }
}

/// What a table of the page is about: CPUs, the criterion, the factor of cache delays in
/// thousandths.
type Group = (Criterion, u32, u32);

fn groups(sweep: &Sweep) -> Vec<Group> {
    let cpus: BTreeSet<u32> = sweep.points.iter().map(|point| point.cpus).collect();
    let asked = [Criterion::Hard, Criterion::Soft];
    let groups = asked.into_iter().flat_map(|criterion| {
        let cpus = cpus.clone();
        cpus.into_iter().flat_map(move |cpus| [0, 1000].map(|delay| (criterion, cpus, delay)))
    });
    groups.collect()
}

/// What is said of one pair.
struct Line {
    pair: Pair,
    /// By curve, as [`names`] has them: the share of sets that it accepts.
    shares: Vec<f64>,
    /// How message passing is beside each.
    beside: Vec<&'static str>,
}

impl Line {
    fn of(pair: Pair, (criterion, cpus, delay): Group, sweep: &Sweep, swept: &Swept<'_>) -> Line {
        let number = |name: &&str| {
            let is = |curve: &&Curve| {
                let own = curve.costs.as_ref().is_none_or(|costs| costs.cache_delay == delay);
                curve.name == *name && curve.criterion == criterion && own
            };
            sweep.curves.iter().position(|curve| is(&curve)).expect("all curves are there")
        };
        let names = names(sweep);
        let share = |name| accepted(sweep, swept, cpus, number(name));
        let beside = |name| swept.beside(cpus, number(&PASSING), number(name)).word();
        let (shares, beside) = (names.iter().map(share), names.iter().map(beside));
        Line { pair, shares: shares.collect(), beside: beside.collect() }
    }
}

/// The share of the sets on so many CPUs that a curve accepts.
fn accepted(sweep: &Sweep, swept: &Swept<'_>, cpus: u32, curve: usize) -> f64 {
    let all = sweep.points.iter().zip(&swept.rows).filter(|(point, _)| point.cpus == cpus);
    let of = |row: &Row| (row.count(curve, None), row.sets());
    let add = |one: (u64, u64), two: (u64, u64)| (one.0 + two.0, one.1 + two.1);
    let (accepted, sets) = all.map(|(_, row)| of(row)).fold((0, 0), add);
    accepted as f64 / sets as f64
}

/// Where clusters and partitions are ahead.
const DELAYS: &str = "scenarios/sweeps/cache-delay.toml";

/// By cache delay, what its curves accept on 32 CPUs.
fn delays() -> Result<String, String> {
    let sweep = read_sweep(DELAYS)?;
    let folder = Path::new(DELAYS).parent().unwrap_or(Path::new(""));
    let plan = Plan::new(&sweep, |wanted| {
        let name = folder.join(&wanted.file).display().to_string();
        counted(&name, &read_table(&name)?, wanted.criterion)
    })?;
    let outcome = plan.run(&Working::default(), |_| {}).map_err(|e| e.to_string())?;
    let Outcome::Whole(swept) = outcome else { return Err("points are missing".into()) };
    let of_delay = |curve: &Curve| curve.costs.as_ref().map_or(0, |costs| costs.cache_delay);
    let all: BTreeSet<u32> = sweep.curves.iter().map(of_delay).collect();
    let mut text = String::from("| cache delay |");
    let first = sweep.curves.iter().filter(|curve| of_delay(curve) == 0);
    for Curve { name, criterion, .. } in first.clone() {
        text += &format!(" {name}, {} |", criterion.word());
    }
    text += &format!("\n|---|{}\n", "---|".repeat(first.count()));
    for delay in all {
        text += &format!("| x {} |", f64::from(delay) / 1000.0);
        for (n, _) in sweep.curves.iter().enumerate().filter(|(_, it)| of_delay(it) == delay) {
            text += &format!(" {:.0} |", 100.0 * accepted(&sweep, &swept, 32, n));
        }
        text.push('\n');
    }
    Ok(text)
}

/// The tables of curves, with what they come to over all pairs.
fn curves_told(names: &[&str], lines: &BTreeMap<Group, Vec<Line>>) -> String {
    let mut text = String::new();
    for criterion in [Criterion::Hard, Criterion::Soft] {
        let what = match criterion {
            Criterion::Hard => "deadlines, with the longest observed overheads",
            Criterion::Soft => "bounded tardiness, with average overheads (no guarantee)",
        };
        text += &format!(
            "The next table is about {what}. The column of each design gives the accepted share \
             of the sets in per cent:\n\n"
        );
        text += &format!("| CPUs | cache delay | lines, fetches | {} |\n", names.join(" | "));
        text += &format!("|---|---|---|{}\n", "---|".repeat(names.len()));
        for ((_, cpus, delay), lines) in lines.iter().filter(|(group, _)| group.0 == criterion) {
            for Line { pair: (lines, fetches), shares, .. } in lines {
                let shares = shares.iter().map(|share| format!("{:.0}", 100.0 * share));
                let shares = shares.collect::<Vec<_>>().join(" | ");
                text +=
                    &format!("| {cpus} | x {} | {lines}, {fetches} | {shares} |\n", delay / 1000);
            }
        }
        text.push('\n');
        for (group, lines) in lines.iter().filter(|(group, _)| group.0 == criterion) {
            text += &told(names, *group, lines);
        }
        text.push('\n');
    }
    text
}

/// An ordering holds if it holds for every pair.
fn told(names: &[&str], (criterion, cpus, delay): Group, lines: &[Line]) -> String {
    let mut orders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (n, name) in names.iter().enumerate() {
        if FREE.contains(name) || *name == PASSING {
            continue;
        }
        let words: BTreeSet<&str> = lines.iter().map(|line| line.beside[n]).collect();
        let word = if words.len() == 1 { words.first().copied() } else { None };
        orders.entry(word.unwrap_or("not determined")).or_default().push(format!("*{name}*"));
    }
    let mut text = format!("- {cpus} CPUs, cache delay x {}:", delay / 1000);
    for (word, others) in &orders {
        let others = listed(others);
        let sets =
            |how| format!(" Message passing accepts significantly {how} sets than {others}.");
        text += &match *word {
            "above" => sets("more"),
            "below" => sets("fewer"),
            _ => format!(
                " Compared with {others}, message passing has no significant advantage or \
                 disadvantage that holds for all pairs."
            ),
        };
    }
    if criterion == Criterion::Soft {
        let share = |line: &Line, name| {
            let shares = names.iter().zip(&line.shares);
            shares.filter(|it| *it.0 == name).map(|it| it.1).sum::<f64>()
        };
        let part = |line: &Line| share(line, PASSING) / share(line, SPARE);
        let least = lines.iter().map(part).fold(f64::INFINITY, f64::min);
        text += &format!(
            " The number of sets that message passing accepts is at least {:.0} % of the number \
             in the column *{SPARE}*.",
            100.0 * least
        );
    }
    text + "\n"
}

/// The CPUs of machines in which the end of the dedicated processor is looked for.
const ENDS: [u32; 6] = [8, 16, 32, 64, 128, 256];
/// It is there where a larger share of jobs is late.
const LATE: f64 = 0.01;

/// Where the dedicated processor has no time left: from what a job takes of it where there are few,
/// and as it comes out.
fn ends() -> Result<String, String> {
    let mut text = String::from(
        "| CPUs | tasks | time per job at low load | rate at load 1 | highest rate | period | time \
         per job at the highest rate | load |\n|---|---|---|---|---|---|---|---|\n",
    );
    for cpus in ENDS {
        let tasks = 4 * cpus;
        let few = Served::of(cpus, tasks, 100_000)?;
        // Of all tasks together a job comes as often as the processor is done with one.
        let period = (few.each_ns * f64::from(tasks) / 1_000.0) as u64;
        let (mut late, mut enough) = (period / 8, 2 * period);
        while enough - late > 1 + enough / 100 {
            let middle = late.midpoint(enough);
            let served = Served::of(cpus, tasks, middle)?;
            *(if served.late < LATE { &mut enough } else { &mut late }) = middle;
        }
        let most = Served::of(cpus, tasks, enough)?;
        text += &format!(
            "| {cpus} | {tasks} | {:.1} us | {:.0} jobs/s | {:.0} jobs/s | {:.2} ms | {:.1} us | \
             {:.2} |\n",
            few.each_ns / 1_000.0,
            1e9 / few.each_ns,
            f64::from(tasks) / enough as f64 * 1e6,
            enough as f64 / 1_000.0,
            most.each_ns / 1_000.0,
            most.load,
        );
    }
    Ok(text)
}

/// What the dedicated processor does.
struct Served {
    /// Its time for each job, in ns.
    each_ns: f64,
    /// The share of its time that this is.
    load: f64,
    /// The share of jobs that are late.
    late: f64,
}

impl Served {
    /// Tasks with this period that begin by chance, and use a tenth of it.
    fn of(cpus: u32, tasks: u32, period_us: u64) -> Result<Served, String> {
        let machine = machine(cpus);
        let set = vec![Sporadic::implicit((period_us / 10).max(1), period_us); tasks as usize];
        let set = TaskSet::new(set).map_err(|error| error.to_string())?;
        let design = Implementation::GedfMp.design();
        let real = Real { design, rule: Rule::default(), profile: Profile::X7550_ASSUMED };
        let options = Options { limit: Time(LENGTH.0), ..Options::default() };
        let mut random = Random::stream(1, 0, 0);
        let mut release = |_: u32, last: Option<u64>| {
            last.map_or_else(|| random.below(period_us), |last| last + period_us)
        };
        let ran = run(&machine, &set, &real, &options, &mut release);
        let late = ran.done.iter().filter(|done| done.at_us > done.deadline_us).count() as u64;
        let overdue: u64 = ran.pending.iter().map(|job| job.overdue).sum();
        let jobs = ran.done.len() as u64;
        let served = [Overhead::Handler, Overhead::Release].map(|it| ran.overheads.seen(it).sum);
        let served_ns = (served[0] + served[1]).0 as f64;
        Ok(Served {
            each_ns: served_ns / jobs.max(1) as f64,
            load: served_ns / LENGTH.0 as f64,
            late: (late + overdue) as f64 / (jobs + overdue).max(1) as f64,
        })
    }
}
