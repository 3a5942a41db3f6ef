//! Writes `.wn`: a sink that a recorder pushes into, and a whole History at once.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Schema};
use wastenot_model::{
    Annex, Carries, Change, CpuMode, CpuSet, Entry, Event, Head, History, Loss, MaskId, NameId,
    Past, Sink, Span, Start, Task, TaskId, Time, Window,
};

use super::columns::{Record, Rows, fields};
use super::{KEY, head, json, kind, past, rows};
use crate::Error;

/// Rows in a batch. A crash loses at most this many, unless [`Writer::flush`] is called.
const BATCH: usize = 8_192;
/// Text in a batch, in bytes: readers bound it.
const BATCH_TEXT: usize = 4 << 20;

/// Writes a `.wn` while events arrive. What has been pushed is in the file after the next
/// [`flush`](Writer::flush), and at the latest after 65 536 rows.
///
/// A failure to write is kept and returned by [`finish`](Writer::finish), so that a producer need
/// not check after each push.
pub struct Writer<W: Write> {
    stream: StreamWriter<W>,
    schema: Arc<Schema>,
    rows: Rows,
    text_bytes: usize,
    names: HashMap<Box<str>, NameId>,
    masks: HashMap<CpuSet, MaskId>,
    tasks: usize,
    /// Without their rows.
    annexes: Vec<Annex>,
    losses: Vec<Loss>,
    carries: Carries,
    window: Window,
    events: u64,
    failed: Option<ArrowError>,
}

impl<W: Write> Writer<W> {
    /// Begins a file. Writes all of `head` except its start state, whose tasks are not known yet
    /// (see [`start`](Writer::start)), and the folders in the name of its source.
    pub fn new(out: W, head: &Head) -> Result<Writer<W>, Error> {
        // Paths reveal whose file it was, and files are passed on.
        let mut head = head.clone();
        head.source.name = base_name(&head.source.name).to_owned();
        let metadata = HashMap::from([(KEY.to_owned(), head::to_json(&head))]);
        let schema = Arc::new(Schema::new_with_metadata(fields(), metadata));
        let options = IpcWriteOptions::default()
            .try_with_compression(Some(CompressionType::ZSTD))
            .map_err(failure)?;
        let stream = StreamWriter::try_new_with_options(out, &schema, options).map_err(failure)?;
        Ok(Writer {
            stream,
            schema,
            rows: Rows::default(),
            text_bytes: 0,
            names: HashMap::new(),
            masks: HashMap::new(),
            tasks: 0,
            annexes: Vec::new(),
            losses: Vec::new(),
            carries: head.carries,
            window: head.window,
            events: 0,
            failed: None,
        })
    }

    fn past(&mut self, past: &Past) {
        let text = past::to_json(past);
        let task = Some(past.task.0);
        self.put_record(&Record {
            kind: kind::PAST,
            what: 1,
            task,
            text: Some(&text),
            ..Record::default()
        });
    }

    /// Events pushed so far: as many as a reader of the file finds.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The length of what was pushed so far: as long as a reader of the file finds.
    pub fn span(&self) -> Span {
        self.window.to - self.window.from.min(self.window.to)
    }

    /// Hands everything that was pushed so far to the output.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write_batch();
        if self.failed.is_none() {
            self.failed = self.stream.flush().err();
        }
        self.failed.take().map_or(Ok(()), |error| Err(failure(error)))
    }

    /// Ends the file: the sums of losses, then the end of the recorded window.
    pub fn finish(mut self) -> Result<W, Error> {
        for loss in std::mem::take(&mut self.losses) {
            self.put_text(kind::LOSS, 1, None, &json::loss_to_json(&loss));
        }
        let Window { from, to } = self.window;
        let from = from.min(to);
        self.put(&Record {
            kind: kind::END,
            time: to.0,
            value: Some(from.0 as i64),
            other: Some(self.carries.bits()),
            ..Record::default()
        });
        self.flush()?;
        self.stream.finish().map_err(failure)?;
        self.stream.into_inner().map_err(failure)
    }

    #[inline]
    fn put(&mut self, record: &Record<'_>) {
        self.rows.push(record);
        if self.rows.len() >= BATCH {
            self.write_batch();
        }
    }

    fn put_text(&mut self, kind: u8, what: u8, value: Option<i64>, text: &str) {
        self.put_record(&Record { kind, what, value, text: Some(text), ..Record::default() });
    }

    /// A row with a text.
    fn put_record(&mut self, record: &Record<'_>) {
        self.put(record);
        self.text_bytes += record.text.map_or(0, str::len);
        if self.text_bytes >= BATCH_TEXT {
            self.write_batch();
        }
    }

    fn write_batch(&mut self) {
        self.text_bytes = 0;
        if self.rows.len() == 0 || self.failed.is_some() {
            self.rows = Rows::default();
            return;
        }
        let batch = self.rows.take(&self.schema);
        self.failed = self.stream.write(&batch).err();
    }
}

impl<W: Write> Sink for Writer<W> {
    fn name(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.names.get(text) {
            return id;
        }
        let id = NameId(self.names.len() as u32);
        self.names.insert(text.into(), id);
        self.put_text(kind::NAME, 0, Some(i64::from(id.0)), text);
        id
    }

    fn mask(&mut self, cpus: &CpuSet) -> MaskId {
        if let Some(&id) = self.masks.get(cpus) {
            return id;
        }
        let id = MaskId(self.masks.len() as u32);
        self.masks.insert(cpus.clone(), id);
        self.put_text(kind::MASK, 0, Some(i64::from(id.0)), &cpus.to_string());
        id
    }

    fn task(&mut self, task: Task) -> TaskId {
        let id = TaskId::nth(self.tasks);
        self.tasks += 1;
        self.correct(id, &task);
        id
    }

    fn correct(&mut self, id: TaskId, task: &Task) {
        self.put(&Record {
            kind: kind::TASK,
            task: Some(id.0),
            value: Some(i64::from(task.tid)),
            by: task.pid.map(|pid| pid as u32),
            other: Some(task.name.0),
            ..Record::default()
        });
    }

    #[inline]
    fn push(&mut self, entry: Entry) {
        self.window.from = self.window.from.min(entry.time);
        self.window.to = self.window.to.max(entry.time);
        if let Event::Lost { count } = entry.event {
            Loss::dropped(entry.cpu, entry.time, count).add_to(&mut self.losses);
        }
        self.events += 1;
        self.put(&rows::pack(&entry));
    }

    fn loss(&mut self, loss: Loss) {
        self.put_text(kind::LOSS, 0, None, &json::loss_to_json(&loss));
        loss.add_to(&mut self.losses);
    }

    fn start(&mut self, start: &Start) {
        let row = |what, record: Record<'static>| Record { kind: kind::START, what, ..record };
        self.put(&row(0, Record::default()));
        for mode in &start.cpus {
            let (value, task) = match mode {
                CpuMode::Unknown => (0, None),
                CpuMode::Offline => (1, None),
                CpuMode::Idle => (2, None),
                CpuMode::Busy(task) => (3, Some(task.0)),
            };
            self.put(&row(1, Record { value: Some(value), task, ..Record::default() }));
        }
        for (what, places) in [(2, &start.waiting), (3, &start.sleeping)] {
            for (task, on) in places {
                let (task, on) = (Some(task.0), on.map(|cpu| cpu.0));
                self.put(&row(what, Record { task, on, ..Record::default() }));
            }
        }
        for cpu in &start.silent {
            self.put(&row(4, Record { on: Some(cpu.0), ..Record::default() }));
        }
        for cpu in &start.missing {
            self.put(&row(5, Record { on: Some(cpu.0), ..Record::default() }));
        }
        if start.unseen_until > Time(0) {
            let value = Some(start.unseen_until.0.cast_signed());
            self.put(&row(6, Record { value, ..Record::default() }));
        }
        if let Some(past) = &start.past {
            self.put(&Record { kind: kind::PAST, ..Record::default() });
            past.iter().for_each(|past| self.past(past));
        }
    }

    fn annex(&mut self, mut annex: Annex) {
        let rows = std::mem::take(&mut annex.table.rows);
        let known = self.annexes.iter().position(|known| annex.continues(known));
        let value = Some(known.unwrap_or(self.annexes.len()) as i64);
        if known.is_none() {
            self.put_text(kind::ANNEX, 0, value, &json::table_to_json(&annex.table));
            self.annexes.push(annex);
        }
        for row in &rows {
            self.put_text(kind::ANNEX_ROW, 0, value, &json::cells_to_json(row));
        }
    }

    fn end(&mut self, time: Time) {
        self.window.to = self.window.to.max(time);
    }
}

/// Writes a whole History.
pub(crate) fn write_wn<W: Write>(history: &History, out: W) -> Result<W, Error> {
    let mut writer = Writer::new(out, &history.head)?;
    // Ids are assigned in order, so that those of the file are those of the History.
    for name in history.names() {
        writer.name(name);
    }
    for mask in history.masks() {
        writer.mask(mask);
    }
    for (_, task) in history.tasks() {
        writer.task(task.clone());
    }
    if let Some(start) = &history.head.start {
        writer.start(start);
    }
    // A reader takes the name in a task's last `Changed` event, as it does while a file grows.
    let mut renamed = HashMap::new();
    for entry in history.entries() {
        if let Event::Changed { task, what: Change::Name(name) } = entry.event {
            renamed.insert(task, name);
        }
        writer.push(entry);
    }
    for (id, task) in history.tasks() {
        if renamed.get(&id).is_some_and(|&name| name != task.name) {
            writer.correct(id, task);
        }
    }
    history.annexes.iter().for_each(|annex| writer.annex(annex.clone()));
    writer.losses = history.losses().to_vec();
    writer.window = history.window();
    writer.finish()
}

/// The last part of a path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn failure(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, io) => Error::Write(io),
        other => Error::Write(std::io::Error::other(other)),
    }
}
