//! Cuts out a window.

use std::collections::BTreeMap;

use wastenot_model::{
    Annex, By, Carries, Change, CpuId, CpuMode, Entry, Event, History, LossKind, Missing, Moves,
    NameId, Past, Phase, Replay, Seen, Silent, Sink, Start, TaskId, Time, Value, Window,
};

use super::copy::{Copy, is_cut};

/// The part of `history` within `window`, which is clipped to what was recorded. Events at the end
/// of the recording are in a part that reaches it.
///
/// What State knows at the cut becomes the start of the new History: the task that each CPU runs;
/// the waiting tasks of each CPU in their order, since when they wait and by which task they were
/// woken; sleeping tasks, affinities, policies, nice values and throttles. It also gets the facts
/// about the whole that later analyses need: where each task was before, and whether it was ever
/// seen on another CPU. A row gives a task's cgroup, as in recordings. So a check of the cut finds
/// what a check of the whole finds within the window.
pub fn window(history: &History, window: Window) -> History {
    let whole = history.window();
    let (from, to) = whole.clip(window.from, window.to).unwrap_or((whole.from, whole.from));
    let part = Window { from, to };
    let mut acts = acting(history, part);
    let mut head = history.head.clone();
    (head.window, head.start) = (part, None);
    let mut start = history.head.start.clone();
    if part != whole {
        let cut = Cut::of(history, from).start(&acts);
        for (cpu, mode) in head.machine.cpus.iter_mut().zip(&cut.cpus) {
            cpu.online = *mode != CpuMode::Offline;
        }
        start = Some(cut);
        head.carries |= Carries::START;
    }
    let mut copy = Copy::begin(history, head, Box::new(|_, name| name.into()));
    // In their order, so that a report lists equal entries in the same order.
    start.iter().for_each(|start| start.each_task(|task| mark(&mut acts, task)));
    for (index, (task, _)) in history.tasks().enumerate() {
        if acts[index] {
            copy.task(task);
        }
    }
    let start = start.map(|start| copy.start(&start));
    copy.sink.head().start = start;
    for (task, group) in groups_at(history, from) {
        if task.index().is_some_and(|index| acts.get(index) == Some(&true)) {
            let event = Event::Changed { task, what: Change::Cgroup(group) };
            copy.push(Entry { time: from, cpu: CpuId(0), by: By::UNKNOWN, event });
        }
    }
    within(history, part).for_each(|entry| copy.push(entry));
    // Entries report dropped events; a loss without an entry belongs to the whole, like others.
    let cut_later = to < whole.to && !within(history, part).any(|entry| is_cut(history, &entry));
    for loss in history.losses() {
        let told = loss.kind == LossKind::LostEvents && loss.time.is_some();
        let beyond = loss.kind == LossKind::Cut && cut_later;
        if !told && !beyond {
            copy.sink.loss(loss.clone());
        }
    }
    for missing in Missing::find(history) {
        if missing.until.is_none_or(|until| until > from) {
            copy.sink.loss(missing.loss(history));
        }
    }
    history.annexes.iter().for_each(|annex| copy.sink.annex(stretches(annex, part)));
    copy.sink.finish()
}

/// The rows of `annex` that reach into `part`, if they are stretches: they end at `time_ns`, and
/// are `span_ns` long.
fn stretches(annex: &Annex, part: Window) -> Annex {
    let mut annex = annex.clone();
    let place = |key: &str| annex.table.columns.iter().position(|column| column.key == key);
    if let (Some(until), Some(span)) = (place("time_ns"), place("span_ns")) {
        annex.table.rows.retain(|row| match (row.get(until), row.get(span)) {
            (Some(Value::Int(until)), Some(Value::Int(span))) => {
                let until = *until as u64;
                until > part.from.0 && until.saturating_sub(*span as u64) < part.to.0
            }
            _ => true,
        });
    }
    annex
}

/// The cgroup of each task before `from`, if rows give it.
fn groups_at(history: &History, from: Time) -> BTreeMap<TaskId, NameId> {
    let earlier = history.entries().take_while(|entry| entry.time < from);
    let group = |entry: Entry| match entry.event {
        Event::Changed { task, what: Change::Cgroup(group) } => Some((task, group)),
        _ => None,
    };
    earlier.filter_map(group).collect()
}

/// Parts are half-open, but a recording ends with its last event: a part that reaches the end of
/// the recording includes that event, or no part would.
fn within(history: &History, part: Window) -> impl Iterator<Item = Entry> + '_ {
    let to_the_end = part.to == history.window().to;
    let late = history.entries().skip_while(move |entry| entry.time < part.from);
    late.take_while(move |entry| to_the_end || entry.time < part.to)
}

/// By index: the tasks that events in the part refer to.
fn acting(history: &History, part: Window) -> Vec<bool> {
    let mut acts = vec![false; history.task_count()];
    within(history, part).for_each(|entry| entry.each_task(|task| mark(&mut acts, task)));
    acts
}

fn mark(marks: &mut [bool], task: TaskId) {
    if let Some(mark) = task.index().and_then(|index| marks.get_mut(index)) {
        *mark = true;
    }
}

/// The state at the start of a part.
struct Cut<'h> {
    at: Replay<'h>,
    from: Time,
    before: Moves<'h>,
    /// Over the whole recording.
    ever: Moves<'h>,
    seen: Vec<Option<Seen>>,
}

impl<'h> Cut<'h> {
    fn of(history: &'h History, from: Time) -> Cut<'h> {
        let mut moves = Moves::new(history);
        let mut replay = Replay::begin(history, Silent::Unknown, &mut moves);
        replay.go(history.entries().take_while(|entry| entry.time < from).count(), &mut moves);
        let (at_cut, before) = (replay.clone(), moves.clone());
        replay.go(history.len(), &mut moves);
        let mut seen = vec![Some(Seen::Nowhere); history.task_count()];
        Seen::look(history, &mut seen);
        Cut { at: at_cut, from, before, ever: moves, seen }
    }

    /// The start state of a part in which these tasks act.
    fn start(&self, acts: &[bool]) -> Start {
        self.at.start(self.from, |task, known| {
            let index = task.index()?;
            let gone = matches!(known.phase, Phase::Unknown | Phase::Dead);
            (!gone || acts[index]).then(|| Past {
                last: self.before.last(task),
                moved: self.ever.moved(task),
                seen: self.seen[index].unwrap_or(Seen::Nowhere),
                ..Past::of(task, known)
            })
        })
    }
}
