//! Which runs there are, and running those that were not run before.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{fs, thread};

use wastenot_experiment::{Bench, Run, Sim};
use wastenot_model::{CpuId, History, Time};
use wastenot_scenario::Scenario;
use wastenot_scenario::scenario::{Choice, Instead, Setting, Variant};
use wastenot_sim::Options;

use super::rows::{Figures, OWN, Row, Rows, SIM, is_of};
use crate::guests;
use crate::parts::files;

/// Rows that several guests add to.
pub(super) type Shared = Mutex<Rows>;

fn locked(rows: &Shared) -> MutexGuard<'_, Rows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A kernel, the scheduler of the simulator that is modelled on it, and its ambient load.
pub(super) struct Known {
    pub(super) kernel: &'static str,
    pub(super) model: &'static str,
    pub(super) ambient: &'static str,
}

const fn known(kernel: &'static str, model: &'static str, ambient: &'static str) -> Known {
    Known { kernel, model, ambient }
}

/// Kernels whose own schedulers are compared with the simulator.
pub(super) const KERNELS: [Known; 6] = [
    known("5.10", "cfs-5.10", "linux-5.10"),
    known("6.1", "cfs-6.1", "linux-6.1-b"),
    known("6.12", "eevdf-6.12", "linux-6.12-b"),
    known("6.18", "eevdf-6.12", "linux-7.2"),
    known("7.2", "eevdf-6.12", "linux-7.2"),
    known("7.3", "eevdf-6.12", "linux-7.2"),
];
/// Kernels in which policies are tried. Those of 7.1 in Debian describe functions of sched_ext in
/// another way than they call them, and take no scheduler that creates a queue.
const SCHED_EXT: [&str; 5] = ["7.2", "6.18", "7.3", "7.0", "6.16"];
/// The kernel that is run several times, and how: a name, and the shift of QEMU.
pub(super) const CONTROLLED: &str = "7.2";
pub(super) const CONTROLS: [(&str, u8); 3] = [("again", 1), ("shift 0", 0), ("shift 2", 2)];
/// So begin the names of simulated runs in which newly-idle balancing costs what it does in a
/// kernel, which follows.
pub(super) const PRICED: &str = "as in";
/// The name of a kernel's first boot, and of those with policies.
pub(super) const FIRST: &str = "first";
pub(super) const POLICIES: &str = "policies";
/// An instruction takes 2 ns, unless something else is said.
const SHIFT: u8 = 1;
/// How often each workload is run in a kernel, and under a policy.
const SEEDS: u64 = 5;
const SEEDS_OF_POLICY: u64 = 2;
/// Policies in one boot.
const BATCH: usize = 6;
/// Workloads that are not run under policies: on one machine they would have to be verified again,
/// and with hotplug at each CPU that goes or comes.
const NOT_UNDER_POLICIES: [&str; 2] = ["hotplug", "twonode"];

/// A scenario, as it is and beside the ambient load of kernels.
struct Workload {
    name: String,
    plain: Scenario,
    file: String,
    text: String,
}

impl Workload {
    fn read(path: &Path) -> Result<Workload, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = path.display().to_string();
        let plain = scenario(&file, &text, &Instead::default())?;
        Ok(Workload { name: plain.name.clone(), plain, file, text })
    }

    /// Its variant, under `scheduler`.
    fn variant(&self, scheduler: &Choice) -> Result<Variant, String> {
        variant(&self.plain, &self.name, scheduler)
    }

    fn beside(
        &self,
        ambient: &str,
        scan_ns: Option<u64>,
        scheduler: &Choice,
    ) -> Result<Variant, String> {
        let mut set = vec![Setting { name: "ambient".into(), value: ambient.into() }];
        let price = |ns| Setting { name: "costs.scan".into(), value: format!("{ns}ns") };
        set.extend(scan_ns.map(price));
        let instead = Instead { set, machine: None };
        variant(&scenario(&self.file, &self.text, &instead)?, &self.name, scheduler)
    }

    fn options(&self, seed: u64) -> Options {
        let limit = Time(self.plain.limit.0);
        Options { name: self.name.clone(), seed, limit, ..Options::default() }
    }
}

fn scenario(file: &str, text: &str, instead: &Instead) -> Result<Scenario, String> {
    wastenot_experiment::scenario_with(file, text, instead).map_err(|error| error.to_string())
}

fn variant(scenario: &Scenario, workload: &str, scheduler: &Choice) -> Result<Variant, String> {
    let variant = scenario.variants.first();
    let mut variant = variant.cloned().ok_or_else(|| format!("{workload}: no variant"))?;
    variant.scheduler = scheduler.clone();
    // In one guest names tell runs apart.
    variant.name = format!("{workload} {}", scheduler.name);
    Ok(variant)
}

/// A policy: its name, and what is chosen.
struct Policy {
    name: String,
    choice: Choice,
}

/// A boot, and what is run in it.
struct Boot<'b> {
    wanted: &'b str,
    name: String,
    shift: u8,
    policies: &'b [Policy],
    seeds: u64,
}

/// All that is run.
pub(super) struct Runs {
    workloads: Vec<Workload>,
    policies: Vec<Policy>,
    /// Where a History of each kernel, scheduler and workload is kept.
    histories: PathBuf,
}

impl Runs {
    pub(super) fn new(scenarios: &Path, policies: &Path, histories: &Path) -> Result<Runs, String> {
        fs::create_dir_all(histories).map_err(|e| format!("{}: {e}", histories.display()))?;
        let scenarios = files(scenarios, "toml")?;
        let workloads =
            scenarios.iter().map(|file| Workload::read(file)).collect::<Result<_, _>>()?;
        let policy = |file: &PathBuf| {
            let mut choice = Choice::named(&file.display().to_string());
            wastenot_experiment::resolve(&mut choice, Path::new(""))
                .map_err(|error| error.to_string())?;
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok::<_, String>(Policy { name, choice })
        };
        let policies = files(policies, "rota")?.iter().map(policy).collect::<Result<_, _>>()?;
        Ok(Runs { workloads, policies, histories: histories.to_owned() })
    }

    /// A digest of all that runs are made from, but for kernels and QEMU.
    pub(super) fn digest(&self) -> Result<String, String> {
        let program = std::env::current_exe().and_then(fs::read);
        let mut all = program.map_err(|error| format!("cannot read this program: {error}"))?;
        self.workloads.iter().for_each(|it| all.extend(it.text.bytes()));
        let texts = self.policies.iter().filter_map(|it| it.choice.text.as_ref());
        texts.for_each(|text| all.extend(text.bytes()));
        Ok(wastenot_host::store::digest(&all))
    }

    /// Runs what `rows` lacks, and adds it: as many guests at once as there are CPUs here.
    pub(super) fn run(&self, rows: &Shared) -> Result<(), String> {
        let (boots, next) = (self.boots(), AtomicUsize::new(0));
        let work = || {
            while let Some(boot) = boots.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.boot(boot, rows)?;
            }
            Ok(())
        };
        let others = thread::available_parallelism().map_or(1, NonZero::get) - 1;
        thread::scope(|scope| {
            let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
            let ended = self.simulate(rows).and_then(|()| work());
            let panicked = || Err("a thread panicked".to_owned());
            others
                .into_iter()
                .fold(ended, |ended, other| ended.and(other.join().unwrap_or_else(|_| panicked())))
        })?;
        self.simulate_priced(rows)
    }

    /// All boots. What says most comes first: an interrupted run has a table of it.
    fn boots(&self) -> Vec<Boot<'_>> {
        let own = |wanted, name: &str, shift| Boot {
            wanted,
            name: name.to_owned(),
            shift,
            policies: &[],
            seeds: SEEDS,
        };
        let first = |it: &Known| own(it.kernel, FIRST, SHIFT);
        let (controlled, others): (Vec<&Known>, Vec<&Known>) =
            KERNELS.iter().partition(|it| it.kernel == CONTROLLED);
        let mut boots: Vec<Boot<'_>> = controlled.into_iter().map(first).collect();
        boots.extend(self.boots_with_policies(CONTROLLED));
        boots.extend(others.into_iter().map(first));
        boots.extend(CONTROLS.map(|(name, shift)| own(CONTROLLED, name, shift)));
        let others = SCHED_EXT.into_iter().filter(|it| *it != CONTROLLED);
        boots.extend(others.flat_map(|wanted| self.boots_with_policies(wanted)));
        boots
    }

    fn boots_with_policies<'b>(&'b self, wanted: &'b str) -> impl Iterator<Item = Boot<'b>> {
        let seeds = SEEDS_OF_POLICY;
        self.policies.chunks(BATCH).enumerate().map(move |(n, policies)| {
            let name = format!("{POLICIES} {}", n + 1);
            Boot { wanted, name, shift: SHIFT, policies, seeds }
        })
    }

    /// The models of the kernels, and all policies, in the simulator.
    fn simulate(&self, rows: &Shared) -> Result<(), String> {
        let mut cells: Vec<(Row, Variant)> = Vec::new();
        for workload in &self.workloads {
            let mut models: Vec<(&str, &str)> =
                KERNELS.iter().map(|it| (it.model, it.ambient)).collect();
            models.dedup();
            for (model, ambient) in models {
                let choice = Choice::named(model);
                let [plain, beside] =
                    [workload.variant(&choice)?, workload.beside(ambient, None, &choice)?];
                let row = |boot: &str, seed| row(SIM, boot, model, workload, seed);
                for seed in 1..=SEEDS {
                    cells.push((row(FIRST, seed), plain.clone()));
                    cells.push((row(ambient, seed), beside.clone()));
                }
            }
            for policy in &self.policies {
                for seed in 1..=SEEDS_OF_POLICY {
                    let row = row(SIM, FIRST, &policy.name, workload, seed);
                    cells.push((row, workload.variant(&policy.choice)?));
                }
            }
        }
        self.simulated(cells, rows)
    }

    /// The models of the kernels again: newly-idle balancing costs what it did in each kernel.
    fn simulate_priced(&self, rows: &Shared) -> Result<(), String> {
        let mut cells: Vec<(Row, Variant)> = Vec::new();
        for workload in &self.workloads {
            for Known { kernel, model, ambient } in &KERNELS {
                let Some(scan_ns) = scan(&locked(rows).all, kernel, &workload.name) else {
                    continue;
                };
                let variant = workload.beside(ambient, Some(scan_ns), &Choice::named(model))?;
                for seed in 1..=SEEDS {
                    let boot = format!("{PRICED} {kernel}");
                    let row = Row { scan_ns, ..row(SIM, &boot, model, workload, seed) };
                    cells.push((row, variant.clone()));
                }
            }
        }
        self.simulated(cells, rows)
    }

    fn simulated(&self, cells: Vec<(Row, Variant)>, rows: &Shared) -> Result<(), String> {
        let (count, begin) = (cells.len(), Instant::now());
        for (row, variant) in cells {
            if !locked(rows).has(&row) {
                let workload = self.workloads.iter().find(|it| it.name == row.workload);
                let options = workload.map(|it| it.options(row.seed)).unwrap_or_default();
                let ran = Sim.run(&variant, &options);
                let row = self.finished(row, &variant, ran)?;
                locked(rows).add(vec![row])?;
            }
        }
        say(&format!("simulated {count} runs in {} s", begin.elapsed().as_secs()));
        Ok(())
    }

    /// Boots a kernel until all of a boot's runs are there.
    fn boot(&self, boot: &Boot<'_>, rows: &Shared) -> Result<(), String> {
        let (bench, version) = guests::of(boot.wanted, boot.shift, &say)?;
        let own = Policy { name: OWN.to_owned(), choice: Choice::default() };
        let mut cells: Vec<(Row, Variant, Options)> = Vec::new();
        for workload in &self.workloads {
            if !boot.policies.is_empty() && NOT_UNDER_POLICIES.contains(&workload.name.as_str()) {
                continue;
            }
            for scheduler in boot.policies.iter().chain([&own]) {
                for seed in 1..=boot.seeds {
                    let row = row(&version, &boot.name, &scheduler.name, workload, seed);
                    let variant = bench.takes(workload.variant(&scheduler.choice)?);
                    cells.push((row, variant, workload.options(seed)));
                }
            }
        }
        cells.retain(|(row, ..)| !locked(rows).has(row));
        if cells.is_empty() {
            return Ok(());
        }
        let begin = Instant::now();
        say(&format!("{} ({}): {} runs to do", bench.name(), boot.name, cells.len()));
        let asked: Vec<(&Variant, Options)> =
            cells.iter().map(|(_, variant, options)| (variant, options.clone())).collect();
        bench.prepare(&asked, &|_| ()).map_err(|error| error.to_string())?;
        let mut news = Vec::new();
        for (row, variant, options) in &cells {
            news.push(self.finished(row.clone(), variant, bench.run(variant, options))?);
        }
        let (count, failed) = (news.len(), news.iter().filter(|row| row.end == FAILED).count());
        locked(rows).add(news)?;
        let seconds = begin.elapsed().as_secs();
        say(&format!(
            "{} ({}): {count} runs in {seconds} s, of which {failed} failed",
            bench.name(),
            boot.name
        ));
        Ok(())
    }

    /// The row of a run that has ended, one way or the other.
    fn finished(
        &self,
        mut row: Row,
        variant: &Variant,
        ran: Result<Run, wastenot_experiment::Error>,
    ) -> Result<Row, String> {
        match ran {
            Ok(run) => {
                let cell = run.cell(variant);
                row.end = if cell.done { "done" } else { "limit" }.to_owned();
                (row.time_ns, row.figures) = (cell.time_ns, Figures::of(&cell));
                row.cpus = variant.machine.len() as u64;
                row.scan_ns = row.scan_ns.max(price(&run.history).unwrap_or(0));
                if let Some(fault) = &cell.fault {
                    row.end = FAILED.to_owned();
                    row.why.clone_from(&fault.what);
                }
                if row.seed == 1 {
                    self.keep(&row, &run)?;
                }
            }
            Err(error) => {
                row.end = FAILED.to_owned();
                row.why = error.to_string();
                say(&format!("{} {}: {error}", row.scheduler, row.workload));
            }
        }
        Ok(row)
    }

    fn keep(&self, row: &Row, run: &Run) -> Result<(), String> {
        let Row { kernel, boot, scheduler, workload, .. } = row;
        let name = format!("{workload}+{kernel}+{boot}+{scheduler}.wn").replace(' ', "-");
        let path = self.histories.join(name);
        let mut bytes = Vec::new();
        let written = wastenot_read::write::wn(&run.history, &mut bytes);
        written.map_err(|error| format!("{}: {error}", path.display()))?;
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// How a run ended that gave no figures.
pub(super) const FAILED: &str = "failed";
fn row(kernel: &str, boot: &str, scheduler: &str, workload: &Workload, seed: u64) -> Row {
    Row {
        kernel: kernel.to_owned(),
        boot: boot.to_owned(),
        scheduler: scheduler.to_owned(),
        workload: workload.name.clone(),
        seed,
        end: String::new(),
        time_ns: 0,
        cpus: 0,
        figures: Figures::default(),
        scan_ns: 0,
        why: String::new(),
    }
}

/// What newly-idle balancing cost in a run for each CPU that it looked at, in ns: that of a CPU,
/// the median over CPUs, at the end of the run.
fn price(history: &History) -> Option<u64> {
    let machine = &history.head.machine;
    // By CPU: all that its domains cost, and how many CPUs they have.
    let mut all: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for [cpu, level, cost] in history.annex_cells("newidle", ["cpu", "domain", "end_ns"]) {
        let (cpu, level, cost): (u16, u16, u64) = (cpu.int()?, level.int()?, cost.int()?);
        let size = match level {
            0 => machine.sharing(CpuId(cpu), |it| it.node).len(),
            _ => machine.len(),
        };
        let (costs, cpus) = all.entry(cpu).or_default();
        *costs = costs.saturating_add(cost);
        *cpus += size as u64;
    }
    let mut each: Vec<u64> = all.into_values().map(|(cost, cpus)| cost / cpus.max(1)).collect();
    each.sort_unstable();
    each.get(each.len() / 2).copied()
}

/// The median of that over the runs of a workload in a kernel, under its own scheduler.
fn scan(rows: &[Row], kernel: &str, workload: &str) -> Option<u64> {
    let is = |row: &&Row| {
        is_of(row, kernel) && row.boot == FIRST && row.scheduler == OWN && row.workload == workload
    };
    let mut all: Vec<u64> = rows.iter().filter(is).map(|row| row.scan_ns).collect();
    all.retain(|ns| *ns > 0);
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

/// Tells how far it is.
fn say(what: &str) {
    let _ = writeln!(io::stderr(), "{what}");
}
