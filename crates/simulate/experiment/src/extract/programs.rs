//! The work of a simulated run as the programs of its tasks. They can draw other random numbers,
//! and the tasks that wait for one another are then others, too.

use wastenot_model::workload::{Launch, Program, Step, Template, TemplateId};
use wastenot_model::{History, Span, Time, Workload};

use super::bound::plan::Plan;
use super::{Extracted, said};
use wastenot_scenario::scenario::can_run;

/// Most marks of programs: their names are not told, so a number in a file asks for memory.
const MARKS: u32 = 1 << 10;

impl Extracted {
    /// The same work as programs, with the seed that they had; `None` if the History does not
    /// contain them, or they would not be the same: where quotas held tasks back, and where CPUs
    /// differ in speed.
    pub fn as_programs(&self, history: &History) -> Option<(Extracted, u64)> {
        let Plan { programs, members, .. } = self.plan.as_ref()?;
        let tasks = &self.workload.templates;
        let alike = history.head.machine.cpus.iter().all(|cpu| cpu.capacity == 1024);
        if !alike || self.held > Span::ZERO || members.len() != tasks.len() {
            return None;
        }
        let mut workload = Workload {
            groups: self.workload.groups.clone(),
            hotplug: self.workload.hotplug.clone(),
            ..programs.workload.clone()
        };
        for pipe in &mut workload.pipes {
            pipe.sync = pipe.waiting == Default::default();
        }
        let steps = workload.templates.iter().flat_map(|it| it.program.steps());
        let marks = steps.filter_map(|step| match step {
            Step::Mark(id) => Some(id.0.saturating_add(1)),
            _ => None,
        });
        let marks = marks.max().unwrap_or_default();
        for n in 0..marks.min(MARKS) {
            workload.mark(&format!("mark {n}"));
        }
        let done = workload.mark("done");
        let mut known: Vec<Option<(Template, bool)>> = vec![None; workload.templates.len()];
        for (n, (member, task)) in members.iter().zip(tasks).enumerate() {
            let id = member.template;
            let known = &mut known[id.index()];
            let as_first = (nature(task), member.awaited);
            if known.as_ref().is_some_and(|first| *first != as_first) {
                return None; // what a template tells once differs between its tasks
            }
            if known.is_none() {
                let template = &mut workload.templates[id.index()];
                let mut steps = template.program.steps().to_vec();
                steps.extend(member.awaited.then_some(Step::Mark(done)));
                *template = Template {
                    name: task.name.clone(),
                    program: Program::new(steps).ok()?,
                    affinity: template.affinity.take(),
                    ..nature(task)
                };
                *known = Some(as_first);
            }
            if let Some(at) = member.launched {
                let own = TemplateId(n as u32);
                let launch = self.workload.launches.iter().find(|it| it.template == own)?;
                let (at, from) = (Time(at.0), launch.from);
                workload.launches.push(Launch { at, template: id, from });
            }
        }
        workload.launches.sort_by_key(|launch| launch.at);
        let runs = can_run(&workload);
        let assumptions = said::of_programs(&self.assumptions);
        (marks <= MARKS && runs)
            .then(|| (Extracted { workload, done, assumptions, ..self.clone() }, programs.seed))
    }
}

/// What a template tells of its tasks beside their program.
fn nature(task: &Template) -> Template {
    Template {
        nice: task.nice,
        group: task.group,
        kthread: task.kthread,
        priority: task.priority,
        job: task.job,
        awaited: task.awaited,
        ..Template::new("", Program::default())
    }
}
