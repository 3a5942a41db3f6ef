//! Pictures of a trace with marks for the findings of `check`.

use wastenot_check::Check;
use wastenot_check::causes::{CLASSES, Causes, LostTime, class_of};
use wastenot_draw::{Class, Cores, Mark, MarkKind, Marks, Palette, Queues, Scene, View, Waiting};
use wastenot_model::{CpuId, CpuSet, History, Silent, Span, TaskId, Time, Window};

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picture {
    /// The task on each CPU.
    Cores,
    /// How many tasks run and wait.
    Waiting,
    /// The length of each run queue.
    Queues,
}

/// The look of a picture.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// The requested part, if any. The title names it.
    pub(crate) window: Option<Window>,
    /// Sort CPUs by package, node, cache and core.
    pub(crate) socket_order: bool,
    /// The colours.
    pub(crate) palette: Palette,
    /// The assumed state of a CPU without any event.
    pub(crate) silent: Silent,
    /// Cores: one colour per command.
    pub(crate) color_by_command: bool,
    /// Cores: colour only tasks of this name.
    pub(crate) target: Option<String>,
    /// Queues: mark the CPUs that decisions of this CPU examined.
    pub(crate) considered: Option<CpuId>,
}

/// The CPUs and tasks that a picture shows; `None` means all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// These CPUs.
    pub(crate) cpus: Option<CpuSet>,
    /// These tasks.
    pub(crate) tasks: Option<Vec<TaskId>>,
}

impl Look {
    /// The usual look for a whole History.
    pub(crate) fn of(history: &History) -> Look {
        Look {
            window: None,
            socket_order: history.head.machine.topology_known(),
            palette: Palette::default(),
            silent: Silent::default(),
            color_by_command: false,
            target: None,
            considered: None,
        }
    }

    fn view(&self, history: &History, shown: &Shown) -> View {
        let start = history.window().from;
        View {
            min: self.window.map(|window| window.from - start),
            max: self.window.map(|window| window.to - start),
            socket_order: self.socket_order,
            palette: self.palette,
            silent: self.silent,
            cpus: shown.cpus.clone(),
            tasks: shown.tasks.clone(),
        }
    }
}

/// One picture of everything.
pub(crate) fn scene(picture: Picture, history: &History, look: &Look, marks: &Marks) -> Scene {
    part(picture, history, look, &Shown::default(), marks)
}

/// One picture of some CPUs or tasks.
pub(crate) fn part(
    picture: Picture,
    history: &History,
    look: &Look,
    shown: &Shown,
    marks: &Marks,
) -> Scene {
    let view = look.view(history, shown);
    match picture {
        Picture::Cores => {
            let (color_by_command, target) = (look.color_by_command, look.target.clone());
            let options = Cores { view, color_by_command, target, marks };
            wastenot_draw::cores(history, &options)
        }
        Picture::Waiting => wastenot_draw::waiting(history, &Waiting { view, marks }),
        Picture::Queues => {
            let considered = look.considered;
            wastenot_draw::queues(history, &Queues { view, marks, considered, ..Queues::default() })
        }
    }
}

/// A moment with half of its length before and after it, to show its context.
pub(crate) fn around(moment: Window, history: &History) -> Window {
    let (all, margin) = (history.window(), Span(moment.span().0 / 2));
    let from = Time(moment.from.0.saturating_sub(margin.0)).max(all.from);
    Window { from, to: (moment.to + margin).min(all.to) }
}

/// The command line that draws `moment` of `file` in a terminal, for these CPUs or all.
pub(crate) fn command(
    file: &str,
    history: &History,
    moment: Window,
    cpus: Option<&CpuSet>,
) -> String {
    let interval = interval(history, around(moment, history));
    let cpus = cpus.filter(|cpus| !cpus.is_empty());
    let cpus = cpus.map_or(String::new(), |cpus| format!(" --cpus {cpus}"));
    format!("wastenot draw cores {file}{interval}{cpus}")
}

/// The arguments that select `window`, rounded outwards to tenths of a millisecond, so that they
/// are short to type.
pub(crate) fn interval(history: &History, window: Window) -> String {
    let start = history.window().from;
    let tenth = Span::us(100).0;
    let (first, last) = ((window.from - start).0 / tenth, (window.to - start).0.div_ceil(tenth));
    let [from, to] = [first, last].map(|tenths| format!("{}.{}ms", tenths / 10, tenths % 10));
    format!(" --from {from} --to {to}")
}

/// The marks of a check with marks. If it found causes, waste is marked by their classes.
pub(crate) fn found(check: &Check) -> Marks {
    let marks = &check.violations.marks;
    let waited = marks.waited.iter().map(|it| Mark {
        window: it.window,
        cpu: Some(it.cpu),
        kind: MarkKind::Waited,
    });
    let idle = marks.idle.iter().map(|&(cpu, window)| Mark {
        window,
        cpu: Some(cpu),
        kind: MarkKind::Idle,
    });
    let mut all: Vec<Mark> = waited.chain(idle).collect();
    let causes = check.causes.as_ref().map(|causes| (causes, causes.waste_by_class()));
    let is_known = |(_, took): &(_, [u64; CLASSES.len()])| took[..UNKNOWN].iter().any(|ns| *ns > 0);
    let Some((causes, took)) = causes.filter(is_known) else {
        let episode = |&window| Mark { window, cpu: None, kind: MarkKind::Episode };
        all.extend(check.waste.marks.iter().map(episode));
        return Marks { all, classes: Vec::new() };
    };
    all.extend(because(causes).map(|(_, mark)| mark));
    let class = |(&(name, _), ns)| Class { name, took: Some(Span(ns)) };
    Marks { all, classes: CLASSES.iter().zip(took).map(class).collect() }
}

/// The class without a known cause, which is the last one. Alone, this class has no information.
const UNKNOWN: usize = CLASSES.len() - 1;

/// All stretches of waste with their waiting tasks.
pub(crate) fn because(causes: &Causes) -> impl Iterator<Item = (TaskId, Mark)> {
    let waste = causes.stretches.iter().filter(|(_, loss, _)| *loss == LostTime::Waste);
    waste.filter_map(|(cause, _, it)| {
        let kind = MarkKind::Because(class_of(cause.path)?);
        Some((it.task, Mark { window: it.window, cpu: Some(it.cpu), kind }))
    })
}
