//! Pictures of a trace with what `check` found marked in them; `draw` and `report` share them.

use wastenot_draw::{Cores, Mark, MarkKind, Palette, Queues, Scene, View, Waiting};
use wastenot_model::{CpuId, History, Silent, Window};

use super::select;
use crate::args::check::Select;
use crate::args::draw::{self, Picture};
use crate::fail::Stop;
use crate::progress;

/// How a picture shall look.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// Whether a start and an end were asked for, and the window that follows: the title names
    /// only what was asked for.
    pub(crate) window: (bool, bool, Window),
    pub(crate) socket_order: bool,
    pub(crate) palette: Palette,
    pub(crate) silent: Silent,
    pub(crate) color_by_command: bool,
    pub(crate) target: Option<String>,
    pub(crate) considered: Option<CpuId>,
}

impl Look {
    fn view(&self, history: &History) -> View {
        let start = history.window().from;
        let (from, to, window) = self.window;
        View {
            min: from.then(|| window.from - start),
            max: to.then(|| window.to - start),
            socket_order: self.socket_order,
            palette: self.palette,
            silent: self.silent,
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

/// One picture.
pub(crate) fn scene(picture: Picture, history: &History, look: &Look, marks: &[Mark]) -> Scene {
    let view = look.view(history);
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

/// What `check` finds in a trace, to be marked in its pictures.
pub(crate) fn marks(history: &History, window: Window, select: &Select) -> Result<Vec<Mark>, Stop> {
    let options = select::options(history, window, select)?;
    let check = progress::during("checking", || wastenot_check::check(history, &options));
    Ok(found(&check))
}

/// The marks of a check that is made already.
pub(crate) fn found(check: &wastenot_check::Check) -> Vec<Mark> {
    let episodes = check.waste.worst.iter().map(|episode| Mark {
        window: episode.window,
        cpu: None,
        kind: MarkKind::Episode,
    });
    let violations = check.violations.worst.iter().flat_map(|violation| {
        let waited =
            Mark { window: violation.window, cpu: Some(violation.cpu), kind: MarkKind::Waited };
        let idle =
            Mark { window: violation.stretch, cpu: Some(violation.idle_cpu), kind: MarkKind::Idle };
        [waited, idle]
    });
    episodes.chain(violations).collect()
}
