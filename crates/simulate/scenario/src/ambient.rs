//! Ambient load: the kernel threads that run beside a workload on an otherwise idle machine.
//!
//! Kernel threads, by kernel: how often timers, interrupts and tasks wake them, how long they then
//! run, and whether each CPU has one; and how long an interrupt takes to wake an idle CPU. The
//! table is derived from recordings only (`make long-ambient`): the duration of a workload and its
//! waste do not enter it.

use wastenot_model::workload::{Launch, Program, Step, Template, Variate};
use wastenot_model::{CpuId, CpuSet, Machine, Span, Time, Workload, suggest_of};

/// The committed table.
const TABLE: &str = include_str!("ambient.csv");
/// Its columns.
const HEADER: &str = "ambient,what,on,every_ns,mean_ns,cv_per_mille,seen";
/// No ambient load, for scenarios that must write something.
const NONE: &str = "none";

/// An ambient load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambient {
    /// The name in a scenario: `linux-6.12`.
    pub name: String,
    /// The time from when a task is queued on an idle CPU until that CPU runs it, on average.
    pub ipi: Span,
    /// The number of wakeups behind that average.
    pub wakeups: u64,
    /// Kernel threads, by name.
    pub threads: Vec<Thread>,
}

/// Kernel threads of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Their name, without numbers: `kworker`.
    pub name: String,
    /// Whether each CPU has one, bound to it; otherwise the machine has one.
    pub each_cpu: bool,
    /// The time from one wakeup of a thread to its next, on average.
    pub every: Span,
    /// How long it then runs, on average.
    pub mean: Span,
    /// The standard deviation of that run time over its mean, in thousandths.
    pub cv_per_mille: u64,
    /// The number of wakeups behind these averages.
    pub seen: u64,
}

/// Every ambient load, in the order of the table.
///
/// # Panics
/// If the committed table is invalid; a test reads it.
pub fn all() -> Vec<Ambient> {
    read(TABLE).expect("the committed table")
}

/// The ambient load of this name; `None` for `none`.
///
/// # Errors
/// If no ambient load has this name: what to write instead.
pub(crate) fn named(name: &str) -> Result<Option<Ambient>, String> {
    let all = all();
    if name == NONE {
        return Ok(None);
    }
    let names = || all.iter().map(|ambient| ambient.name.as_str());
    match all.iter().find(|ambient| ambient.name == name) {
        Some(ambient) => Ok(Some(ambient.clone())),
        None => Err(suggest_of(name, names(), &format!("use {NONE} or"))),
    }
}

/// The table of these ambient loads.
pub fn write(all: &[Ambient]) -> String {
    let mut text = format!("{HEADER}\n");
    for Ambient { name, ipi, wakeups, threads } in all {
        text += &format!("{name},ipi,,,{},,{wakeups}\n", ipi.0);
        for thread in threads {
            let Thread { name: what, each_cpu, every, mean, cv_per_mille, seen } = thread;
            let on = if *each_cpu { "cpu" } else { "machine" };
            let (every, mean) = (every.0, mean.0);
            text += &format!("{name},{what},{on},{every},{mean},{cv_per_mille},{seen}\n");
        }
    }
    text
}

/// Reads a table; `None` if the text is not such a table.
fn read(text: &str) -> Option<Vec<Ambient>> {
    let mut all: Vec<Ambient> = Vec::new();
    for line in text.strip_prefix(HEADER)?.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(',').collect();
        let [name, what, on, every, mean, cv, seen] = words[..] else { return None };
        let (mean, seen) = (Span(mean.parse().ok()?), seen.parse().ok()?);
        if what == "ipi" {
            all.push(Ambient { name: name.into(), ipi: mean, wakeups: seen, threads: Vec::new() });
            continue;
        }
        let ambient = all.last_mut().filter(|ambient| ambient.name == name)?;
        ambient.threads.push(Thread {
            name: what.into(),
            each_cpu: on == "cpu",
            every: Span(every.parse().ok().filter(|&every| every > 0)?),
            mean,
            cv_per_mille: cv.parse().ok()?,
            seen,
        });
    }
    Some(all)
}

impl Ambient {
    /// Adds these threads to `workload`. The run does not wait for them.
    pub(crate) fn add(&self, machine: &Machine, workload: &mut Workload) {
        let online = machine.online();
        for thread in &self.threads {
            match thread.each_cpu {
                true => online.iter().for_each(|cpu| thread.launch(workload, cpu, true)),
                false => {
                    thread.launch(workload, online.iter().next().unwrap_or_default(), false);
                }
            }
        }
    }
}

impl Thread {
    fn launch(&self, workload: &mut Workload, cpu: CpuId, bound: bool) {
        let cv = self.cv_per_mille as f64 / 1_000.0;
        let steps = vec![
            Step::Loop(None),
            Step::Sleep(Variate::Exponential { mean: self.every }),
            Step::Compute(Variate::LogNormal { mean: self.mean, cv }),
            Step::End { of: 0 },
        ];
        let program = Program::new(steps).expect("it nests");
        let name = if bound { format!("{}/{cpu}", self.name) } else { self.name.clone() };
        let affinity = bound.then(|| CpuSet::from_iter([cpu]));
        let (kthread, awaited) = (true, false);
        let template = Template { affinity, kthread, awaited, ..Template::new(&name, program) };
        let template = workload.template(template);
        workload.launches.push(Launch { at: Time(0), template, from: cpu });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_table_is_read_and_written_as_it_is() {
        assert_eq!(write(&all()), TABLE);
        for ambient in all() {
            assert!(ambient.ipi > Span::ZERO && !ambient.threads.is_empty(), "{ambient:?}");
            let name = &ambient.name;
            assert_eq!(named(name).map(|it| it.map(|it| it.name)), Ok(Some(name.clone())));
        }
        assert_eq!(named("none"), Ok(None));
    }

    #[test]
    fn what_is_no_table_is_none() {
        for wrong in ["", "x", "linux,kworker,cpu,1,1,1,1", "linux,ipi,,,1", "linux,ipi,,,x,,1"] {
            assert_eq!(read(&format!("{HEADER}\n{wrong}\n")).filter(|it| !it.is_empty()), None);
        }
    }
}
