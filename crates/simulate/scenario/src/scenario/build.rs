//! Builds one variant, once its text is final: its machine, costs, scheduler and workload.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Group, GroupId, Quota, Waiting};
use wastenot_model::{Help, Machine, Span, Workload};

use super::fields::{Fields, expected, number, read_span, span, table, text};
use super::names::{Kind, Names};
use super::node::{Entry, Node, Table, Value, Wrong, wrong};
use super::schema::{BARRIER, COSTS, GROUP, LOCK, PIPE, SCENARIO};
use super::{Choice, Fits, Unfit, Variant, cpusets, hotplug, program, tasks, verify};
use crate::ambient;

/// The maximum number of tasks that all variants together launch.
const TASKS: usize = 200_000;

/// Reads variants; what they share is read only once.
pub(super) struct Variants<'a> {
    fits: &'a Fits<'a>,
    instead: Option<&'a Machine>,
    machine: Option<(String, Machine)>,
    tasks: usize,
    budget: verify::Budget,
}

impl<'a> Variants<'a> {
    /// Variants on the machine `instead`, if it is given, in place of their own.
    pub(super) fn new(fits: &'a Fits<'a>, instead: Option<&'a Machine>) -> Variants<'a> {
        Variants { fits, instead, machine: None, tasks: 0, budget: verify::Budget::default() }
    }

    pub(super) fn read(&mut self, name: &str, at: usize, table: &Table) -> Result<Variant, Wrong> {
        let fields = Fields::new(&SCENARIO, at, table);
        let machine = match self.instead {
            Some(machine) => machine.clone(),
            None => self.machine(fields.need("machine", "\"bulldozer64\"")?)?,
        };
        let (mut costs, scheduler) = (costs(&fields)?, choice(&fields, self.fits)?);
        let mut draft = tasks::Draft::new(&machine);
        shared(&fields, &mut draft.workload, &mut draft.names, &machine)?;
        tasks::read(fields.list("tasks")?, &mut draft)?;
        beside(&fields, &mut costs, &mut draft)?;
        cpusets::confine(&mut draft.workload);
        self.tasks += draft.workload.launches.len();
        if self.tasks > TASKS {
            let help = format!("use at most {TASKS} tasks in all variants together");
            return Err(wrong(at, "the scenario has too many tasks", help));
        }
        draft.workload.launches.sort_by_key(|launch| launch.at);
        draft.workload.hotplug = hotplug::read(fields.list("hotplug")?, &machine)?;
        verify::verify(&draft.workload, &draft.lines, &mut self.budget)?;
        let workload = draft.workload;
        Ok(Variant { name: name.into(), costs, workload, scheduler, machine })
    }

    /// The machine of a variant. Variants mostly share one, so it is cached.
    fn machine(&mut self, node: &Node) -> Result<Machine, Wrong> {
        let name = text(node, "machine")?;
        if let Some((known, machine)) = &self.machine
            && known == name
        {
            return Ok(machine.clone());
        }
        let error = |error: crate::Error| wrong(node.at, error.to_string(), error.help());
        let machine = crate::machine(name).map_err(error)?;
        self.machine = Some((name.into(), machine.clone()));
        Ok(machine)
    }
}

/// The ambient load. The latency of its interrupts comes from `[costs]`, if set there.
fn beside(fields: &Fields, costs: &mut Costs, draft: &mut tasks::Draft) -> Result<(), Wrong> {
    let Some(node) = fields.get("ambient") else { return Ok(()) };
    let error = |help| wrong(node.at, expected(node, "ambient", "").what, help);
    let Some(ambient) = ambient::named(text(node, "ambient")?).map_err(error)? else {
        return Ok(());
    };
    if fields.table("costs")?.is_none_or(|(_, costs)| costs.get("ipi").is_none()) {
        costs.ipi = ambient.ipi;
    }
    ambient.add(draft.machine, &mut draft.workload);
    draft.lines.fill(draft.workload.templates.len(), node.at);
    Ok(())
}

fn choice(fields: &Fields, fits: &Fits) -> Result<Choice, Wrong> {
    let (at, table) = table(fields.need("scheduler", "{ name = \"cfs-6.1\" }")?, "scheduler")?;
    let mut choice = Choice::default();
    for Entry { key, node, .. } in &table.entries {
        let value = node.word().ok_or_else(|| expected(node, key, "a word or a number"))?;
        match key.as_str() {
            "name" => choice.name = value,
            _ => choice.tunables.push((key.clone(), value)),
        }
    }
    if choice.name.is_empty() {
        return Err(wrong(at, "[scheduler] has no `name`", "add `name = \"cfs-6.1\"`"));
    }
    fits(&mut choice).map_err(|Unfit { tunable, what, help }| {
        let at = table.get(tunable.as_deref().unwrap_or("name")).map_or(at, |node| node.at);
        wrong(at, what, help)
    })?;
    Ok(choice)
}

fn costs(fields: &Fields) -> Result<Costs, Wrong> {
    let mut costs = Costs::default();
    let Some(node) = fields.get("costs") else { return Ok(costs) };
    let fields = Fields::of(&COSTS, node)?;
    fields.check()?;
    costs.switch = fields.span("switch")?.unwrap_or_default();
    costs.ipi = fields.span("ipi")?.unwrap_or_default();
    costs.cold = fields.span("cold")?.unwrap_or_default();
    if let Some(node) = fields.get("scan") {
        let scan = span(node, "scan")?;
        let fits = (scan <= Span::s(1)).then_some(scan);
        costs.scan = fits.ok_or_else(|| expected(node, "scan", "at most 1s"))?;
    }
    costs.spin_yields = fields.flag("spin-yields")?;
    if let Some(node) = fields.get("migration") {
        let Value::Array(values) = &node.value else {
            return Err(expected(node, "migration", "a list of four times"));
        };
        let spans: Result<Vec<Span>, Wrong> =
            values.iter().map(|value| span(value, "migration")).collect();
        let four = |_| expected(node, "migration", "four times: sibling, cache, node, further");
        costs.migration = spans?.try_into().map_err(four)?;
    }
    if let Some(node) = fields.get("smt") {
        costs.smt = speed(node, "smt")?;
    }
    for node in fields.list("remote")? {
        costs.remote.push(speed(node, "remote")?);
    }
    Ok(costs)
}

/// Speeds near zero would make runs that take nearly for ever.
fn speed(node: &Node, key: &str) -> Result<f64, Wrong> {
    let speed = number(node, key)?;
    let fits = (0.1..=1.0).contains(&speed).then_some(speed);
    fits.ok_or_else(|| expected(node, key, "a share of full speed from 0.1 to 1"))
}

/// Groups, locks, barriers, pipes and conditions.
fn shared(
    fields: &Fields,
    workload: &mut Workload,
    names: &mut Names,
    machine: &Machine,
) -> Result<(), Wrong> {
    let entries = |key| -> Result<&[Entry], Wrong> {
        Ok(fields.table(key)?.map_or(&[], |(_, table)| &table.entries))
    };
    for (n, Entry { key, at, node }) in entries("groups")?.iter().enumerate() {
        names.add(Kind::Group, key, n as u32 + 1, *at)?;
        workload.group(group(key, node, machine)?);
    }
    for (n, Entry { node, .. }) in entries("groups")?.iter().enumerate() {
        let Some((at, parent)) = parent(node)? else { continue };
        let parent = GroupId(names.find(Kind::Group, parent, at)?);
        workload.groups[n + 1].parent = Some(parent);
        check_ancestors(workload, n + 1, at)?;
    }
    for Entry { key, at, node } in entries("locks")? {
        let fields = Fields::of(&LOCK, node)?;
        fields.check()?;
        names.add(Kind::Lock, key, workload.lock(key, waiting(&fields)?).0, *at)?;
    }
    for Entry { key, at, node } in entries("barriers")? {
        let fields = Fields::of(&BARRIER, node)?;
        fields.check()?;
        fields.need("parties", "4")?;
        let parties = fields.integer("parties", 1..=100_000)?.unwrap_or(1) as u32;
        names.add(Kind::Barrier, key, workload.barrier(key, parties, waiting(&fields)?).0, *at)?;
    }
    for Entry { key, at, node } in entries("pipes")? {
        let fields = Fields::of(&PIPE, node)?;
        fields.check()?;
        let most = i64::from(u32::MAX);
        let capacity = fields.integer("capacity", 1..=most)?.map(|capacity| capacity as u32);
        let pipe = workload.pipe(key, capacity, waiting(&fields)?);
        let of = &mut workload.pipes[pipe.index()];
        of.tokens = fields.integer("tokens", 0..=most)?.unwrap_or(0) as u32;
        if fields.get("sync").is_some() {
            of.sync = fields.flag("sync")?;
        }
        if capacity.is_some_and(|capacity| of.tokens > capacity) {
            return Err(wrong(
                *at,
                "the pipe starts with more tokens than its capacity",
                "increase `capacity`",
            ));
        }
        names.add(Kind::Pipe, key, pipe.0, *at)?;
    }
    for node in fields.list("conditions")? {
        let name = text(node, "conditions")?;
        names.add(Kind::Condition, name, workload.condition(name).0, node.at)?;
    }
    Ok(())
}

fn waiting(fields: &Fields) -> Result<Waiting, Wrong> {
    let Some(node) = fields.get("waiting") else { return Ok(Waiting::Block) };
    let error = |help| wrong(node.at, expected(node, "waiting", "").what, help);
    program::read_waiting(text(node, "waiting")?).map_err(error)
}

fn group(name: &str, node: &Node, machine: &Machine) -> Result<Group, Wrong> {
    let fields = Fields::of(&GROUP, node)?;
    fields.check()?;
    let mut group = Group { name: name.into(), parent: Some(GroupId(0)), ..Group::root() };
    group.session = fields.flag("session")?;
    if let Some(shares) = fields.integer("shares", 2..=262_144)? {
        group.shares = shares as u32;
    }
    if let Some(node) = fields.get("quota") {
        let written = text(node, "quota")?;
        let error = |help| wrong(node.at, expected(node, "quota", "").what, help);
        let (runtime, period) =
            written.split_once('/').ok_or_else(|| error("write \"10ms/100ms\"".to_owned()))?;
        let runtime = read_span(runtime).map_err(error)?;
        let period = read_span(period).map_err(error)?;
        if runtime < Span::us(1) || period < Span::ms(1) {
            let help = "use a quota of at least 1us and a period of at least 1ms";
            return Err(error(help.to_owned()));
        }
        group.quota = Some(Quota { runtime, period });
    }
    if let Some(node) = fields.get("cpus") {
        let list = node.word().ok_or_else(|| expected(node, "cpus", "a list: \"0-3\""))?;
        group.cpus = program::cpus(node.at, &list, machine)?;
        if group.session {
            let help = "remove `session`, or give its tasks `cpus`: a session cannot have a cpuset";
            return Err(wrong(node.at, "a session has `cpus`", help));
        }
    }
    Ok(group)
}

fn parent(node: &Node) -> Result<Option<(usize, &str)>, Wrong> {
    let fields = Fields::of(&GROUP, node)?;
    Ok(fields.text("parent")?.map(|name| (fields.get("parent").map_or(0, |n| n.at), name)))
}

/// Checks that groups nest no deeper than cgroups do in practice, and that no group is within
/// itself.
fn check_ancestors(workload: &Workload, group: usize, at: usize) -> Result<(), Wrong> {
    const DEPTH: usize = 16;
    let mut above = Some(group);
    for _ in 0..DEPTH {
        let Some(group) = above else { return Ok(()) };
        above = workload.groups[group].parent.map(GroupId::index);
    }
    let name = &workload.groups[group].name;
    let what =
        format!("the group `{name}` contains itself, or is nested deeper than {DEPTH} levels");
    Err(wrong(at, what, "give the group another parent"))
}
