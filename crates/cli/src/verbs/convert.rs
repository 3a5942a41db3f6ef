//! `wastenot convert`: writes a trace in another format, as tables, in part, or without names.

use std::io::{self, Write};
use std::path::Path;

use crate::export::tables;
use wastenot_model::{History, Missing};
use wastenot_read::write;

use crate::args::convert::{Convert, Format};
use crate::fail::{Answer, Stop};
use crate::out::{Folder, Target};
use crate::{open, out, progress};

/// Converts.
pub(crate) fn run(args: &Convert) -> Result<Answer, Stop> {
    let output = Output::of(args)?;
    let mut history = open::history(&args.file, &args.reading)?;
    if !history.head.clock.nanoseconds && !output.holds_cycles() {
        let what = format!(
            "{}: the clock ({}) counts cycles, but this format contains nanoseconds",
            open::shown(&args.file),
            history.head.clock.name
        );
        let help = "set the rate of the clock with `--clock-hz 2.4GHz`, or write a .wn file";
        return Err(Stop::new(what, help));
    }
    let window = args.window.of(&history)?;
    if args.window.is_asked() {
        if let Some(missing) = Missing::find(&history).first() {
            out::note(&format!(
                "events of CPU {} are missing, so some waits are doubtful. The output file does \
                 not show which waits these are. A check of the whole trace with --from and --to \
                 may be certain about more waits",
                missing.cpu
            ));
        }
        history = write::edit::window(&history, window);
    }
    if let Some(salt) = &args.scrub {
        history = write::edit::scrub(&history, salt.as_deref());
    }
    progress::during("writing", || match &output {
        Output::File(target, format) => target.write(|out| fill(&history, *format, out)),
        Output::Tables(folder) => folder.write(|path| tables::write(&history, path)),
    })?;
    Ok(Answer::Yes)
}

/// The output, which is checked before the work begins.
enum Output {
    File(Target, Format),
    Tables(Folder),
}

impl Output {
    fn of(args: &Convert) -> Result<Output, Stop> {
        if Folder::is_named(&args.output) {
            return match args.format {
                None | Some(Format::Parquet) => {
                    Folder::new(&args.output, args.force, &tables::FILES).map(Output::Tables)
                }
                Some(_) => Err(Stop::new(
                    format!("{}: tables in a directory are always Parquet", args.output.display()),
                    "leave out `--format`, or give a file: `-o FILE`",
                )),
            };
        }
        let format = match args.format {
            Some(format) => format,
            None => by_ending(&args.output, "use `--format wn`, perfetto, parquet, csv or jsonl")?,
        };
        Ok(Output::File(Target::new(&args.output, args.force)?, format))
    }

    fn holds_cycles(&self) -> bool {
        matches!(self, Output::File(_, Format::Wn))
    }
}

/// An output file for a History.
pub(super) struct Kept(Format, Target);

impl Kept {
    /// The output file of an option.
    pub(super) fn named(option: &'static str, file: &Path, force: bool) -> Result<Kept, Stop> {
        let target = Target::named(option, file, force)?;
        Ok(Kept(by_ending(file, "use .wn, .pftrace, .parquet, .csv or .jsonl")?, target))
    }
    pub(super) fn write(self, history: &History) -> Result<(), Stop> {
        progress::during("writing", || self.1.write(|out| fill(history, self.0, out)))
    }
}

/// The format for the extension of `file`. `help` is the help line of the error.
fn by_ending(file: &Path, help: &'static str) -> Result<Format, Stop> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    if let Some(format) = ending.and_then(Format::by_ending) {
        return Ok(format);
    }
    let why = ending.map_or("the name has no extension".to_owned(), |ending| {
        format!("the extension `.{ending}` is unknown")
    });
    let what = format!("cannot select a format for {}: {why}", file.display());
    Err(Stop::new(what, help))
}

fn fill(history: &History, format: Format, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let result = match format {
        Format::Wn => write::wn(history, out),
        Format::Perfetto => write::perfetto(history, out),
        Format::Parquet => write::parquet(history, out),
        Format::Csv => write::csv(history, out),
        Format::Jsonl => write::jsonl(history, out),
    };
    result.map_err(tables::plain)
}
