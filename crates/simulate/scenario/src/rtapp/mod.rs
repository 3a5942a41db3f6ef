//! Workloads of rt-app, as its tutorial describes them (scheduler-tools/rt-app, doc/tutorial.txt).
//!
//! Settings that a simulation cannot use are left out, and every import reports them. Threads that
//! loop for ever run until the duration is over.

mod events;
mod json;

use std::collections::BTreeSet;

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Group, GroupId, Launch, Program, Step, Template, TemplateId};
use wastenot_model::{CpuId, CpuSet, Help, Machine, Span, Time, Workload, shortened};

use crate::Error;
use crate::scenario::fields::{expected, integer, table, text};
use crate::scenario::lines::Lines;
use crate::scenario::names::{Kind, Names};
use crate::scenario::node::{Entry, Node, Table, Value, Wrong, wrong};
use crate::scenario::verify::{Budget, TASKS, verify};
use crate::scenario::{Choice, Scenario, USUAL_LIMIT, Variant, stem};
use events::Events;
use wastenot_model::suggest_of;

/// The contents of an rt-app file.
#[derive(Clone, Debug, PartialEq)]
pub struct RtApp {
    /// Its name: the file's name without its extension.
    pub name: String,
    /// The machine.
    pub machine: Machine,
    /// Its threads.
    pub workload: Workload,
    /// Its duration; `None`: until all threads have ended.
    pub limit: Option<Span>,
    /// What was left out or assumed, one sentence each.
    pub notes: Vec<String>,
}

impl RtApp {
    /// A scenario with one variant: this workload under a scheduler. Nothing in it is random, so
    /// one seed is enough.
    pub fn scenario(self, scheduler: Choice) -> Scenario {
        let RtApp { name, machine, workload, limit, notes } = self;
        let (costs, limit) = (Costs::default(), limit.unwrap_or(USUAL_LIMIT));
        let variant = Variant { name: "rt-app".into(), machine, costs, workload, scheduler };
        let (about, source) = (String::new(), "rt-app".into());
        let (variants, figures, changes) = (vec![variant], Vec::new(), Vec::new());
        Scenario { name, about, source, seeds: 1, limit, variants, figures, changes, notes }
    }
}

/// The maximum size of a file.
const BYTES: usize = 1024 * 1024;
/// The maximum number of threads.
const THREADS: i64 = TASKS as i64;
/// The default machine, if the file names no CPU beyond it and the caller names no machine.
const USUAL_MACHINE: &str = "smp4";

/// Reads an rt-app file. `file` is the file's name in messages. Such files do not name a machine:
/// without `machine`, it has as many CPUs as they name, and at least four.
pub fn from_rtapp(file: &str, text: &str, machine: Option<Machine>) -> Result<RtApp, Error> {
    let read = read(stem(file), text, machine);
    read.map_err(|wrong| wrong.into_error(file, text))
}

/// Whether a file is of rt-app and not a scenario: JSON, possibly after a comment.
pub fn is_rtapp(file: &str, text: &str) -> bool {
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    file.ends_with(".json") || begin.starts_with('{') || begin.starts_with('/')
}

fn read(name: &str, text: &str, machine: Option<Machine>) -> Result<RtApp, Wrong> {
    if text.len() > BYTES {
        return Err(wrong(BYTES, "the file has more than 1 MiB", "describe fewer threads"));
    }
    let file = json::read(text)?;
    let mut import = Import { workload: Workload::new(), machine, ..Import::default() };
    let mut limit = None;
    for Entry { key, at, node } in &file.entries {
        match key.as_str() {
            "tasks" => {}
            "global" => limit = import.global(node)?,
            "resources" => {
                import.note("the object `resources`; each resource is created at its first use");
            }
            _ => return Err(unknown("the file", key, *at, &["tasks", "global", "resources"])),
        }
    }
    let missing = || {
        wrong(0, "the file has no `tasks`", "add an object `tasks`: every rt-app file needs one")
    };
    let (_, tasks) = table(file.get("tasks").ok_or_else(missing)?, "tasks")?;
    import.tasks(tasks)?;
    let machine = import.machine()?;
    let mut workload = import.workload;
    workload.launches.sort_by_key(|launch| launch.at);
    verify(&workload, &import.lines, &mut Budget::default())?;
    let notes = import.notes.into_iter().collect();
    Ok(RtApp { name: name.into(), machine, workload, limit, notes })
}

/// Scheduling properties of a thread or phase, and how each is handled.
const PROPERTIES: &[(&str, Property)] = &[
    ("instance", Property::Thread),
    ("delay", Property::Thread),
    ("loop", Property::Thread),
    ("phases", Property::Thread),
    ("priority", Property::Thread),
    ("cpus", Property::Thread),
    ("taskgroup", Property::Thread),
    ("policy", Property::Policy),
    ("dl-runtime", Property::LeftOut("deadlines and slices that threads request")),
    ("dl-period", Property::LeftOut("deadlines and slices that threads request")),
    ("dl-deadline", Property::LeftOut("deadlines and slices that threads request")),
    ("period", Property::LeftOut("deadlines and slices that threads request")),
    ("deadline", Property::LeftOut("deadlines and slices that threads request")),
    ("util_min", Property::LeftOut("utilization clamps")),
    ("util_max", Property::LeftOut("utilization clamps")),
    ("nodes_membind", Property::LeftOut("memory binding")),
    ("numa_nodes_membind", Property::LeftOut("memory binding")),
];

/// How a property is handled.
#[derive(Clone, Copy)]
enum Property {
    /// Read together with threads and phases.
    Thread,
    /// Only ordinary scheduling is accepted.
    Policy,
    /// Left out.
    LeftOut(&'static str),
}

/// A workload under construction.
#[derive(Default)]
struct Import {
    workload: Workload,
    /// The machine, if the caller named one.
    machine: Option<Machine>,
    /// The highest CPU that was named.
    last: CpuId,
    names: Names,
    lines: Lines,
    notes: BTreeSet<String>,
}

impl Import {
    fn note(&mut self, what: &str) {
        self.notes.insert(format!("ignored: {what}"));
    }

    /// The machine of the caller, or one that has all CPUs that the file names.
    fn machine(&mut self) -> Result<Machine, Wrong> {
        if let Some(machine) = self.machine.take() {
            return Ok(machine);
        }
        let named =
            |text: &str| crate::machine(text).map_err(|e| wrong(0, e.to_string(), e.help()));
        let usual = named(USUAL_MACHINE)?;
        let cpus = self.last.index() + 1;
        let (machine, why) = match cpus <= usual.len() {
            true => (usual, "the default machine, because the file names no machine"),
            false => {
                (named(&format!("flat(1,{cpus})"))?, "a machine with all CPUs that the file uses")
            }
        };
        self.notes
            .insert(format!("machine: {}, {why}; `--machine` sets another one", machine.name));
        Ok(machine)
    }

    fn cpus(&mut self, node: &Node) -> Result<CpuSet, Wrong> {
        let Value::Array(values) = &node.value else {
            return Err(expected(node, "cpus", "a list: [0, 2]"));
        };
        let mut cpus = CpuSet::default();
        for value in values {
            let cpu = CpuId(integer(value, "cpus", 0..=CpuId::LIMIT as i64 - 1)? as u16);
            if let Some(machine) = &self.machine
                && machine.cpu(cpu).is_none_or(|cpu| !cpu.online)
            {
                let what = format!("the machine has no CPU {cpu}");
                return Err(wrong(
                    value.at,
                    what,
                    format!("use one of its CPUs: {}", machine.online()),
                ));
            }
            self.last = self.last.max(cpu);
            cpus.insert(cpu);
        }
        match cpus.is_empty() {
            true => Err(expected(node, "cpus", "a list of at least one CPU: [0, 2]")),
            false => Ok(cpus),
        }
    }

    /// The duration; all other keys are about the program rt-app itself.
    fn global(&mut self, node: &Node) -> Result<Option<Span>, Wrong> {
        let (_, global) = table(node, "global")?;
        let mut limit = None;
        for Entry { key, node, .. } in &global.entries {
            match key.as_str() {
                "duration" => {
                    let seconds = integer(node, "duration", -1..=86_400)?;
                    limit = (seconds > 0).then(|| Span::s(seconds as u64));
                }
                "default_policy" => self.policy(text(node, "default_policy")?),
                key => self.note(&format!("`global.{}`", shortened(key))),
            }
        }
        Ok(limit)
    }

    fn policy(&mut self, policy: &str) {
        if !["SCHED_OTHER", "SCHED_BATCH", ""].contains(&policy) {
            self.note(&format!(
                "the policy {}; threads with this policy run as SCHED_OTHER",
                shortened(policy)
            ));
        }
    }

    fn tasks(&mut self, tasks: &Table) -> Result<(), Wrong> {
        let mut instances = Vec::with_capacity(tasks.entries.len());
        for Entry { key, at, node } in &tasks.entries {
            let template = self.workload.template(Template::new(key, Program::default()));
            self.names.add(Kind::Task, key, template.0, *at)?;
            let (_, thread) = table(node, key)?;
            let count =
                thread.get("instance").map_or(Ok(1), |n| integer(n, "instance", 0..=THREADS))?;
            instances.push(count as u32);
        }
        let all: i64 = instances.iter().map(|&count| i64::from(count)).sum();
        if all > THREADS {
            return Err(wrong(
                0,
                format!("the file has more than {THREADS} threads"),
                "describe fewer threads",
            ));
        }
        for (n, Entry { key, at, node }) in tasks.entries.iter().enumerate() {
            let (_, thread) = table(node, key)?;
            let lines = self.thread(n, key, *at, thread, instances[n])?;
            self.lines.push(lines);
        }
        Ok(())
    }

    /// One kind of thread; returns the lines of its steps.
    fn thread(
        &mut self,
        n: usize,
        name: &str,
        at: usize,
        thread: &Table,
        instances: u32,
    ) -> Result<Vec<usize>, Wrong> {
        let mut events = Events::new(name, instances);
        let times = loops(thread, -1)?;
        if let Some(times) = times {
            events.push(at, Step::Loop(times));
            match thread.get("phases") {
                None => self.phase(thread, &mut events)?,
                Some(node) => self.phases(node, thread, &mut events)?,
            }
            events.push(at, Step::End { of: 0 });
        }
        let Events { steps, lines, .. } = events;
        let unbalanced = |_| wrong(at, "the loops are nested too deep", "use fewer nested loops");
        let mut template = Template::new(name, Program::new(steps).map_err(unbalanced)?);
        template.nice = thread.get("priority").map_or(Ok(0), |node| self.nice(node, thread))?;
        template.affinity = thread.get("cpus").map(|node| self.cpus(node)).transpose()?;
        if let Some(node) = thread.get("taskgroup") {
            template.group = self.group(text(node, "taskgroup")?, node.at)?;
        }
        self.workload.templates[n] = template;
        let delay =
            thread.get("delay").map_or(Ok(0), |node| integer(node, "delay", 0..=1 << 40))?;
        let at = Time(Span::us(delay as u64).0);
        let launch = Launch { at, template: TemplateId(n as u32), from: CpuId(0) };
        self.workload.launches.extend(std::iter::repeat_n(launch, instances as usize));
        Ok(lines)
    }

    fn phases(&mut self, node: &Node, thread: &Table, events: &mut Events) -> Result<(), Wrong> {
        let (_, phases) = table(node, "phases")?;
        let bound = |phase: &Entry| match &phase.node.value {
            Value::Table(phase) => phase.get("cpus").is_some(),
            _ => false,
        };
        let some_bound = phases.entries.iter().any(bound);
        for Entry { key, at, node } in &phases.entries {
            let (_, phase) = table(node, key)?;
            let Some(times) = loops(phase, 1)? else { continue };
            // A phase without CPUs has the CPUs of its thread.
            if let Some(node) = phase.get("cpus").or(thread.get("cpus")).filter(|_| some_bound) {
                let cpus = self.cpus(node)?;
                let set = self.workload.affinity(cpus);
                events.push(*at, Step::Affinity(set));
            }
            if let Some(node) = phase.get("priority") {
                let nice = self.nice(node, phase)?;
                events.push(*at, Step::Nice(nice));
            }
            if phase.get("taskgroup").is_some() {
                self.note("the key `taskgroup` of a phase; each thread stays in its first group");
            }
            events.push(*at, Step::Loop(times));
            self.phase(phase, events)?;
            events.push(*at, Step::End { of: 0 });
        }
        for Entry { key, at, node } in &thread.entries {
            match property(key) {
                Some(property) => self.property(property, node)?,
                None => {
                    return Err(wrong(
                        *at,
                        format!("the thread has both `{}` and `phases`", shortened(key)),
                        "move the events into the phases",
                    ));
                }
            }
        }
        Ok(())
    }

    /// The events of a phase, in their order.
    fn phase(&mut self, phase: &Table, events: &mut Events) -> Result<(), Wrong> {
        for Entry { key, at, node } in &phase.entries {
            match property(key) {
                Some(property) => self.property(property, node)?,
                None => self.event(key, *at, node, events)?,
            }
        }
        Ok(())
    }

    fn property(&mut self, property: Property, node: &Node) -> Result<(), Wrong> {
        match property {
            Property::Thread => {}
            Property::Policy => self.policy(text(node, "policy")?),
            Property::LeftOut(what) => self.note(what),
        }
        Ok(())
    }

    /// Only ordinary threads have nice values.
    fn nice(&mut self, node: &Node, of: &Table) -> Result<i8, Wrong> {
        let policy = of.get("policy").map_or(Ok("SCHED_OTHER"), |node| text(node, "policy"))?;
        match ["SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE"].contains(&policy) {
            true => integer(node, "priority", -20..=19).map(|nice| nice as i8),
            false => Ok(0),
        }
    }

    /// Groups by path: `/a/b` is within `/a`.
    fn group(&mut self, path: &str, at: usize) -> Result<GroupId, Wrong> {
        const DEPTH: usize = 16;
        let mut parent = GroupId(0);
        let mut name = String::new();
        for (depth, part) in path.split('/').filter(|part| !part.is_empty()).enumerate() {
            if depth == DEPTH {
                return Err(wrong(
                    at,
                    "the groups are nested too deep",
                    format!("nest at most {DEPTH} groups"),
                ));
            }
            name = format!("{name}/{part}");
            parent = match self.names.known(Kind::Group, &name) {
                Some(group) => GroupId(group),
                None => {
                    let group = Group { name: name.clone(), parent: Some(parent), ..Group::root() };
                    let group = self.workload.group(group);
                    self.names.add(Kind::Group, &name, group.0, at)?;
                    group
                }
            };
        }
        Ok(parent)
    }
}

fn property(key: &str) -> Option<Property> {
    PROPERTIES.iter().find(|(name, _)| *name == key).map(|(_, property)| *property)
}

/// The number of loops: `None` for not at all, `Some(None)` for ever.
fn loops(of: &Table, default: i64) -> Result<Option<Option<u32>>, Wrong> {
    let most = i64::from(u32::MAX);
    let times = of.get("loop").map_or(Ok(default), |node| integer(node, "loop", -1..=most))?;
    Ok(match times {
        0 => None,
        -1 => Some(None),
        times => Some(Some(times as u32)),
    })
}

fn unknown(what: &str, key: &str, at: usize, known: &[&str]) -> Wrong {
    let help = suggest_of(key, known.iter().copied(), "use one of");
    wrong(at, format!("{what} has no key `{}`", shortened(key)), help)
}
