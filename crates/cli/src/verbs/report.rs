//! `wastenot report`: verdict, tables and timeline on one page.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wastenot_model::printable;

use super::{check, recording, select};
use crate::args::report::Report as Args;
use crate::fail::{Answer, Stop, reason};
use crate::out::Target;
use crate::{out, progress};

/// Reports on a trace.
pub(crate) fn run(args: &Args) -> Result<Answer, Stop> {
    let target = match args.text {
        true => None,
        false => {
            let path = args.output.clone().unwrap_or_else(|| page_for(&args.file));
            is_page(&path)?;
            Some(Target::new(&path, args.force)?)
        }
    };
    let Some(target) = target else {
        let (history, options) = select::read(&args.file, &args.looking)?;
        let found = progress::during("checking", || wastenot_check::check(&history, &options));
        let mut report = found.report(&history, &options);
        report.next = check::next(&args.file, &history, &found, options.counted(&history));
        out::print(&report.text())?;
        return Ok(Answer::Yes);
    };
    let (recording, report) = recording::of(&args.file, &args.looking, true, None)?;
    let view = wastenot_view::View::new(recording);
    let (page, _) = progress::during("writing", || view.file(args.size as usize));
    target.write(|file| file.write_all(page.as_bytes()))?;
    if page.len() as u64 > args.size {
        let (has, size) = (page.len(), args.size);
        out::note(&format!(
            "the text of the page exceeds --size: the page has {has} bytes instead of {size}"
        ));
    }
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

/// A page with the extension `.pdf` would look like a broken PDF.
pub(super) fn is_page(path: &Path) -> Result<(), Stop> {
    match path.extension().and_then(|ending| ending.to_str()) {
        None | Some("html" | "htm") => Ok(()),
        Some(ending) => Err(Stop::new(
            format_args!("a report is an HTML file, not `.{ending}`"),
            "use a file name that ends in .html; `wastenot draw` writes pictures",
        )),
    }
}

/// `trace.dat` becomes `trace.html` in the current directory, because often only root can write
/// next to the trace.
fn page_for(trace: &Path) -> PathBuf {
    let stem = trace.file_stem().filter(|_| trace != Path::new("-"));
    let mut name = stem.unwrap_or_else(|| "report".as_ref()).to_owned();
    name.push(".html");
    PathBuf::from(name)
}

/// Opens a page in the default browser.
pub(super) fn show(page: &Path) -> Result<(), Stop> {
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
