//! Reads `.wn`, whole or cut.

use arrow_ipc::reader::StreamReader;
use wastenot_model::{
    Builder, Carries, Change, CpuId, CpuMode, CpuSet, Event, Head, History, Loss, LossKind, MaskId,
    NameId, Past, Sink, Start, Task, TaskId, Time,
};

use super::columns::{Batch, Record};
use super::head::Unreadable;
use super::messages::{End, whole};
use super::write::base_name;
use super::{KEY, head, json, kind, past, rows};
use crate::{Error, Options};

const FORMAT: &str = "wastenot";

/// Whether `bytes` begin like a `.wn`: an Arrow stream whose first message, the schema, has our
/// key. The key may come after its value, which is long for a machine of many CPUs.
pub(crate) fn is_own(bytes: &[u8]) -> bool {
    const LONGEST: usize = 4 << 20;
    let Some(([0xff, 0xff, 0xff, 0xff], rest)) = bytes.split_first_chunk::<4>() else {
        return false;
    };
    let Some((size, rest)) = rest.split_first_chunk::<4>() else { return false };
    let size = (u32::from_le_bytes(*size) as usize).min(rest.len()).min(LONGEST);
    rest[..size].windows(KEY.len()).any(|part| part == KEY.as_bytes())
}

/// Reads a `.wn`.
pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<History, Error> {
    let (len, end) = whole(bytes);
    let damaged = |what: &str| Error::Damaged { format: FORMAT, what: what.into(), offset: 0 };
    let stream = StreamReader::try_new(&bytes[..len], None);
    let stream = stream.map_err(|_| damaged("the schema cannot be decoded"))?;
    let metadata = stream.schema().metadata.get(KEY).cloned();
    let head = head::from_json(&metadata.ok_or_else(|| damaged("the header is missing"))?);
    let head = head.map_err(|error| match error {
        Unreadable::Version(version) => Error::Version { format: FORMAT, version },
        Unreadable::Damaged => damaged("the header cannot be decoded"),
    })?;
    let mut reading = Reading::new(head, options);
    for batch in stream {
        let batch = batch.ok();
        let Some(batch) = batch.as_ref().and_then(Batch::of) else {
            reading.damage("all rows from a batch that cannot be decoded to the end of the file");
            break;
        };
        batch.rows().for_each(|row| reading.row(&row));
    }
    match end {
        End::Damaged(offset) => reading.damage(&format!("a message at byte {offset}")),
        End::Whole | End::Cut => {}
    }
    Ok(reading.finish())
}

struct Reading {
    sink: Builder,
    names: Vec<NameId>,
    masks: Vec<MaskId>,
    tasks: usize,
    start: Option<Start>,
    annexes: Vec<wastenot_model::Table>,
    /// The sums of losses before the end row.
    sums: Vec<Loss>,
    last: Time,
    /// Cycles per second, if stamps count cycles and the rate was given.
    hz: Option<u64>,
    ended: bool,
    bad_rows: u64,
    damage: Vec<String>,
}

impl Reading {
    fn new(mut head: Head, options: &Options) -> Reading {
        // A file that hides its source gets the name under which it was opened.
        if head.source.name.is_empty() {
            head.source.name = base_name(&options.name).to_owned();
        }
        let hz = options.clock_hz.filter(|_| !head.clock.nanoseconds);
        head.clock.nanoseconds |= hz.is_some();
        head.window.from = in_ns(head.window.from, hz);
        Reading {
            sink: Builder::new(head),
            names: Vec::new(),
            masks: Vec::new(),
            tasks: 0,
            start: None,
            annexes: Vec::new(),
            sums: Vec::new(),
            last: Time(0),
            hz,
            ended: false,
            bad_rows: 0,
            damage: Vec::new(),
        }
    }

    #[inline]
    fn row(&mut self, row: &Record<'_>) {
        let fine = match row.kind {
            0..kind::NAME => self.event(row),
            kind::NAME => self.name(row),
            kind::MASK => self.mask(row),
            kind::TASK => self.task(row),
            kind::START => self.start(row),
            kind::ANNEX => self.annex(row),
            kind::ANNEX_ROW => self.annex_row(row),
            kind::LOSS => self.loss(row),
            kind::PAST => self.past(row),
            kind::END => self.end(row),
            // A later minor version may have kinds that this one does not know.
            _ => Some(()),
        };
        self.bad_rows += u64::from(fine.is_none());
    }

    /// An event whose ids were all declared, and whose time does not go backwards.
    #[inline]
    fn event(&mut self, row: &Record<'_>) -> Option<()> {
        if row.kind > kind::DECIDED {
            return Some(());
        }
        let mut entry = rows::unpack(row)?;
        entry.time = in_ns(entry.time, self.hz);
        let mut known = true;
        entry.each_task(|task| known &= self.knows(task));
        if !known || entry.time < self.last {
            return None;
        }
        self.last = entry.time;
        if let Event::Changed { task, what } = &mut entry.event {
            match what {
                Change::Affinity(mask) => *mask = *self.masks.get(mask.0 as usize)?,
                Change::Cgroup(name) => *name = self.name_id(name.0)?,
                Change::Name(name) => {
                    *name = self.name_id(name.0)?;
                    if let Some(task) = self.sink.task_mut(*task) {
                        task.name = *name;
                    }
                }
                _ => {}
            }
        }
        self.sink.push(entry);
        Some(())
    }

    /// Whether the task has a row: readers of a History allocate for all ids up to the largest.
    fn knows(&self, task: TaskId) -> bool {
        task.index().is_none_or(|index| index < self.tasks)
    }

    fn name_id(&self, id: u32) -> Option<NameId> {
        self.names.get(id as usize).copied()
    }

    fn name(&mut self, row: &Record<'_>) -> Option<()> {
        self.names.push(self.sink.name(row.text?));
        Some(())
    }

    fn mask(&mut self, row: &Record<'_>) -> Option<()> {
        self.masks.push(self.sink.mask(&CpuSet::parse(row.text?)?));
        Some(())
    }

    fn task(&mut self, row: &Record<'_>) -> Option<()> {
        let task = Task {
            tid: i32::try_from(row.value?).ok()?,
            pid: row.by.map(|pid| pid as i32),
            name: self.name_id(row.other?)?,
        };
        let id = TaskId(row.task?);
        let index = id.index()?;
        if index == self.tasks {
            self.sink.task(task);
            self.tasks += 1;
        } else {
            *self.sink.task_mut(id)? = task;
        }
        Some(())
    }

    fn start(&mut self, row: &Record<'_>) -> Option<()> {
        let task = row.task.map(TaskId);
        if task.is_some_and(|task| !self.knows(task)) {
            return None;
        }
        let on = row.on.map(rows::cpu_id);
        if on == Some(None) {
            return None;
        }
        let on = on.flatten();
        let start = self.start.get_or_insert_default();
        match row.what {
            0 => {}
            1 if start.cpus.len() >= CpuId::LIMIT => return None,
            1 => start.cpus.push(match row.value? {
                0 => CpuMode::Unknown,
                1 => CpuMode::Offline,
                2 => CpuMode::Idle,
                3 => CpuMode::Busy(task.filter(|task| !task.is_idle())?),
                _ => return None,
            }),
            2 => start.waiting.push((task?, on)),
            3 => start.sleeping.push((task?, on)),
            4 => start.silent.push(on?),
            5 => start.missing.push(on?),
            6 => start.unseen_until = Time(row.value?.cast_unsigned()),
            _ => return None,
        }
        Some(())
    }

    fn past(&mut self, row: &Record<'_>) -> Option<()> {
        let past = match row.what {
            0 => None,
            _ => Some(self.past_of(TaskId(row.task?), row.text?)?),
        };
        let start = self.start.get_or_insert_default();
        start.past.get_or_insert_default().extend(past);
        Some(())
    }

    fn past_of(&self, task: TaskId, text: &str) -> Option<Past> {
        let mut past = past::from_json(task, text)?;
        if !self.knows(task) || !past.waker.task.is_none_or(|waker| self.knows(waker)) {
            return None;
        }
        past.since = in_ns(past.since, self.hz);
        past.waking = past.waking.map(|time| in_ns(time, self.hz));
        if let Some(mask) = &mut past.mask {
            *mask = *self.masks.get(mask.0 as usize)?;
        }
        Some(past)
    }

    fn annex(&mut self, row: &Record<'_>) -> Option<()> {
        self.annexes.push(json::table_from_json(row.text?)?);
        Some(())
    }

    fn annex_row(&mut self, row: &Record<'_>) -> Option<()> {
        let table = self.annexes.get_mut(usize::try_from(row.value?).ok()?)?;
        let cells = json::cells_from_json(row.text?)?;
        if cells.len() != table.columns.len() {
            return None;
        }
        table.rows.push(cells);
        Some(())
    }

    fn loss(&mut self, row: &Record<'_>) -> Option<()> {
        let mut loss = json::loss_from_json(row.text?)?;
        loss.time = loss.time.map(|time| in_ns(time, self.hz));
        match row.what {
            _ if self.hz.is_some() && loss.kind == LossKind::UnknownUnit => {}
            0 => self.sink.loss(loss),
            _ => self.sums.push(loss),
        }
        Some(())
    }

    fn end(&mut self, row: &Record<'_>) -> Option<()> {
        let head = self.sink.head();
        head.window.from = in_ns(Time(row.value? as u64), self.hz);
        head.window.to = in_ns(Time(row.time), self.hz);
        head.carries = Carries::from_bits(row.other?);
        *self.sink.losses_mut() = std::mem::take(&mut self.sums);
        self.ended = true;
        Some(())
    }

    fn damage(&mut self, what: &str) {
        self.damage.push(what.to_owned());
    }

    fn finish(mut self) -> History {
        if !self.ended {
            let note = "the file has no end mark; all rows up to its last complete batch were read";
            self.sink.loss(Loss::new(LossKind::Cut, note));
        }
        if self.bad_rows > 0 {
            let mut loss = Loss::new(LossKind::Damaged, "rows with invalid values were skipped");
            loss.count = Some(self.bad_rows);
            self.sink.loss(loss);
        }
        for what in self.damage {
            self.sink.loss(Loss::new(LossKind::Damaged, format!("skipped: {what}")));
        }
        self.sink.head().start = self.start;
        self.annexes.into_iter().for_each(|table| self.sink.annex(wastenot_model::Annex { table }));
        self.sink.finish()
    }
}

/// A stamp in nanoseconds: unchanged, unless it counts cycles of a known rate.
#[inline]
fn in_ns(stamp: Time, hz: Option<u64>) -> Time {
    match hz {
        Some(hz) if stamp != Time::MAX => {
            let ns = u128::from(stamp.0) * 1_000_000_000 / u128::from(hz.max(1));
            Time(u64::try_from(ns).unwrap_or(u64::MAX))
        }
        _ => stamp,
    }
}
