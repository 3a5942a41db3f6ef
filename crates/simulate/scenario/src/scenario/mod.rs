//! Scenarios: a machine, a workload and a scheduler, in variants, and what is measured.
//!
//! A scenario is a TOML file (`docs/reference/scenario.md`). Variants are made at the level of the
//! text: the tables of a variant are merged over those of the file, `${name}` is replaced by
//! parameters, and the result is read as if it were written that way. What cannot run, or would
//! never end, is refused here with its line and what to write instead.

mod build;
pub(crate) mod catalogue;
mod command;
mod cpusets;
mod dry_run;
pub(crate) mod fields;
mod figure;
mod hotplug;
mod instead;
pub(crate) mod lines;
pub(crate) mod names;
pub(crate) mod node;
pub(crate) mod program;
pub(crate) mod schema;
mod tasks;
mod variants;
pub(crate) mod verify;

use std::path::Path;

use wastenot_model::machine::{Costs, Profile};
use wastenot_model::{Machine, Span, Workload};

pub use self::verify::can_run;
pub use command::of_command;
pub use figure::{Figure, Formula, MEASURES, Measure, Over, PICKS, Pick, Quantity};
pub use instead::{Instead, Setting};
pub use program::{Form, STEPS, TIMES, WAITINGS};
pub use schema::{Key, SCHEMA, Section};

use crate::Error;
use fields::{Fields, integer};
use node::{Table, Wrong, wrong};

/// A machine with a scheduler and a workload, in variants, and what is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The file's name without `.toml`.
    pub name: String,
    /// What it shows.
    pub about: String,
    /// The source of its numbers.
    pub source: String,
    /// The number of seeds to run.
    pub seeds: u32,
    /// The simulated time at which a run is stopped.
    pub limit: Span,
    /// The variants; at least one.
    pub variants: Vec<Variant>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// What replaced contents of its file ([`Instead`]), as in `limit=2s`.
    pub changes: Vec<String>,
    /// What was left out of another tool's file, or assumed, one sentence each.
    pub notes: Vec<String>,
}

/// One run of a scenario, without the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name; unique in its scenario.
    pub name: String,
    /// The machine.
    pub machine: Machine,
    /// The costs on that machine.
    pub costs: Costs,
    /// The workload.
    pub workload: Workload,
    /// The scheduler.
    pub scheduler: Choice,
}

/// A scheduler by name, with its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its name, or the file of a policy.
    pub name: String,
    /// Tunables and their values, as written.
    pub tunables: Vec<(String, String)>,
    /// The text of that file, once it was read.
    pub text: Option<String>,
    /// The profile in the file that a tunable names, once it was read.
    pub profile: Option<Box<Profile>>,
}

impl Choice {
    /// A scheduler by name, with default settings.
    pub fn named(name: &str) -> Choice {
        Choice { name: name.into(), ..Choice::default() }
    }
}

/// Why a [`Choice`] cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The tunable with the error; `None` if the scheduler itself has the error.
    pub tunable: Option<String>,
    /// The error.
    pub what: String,
    /// What to write instead.
    pub help: String,
}

/// The maximum size of a file.
const BYTES: usize = 256 * 1024;
/// The maximum size of the text of all variants together.
const BYTES_OF_VARIANTS: usize = 4 * 1024 * 1024;
/// The maximum of `limit`.
const LIMIT: Span = Span::s(24 * 3600);
/// The default of `limit`.
pub(crate) const USUAL_LIMIT: Span = Span::s(600);

/// Reads a scenario with any scheduler names. `file` is the file's name.
pub fn scenario(file: &str, text: &str) -> Result<Scenario, Error> {
    scenario_for(file, text, &Instead::default(), &|_| Ok(()))
}

/// Reads a scenario whose schedulers `fits` accepts, with the settings in `instead`.
pub fn scenario_for(
    file: &str,
    text: &str,
    instead: &Instead,
    fits: &Fits,
) -> Result<Scenario, Error> {
    read(file, text, instead, fits).map_err(|wrong| match instead.at(wrong.at, text.len()) {
        Some(setting) => {
            Error::Setting { setting: setting.to_string(), what: wrong.what, help: wrong.help }
        }
        None => wrong.into_error(file, text),
    })
}

/// Checks whether the scheduler and its tunables exist; reads the scheduler's text if it has one.
pub(crate) type Fits<'a> = dyn Fn(&mut Choice) -> Result<(), Unfit> + 'a;

fn read(file: &str, text: &str, instead: &Instead, fits: &Fits) -> Result<Scenario, Wrong> {
    if text.len() > BYTES {
        return Err(wrong(
            BYTES,
            format!("the file has more than {} KiB", BYTES / 1024),
            "use workloads of the catalogue (`use`)",
        ));
    }
    let mut table = node::parse(text)?;
    let patch = instead.patch(&table, text.len())?;
    table.merge(&patch.head);
    let fields = Fields::new(&schema::SCENARIO, 0, &table);
    fields.check()?;
    fields.version("scenario", schema::VERSION)?;
    let limit = fields.span("limit")?.unwrap_or(USUAL_LIMIT);
    if limit == Span::ZERO || limit > LIMIT {
        let at = fields.get("limit").map_or(0, |node| node.at);
        return Err(wrong(
            at,
            "`limit` is not a valid length of a run",
            "write at most \"86400s\"",
        ));
    }
    let seeds = fields.get("seeds").map_or(Ok(5), |node| integer(node, "seeds", 1..=10_000))?;
    let drafts = variants::of(&fields, &table, &patch.variant)?;
    if drafts.len().saturating_mul(text.len()) > BYTES_OF_VARIANTS {
        let what = format!(
            "the scenario has too many variants for its size: {} variants of {} bytes each",
            drafts.len(),
            text.len()
        );
        return Err(wrong(0, what, "sweep fewer values, or split the scenario"));
    }
    let mut variants = variants::resolve(&drafts, fits, instead.machine.as_ref())?;
    let commands = variants.iter_mut().flat_map(|it| &mut it.workload.commands);
    let folder = Path::new(file).parent().and_then(Path::to_str).unwrap_or_default();
    commands.for_each(|it| it.folder = folder.into());
    let gone = match instead.set.is_empty() {
        true => Vec::new(),
        false => variants::gone(&fields, &table, &drafts)?,
    };
    let nodes = fields.list("figures")?;
    let figures = figure::read(nodes, &variants, &gone)?;
    let left_out = nodes.len() - figures.len();
    let notes = (left_out > 0).then(|| {
        format!(
            "the settings of this run replace variants, so the report has no figures of these \
             variants. Number of figures that are left out: {left_out}"
        )
    });
    Ok(Scenario {
        name: stem(file).into(),
        about: fields.text("about")?.unwrap_or_default().trim().into(),
        source: fields.text("source")?.unwrap_or_default().trim().into(),
        seeds: seeds as u32,
        limit,
        variants,
        figures,
        changes: instead.words(),
        notes: notes.into_iter().collect(),
    })
}

/// `a/b.toml` and `a/b.json` are called `b`.
pub(crate) fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".toml").or_else(|| name.strip_suffix(".json")).unwrap_or(name)
}

impl Wrong {
    /// The error with the line in place of the byte.
    pub(crate) fn into_error(self, file: &str, text: &str) -> Error {
        let before = text.as_bytes().iter().take(self.at);
        let line = 1 + before.filter(|&&byte| byte == b'\n').count();
        Error::Wrong { file: file.into(), line, what: self.what, help: self.help }
    }
}

/// A variant before its text is parsed.
struct Draft {
    name: String,
    /// Its position in the file.
    at: usize,
    table: Table,
}
