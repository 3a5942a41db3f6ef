//! What each task did over a whole run, counted in one replay.

use wastenot_model::{
    CpuId, CpuSet, CpuState, Distance, Entry, Event, History, How, Observer, Phase, Span, State,
    TaskId, TaskState, Time,
};

/// What one task did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Did {
    pub(crate) cpu_ns: u64,
    /// How often it was switched in.
    pub(crate) switches: u64,
    /// How often it was queued or ran on another CPU than before.
    pub(crate) migrations: u64,
    /// How often that was another node.
    pub(crate) remote_migrations: u64,
    /// Wakeups onto a busy CPU while one that it may use was idle.
    pub(crate) busy_wakeups: u64,
    /// Of those, while its previous CPU was idle.
    pub(crate) prev_idle_wakeups: u64,
    since: Time,
    last: Option<CpuId>,
}

/// The observer.
pub(crate) struct Tally<'h> {
    history: &'h History,
    tasks: Vec<Did>,
    idle: CpuSet,
}

impl<'h> Tally<'h> {
    pub(crate) fn new(history: &'h History) -> Tally<'h> {
        let tasks = vec![Did::default(); history.task_count()];
        Tally { history, tasks, idle: CpuSet::new() }
    }
    /// By [`TaskId::index`].
    pub(crate) fn finish(self) -> Vec<Did> {
        self.tasks
    }

    fn woken(&mut self, state: &State, task: TaskId, on: CpuId) {
        let cpu = state.cpu(on);
        // Queued on an idle CPU it is the only one that waits there.
        if !cpu.is_busy() && cpu.waiting <= 1 {
            return;
        }
        let known = state.task(task);
        let mask = known.mask.and_then(|mask| self.history.mask(mask));
        let may = |cpu: CpuId| mask.is_none_or(|mask| mask.contains(cpu));
        if !self.idle.iter().any(may) {
            return;
        }
        let prev_idle = known.prev.is_some_and(|prev| self.idle.contains(prev) && may(prev));
        if let Some(did) = task.index().and_then(|index| self.tasks.get_mut(index)) {
            did.busy_wakeups += 1;
            did.prev_idle_wakeups += u64::from(prev_idle);
        }
    }
}

impl Observer for Tally<'_> {
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let Some(did) = task.index().and_then(|index| self.tasks.get_mut(index)) else { return };
        let time = state.now();
        if was.phase == Phase::Running && now.phase != Phase::Running {
            did.cpu_ns += (time - did.since).0;
        }
        if was.phase != Phase::Running && now.phase == Phase::Running {
            did.since = time;
            did.switches += 1;
        }
        if let (true, Some(cpu)) = (now.phase.wants_to_run(), now.cpu)
            && let Some(last) = did.last.replace(cpu)
            && last != cpu
        {
            let distance = self.history.head.machine.distance(last, cpu);
            did.migrations += 1;
            did.remote_migrations += u64::from(distance == Distance::Other);
        }
    }

    fn cpu(&mut self, _: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        match (was.is_idle(), now.is_idle()) {
            (false, true) => self.idle.insert(cpu),
            (true, false) => self.idle.remove(cpu),
            _ => {}
        }
    }

    fn event(&mut self, state: &State, entry: &Entry) {
        if let Event::Queued { task, on: Some(on), how: How::Wakeup, .. } = entry.event {
            self.woken(state, task, on);
        }
    }

    fn end(&mut self, state: &State) {
        for (n, did) in self.tasks.iter_mut().enumerate() {
            if state.task(TaskId::nth(n)).phase == Phase::Running {
                let ran: Span = state.now() - did.since;
                did.cpu_ns += ran.0;
            }
        }
    }
}
