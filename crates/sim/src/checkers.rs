//! Checkers: what must be true of every simulated History, watched from outside.
//!
//! They are Observers of State like any other, and know nothing of the engine.

use wastenot_model::{
    Contradiction, CpuId, CpuMode, CpuState, Entry, History, Observer, Phase, Silent, Span, State,
    TaskId, TaskState, Time, replay,
};

/// What is wrong with `history`; empty if nothing is.
///
/// No event contradicts what was known; time never goes back; no task is in two places and no CPU
/// runs two; the life of each task is the sum of its runs, waits and sleeps.
pub fn wrong(history: &History) -> Vec<String> {
    let mut checker = Checker::default();
    replay(history, Silent::Unknown, &mut checker);
    checker.wrong
}

/// Most complaints that are kept.
const KEPT: usize = 20;

#[derive(Debug, Default)]
struct Checker {
    wrong: Vec<String>,
    last: Time,
    lives: Vec<Option<Life>>,
    /// Who runs where, as told by the changes.
    on: Vec<Option<TaskId>>,
}

/// Time that a task spent in each phase.
#[derive(Clone, Copy, Debug)]
struct Life {
    born: Time,
    since: Time,
    phase: Phase,
    run: Span,
    wait: Span,
    sleep: Span,
    ended: Option<Time>,
}

impl Checker {
    fn complain(&mut self, what: String) {
        if self.wrong.len() < KEPT {
            self.wrong.push(what);
        }
    }

    fn life(&mut self, task: TaskId) -> Option<&mut Option<Life>> {
        let index = task.index()?;
        if self.lives.len() <= index {
            self.lives.resize(index + 1, None);
        }
        self.lives.get_mut(index)
    }
}

impl Observer for Checker {
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let time = state.now();
        let Some(slot) = self.life(task) else { return };
        let life = slot.get_or_insert(Life {
            born: time,
            since: time,
            phase: now.phase,
            run: Span::ZERO,
            wait: Span::ZERO,
            sleep: Span::ZERO,
            ended: None,
        });
        if life.phase != was.phase && life.since != life.born {
            let what = format!("{time} {task:?}: was {:?}, known as {:?}", was.phase, life.phase);
            return self.complain(what);
        }
        let spent = time - life.since;
        match life.phase {
            Phase::Running => life.run += spent,
            Phase::Waiting => life.wait += spent,
            Phase::Sleeping => life.sleep += spent,
            _ => {}
        }
        (life.since, life.phase) = (time, now.phase);
        if now.phase == Phase::Dead {
            life.ended = Some(time);
        }
    }

    fn cpu(&mut self, state: &State, cpu: CpuId, _: &CpuState, now: &CpuState) {
        if self.on.len() <= cpu.index() {
            self.on.resize(cpu.index() + 1, None);
        }
        let runs = match now.mode {
            CpuMode::Busy(task) => Some(task),
            _ => None,
        };
        if let Some(task) = runs {
            let known = state.task(task);
            if known.phase != Phase::Running || known.cpu != Some(cpu) {
                self.complain(format!("{} CPU {cpu} runs {task:?}: {known:?}", state.now()));
            }
        }
        self.on[cpu.index()] = runs;
    }

    fn event(&mut self, _: &State, entry: &Entry) {
        if entry.time < self.last {
            self.complain(format!("time goes back from {} to {}", self.last, entry.time));
        }
        self.last = entry.time;
    }

    fn contradiction(&mut self, _: &State, entry: &Entry, what: Contradiction) {
        self.complain(format!("{} {what:?}: {entry:?}", entry.time));
    }

    fn end(&mut self, state: &State) {
        let running: Vec<TaskId> = self.on.iter().flatten().copied().collect();
        let mut sorted = running.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != running.len() {
            self.complain(format!("at the end a task runs on two CPUs: {running:?}"));
        }
        for (n, life) in std::mem::take(&mut self.lives).into_iter().enumerate() {
            let Some(mut life) = life else { continue };
            let end = life.ended.unwrap_or(state.now());
            match life.phase {
                Phase::Running => life.run += end - life.since,
                Phase::Waiting => life.wait += end - life.since,
                Phase::Sleeping => life.sleep += end - life.since,
                _ => {}
            }
            let sum = life.run + life.wait + life.sleep;
            if sum != end - life.born {
                let task = TaskId::nth(n);
                self.complain(format!("{task:?} lived {} but spent {sum}", end - life.born));
            }
        }
    }
}
