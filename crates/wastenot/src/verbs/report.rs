//! `wastenot report`: verdict, tables and pictures in one page.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wastenot_check::violations::Violation;
use wastenot_check::{Check, Options};
use wastenot_draw::{Mark, MarkKind, Palette, Scene};
use wastenot_model::{CpuSet, Frame, History, Picture as Drawn, Window, printable};

use super::picture::{self, Look, Shown};
use super::select;
use crate::args::draw::Picture;
use crate::args::report::Report;
use crate::fail::{Answer, Stop, reason};
use crate::out::Target;
use crate::{open, out, progress};

/// The pictures of a report, with what a newcomer must know to read them. Findings link to the
/// first.
const PICTURES: [(Picture, &str, &str); 3] = [
    (
        Picture::Cores,
        "Tasks on each CPU",
        "One line per CPU, one colour per task; white is idle. Each frame is a finding.",
    ),
    (
        Picture::Waiting,
        "Running and waiting tasks",
        "Running and waiting tasks over time; the dotted line is the number of CPUs. CPU time is \
         wasted where tasks wait while fewer tasks run than there are CPUs.",
    ),
    (
        Picture::Queues,
        "Run-queue lengths",
        "One line per CPU; the colour is the number of tasks that run or wait there.",
    ),
];

/// Reports on a trace.
pub(crate) fn run(args: &Report) -> Result<Answer, Stop> {
    let target = match args.text {
        true => None,
        false => {
            let path = args.output.clone().unwrap_or_else(|| page_for(&args.file));
            is_page(&path)?;
            Some(Target::new(&path, args.force)?)
        }
    };
    let history = open::history(&args.file, &args.reading)?;
    let window = args.window.of(&history)?;
    let options = select::options(&history, window, &args.select)?;
    let options = Options { marks: target.is_some(), ..options };
    let check = progress::during("checking", || wastenot_check::check(&history, &options));
    let mut report = check.report(&history, &options);
    report.next = picture::next(&args.file, &history, &report);
    let Some(target) = target else {
        out::print(&report.text())?;
        return Ok(Answer::Yes);
    };
    let look = Look {
        window: args.window.is_asked().then_some(window),
        socket_order: history.head.machine.topology_known(),
        palette: Palette::default(),
        silent: args.select.silent_cpus.into(),
        color_by_command: false,
        target: None,
        considered: None,
    };
    let page = progress::during("drawing", || {
        report.pictures = pictures(&history, &look, &picture::found(&check));
        if let (Some(worst), Some(violation)) = (&mut report.worst, check.worst(&history)) {
            worst.picture = Some(moment(&history, &look, &check, violation));
        }
        wastenot_draw::html(&report)
    });
    target.write(|file| file.write_all(page.as_bytes()))?;
    if target.is_file() {
        let verdict = report.whole_verdict();
        let (verdict, page) = (printable(&verdict), target.path().display());
        out::print(&format!("{verdict}\n\nReport: {page}\n"))?;
    }
    if args.open {
        show(target.path())?;
    }
    Ok(Answer::Yes)
}

fn pictures(history: &History, look: &Look, marks: &[Mark]) -> Vec<Drawn> {
    let one = |(picture, title, caption): (Picture, &str, &str)| {
        drawn(&picture::scene(picture, history, look, marks), title, caption)
    };
    PICTURES.map(one).into()
}

/// The worst moment: the CPUs where the task waited, and the nearest of those that were idle.
fn moment(history: &History, look: &Look, check: &Check, it: &Violation) -> Drawn {
    const LANES: usize = 5;
    let mut idle: Vec<_> = it.idle.iter().collect();
    idle.sort_by_key(|idle| std::cmp::Reverse(idle.longest_ns));
    let mut cpus = CpuSet::new();
    let places = it.stretch_cpus.iter().take(LANES - 1).chain([&it.idle_cpu]);
    for cpu in places.chain(idle.iter().map(|idle| &idle.cpu)) {
        if cpus.len() < LANES {
            cpus.insert(*cpu);
        }
    }
    // Of all marks those of this wait, and idle CPUs only while it lasted.
    let marks = &check.violations.marks;
    let waited = marks.waited.iter().filter(|mark| mark.task == it.task);
    let waited = waited.map(|mark| (mark.window, mark.cpu, MarkKind::Waited));
    let usable = |cpu| it.idle.iter().any(|idle| idle.cpu == cpu);
    let idle = marks.idle.iter().filter(|(cpu, _)| usable(*cpu));
    let idle = idle.map(|&(cpu, window)| (window, cpu, MarkKind::Idle));
    let marks = waited.chain(idle).filter_map(|(window, cpu, kind)| {
        let (from, to) = it.window.clip(window.from, window.to)?;
        Some(Mark { window: Window { from, to }, cpu: Some(cpu), kind })
    });
    let marks: Vec<Mark> = marks.collect();
    let look = Look { window: Some(picture::around(it.window, history)), ..look.clone() };
    let shown = Shown { cpus: Some(cpus), tasks: None };
    let scene = picture::part(Picture::Cores, history, &look, &shown, &marks);
    let caption =
        "White is idle, tinted red while the task waited. The red line is where it waited.";
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

/// A page named `.pdf` would be taken for a broken PDF.
pub(super) fn is_page(path: &Path) -> Result<(), Stop> {
    match path.extension().and_then(|ending| ending.to_str()) {
        None | Some("html" | "htm") => Ok(()),
        Some(ending) => Err(Stop::new(
            format_args!("a report is an HTML file, not `.{ending}`"),
            "use a file name that ends in .html; pictures alone: `wastenot draw`",
        )),
    }
}

/// `trace.dat` becomes `trace.html`, here: recordings often lie where only root may write.
fn page_for(trace: &Path) -> PathBuf {
    let stem = trace.file_stem().filter(|_| trace != Path::new("-"));
    let mut name = stem.unwrap_or_else(|| "report".as_ref()).to_owned();
    name.push(".html");
    PathBuf::from(name)
}

/// Opens a page as the desktop does.
fn show(page: &Path) -> Result<(), Stop> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(opener)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let help = format!("open {} in a browser", page.display());
    match started {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Stop::new(format_args!("{opener} found no browser"), help)),
        Err(error) => {
            Err(Stop::new(format_args!("cannot start {opener}: {}", reason(&error)), help))
        }
    }
}
