//! `wastenot bounds measure`: what locks and messages take on this machine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use wastenot_measure::{Design, Error, Row, clock, measure, usable};
use wastenot_model::report::Unit;
use wastenot_model::{Column, CpuId, CpuSet, Machine, Report, Table};
use wastenot_scenario::from_sys;
use wastenot_scenario::measured::{self, Measured, Origin};
use wastenot_sim::Overhead;

use crate::args::bounds::Measure as Args;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::verbs::check::print;
use crate::{open, progress};

/// Measures each design on each number of CPUs.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let target = args.output.as_deref().map(|path| target(path, args)).transpose()?;
    let usable = usable().map_err(|error| failed(&error))?;
    let here = Here::look(&usable);
    let runs = runs(args, &usable, &here.machine)?;
    let clock_ns = clock().0;
    let span = Duration::from_nanos(args.span.0);
    let one = |(n, run): (usize, &Run), done: &(dyn Fn(usize) + Sync)| {
        let rows = measure(run.design, &run.on, span).map_err(|error| failed(&error))?;
        done(n + 1);
        let unseen = run.unseen(&rows);
        let line = |row: Row| here.line(&row, &run.on, args.span.0 / 1_000_000, clock_ns);
        Ok((rows.into_iter().map(line).collect::<Vec<_>>(), unseen))
    };
    let measured = progress::counting("measuring", runs.len(), |done| {
        runs.iter().enumerate().map(|run| one(run, done)).collect::<Result<Vec<_>, Stop>>()
    })?;
    let (lines, unseen): (Vec<_>, Vec<_>) = measured.into_iter().unzip();
    let (lines, unseen) = (lines.concat(), unseen.concat());
    if let Some(target) = &target {
        write(target, args.append, &lines)?;
    }
    if target.is_none_or(|target| target.is_file()) {
        let mut report = here.report(&runs, &lines, &args.span.to_string());
        report.assumptions.extend(unseen);
        print(&report, &args.face)?;
    }
    Ok(Answer::Yes)
}

/// The table, which is looked at before anything is measured.
fn target(path: &Path, args: &Args) -> Result<Target, Stop> {
    let is_csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    if !is_csv && path != Path::new("-") {
        let what = format!("figures are CSV, but {} does not end in .csv", path.display());
        return Err(Stop::new(what, "use a name that ends in .csv"));
    }
    let adds = args.append && path.is_file();
    if adds {
        there(path)?;
    }
    let target = Target::new(path, args.force || adds);
    target.map_err(|stop| match stop {
        Stop::Failure { what, code, .. } if path.is_file() => {
            let help = "append to it with `--append`, or overwrite it with `--force`".to_owned();
            Stop::Failure { what, help, code }
        }
        other => other,
    })
}

/// The text of a table that is there, to which lines can be added.
fn there(path: &Path) -> Result<String, Stop> {
    let (name, text) = open::text(path, "name a table that `wastenot bounds measure` wrote")?;
    measured::read(&name, text.as_bytes()).map_err(|error| Stop::new(&error, error.help()))?;
    let header = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if header.map(str::trim_end) != Some(&measured::header()) {
        let what = format!("{name}: its columns are in the wrong order");
        return Err(Stop::new(what, format!("use the order {}", measured::header())));
    }
    Ok(text)
}

fn write(target: &Target, append: bool, lines: &[Measured]) -> Result<(), Stop> {
    let mut text = match append && target.is_file() && target.path().is_file() {
        true => there(target.path())?,
        false => measured::header(),
    };
    for line in lines {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text += &line.to_string();
    }
    text.push('\n');
    target.write(|file| file.write_all(text.as_bytes()))
}

/// A design, and the CPUs on which it is measured.
struct Run {
    design: Design,
    on: Vec<usize>,
}

impl Run {
    /// What was to be measured and is not among these rows, a sentence each.
    fn unseen(&self, rows: &[Row]) -> Vec<String> {
        let is_unseen = |kind: &&Overhead| rows.iter().all(|row| row.kind != **kind);
        let (design, cpus) = (self.design.name(), self.on.len());
        let of = |kind: &Overhead| {
            format!(
                "{} of {design} on {cpus} CPUs is not in the figures: its threads did not meet \
                 within this time (increase `--span`)",
                kind.name()
            )
        };
        self.design.kinds().iter().filter(is_unseen).map(of).collect()
    }
}

/// What is measured: each design on each number of CPUs on which it can be, from the first on.
fn runs(args: &Args, usable: &[usize], machine: &Machine) -> Result<Vec<Run>, Stop> {
    let counts = match &args.cpus {
        Some(counts) => counts.iter().map(|count| count.index()).collect(),
        None => doubling(usable.len()),
    };
    let designs: Vec<Design> = match args.designs.as_slice() {
        [] => Design::ALL.to_vec(),
        asked => asked.iter().map(|asked| asked.0).collect(),
    };
    if let Some(&asked) = counts.iter().find(|count| **count > usable.len()) {
        return Err(crowd(asked, usable));
    }
    let mut runs = Vec::new();
    for design in designs {
        let on = match design {
            Design::Line if counts.iter().any(|count| *count > 1) => pairs(usable, machine),
            _ => {
                let counts = counts.iter().filter(|count| design.cpus().contains(*count));
                counts.map(|&count| usable[..count].to_vec()).collect()
            }
        };
        runs.extend(on.into_iter().map(|on| Run { design, on }));
    }
    if runs.is_empty() {
        let what = "messages and lines need two CPUs: one writes, the other reads";
        let help = match usable.len() {
            1 => "this process may use one; remove `--design` to measure the other designs",
            _ => "use `--cpus 2` or more",
        };
        return Err(Stop::new(what, help));
    }
    Ok(runs)
}

/// Two CPUs of one socket, and two of two, as far as there are: between these a line travels. Those
/// that share a core have its caches, too.
fn pairs(usable: &[usize], machine: &Machine) -> Vec<Vec<usize>> {
    let of = |cpu: usize| machine.cpus.get(cpu).map(|cpu| (cpu.package, cpu.core));
    let (Some(&first), Some((package, core))) = (usable.first(), of(usable[0])) else {
        return Vec::new();
    };
    let mut others = usable[1..].iter().filter_map(|&cpu| Some((cpu, of(cpu)?)));
    let near = others.clone().find(|(_, it)| it.0 == package && (core.is_none() || it.1 != core));
    let far = others.find(|(_, it)| it.0 != package);
    near.into_iter().chain(far).map(|(other, _)| vec![first, other]).collect()
}

/// 1, 2, 4 and so on, and the last.
fn doubling(last: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < last);
    powers.chain([last]).collect()
}

fn crowd(asked: usize, usable: &[usize]) -> Stop {
    let list: CpuSet = usable.iter().map(|cpu| CpuId(*cpu as u16)).collect();
    let (count, s) = (usable.len(), if usable.len() == 1 { "" } else { "s" });
    let what = format!("{asked} CPUs are requested, but this process may use {count}");
    let help = format!("use at most {count} CPU{s} ({list}), or allow it more: `taskset`, cpusets");
    Stop::new(what, help)
}

fn failed(error: &Error) -> Stop {
    Stop::new(error, "containers may forbid it: run outside a container")
}

/// This machine, as far as figures depend on it.
struct Here {
    origin: Origin,
    machine: Machine,
}

impl Here {
    fn look(usable: &[usize]) -> Here {
        let read = |path: &str| fs::read_to_string(path).ok();
        let machine = from_sys(read).unwrap_or_else(|_| Machine::flat(usable.len()));
        let uname = rustix::system::uname();
        let (release, arch) = (uname.release().to_string_lossy(), uname.machine());
        let arch = arch.to_string_lossy();
        let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
        let online = machine.cpus.iter().filter(|cpu| cpu.online).count().max(usable.len());
        let origin = Origin {
            machine: model(&cpuinfo, &arch),
            machine_cpus: online as u32,
            machine_sockets: machine.count(|cpu| cpu.package).max(1) as u32,
            kernel: format!("{release} {arch}"),
            wastenot: env!("CARGO_PKG_VERSION").into(),
        };
        Here { origin, machine }
    }

    /// A line of the table.
    fn line(&self, row: &Row, on: &[usize], span_ms: u64, clock_ns: u64) -> Measured {
        let socket = |cpu: &usize| self.machine.cpus.get(*cpu)?.package;
        let mut sockets: Vec<u32> = on.iter().filter_map(socket).collect();
        sockets.sort_unstable();
        sockets.dedup();
        let share = |share| row.lengths.quantile(share).unwrap_or(0);
        Measured {
            origin: self.origin.clone(),
            design: row.design.name().into(),
            cpus: row.cpus as u32,
            sockets: sockets.len().max(1) as u32,
            kind: row.kind.name().into(),
            span_ms,
            clock_ns,
            samples: row.lengths.count,
            mean_ns: row.lengths.mean().unwrap_or(0),
            median_ns: share(0.5),
            p99_ns: share(0.99),
            p999_ns: share(0.999),
            max_ns: row.lengths.max,
        }
    }

    fn report(&self, runs: &[Run], lines: &[Measured], span: &str) -> Report {
        let origin = &self.origin;
        let mut report = Report::new("bounds-measure/1", origin.machine.clone());
        let least = runs.iter().map(|run| run.on.len()).min().unwrap_or(0);
        let most = runs.iter().map(|run| run.on.len()).max().unwrap_or(0);
        let on = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let s = if most == 1 { "" } else { "s" };
        report.verdict = format!(
            "Time to select the next task on {on} CPU{s}, if nothing else is done there; \
             measured for {span} each."
        );
        report.measure("machine", "", origin.machine.as_str(), Unit::None);
        report.measure("machine_cpus", "CPUs", origin.machine_cpus, Unit::None);
        report.measure("machine_sockets", "sockets", origin.machine_sockets, Unit::None);
        report.measure("kernel", "kernel", origin.kernel.as_str(), Unit::None);
        report.measure("wastenot", "", origin.wastenot.as_str(), Unit::None);
        let clock_ns = lines.first().map_or(0, |line| line.clock_ns);
        report.measure("clock_ns", "reading the clock", clock_ns, Unit::Ns);
        report.tables.push(table(lines));
        report.assumptions = self.assumptions(most);
        report
    }

    fn assumptions(&self, most: usize) -> Vec<String> {
        let mut said = vec![
            "interrupts and context switches are not in the figures: threads make decisions and \
             run nothing; a kernel has these overheads in addition"
                .to_owned(),
            "an interruption of a thread lengthens its current operation, and delays the threads \
             that wait for it: means and maxima depend on the current load, medians on the machine"
                .to_owned(),
            "every figure except those of lines includes reading the clock once".to_owned(),
        ];
        if self.origin.machine.ends_with(VIRTUAL) {
            said.push("the machine is virtual: the hypervisor may preempt its CPUs".to_owned());
        }
        if most < 8 {
            let s = if most == 1 { "" } else { "s" };
            said.push(format!("figures of {most} CPU{s} do not show how a design scales"));
        }
        if !self.machine.topology_known() {
            said.push("the kernel does not report which CPUs share a socket".to_owned());
        }
        if most == 1 {
            said.push("messages and lines are not measured: they need two CPUs".to_owned());
        }
        said
    }
}

/// How a machine is marked that is none.
const VIRTUAL: &str = "(virtual)";

/// The model of the CPUs, as far as it is told.
fn model(cpuinfo: &str, arch: &str) -> String {
    let value = |name: &str| {
        let is_it = |line: &&str| line.split(':').next().is_some_and(|key| key.trim() == name);
        let line = cpuinfo.lines().find(is_it)?;
        line.split_once(':').map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    };
    let names = ["model name", "cpu model", "Processor", "cpu", "uarch", "Hardware"];
    let name = names.into_iter().find_map(value).unwrap_or(arch);
    let flags = value("flags").unwrap_or_default();
    match flags.split(' ').any(|flag| flag == "hypervisor") {
        true => format!("{name} {VIRTUAL}"),
        false => name.to_owned(),
    }
}

fn table(lines: &[Measured]) -> Table {
    let columns = [
        Column::new("design", "design", Unit::None),
        Column::new("cpus", "CPUs", Unit::None),
        Column::for_programs("sockets", Unit::None),
        Column::new("kind", "kind", Unit::None),
        Column::new("samples", "samples", Unit::None),
        Column::new("mean_ns", "mean", Unit::Ns),
        Column::new("median_ns", "median", Unit::Ns),
        Column::new("p99_ns", "99 %", Unit::Ns),
        Column::for_programs("p999_ns", Unit::Ns),
        Column::new("max_ns", "max", Unit::Ns),
    ];
    let mut table = Table::new("figures", "Measured times", columns);
    table.shown = usize::MAX;
    for it in lines {
        table.push(vec![
            it.design.as_str().into(),
            it.cpus.into(),
            it.sockets.into(),
            it.kind.as_str().into(),
            it.samples.into(),
            it.mean_ns.into(),
            it.median_ns.into(),
            it.p99_ns.into(),
            it.p999_ns.into(),
            it.max_ns.into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use wastenot_model::Distribution;

    use super::*;

    #[test]
    fn lines_travel_between_cores_and_between_sockets() {
        let mut machine = Machine::flat(8);
        for (n, cpu) in machine.cpus.iter_mut().enumerate() {
            (cpu.package, cpu.core) = (Some(n as u32 / 4), Some(n as u32 / 2));
        }
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(pairs(&all, &machine), [[0, 2], [0, 4]]);
        assert_eq!(pairs(&[1, 3], &machine), [[1, 3]]);
        assert_eq!(pairs(&[2, 7], &machine), [[2, 7]]);
        assert!(pairs(&[0, 1], &machine).is_empty(), "they share a core");
        assert!(pairs(&[0], &machine).is_empty());
        assert_eq!(pairs(&[0, 1], &Machine::flat(2)), [[0, 1]], "nobody told that they do");
    }

    #[test]
    fn cpus_are_doubled_until_all_are_there() {
        assert_eq!(doubling(1), [1]);
        assert_eq!(doubling(2), [1, 2]);
        assert_eq!(doubling(6), [1, 2, 4, 6]);
        assert_eq!(doubling(8), [1, 2, 4, 8]);
    }

    #[test]
    fn a_machine_is_called_by_its_cpus() {
        let intel = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some Xeon @ 2.5GHz\n\
                     flags\t\t: fpu vme hypervisor\n";
        assert_eq!(model(intel, "x86_64"), "Some Xeon @ 2.5GHz (virtual)");
        assert_eq!(model("processor: 0\nBogoMIPS: 50\n", "aarch64"), "aarch64");
        assert_eq!(model("cpu : POWER9\n", "ppc64le"), "POWER9");
    }
    #[test]
    fn what_was_not_seen_is_told() {
        let seen = |design, kind| Row { cpus: 2, design, kind, lengths: Distribution::default() };
        let told = |design, rows: &[Row]| Run { design, on: vec![0, 1] }.unseen(rows);
        assert_eq!(told(Design::Line, &[seen(Design::Line, Overhead::RequestLatency)]), [""; 0]);
        let line = told(Design::Line, &[]);
        assert!(line[0].starts_with("CPU-REQUEST of line on 2 CPUs is not in"), "{line:?}");
        let rest = told(Design::Messages, &[seen(Design::Messages, Overhead::Schedule)]);
        assert_eq!(rest.len(), 2, "{rest:?}");
    }
}
