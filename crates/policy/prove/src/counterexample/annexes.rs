//! The tables of a counterexample: the parts of it that are not events. This module writes them and
//! reads them back (docs/reference/counterexample.md).

use wastenot_model::report::Unit;
use wastenot_model::{Column, CpuId, CpuSet, History, Table, Time, Value};

use crate::Error;
use crate::explore::Bounds;

/// The `format` of the source of a History that is a counterexample.
pub(crate) const FORMAT: &str = "prove";

/// The most rows of a table that is read back. The longest table has a row for every variable of
/// every CPU, and a text may declare many variables.
const ROWS: usize = 100_000;
/// The most CPUs of a counterexample that is read back: the search uses no larger machine.
pub(crate) const CPUS: usize = Bounds::FARTHEST.cpus;

const ABOUT: &str = "counterexample";
const QUEUES: &str = "queues";
const SITUATION: &str = "situation";
const VARIABLES: &str = "variables";
const NUMBERS: &str = "numbers";
const STEPS: &str = "steps";

/// The policy of a counterexample, the claim that it breaks, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) policy: String,
    pub(crate) claim: String,
    pub(crate) way: String,
    /// The CPU that it is about.
    pub(crate) cpu: CpuId,
    pub(crate) why: String,
    /// The text of the policy, or empty if it is unknown.
    pub(crate) text: String,
}

/// A queue: its name and its group.
pub(crate) type QueueOf = (String, usize);

/// The initial state of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Task {
    /// `waits`, `runs` or `away`.
    pub(crate) place: String,
    /// The CPU where it runs.
    pub(crate) cpu: Option<CpuId>,
    /// The queue where it waits, or into which its put puts it.
    pub(crate) queue: Option<QueueOf>,
    pub(crate) allowed: CpuSet,
    pub(crate) weight: i64,
    /// The CPUs for which its put looks.
    pub(crate) woken: CpuSet,
    /// The CPUs at which its put looks first, to run it directly.
    pub(crate) direct: CpuSet,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) cpu: Option<CpuId>,
    pub(crate) task: Option<usize>,
    /// The step in words.
    pub(crate) words: String,
    pub(crate) kind: String,
    pub(crate) queue: Option<QueueOf>,
    pub(crate) into: Option<QueueOf>,
    /// Another CPU.
    pub(crate) to: Option<CpuId>,
    pub(crate) passed: Option<bool>,
    pub(crate) refused: Option<bool>,
    pub(crate) event: Option<String>,
    pub(crate) var: Option<String>,
    pub(crate) before: Option<i64>,
    pub(crate) after: Option<i64>,
}

impl Row {
    /// A row that has only words.
    pub(crate) fn words(kind: &str, words: String) -> Row {
        Row { kind: kind.to_owned(), words, ..Row::default() }
    }
}

/// All tables except the steps, as they are written.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub(crate) about: About,
    /// The queues of the policy, and the level of each: there is one queue for each of its groups.
    pub(crate) queues: Vec<(String, String)>,
    pub(crate) tasks: Vec<Task>,
    /// Variables of CPUs.
    pub(crate) variables: Vec<(CpuId, String, i64)>,
    /// The inputs of a handler, if the counterexample is about a key.
    pub(crate) numbers: Vec<(String, i64)>,
}

impl Tables {
    pub(crate) fn write(&self) -> Vec<Table> {
        let mut about =
            table(ABOUT, "Counterexample", &["policy", "claim", "way", "cpu", "why", "text"]);
        let About { policy, claim, way, cpu, why, text } = self.about.clone();
        let [policy, claim, way, why, text] = [policy, claim, way, why, text].map(Value::from);
        about.push(vec![policy, claim, way, cpu.into(), why, text]);
        let mut queues = table(QUEUES, "Queues", &["queue", "per"]);
        for (queue, per) in &self.queues {
            queues.push(vec![queue.clone().into(), per.clone().into()]);
        }
        let columns =
            ["task", "place", "cpu", "queue", "group", "allowed", "weight", "woken", "direct"];
        let mut situation = table(SITUATION, "Situation", &columns);
        for (n, task) in self.tasks.iter().enumerate() {
            let (queue, group) = queue_cells(&task.queue);
            situation.push(vec![
                n.into(),
                task.place.clone().into(),
                task.cpu.into(),
                queue,
                group,
                cpus(&task.allowed),
                task.weight.into(),
                cpus(&task.woken),
                cpus(&task.direct),
            ]);
        }
        let mut variables = table(VARIABLES, "Variables of CPUs", &["cpu", "variable", "value"]);
        for (cpu, variable, value) in &self.variables {
            variables.push(vec![(*cpu).into(), variable.clone().into(), (*value).into()]);
        }
        let mut numbers = table(NUMBERS, "Numbers", &["number", "value"]);
        for (number, value) in &self.numbers {
            numbers.push(vec![number.clone().into(), (*value).into()]);
        }
        vec![about, queues, situation, variables, numbers]
    }

    pub(crate) fn read(history: &History) -> Result<Tables, Error> {
        let cpus = history.cpu_count();
        if cpus > CPUS {
            return Err(Error::TooLarge { what: format!("{cpus} CPUs"), limit: CPUS });
        }
        let about = Reading::new(history, ABOUT)?;
        let one = about.rows()?.next().ok_or(Error::NoTable { table: ABOUT })?;
        let about = About {
            policy: one.text("policy")?,
            claim: one.text("claim")?,
            way: one.text("way")?,
            cpu: one.cpu("cpu")?.ok_or_else(|| one.bad("cpu", "is missing"))?,
            why: one.text("why")?,
            text: one.text("text")?,
        };
        let queues = Reading::new(history, QUEUES)?;
        let queues = queues.rows()?.map(|row| Ok((row.text("queue")?, row.text("per")?)));
        let situation = Reading::new(history, SITUATION)?;
        let tasks = situation.rows()?.map(|row| {
            Ok(Task {
                place: row.text("place")?,
                cpu: row.cpu("cpu")?,
                queue: row.queue("queue", "group")?,
                allowed: row.cpus("allowed")?,
                weight: row.number("weight")?.unwrap_or(100),
                woken: row.cpus("woken")?,
                direct: row.cpus("direct")?,
            })
        });
        let variables = Reading::new(history, VARIABLES)?;
        let variables = variables.rows()?.map(|row| {
            let cpu = row.cpu("cpu")?.ok_or_else(|| row.bad("cpu", "is missing"))?;
            let value = row.number("value")?.ok_or_else(|| row.bad("value", "is missing"))?;
            Ok((cpu, row.text("variable")?, value))
        });
        let numbers = Reading::new(history, NUMBERS)?;
        let numbers = numbers.rows()?.map(|row| {
            let value = row.number("value")?.ok_or_else(|| row.bad("value", "is missing"))?;
            Ok((row.text("number")?, value))
        });
        Ok(Tables {
            about,
            queues: queues.collect::<Result<_, Error>>()?,
            tasks: tasks.collect::<Result<_, Error>>()?,
            variables: variables.collect::<Result<_, Error>>()?,
            numbers: numbers.collect::<Result<_, Error>>()?,
        })
    }
}

/// An empty table of steps.
pub(crate) fn steps() -> Table {
    let mut columns = vec![Column::new("time_ns", "time", Unit::At)];
    let others = [
        "cpu",
        "task",
        "step",
        "kind",
        "queue",
        "group",
        "into",
        "into_group",
        "to",
        "passed",
        "refused",
        "event",
        "var",
        "before",
        "after",
    ];
    columns.extend(others.map(|name| Column::new(name, name, Unit::None)));
    Table::new(STEPS, "Steps", columns)
}

/// Adds a step that happens at `time`.
pub(crate) fn push(steps: &mut Table, time: Time, row: Row) {
    let (queue, group) = queue_cells(&row.queue);
    let (into, into_group) = queue_cells(&row.into);
    steps.push(vec![
        time.into(),
        row.cpu.into(),
        row.task.into(),
        row.words.into(),
        row.kind.into(),
        queue,
        group,
        into,
        into_group,
        row.to.into(),
        row.passed.into(),
        row.refused.into(),
        row.event.into(),
        row.var.into(),
        row.before.into(),
        row.after.into(),
    ]);
}

/// The steps of a counterexample, and the rows that have only words.
pub(crate) fn read_steps(history: &History) -> Result<Vec<Row>, Error> {
    let reading = Reading::new(history, STEPS)?;
    let rows = reading.rows()?.map(|row| {
        Ok(Row {
            cpu: row.cpu("cpu")?,
            task: row.index("task")?,
            words: row.text("step")?,
            kind: row.text("kind")?,
            queue: row.queue("queue", "group")?,
            into: row.queue("into", "into_group")?,
            to: row.cpu("to")?,
            passed: row.bool("passed")?,
            refused: row.bool("refused")?,
            event: row.word("event")?,
            var: row.word("var")?,
            before: row.number("before")?,
            after: row.number("after")?,
        })
    });
    rows.collect()
}

/// The kind of rows that describe the initial state.
pub(crate) const AT_FIRST: &str = "at-first";
/// The kind of the row that describes what is wrong at the end.
pub(crate) const SO: &str = "so";

fn table(name: &str, label: &str, columns: &[&str]) -> Table {
    let columns: Vec<_> = columns.iter().map(|name| Column::new(name, name, Unit::None)).collect();
    Table::new(name, label, columns)
}

fn cpus(cpus: &CpuSet) -> Value {
    Value::List(cpus.iter().map(Value::from).collect())
}

fn queue_cells(queue: &Option<QueueOf>) -> (Value, Value) {
    match queue {
        Some((queue, group)) => (queue.clone().into(), (*group).into()),
        None => (Value::Unknown, Value::Unknown),
    }
}

/// A table that is read.
struct Reading<'h> {
    name: &'static str,
    table: &'h Table,
    cpus: usize,
}

impl<'h> Reading<'h> {
    fn new(history: &'h History, name: &'static str) -> Result<Reading<'h>, Error> {
        let table = history.annexes.iter().map(|annex| &annex.table).find(|it| it.name == name);
        let table = table.ok_or(Error::NoTable { table: name })?;
        Ok(Reading { name, table, cpus: history.cpu_count() })
    }

    fn rows(&self) -> Result<impl Iterator<Item = Cells<'_>>, Error> {
        let count = self.table.rows.len();
        if count > ROWS {
            return Err(Error::TooLarge {
                what: format!("{count} rows in {}", self.name),
                limit: ROWS,
            });
        }
        Ok(self.table.rows.iter().enumerate().map(|(n, cells)| Cells { of: self, n, cells }))
    }
}

/// One of its rows.
struct Cells<'h> {
    of: &'h Reading<'h>,
    n: usize,
    cells: &'h [Value],
}

impl Cells<'_> {
    fn get(&self, column: &'static str) -> Result<&Value, Error> {
        let at = self.of.table.columns.iter().position(|it| it.key == column);
        let cell = at.and_then(|at| self.cells.get(at));
        cell.ok_or_else(|| self.bad(column, "is missing"))
    }
    /// The error of a bad cell.
    fn bad(&self, column: &'static str, why: &str) -> Error {
        Error::BadCell { table: self.of.name, row: self.n + 1, column, why: why.to_owned() }
    }
    fn word(&self, column: &'static str) -> Result<Option<String>, Error> {
        match self.get(column)? {
            Value::Text(text) => Ok(Some(text.clone())),
            Value::Unknown => Ok(None),
            _ => Err(self.bad(column, "is not text")),
        }
    }
    fn text(&self, column: &'static str) -> Result<String, Error> {
        self.word(column)?.ok_or_else(|| self.bad(column, "is missing"))
    }
    fn bool(&self, column: &'static str) -> Result<Option<bool>, Error> {
        match self.get(column)? {
            Value::Bool(yes) => Ok(Some(*yes)),
            Value::Unknown => Ok(None),
            _ => Err(self.bad(column, "is neither true nor false")),
        }
    }
    fn number(&self, column: &'static str) -> Result<Option<i64>, Error> {
        match self.get(column)? {
            Value::Int(number) => Ok(Some(*number)),
            Value::Unknown => Ok(None),
            _ => Err(self.bad(column, "is not a whole number")),
        }
    }
    fn index(&self, column: &'static str) -> Result<Option<usize>, Error> {
        let index = |number| usize::try_from(number).map_err(|_| self.bad(column, "is negative"));
        self.number(column)?.map(index).transpose()
    }
    fn cpu(&self, column: &'static str) -> Result<Option<CpuId>, Error> {
        self.index(column)?.map(|number| self.numbered(column, number)).transpose()
    }
    fn numbered(&self, column: &'static str, number: usize) -> Result<CpuId, Error> {
        match number < self.of.cpus {
            true => Ok(CpuId(number as u16)),
            false => Err(self.bad(column, &format!("names CPU {number}, which does not exist"))),
        }
    }
    fn cpus(&self, column: &'static str) -> Result<CpuSet, Error> {
        let Value::List(list) = self.get(column)? else {
            return Err(self.bad(column, "is not a list of CPUs"));
        };
        let one = |value: &Value| match value {
            Value::Int(number) => {
                self.numbered(column, usize::try_from(*number).unwrap_or(usize::MAX))
            }
            _ => Err(self.bad(column, "is not a list of CPUs")),
        };
        list.iter().map(one).collect()
    }
    fn queue(&self, queue: &'static str, group: &'static str) -> Result<Option<QueueOf>, Error> {
        Ok(self.word(queue)?.zip(self.index(group)?))
    }
}
