//! Checks the jobs of a real-time run from outside: whether they run before their release, and
//! whether a job runs although another should.

use wastenot_model::{
    CpuId, History, Observer, Phase, Silent, Span, State, TaskId, TaskState, Time, Value, replay,
};

/// What was observed of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Jobs {
    /// What is wrong under any scheduler: tasks that run before their job is released, jobs that
    /// are out of order, CPUs that run tasks although they should not.
    pub(crate) wrong: Vec<String>,
    /// Jobs that waited although fewer jobs than there are CPUs had a deadline as early as theirs.
    /// Global EDF without overhead has none.
    pub(crate) inverted: u64,
    /// The longest time that one of them waited so.
    pub(crate) inverted_max: Span,
}

/// Observes the jobs of `history` (its annex `jobs`); `runs` returns whether a CPU runs tasks.
/// `None` if the History has no jobs.
pub(crate) fn jobs(history: &History, runs: impl Fn(CpuId) -> bool) -> Option<Jobs> {
    let table = &history.annexes.iter().find(|annex| annex.table.name == "jobs")?.table;
    let mut tasks = vec![OfTask::default(); history.task_count()];
    for row in &table.rows {
        let [task, released, deadline, done] = &row[..] else { continue };
        let time = |value: &Value| value.int().map(Time);
        let (Some(task), Some(released), Some(deadline)) =
            (task.int::<u64>(), time(released), time(deadline))
        else {
            continue;
        };
        let job = Job { released, deadline, done: time(done) };
        tasks.get_mut(task as usize)?.jobs.push(job);
    }
    let machine = &history.head.machine;
    let cpus = (0..machine.len() as u16).map(CpuId).filter(|cpu| runs(*cpu)).count();
    let mut watch = Watch { tasks, cpus, runs, seen: Jobs::default(), active: Vec::new() };
    watch.check_order();
    replay(history, Silent::Unknown, &mut watch);
    Some(watch.seen)
}

/// The most complaints that are kept.
const KEPT: usize = 20;

#[derive(Clone, Copy, Debug)]
struct Job {
    released: Time,
    deadline: Time,
    done: Option<Time>,
}

/// The jobs of one task, and the index of the current one.
#[derive(Clone, Debug, Default)]
struct OfTask {
    jobs: Vec<Job>,
    at: usize,
    /// How long the current job waited although it should have run.
    inverted: Span,
}

struct Watch<R> {
    tasks: Vec<OfTask>,
    /// How many CPUs run tasks.
    cpus: usize,
    runs: R,
    seen: Jobs,
    /// Deadlines of jobs that run or wait, with the task of each job that waits.
    active: Vec<(Time, Option<usize>)>,
}

impl<R: Fn(CpuId) -> bool> Watch<R> {
    fn complain(&mut self, what: String) {
        if self.seen.wrong.len() < KEPT {
            self.seen.wrong.push(what);
        }
    }

    fn check_order(&mut self) {
        for n in 0..self.tasks.len() {
            let jobs = self.tasks[n].jobs.clone();
            for (a, b) in jobs.iter().zip(jobs.iter().skip(1)) {
                if a.done.is_none() || b.done.is_some_and(|done| Some(done) < a.done) {
                    self.complain(format!(
                        "task {n}: the earlier job {a:?} is not completed before {b:?}"
                    ));
                }
                if b.released <= a.released {
                    self.complain(format!(
                        "task {n}: {b:?} is not released later than the earlier job {a:?}"
                    ));
                }
            }
        }
    }

    /// The current job of `task`.
    fn job(&mut self, task: usize, now: Time) -> Option<Job> {
        let it = &mut self.tasks[task];
        while it.jobs.get(it.at).is_some_and(|job| job.done.is_some_and(|done| done <= now)) {
            it.at += 1;
            self.seen.inverted += u64::from(it.inverted > Span::ZERO);
            it.inverted = Span::ZERO;
        }
        it.jobs.get(it.at).copied()
    }
}

impl<R: Fn(CpuId) -> bool> Observer for Watch<R> {
    fn held(&mut self, state: &State, from: Time, to: Time) {
        self.active.clear();
        for n in 0..self.tasks.len() {
            let known = state.task(TaskId::nth(n));
            if !known.phase.wants_to_run() {
                continue;
            }
            let runs = known.phase == Phase::Running;
            if runs && !known.cpu.is_some_and(&self.runs) {
                self.complain(format!(
                    "{from} task {n} runs on CPU {:?}, which may run no task",
                    known.cpu
                ));
            }
            // A task whose job is complete may still run while its CPU picks the next task.
            let job = self.job(n, from).filter(|job| job.released <= from);
            self.active.extend(job.map(|job| (job.deadline, (!runs).then_some(n))));
        }
        self.active.sort_unstable();
        for n in 0..self.active.len() {
            let (deadline, waits) = self.active[n];
            let Some(task) = waits else { continue };
            let as_early = self.active.partition_point(|(other, _)| *other <= deadline);
            if as_early <= self.cpus {
                let inverted = &mut self.tasks[task].inverted;
                *inverted += to - from;
                self.seen.inverted_max = self.seen.inverted_max.max(*inverted);
            }
        }
    }

    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let Some(n) = task.index().filter(|n| *n < self.tasks.len()) else { return };
        if was.phase.wants_to_run() || !now.phase.wants_to_run() {
            return;
        }
        let time = state.now();
        if let Some(job) = self.job(n, time).filter(|job| job.released > time) {
            self.complain(format!(
                "{time} task {n} is {:?} before the release of {job:?}",
                now.phase
            ));
        }
    }

    fn end(&mut self, state: &State) {
        for n in 0..self.tasks.len() {
            self.job(n, state.now());
            self.seen.inverted += u64::from(self.tasks[n].inverted > Span::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::report::Unit;
    use wastenot_model::{
        Annex, Builder, By, Carries, Column, CpuMode, Entry, Event, Head, How, Left, Machine, Prio,
        Sink, Start, Table, Task, Window,
    };

    const CPU: CpuId = CpuId(0);

    /// Two tasks on one CPU, queued at 0: the first runs until 5, then the second.
    fn seen(deadlines: [u32; 2], released: u32) -> Jobs {
        let mut sink = Builder::new(Head::new(Machine::flat(1)));
        let all = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, ..)| all | *carry);
        sink.head().carries = all.without(Carries::LOSSES);
        sink.head().start = Some(Start { cpus: vec![CpuMode::Idle], ..Start::default() });
        let name = sink.name("t");
        for tid in 1..3 {
            sink.task(Task { tid, pid: None, name });
        }
        let (first, second) = (TaskId::nth(0), TaskId::nth(1));
        let prio = Prio::UNKNOWN;
        let queued = |task| Event::Queued { task, on: Some(CPU), how: How::New, prio };
        let switch = |prev, next, left| Event::Switch {
            cpu: CPU,
            prev,
            next,
            left,
            prev_prio: prio,
            next_prio: prio,
        };
        let events = [
            (0, queued(first)),
            (0, queued(second)),
            (0, switch(TaskId::idle(CPU), first, Left::Runnable)),
            (5, switch(first, second, Left::Sleeping)),
            (9, switch(second, TaskId::idle(CPU), Left::Sleeping)),
        ];
        for (time, event) in events {
            sink.push_told(Entry { time: Time(time), cpu: CPU, by: By::UNKNOWN, event });
        }
        sink.head().window = Window { from: Time(0), to: Time(20) };
        let columns = ["task", "released_ns", "deadline_ns", "done_ns"]
            .map(|name| Column::for_programs(name, Unit::None));
        let mut table = Table::new("jobs", "Jobs", columns);
        let [a, b] = deadlines;
        table.push(vec![0u32.into(), 0u32.into(), a.into(), 5u32.into()]);
        table.push(vec![1u32.into(), released.into(), b.into(), 9u32.into()]);
        sink.annex(Annex { table });
        jobs(&sink.finish(), |_| true).expect("it tells of jobs")
    }

    #[test]
    fn who_waits_while_a_later_deadline_runs_is_seen() {
        assert_eq!(seen([10, 12], 0), Jobs::default());
        assert_eq!(seen([10, 10], 0), Jobs::default());
        let late = seen([10, 9], 0);
        assert_eq!((late.inverted, late.inverted_max, late.wrong.len()), (1, Span(5), 0));
    }

    #[test]
    fn who_is_there_before_its_job_is_wrong() {
        let wrong = seen([10, 12], 3).wrong;
        assert!(wrong[0].contains("task 1 is Waiting before"), "{wrong:?}");
    }
}
