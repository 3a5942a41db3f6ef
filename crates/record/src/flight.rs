//! The flight recorder: the last seconds, kept in memory until they are wanted.

use std::collections::{HashMap, VecDeque};
use std::io::Write;

use wastenot_model::{
    Annex, Builder, CpuSet, Entry, Event, Head, History, Left, Loss, MaskId, NameId, Past, Phase,
    Row, Seen, Sink, Span, Start, State, Task, TaskId, Time,
};
use wastenot_read::own::Writer;

use crate::Error;
use crate::tape::Tape;
use crate::trigger::{Fired, Trigger};

/// A tape that forgets: it holds what happened during the last seconds, and what was so before.
///
/// A State follows where the kept events begin, so that what is saved knows its start as a whole
/// recording does. Tasks that ended before are forgotten too, and their numbers given out again.
pub struct Flight {
    head: Head,
    last: Span,
    /// Rows that there is room for.
    room: usize,
    names: Interned<Box<str>>,
    masks: Interned<CpuSet>,
    tasks: Vec<Task>,
    seen: Vec<Seen>,
    /// Numbers of tasks that are forgotten.
    free: Vec<TaskId>,
    rows: VecDeque<Row>,
    /// Before the first row; none until the start is told.
    tail: Option<State>,
    /// What is kept begins here.
    from: Time,
    /// Up to here everything was told.
    until: Time,
    losses: Vec<Loss>,
    annexes: Vec<Annex>,
    trigger: Option<Watched>,
}

/// What the trigger has not looked at yet: the last rows.
struct Watched {
    trigger: Trigger,
    from: Time,
    state: State,
    rows: usize,
}

impl Flight {
    /// Keeps what happened during the `last` seconds, as far as it fits into `memory` bytes.
    pub fn new(head: Head, last: Span, memory: u64) -> Flight {
        let room = (memory / size_of::<Row>() as u64).clamp(1024, u32::MAX.into()) as usize;
        Flight {
            last,
            room,
            names: Interned::default(),
            masks: Interned::default(),
            tasks: Vec::new(),
            seen: Vec::new(),
            free: Vec::new(),
            rows: VecDeque::with_capacity(room),
            tail: None,
            from: head.window.from,
            until: head.window.from,
            losses: Vec::new(),
            annexes: Vec::new(),
            trigger: None,
            head,
        }
    }

    /// Lets `trigger` look at everything from the start on.
    pub fn with_trigger(mut self, trigger: Trigger) -> Flight {
        let state = State::new(0, self.head.carries);
        self.trigger = Some(Watched { trigger, from: self.from, state, rows: 0 });
        self
    }

    /// Forgets what is too old, and lets the trigger look at what came in since the last turn.
    pub fn turn(&mut self) -> Option<Fired> {
        let fired = self.look();
        let oldest = Time(self.until.0.saturating_sub(self.last.0));
        while self.rows.front().is_some_and(|row| row.time() < oldest) {
            self.forget();
        }
        if self.tail.is_some() {
            self.from = self.from.max(oldest);
        }
        fired
    }

    /// How much is kept.
    pub fn kept(&self) -> Span {
        self.until - self.from
    }

    /// Number of events that are kept.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes what is kept.
    pub fn save<W: Write>(&self, out: W) -> Result<W, Error> {
        let mut head = self.head.clone();
        (head.window.from, head.window.to) = (self.from, self.until);
        let mut writer = Writer::new(out, &head)?;
        if let Some(tail) = &self.tail {
            self.copy(tail, 0, &mut writer);
        }
        Ok(writer.finish()?)
    }

    /// What is kept, as a History.
    pub fn history(&self) -> History {
        match &self.tail {
            Some(tail) => self.part(tail, self.from, 0),
            None => Builder::new(self.head.clone()).finish(),
        }
    }

    fn look(&mut self) -> Option<Fired> {
        let mut watched = self.trigger.take()?;
        let mut fired = None;
        if self.until > watched.from {
            let first = self.rows.len() - watched.rows;
            fired = watched.trigger.look(&self.part(&watched.state, watched.from, first));
            for row in self.rows.range(first..) {
                watched.state.apply(&row.unpack(), &mut ());
            }
            (watched.from, watched.rows) = (self.until, 0);
        }
        self.trigger = Some(watched);
        fired
    }

    /// What happened from the row `first` on, before which `state` was so.
    fn part(&self, state: &State, from: Time, first: usize) -> History {
        let mut head = self.head.clone();
        (head.window.from, head.window.to) = (from, self.until);
        let mut builder = Builder::new(head);
        self.copy(state, first, &mut builder);
        builder.finish()
    }

    fn copy(&self, state: &State, first: usize, tape: &mut dyn Tape) {
        for name in &self.names.all {
            tape.name(name);
        }
        for mask in &self.masks.all {
            tape.mask(mask);
        }
        for task in &self.tasks {
            tape.task(task.clone());
        }
        tape.start(&Start::of(state, self.tasks.len(), |task, known| {
            let seen = self.seen[task.index()?];
            (!matches!(known.phase, Phase::Unknown | Phase::Dead)).then(|| Past {
                last: known.cpu,
                moved: seen == Seen::Several,
                seen,
                ..Past::of(task, known)
            })
        }));
        for row in self.rows.range(first..) {
            tape.push(row.unpack());
        }
        self.annexes.iter().for_each(|annex| tape.annex(annex.clone()));
        self.losses.iter().for_each(|loss| tape.loss(loss.clone()));
        tape.until(self.until);
    }

    /// Lets the oldest row happen, for good.
    fn forget(&mut self) {
        let (Some(row), Some(tail)) = (self.rows.pop_front(), &mut self.tail) else { return };
        let entry = row.unpack();
        self.from = self.from.max(entry.time);
        tail.apply(&entry, &mut ());
        if let Some(watched) = &mut self.trigger
            && watched.rows > self.rows.len()
        {
            // More came in at once than there is room for.
            watched.state.apply(&entry, &mut ());
            (watched.from, watched.rows) = (entry.time, self.rows.len());
        }
        if let Event::Switch { prev, left: Left::Dead, .. } = entry.event
            && !prev.is_idle()
        {
            self.free.push(prev);
        }
    }
}

impl Sink for Flight {
    fn name(&mut self, text: &str) -> NameId {
        NameId(self.names.id(text, |text: &str| text.into()))
    }
    fn mask(&mut self, cpus: &CpuSet) -> MaskId {
        MaskId(self.masks.id(cpus, |cpus: &CpuSet| cpus.clone()))
    }
    fn task(&mut self, task: Task) -> TaskId {
        if let Some(id) = self.free.pop()
            && let Some(index) = id.index()
        {
            (self.tasks[index], self.seen[index]) = (task, Seen::Nowhere);
            return id;
        }
        self.tasks.push(task);
        self.seen.push(Seen::Nowhere);
        TaskId::nth(self.tasks.len() - 1)
    }
    fn correct(&mut self, id: TaskId, task: &Task) {
        if let Some(known) = id.index().and_then(|index| self.tasks.get_mut(index)) {
            *known = task.clone();
        }
    }
    fn push(&mut self, entry: Entry) {
        let mut see = |task: TaskId, cpu| {
            if let Some(seen) = task.index().and_then(|index| self.seen.get_mut(index)) {
                seen.also(cpu);
            }
        };
        match entry.event {
            Event::Switch { cpu, prev, next, .. } => {
                see(prev, cpu);
                see(next, cpu);
            }
            Event::Queued { task, on: Some(cpu), .. } | Event::Migrate { task, to: cpu, .. } => {
                see(task, cpu);
            }
            _ => {}
        }
        if self.rows.len() >= self.room {
            self.forget();
        }
        self.rows.push_back(Row::pack(&entry));
        if let Some(watched) = &mut self.trigger {
            watched.rows += 1;
        }
        self.until = self.until.max(entry.time);
    }
    fn loss(&mut self, loss: Loss) {
        loss.add_to(&mut self.losses);
    }
}

impl Tape for Flight {
    fn start(&mut self, start: &Start) {
        let (cpus, carries) = (self.head.machine.cpus.len(), self.head.carries);
        let state = State::at(self.from, start, cpus, carries, &mut ());
        if let Some(watched) = &mut self.trigger {
            watched.state = state.clone();
        }
        self.tail = Some(state);
    }
    fn annex(&mut self, annex: Annex) {
        self.annexes.push(annex);
    }
    fn until(&mut self, time: Time) {
        self.until = self.until.max(time);
    }
}

/// Values by number, each once.
#[derive(Debug)]
struct Interned<T> {
    all: Vec<T>,
    ids: HashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Interned<T> {
        Interned { all: Vec::new(), ids: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn id<Q>(&mut self, value: &Q, own: impl Fn(&Q) -> T) -> u32
    where
        T: std::borrow::Borrow<Q>,
        Q: Eq + std::hash::Hash + ?Sized,
    {
        if let Some(&id) = self.ids.get(value) {
            return id;
        }
        let id = self.all.len() as u32;
        self.all.push(own(value));
        self.ids.insert(own(value), id);
        id
    }
}
