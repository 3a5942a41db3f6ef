//! Helpers with which functions of the catalogue make their tasks.

use wastenot_model::workload::{
    BarrierId, Group, GroupId, Launch, LockId, PipeId, Program, Step, Template, TemplateId,
    Variate, Waiting,
};
use wastenot_model::{CpuId, CpuSet, Machine, Span, Time, Workload};

use crate::scenario::program;

/// A workload under construction, and what all tasks of one function share.
pub(crate) struct Maker<'a> {
    machine: &'a Machine,
    workload: &'a mut Workload,
    /// The name, group, affinity and other properties of each task.
    common: Template,
    from: CpuId,
    at: Time,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(
        machine: &'a Machine,
        workload: &'a mut Workload,
        common: Template,
        from: CpuId,
        at: Time,
    ) -> Maker<'a> {
        Maker { machine, workload, common, from, at }
    }

    pub(crate) fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// A template for tasks: `name`, or `name-suffix`.
    pub(super) fn kind(&mut self, suffix: &str, steps: Vec<Step>) -> TemplateId {
        self.kind_with(suffix, steps, |_| {})
    }
    /// A template that differs from the others in some property.
    pub(super) fn kind_with(
        &mut self,
        suffix: &str,
        steps: Vec<Step>,
        change: impl FnOnce(&mut Template),
    ) -> TemplateId {
        let program = Program::new(steps).expect("programs of the catalogue nest");
        let mut template = Template { program, ..self.common.clone() };
        template.name = self.name(suffix);
        change(&mut template);
        self.workload.template(template)
    }
    /// Launches `count` tasks of a template.
    pub(super) fn launch(&mut self, template: TemplateId, count: u32) {
        let launch = Launch { at: self.at, template, from: self.from };
        self.workload.launches.extend(std::iter::repeat_n(launch, count as usize));
    }
    /// A parallel program: a master that forks the others and then works itself, so that all start
    /// on its CPU.
    pub(super) fn team(&mut self, threads: u32, work: &[Step]) {
        self.team_of(threads, work, work);
    }
    /// Like [`Maker::team`], with a master that does more than the others.
    pub(super) fn team_of(&mut self, threads: u32, own: &[Step], work: &[Step]) {
        let mut master = Vec::with_capacity(work.len() + 4);
        if threads > 1 {
            let worker = self.kind("", work.to_vec());
            master.extend(times(threads - 1, [Step::Fork(worker)]));
        }
        master.extend_from_slice(own);
        let master = self.kind("", master);
        self.launch(master, 1);
    }

    pub(super) fn barrier(&mut self, parties: u32, waiting: Waiting) -> BarrierId {
        let name = self.name("barrier");
        self.workload.barrier(&name, parties, waiting)
    }
    pub(super) fn pipe(&mut self, suffix: &str, capacity: Option<u32>, waiting: Waiting) -> PipeId {
        let name = self.name(suffix);
        self.workload.pipe(&name, capacity, waiting)
    }
    /// Tokens that are in a pipe at the start.
    pub(super) fn fill(&mut self, pipe: PipeId, tokens: u32) {
        self.workload.pipes[pipe.index()].tokens = tokens;
    }
    pub(super) fn lock(&mut self, suffix: &str, waiting: Waiting) -> LockId {
        let name = self.name(suffix);
        self.workload.lock(&name, waiting)
    }
    pub(super) fn mark(&mut self, name: &str) -> Step {
        Step::Mark(program::mark(self.workload, name))
    }
    /// A separate session for some of the tasks.
    pub(super) fn session(&mut self, suffix: &str) -> GroupId {
        let (name, parent) = (self.name(suffix), Some(self.common.group));
        self.workload.group(Group { name, parent, session: true, ..Group::root() })
    }
    /// The CPUs that tasks of this function may use.
    pub(super) fn cpus(&self) -> CpuSet {
        self.common.affinity.clone().unwrap_or_else(|| self.machine.online())
    }

    fn name(&self, suffix: &str) -> String {
        let dash = if suffix.is_empty() { "" } else { "-" };
        format!("{}{dash}{suffix}", self.common.name)
    }
}

/// `body`, repeated `count` times.
pub(super) fn times(count: u32, body: impl IntoIterator<Item = Step>) -> Vec<Step> {
    match count {
        0 => Vec::new(),
        count => looped(Some(count), body),
    }
}

/// `body`, for ever.
pub(super) fn forever(body: impl IntoIterator<Item = Step>) -> Vec<Step> {
    looped(None, body)
}

/// CPU time.
pub(super) fn compute(span: Span) -> Step {
    Step::Compute(Variate::Fixed(span))
}

fn looped(count: Option<u32>, body: impl IntoIterator<Item = Step>) -> Vec<Step> {
    let mut steps = vec![Step::Loop(count)];
    steps.extend(body);
    steps.push(Step::End { of: 0 });
    steps
}
