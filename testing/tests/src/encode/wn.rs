//! `.wn` as its documentation describes it: rows of a flat schema in one Arrow stream.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Int16Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use serde_json::{Value as Json, json};
use wastenot_model::{
    Change, Context, CpuMode, Entry, Event, Head, History, How, Left, Loss, Origin, Past, Phase,
    Seen, Start, TaskId, Time,
};

use crate::Rng;

/// How to write.
#[derive(Clone, Copy, Debug)]
pub struct Wn {
    /// Whether buffers are compressed.
    pub zstd: bool,
    /// Rows in a batch.
    pub batch: usize,
    /// As a later minor version may write: with columns, kinds of rows and keys that are not known
    /// yet, and columns in another order.
    pub later: bool,
}

impl Wn {
    /// A random way.
    pub fn any(rng: &mut Rng) -> Wn {
        let (zstd, batch) = (rng.one_in(2), rng.pick(&[1, 7, 60, 5000]));
        Wn { zstd, batch, later: rng.one_in(3) }
    }
}

/// A `.wn`.
pub fn wn(history: &History, how: &Wn) -> Vec<u8> {
    let mut file = File::default();
    if let Some(start) = &history.head.start {
        file.start(history, start);
    }
    for entry in history.entries() {
        entry.each_task(|task| file.introduce(history, task));
        if how.later && file.rows.len() % 5 == 0 {
            file.rows.push(Row {
                kind: 55,
                text: Some("of another time".into()),
                ..Row::default()
            });
        }
        file.event(history, &entry);
    }
    file.introduce_all(history);
    for loss in history.losses() {
        let text = Some(loss_text(loss));
        file.rows.push(Row { kind: 38, what: 1, text, ..Row::default() });
    }
    file.rows.push(Row {
        kind: 63,
        time: history.window().to.0,
        value: Some(history.window().from.0 as i64),
        other: Some(history.head.carries.bits()),
        ..Row::default()
    });
    stream(&file.rows, &head_text(&history.head, how), how)
}

/// A row; cells that it does not set are null, or 0 in the first four columns.
#[derive(Clone, Debug, Default)]
struct Row {
    time: u64,
    kind: u8,
    context: u8,
    what: u8,
    cpu: Option<u16>,
    by: Option<u32>,
    task: Option<u32>,
    other: Option<u32>,
    on: Option<u16>,
    from: Option<u16>,
    prio: Option<i16>,
    other_prio: Option<i16>,
    value: Option<i64>,
    text: Option<String>,
}

/// The rows so far, and which names, masks and tasks are among them.
#[derive(Default)]
struct File {
    rows: Vec<Row>,
    names: usize,
    masks: usize,
    tasks: usize,
}

impl File {
    /// Rows of names up to this one: their ids are their order.
    fn name(&mut self, history: &History, id: u32) {
        for (n, text) in history.names().enumerate().take(id as usize + 1).skip(self.names) {
            let (value, text) = (Some(n as i64), Some(text.to_owned()));
            self.rows.push(Row { kind: 32, value, text, ..Row::default() });
        }
        self.names = self.names.max(id as usize + 1);
    }

    fn mask(&mut self, history: &History, id: u32) {
        for (n, mask) in history.masks().iter().enumerate().take(id as usize + 1).skip(self.masks) {
            let (value, text) = (Some(n as i64), Some(mask.to_string()));
            self.rows.push(Row { kind: 33, value, text, ..Row::default() });
        }
        self.masks = self.masks.max(id as usize + 1);
    }

    fn introduce(&mut self, history: &History, task: TaskId) {
        let Some(index) = task.index() else { return };
        while self.tasks <= index {
            let id = TaskId::nth(self.tasks);
            let known = history.task(id).expect("tasks have entries");
            self.name(history, known.name.0);
            self.rows.push(Row {
                kind: 34,
                task: Some(id.0),
                value: Some(i64::from(known.tid)),
                by: known.pid.map(|pid| pid as u32),
                other: Some(known.name.0),
                ..Row::default()
            });
            self.tasks += 1;
        }
    }

    fn introduce_all(&mut self, history: &History) {
        history.tasks().for_each(|(task, _)| self.introduce(history, task));
        (0..history.names().count()).for_each(|n| self.name(history, n as u32));
        (0..history.masks().len()).for_each(|n| self.mask(history, n as u32));
    }

    fn start(&mut self, history: &History, start: &Start) {
        start.each_task(|task| self.introduce(history, task));
        let row = |what, on: Option<u16>, task: Option<TaskId>, value| Row {
            kind: 35,
            what,
            on,
            task: task.map(|task| task.0),
            value,
            ..Row::default()
        };
        self.rows.push(row(0, None, None, None));
        for mode in &start.cpus {
            let (value, task) = match *mode {
                CpuMode::Unknown => (0, None),
                CpuMode::Offline => (1, None),
                CpuMode::Idle => (2, None),
                CpuMode::Busy(task) => (3, Some(task)),
            };
            self.rows.push(row(1, None, task, Some(value)));
        }
        for (what, places) in [(2, &start.waiting), (3, &start.sleeping)] {
            let rows =
                places.iter().map(|(task, on)| row(what, on.map(|on| on.0), Some(*task), None));
            self.rows.extend(rows);
        }
        self.rows.extend(start.silent.iter().map(|cpu| row(4, Some(cpu.0), None, None)));
        self.rows.extend(start.missing.iter().map(|cpu| row(5, Some(cpu.0), None, None)));
        if start.unseen_until > Time(0) {
            self.rows.push(row(6, None, None, Some(start.unseen_until.0 as i64)));
        }
        let Some(pasts) = &start.past else { return };
        self.rows.push(Row { kind: 39, ..Row::default() });
        for past in pasts {
            past.mask.iter().for_each(|mask| self.mask(history, mask.0));
            let (task, text) = (Some(past.task.0), Some(past_text(past)));
            self.rows.push(Row { kind: 39, what: 1, task, text, ..Row::default() });
        }
    }

    fn event(&mut self, history: &History, entry: &Entry) {
        let mut row = Row {
            time: entry.time.0,
            cpu: Some(entry.cpu.0),
            context: match entry.by.context {
                Context::Unknown => 0,
                Context::Task => 1,
                Context::Softirq => 2,
                Context::Hardirq => 3,
            },
            by: entry.by.task.map(|task| task.0),
            ..Row::default()
        };
        match entry.event {
            Event::Switch { prev, next, left, prev_prio, next_prio, .. } => {
                (row.kind, row.task, row.other) = (0, Some(prev.0), Some(next.0));
                (row.what, row.prio, row.other_prio) = (letter(left), prev_prio.0, next_prio.0);
            }
            Event::Waking { task, prev, prio } => {
                (row.kind, row.task, row.prio) = (1, Some(task.0), prio.0);
                row.on = prev.map(|cpu| cpu.0);
            }
            Event::Queued { task, on, how, prio } => {
                (row.kind, row.task, row.prio) = (2, Some(task.0), prio.0);
                row.on = on.map(|cpu| cpu.0);
                row.what = match how {
                    How::Wakeup => 0,
                    How::New => 1,
                    How::NoSelection => 2,
                };
            }
            Event::Migrate { task, from, to } => {
                (row.kind, row.task, row.on) = (3, Some(task.0), Some(to.0));
                row.from = from.map(|cpu| cpu.0);
            }
            Event::Fork { parent, child } => {
                (row.kind, row.task, row.other) = (4, Some(child.0), Some(parent.0));
            }
            Event::Exec { task } => (row.kind, row.task) = (5, Some(task.0)),
            Event::Exit { task } => (row.kind, row.task) = (6, Some(task.0)),
            Event::Cpu { cpu, up } => (row.kind, row.on, row.what) = (7, Some(cpu.0), up.into()),
            Event::Freq { cpu, khz } => {
                (row.kind, row.on, row.value) = (8, Some(cpu.0), Some(khz.into()));
            }
            Event::Changed { task, what } => {
                (row.kind, row.task) = (9, Some(task.0));
                let (variant, value) = self.change(history, what);
                (row.what, row.value) = (variant, Some(value));
            }
            Event::Lost { count } => (row.kind, row.value) = (10, count.map(i64::from)),
            Event::Decided { row: decided } => (row.kind, row.value) = (11, Some(decided.into())),
        }
        self.rows.push(row);
    }

    fn change(&mut self, history: &History, what: Change) -> (u8, i64) {
        match what {
            Change::Affinity(mask) => {
                self.mask(history, mask.0);
                (0, mask.0.into())
            }
            Change::Policy(policy) => (1, policy.into()),
            Change::Nice(nice) => (2, nice.into()),
            Change::Cgroup(name) => {
                self.name(history, name.0);
                (3, name.0.into())
            }
            Change::Throttled(on) => (4, on.into()),
            Change::MigrationDisabled(on) => (5, on.into()),
            Change::Name(name) => {
                self.name(history, name.0);
                (6, name.0.into())
            }
        }
    }
}

fn letter(left: Left) -> u8 {
    match left {
        Left::Runnable => 0,
        Left::Preempted => 1,
        Left::Sleeping => 2,
        Left::Blocked => 3,
        Left::Idle => 4,
        Left::Stopped => 5,
        Left::Parked => 6,
        Left::Dead => 7,
        Left::Unknown => 8,
    }
}

fn head_text(head: &Head, how: &Wn) -> String {
    let cpus = &head.machine.cpus;
    let column = |of: fn(&wastenot_model::Cpu) -> Json| cpus.iter().map(of).collect::<Json>();
    let mut head = json!({
        "version": "1.3",
        "machine": {
            "name": head.machine.name,
            "core": column(|cpu| cpu.core.into()),
            "llc": column(|cpu| cpu.llc.into()),
            "node": column(|cpu| cpu.node.into()),
            "package": column(|cpu| cpu.package.into()),
            "capacity": column(|cpu| cpu.capacity.into()),
            "online": column(|cpu| cpu.online.into()),
            "isolated": column(|cpu| cpu.isolated.into()),
            "distances": head.machine.distances,
            "links": head.machine.links,
        },
        "clock": { "name": head.clock.name, "nanoseconds": head.clock.nanoseconds },
        "source": {
            "format": head.source.format,
            "name": head.source.name,
            "kernel": head.source.kernel,
            "notes": head.source.notes,
        },
        "carries": head.carries.words().collect::<Vec<_>>(),
        "from_ns": head.window.from.0,
    });
    if how.later {
        (head["version"], head["weather"]) = ("1.99".into(), "fair".into());
    }
    head.to_string()
}

fn loss_text(loss: &Loss) -> String {
    json!({
        "kind": loss.kind.name(),
        "cpu": loss.cpu.map(|cpu| cpu.0),
        "time_ns": loss.time.map(|time| time.0),
        "count": loss.count,
        "note": loss.note,
    })
    .to_string()
}

fn past_text(past: &Past) -> String {
    let phase = match past.phase {
        Phase::Unknown => "unknown",
        Phase::Running => "running",
        Phase::Waiting => "waiting",
        Phase::Held => "held",
        Phase::Sleeping => "sleeping",
        Phase::New => "new",
        Phase::Dead => "dead",
    };
    let origin = match past.origin {
        Origin::Unknown => "unknown",
        Origin::Wakeup => "wakeup",
        Origin::NoSelection => "no-selection",
        Origin::Waking => "waking",
        Origin::Fork => "fork",
        Origin::Preempted => "preempted",
        Origin::Yielded => "yielded",
        Origin::Released => "released",
    };
    let context = match past.waker.context {
        Context::Unknown => "unknown",
        Context::Task => "task",
        Context::Softirq => "softirq",
        Context::Hardirq => "hardirq",
    };
    json!({
        "phase": phase,
        "since_ns": past.since.0,
        "cpu": past.cpu.map(|cpu| cpu.0),
        "prev_cpu": past.prev.map(|cpu| cpu.0),
        "origin": origin,
        "moves": past.moves,
        "waking_ns": past.waking.map(|time| time.0),
        "waker": past.waker.task.map(|task| task.0),
        "waker_context": context,
        "waker_cpu": past.waker_cpu.0,
        "mask": past.mask.map(|mask| mask.0),
        "policy": past.policy,
        "nice": past.nice,
        "throttled": past.throttled,
        "migration_disabled": past.migration_disabled,
        "last_cpu": past.last.map(|cpu| cpu.0),
        "moved": past.moved,
        "seen_on": match past.seen {
            Seen::Nowhere => Json::Null,
            Seen::On(cpu) => cpu.0.into(),
            Seen::Several => "several".into(),
        },
    })
    .to_string()
}

/// The rows as one Arrow stream, whose schema has the head as its only metadata.
fn stream(rows: &[Row], head: &str, how: &Wn) -> Vec<u8> {
    let columns = columns(rows, how);
    let fields: Vec<Field> = columns.iter().map(|(field, _)| field.clone()).collect();
    let metadata = HashMap::from([("wastenot".to_owned(), head.to_owned())]);
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let whole =
        RecordBatch::try_new(Arc::clone(&schema), arrays).expect("columns fit their fields");
    let compression = how.zstd.then_some(CompressionType::ZSTD);
    let options = IpcWriteOptions::default().try_with_compression(compression).expect("zstd is in");
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &schema, options).expect("memory");
    for from in (0..rows.len()).step_by(how.batch) {
        let batch = whole.slice(from, how.batch.min(rows.len() - from));
        writer.write(&batch).expect("memory");
    }
    writer.finish().expect("memory");
    writer.into_inner().expect("memory")
}

fn columns(rows: &[Row], how: &Wn) -> Vec<(Field, ArrayRef)> {
    let mut text = StringBuilder::new();
    rows.iter().for_each(|row| text.append_option(row.text.as_deref()));
    let mut columns = vec![
        filled::<UInt64Type>("time", rows, |row| row.time),
        filled::<UInt8Type>("kind", rows, |row| row.kind),
        filled::<UInt8Type>("context", rows, |row| row.context),
        filled::<UInt8Type>("what", rows, |row| row.what),
        sparse::<UInt16Type>("cpu", rows, |row| row.cpu),
        sparse::<UInt32Type>("by", rows, |row| row.by),
        sparse::<UInt32Type>("task", rows, |row| row.task),
        sparse::<UInt32Type>("other", rows, |row| row.other),
        sparse::<UInt16Type>("on", rows, |row| row.on),
        sparse::<UInt16Type>("from", rows, |row| row.from),
        sparse::<Int16Type>("prio", rows, |row| row.prio),
        sparse::<Int16Type>("other_prio", rows, |row| row.other_prio),
        sparse::<Int64Type>("value", rows, |row| row.value),
        (Field::new("text", DataType::Utf8, true), Arc::new(text.finish())),
    ];
    if how.later {
        columns.insert(3, sparse::<Int64Type>("mood", rows, |row| row.value));
        columns.reverse();
    }
    columns
}

fn filled<T: ArrowPrimitiveType>(
    name: &str,
    rows: &[Row],
    cell: fn(&Row) -> T::Native,
) -> (Field, ArrayRef) {
    let cells: PrimitiveArray<T> = PrimitiveArray::from_iter_values(rows.iter().map(cell));
    (Field::new(name, T::DATA_TYPE, false), Arc::new(cells))
}

fn sparse<T: ArrowPrimitiveType>(
    name: &str,
    rows: &[Row],
    cell: fn(&Row) -> Option<T::Native>,
) -> (Field, ArrayRef) {
    let cells: PrimitiveArray<T> = rows.iter().map(cell).collect();
    (Field::new(name, T::DATA_TYPE, true), Arc::new(cells))
}
