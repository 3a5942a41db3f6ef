//! Checkers: what must be true of every simulated History, checked from outside.
//!
//! They are Observers of State like all analyses, and do not depend on the engine.

use wastenot_model::{
    Contradiction, CpuId, CpuMode, CpuState, Entry, Event, History, Observer, Phase, Silent, Span,
    State, TaskId, TaskState, Time, replay,
};

/// What is wrong with `history`; empty if nothing is.
///
/// No event contradicts the known state; time never goes back. A CPU runs one task, which runs on
/// no other CPU and is moved only once it has left; an offline CPU runs no task and is not idle. At
/// every instant it is known where each task is, and a task's life is the sum of its runs, waits,
/// sleeps and of the time before it was first queued.
pub fn wrong(history: &History) -> Vec<String> {
    let mut checker = Checker::default();
    replay(history, Silent::Unknown, &mut checker);
    checker.wrong
}

/// The most complaints that are kept.
const KEPT: usize = 20;

#[derive(Debug, Default)]
struct Checker {
    wrong: Vec<String>,
    last: Time,
    lives: Vec<Option<Life>>,
    /// By CPU: the task that runs there, as the changes report it.
    on: Vec<Option<TaskId>>,
}

/// Time that a task spent in each phase.
#[derive(Clone, Copy, Debug)]
struct Life {
    born: Time,
    since: Time,
    phase: Phase,
    new: Span,
    run: Span,
    wait: Span,
    sleep: Span,
    ended: Option<Time>,
}

impl Life {
    fn begin(time: Time, phase: Phase) -> Life {
        let (born, since, zero) = (time, time, Span::ZERO);
        Life { born, since, phase, new: zero, run: zero, wait: zero, sleep: zero, ended: None }
    }

    /// The task was in its phase until `time`.
    fn pass(&mut self, time: Time) {
        let spent = time - std::mem::replace(&mut self.since, time);
        match self.phase {
            Phase::New => self.new += spent,
            Phase::Running => self.run += spent,
            Phase::Waiting | Phase::Held => self.wait += spent,
            Phase::Sleeping => self.sleep += spent,
            Phase::Unknown | Phase::Dead => {}
        }
    }
}

impl Checker {
    fn complain(&mut self, what: String) {
        if self.wrong.len() < KEPT {
            self.wrong.push(what);
        }
    }
}

impl Observer for Checker {
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let time = state.now();
        let Some(index) = task.index() else { return };
        if self.lives.len() <= index {
            self.lives.resize(index + 1, None);
        }
        let slot = &mut self.lives[index];
        if slot.is_none() && now.phase == Phase::Unknown {
            return; // it has not begun
        }
        let life = slot.get_or_insert(Life::begin(time, was.phase));
        let known = life.phase;
        life.pass(time);
        life.phase = now.phase;
        if now.phase == Phase::Dead {
            life.ended = Some(time);
        }
        if known != was.phase {
            let was = was.phase;
            self.complain(format!(
                "{time} {task:?} was {was:?}, but the last change left it {known:?}"
            ));
        }
        if now.phase == Phase::Unknown {
            self.complain(format!("{time} {task:?} is in an unknown state"));
        }
    }

    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        let time = state.now();
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
                self.complain(format!(
                    "{time} CPU {cpu} runs {task:?}, but the state of the task is {known:?}"
                ));
            }
            let other = self.on.iter().position(|&on| on == Some(task));
            if let Some(other) = other.filter(|&other| other != cpu.index()) {
                self.complain(format!("{time} CPU {cpu} runs {task:?}, as does CPU {other}"));
            }
        }
        if was.mode == CpuMode::Offline && !matches!(now.mode, CpuMode::Offline | CpuMode::Unknown)
        {
            let mode = now.mode;
            self.complain(format!("{time} CPU {cpu} is {mode:?}, but it has not come online"));
        }
        self.on[cpu.index()] = runs;
    }

    fn event(&mut self, state: &State, entry: &Entry) {
        if let Event::Migrate { task, .. } = entry.event
            && state.task(task).phase == Phase::Running
        {
            self.complain(format!("{} {task:?} is moved while it runs", entry.time));
        }
        if entry.time < self.last {
            self.complain(format!("time goes back from {} to {}", self.last, entry.time));
        }
        self.last = entry.time;
    }

    fn contradiction(&mut self, _: &State, entry: &Entry, what: Contradiction) {
        self.complain(format!("{} {what:?}: {entry:?}", entry.time));
    }

    fn end(&mut self, state: &State) {
        for (n, life) in std::mem::take(&mut self.lives).into_iter().enumerate() {
            let Some(mut life) = life else { continue };
            let end = life.ended.unwrap_or(state.now());
            life.pass(end);
            let sum = life.new + life.run + life.wait + life.sleep;
            if sum != end - life.born {
                let task = TaskId::nth(n);
                self.complain(format!(
                    "{task:?} existed for {}, but its times in all states add up to {sum}",
                    end - life.born
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::{
        Builder, By, Carries, Head, How, Left, Machine, Prio, Sink, Start, Task, Window,
    };

    const CPU: CpuId = CpuId(0);
    const OTHER: CpuId = CpuId(1);

    /// Two idle CPUs, and these events; no task has begun before.
    fn history(events: &[(u64, CpuId, Event)]) -> History {
        let mut sink = Builder::new(Head::new(Machine::flat(2)));
        let all = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, ..)| all | *carry);
        sink.head().carries = all.without(Carries::LOSSES);
        let cpus = vec![CpuMode::Idle; 2];
        sink.head().start = Some(Start { cpus, ..Start::default() });
        let name = sink.name("t");
        for tid in 1..4 {
            sink.task(Task { tid, pid: None, name });
        }
        for &(time, cpu, event) in events {
            sink.push_told(Entry { time: Time(time), cpu, by: By::UNKNOWN, event });
        }
        sink.head().window = Window { from: Time(0), to: Time(100) };
        sink.finish()
    }

    fn queued(task: usize, cpu: CpuId) -> Event {
        let (task, prio) = (TaskId::nth(task), Prio::UNKNOWN);
        Event::Queued { task, on: Some(cpu), how: How::New, prio }
    }
    fn switch(cpu: CpuId, prev: Option<usize>, next: Option<usize>, left: Left) -> Event {
        let task = |task: Option<usize>| task.map_or(TaskId::idle(cpu), TaskId::nth);
        let (prev_prio, next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
        Event::Switch { cpu, prev: task(prev), next: task(next), left, prev_prio, next_prio }
    }
    fn runs(cpu: CpuId, task: usize) -> Event {
        switch(cpu, None, Some(task), Left::Runnable)
    }

    #[track_caller]
    fn assert_wrong(events: &[(u64, CpuId, Event)], what: &str) {
        let wrong = wrong(&history(events));
        assert!(wrong.iter().any(|wrong| wrong.contains(what)), "{wrong:?}");
    }

    #[test]
    fn nothing_is_wrong_with_what_can_happen() {
        let (parent, child) = (TaskId::nth(0), TaskId::nth(1));
        let events = [
            (1, CPU, queued(0, CPU)),
            (2, CPU, runs(CPU, 0)),
            (3, CPU, Event::Fork { parent, child }),
            (4, CPU, queued(1, OTHER)),
            (5, OTHER, runs(OTHER, 1)),
            (6, OTHER, switch(OTHER, Some(1), None, Left::Sleeping)),
            (7, CPU, Event::Cpu { cpu: OTHER, up: false }),
            (8, CPU, Event::Cpu { cpu: OTHER, up: true }),
            (9, CPU, switch(CPU, Some(0), None, Left::Dead)),
        ];
        assert_eq!(wrong(&history(&events)), Vec::<String>::new());
    }

    #[test]
    fn time_that_goes_back_is_wrong() {
        assert_wrong(&[(5, CPU, queued(0, CPU)), (4, CPU, runs(CPU, 0))], "time goes back");
    }

    #[test]
    fn contradictions_are_wrong() {
        let begun = [(1, CPU, queued(0, CPU)), (2, CPU, runs(CPU, 0))];
        let other_prev = (3, CPU, switch(CPU, Some(1), None, Left::Sleeping));
        assert_wrong(&[begun[0], begun[1], other_prev], "OtherPrev");
        let asleep = (3, CPU, switch(CPU, Some(0), None, Left::Sleeping));
        assert_wrong(&[begun[0], begun[1], asleep, (4, CPU, runs(CPU, 0))], "RanAsleep");
        let twice = (3, OTHER, runs(OTHER, 0));
        assert_wrong(&[begun[0], begun[1], twice], "RanTwice");
        let dead = (3, CPU, switch(CPU, Some(0), None, Left::Dead));
        assert_wrong(&[begun[0], begun[1], dead, (4, CPU, runs(CPU, 0))], "Undead");
    }

    #[test]
    fn a_task_is_moved_only_once_it_has_left_its_cpu() {
        let task = TaskId::nth(0);
        let moves = |at| (at, CPU, Event::Migrate { task, from: Some(CPU), to: OTHER });
        let begun = [(1, CPU, queued(0, CPU)), (2, CPU, runs(CPU, 0))];
        assert_wrong(&[begun[0], begun[1], moves(3)], "is moved while it runs");
        let leaves = (3, CPU, switch(CPU, Some(0), None, Left::Preempted));
        let moved = [begun[0], begun[1], leaves, moves(3), (4, OTHER, runs(OTHER, 0))];
        assert_eq!(wrong(&history(&moved)), Vec::<String>::new());
    }

    #[test]
    fn a_cpu_that_is_off_runs_nobody_and_does_not_idle() {
        let begun = [(1, CPU, queued(0, OTHER)), (2, OTHER, Event::Cpu { cpu: OTHER, up: false })];
        assert_wrong(
            &[begun[0], begun[1], (3, OTHER, runs(OTHER, 0))],
            "but it has not come online",
        );
        let idles = switch(OTHER, Some(1), None, Left::Sleeping);
        assert_wrong(&[begun[0], begun[1], (3, OTHER, idles)], "but it has not come online");
    }

    #[test]
    fn a_task_is_never_nowhere() {
        let off = Event::Cpu { cpu: CPU, up: false };
        let events = [(1, CPU, queued(0, CPU)), (2, CPU, runs(CPU, 0)), (3, OTHER, off)];
        assert_wrong(&events, "is in an unknown state");
        assert_wrong(&events, "existed for 99 ns, but its times in all states add up to 2 ns");
    }

    /// What State never reports, whatever the History: reported by hand.
    #[test]
    fn what_is_told_of_tasks_and_cpus_has_to_agree() {
        struct Lies(Checker);
        impl Observer for Lies {
            fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
                self.0.cpu(state, cpu, was, now);
                if let CpuMode::Busy(task) = now.mode {
                    self.0.cpu(state, OTHER, was, now);
                    let runs = state.task(task);
                    self.0.task(state, task, &runs, &runs);
                    let waits = TaskState { phase: Phase::Waiting, ..runs };
                    self.0.task(state, task, &waits, &runs);
                }
            }
        }
        let mut lies = Lies(Checker::default());
        let history = history(&[(1, CPU, queued(0, CPU)), (2, CPU, runs(CPU, 0))]);
        replay(&history, Silent::Unknown, &mut lies);
        let told = |what: &str| lies.0.wrong.iter().any(|wrong| wrong.contains(what));
        assert!(
            told("as does CPU 0")
                && told("CPU 1 runs")
                && told("but the last change left it Running")
        );
    }
}
