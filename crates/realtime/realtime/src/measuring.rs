//! Measuring: what locks and messages take on this machine, as lines of a table.

use std::time::Duration;

use wastenot_measure::{Benchmark, Row, clock, measure, usable};
use wastenot_model::report::{Unit, counted};
use wastenot_model::{CpuId, CpuSet, Machine, Report, Span, Table};
use wastenot_scenario::measured::{Measured, Origin};
use wastenot_sim::Overhead;

use crate::Error;

/// This machine, as far as figures depend on it.
#[derive(Debug)]
pub struct Here {
    origin: Origin,
    machine: Machine,
    /// The CPUs that this process may use.
    usable: Vec<usize>,
    clock_ns: u64,
}

/// A benchmark, and the CPUs on which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    benchmark: Benchmark,
    on: Vec<usize>,
}

impl Run {
    /// Measures for so long: lines of the table, and a sentence on each kind that was not seen.
    ///
    /// # Errors
    /// Threads cannot be kept on their CPUs.
    pub fn measure(&self, here: &Here, span: Span) -> Result<(Vec<Measured>, Vec<String>), Error> {
        let rows = measure(self.benchmark, &self.on, Duration::from_nanos(span.0))?;
        let unseen = self.unseen(&rows);
        let lines = rows.iter().map(|row| here.line(row, &self.on, span.0 / 1_000_000));
        Ok((lines.collect(), unseen))
    }

    /// What was to be measured and is not among these rows, a sentence each.
    fn unseen(&self, rows: &[Row]) -> Vec<String> {
        let is_unseen = |kind: &&Overhead| rows.iter().all(|row| row.kind != **kind);
        let (design, cpus) = (self.benchmark.name(), self.on.len());
        let of = |kind: &Overhead| {
            format!(
                "there is no figure for {} of {design} on {cpus} CPUs, because no such operation \
                 happened within the measured time (increase `--span`)",
                kind.name()
            )
        };
        self.benchmark.kinds().iter().filter(is_unseen).map(of).collect()
    }
}

impl Here {
    /// Looks at this machine.
    ///
    /// # Errors
    /// The kernel does not report where this process may run.
    pub fn look() -> Result<Here, Error> {
        let usable = usable()?;
        let machine = wastenot_host::machine();
        let kernel = wastenot_host::kernel();
        let arch = kernel.rsplit(' ').next().unwrap_or_default();
        let cpuinfo = wastenot_host::read("/proc/cpuinfo").unwrap_or_default();
        let online = machine.cpus.iter().filter(|cpu| cpu.online).count().max(usable.len());
        let origin = Origin {
            machine: model(&cpuinfo, arch),
            machine_cpus: online as u32,
            machine_sockets: machine.count(|cpu| cpu.package).max(1) as u32,
            kernel,
            wastenot: env!("CARGO_PKG_VERSION").into(),
        };
        Ok(Here { origin, machine, usable, clock_ns: clock().0 })
    }

    /// What is measured: each benchmark on each of these numbers of CPUs that it can have, from the
    /// first on. Without numbers, on powers of two and on all; without benchmarks, all of them.
    ///
    /// # Errors
    /// There are not so many CPUs, or too few for what is asked.
    pub fn runs(
        &self,
        counts: Option<&CpuSet>,
        benchmarks: &[Benchmark],
    ) -> Result<Vec<Run>, Error> {
        let usable = &self.usable;
        let counts = match counts {
            Some(counts) => counts.iter().map(|count| count.index()).collect(),
            None => doubling(usable.len()),
        };
        let benchmarks = if benchmarks.is_empty() { &Benchmark::ALL } else { benchmarks };
        if let Some(&asked) = counts.iter().find(|count| **count > usable.len()) {
            let list: CpuSet = usable.iter().map(|cpu| CpuId(*cpu as u16)).collect();
            return Err(Error::Crowd { asked, count: usable.len(), list: list.to_string() });
        }
        let mut runs = Vec::new();
        for &benchmark in benchmarks {
            let on = match benchmark {
                Benchmark::Line if counts.iter().any(|count| *count > 1) => {
                    pairs(usable, &self.machine)
                }
                _ => {
                    let counts = counts.iter().filter(|count| benchmark.cpus().contains(*count));
                    counts.map(|&count| usable[..count].to_vec()).collect()
                }
            };
            runs.extend(on.into_iter().map(|on| Run { benchmark, on }));
        }
        if runs.is_empty() { Err(Error::TwoCpus { count: usable.len() }) } else { Ok(runs) }
    }

    /// A line of the table.
    fn line(&self, row: &Row, on: &[usize], span_ms: u64) -> Measured {
        let socket = |cpu: &usize| self.machine.cpus.get(*cpu)?.package;
        let mut sockets: Vec<u32> = on.iter().filter_map(socket).collect();
        sockets.sort_unstable();
        sockets.dedup();
        let share = |share| row.lengths.quantile(share).unwrap_or(0);
        Measured {
            origin: self.origin.clone(),
            design: row.benchmark.name().into(),
            cpus: row.cpus as u32,
            sockets: sockets.len().max(1) as u32,
            kind: row.kind.name().into(),
            span_ms,
            clock_ns: self.clock_ns,
            samples: row.lengths.count,
            mean_ns: row.lengths.mean().unwrap_or(0),
            median_ns: share(0.5),
            p99_ns: share(0.99),
            p999_ns: share(0.999),
            max_ns: row.lengths.max,
        }
    }

    /// The answer of `wastenot bounds measure`; `unseen` are sentences on what was not seen.
    pub fn report(
        &self,
        runs: &[Run],
        lines: &[Measured],
        unseen: Vec<String>,
        span: Span,
    ) -> Report {
        let origin = &self.origin;
        let mut report = Report::new("bounds-measure/1", origin.machine.clone());
        let least = runs.iter().map(|run| run.on.len()).min().unwrap_or(0);
        let most = runs.iter().map(|run| run.on.len()).max().unwrap_or(0);
        let on = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let s = if most == 1 { "" } else { "s" };
        report.verdict = format!(
            "Time to select the next task, on {on} CPU{s} without other work. Each figure was \
             measured for {span}."
        );
        report.measure("machine", "", origin.machine.as_str(), Unit::None);
        report.measure("machine_cpus", "CPUs", origin.machine_cpus, Unit::None);
        report.measure("machine_sockets", "sockets", origin.machine_sockets, Unit::None);
        report.measure("kernel", "kernel", origin.kernel.as_str(), Unit::None);
        report.measure("wastenot", "", origin.wastenot.as_str(), Unit::None);
        report.measure("clock_ns", "reading the clock", self.clock_ns, Unit::Ns);
        report.tables.push(table(lines));
        report.assumptions = self.assumptions(most);
        report.assumptions.extend(unseen);
        report
    }

    fn assumptions(&self, most: usize) -> Vec<String> {
        let mut said = vec![
            "the figures do not include interrupts and context switches: the threads make \
             scheduling decisions but run no tasks. A kernel has these overheads in addition"
                .to_owned(),
            "if a thread is interrupted, its current operation takes longer, and other threads \
             wait longer for this thread. So means and maxima depend on the current load. Medians \
             depend on the machine"
                .to_owned(),
            "every figure except `line` includes the time to read the clock once".to_owned(),
        ];
        if self.origin.machine.ends_with(VIRTUAL) {
            said.push("the machine is virtual: the hypervisor may preempt its CPUs".to_owned());
        }
        if most < 8 {
            let cpus = counted(most, "CPU");
            said.push(format!("figures of {cpus} do not show how a design scales"));
        }
        if !self.machine.topology_known() {
            said.push("the kernel does not report which CPUs share a socket".to_owned());
        }
        if most == 1 {
            said.push("messages and lines are not measured, because they need two CPUs".to_owned());
        }
        said
    }
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
    Table::of("figures", "Measured times", lines, |row, it| {
        row.cell("design", "design", it.design.as_str())
            .cell("cpus", "CPUs", it.cpus)
            .cell("sockets", "", it.sockets)
            .cell("kind", "kind", it.kind.as_str())
            .cell("samples", "samples", it.samples)
            .ns("mean_ns", "mean", it.mean_ns)
            .ns("median_ns", "median", it.median_ns)
            .ns("p99_ns", "99 %", it.p99_ns)
            .ns("p999_ns", "", it.p999_ns)
            .ns("max_ns", "max", it.max_ns)
    })
    .shown(usize::MAX)
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
        let seen =
            |benchmark, kind| Row { cpus: 2, benchmark, kind, lengths: Distribution::default() };
        let told = |benchmark, rows: &[Row]| Run { benchmark, on: vec![0, 1] }.unseen(rows);
        assert_eq!(
            told(Benchmark::Line, &[seen(Benchmark::Line, Overhead::RequestLatency)]),
            [""; 0]
        );
        let line = told(Benchmark::Line, &[]);
        assert!(line[0].contains("CPU-REQUEST of line on 2 CPUs"), "{line:?}");
        let rest = told(Benchmark::Messages, &[seen(Benchmark::Messages, Overhead::Schedule)]);
        assert_eq!(rest.len(), 2, "{rest:?}");
    }
}
