//! Figures: what is measured in which variant, what it is divided by, and what value is expected.

use wastenot_model::Span;

use super::Variant;
use super::fields::{Fields, expected, list, number, read_span, text};
use super::node::{Node, Value, Wrong, wrong};
use super::schema::{FIGURE, FORMULA, QUANTITY};
use wastenot_model::{shortened, suggest, suggest_of};

/// A number that a scenario produces: for each seed a quantity, possibly divided by another; then
/// one value for all seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name; unique in its scenario.
    pub name: String,
    /// The quantity.
    pub quantity: Quantity,
    /// The divisor.
    pub over: Over,
    /// How the values of all seeds become one.
    pub pick: Pick,
    /// The value in the source.
    pub published: Option<f64>,
    /// The expected range, both ends included.
    pub band: Option<(f64, f64)>,
    /// The value that a theory predicts.
    pub formula: Option<Formula>,
    /// The reason for the expected value, in one sentence.
    pub why: String,
}

/// A measure of some tasks of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The measure.
    pub measure: Measure,
    /// The names of tasks (or of marks), with `*` for any text; `None`: every awaited task (or
    /// every mark).
    pub of: Option<String>,
    /// The variant's name.
    pub variant: String,
    /// For marks: only those with at most this latency.
    pub within: Option<Span>,
    /// For waits: the percentile, in thousandths of a percent; `None` is the longest.
    pub percentile: Option<u32>,
}

impl Quantity {
    /// Whether the quantity includes a task (or mark) with this name.
    pub fn covers(&self, name: &str, awaited: bool) -> bool {
        self.of.as_ref().map_or(awaited, |pattern| covers(pattern.as_bytes(), name.as_bytes()))
    }
}

/// The divisor of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    /// Nothing: times are in nanoseconds.
    Nothing,
    /// Another quantity, for the same seed.
    Quantity(Quantity),
    /// A length of time.
    Span(Span),
    /// A number.
    Number(f64),
}

/// A prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// Its value.
    pub value: f64,
    /// The formula; may be empty.
    pub text: String,
}

/// How the values of all seeds become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pick {
    /// The median.
    Median,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The largest over the smallest.
    Spread,
    /// The mean.
    Mean,
    /// The share of seeds with at least this value.
    ShareAtLeast(f64),
}

/// The measures of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// See [`MEASURES`].
    Completion,
    /// See [`MEASURES`].
    FirstCompletion,
    /// See [`MEASURES`].
    CpuTime,
    /// See [`MEASURES`].
    Share,
    /// See [`MEASURES`].
    Slice,
    /// See [`MEASURES`].
    Switches,
    /// See [`MEASURES`].
    Wait,
    /// See [`MEASURES`].
    Migrations,
    /// See [`MEASURES`].
    RemoteMigrations,
    /// See [`MEASURES`].
    BusyWakeups,
    /// See [`MEASURES`].
    PrevIdleWakeups,
    /// See [`MEASURES`].
    Marks,
    /// See [`MEASURES`].
    Jobs,
    /// See [`MEASURES`].
    Missed,
    /// See [`MEASURES`].
    Tardiness,
    /// See [`MEASURES`].
    Response,
    /// See [`MEASURES`].
    Waste,
    /// See [`MEASURES`].
    Tasks,
}

/// Every measure with its name and meaning.
pub const MEASURES: &[(Measure, &str, &str)] = &[
    (Measure::Completion, "completion", "time at which the last task ended"),
    (Measure::FirstCompletion, "first-completion", "time at which the first task ended"),
    (Measure::CpuTime, "cpu-time", "CPU time of the tasks"),
    (Measure::Share, "share", "CPU time of the tasks, divided by the time of the run"),
    (Measure::Slice, "slice", "mean time that a task stays on a CPU between two context switches"),
    (Measure::Switches, "switches", "number of times that a task was switched in"),
    (
        Measure::Wait,
        "wait",
        "the longest time for which a task was queued before it ran; the key `percentile` selects \
         another percentile of these times",
    ),
    (Measure::Migrations, "migrations", "number of migrations to another CPU"),
    (Measure::RemoteMigrations, "remote-migrations", "number of migrations to another node"),
    (
        Measure::BusyWakeups,
        "busy-wakeups",
        "number of wakeups onto a busy CPU while an allowed CPU was idle",
    ),
    (
        Measure::PrevIdleWakeups,
        "prev-idle-wakeups",
        "number of `busy-wakeups` of tasks whose previous CPU was idle",
    ),
    (Measure::Marks, "marks", "number of marks"),
    (
        Measure::Jobs,
        "jobs",
        "under real-time schedulers: number of jobs; a job counts if it has completed, or if it \
         has missed its deadline",
    ),
    (
        Measure::Missed,
        "missed",
        "under real-time schedulers: number of jobs that missed their deadline",
    ),
    (Measure::Tardiness, "tardiness", "the maximum lateness of a job"),
    (
        Measure::Response,
        "response",
        "the longest response time: from a job's release to its completion",
    ),
    (
        Measure::Waste,
        "waste",
        "CPU time for which CPUs were idle while tasks waited elsewhere; this measure always \
         covers all tasks",
    ),
    (Measure::Tasks, "tasks", "number of tasks"),
];

/// Every pick and its meaning.
pub const PICKS: &[(&str, &str)] = &[
    ("median", "the median"),
    ("min", "the smallest"),
    ("max", "the largest"),
    ("spread", "the largest value divided by the smallest"),
    ("mean", "the mean"),
    ("share-at-least 1.6", "the share of seeds with a value of at least 1.6"),
];

impl Measure {
    /// Its name.
    pub fn name(self) -> &'static str {
        MEASURES.iter().find(|(measure, ..)| *measure == self).map_or("", |(_, name, _)| name)
    }
    /// Whether it is a length of time, in nanoseconds.
    pub fn is_time(self) -> bool {
        use Measure::{
            Completion, CpuTime, FirstCompletion, Response, Slice, Tardiness, Wait, Waste,
        };
        matches!(
            self,
            Completion | FirstCompletion | CpuTime | Response | Slice | Tardiness | Wait | Waste
        )
    }

    fn read(node: &Node) -> Result<Measure, Wrong> {
        let word = text(node, "measure")?;
        let found = MEASURES.iter().find(|(_, name, _)| *name == word);
        found.map(|(measure, ..)| *measure).ok_or_else(|| {
            let names = || MEASURES.iter().map(|(_, name, _)| *name);
            let help = suggest_of(word, names(), "use one of");
            wrong(node.at, format!("there is no measure `{}`", shortened(word)), help)
        })
    }
}

/// Reads `[[figures]]`, except those of variants that are `gone`: set parameters are not swept.
pub(super) fn read(
    nodes: &[Node],
    variants: &[Variant],
    gone: &[String],
) -> Result<Vec<Figure>, Wrong> {
    let mut figures: Vec<Figure> = Vec::new();
    for node in nodes.iter().filter(|node| !names_any(node, gone)) {
        let figure = figure(node, variants)?;
        if figures.iter().any(|known| known.name == figure.name) {
            let what = format!("there is already a figure `{}`", shortened(&figure.name));
            return Err(wrong(node.at, what, "give each figure a different name"));
        }
        if figures.len() == 1000 {
            return Err(wrong(node.at, "there are more than 1000 figures", "write fewer figures"));
        }
        figures.push(figure);
    }
    Ok(figures)
}

/// Whether a figure, or what it is divided by, is of one of these variants.
fn names_any(node: &Node, variants: &[String]) -> bool {
    let Value::Table(table) = &node.value else { return false };
    let is_gone = |node: &Node| match &node.value {
        Value::Text(name) => variants.contains(name),
        _ => false,
    };
    table.get("variant").is_some_and(is_gone)
        || table.get("over").is_some_and(|over| names_any(over, variants))
}

fn figure(node: &Node, variants: &[Variant]) -> Result<Figure, Wrong> {
    let fields = Fields::of(&FIGURE, node)?;
    fields.check()?;
    let name = text(fields.need("name", "\"ratio\"")?, "name")?.to_owned();
    fields.need("measure", "\"completion\"")?;
    let only = match variants {
        [only] => only.name.as_str(),
        _ => "",
    };
    let all = Quantity {
        measure: Measure::Completion,
        of: None,
        variant: only.to_owned(),
        within: None,
        percentile: None,
    };
    let quantity = quantity(&fields, all, variants)?;
    let over = match fields.get("over") {
        None => Over::Nothing,
        Some(node) => over(node, &quantity, variants)?,
    };
    let band = fields.get("band").map(band).transpose()?;
    Ok(Figure {
        name,
        quantity,
        over,
        pick: fields.get("pick").map_or(Ok(Pick::Median), pick)?,
        published: fields.number("published")?,
        band,
        formula: fields.get("formula").map(formula).transpose()?,
        why: fields.text("why")?.unwrap_or_default().trim().into(),
    })
}

/// The quantity in the table; keys that are absent are taken from `or`.
fn quantity(fields: &Fields, or: Quantity, variants: &[Variant]) -> Result<Quantity, Wrong> {
    let measure = fields.get("measure").map_or(Ok(or.measure), Measure::read)?;
    // A measure of tasks and a measure of marks do not share names.
    let same_kind = (measure == Measure::Marks) == (or.measure == Measure::Marks);
    let of = fields.text("of")?.map(str::to_owned).or(or.of.filter(|_| same_kind));
    let within = fields.span("within")?.or(or.within.filter(|_| measure == Measure::Marks));
    if let Some(node) = fields.get("within").filter(|_| measure != Measure::Marks) {
        return Err(wrong(node.at, "`within` is only valid for marks", "remove `within`"));
    }
    let percentile = fields.get("percentile").map(percentile).transpose()?;
    let percentile = percentile.or(or.percentile.filter(|_| measure == Measure::Wait));
    if let Some(node) = fields.get("percentile").filter(|_| measure != Measure::Wait) {
        return Err(wrong(
            node.at,
            "`percentile` is only valid with `measure = \"wait\"`",
            "remove `percentile`",
        ));
    }
    let name = fields.text("variant")?.unwrap_or(&or.variant).to_owned();
    let at = |key| fields.get(key).map_or(fields.at(), |node| node.at);
    let Some(variant) = variants.iter().find(|variant| variant.name == name) else {
        let names = || variants.iter().map(|variant| variant.name.as_str());
        let some: Vec<String> = names().take(8).map(|name| format!("`{name}`")).collect();
        let help =
            suggest(&name, names(), &format!("add `variant`, with one of {}", some.join(", ")));
        return Err(wrong(
            at("variant"),
            format!("there is no variant `{}`", shortened(&name)),
            help,
        ));
    };
    let quantity = Quantity { measure, of, variant: name, within, percentile };
    let names: Vec<&str> = match measure {
        Measure::Marks => variant.workload.marks.iter().map(String::as_str).collect(),
        _ => variant.workload.templates.iter().map(|template| template.name.as_str()).collect(),
    };
    if let Some(of) = &quantity.of
        && !names.iter().any(|name| quantity.covers(name, true))
    {
        let what = if measure == Measure::Marks { "mark" } else { "task" };
        let mut some = names.clone();
        some.dedup();
        some.truncate(12);
        let otherwise =
            format!("use a name of the variant `{}`: {}", quantity.variant, some.join(", "));
        let help = suggest(of, names.iter().copied(), &otherwise);
        return Err(wrong(at("of"), format!("there is no {what} `{}`", shortened(of)), help));
    }
    Ok(quantity)
}

fn over(node: &Node, of: &Quantity, variants: &[Variant]) -> Result<Over, Wrong> {
    let positive = |number: f64| (number > 0.0).then_some(number);
    match &node.value {
        Value::Table(_) => {
            let fields = Fields::of(&QUANTITY, node)?;
            fields.check()?;
            quantity(&fields, of.clone(), variants).map(Over::Quantity)
        }
        Value::Text(text) => match read_span(text) {
            Ok(span) if span > Span::ZERO => Ok(Over::Span(span)),
            Ok(_) => Err(expected(node, "over", "a time above zero")),
            Err(help) => Err(wrong(node.at, expected(node, "over", "").what, help)),
        },
        _ => {
            let number = positive(number(node, "over")?);
            number.map(Over::Number).ok_or_else(|| expected(node, "over", "a number above zero"))
        }
    }
}

/// In thousandths of a percent.
fn percentile(node: &Node) -> Result<u32, Wrong> {
    let thousandths = number(node, "percentile")? * 1000.0;
    let fits = (1.0..=100_000.0).contains(&thousandths) && thousandths.fract().abs() < 1e-6;
    let help = "a number from 0.001 to 100, with at most three decimals";
    fits.then_some(thousandths as u32).ok_or_else(|| expected(node, "percentile", help))
}

fn band(node: &Node) -> Result<(f64, f64), Wrong> {
    let help = "two numbers, the lower number first: [1.9, 2.1]";
    match list(node, "band")? {
        [low, high] => {
            let (low, high) = (number(low, "band")?, number(high, "band")?);
            let backwards = || {
                let what = format!("`band` has the numbers {low} and {high} in the wrong order");
                wrong(node.at, what, format!("write the lower number first: [{high}, {low}]"))
            };
            (low <= high).then_some((low, high)).ok_or_else(backwards)
        }
        _ => Err(expected(node, "band", help)),
    }
}

fn formula(node: &Node) -> Result<Formula, Wrong> {
    let Value::Table(_) = &node.value else {
        return Ok(Formula { value: number(node, "formula")?, text: String::new() });
    };
    let fields = Fields::of(&FORMULA, node)?;
    fields.check()?;
    let value = number(fields.need("value", "2.8")?, "value")?;
    Ok(Formula { value, text: fields.text("text")?.unwrap_or_default().into() })
}

fn pick(node: &Node) -> Result<Pick, Wrong> {
    let words: Vec<&str> = text(node, "pick")?.split_whitespace().collect();
    let least = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    let pick = match words[..] {
        ["median"] => Some(Pick::Median),
        ["min"] => Some(Pick::Min),
        ["max"] => Some(Pick::Max),
        ["spread"] => Some(Pick::Spread),
        ["mean"] => Some(Pick::Mean),
        ["share-at-least", number] => least(number).map(Pick::ShareAtLeast),
        _ => None,
    };
    let forms: Vec<&str> = PICKS.iter().map(|(form, _)| *form).collect();
    pick.ok_or_else(|| expected(node, "pick", &forms.join(" | ")))
}

/// Whether `name` matches `pattern`, in which `*` is any text. Backtracks only to the last `*`, so
/// that no pattern takes long.
fn covers(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star = None;
    while from < name.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, from));
            at += 1;
        } else if pattern.get(at) == Some(&name[from]) {
            (at, from) = (at + 1, from + 1);
        } else if let Some((stood, begun)) = star {
            star = Some((stood, begun + 1));
            (at, from) = (stood + 1, begun + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_and_nothing_else_does() {
        for (pattern, name, fits) in [
            ("make", "make", true),
            ("make", "make-cc", false),
            ("make*", "make", true),
            ("*-cc", "make-cc", true),
            ("m*e*c", "make-cc", true),
            ("m*e*x", "make-cc", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(covers(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
    }
}
