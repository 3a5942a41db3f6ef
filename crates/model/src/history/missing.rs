//! CPUs whose events are missing from a trace that does not report this loss.
//!
//! # Result
//! Each CPU records its own events. A CPU without any event may have been idle, or may have run one
//! task all the time. But in these cases, the CPU was active and its events are missing up to its
//! first one:
//!
//! - A task was queued on the CPU, and then is on another CPU without a migration event. So the CPU
//!   started the task or gave it away.
//! - A task comes from the CPU, although it was elsewhere before. So the CPU had taken the task.
//! - A task stays queued on the CPU for too long without a start.
//!
//! If a task runs without a wakeup event, or on another CPU without a migration event, then that
//! event is missing. If the signs above do not identify the CPU, the event may belong to any CPU
//! without events.
//!
//! # Why it matters
//! Converters drop the data of a CPU, and ring buffers that wrap begin at different times. Without
//! the missing events, every task that was queued on such a CPU seems to wait for ever.

use super::History;
use super::event::Each;
use crate::{Carries, CpuId, Entry, Event, How, Left, Loss, LossKind, Span, TaskId, Time};

/// An idle CPU takes at most this long to start one of those who are queued on it.
pub(super) const STARTS_WITHIN: Span = Span::ms(10);

/// A CPU that acted before its first row, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The CPU.
    pub cpu: CpuId,
    /// When its first row came; `None` if it has no row at all.
    pub until: Option<Time>,
    /// The task that shows it.
    pub task: TaskId,
    /// Where that was seen last before, and when; `None` if no row told.
    pub before: Option<(CpuId, Time)>,
    /// What it did next.
    pub after: After,
}

/// What a task did that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It was on this CPU, without a row that moves it there.
    On(CpuId, Time),
    /// It was woken again without a row that it ran.
    Woken(Time),
    /// It was moved or woken away from the CPU without a row that it came there.
    From(Time),
    /// It ran there without a row that woke it.
    Unwoken(CpuId, Time),
    /// Another task was started before it, at this time.
    Passed(Time),
    /// Nothing, until the recording ended.
    Nothing,
}

impl Missing {
    /// Looks for such CPUs, as far as there are CPUs of which no switch came yet.
    pub fn find(history: &History) -> Vec<Missing> {
        let mut search = Search::through(history);
        search.blame_the_silent();
        search.found.sort_by_key(|missing| missing.cpu);
        search.found
    }

    /// Whether a row of this time may be missing since a CPU's are that acted before its first one.
    pub(super) fn explains(history: &History, time: Time) -> bool {
        let found = Search::through(history).found;
        found.iter().any(|missing| missing.until.is_none_or(|until| until > time))
    }

    /// What is lost, in words.
    pub fn loss(&self, history: &History) -> Loss {
        let from = history.window().from;
        let at = |time: Time| time.since(from);
        let lost = match self.until {
            None => "all events of this CPU are missing".to_owned(),
            Some(until) => format!("events of this CPU are missing for the first {}", at(until)),
        };
        let was = match self.before {
            Some((cpu, time)) if cpu == self.cpu => format!("was queued there at {}", at(time)),
            Some((cpu, time)) => format!("was on CPU {cpu} at {}", at(time)),
            None => "was not seen before".to_owned(),
        };
        let is = match self.after {
            After::On(cpu, time) if cpu == self.cpu => format!("ran there before {}", at(time)),
            After::On(cpu, time) => format!("ran on CPU {cpu} before {}", at(time)),
            After::Woken(time) => format!("was woken again at {}", at(time)),
            After::From(time) => format!("moved away from there at {}", at(time)),
            After::Unwoken(cpu, time) => {
                format!("ran on CPU {cpu} at {} without a wakeup", at(time))
            }
            After::Passed(time) => format!("another task started before it at {}", at(time)),
            After::Nothing => "this CPU has no later event".to_owned(),
        };
        let note = format!("{lost}: {} {was} and {is}", history.task_label(self.task));
        let mut loss = Loss::new(LossKind::Missing, note);
        (loss.cpu, loss.time) = (Some(self.cpu), Some(from));
        loss
    }
}

impl History {
    /// Whether no row can be missing without a mark: the whole recording has marked what a part
    /// lacks, and our recorder and the simulator, which know the start, count what they lose.
    pub(super) fn marks_its_losses(&self) -> bool {
        let part = self.head.start.as_ref().is_some_and(|start| start.past.is_some());
        part || self.head.carries.has(Carries::START)
    }
}

/// What rows told of a task.
#[derive(Clone, Copy)]
struct Place {
    cpu: Option<CpuId>,
    at: Time,
    stage: Stage,
}

/// What it did there last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Ran,
    /// It went to sleep.
    Asleep,
    /// It is being woken there; a migration may still move it.
    Woken,
    /// It was put on the run queue.
    Queued,
}

const NOWHERE: Place = Place { cpu: None, at: Time(0), stage: Stage::Ran };

/// What rows told of a CPU.
#[derive(Clone, Copy, Default)]
struct Heard {
    first: Option<Time>,
    switched: bool,
    idle: bool,
    online: bool,
}

struct Search {
    /// Whether the recording tells moves,
    moves: bool,
    /// wakings or wakeups,
    wakes: bool,
    /// wakings,
    wakings: bool,
    /// and wakeups of new tasks.
    new: bool,
    cpus: Vec<Heard>,
    /// How many CPUs have not switched.
    left: usize,
    tasks: Vec<Place>,
    found: Vec<Missing>,
    /// The last task that came to run, or to wait, without a row that woke it or moved it there.
    unseen: Option<Unseen>,
}

/// A task that came without a row.
#[derive(Clone, Copy)]
struct Unseen {
    time: Time,
    task: TaskId,
    /// Where it was, and since when.
    before: Option<(CpuId, Time)>,
    after: After,
}

impl Each for Search {
    #[inline(always)]
    fn entry(&mut self, entry: &Entry) {
        self.look(entry);
    }
    fn rare(&mut self, entry: &Entry) {
        self.look(entry);
    }
}

impl Search {
    /// What a recording shows of CPUs of which no switch came yet.
    fn through(history: &History) -> Search {
        let mut search = Search::new(history);
        if history.marks_its_losses() {
            return search;
        }
        for row in history.rows.iter() {
            if search.left == 0 {
                break;
            }
            row.with(&mut search);
        }
        search.finish();
        search
    }

    fn new(history: &History) -> Search {
        let carries = history.head.carries;
        let heard = |cpu: &crate::Cpu| Heard { online: cpu.online, ..Heard::default() };
        Search {
            moves: carries.has(Carries::MIGRATIONS),
            wakes: carries.has(Carries::WAKINGS) || carries.has(Carries::WAKEUPS),
            wakings: carries.has(Carries::WAKINGS),
            new: carries.has(Carries::NEW),
            cpus: history.head.machine.cpus.iter().map(heard).collect(),
            left: history.cpu_count(),
            tasks: vec![NOWHERE; history.task_count()],
            found: Vec::new(),
            unseen: None,
        }
    }

    #[inline(always)]
    fn look(&mut self, entry: &Entry) {
        self.hear(entry);
        match entry.event {
            Event::Switch { cpu, prev, next, left, .. } => {
                self.first_switch(cpu, prev, next, entry.time);
                self.is_on(prev, cpu, entry.time);
                self.comes_in(next, cpu, entry.time);
                let runs_on = left.is_runnable() || matches!(left, Left::Dead | Left::Unknown);
                let stage = match self.place(prev).map(|place| place.stage) {
                    _ if runs_on => Stage::Ran,
                    // It was woken while it was about to sleep.
                    Some(stage @ (Stage::Woken | Stage::Queued)) => stage,
                    _ => Stage::Asleep,
                };
                self.put(prev, cpu, entry.time, stage);
                self.put(next, cpu, entry.time, Stage::Ran);
                self.cpus[cpu.index()].idle = next.is_idle();
            }
            Event::Waking { task, prev, .. } => {
                self.wakes(task, &[Stage::Woken, Stage::Queued], entry.time);
                if let Some(cpu) = prev {
                    self.comes_from(task, cpu, entry.time);
                    self.put(task, cpu, entry.time, Stage::Woken);
                }
            }
            Event::Queued { task, on: Some(cpu), how, .. } => {
                self.wakes(task, &[Stage::Queued], entry.time);
                let woken = self.place(task).is_some_and(|place| place.stage != Stage::Asleep);
                if self.wakings && how != How::New && !woken {
                    self.came_unwoken(task, cpu, entry.time);
                }
                self.put(task, cpu, entry.time, Stage::Queued);
            }
            Event::Migrate { task, from, to } => {
                if let Some(from) = from {
                    self.comes_from(task, from, entry.time);
                }
                // One that does not sleep waits there now; one that was not seen before may be new,
                // and its wakeup is under way.
                let stage = self.place(task).map_or(Stage::Woken, |place| match place.stage {
                    Stage::Ran => Stage::Queued,
                    stage => stage,
                });
                self.put(task, to, entry.time, stage);
            }
            _ => {}
        }
    }

    /// The first row of a CPU tells what it runs: a task that was elsewhere, or queued there, came
    /// to run without a row.
    #[inline(always)]
    fn hear(&mut self, entry: &Entry) {
        if self.cpus.get(entry.cpu.index()).is_some_and(|heard| heard.first.is_none()) {
            self.hear_first(*entry);
        }
    }

    #[cold]
    fn hear_first(&mut self, entry: Entry) {
        let cpu = entry.cpu;
        let runs = match entry.event {
            Event::Switch { prev, .. } => Some(prev),
            Event::Lost { .. } => None,
            _ => entry.by.task,
        };
        if let Some((task, place)) = runs.and_then(|task| Some((task, self.place(task)?)))
            && (place.stage == Stage::Queued || place.cpu != Some(cpu))
            && (self.moves || place.cpu == Some(cpu))
        {
            self.acted(cpu, task, After::On(cpu, entry.time));
        }
        self.cpus[cpu.index()].first = Some(entry.time);
        self.know_until(cpu, entry.time);
    }

    fn know_until(&mut self, cpu: CpuId, time: Time) {
        let found = self.found.iter_mut().filter(|missing| missing.cpu == cpu);
        found.for_each(|missing| missing.until = Some(time));
    }

    /// A CPU that idled begins with one of those who were queued on it.
    fn first_switch(&mut self, cpu: CpuId, prev: TaskId, next: TaskId, now: Time) {
        let heard = &mut self.cpus[cpu.index()];
        if std::mem::replace(&mut heard.switched, true) {
            return;
        }
        self.left -= 1;
        let first = heard.first.unwrap_or(now);
        if !prev.is_idle() {
            return;
        }
        // Of those who were queued there it may take any; but it does not idle beside them.
        let seen = self.place(next).is_some_and(|place| place.is_queued_on(cpu));
        let late = |place: &Place| !seen || now.since(place.at) > STARTS_WITHIN;
        let waited = |index: usize, place: &Place| {
            TaskId::nth(index) != next && place.stage == Stage::Queued && place.cpu == Some(cpu)
        };
        let mut passed = self.tasks.iter().enumerate();
        let passed =
            passed.find(|(index, place)| waited(*index, place) && place.at < first && late(place));
        if let Some((index, _)) = passed {
            self.cpus[cpu.index()].first = None;
            self.acted(cpu, TaskId::nth(index), After::Passed(now));
            self.cpus[cpu.index()].first = Some(first);
            self.know_until(cpu, first);
        }
    }

    fn comes_in(&mut self, task: TaskId, cpu: CpuId, now: Time) {
        self.is_on(task, cpu, now);
        let unwoken = match self.place(task) {
            Some(place) => place.stage == Stage::Asleep,
            None => self.new && self.cpus[cpu.index()].idle && !task.is_idle(),
        };
        if unwoken && self.wakes {
            self.came_unwoken(task, cpu, now);
        }
    }

    /// `task` came to run, or to wait, on `cpu` without a row that woke it.
    fn came_unwoken(&mut self, task: TaskId, cpu: CpuId, now: Time) {
        self.came_unseen(task, After::Unwoken(cpu, now), now);
    }

    fn came_unseen(&mut self, task: TaskId, after: After, time: Time) {
        self.unseen = Some(Unseen { time, task, before: self.before(task), after });
    }

    /// `task` is on `cpu`: where it was before gave it away.
    fn is_on(&mut self, task: TaskId, cpu: CpuId, now: Time) {
        if let (true, Some(place)) = (self.moves, self.place(task))
            && let Some(before) = place.cpu.filter(|before| *before != cpu)
        {
            self.moved(before, task, After::On(cpu, now), now);
        }
    }

    /// `task` left `cpu`, or came there, without a row that moved it.
    fn moved(&mut self, cpu: CpuId, task: TaskId, after: After, now: Time) {
        match self.cpus.get(cpu.index()) {
            Some(Heard { first: Some(_), .. }) => self.came_unseen(task, after, now),
            _ => self.acted(cpu, task, after),
        }
    }

    /// `task` is woken: if it was `before`, it ran since.
    fn wakes(&mut self, task: TaskId, before: &[Stage], now: Time) {
        let Some(place) = self.place(task) else { return };
        if let (true, Some(cpu)) = (before.contains(&place.stage), place.cpu) {
            self.acted(cpu, task, After::Woken(now));
        }
    }

    /// A row says that `task` was on `cpu` last.
    fn comes_from(&mut self, task: TaskId, cpu: CpuId, now: Time) {
        if let (true, Some(place)) = (self.moves, self.place(task))
            && place.cpu != Some(cpu)
        {
            self.moved(cpu, task, After::From(now), now);
        }
    }

    fn place(&self, task: TaskId) -> Option<Place> {
        let place = self.tasks.get(task.index()?)?;
        place.cpu.map(|_| *place)
    }

    fn before(&self, task: TaskId) -> Option<(CpuId, Time)> {
        self.place(task).and_then(|place| Some((place.cpu?, place.at)))
    }

    fn put(&mut self, task: TaskId, cpu: CpuId, at: Time, stage: Stage) {
        if let Some(place) = task.index().and_then(|index| self.tasks.get_mut(index)) {
            *place = Place { cpu: Some(cpu), at, stage };
        }
    }

    /// `cpu` acted: if no row of it came yet, its rows are missing.
    fn acted(&mut self, cpu: CpuId, task: TaskId, after: After) {
        let unheard = self.cpus.get(cpu.index()).is_some_and(|heard| heard.first.is_none());
        if unheard && self.found.iter().all(|missing| missing.cpu != cpu) {
            let before = self.before(task);
            self.found.push(Missing { cpu, until: None, task, before, after });
        }
    }

    /// A CPU without any row did not even start what was queued on it.
    fn finish(&mut self) {
        for index in 0..self.tasks.len() {
            let place = self.tasks[index];
            if let (Stage::Woken | Stage::Queued, Some(cpu)) = (place.stage, place.cpu) {
                self.acted(cpu, TaskId::nth(index), After::Nothing);
            }
        }
    }

    /// Where a row that woke or moved a task is missing and no CPU is found to lack rows then, any
    /// of which no row came yet may be the one.
    fn blame_the_silent(&mut self) {
        let Some(Unseen { time, task, before, after }) = self.unseen else { return };
        let lacks = |missing: &Missing| missing.until.is_none_or(|until| until > time);
        if self.found.iter().any(lacks) {
            return;
        }
        for (index, heard) in self.cpus.iter().enumerate() {
            if heard.online && heard.first.is_none_or(|first| first > time) {
                let cpu = CpuId(index as u16);
                self.found.retain(|missing| missing.cpu != cpu);
                self.found.push(Missing { cpu, until: heard.first, task, before, after });
            }
        }
    }
}

impl Place {
    fn is_queued_on(&self, cpu: CpuId) -> bool {
        matches!(self.stage, Stage::Woken | Stage::Queued) && self.cpu == Some(cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, By, Context, Head, Machine, Prio, Sink};

    const FROM: By = By { task: None, context: Context::Unknown };

    fn a() -> TaskId {
        TaskId::nth(0)
    }

    /// Three CPUs; a task is queued on CPU 2 by CPU 0, then `next` happens.
    fn found(next: &[Entry]) -> Vec<Missing> {
        found_after(&[], next)
    }

    /// The same after `first`, queued by CPU 2 itself if that comes first.
    fn found_after(first: &[Entry], next: &[Entry]) -> Vec<Missing> {
        let by = if first.is_empty() { CpuId(0) } else { CpuId(2) };
        let mut head = Head::new(Machine::flat(3));
        head.carries = Carries::WAKEUPS | Carries::PLACEMENT | Carries::MIGRATIONS;
        let mut sink = Builder::new(head);
        let name = sink.name("a");
        sink.task(crate::Task::new(7, name));
        let (on, prio) = (Some(CpuId(2)), Prio::UNKNOWN);
        let event = Event::Queued { task: a(), on, how: How::New, prio };
        first.iter().for_each(|entry| sink.push(*entry));
        sink.push(Entry { time: Time(2), cpu: by, by: FROM, event });
        next.iter().for_each(|entry| sink.push(*entry));
        Missing::find(&sink.finish())
    }

    fn runs(time: u64, cpu: u16) -> Entry {
        let cpu = CpuId(cpu);
        Entry::switch(Time(time), cpu, TaskId::idle(cpu), a(), Left::Sleeping)
    }

    #[test]
    fn a_cpu_that_starts_what_is_queued_on_it_is_not_missing() {
        assert_eq!(found(&[runs(3, 2)]), []);
    }

    #[test]
    fn any_cpu_without_rows_may_have_moved_a_task_that_a_heard_cpu_did_not() {
        let idles = Entry::switch(Time(1), CpuId(2), a(), TaskId::idle(CpuId(2)), Left::Sleeping);
        let found = found_after(&[idles], &[runs(3, 1)]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].cpu, found[0].until), (CpuId(0), None));
        assert_eq!(found[0].after, After::On(CpuId(1), Time(3)));
    }

    #[test]
    fn a_task_that_runs_elsewhere_unmoved_shows_that_its_cpu_is_missing() {
        let found = found(&[runs(3, 1)]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].cpu, found[0].until), (CpuId(2), None));
        assert_eq!(found[0].after, After::On(CpuId(1), Time(3)));
    }

    #[test]
    fn a_first_row_ends_what_is_missing() {
        let found = found(&[runs(3, 1), runs(9, 2)]);
        assert_eq!((found[0].cpu, found[0].until), (CpuId(2), Some(Time(9))));
    }

    #[test]
    fn a_task_that_is_moved_away_shows_nothing() {
        let event = Event::Migrate { task: a(), from: Some(CpuId(2)), to: CpuId(1) };
        let moved = Entry { time: Time(3), cpu: CpuId(1), by: FROM, event };
        assert_eq!(found(&[moved, runs(4, 1)]), []);
    }
}
