//! Events as rows of the file and back. No other module knows both.

use wastenot_model::{
    By, Change, Context, CpuId, Entry, Event, How, Left, MaskId, NameId, Prio, TaskId, Time,
};

use super::columns::Record;
use super::kind;

// Codes of the file, which do not change even if the order of the types does.
const LEFT: [Left; 9] = [
    Left::Runnable,
    Left::Preempted,
    Left::Sleeping,
    Left::Blocked,
    Left::Idle,
    Left::Stopped,
    Left::Parked,
    Left::Dead,
    Left::Unknown,
];
const CONTEXT: [Context; 4] = [Context::Unknown, Context::Task, Context::Softirq, Context::Hardirq];
const HOW: [How; 3] = [How::Wakeup, How::New, How::NoSelection];

fn code<T: PartialEq>(table: &[T], value: &T) -> u8 {
    table.iter().position(|entry| entry == value).expect("tables hold every variant") as u8
}

/// An entry as a row.
pub(super) fn pack(entry: &Entry) -> Record<'static> {
    let mut row = Record {
        time: entry.time.0,
        cpu: Some(entry.cpu.0),
        context: code(&CONTEXT, &entry.by.context),
        by: entry.by.task.map(|task| task.0),
        ..Record::default()
    };
    match entry.event {
        Event::Switch { prev, next, left, prev_prio, next_prio, .. } => {
            (row.kind, row.what, row.by) = (kind::SWITCH, code(&LEFT, &left), None);
            (row.task, row.other) = (Some(prev.0), Some(next.0));
            (row.prio, row.other_prio) = (prev_prio.0, next_prio.0);
        }
        Event::Waking { task, prev, prio } => {
            (row.kind, row.task) = (kind::WAKING, Some(task.0));
            (row.on, row.prio) = (prev.map(|cpu| cpu.0), prio.0);
        }
        Event::Queued { task, on, how, prio } => {
            (row.kind, row.what, row.task) = (kind::QUEUED, code(&HOW, &how), Some(task.0));
            (row.on, row.prio) = (on.map(|cpu| cpu.0), prio.0);
        }
        Event::Migrate { task, from, to } => {
            (row.kind, row.task) = (kind::MIGRATE, Some(task.0));
            (row.from, row.on) = (from.map(|cpu| cpu.0), Some(to.0));
        }
        Event::Fork { parent, child } => {
            (row.kind, row.task, row.other) = (kind::FORK, Some(child.0), Some(parent.0));
            row.by = row.by.filter(|&by| by != parent.0);
        }
        Event::Exec { task } => (row.kind, row.task) = (kind::EXEC, Some(task.0)),
        Event::Exit { task } => (row.kind, row.task) = (kind::EXIT, Some(task.0)),
        Event::Cpu { cpu, up } => {
            (row.kind, row.on, row.what) = (kind::CPU, Some(cpu.0), u8::from(up));
        }
        Event::Freq { cpu, khz } => {
            (row.kind, row.on, row.value) = (kind::FREQ, Some(cpu.0), Some(i64::from(khz)));
        }
        Event::Changed { task, what } => {
            (row.kind, row.task) = (kind::CHANGED, Some(task.0));
            let (variant, value) = match what {
                Change::Affinity(mask) => (0, i64::from(mask.0)),
                Change::Policy(policy) => (1, i64::from(policy)),
                Change::Nice(nice) => (2, i64::from(nice)),
                Change::Cgroup(name) => (3, i64::from(name.0)),
                Change::Throttled(on) => (4, i64::from(on)),
                Change::MigrationDisabled(on) => (5, i64::from(on)),
                Change::Name(name) => (6, i64::from(name.0)),
            };
            (row.what, row.value) = (variant, Some(value));
        }
        Event::Lost { count } => (row.kind, row.value) = (kind::LOST, count.map(i64::from)),
        Event::Decided { row: index } => {
            (row.kind, row.value) = (kind::DECIDED, Some(i64::from(index)));
        }
    }
    row
}

/// The entry that a row holds; `None` if a cell is missing or makes no sense. Ids are not checked
/// here.
pub(super) fn unpack(row: &Record<'_>) -> Option<Entry> {
    let cpu = cpu_id(row.cpu?)?;
    let task = row.task.map(TaskId);
    let on = || row.on.map_or(Some(None), |cpu| cpu_id(cpu).map(Some));
    let value = || u32::try_from(row.value?).ok();
    let mut by = row.by.map(TaskId);
    let event = match row.kind {
        kind::SWITCH => {
            by = task;
            Event::Switch {
                cpu,
                prev: task?,
                next: TaskId(row.other?),
                left: *LEFT.get(usize::from(row.what))?,
                prev_prio: Prio(row.prio),
                next_prio: Prio(row.other_prio),
            }
        }
        kind::WAKING => Event::Waking { task: task?, prev: on()?, prio: Prio(row.prio) },
        kind::QUEUED => {
            let how = *HOW.get(usize::from(row.what))?;
            Event::Queued { task: task?, on: on()?, how, prio: Prio(row.prio) }
        }
        kind::MIGRATE => {
            let from = row.from.map_or(Some(None), |cpu| cpu_id(cpu).map(Some))?;
            Event::Migrate { task: task?, from, to: on()?? }
        }
        kind::FORK => {
            let parent = TaskId(row.other?);
            by = by.or(Some(parent));
            Event::Fork { parent, child: task? }
        }
        kind::EXEC => Event::Exec { task: task? },
        kind::EXIT => Event::Exit { task: task? },
        kind::CPU => Event::Cpu { cpu: on()??, up: row.what != 0 },
        kind::FREQ => Event::Freq { cpu: on()??, khz: value()? },
        kind::CHANGED => Event::Changed { task: task?, what: change(row)? },
        kind::LOST => Event::Lost { count: row.value.map(u32::try_from).transpose().ok()? },
        kind::DECIDED => Event::Decided { row: value()? },
        _ => return None,
    };
    let context = *CONTEXT.get(usize::from(row.context))?;
    Some(Entry { time: Time(row.time), cpu, by: By { task: by, context }, event })
}

fn change(row: &Record<'_>) -> Option<Change> {
    let value = row.value?;
    let id = u32::try_from(value).ok();
    Some(match row.what {
        0 => Change::Affinity(MaskId(id?)),
        1 => Change::Policy(u8::try_from(value).ok()?),
        2 => Change::Nice(i8::try_from(value).ok()?),
        3 => Change::Cgroup(NameId(id?)),
        4 => Change::Throttled(value != 0),
        5 => Change::MigrationDisabled(value != 0),
        6 => Change::Name(NameId(id?)),
        _ => return None,
    })
}

/// A CPU number that a kernel can have.
pub(super) fn cpu_id(cpu: u16) -> Option<CpuId> {
    (usize::from(cpu) < CpuId::LIMIT).then_some(CpuId(cpu))
}
