//! A History with a story: its annex `steps` describes in words each step and its time. The picture
//! numbers the steps, lists them below, and shows the waiting tasks.
//!
//! Columns: `time_ns`, `cpu`, `task`, `step` (the words). Steps at time 0 have no number: they
//! describe the initial state. The last step has no number if it has no CPU and no task: it
//! describes the conclusion.

use wastenot_model::{
    History, Phase, Silent, Table, TaskId, TaskReceiver, TaskSpan, TaskSpans, TaskState, Time,
    Value, printable, replay,
};

use crate::page::Page;
use crate::scene::{Area, Sign};
use crate::{Anchor, Bar, Cell, Colour, Item, Palette, Scene};

/// Steps that are told; a picture of more is none.
const STEPS: usize = 60;
/// Tasks whose waits are shown.
const TASKS: usize = 12;
/// Room that a step's number takes, in points.
const NUMBER: f64 = 7.5;

/// What is told.
pub(crate) struct Story {
    /// A number, or when it is; and the words.
    pub(crate) lines: Vec<(String, String)>,
    steps: Vec<Step>,
    /// Who waits, and when.
    waits: Vec<(TaskId, Vec<(Time, Time)>)>,
}

struct Step {
    time: Time,
    cpu: Option<usize>,
    task: Option<usize>,
    number: String,
}

impl Story {
    /// The story of a History, if it is one.
    pub(crate) fn of(history: &History) -> Option<Story> {
        let mut tables = history.annexes.iter().map(|annex| &annex.table);
        let table = tables.find(|table| table.name == "steps")?;
        let mut story = Story { lines: Vec::new(), steps: Vec::new(), waits: Vec::new() };
        story.read(table, history.window().from)?;
        let mut waits = Waits(Vec::new());
        replay(history, Silent::default(), &mut TaskSpans::new(&mut waits));
        waits.0.sort_unstable();
        for (task, from, to) in waits.0 {
            match story.waits.last_mut().filter(|(last, _)| *last == task) {
                Some((_, stretches)) => stretches.push((from, to)),
                None => story.waits.push((task, vec![(from, to)])),
            }
        }
        story.waits.truncate(TASKS);
        Some(story)
    }

    fn read(&mut self, table: &Table, start: Time) -> Option<()> {
        let column = |name: &str| table.columns.iter().position(|column| column.key == name);
        let [time, cpu, task, words] = ["time_ns", "cpu", "task", "step"].map(column);
        let (time, words) = (time?, words?);
        for (n, row) in table.rows.iter().take(STEPS).enumerate() {
            let number = |at: Option<usize>| match row.get(at?)? {
                Value::Int(number) => usize::try_from(*number).ok(),
                _ => None,
            };
            let at = Time(number(Some(time)).unwrap_or(0) as u64);
            let Value::Text(words) = row.get(words)? else { continue };
            let (cpu, task) = (number(cpu), number(task));
            let last = n + 1 == table.rows.len() && n > 0;
            if at <= start {
                self.lines.push(("at first".into(), words.clone()));
            } else if last && cpu.is_none() && task.is_none() {
                self.lines.push(("so".into(), words.clone()));
            } else {
                let number = (self.steps.len() + 1).to_string();
                self.lines.push((number.clone(), words.clone()));
                self.steps.push(Step { time: at, cpu, task, number });
            }
        }
        let more = table.rows.len().saturating_sub(STEPS);
        if more > 0 {
            self.lines.push(("...".into(), format!("and {more} more")));
        }
        Some(())
    }

    /// The labels of the lanes that it adds: one for each task that waits.
    pub(crate) fn lanes(&self, history: &History) -> Vec<String> {
        let name = |task: TaskId| printable(&history.task_name(task)).into_owned();
        let label = |(task, _): &(TaskId, _)| crate::page::shorten(&name(*task), 8);
        self.waits.iter().map(label).collect()
    }

    /// Waits in the lanes that begin with `first`, and the numbers of the steps.
    pub(crate) fn draw(&self, page: &Page, scene: &mut Scene, palette: Palette, first: usize) {
        let colour = palette.waits();
        for (n, (_, stretches)) in self.waits.iter().enumerate() {
            let bar = |&(from, to): &(Time, Time)| {
                let (from, to) = page.window.clip(from, to)?;
                Some(Bar { x: page.x(from), width: page.x(to) - page.x(from), colour })
            };
            let bars: Vec<Bar> = stretches.iter().filter_map(bar).collect();
            scene.items.push(Item::Bars { lane: first + n, bars });
        }
        if !self.waits.is_empty() {
            scene.plot.cells.push((colour, Cell::Mostly('░')));
            scene.legend.push((colour, "the task waits".to_owned()));
        }
        let rows = page.rows();
        let ends = self.steps.iter().skip(1).map(|step| step.time);
        let ends: Vec<Time> = ends.chain([page.window.to]).collect();
        let lengths = self.steps.iter().zip(&ends).map(|(step, end)| *end - step.time);
        let before = self.steps.iter().take(1).map(|first| first.time - page.window.from);
        let shortest = lengths.chain(before).min().unwrap_or_default();
        for (step, end) in self.steps.iter().zip(ends) {
            let waits =
                |task: usize| self.waits.iter().position(|(id, _)| *id == TaskId::nth(task));
            let lane = step.cpu.and_then(|cpu| rows.get(cpu).copied().flatten());
            let lane = lane.or_else(|| Some(first + step.task.and_then(waits)?));
            let Some((lane, (from, to))) = lane.zip(page.window.clip(step.time, end)) else {
                continue;
            };
            // The last step is as long as what is seen after it; its number stands as others do,
            // or, if it is the only one, as if it took as long as what is before it.
            let to = to.min(from + shortest);
            self.number(scene, lane, (page.x(from) + page.x(to)) / 2.0, &step.number);
        }
        scene.story = self.lines.clone();
    }

    fn number(&self, scene: &mut Scene, lane: usize, x: f64, number: &str) {
        let area = scene.stretch(lane, x, 0.0);
        let (y, wide) = (area.y + area.height / 2.0, NUMBER + 4.0 * (number.len() - 1) as f64);
        let (x, height) = (x - wide / 2.0, NUMBER + 2.0);
        scene.rect(Area { x, y: y - height / 2.0, width: wide, height }, Colour::WHITE);
        let at = (x + wide / 2.0, y + 2.8);
        scene.text(at, 8.0, Anchor::Middle, Colour::TEXT, number);
        scene.plot.signs.push(Sign { lane, x: x + wide / 2.0, text: number.to_owned() });
    }
}

/// Who waits when.
struct Waits(Vec<(TaskId, Time, Time)>);

impl TaskReceiver for Waits {
    type Seen = bool;

    fn see(&self, is: &TaskState) -> bool {
        is.phase == Phase::Waiting
    }

    fn span(&mut self, span: TaskSpan<'_, bool>) {
        if span.seen {
            self.0.push((span.task, span.window.from, span.window.to));
        }
    }
}
