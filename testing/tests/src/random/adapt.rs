//! A history as recorded by a source that does not have everything.

use wastenot_model::{
    Builder, Carries, Change, Context, Entry, Event, Head, History, Left, Machine, Sink,
};

use super::in_order;

/// The same tasks, names and masks; the rows that `tell` keeps, as it returns them; a window from
/// the first of them to the last.
pub fn adapted(history: &History, mut tell: impl FnMut(Entry) -> Option<Entry>) -> History {
    let mut head = history.head.clone();
    head.window = Head::new(Machine::flat(0)).window;
    let mut sink = Builder::new(head);
    history.names().for_each(|name| {
        sink.name(name);
    });
    history.masks().iter().for_each(|mask| {
        sink.mask(mask);
    });
    history.tasks().for_each(|(_, task)| {
        sink.task(task.clone());
    });
    history.entries().filter_map(&mut tell).for_each(|entry| sink.push(entry));
    sink.finish()
}

/// What measures can use if a source has only `carries`: no snapshot of the start, no offline CPUs,
/// no affinities and quotas unless carried.
pub fn reduced(history: &History, carries: Carries) -> History {
    let mut less = adapted(history, |entry| {
        let needs = match entry.event {
            Event::Changed { what: Change::Throttled(_), .. } => Carries::THROTTLING,
            Event::Changed { .. } => Carries::AFFINITY,
            _ => Carries::NONE,
        };
        carries.has(needs).then_some(entry)
    });
    less.head.start = None;
    less.head.machine.cpus.iter_mut().for_each(|cpu| cpu.online = true);
    less.head.carries = carries.without(Carries::START);
    less
}

/// Turns a preempted task into a runnable one: trace-cmd's plugins print both in the same way.
pub fn without_preemption(history: &History) -> History {
    adapted(history, |mut entry| {
        if let Event::Switch { left: left @ Left::Preempted, .. } = &mut entry.event {
            *left = Left::Runnable;
        }
        Some(entry)
    })
}

/// No two rows of a CPU at one instant, except a loss at the instant of the row before it.
pub fn spread(history: &History) -> History {
    const ROOM: u64 = 1024;
    let mut last = vec![None; history.cpu_count()];
    let rows = history.entries().map(|mut entry| {
        let last = &mut last[entry.cpu.index()];
        let (time, lost) = (entry.time.0 * ROOM, matches!(entry.event, Event::Lost { .. }));
        entry.time.0 = match *last {
            Some(before) if lost => before,
            Some(before) => time.max(before + 1),
            None => time,
        };
        *last = Some(entry.time.0);
        entry
    });
    let mut rows = in_order(rows.collect()).into_iter();
    adapted(history, |_| rows.next())
}

/// What arrays of switches and wakings contain of each CPU: only the next task, so the task that
/// leaves is known from the second switch on, and after a loss again; until then no waker is known.
pub fn as_arrays_tell(history: &History) -> History {
    let mut known = vec![false; history.cpu_count()];
    adapted(history, |mut entry| {
        let known = &mut known[entry.cpu.index()];
        match entry.event {
            Event::Lost { .. } => *known = false,
            Event::Switch { .. } if !*known => {
                *known = true;
                return None;
            }
            // The arrays do not contain the context of a switch.
            Event::Switch { .. } => entry.by.context = Context::Unknown,
            Event::Waking { .. } if !*known => entry.by.task = None,
            _ => {}
        }
        Some(entry)
    })
}
