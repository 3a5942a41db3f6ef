//! Runs in a table: a line each, kept in a file while there are more to come.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use wastenot_experiment::Cell;

/// The kernel of rows that come from the simulator.
pub(super) const SIM: &str = "sim";
/// The scheduler of rows of a kernel's own.
pub(super) const OWN: &str = "own";

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The version of the kernel, or `sim`.
    pub(super) kernel: String,
    /// Which boot it was of those of this kernel.
    pub(super) boot: String,
    /// The scheduler, or the policy.
    pub(super) scheduler: String,
    /// The workload: the name of its scenario.
    pub(super) workload: String,
    pub(super) seed: u64,
    /// `done`, `limit` or `failed`.
    pub(super) end: String,
    /// How long it took, and on how many CPUs.
    pub(super) time_ns: u64,
    pub(super) cpus: u64,
    pub(super) figures: Figures,
    /// What the kernel believed newly-idle balancing to cost for each CPU that it looks at, in ns;
    /// 0 if it did not say.
    pub(super) scan_ns: u64,
    /// Why it failed.
    pub(super) why: String,
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) completion_ns: u64,
    pub(super) waste_ns: u64,
    pub(super) busy_wakeups: u64,
    pub(super) migrations: u64,
    pub(super) remote: u64,
    /// The 99th percentile of the waits.
    pub(super) wait_ns: u64,
}

const HEAD: &str = "kernel,boot,scheduler,workload,seed,end,time_ns,cpus,completion_ns,waste_ns,\
                    busy_wakeups,migrations,remote_migrations,wait_p99_ns,scan_ns,why";
/// The percentile of waits that is kept.
const SHARE: f64 = 0.99;

impl Figures {
    /// Those of a cell, of its awaited tasks.
    pub(super) fn of(cell: &Cell) -> Figures {
        let mut waits = wastenot_model::Distribution::default();
        let mut all = Figures { waste_ns: cell.waste_cpu_ns, ..Figures::default() };
        for kind in cell.kinds.iter().filter(|kind| kind.awaited) {
            all.completion_ns = all.completion_ns.max(kind.last_ns.unwrap_or(cell.time_ns));
            all.busy_wakeups += kind.busy_wakeups;
            all.migrations += kind.migrations;
            all.remote += kind.remote_migrations;
            waits.merge(&kind.waits);
        }
        all.wait_ns = waits.quantile(SHARE).unwrap_or(0);
        all
    }
}

impl Row {
    /// Whether it is the same run, whatever came of it.
    pub(super) fn is(&self, other: &Row) -> bool {
        let key = |row: &Row| {
            let Row { kernel, boot, scheduler, workload, seed, .. } = row;
            (kernel.clone(), boot.clone(), scheduler.clone(), workload.clone(), *seed)
        };
        key(self) == key(other)
    }

    fn line(&self) -> String {
        let Figures { completion_ns, waste_ns, busy_wakeups, migrations, remote, wait_ns } =
            self.figures;
        format!(
            "{},{},{},{},{},{},{},{},{completion_ns},{waste_ns},{busy_wakeups},{migrations},\
             {remote},{wait_ns},{},{}\n",
            self.kernel,
            self.boot,
            self.scheduler,
            self.workload,
            self.seed,
            self.end,
            self.time_ns,
            self.cpus,
            self.scan_ns,
            // It comes last, and a comma in it is not taken for one between fields.
            self.why.replace(['\n', '\r'], " "),
        )
    }

    fn read(line: &str) -> Option<Row> {
        let mut fields = line.splitn(16, ',');
        let mut text = || fields.next().map(str::to_owned);
        let (kernel, boot, scheduler, workload) = (text()?, text()?, text()?, text()?);
        let seed = text()?.parse().ok()?;
        let end = text()?;
        let mut number = || text()?.parse::<u64>().ok();
        let (time_ns, cpus) = (number()?, number()?);
        let figures = Figures {
            completion_ns: number()?,
            waste_ns: number()?,
            busy_wakeups: number()?,
            migrations: number()?,
            remote: number()?,
            wait_ns: number()?,
        };
        let scan_ns = number()?;
        let why = text()?;
        let row = Row {
            kernel,
            boot,
            scheduler,
            workload,
            seed,
            end,
            time_ns,
            cpus,
            figures,
            scan_ns,
            why,
        };
        Some(row)
    }
}

/// Whether a row is of a kernel, or of a version of it: `7.2.13` is of `7.2`.
pub(super) fn is_of(row: &Row, wanted: &str) -> bool {
    row.kernel.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Rows and the file that they are in.
pub(super) struct Rows {
    path: PathBuf,
    pub(super) all: Vec<Row>,
}

impl Rows {
    /// Those in a file; none if there is no such file.
    pub(super) fn read(path: &Path) -> Result<Rows, String> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| format!("{}: {error}", path.display()))?,
        };
        let mut lines = text.lines();
        if lines.next().is_some_and(|head| head != HEAD) {
            return Err(format!("{}: has other columns", path.display()));
        }
        let read = |(n, line)| {
            let row = Row::read(line);
            row.ok_or_else(|| format!("{}:{}: not a row", path.display(), n + 2))
        };
        let all = lines.enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Rows { path: path.to_owned(), all })
    }

    pub(super) fn has(&self, wanted: &Row) -> bool {
        self.all.iter().any(|row| row.is(wanted))
    }

    /// Adds rows, in the file, too.
    pub(super) fn add(&mut self, rows: Vec<Row>) -> Result<(), String> {
        let mut text = String::new();
        if self.all.is_empty() {
            text = format!("{HEAD}\n");
        }
        rows.iter().for_each(|row| text += &row.line());
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| format!("{}: {error}", self.path.display()))?;
        self.all.extend(rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let row = Row {
            kernel: "7.2.13".into(),
            boot: "shift 0".into(),
            scheduler: "gang".into(),
            workload: "make".into(),
            seed: 3,
            end: "failed".into(),
            time_ns: 5,
            cpus: 16,
            figures: Figures { completion_ns: 1, remote: 2, ..Figures::default() },
            scan_ns: 7,
            why: "a stall, after 30 s".into(),
        };
        assert_eq!(Row::read(row.line().trim_end()), Some(row.clone()));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rows.csv");
        let mut rows = Rows::read(&path).expect("none");
        rows.add(vec![row.clone()]).expect("written");
        rows.add(vec![Row { seed: 4, ..row.clone() }]).expect("written");
        let again = Rows::read(&path).expect("rows");
        assert_eq!(again.all, rows.all);
        assert!(
            again.has(&Row { time_ns: 9, ..row.clone() }) && !again.has(&Row { seed: 5, ..row })
        );
        fs::write(&path, "kernel\n").expect("written");
        assert!(Rows::read(&path).is_err());
    }
}
