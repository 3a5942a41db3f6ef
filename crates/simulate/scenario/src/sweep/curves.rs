//! Curves: how task sets are judged.

use std::collections::BTreeSet;
use std::fmt;

pub use wastenot_model::sporadic::Criterion;
use wastenot_model::{shortened, suggest_of};

use super::axis::{Numbers, nodes};
use super::points::Point;
use super::schema::CURVE;
use super::{Names, Scheduler};
use crate::scenario::fields::{Fields, expected, integer, text};
use crate::scenario::node::{Node, Wrong, wrong};
use crate::task_sets::Deadlines;

/// The maximum number of curves in a file, before criteria and cache delays multiply them.
const MOST: usize = 64;
/// The maximum cache delay, in thousandths: a hundred times that of the table.
const MOST_PER_MILLE: f64 = 100_000.0;

/// The placeholder for the number of CPUs in the name of a table.
const CPUS: &str = "${cpus}";

/// A way to judge sets. It does not affect which sets are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Its name; curves with the same name differ in criterion and cache delay only.
    pub name: String,
    /// The implementation and its table of overheads; `None`: no overheads.
    pub costs: Option<Costs>,
    /// How many CPUs run no task; per cluster, if there are clusters.
    pub spare: u32,
    /// The number of CPUs in each cluster, if sets are divided among clusters; `None`: one cluster
    /// of all CPUs.
    pub cluster: Option<u32>,
    /// The condition that a set must meet.
    pub criterion: Criterion,
}

/// The overheads of a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// The implementation: one of [`Names::implementations`].
    pub implementation: String,
    /// The file of its table, as it was written.
    overheads: String,
    /// The factor of its cache delay, in thousandths.
    pub cache_delay: u32,
}

impl Costs {
    /// The file of the table for this number of CPUs.
    pub fn table(&self, cpus: u32) -> String {
        self.overheads.replace(CPUS, &cpus.to_string())
    }
}

impl Curve {
    /// The factor of the table's cache delay; 0 without a table.
    pub fn cache_delay(&self) -> f64 {
        self.costs.as_ref().map_or(0.0, |costs| f64::from(costs.cache_delay) / 1000.0)
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.name, self.criterion.word())?;
        match &self.costs {
            Some(_) => write!(f, ", cache delay x {}", self.cache_delay()),
            None => Ok(()),
        }
    }
}

/// The settings of the file that all its curves share.
struct Whole<'f> {
    criteria: Vec<Criterion>,
    cache_delays: Vec<u32>,
    overheads: Option<&'f str>,
    /// The numbers of CPUs at all points.
    cpus: BTreeSet<u32>,
    most_spare: u32,
    /// The deadlines at some points that may be later than the next release.
    late: Option<Deadlines>,
}

/// The curves of a file, one for each criterion and cache delay.
pub(super) fn read(fields: &Fields, points: &[Point], names: &Names) -> Result<Vec<Curve>, Wrong> {
    let whole = Whole {
        criteria: criteria(fields)?,
        cache_delays: cache_delays(fields)?,
        overheads: fields.text("overheads")?,
        cpus: points.iter().map(|point| point.cpus).collect(),
        most_spare: points.iter().map(|point| point.cpus).min().unwrap_or(1) - 1,
        late: points.iter().map(|point| point.recipe.deadlines).find(|it| !it.is_constrained()),
    };
    let nodes = fields.list("curves")?;
    if nodes.is_empty() || nodes.len() > MOST {
        let what = format!("the sweep has {} curves", nodes.len());
        let help = format!("write 1 to {MOST} tables `[[curves]]`, each with a name");
        return Err(wrong(fields.get("curves").map_or(0, |node| node.at), what, help));
    }
    let mut curves: Vec<Curve> = Vec::new();
    for node in nodes {
        let fields = Fields::of(&CURVE, node)?;
        fields.check()?;
        let name = text(fields.need("name", "\"message passing\"")?, "name")?.trim();
        if name.is_empty() || curves.iter().any(|curve| curve.name == name) {
            let what = format!("a curve cannot have the name `{}`", shortened(name));
            return Err(wrong(fields.at(), what, "give each curve a different name"));
        }
        whole.curve(&fields, name, names, &mut curves)?;
    }
    Ok(curves)
}

impl Whole<'_> {
    fn curve(
        &self,
        fields: &Fields,
        name: &str,
        names: &Names,
        curves: &mut Vec<Curve>,
    ) -> Result<(), Wrong> {
        let scheduler = self.scheduler(fields, names)?;
        let (implementation, takes) = scheduler.map_or((None, 0), |it| (Some(it.name), it.takes));
        let cluster = self.cluster(fields)?;
        let most_spare = cluster.map_or(self.most_spare, |cpus| cpus - 1);
        let spare = match fields.get("spare") {
            None if takes <= most_spare => takes,
            None => {
                let what = format!("at some points, the curve `{name}` leaves no CPU for tasks");
                let help = match cluster {
                    Some(_) => "use a larger `cluster`",
                    None => "start `cpus` with a larger number",
                };
                return Err(wrong(fields.at(), what, help));
            }
            Some(node) => integer(node, "spare", i64::from(takes)..=i64::from(most_spare))? as u32,
        };
        let overheads = self.overheads(fields, implementation)?;
        let costs = |&cache_delay: &u32| {
            let implementation = implementation?.to_owned();
            Some(Costs { implementation, overheads: overheads?.to_owned(), cache_delay })
        };
        let mut costs: Vec<Option<Costs>> = self.cache_delays.iter().map(costs).collect();
        // Without overheads, all cache delays give the same curve.
        costs.dedup();
        for &criterion in &self.criteria {
            for costs in &costs {
                let (name, costs) = (name.to_owned(), costs.clone());
                curves.push(Curve { name, costs, spare, cluster, criterion });
            }
        }
        Ok(())
    }

    /// The implementation, unless it is `none`.
    fn scheduler(
        &self,
        fields: &Fields,
        names: &Names,
    ) -> Result<Option<&'static Scheduler>, Wrong> {
        let node = fields.need("implementation", "\"none\"")?;
        let written = text(node, "implementation")?;
        if written == NONE {
            return Ok(None);
        }
        let Some(found) = names.implementations.iter().find(|it| it.name == written) else {
            let known = names.implementations.iter().map(|it| it.name).chain([NONE]);
            return Err(unknown(node, "implementation", known));
        };
        match self.late.filter(|_| !found.takes_late_deadlines) {
            None => Ok(Some(found)),
            Some(late) => {
                let what = format!(
                    "the implementation `{written}` does not support deadlines that are longer \
                     than the period"
                );
                let help =
                    format!("remove `{late}` from `deadlines`, or use another implementation");
                Err(wrong(node.at, what, help))
            }
        }
    }

    /// The number of CPUs in each cluster, if it has clusters; all points must be divisible by it.
    fn cluster(&self, fields: &Fields) -> Result<Option<u32>, Wrong> {
        let Some(node) = fields.get("cluster") else { return Ok(None) };
        let size = integer(node, "cluster", 1..=i64::from(u16::MAX))? as u32;
        match self.cpus.iter().find(|cpus| *cpus % size != 0) {
            None => Ok(Some(size)),
            Some(cpus) => {
                let what = format!("{cpus} CPUs cannot be divided into clusters of {size}");
                Err(wrong(node.at, what, "write a number that divides every value of `cpus`"))
            }
        }
    }

    /// The table of a curve, if it has one.
    fn overheads<'f>(
        &'f self,
        fields: &Fields<'f>,
        implementation: Option<&str>,
    ) -> Result<Option<&'f str>, Wrong> {
        let own = fields.text("overheads")?;
        match (implementation, own.or(self.overheads)) {
            (None, _) if own.is_some() => {
                let help = "remove `overheads`, or give an implementation";
                Err(wrong(fields.at(), "the implementation `none` has no overheads", help))
            }
            (None, _) => Ok(None),
            (Some(name), None) => {
                let what = format!("the implementation `{name}` has no table of overheads");
                let help = "add `overheads = \"FILE.csv\"` here or at the top of the file, or use \
                            `none`";
                Err(wrong(fields.at(), what, help))
            }
            (Some(_), table) => Ok(table),
        }
    }
}

/// The name for no overheads.
const NONE: &str = "none";

/// The error of a text that is not a name of its kind.
pub(super) fn unknown(
    node: &Node,
    kind: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Wrong {
    let written = node.word().unwrap_or_default();
    let help = suggest_of(&written, known, "use one of");
    wrong(node.at, format!("there is no {kind} `{}`", shortened(&written)), help)
}

fn criteria(fields: &Fields) -> Result<Vec<Criterion>, Wrong> {
    let both = [Criterion::Hard, Criterion::Soft];
    let Some(node) = fields.get("criteria") else { return Ok(both.to_vec()) };
    let mut criteria = Vec::new();
    for node in nodes(node, "criteria")? {
        let written = text(node, "criteria")?;
        let found = both.into_iter().find(|criterion| criterion.word() == written);
        let found = found.filter(|found| !criteria.contains(found));
        criteria.push(found.ok_or_else(|| expected(node, "criteria", "`hard`, `soft` or both"))?);
    }
    Ok(criteria)
}

/// The maximum number of values of `cache_delay`.
const MOST_DELAYS: usize = 100;

/// The factors of the cache delay, in thousandths.
fn cache_delays(fields: &Fields) -> Result<Vec<u32>, Wrong> {
    let Some(node) = fields.get("cache_delay") else { return Ok(vec![0, 1000]) };
    let mut all = Vec::new();
    for value in Numbers::read(node, "cache_delay")?.values(None)? {
        let thousandths = (value.value * 1000.0).round();
        let exact = (value.value * 1000.0 - thousandths).abs() < 1e-6;
        if !exact || !(0.0..=MOST_PER_MILLE).contains(&thousandths) {
            let what = format!("`cache_delay` is {}", value.value);
            return Err(wrong(
                value.at,
                what,
                "write a number from 0 to 100, with at most three decimals",
            ));
        }
        let thousandths = thousandths as u32;
        if all.len() == MOST_DELAYS {
            let what = format!("`cache_delay` has more than {MOST_DELAYS} values");
            return Err(wrong(value.at, what, "make `step` larger, or list fewer values"));
        }
        if all.contains(&thousandths) {
            let what = format!("`cache_delay` contains {} twice", value.value);
            return Err(wrong(value.at, what, "remove one of the two values"));
        }
        all.push(thousandths);
    }
    Ok(all)
}
