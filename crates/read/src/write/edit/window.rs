//! Cuts out a window.

use wastenot_model::{
    By, Carries, Change, CpuId, CpuMode, Entry, Event, History, LossKind, Phase, Silent, Start,
    State, TaskId, Window,
};

use super::copy::Copy;

/// The part of `history` within `window`, which is clipped to what was recorded.
///
/// What State knows at the cut becomes the start of the new History: what each CPU runs, who waits
/// where and in which order, who sleeps, and every affinity, policy and throttle as changes at the
/// first instant. So whatever is integrated over time (waste, wake delay, run-queue depth) is the
/// same on the cut as within the window of the whole. What is different: a wait that began before
/// the cut begins with it, of unknown cause; and a task counts as "seen only on one CPU" by what
/// is seen of it in the window.
pub fn window(history: &History, window: Window) -> History {
    let whole = history.window();
    let (from, to) = whole.clip(window.from, window.to).unwrap_or((whole.from, whole.from));
    let mut head = history.head.clone();
    head.window = Window { from, to };
    head.start = None;
    let mut copy = Copy::begin(history, head, Box::new(|_, name| name.into()));
    let mut entries = history.entries().peekable();
    if from > whole.from {
        let mut state = State::begin(history, Silent::Unknown, &mut ());
        while let Some(entry) = entries.next_if(|entry| entry.time < from) {
            state.apply(&entry, &mut ());
        }
        start(history, &state, &mut copy, from);
        copy.sink.head().carries |= Carries::START;
    } else if let Some(known) = &history.head.start {
        let start = renamed(known, &mut copy);
        copy.sink.head().start = Some(start);
    }
    entries.take_while(|entry| entry.time < to).for_each(|entry| copy.push(entry));
    // Dropped events are told by their entries; one without any is of the whole, as others are.
    for loss in history.losses() {
        let told = loss.kind == LossKind::LostEvents && loss.time.is_some();
        let beyond = loss.kind == LossKind::Cut && to < whole.to;
        if !told && !beyond {
            wastenot_model::Sink::loss(&mut copy.sink, loss.clone());
        }
    }
    history.annexes.iter().for_each(|annex| copy.sink.annex(annex.clone()));
    copy.sink.finish()
}

/// Writes the state at the cut into the copy.
fn start(history: &History, state: &State, copy: &mut Copy<'_>, from: wastenot_model::Time) {
    let mut start = Start::default();
    for (cpu, known) in state.cpus() {
        start.cpus.push(mode(known.mode, copy));
        let waiting: Vec<TaskId> = state.waiting(cpu).collect();
        start.waiting.extend(waiting.into_iter().map(|task| (copy.task(task), Some(cpu))));
    }
    start.waiting.extend(state.unplaced().map(|task| (copy.task(task), None)));
    let mut changes = Vec::new();
    for (id, _) in history.tasks() {
        let task = state.task(id);
        if task.phase == Phase::Sleeping {
            start.sleeping.push((copy.task(id), task.cpu));
        }
        if task.phase == Phase::Dead {
            continue;
        }
        let known = [
            task.mask.map(Change::Affinity),
            task.policy.map(Change::Policy),
            task.throttled.then_some(Change::Throttled(true)),
            task.migration_disabled.then_some(Change::MigrationDisabled(true)),
        ];
        let cpu = task.cpu.unwrap_or(CpuId(0));
        changes.extend(known.into_iter().flatten().map(|what| (cpu, id, what)));
    }
    copy.sink.head().start = Some(start);
    for (cpu, task, what) in changes {
        let event = Event::Changed { task, what };
        copy.push(Entry { time: from, cpu, by: By::UNKNOWN, event });
    }
}

fn renamed(start: &Start, copy: &mut Copy<'_>) -> Start {
    let mut places = |places: &[(TaskId, Option<CpuId>)]| {
        places.iter().map(|&(task, cpu)| (copy.task(task), cpu)).collect()
    };
    let (waiting, sleeping) = (places(&start.waiting), places(&start.sleeping));
    let cpus = start.cpus.iter().map(|&known| mode(known, copy)).collect();
    Start { cpus, waiting, sleeping, silent: start.silent.clone() }
}

fn mode(mode: CpuMode, copy: &mut Copy<'_>) -> CpuMode {
    match mode {
        CpuMode::Busy(task) => CpuMode::Busy(copy.task(task)),
        other => other,
    }
}
