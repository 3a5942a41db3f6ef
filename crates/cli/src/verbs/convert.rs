//! `wastenot convert`: writes a trace in another format, as tables, in part, or without names.

use crate::export::tables;
use crate::verbs::trace_file::{by_ending, fill};
use wastenot_model::Missing;
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
