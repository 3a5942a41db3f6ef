//! `wastenot draw`: draws a picture into a file, or in braille on the terminal.

mod curves;

use std::path::{Path, PathBuf};

use crate::export::picture::{self, Look, Shown};
use wastenot_check::Options;
use wastenot_draw::Scene;
use wastenot_model::{CpuId, History};

use super::select;
use crate::args::check::Select;
use crate::args::draw::{Draw, Picture, Trace, What};
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, out, progress};

/// A format of a picture file.
#[derive(Clone, Copy)]
enum Format {
    Pdf,
    Svg,
    Png,
}

/// Pixels per point (1/72 inch): 144 dpi, sharp on a screen and in print.
const PNG_SCALE: f64 = 2.0;

/// Draws.
pub(crate) fn run(args: &Draw) -> Result<Answer, Stop> {
    match (&args.what, &args.trace) {
        (Some(What::Curves(args)), _) => curves::run(args),
        (None, Some(args)) => trace(args),
        (None, None) => Err(Stop::new(
            "`draw` needs a trace file, or the result of a sweep",
            "run `wastenot draw cores trace.dat` or `wastenot draw curves small.csv`",
        )),
    }
}

fn trace(args: &Trace) -> Result<Answer, Stop> {
    let file = File::new(args.output.as_ref(), args.force)?;
    let history = open::history(&args.file, &args.reading)?;
    let window = args.window.of(&history)?;
    if let Some(target) = &args.target
        && !history
            .tasks()
            .any(|(_, task)| wastenot_draw::is_target(history.name(task.name), target))
    {
        return Err(select::nobody(&history, target));
    }
    if args.socket_order && !history.head.machine.topology_known() {
        out::note(
            "--socket-order has no effect, because the trace does not contain the topology; give \
             the topology with --machine",
        );
    }
    let select = Select { which: args.which.clone(), ..Select::all(args.silent_cpus) };
    let options = select::options(&history, window, &select)?;
    let options = Options { marks: true, causes: !args.no_causes, ..options };
    let shown = Shown { cpus: options.cpus.clone(), tasks: options.tasks.clone() };
    let look = Look {
        window: args.window.is_asked().then_some(window),
        socket_order: args.socket_order,
        palette: args.palette.into(),
        silent: args.silent_cpus.into(),
        color_by_command: args.color_by_command,
        target: args.target.clone(),
        considered: considered(args, &history)?,
    };
    let check = progress::during("checking", || wastenot_check::check(&history, &options));
    let marks = picture::found(&check);
    let draw = || picture::part(args.picture.into(), &history, &look, &shown, &marks);
    let scene = progress::during("drawing", draw);
    match file {
        None => out::print_as_is(&out::drawn(&scene))?,
        Some(file) => file.write(&scene)?,
    }
    Ok(Answer::Yes)
}

/// The output file of a picture, which is checked before the work begins.
struct File {
    format: Format,
    target: Target,
}

impl File {
    /// The output file, if the user named one.
    fn new(path: Option<&PathBuf>, force: bool) -> Result<Option<File>, Stop> {
        let file =
            |path: &PathBuf| Ok(File { format: format(path)?, target: Target::new(path, force)? });
        path.map(file).transpose()
    }

    fn write(self, scene: &Scene) -> Result<(), Stop> {
        let bytes = progress::during("writing", || bytes(scene, self.format))?;
        self.target.write(|file| file.write_all(&bytes))
    }
}

/// The CPU of the decisions to mark. Fails if the trace has no decisions.
fn considered(args: &Trace, history: &History) -> Result<Option<CpuId>, Stop> {
    let Some(cpu) = args.considered else { return Ok(None) };
    if args.picture != Picture::Queues {
        return Err(Stop::new("--considered works only with queues", "run `wastenot draw queues`"));
    }
    if history.decisions().is_none() {
        let help = "use `wastenot record --decisions` or `wastenot run --decisions`";
        return Err(Stop::new("the trace contains no decisions", help));
    }
    Ok(Some(CpuId(cpu)))
}

fn format(path: &Path) -> Result<Format, Stop> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("pdf") => Ok(Format::Pdf),
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        ending => {
            let why = ending.map_or("the name has no extension".to_owned(), |ending| {
                format!("the format `.{ending}` is unknown")
            });
            let what = format!("cannot draw {}: {why}", path.display());
            Err(Stop::new(what, "use a file name that ends in .pdf, .svg or .png"))
        }
    }
}

fn bytes(scene: &Scene, format: Format) -> Result<Vec<u8>, Stop> {
    match format {
        Format::Pdf => Ok(scene.pdf()),
        Format::Svg => Ok(scene.svg().into_bytes()),
        Format::Png => Ok(scene.png(PNG_SCALE)?),
    }
}
