//! Pictures of a trace with what `check` found marked in them; `draw` and `report` share them.

use std::path::Path;

use wastenot_check::Options;
use wastenot_draw::{Cores, Mark, MarkKind, Palette, Queues, Scene, View, Waiting};
use wastenot_model::{CpuId, CpuSet, History, Report, Silent, Span, TaskId, Time, Window};

use super::prove::quoted;
use super::select;
use crate::args::check::Select;
use crate::args::draw::{self, Picture};
use crate::fail::Stop;
use crate::progress;

/// How a picture shall look.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// The part that was asked for, if any was: the title names it.
    pub(crate) window: Option<Window>,
    pub(crate) socket_order: bool,
    pub(crate) palette: Palette,
    pub(crate) silent: Silent,
    pub(crate) color_by_command: bool,
    pub(crate) target: Option<String>,
    pub(crate) considered: Option<CpuId>,
}

/// The CPUs and the tasks that a picture shows; `None` where it shows all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) cpus: Option<CpuSet>,
    pub(crate) tasks: Option<Vec<TaskId>>,
}

impl Look {
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

impl From<draw::Palette> for Palette {
    fn from(palette: draw::Palette) -> Palette {
        match palette {
            draw::Palette::Safe => Palette::Safe,
            draw::Palette::Published => Palette::Published,
        }
    }
}

/// One picture of everything.
pub(crate) fn scene(picture: Picture, history: &History, look: &Look, marks: &[Mark]) -> Scene {
    part(picture, history, look, &Shown::default(), marks)
}

/// One picture of some CPUs or tasks.
pub(crate) fn part(
    picture: Picture,
    history: &History,
    look: &Look,
    shown: &Shown,
    marks: &[Mark],
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

/// A moment with half as much time before it and behind it, so that it is seen what it breaks.
pub(crate) fn around(moment: Window, history: &History) -> Window {
    let (all, margin) = (history.window(), Span(moment.span().0 / 2));
    let from = Time(moment.from.0.saturating_sub(margin.0)).max(all.from);
    Window { from, to: (moment.to + margin).min(all.to) }
}

/// The command that draws the worst moment of a report in the terminal.
pub(crate) fn next(file: &Path, history: &History, report: &Report) -> Option<String> {
    let Window { from, to } = around(report.worst.as_ref()?.window, history);
    let file = quoted(file).filter(|file| file != "-")?;
    let start = history.window().from;
    // Tenths of a millisecond, outwards: short to type.
    let tenth = Span::us(100).0;
    let (first, last) = ((from - start).0 / tenth, (to - start).0.div_ceil(tenth));
    let [from, to] = [first, last].map(|tenths| format!("{}.{}ms", tenths / 10, tenths % 10));
    Some(format!("wastenot draw cores {file} --from {from} --to {to}"))
}

/// What `check` finds in a trace, to be marked in its pictures.
pub(crate) fn marks(history: &History, window: Window, select: &Select) -> Result<Vec<Mark>, Stop> {
    let options = Options { marks: true, ..select::options(history, window, select)? };
    let check = progress::during("checking", || wastenot_check::check(history, &options));
    Ok(found(&check))
}

/// The marks of a check that was asked for them.
pub(crate) fn found(check: &wastenot_check::Check) -> Vec<Mark> {
    let episodes =
        check.waste.marks.iter().map(|&window| Mark { window, cpu: None, kind: MarkKind::Episode });
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
    episodes.chain(waited).chain(idle).collect()
}
