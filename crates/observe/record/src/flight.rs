//! The flight recorder: the last seconds, kept in memory until they are wanted.

use std::collections::{HashMap, VecDeque};
use std::io::Write;

use wastenot_model::{
    Annex, Builder, By, Change, CpuId, CpuSet, Decision, Entry, Event, Head, History, Left, Loss,
    MaskId, NameId, Past, Phase, Row, Seen, Sink, Span, Start, State, Table, Task, TaskId, Time,
    Unit, Value,
};
use wastenot_read::own::Writer;

use crate::Error;
use crate::trigger::{Fired, Trigger};

#[cfg(test)]
mod tests;

/// A sink that forgets: it holds the events of the last seconds, and the state before them.
///
/// A State is kept at the first kept event, so that what is saved knows its state at the start as a
/// whole recording does. Tasks that ended before are dropped too, and their numbers are reused.
pub struct Flight {
    head: Head,
    last: Span,
    /// How many rows there is room for.
    room: usize,
    names: Interned<Box<str>>,
    masks: Interned<CpuSet>,
    tasks: Vec<Task>,
    seen: Vec<Seen>,
    /// Numbers of dropped tasks.
    free: Vec<TaskId>,
    /// Tasks that are reported no more, though their end was not seen.
    gone: Vec<TaskId>,
    /// The cgroup of each task before the first row: no State holds it.
    groups: Vec<Option<NameId>>,
    rows: VecDeque<Row>,
    /// The state before the first row.
    tail: State,
    /// The start of what is kept.
    from: Time,
    /// All events up to here have been reported.
    until: Time,
    losses: Vec<Loss>,
    annexes: Vec<Annex>,
    fresh: Option<Fresh>,
    trigger: Option<Trigger>,
    /// What the trigger saw first, for the file.
    fired: Option<Annex>,
}

/// What the trigger has not seen yet: the last rows.
struct Fresh {
    from: Time,
    /// The state before them.
    state: State,
    rows: usize,
}

impl Flight {
    /// Keeps the events of the `last` seconds, as far as they fit into `memory` bytes.
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
            gone: Vec::new(),
            groups: Vec::new(),
            rows: VecDeque::new(),
            tail: State::new(head.machine.cpus.len(), head.carries),
            from: head.window.from,
            until: head.window.from,
            losses: Vec::new(),
            annexes: Vec::new(),
            fresh: None,
            trigger: None,
            fired: None,
            head,
        }
    }

    /// Also returns everything from the start on in [parts](Flight::part).
    pub(crate) fn in_parts(mut self) -> Flight {
        let state = self.tail.clone();
        self.fresh = Some(Fresh { from: self.from, state, rows: 0 });
        self
    }

    /// Lets `trigger` check everything from the start on.
    pub fn with_trigger(mut self, trigger: Trigger) -> Flight {
        self.trigger = Some(trigger);
        self.in_parts()
    }

    /// Drops what is too old, and lets the trigger check what arrived since the last call.
    pub fn turn(&mut self) -> Option<Fired> {
        let part = self.part()?;
        let fired = self.trigger.as_mut()?.look(&part)?;
        self.fired.get_or_insert_with(|| fired.annex(&part));
        Some(fired)
    }

    /// Drops what is too old. Returns what arrived since the last call: a part that begins where
    /// the last one ended. Tasks keep their numbers from part to part.
    pub fn part(&mut self) -> Option<History> {
        let part = self.fresh();
        let oldest = Time(self.until.0.saturating_sub(self.last.0));
        while self.rows.front().is_some_and(|row| row.time() < oldest) {
            self.forget();
        }
        self.from = self.from.max(oldest);
        self.drop_decisions();
        self.sweep();
        part
    }

    /// How long a span is kept.
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

    /// Writes what is kept. Returns how many events it wrote: a few more than are kept, which
    /// describe the state at the start.
    pub fn save<W: Write>(&self, out: W) -> Result<(W, u64), Error> {
        let mut writer = Writer::new(out, &self.head_from(self.from))?;
        self.whole(&mut writer);
        let events = writer.events();
        Ok((writer.finish()?, events))
    }

    /// What is kept, as a History.
    pub fn history(&self) -> History {
        let mut builder = Builder::new(self.head_from(self.from));
        self.whole(&mut builder);
        builder.finish()
    }

    /// The head of a History that begins at `from`.
    fn head_from(&self, from: Time) -> Head {
        let mut head = self.head.clone();
        (head.window.from, head.window.to) = (from, self.until);
        head
    }

    fn whole(&self, sink: &mut dyn Sink) {
        self.begin(&self.tail, sink);
        self.tell_groups(sink);
        self.copy(self.from, 0, sink);
    }

    fn fresh(&mut self) -> Option<History> {
        let mut fresh = self.fresh.take()?;
        let mut part = None;
        if self.until > fresh.from {
            let first = self.rows.len() - fresh.rows;
            part = Some(self.piece(&fresh.state, fresh.from, first));
            for row in self.rows.range(first..) {
                fresh.state.apply(&row.unpack(), &mut ());
            }
            (fresh.from, fresh.rows) = (self.until, 0);
        }
        self.fresh = Some(fresh);
        part
    }

    /// Frees the numbers of names and CPU sets that are no longer in use, and of tasks whose tid
    /// was taken by another task.
    fn sweep(&mut self) {
        if !(self.names.is_full() || self.masks.is_full() || self.gone.len() >= SWEEP) {
            return;
        }
        self.names.forget_all();
        self.masks.forget_all();
        let mut gone = std::mem::take(&mut self.gone);
        gone.sort_unstable();
        let mut named = vec![false; gone.len()];
        for task in &self.tasks {
            self.names.keep(task.name.0);
        }
        self.groups.iter().flatten().for_each(|group| self.names.keep(group.0));
        for state in [&self.tail].into_iter().chain(self.fresh.iter().map(|fresh| &fresh.state)) {
            let tasks = (0..state.task_count()).map(TaskId::nth);
            tasks.filter_map(|task| state.task(task).mask).for_each(|it| self.masks.keep(it.0));
        }
        for row in &self.rows {
            let entry = row.unpack();
            match entry.event {
                Event::Changed { what: Change::Name(name) | Change::Cgroup(name), .. } => {
                    self.names.keep(name.0);
                }
                Event::Changed { what: Change::Affinity(mask), .. } => self.masks.keep(mask.0),
                _ => {}
            }
            entry.each_task(|task| {
                if let Ok(index) = gone.binary_search(&task) {
                    named[index] = true;
                }
            });
        }
        for (task, named) in gone.into_iter().zip(named) {
            if named { self.gone.push(task) } else { self.free.push(task) }
        }
        self.names.end_sweep();
        self.masks.end_sweep();
    }

    /// The events from row `first` on; `state` is the state before them.
    fn piece(&self, state: &State, from: Time, first: usize) -> History {
        let mut builder = Builder::new(self.head_from(from));
        self.begin(state, &mut builder);
        self.copy(from, first, &mut builder);
        builder.finish()
    }

    /// Writes the state before the first event.
    fn begin(&self, state: &State, sink: &mut dyn Sink) {
        for name in &self.names.all {
            sink.name(name);
        }
        for mask in &self.masks.all {
            sink.mask(mask);
        }
        for task in &self.tasks {
            sink.task(task.clone());
        }
        sink.start(&Start::of(state, self.tasks.len(), |task, known| {
            let seen = self.seen[task.index()?];
            (!matches!(known.phase, Phase::Unknown | Phase::Dead)).then(|| Past {
                last: known.cpu,
                moved: seen == Seen::Several,
                seen,
                ..Past::of(task, known)
            })
        }));
    }

    fn copy(&self, from: Time, first: usize, sink: &mut dyn Sink) {
        for row in self.rows.range(first..) {
            sink.push(row.unpack());
        }
        let annexes = self.annexes.iter().chain(&self.fired);
        annexes.for_each(|annex| sink.annex(since(annex, from)));
        self.losses.iter().for_each(|loss| sink.loss(loss.clone()));
        sink.end(self.until);
    }

    fn tell_groups(&self, sink: &mut dyn Sink) {
        for (index, group) in self.groups.iter().enumerate() {
            let Some(group) = *group else { continue };
            let (task, what) = (TaskId::nth(index), Change::Cgroup(group));
            let event = Event::Changed { task, what };
            sink.push(Entry { time: self.from, cpu: CpuId(0), by: By::UNKNOWN, event });
        }
    }

    /// Applies the oldest row to the state, and drops it.
    fn forget(&mut self) {
        let Some(row) = self.rows.pop_front() else { return };
        let entry = row.unpack();
        self.from = self.from.max(entry.time);
        self.tail.apply(&entry, &mut ());
        if let Some(fresh) = &mut self.fresh
            && fresh.rows > self.rows.len()
        {
            // More events arrived at once than there is room for.
            fresh.state.apply(&entry, &mut ());
            (fresh.from, fresh.rows) = (entry.time, self.rows.len());
        }
        match entry.event {
            Event::Switch { prev, left: Left::Dead, .. } if !prev.is_idle() => {
                self.gone.retain(|task| *task != prev);
                self.free.push(prev);
                self.move_to(prev, None);
            }
            Event::Changed { task, what: Change::Cgroup(group) } => {
                self.move_to(task, Some(group));
            }
            _ => {}
        }
    }

    /// Drops the decisions that are older than what is kept, except the domains that CPUs have.
    fn drop_decisions(&mut self) {
        let from = self.from;
        if let Some(table) = decisions(&mut self.annexes) {
            let old = count_old(table, from);
            let domains = Domains::after(table, old);
            let held = table.rows[..old].iter().filter(|row| domains.have(table, row));
            let held: Vec<Vec<Value>> = held.cloned().collect();
            table.rows.splice(..old, held);
        }
    }

    /// Drops the oldest events if there are more decisions than there is room for: of what is kept,
    /// all decisions are.
    fn bound_decisions(&mut self) {
        let Some(table) = decisions(&mut self.annexes) else { return };
        // The domains that CPUs have come first, and stay.
        let held = count_old(table, self.from);
        let excess = (table.rows.len() - held).saturating_sub(self.room / DECISION);
        let last = excess.checked_sub(1).and_then(|last| stamp(table, &table.rows[held + last]));
        let Some(oldest) = last else { return };
        while self.rows.front().is_some_and(|row| row.time() <= oldest) {
            self.forget();
        }
        self.from = self.from.max(oldest);
        self.drop_decisions();
    }

    fn move_to(&mut self, task: TaskId, group: Option<NameId>) {
        if let Some(known) = task.index().and_then(|index| self.groups.get_mut(index)) {
            *known = group;
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
            self.groups[index] = None;
            return id;
        }
        self.tasks.push(task);
        self.seen.push(Seen::Nowhere);
        self.groups.push(None);
        TaskId::nth(self.tasks.len() - 1)
    }
    fn correct(&mut self, id: TaskId, task: &Task) {
        if let Some(known) = id.index().and_then(|index| self.tasks.get_mut(index)) {
            *known = task.clone();
        }
    }
    fn push(&mut self, entry: Entry) {
        Seen::in_entry(&entry, |task, cpu| {
            if let Some(seen) = task.index().and_then(|index| self.seen.get_mut(index)) {
                seen.also(cpu);
            }
        });
        if self.rows.len() >= self.room {
            self.forget();
        }
        if self.rows.len() == self.rows.capacity() {
            // Grows with the events that arrive, not to the allowed size: that may be more than
            // there is.
            let more = self.rows.len().max(1024).min(self.room - self.rows.len());
            self.rows.reserve_exact(more);
        }
        self.rows.push_back(Row::pack(&entry));
        if let Some(fresh) = &mut self.fresh {
            fresh.rows += 1;
        }
        self.until = self.until.max(entry.time);
    }
    fn loss(&mut self, loss: Loss) {
        loss.add_to(&mut self.losses);
    }
    fn start(&mut self, start: &Start) {
        let (cpus, carries) = (self.head.machine.cpus.len(), self.head.carries);
        let state = State::at(self.from, start, cpus, carries, &mut ());
        if let Some(fresh) = &mut self.fresh {
            fresh.state = state.clone();
        }
        self.tail = state;
    }
    fn annex(&mut self, annex: Annex) {
        annex.add_to(&mut self.annexes);
        self.bound_decisions();
    }
    fn end(&mut self, time: Time) {
        self.until = self.until.max(time);
    }
    fn gone(&mut self, task: TaskId) {
        self.gone.push(task);
    }
}

/// The rows of `annex` that are not older than what is kept, if the rows have an end time; and the
/// domains that CPUs have.
fn since(annex: &Annex, from: Time) -> Annex {
    let Annex { table } = annex;
    let is_new = |row: &[Value]| stamp(table, row).is_none_or(|until| until > from);
    let domains = Domains::after(table, count_old(table, from));
    let kept = |row: &&Vec<Value>| is_new(row) || domains.have(table, row);
    let rows = table.rows.iter().filter(kept).cloned().collect();
    let (name, title, columns) = (table.name.clone(), table.title.clone(), table.columns.clone());
    Annex { table: Table { name, title, columns, rows, ..*table } }
}

/// When what is in a row happened or ended.
fn stamp(table: &Table, row: &[Value]) -> Option<Time> {
    let column = table.columns.iter().position(|column| column.unit == Unit::At)?;
    row.get(column)?.int().map(Time)
}

/// The decisions, if they are recorded.
fn decisions(annexes: &mut [Annex]) -> Option<&mut Table> {
    annexes.iter_mut().map(|it| &mut it.table).find(|table| table.name == Decision::ANNEX)
}

/// How many rows, in time order, are older than what is kept.
fn count_old(table: &Table, from: Time) -> usize {
    let is_old = |row: &&Vec<Value>| stamp(table, row).is_some_and(|time| time <= from);
    table.rows.iter().take_while(is_old).count()
}

/// By CPU: since when it has its scheduling domains.
struct Domains(HashMap<i64, Time>);

impl Domains {
    /// Those after the first `count` rows.
    fn after(table: &Table, count: usize) -> Domains {
        Domains(table.rows[..count].iter().filter_map(|row| Domains::of(table, row)).collect())
    }

    /// Whether `row` is one of them.
    fn have(&self, table: &Table, row: &[Value]) -> bool {
        let domain = Domains::of(table, row);
        domain.is_some_and(|(cpu, since)| self.0.get(&cpu) == Some(&since))
    }

    /// The CPU of a domain, and since when it has it.
    fn of(table: &Table, row: &[Value]) -> Option<(i64, Time)> {
        let cell = |key| row.get(table.columns.iter().position(|column| column.key == key)?);
        let is_domain = table.name == Decision::ANNEX && cell("what")?.text()? == Decision::DOMAIN;
        is_domain.then_some((cell("cpu")?.int()?, stamp(table, row)?))
    }
}

/// A decision takes the memory of this many events at most: seven cells, four of them short texts.
const DECISION: usize = 16;

/// How many names, CPU sets or tasks are dropped at once.
const SWEEP: usize = 1024;

/// Values by number, each once. The number of a value that is no longer in use is given to another
/// value; until then the value keeps its number, since numbers are consecutive in a file.
#[derive(Debug)]
struct Interned<T> {
    all: Vec<T>,
    used: Vec<bool>,
    ids: HashMap<T, u32>,
    free: Vec<u32>,
    /// How many numbers are given out before the next sweep.
    room: usize,
}

impl<T> Default for Interned<T> {
    fn default() -> Interned<T> {
        let (all, used, free) = (Vec::new(), Vec::new(), Vec::new());
        Interned { all, used, ids: HashMap::new(), free, room: SWEEP }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn id<Q>(&mut self, value: &Q, own: impl Fn(&Q) -> T) -> u32
    where
        T: std::borrow::Borrow<Q>,
        Q: Eq + std::hash::Hash + ?Sized,
    {
        if let Some(&id) = self.ids.get(value) {
            self.used[id as usize] = true;
            return id;
        }
        let value = own(value);
        let id = loop {
            match self.free.pop() {
                // The value came back meanwhile.
                Some(id) if self.used[id as usize] => {}
                Some(id) => {
                    let before = std::mem::replace(&mut self.all[id as usize], value.clone());
                    self.ids.remove(before.borrow());
                    break id;
                }
                None => {
                    self.all.push(value.clone());
                    self.used.push(true);
                    break self.all.len() as u32 - 1;
                }
            }
        };
        self.used[id as usize] = true;
        self.ids.insert(value, id);
        id
    }

    fn is_full(&self) -> bool {
        self.free.is_empty() && self.all.len() >= self.room
    }
    fn forget_all(&mut self) {
        self.used.fill(false);
    }
    fn keep(&mut self, id: u32) {
        self.used[id as usize] = true;
    }
    fn end_sweep(&mut self) {
        let unused = |id: &u32| !self.used[*id as usize];
        self.free = (0..self.all.len() as u32).rev().filter(unused).collect();
        // The more values are in use, the rarer are the sweeps.
        self.room = 2 * (self.all.len() - self.free.len()) + SWEEP;
    }
}
