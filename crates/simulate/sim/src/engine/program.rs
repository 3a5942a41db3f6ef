//! Executes programs: what a task does while it runs.

use wastenot_model::policy::{Happening, Place, Why};
use wastenot_model::workload::{MarkId, Random, Step, TemplateId, Waiting};
use wastenot_model::{Change, Context, CpuId, CpuSet, Event, Span, TaskId, Time};

use super::Engine;
use super::calendar::Due;
use super::kernel::{Kernel, Leaves};
use super::life::{Doing, Waits};
use super::outcome::{End, Mark};
use super::sync::Answer;
use crate::mechanism::{Mechanism, Trigger};

/// Most tasks of a run: each takes memory until the end, and a loop may fork for ever.
const TASKS: usize = 1_000_000;

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The next step follows at once.
    Next,
    /// The task has to leave its CPU.
    Leave(Leaves),
    /// It runs on; time passes.
    Runs,
}

impl<M: Mechanism> Engine<'_, M> {
    /// The running task of `cpu` continues its program.
    #[inline]
    pub(super) fn proceed(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        let life = self.kernel.life(task);
        match life.doing {
            Doing::Spin { .. } if life.granted => {
                // Its next action has not begun while it spun.
                self.kernel.settle(cpu);
                let life = self.kernel.life(task);
                (life.doing, life.granted) = (Doing::Steps, false);
                let promised = life.waits.take();
                self.kernel.calendar.clear(Due::Segment(cpu));
                if self.kernel.speeds.spin_yields() {
                    self.kernel.siblings_changed(cpu);
                }
                if let Some(promised) = promised {
                    self.redeem(cpu, task, promised);
                }
            }
            Doing::Steps | Doing::Work | Doing::Spin { .. } => {}
            Doing::Blocked | Doing::Sleep | Doing::Ended => return Flow::Next,
        }
        let life = self.kernel.life(task);
        if life.debt > Span::ZERO && matches!(life.doing, Doing::Steps | Doing::Work) {
            if life.doing == Doing::Steps {
                life.left = Span::ZERO;
            }
            life.left += std::mem::take(&mut life.debt);
            life.doing = Doing::Work;
        }
        match life.doing {
            Doing::Steps => self.step(cpu, task),
            _ => {
                if !self.kernel.calendar.is_set(Due::Segment(cpu)) {
                    self.kernel.arm(cpu, task);
                }
                Flow::Runs
            }
        }
    }

    /// The running task has completed its work, or has spun for long enough.
    pub(super) fn segment_over(&mut self, cpu: CpuId) {
        self.kernel.settle(cpu);
        let Some(task) = self.kernel.cx.current(cpu) else { return };
        let life = self.kernel.life(task);
        match life.doing {
            Doing::Work if life.template.is_none() => {
                life.doing = Doing::Blocked;
                self.kernel.happens(cpu, Happening::Ran(task));
                self.kernel.run(cpu).leaves = Some(Leaves::Sleeps);
            }
            Doing::Work => life.doing = Doing::Steps,
            Doing::Spin { .. } if !life.granted => {
                life.doing = Doing::Blocked;
                self.active -= 1;
                self.kernel.run(cpu).leaves = Some(Leaves::Sleeps);
            }
            _ => {}
        }
    }

    /// Does the next step of `task`.
    fn step(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        let life = self.kernel.life(task);
        let Some(template) = life.template else { return Flow::Leave(Leaves::Sleeps) };
        let at = life.step as usize;
        life.step += 1;
        let workload = self.workload;
        let program = &workload.templates[template.index()].program;
        let Some(&step) = program.steps().get(at) else { return self.end(cpu, task) };
        match step {
            Step::Compute(variate) => {
                life.left = variate.draw(&mut life.random);
                (life.doing, life.worked) = (Doing::Work, true);
                Flow::Next
            }
            Step::Sleep(variate) => {
                let span = variate.draw(&mut life.random);
                self.sleep(task, self.kernel.now() + span)
            }
            Step::Beat(period) => self.beat(task, period),
            Step::Loop(rounds) => {
                life.enter(rounds);
                Flow::Next
            }
            Step::UnlessLate(limit) => {
                let late = life.beat.is_some_and(|beat| self.kernel.cx.now - beat > limit);
                let life = self.kernel.life(task);
                match late {
                    true => life.step = program.after_end_of(at) as u32,
                    false => life.enter(Some(1)),
                }
                Flow::Next
            }
            Step::End { of } => {
                if life.again() {
                    life.step = of + 1;
                }
                Flow::Next
            }
            Step::Lock(_)
            | Step::Unlock(_)
            | Step::Barrier(_)
            | Step::Put(_)
            | Step::Get(_)
            | Step::Await(_)
            | Step::Signal(_)
            | Step::Broadcast(_) => {
                let (mut step, mut flow) = (step, self.meet(cpu, task, step));
                while flow == Flow::Next
                    && let Some(next) = self.next_at_once(task, step)
                {
                    step = next;
                    flow = self.meet(cpu, task, step);
                }
                flow
            }
            Step::Fork(child) => self.fork(cpu, task, child),
            Step::WaitOne | Step::WaitAll => self.wait_children(task, step == Step::WaitAll),
            // Programs of users are refused before (`Sim::fits`).
            Step::Exec | Step::Run(_) => {
                self.kernel.tell(cpu, Context::Task, Event::Exec { task });
                self.reselect(cpu, task, Why::Exec)
            }
            Step::Yield => Flow::Leave(Leaves::Runnable(Why::Yield)),
            Step::Nice(nice) => self.renice(cpu, task, nice),
            Step::Affinity(id) => self.bind(cpu, task, &workload.affinities[id.index()]),
            Step::Mark(mark) => self.mark(task, mark),
        }
    }

    fn sleep(&mut self, task: TaskId, until: Time) -> Flow {
        if until <= self.kernel.now() {
            return Flow::Next;
        }
        self.kernel.life(task).doing = Doing::Sleep;
        self.kernel.calendar.set(Due::Alarm(task), until);
        Flow::Leave(Leaves::Sleeps)
    }

    fn beat(&mut self, task: TaskId, period: Span) -> Flow {
        let now = self.kernel.now();
        let life = self.kernel.life(task);
        if self.mechanism.keeps_time() {
            // With the first beat its first job begins, unless that job has begun to compute.
            if !std::mem::replace(&mut life.beaten, true) && !life.worked {
                return Flow::Next;
            }
            life.doing = Doing::Sleep;
            return Flow::Leave(Leaves::Completes);
        }
        let due = life.beat.map_or(now, |beat| beat + period);
        life.beat = Some(due);
        self.sleep(task, due)
    }

    fn renice(&mut self, cpu: CpuId, task: TaskId, nice: i8) -> Flow {
        let view = self.kernel.cx.view_mut().task_mut(task);
        let was = std::mem::replace(&mut view.nice, nice);
        let what = Change::Nice(nice);
        self.kernel.tell(cpu, Context::Task, Event::Changed { task, what });
        self.kernel.happens(cpu, Happening::Nice { task, was });
        Flow::Next
    }

    fn bind(&mut self, cpu: CpuId, task: TaskId, cpus: &CpuSet) -> Flow {
        if !cpus.iter().any(|cpu| self.kernel.cx.online.contains(cpu)) {
            return Flow::Next; // refused (EINVAL)
        }
        let mask = self.kernel.mask(cpus);
        self.kernel.cx.view_mut().task_mut(task).mask = mask;
        self.kernel.tell_affinity(task);
        self.kernel.happens(cpu, Happening::Affinity(task));
        match self.kernel.cx.allowed(task, cpu) {
            true => Flow::Next,
            false => self.reselect(cpu, task, Why::Displaced),
        }
    }

    fn mark(&mut self, task: TaskId, mark: MarkId) -> Flow {
        let (time, beat) = (self.kernel.now(), self.kernel.life(task).beat);
        let late = beat.map_or(Span::ZERO, |beat| time - beat);
        self.marks.push(Mark { time, task, mark, late });
        Flow::Next
    }

    /// Steps that synchronise: locks, barriers, pipes, conditions.
    fn meet(&mut self, cpu: CpuId, task: TaskId, step: Step) -> Flow {
        self.kernel.note_section(cpu, task, step);
        let mut sync = false;
        let Kernel { shared, lives, cx, .. } = &mut self.kernel;
        let runs = |task: TaskId| cx.task(task).place == Place::Running;
        let answer = match step {
            Step::Lock(id) => shared.lock(lives, id, task),
            Step::Unlock(id) => shared.unlock(lives, id, task),
            Step::Put(id) => {
                sync = shared.pipes[id.index()].sync;
                shared.put(lives, id, task, runs)
            }
            Step::Get(id) => {
                sync = shared.pipes[id.index()].sync;
                shared.get(lives, id, task, runs)
            }
            Step::Await(id) => shared.wait(lives, id, task),
            Step::Barrier(id) => match shared.arrive(lives, id, task) {
                Answer::Go => {
                    while let Some(other) =
                        self.kernel.shared.barriers[id.index()].line.leave(&mut self.kernel.lives)
                    {
                        self.grant(cpu, other, false);
                    }
                    return Flow::Next;
                }
                wait => wait,
            },
            Step::Signal(id) => {
                let first = shared.conditions[id.index()].leave(lives);
                first.map_or(Answer::Go, Answer::GoWith)
            }
            Step::Broadcast(id) => {
                while let Some(other) =
                    self.kernel.shared.conditions[id.index()].leave(&mut self.kernel.lives)
                {
                    self.grant(cpu, other, false);
                }
                return Flow::Next;
            }
            _ => Answer::Go,
        };
        match answer {
            Answer::Go => Flow::Next,
            Answer::GoWith(other) => {
                self.grant(cpu, other, sync);
                Flow::Next
            }
            Answer::GoThen(other) => {
                self.promise(other);
                Flow::Next
            }
            Answer::Wait(what, how) => self.wait(cpu, task, what, how),
        }
    }

    /// `task` runs again and takes what it was promised while it spun and did not run.
    fn redeem(&mut self, cpu: CpuId, task: TaskId, promised: Waits) {
        let Kernel { shared, lives, cx, .. } = &mut self.kernel;
        let runs = |task: TaskId| cx.task(task).place == Place::Running;
        match shared.redeem(lives, promised, task, runs) {
            Answer::GoWith(other) => self.grant(cpu, other, false),
            Answer::GoThen(other) => self.promise(other),
            Answer::Go | Answer::Wait(..) => {}
        }
    }

    /// What `task` spins for is there; until `task` runs it counts as waiting for it.
    fn promise(&mut self, task: TaskId) {
        let life = self.kernel.life(task);
        life.granted = true;
        let forever = matches!(life.doing, Doing::Spin { forever: true });
        self.active += usize::from(forever);
    }

    /// The next step of `task`, which is then done, if it and `step` put tokens at once.
    fn next_at_once(&mut self, task: TaskId, step: Step) -> Option<Step> {
        let pipes = &self.kernel.shared.pipes;
        let at_once = |step: Step| matches!(step, Step::Put(id) if pipes[id.index()].at_once);
        let life = &self.kernel.lives[task.ordinal()];
        let program = &self.workload.templates[life.template?.index()].program;
        let next = *program.steps().get(life.step as usize)?;
        if !at_once(step) || !at_once(next) {
            return None;
        }
        self.kernel.life(task).step += 1;
        Some(next)
    }

    fn wait(&mut self, cpu: CpuId, task: TaskId, what: Waits, how: Waiting) -> Flow {
        let life = self.kernel.life(task);
        life.waits = Some(what);
        life.granted = false;
        let (doing, flow) = match how {
            Waiting::Block => (Doing::Blocked, Flow::Leave(Leaves::Sleeps)),
            Waiting::Spin => (Doing::Spin { forever: true }, Flow::Next),
            Waiting::SpinThenBlock(limit) => {
                life.left = limit;
                (Doing::Spin { forever: false }, Flow::Next)
            }
        };
        life.doing = doing;
        // A task that spins for a while will block by itself: until then time passes for it.
        self.active -= usize::from(!matches!(how, Waiting::SpinThenBlock(_)));
        if flow == Flow::Next && self.kernel.speeds.spin_yields() {
            self.kernel.siblings_changed(cpu);
        }
        if let Waits::Lock(lock) = what {
            self.notice_circle(task, lock);
        }
        flow
    }

    /// What `task` waits for is there.
    fn grant(&mut self, cpu: CpuId, task: TaskId, sync: bool) {
        let life = self.kernel.life(task);
        life.waits = None;
        match life.doing {
            Doing::Blocked => {
                life.doing = Doing::Steps;
                self.active += 1;
                if std::mem::replace(&mut life.sync, sync) != sync {
                    self.note_synchrony(task, sync);
                }
                let by = Context::Task;
                let trigger = Trigger::Wake { task, why: Why::Wakeup { sync }, by };
                self.kernel.run(cpu).pending.push_back(trigger);
            }
            Doing::Spin { forever } => {
                life.granted = true;
                self.active += usize::from(forever);
                let on = self.kernel.cx.task(task).cpu;
                if self.kernel.cx.current(on) == Some(task) {
                    self.kernel.soon.push_back(on);
                }
            }
            _ => {}
        }
    }

    fn fork(&mut self, cpu: CpuId, parent: TaskId, template: TemplateId) -> Flow {
        if self.kernel.lives.len() >= TASKS {
            self.kernel.end.get_or_insert(End::Crowd { parent });
            return Flow::Next;
        }
        self.kernel.life(parent).children += 1;
        let child = self.birth(template, cpu, Some(parent));
        self.kernel.tell(cpu, Context::Task, Event::Fork { parent, child });
        self.kernel.tell_nature(child);
        let trigger = Trigger::Wake { task: child, why: Why::New, by: Context::Task };
        self.kernel.run(cpu).pending.push_back(trigger);
        Flow::Next
    }

    /// A task of `template`, not yet queued.
    pub(super) fn birth(
        &mut self,
        template: TemplateId,
        from: CpuId,
        parent: Option<TaskId>,
    ) -> TaskId {
        let ordinal = &mut self.born[template.index()];
        *ordinal += 1;
        let random = Random::of_task(self.seed, template, *ordinal);
        let it = &self.workload.templates[template.index()];
        let task = self.kernel.add_task(template, it, from, random);
        let life = self.kernel.life(task);
        life.parent = parent;
        self.awaited += usize::from(life.awaited);
        self.active += 1;
        task
    }

    fn wait_children(&mut self, task: TaskId, all: bool) -> Flow {
        let life = self.kernel.life(task);
        match all {
            false if life.unreaped > 0 => {
                life.unreaped -= 1;
                return Flow::Next;
            }
            true if life.children == 0 => {
                life.unreaped = 0;
                return Flow::Next;
            }
            _ => {}
        }
        if life.children == 0 {
            return Flow::Next; // no child to wait for, as wait(2) returns at once
        }
        let what = if all { Waits::Children } else { Waits::Child };
        life.waits = Some(what);
        life.doing = Doing::Blocked;
        self.active -= 1;
        Flow::Leave(Leaves::Sleeps)
    }

    fn end(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        let now = self.kernel.now();
        self.kernel.tell(cpu, Context::Task, Event::Exit { task });
        self.kernel.leaving += 1;
        let life = self.kernel.life(task);
        (life.doing, life.ended) = (Doing::Ended, Some(now));
        self.awaited -= usize::from(life.awaited);
        self.active -= 1;
        if let Some(parent) = life.parent {
            let life = self.kernel.life(parent);
            life.children -= 1;
            life.unreaped += 1;
            let over = match life.waits {
                Some(Waits::Child) => {
                    life.unreaped -= 1;
                    true
                }
                Some(Waits::Children) if life.children == 0 => {
                    life.unreaped = 0;
                    true
                }
                _ => false,
            };
            if over {
                self.grant(cpu, parent, false);
            }
        }
        self.kernel.happens(cpu, Happening::Exit(task));
        Flow::Leave(Leaves::Ends)
    }

    /// Asks the mechanism whether a running task should move to another CPU.
    fn reselect(&mut self, cpu: CpuId, task: TaskId, why: Why) -> Flow {
        self.kernel.run(cpu).pending.push_back(Trigger::Select { task, why });
        Flow::Next
    }
}
