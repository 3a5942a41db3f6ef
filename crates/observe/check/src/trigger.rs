//! The event that ended a flight recording: the wait or the episode that met its condition. The
//! annex `trigger` of the trace contains it.

use wastenot_model::{Annex, Column, CpuId, CpuSet, History, Table, TaskId, Time, Unit, Window};

use crate::violations::Violation;

const NAME: &str = "trigger";
/// `since` in the recorder drops rows whose first time is older than what is kept: the end.
const COLUMNS: [&str; 5] = ["to_ns", "from_ns", "task", "tid", "cpu"];

/// The event that ended a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The wait or the episode, as far as the recorder saw it.
    pub window: Window,
    /// The task that waited, with its name if known; `None` for an episode of waste.
    task: Option<(Option<String>, i64)>,
    /// The last CPU where the task waited, if it is known.
    cpu: Option<CpuId>,
}

/// The annex for a trace that ends because of `window`, in which a task `waited` or CPU time was
/// wasted.
pub fn annex(history: &History, window: Window, waited: Option<(TaskId, Option<CpuId>)>) -> Annex {
    let units = [Unit::At, Unit::At, Unit::None, Unit::None, Unit::None];
    let columns: Vec<Column> =
        COLUMNS.iter().zip(units).map(|(key, unit)| Column::new(key, key, unit)).collect();
    let mut table = Table::new(NAME, "Event that ended the recording", columns);
    let (task, cpu) = waited.unzip();
    table.push(vec![
        window.to.into(),
        window.from.into(),
        task.map(|task| history.task_name(task)).into(),
        task.and_then(|task| history.task(task)).map(|task| task.tid).into(),
        cpu.flatten().into(),
    ]);
    Annex { table }
}

impl Trigger {
    /// The event that ended `history`, if the trace contains it.
    pub(crate) fn of(history: &History) -> Option<Trigger> {
        let [to, from, task, tid, cpu] = history.annex_cells(NAME, COLUMNS).next()?;
        let window = Window { from: Time(from.int()?), to: Time(to.int()?) };
        let name = task.text().map(str::to_owned);
        let cpu = cpu.int().map(CpuId).filter(|cpu| cpu.index() < history.cpu_count());
        let trigger = Trigger { window, task: tid.int().map(|tid| (name, tid)), cpu };
        (window.from < window.to).then_some(trigger)
    }

    /// The event as a sentence.
    pub(crate) fn sentence(&self) -> String {
        let Window { from, to } = self.window;
        let (span, cpu) = (self.window.span(), self.cpu);
        let what = match &self.task {
            None => format!("CPU time was wasted for {span}"),
            Some((name, tid)) => {
                let on = cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
                format!("{}:{tid} waited {span}{on}", name.as_deref().unwrap_or_default())
            }
        };
        format!("The condition of --until was met: {what}, from @{from} to @{to}.")
    }

    /// The CPUs to look at, at most `most`: the CPUs of the worst violation of the waiting task at
    /// that time, or else the CPU where the task waited. Empty if nothing is known.
    pub(crate) fn places(&self, history: &History, all: &[Violation], most: usize) -> CpuSet {
        let is_it = |it: &&Violation| {
            let tid = history.task(it.task).map(|task| i64::from(task.tid));
            let same = self.task.as_ref().is_none_or(|(_, waited)| Some(*waited) == tid);
            same && it.window.clip(self.window.from, self.window.to).is_some()
        };
        match all.iter().find(is_it) {
            Some(violation) => violation.places(most),
            None => self.cpu.into_iter().collect(),
        }
    }
}
