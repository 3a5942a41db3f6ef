//! Tables of overheads measured on real machines. `wastenot bounds measure` writes them, and users
//! with other machines can add to them.
//!
//! A line is about one kind of overhead of one design on a number of CPUs, and names the machine,
//! so that tables can be concatenated. Fits to such numbers take them as [`Figure`]s, which may
//! also come from Feather-Trace.

mod feather_trace;

use std::fmt;
use std::io::{BufRead, BufReader, Read};

use wastenot_model::shortened;

use crate::error::Error;
use crate::table::{Column, Row, Table};

const fn column(name: &'static str) -> Column {
    Column { name, needed: true }
}

const COLUMNS: &[Column] = &[
    column("machine"),
    column("machine_cpus"),
    column("machine_sockets"),
    column("kernel"),
    column("wastenot"),
    column("design"),
    column("cpus"),
    column("sockets"),
    column("kind"),
    column("span_ms"),
    column("clock_ns"),
    column("samples"),
    column("mean_ns"),
    column("median_ns"),
    column("p99_ns"),
    column("p999_ns"),
    column("max_ns"),
];

/// The maximum number of rows in a file.
const MOST: usize = 100_000;
/// The maximum number of CPUs of a machine.
const CPUS: u64 = 8_192;
/// The longest overhead, in ns: a quarter of an hour.
pub(crate) const LONGEST_NS: u64 = 1 << 40;

/// The first line of a table.
pub fn header() -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    names.join(",")
}

/// The machine and software behind the figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The model of its CPUs.
    pub machine: String,
    /// How many CPUs it has.
    pub machine_cpus: u32,
    /// The number of its sockets.
    pub machine_sockets: u32,
    /// Its kernel.
    pub kernel: String,
    /// The version of Wastenot that measured them.
    pub wastenot: String,
}

/// A line of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The machine and software.
    pub origin: Origin,
    /// The design: which thread decides.
    pub design: String,
    /// The number of CPUs, each with a thread of its own.
    pub cpus: u32,
    /// The number of sockets of these CPUs.
    pub sockets: u32,
    /// The kind of overhead, under Feather-Trace's name.
    pub kind: String,
    /// The duration of the measurement, in ms.
    pub span_ms: u64,
    /// The time to read the clock, in ns; every figure includes it once.
    pub clock_ns: u64,
    /// The number of samples.
    pub samples: u64,
    /// The mean, in ns.
    pub mean_ns: u64,
    /// The median, in ns.
    pub median_ns: u64,
    /// The 99th percentile, in ns.
    pub p99_ns: u64,
    /// The 99.9th percentile, in ns.
    pub p999_ns: u64,
    /// The maximum, in ns.
    pub max_ns: u64,
}

/// The line, without its end.
impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { origin, design, cpus, sockets, kind, .. } = self;
        let Origin { machine, machine_cpus, machine_sockets, kernel, wastenot } = origin;
        let [machine, kernel, wastenot] = [machine, kernel, wastenot].map(|text| cell(text));
        write!(f, "{machine},{machine_cpus},{machine_sockets},{kernel},{wastenot},")?;
        write!(f, "{design},{cpus},{sockets},{kind},{},{},", self.span_ms, self.clock_ns)?;
        write!(f, "{},{},{},", self.samples, self.mean_ns, self.median_ns)?;
        write!(f, "{},{},{}", self.p99_ns, self.p999_ns, self.max_ns)
    }
}

/// A text as a cell: on one line, and in quotes if necessary.
fn cell(text: &str) -> String {
    let text: Vec<&str> = text.split_whitespace().collect();
    let text = text.join(" ");
    match text.contains([',', '"', '#']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// The source of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// `wastenot bounds measure`: threads that do nothing but decide.
    Threads,
    /// Feather-Trace, in a kernel.
    FeatherTrace,
}

/// A measured overhead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its source.
    pub by: By,
    /// The machine.
    pub machine: String,
    /// The design, or a plugin of LITMUS^RT.
    pub design: String,
    /// The kind of overhead, under Feather-Trace's name.
    pub kind: String,
    /// The number of CPUs.
    pub cpus: u32,
    /// The number of sockets, if it is known.
    pub sockets: Option<u32>,
    /// The number of samples.
    pub samples: u64,
    /// The mean, in ns.
    pub mean_ns: u64,
    /// The median, in ns.
    pub median_ns: u64,
    /// The maximum, in ns.
    pub max_ns: u64,
}

impl From<Measured> for Figure {
    fn from(it: Measured) -> Figure {
        Figure {
            by: By::Threads,
            machine: it.origin.machine,
            design: it.design,
            kind: it.kind,
            cpus: it.cpus,
            sockets: Some(it.sockets),
            samples: it.samples,
            mean_ns: it.mean_ns,
            median_ns: it.median_ns,
            max_ns: it.max_ns,
        }
    }
}

/// Reads a table. `file` is its name in messages.
///
/// # Errors
/// The first error, with its line and column.
pub fn read(file: &str, read: impl Read) -> Result<Vec<Measured>, Error> {
    let mut table = Table::begin(file, read, COLUMNS)?;
    let mut all = Vec::new();
    while let Some(row) = table.next()? {
        if all.len() == MOST {
            return Err(table.wrong(
                format!("the file has more than {MOST} rows"),
                "keep the rows of fewer machines",
            ));
        }
        all.push(measured(&row)?);
    }
    Ok(all)
}

fn measured(row: &Row<'_>) -> Result<Measured, Error> {
    let at = |name: &str| COLUMNS.iter().position(|it| it.name == name).unwrap_or_default();
    let text = |name: &str| row.text(at(name)).unwrap_or_default().to_owned();
    let number = |name: &str, from: u64, to: u64| match row.text(at(name)).map(str::parse) {
        Some(Ok(number)) if (from..=to).contains(&number) => Ok(number),
        _ => {
            let what =
                format!("`{}` is not a whole number from {from} to {to}", shortened(&text(name)));
            Err(row.wrong(
                at(name),
                what,
                "keep the lines exactly as `wastenot bounds measure` wrote them",
            ))
        }
    };
    let cpus = |name: &str, most: u64| number(name, 1, most).map(|cpus| cpus as u32);
    let ns = |name: &str, least: u64| number(name, least, LONGEST_NS);
    let machine_cpus = cpus("machine_cpus", CPUS)?;
    let used = cpus("cpus", machine_cpus.into())?;
    let median_ns = ns("median_ns", 0)?;
    let p99_ns = ns("p99_ns", median_ns)?;
    let p999_ns = ns("p999_ns", p99_ns)?;
    Ok(Measured {
        origin: Origin {
            machine: text("machine"),
            machine_cpus,
            machine_sockets: cpus("machine_sockets", machine_cpus.into())?,
            kernel: text("kernel"),
            wastenot: text("wastenot"),
        },
        design: text("design"),
        cpus: used,
        sockets: cpus("sockets", used.into())?,
        kind: text("kind"),
        span_ms: number("span_ms", 0, LONGEST_NS)?,
        clock_ns: ns("clock_ns", 0)?,
        samples: number("samples", 1, u64::MAX)?,
        mean_ns: ns("mean_ns", 0)?,
        median_ns,
        p99_ns,
        p999_ns,
        max_ns: ns("max_ns", p999_ns)?,
    })
}

/// Reads figures from any known table: one of Wastenot's, the output of Feather-Trace's
/// `ft-compute-stats`, or samples of `ft2csv` in a file whose name contains their kind. Cycles are
/// converted to time if the number of cycles per microsecond is known.
///
/// # Errors
/// The first error, with its line.
pub fn figures(
    file: &str,
    read: impl Read,
    cycles_per_us: Option<f64>,
) -> Result<Vec<Figure>, Error> {
    let mut rest = BufReader::new(read);
    let mut first = Vec::new();
    // Read errors are reported by the reader that follows.
    let _ = rest.by_ref().take(feather_trace::LINE).read_until(b'\n', &mut first);
    let text = String::from_utf8_lossy(&first);
    let start = text.trim_start_matches(['\u{feff}', '#', ' ']);
    let is_statistics = start.starts_with("Plugin");
    let is_samples = start.starts_with(|c: char| c.is_ascii_digit());
    let whole = first.as_slice().chain(rest);
    if is_statistics {
        feather_trace::statistics(file, whole, cycles_per_us)
    } else if is_samples {
        feather_trace::samples(file, whole, cycles_per_us)
    } else {
        let rows = self::read(file, whole)?;
        Ok(rows.into_iter().map(Figure::from).collect())
    }
}
