//! The pictures in a report on a trace, or on runs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use wastenot_check::violations::Violation;
use wastenot_check::{Check, Options, check};
use wastenot_draw::{Class, Mark, MarkKind, Marks, Scene};
use wastenot_model::{Frame, History, Picture as Drawn, Report, Window};

use crate::export::picture::{self, Look, Picture, Shown};

/// Adds a picture of the worst moment to the report of what `options` found. It is checked again
/// for that moment alone: marks of a whole recording may take more than all else.
pub(crate) fn with_worst(
    report: &mut Report,
    history: &History,
    found: &Check,
    options: &Options,
    look: &Look,
) {
    if let (Some(worst), Some(violation)) = (&mut report.worst, found.worst(history)) {
        let asked = Options { window: violation.window, marks: true, ..options.clone() };
        let then = check(history, &asked);
        worst.picture = Some(moment(history, look, &then, violation));
    }
}

/// The picture of what each CPU ran, with what was found.
pub(crate) fn cores(history: &History, check: &Check, look: &Look) -> Drawn {
    let caption = "Each line is a CPU, and each colour is a task. White means that the CPU was \
                   idle. A red tint means that the CPU was idle while a task waited. A mark below \
                   a CPU shows when a task waited there. A frame marks a finding.";
    let marks = picture::found(check);
    let scene = picture::scene(Picture::Cores, history, look, &marks);
    drawn(&scene, "Tasks on each CPU", caption)
}

/// A picture of one run of each variant on each bench: the run with the smallest seed.
#[derive(Default)]
pub(crate) struct Pictures(Mutex<BTreeMap<String, (u64, Drawn)>>);

impl Pictures {
    /// The largest number of pictures: a page with hundreds opens slowly.
    const MOST: usize = 24;

    /// Adds a picture of a run. Of several runs with this name, the run with the smallest seed
    /// stays, in whatever order they end.
    pub(crate) fn add(&self, name: &str, seed: u64, history: &History) {
        let has = |all: &BTreeMap<String, (u64, Drawn)>| match all.get(name) {
            Some((known, _)) => *known <= seed,
            None => all.len() == Pictures::MOST,
        };
        if has(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        let options = Options { marks: true, ..Default::default() };
        let found = check(history, &options);
        let mut drawn = cores(history, &found, &Look::of(history));
        drawn.title = format!("Tasks on each CPU: {name}, seed {seed}");
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !has(&all) {
            all.insert(name.to_owned(), (seed, drawn));
        }
    }

    pub(crate) fn finish(self) -> Vec<Drawn> {
        let all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.into_values().map(|(_, picture)| picture).collect()
    }
}

/// Most CPUs in the picture of a moment.
const LANES: usize = 5;

/// The worst moment: the CPUs where the task waited, and the nearest of those that were idle.
fn moment(history: &History, look: &Look, check: &Check, it: &Violation) -> Drawn {
    let found = picture::found(check);
    let cpus = it.places(LANES);
    // Of all marks those of this wait, and idle CPUs only while it lasted.
    let marks = &check.violations.marks;
    let waited = marks.waited.iter().filter(|mark| mark.task == it.task);
    let waited = waited.map(|mark| (mark.window, mark.cpu, MarkKind::Waited));
    let usable = |cpu| it.idle.iter().any(|idle| idle.cpu == cpu);
    let idle = marks.idle.iter().filter(|(cpu, _)| usable(*cpu));
    let idle = idle.map(|&(cpu, window)| (window, cpu, MarkKind::Idle));
    let causes = check.causes.iter().filter(|_| !found.classes.is_empty());
    let because = causes.flat_map(picture::because);
    let because = because.filter(|(task, _)| *task == it.task).map(|(_, mark)| mark);
    let marks = waited.chain(idle).map(|(window, cpu, kind)| Mark { window, cpu: Some(cpu), kind });
    let marks = marks.chain(because).filter_map(|mark| {
        let (from, to) = it.window.clip(mark.window.from, mark.window.to)?;
        Some(Mark { window: Window { from, to }, ..mark })
    });
    // What classes took in all is no figure of this moment.
    let classes = found.classes.iter().map(|class| Class { took: None, ..class.clone() });
    let marks = Marks { all: marks.collect(), classes: classes.collect() };
    let look = Look { window: Some(picture::around(it.window, history)), ..look.clone() };
    let shown = Shown { cpus: Some(cpus), tasks: None };
    let scene = picture::part(Picture::Cores, history, &look, &shown, &marks);
    let caption = "White means that a CPU was idle. A red tint means that a CPU was idle while \
                   the task waited. The line below a CPU shows when the task waited there. If the \
                   wait caused waste, the colour of this line shows the cause.";
    drawn(&scene, "Worst moment", caption)
}

fn drawn(scene: &Scene, title: &str, caption: &str) -> Drawn {
    let area = scene.plot.area;
    let frame = Frame {
        left: area.x / scene.width,
        top: area.y / scene.height,
        width: area.width / scene.width,
        height: area.height / scene.height,
    };
    let (title, caption) = (title.to_owned(), caption.to_owned());
    Drawn { title, caption, window: scene.plot.window, frame, svg: scene.svg() }
}
