//! One line for each CPU, with a colour for each task: `dat2graph` of the schedgraph tools.
//!
//! Idle time is white, unknown time is grey and hatched, and an offline CPU is darker grey.

use std::collections::BTreeMap;
use std::sync::Arc;

use wastenot_model::{
    CpuId, CpuMode, CpuReceiver, CpuSpans, CpuState, History, TaskId, Time, Window, replay,
};

use crate::lanes::{COLUMNS_PER_POINT, Lanes, Paint};
use crate::page::{Page, View};
use crate::picture::story::Story;
use crate::{Cell, Colour, Item, Marks, Scene};

/// How to draw [`cores`].
#[derive(Clone, Debug, Default)]
pub struct Cores<'a> {
    /// What part to show.
    pub view: View,
    /// One colour for each command instead of one for each task.
    pub color_by_command: bool,
    /// Colour only the tasks of this command (`name`, or `prefix*`); all others are black marks.
    pub target: Option<String>,
    /// What to mark.
    pub marks: &'a Marks,
}

const UNKNOWN: Paint = 1;
const OFFLINE: Paint = 2;
const OTHER: Paint = 3;
const FIRST: Paint = 4;
/// Names in the legend.
const NAMES: usize = 14;

/// Draws what each CPU ran.
pub fn cores(history: &History, options: &Cores) -> Scene {
    let mut page = Page::with_lanes(history, &options.view, options.marks);
    let (height, cpus) = (page.lanes.first().map_or(1.0, |lane| lane.height), page.lanes.len());
    let story = Story::of(history);
    page.add_lanes(story.as_ref().map(|story| story.lanes(history)).unwrap_or_default());
    let mut watch = Watch {
        history,
        rows: page.rows(),
        lanes: Lanes::new(cpus, page.window, page.area.width, height),
        paints: paints(history, options),
        run: vec![0; history.task_count()],
        window: page.window,
        dark: Vec::new(),
        seen: [false; 2],
    };
    replay(history, options.view.silent, &mut CpuSpans::new(&mut watch));

    let title = page.title(options.color_by_command);
    let mut scene = page.scene(title, Vec::new());
    let slots = options.view.palette.tasks().iter().map(|&hex| Colour::rgb(hex));
    let is_chosen = options.view.tasks.is_some();
    let others = if is_chosen { Colour::OTHERS } else { Colour::BLACK };
    let fixed = [Colour::WHITE, Colour::UNKNOWN, Colour::OFFLINE, others];
    let palette: Arc<[Colour]> = fixed.into_iter().chain(slots).collect();
    scene.plot.cells.extend(is_chosen.then_some((Colour::OTHERS, Cell::Mostly('.'))));
    scene.legend = watch.legend(options, &palette, story.is_some());
    let column = 1.0 / COLUMNS_PER_POINT;
    // Marks of other tasks must be seen between the coloured ones, however short they ran.
    let least = |paint| if paint == OTHER && !is_chosen { 2.5 * column } else { column };
    let dark = std::mem::take(&mut watch.dark);
    scene.items.extend(watch.lanes.finish(page.area, &palette, least));
    let signs = [(Colour::UNKNOWN, "hatched: unknown"), (Colour::OFFLINE, "hatched dark: offline")];
    for ((colour, label), seen) in signs.into_iter().zip(watch.seen) {
        if seen {
            scene.legend.push((colour, label.to_owned()));
        }
    }
    hatch(&page, &mut scene, dark);
    if let Some(story) = &story {
        story.draw(&page, &mut scene, options.view.palette, cpus);
    }
    let dense = scene.items.iter().any(|item| matches!(item, Item::Stack { .. }));
    let mut notes = Vec::new();
    if dense {
        let note = "If a pixel column has many runs, the height of a colour is its share of time.";
        notes.push(note.to_owned());
    }
    page.finish(scene, &notes)
}

struct Watch<'a> {
    history: &'a History,
    rows: Vec<Option<usize>>,
    lanes: Lanes,
    paints: Vec<Paint>,
    /// Run time of each task in the window.
    run: Vec<u64>,
    window: Window,
    /// Stretches that are not known, to be hatched.
    dark: Vec<(usize, Time, Time)>,
    /// Whether anything was unknown, and whether anything was offline.
    seen: [bool; 2],
}

/// Hatched stretches that a picture holds; beyond that grey has to do.
const DARK: usize = 20_000;

impl CpuReceiver for Watch<'_> {
    type Seen = CpuMode;

    #[inline]
    fn see(&self, is: &CpuState) -> CpuMode {
        is.mode
    }

    #[inline]
    fn span(&mut self, cpu: CpuId, mode: CpuMode, window: Window) {
        let Some(&Some(row)) = self.rows.get(cpu.index()) else { return };
        let Some((start, end)) = self.window.clip(window.from, window.to) else { return };
        let paint = match mode {
            CpuMode::Idle => return,
            CpuMode::Unknown => self.dark(row, start, end, UNKNOWN),
            CpuMode::Offline => self.dark(row, start, end, OFFLINE),
            CpuMode::Busy(task) => {
                let index = task.index().unwrap_or(0);
                if let Some(run) = self.run.get_mut(index) {
                    *run += (end - start).0;
                }
                self.paints.get(index).copied().unwrap_or(OTHER)
            }
        };
        self.lanes.add(row, start, end, paint);
    }
}

impl Watch<'_> {
    fn dark(&mut self, row: usize, from: Time, to: Time, paint: Paint) -> Paint {
        self.seen[usize::from(paint == OFFLINE)] = true;
        if self.dark.len() < DARK {
            self.dark.push((row, from, to));
        }
        paint
    }

    /// Who ran most, with run times; those mean nothing in a story.
    fn legend(
        &self,
        options: &Cores,
        palette: &Arc<[Colour]>,
        is_story: bool,
    ) -> Vec<(Colour, String)> {
        let by_command = options.color_by_command || options.target.is_some();
        let mut totals: BTreeMap<(Paint, String), u64> = BTreeMap::new();
        for (index, &run) in self.run.iter().enumerate().filter(|(_, run)| **run > 0) {
            let task = TaskId::nth(index);
            let label = match (self.paints[index], by_command) {
                (OTHER, _) => "other tasks".to_owned(),
                (_, true) if options.color_by_command => self.history.task_name(task),
                _ if is_story => self.history.task_name(task),
                _ => self.history.task_label(task),
            };
            *totals.entry((self.paints[index], label)).or_default() += run;
        }
        let mut totals: Vec<_> = totals.into_iter().collect();
        totals
            .sort_by_key(|((paint, label), run)| (std::cmp::Reverse(*run), *paint, label.clone()));
        let more = totals.len().saturating_sub(NAMES);
        let entry = |((paint, label), run): ((Paint, String), u64)| {
            let label = crate::page::shorten(&label, 24);
            if is_story {
                return (palette[usize::from(paint)], format!("{label} runs"));
            }
            (palette[usize::from(paint)], format!("{label}  {}", wastenot_model::Span(run)))
        };
        let mut legend: Vec<_> = totals.into_iter().take(NAMES).map(entry).collect();
        if more > 0 {
            legend.push((Colour::WHITE, format!("and {more} more tasks; white is idle")));
        }
        legend
    }
}

/// Hatches what is not known; adjacent stretches of a lane become one.
fn hatch(page: &Page, scene: &mut Scene, mut dark: Vec<(usize, Time, Time)>) {
    dark.sort_unstable();
    dark.dedup_by(|next, kept| {
        let joins = next.0 == kept.0 && next.1 <= kept.2;
        if joins {
            kept.2 = next.2;
        }
        joins
    });
    // Neighbouring lanes that are dark at the same time are hatched as one: a trace of a few of
    // thousands of configured CPUs leaves all others dark.
    dark.sort_unstable_by_key(|&(row, from, to)| (from, to, row));
    let joins = |a: &(usize, Time, Time), b: &(usize, Time, Time)| {
        (a.1, a.2) == (b.1, b.2) && a.0 + 1 == b.0
    };
    for lanes in dark.chunk_by(joins) {
        let (first, from, to) = lanes[0];
        let (x, right) = (page.x(from), page.x(to));
        if right - x >= 1.0 {
            let mut area = scene.stretch(first, x, right - x);
            area.height = scene.stretch(first + lanes.len() - 1, x, 1.0).bottom() - area.y;
            scene.items.push(Item::Hatch { area, colour: Colour::HATCH });
        }
    }
}

/// Whether `target`, a command name or its beginning with a `*`, means a task of this name.
pub fn is_target(name: &str, target: &str) -> bool {
    match target.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        // The kernel keeps 15 bytes of a command name.
        None => name == target || name.len() == 15 && target.starts_with(name),
    }
}

/// The paint of each task.
fn paints(history: &History, options: &Cores) -> Vec<Paint> {
    let palette = options.view.palette;
    let chosen = options.view.chosen(history);
    let wanted = |index: usize, name: &str| {
        options.target.as_deref().is_none_or(|target| is_target(name, target))
            && chosen.as_ref().is_none_or(|chosen| chosen[index])
    };
    // Names that differ only in a number at their end are a family. Its tasks take colours in turn,
    // by number and tid, so that neighbours differ and the nth has the same colour in every run.
    let family = |name: &'_ str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let mut tasks: Vec<_> = history
        .tasks()
        .map(|(id, task)| (history.name(task.name), task.tid, id))
        .map(|(name, tid, id)| (&name[..family(name)], name.len(), name, tid, id))
        .collect();
    tasks.sort_unstable();
    let mut paints = vec![OTHER; history.task_count()];
    let (mut last, mut rank) = (("", ""), 0);
    for (family, _, name, _, id) in tasks {
        let same = options.color_by_command && (family, name) == last;
        rank = if family != last.0 { 0 } else { rank + usize::from(!same) };
        last = (family, name);
        if let Some(index) = id.index().filter(|&index| wanted(index, name)) {
            paints[index] = FIRST + palette.slot(family, rank) as Paint;
        }
    }
    paints
}
