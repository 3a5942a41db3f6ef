//! Tasks with programs of their own, or from the catalogue.

use wastenot_model::workload::{Class, GroupId, Launch, Program, Step, Template, TemplateId};
use wastenot_model::{CpuId, CpuSet, Machine, Span, Time, Workload, shortened};

use super::catalogue::{self, Function, Maker};
use super::fields::{Fields, expected, text};
use super::lines::Lines;
use super::names::{Kind, Names, is_name};
use super::node::{Node, Value, Wrong, wrong};
use super::program;
use super::schema::TASK;
use super::verify::TASKS;

/// The maximum number of different marks in programs, or of CPU sets that they change to.
const NOTED: usize = 1000;

/// A workload under construction.
pub(super) struct Draft<'a> {
    pub(super) machine: &'a Machine,
    pub(super) workload: Workload,
    pub(super) names: Names,
    pub(super) lines: Lines,
}

impl<'a> Draft<'a> {
    pub(super) fn new(machine: &'a Machine) -> Draft<'a> {
        let (names, lines) = (Names::default(), Lines::default());
        Draft { machine, workload: Workload::new(), names, lines }
    }
}

/// Reads `[[tasks]]`.
pub(super) fn read(nodes: &[Node], draft: &mut Draft) -> Result<(), Wrong> {
    // Programs may fork tasks that come later in the file, so all names are read first.
    for node in nodes {
        let Value::Table(table) = &node.value else {
            return Err(expected(node, "tasks", "a table"));
        };
        if table.get("use").is_none() {
            let name = text(Fields::of(&TASK, node)?.need("name", "\"worker\"")?, "name")?;
            let template = draft.workload.template(Template::new(name, Program::default()));
            draft.names.add(Kind::Task, name, template.0, node.at)?;
            draft.lines.push(vec![node.at]);
        }
    }
    let mut own = 0;
    for node in nodes {
        let fields = Fields::of(&TASK, node)?;
        match fields.get("use") {
            Some(function) => {
                let function = catalogue::find(text(function, "use")?, function.at)?;
                from_catalogue(function, fields, draft)?;
                draft.lines.fill(draft.workload.templates.len(), node.at);
            }
            None => {
                from_program(own, &fields, draft)?;
                own += 1;
            }
        }
        if draft.workload.launches.len() as u64 > TASKS {
            let what = format!("there are more than {TASKS} tasks");
            return Err(wrong(node.at, what, "write fewer tasks"));
        }
        if draft.workload.marks.len().max(draft.workload.affinities.len()) > NOTED {
            let what = format!("the programs contain more than {NOTED} marks or CPU lists");
            return Err(wrong(node.at, what, "use fewer marks or CPU lists"));
        }
    }
    Ok(())
}

fn from_program(template: usize, fields: &Fields, draft: &mut Draft) -> Result<(), Wrong> {
    fields.check()?;
    let name = fields.text("name")?.unwrap_or_default();
    let common = common(name, fields, draft)?;
    fields.need("program", "[\"compute 2ms\"]")?;
    let lines = fields.list("program")?;
    let written = program::read(lines, draft.machine, &draft.names, &mut draft.workload)?;
    draft.lines.set(template, written.lines);
    let mut made = Template { program: written.program, ..common };
    if let Some(node) = fields.get("class") {
        made.class = class(node, Some(&made))?;
    }
    draft.workload.templates[template] = made;
    let count = fields.integer("count", 0..=TASKS as i64)?;
    if fields.flag("forked")? {
        return match count.or(fields.get("at").map(|_| 0)) {
            None => Ok(()),
            Some(_) => {
                let help = "remove `count` and `at`: the `fork` steps set the number and the time";
                Err(wrong(
                    fields.at(),
                    "tasks that only `fork` creates cannot have `count` or `at`",
                    help,
                ))
            }
        };
    }
    let (from, at) = launched(fields, draft.machine)?;
    let launch = Launch { at, template: TemplateId(template as u32), from };
    let count = count.unwrap_or(1) as usize;
    draft.workload.launches.extend(std::iter::repeat_n(launch, count));
    Ok(())
}

fn from_catalogue(
    function: &'static Function,
    fields: Fields,
    draft: &mut Draft,
) -> Result<(), Wrong> {
    let fields = fields.and(function.arguments.iter().map(|argument| argument.name));
    fields.check()?;
    for key in ["program", "forked"] {
        if let Some(node) = fields.get(key) {
            let what = format!("`{key}` cannot be combined with `use`");
            return Err(wrong(node.at, what, "remove one of the two keys"));
        }
    }
    let takes_count = function.arguments.iter().any(|argument| argument.name == "count");
    if let Some(node) = fields.get("count").filter(|_| !takes_count) {
        let arguments: Vec<&str> = function.arguments.iter().map(|a| a.name).collect();
        let help =
            format!("use one of the arguments of {}: {}", function.name, arguments.join(", "));
        return Err(wrong(node.at, format!("{} has no argument `count`", function.name), help));
    }
    let name = fields.text("name")?.unwrap_or(function.name);
    let mut common = common(name, &fields, draft)?;
    if let Some(node) = fields.get("class") {
        common.class = class(node, None)?;
    }
    let (from, at) = launched(&fields, draft.machine)?;
    let mut maker = Maker::new(draft.machine, &mut draft.workload, common, from, at);
    function.expand(&fields, &mut maker)?;
    Ok(())
}

/// The properties that both kinds of tasks can have; the program is added later.
fn common(name: &str, fields: &Fields, draft: &Draft) -> Result<Template, Wrong> {
    let mut template = Template::new(name, Program::default());
    if !is_name(name) {
        let help = "use letters, digits and any of - _ . / :";
        return Err(wrong(fields.at(), format!("`{}` is not a valid name", shortened(name)), help));
    }
    template.nice = fields.integer("nice", -20..=19)?.unwrap_or(0) as i8;
    if let Some(node) = fields.get("group") {
        let group = draft.names.find(Kind::Group, text(node, "group")?, node.at)?;
        template.group = GroupId(group);
    }
    template.affinity = affinity(fields, draft.machine)?;
    template.kthread = fields.flag("kthread")?;
    template.awaited = !fields.flag("background")?;
    template.job = fields.integer("job", 0..=i64::from(u32::MAX))?.map(|job| job as u32);
    template.deadline = positive(fields, "deadline")?;
    template.wcet = positive(fields, "wcet")?;
    if let Some(priority) = fields.number("priority")? {
        if !(0.001..=1000.0).contains(&priority) {
            let at = fields.get("priority").map_or(fields.at(), |node| node.at);
            return Err(wrong(at, "the priority is invalid", "write a number from 0.001 to 1000"));
        }
        template.priority = priority;
    }
    Ok(template)
}

/// A scheduling class. That of deadlines needs the `task`, which has a program of its own.
fn class(node: &Node, task: Option<&Template>) -> Result<Class, Wrong> {
    let written = text(node, "class")?;
    let mut words = written.split_whitespace();
    let (name, rest) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
    let simple = match name {
        "other" => Class::Other,
        "batch" => Class::Batch,
        "idle" => Class::Idle,
        "deadline" if rest.is_empty() => return reservation(node, task),
        "fifo" | "rr" => {
            let priority = rest.first().filter(|_| rest.len() == 1);
            let priority = priority.and_then(|it| it.parse().ok());
            let priority = priority.filter(|it| (1..=99).contains(it)).ok_or_else(|| {
                let what = format!("`{name} 50`, with a priority from 1 to 99 (99 is the highest)");
                expected(node, "class", &what)
            })?;
            return Ok(match name {
                "fifo" => Class::Fifo { priority },
                _ => Class::RoundRobin { priority },
            });
        }
        _ => return Err(expected(node, "class", CLASSES)),
    };
    rest.is_empty().then_some(simple).ok_or_else(|| expected(node, "class", CLASSES))
}

const CLASSES: &str = "`other`, `batch`, `idle`, `fifo 50`, `rr 10` or `deadline`";

/// What a task of the class of deadlines asks for.
fn reservation(node: &Node, task: Option<&Template>) -> Result<Class, Wrong> {
    let error = |what: &str, help: &str| Err(wrong(node.at, what, help));
    let Some(task) = task else {
        let help = "write a `program` for the tasks, with `every 10ms` before each job";
        return error("tasks of the catalogue cannot be in the class `deadline`", help);
    };
    let mut periods = task.program.steps().iter().filter_map(|step| match step {
        Step::Beat(period) => Some(*period),
        _ => None,
    });
    let Some(period) = periods.next() else {
        let help = "add \"every 10ms\" before each job";
        return error("a task of the class `deadline` has no period", help);
    };
    if periods.any(|other| other != period) {
        let help = "write only one `every`, or several with the same period";
        return error("a task of the class `deadline` has several periods", help);
    }
    let Some(runtime) = task.wcet else {
        // What is computed from the program is too little: the kernel stops the task there.
        let help = "set the runtime, for example `wcet = \"3ms\"`. The runtime must be longer than \
                    the computation of a job, because system calls also take time";
        return error("a task of the class `deadline` has no `wcet`", help);
    };
    let deadline = task.deadline.unwrap_or(period);
    if runtime > deadline || deadline > period {
        let what = format!(
            "a task of the class `deadline` has the `wcet` {runtime}, the deadline {deadline} and \
             the period {period}"
        );
        return error(
            &what,
            "make `wcet` at most the deadline, and the deadline at most the period",
        );
    }
    Ok(Class::Deadline { runtime, deadline, period })
}

/// A length of time that is not zero.
fn positive(fields: &Fields, key: &'static str) -> Result<Option<Span>, Wrong> {
    let span = fields.span(key)?;
    match fields.get(key).filter(|_| span == Some(Span::ZERO)) {
        Some(node) => Err(expected(node, key, "a length of time, such as \"8ms\"")),
        None => Ok(span),
    }
}

fn affinity(fields: &Fields, machine: &Machine) -> Result<Option<CpuSet>, Wrong> {
    let list = |node: &Node, key| node.word().ok_or_else(|| expected(node, key, "a list: \"0-3\""));
    match (fields.get("cpus"), fields.get("nodes")) {
        (Some(_), Some(nodes)) => Err(wrong(
            nodes.at,
            "the table has both `cpus` and `nodes`",
            "remove one of the two keys",
        )),
        (Some(cpus), None) => program::cpus(cpus.at, &list(cpus, "cpus")?, machine),
        (None, Some(node)) => {
            let text = list(node, "nodes")?;
            if text.trim() == "all" {
                return Ok(None);
            }
            let nodes = CpuSet::parse(&text).filter(|nodes| !nodes.is_empty());
            let nodes = nodes.ok_or_else(|| expected(node, "nodes", "a list: \"1,2\""))?;
            let of = |cpu: &CpuId| {
                let node = machine.cpus[cpu.index()].node;
                node.is_some_and(|node| node < 8192 && nodes.contains(CpuId(node as u16)))
            };
            let cpus: CpuSet = machine.online().iter().filter(of).collect();
            let have: Vec<String> = machine.nodes().map(|node| node.to_string()).collect();
            let known = nodes.iter().all(|node| machine.nodes().any(|n| n == node.index()));
            if cpus.is_empty() || !known {
                let what = format!("the machine does not have the nodes `{}`", shortened(&text));
                return Err(wrong(node.at, what, format!("use its nodes: {}", have.join(", "))));
            }
            Ok(Some(cpus))
        }
        (None, None) => Ok(None),
    }
}

/// The CPU from which tasks are launched, and when.
fn launched(fields: &Fields, machine: &Machine) -> Result<(CpuId, Time), Wrong> {
    let at = Time(fields.span("at")?.unwrap_or_default().0);
    let first = machine.online().iter().next().unwrap_or_default();
    let from = match (fields.get("from"), fields.get("from-node")) {
        (Some(node), None) => {
            let last = machine.len() as i64 - 1;
            CpuId(super::integer(node, "from", 0..=last)? as u16)
        }
        (None, Some(node)) => {
            let number = super::integer(node, "from-node", 0..=i64::from(u16::MAX))?;
            let cpus = machine.online();
            let of = |cpu: &CpuId| machine.cpus[cpu.index()].node == Some(number as u32);
            let have = format!("use one of the {} nodes of the machine", machine.nodes().count());
            let found = cpus.iter().find(of);
            found.ok_or_else(|| wrong(node.at, format!("there is no node {number}"), have))?
        }
        (None, None) => first,
        (Some(_), Some(node)) => {
            return Err(wrong(
                node.at,
                "the table has both `from` and `from-node`",
                "remove one of the two keys",
            ));
        }
    };
    Ok((from, at))
}
