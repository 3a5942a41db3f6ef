//! `wastenot draw`, and `wastenot draw curves`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use wastenot_realtime::curves::{Column, Only};

use super::check::{SilentCpus, Which};
use super::input::{self, Reading};
use super::when::WindowArgs;

/// Draw CPUs and their tasks, waiting tasks, or queue lengths
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
The file extension of -o selects the format: .pdf, .svg or .png. Without -o,
`draw` draws the picture in the terminal. --min and --max are aliases of --from
and --to.

With --task, `cores` draws all other tasks in grey, `waiting` counts only the
selected tasks, and `queues` marks only wakeups and migrations of the selected
tasks. Waste is then marked only where a selected task waited. Each class of
causes has its own row and colour (`wastenot list causes`).

Examples:
  wastenot draw cores trace.dat
  wastenot draw cores trace.dat -o cores.pdf --socket-order --from 0.1 --to 0.2
  wastenot draw cores trace.dat --cpus 0-7 --task 'make*' --task as
  wastenot draw waiting trace.dat -o waiting.svg
  wastenot draw queues trace.dat -o queues.png --palette published")]
pub(crate) struct Draw {
    #[command(flatten)]
    pub(crate) trace: Option<Trace>,
    #[command(subcommand)]
    pub(crate) what: Option<What>,
}

// No doc comment, and an explicit group: as in `bounds`.
#[derive(Args, Debug)]
#[group(args = ["picture"])]
pub(crate) struct Trace {
    /// Picture to draw: cores (tasks on each CPU), waiting (running and waiting tasks) or queues
    /// (queue lengths)
    #[arg(value_name = "PICTURE", hide_possible_values = true)]
    pub(crate) picture: Picture,
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Write the picture to this file: .pdf, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Order CPUs by package, node, cache and core
    #[arg(long)]
    pub(crate) socket_order: bool,
    /// With cores: draw tasks with this name in colour, and all other tasks as black marks
    #[arg(long, value_name = "NAME", conflicts_with = "task")]
    pub(crate) target: Option<String>,
    /// With cores: use one colour per command instead of one per task
    #[arg(long)]
    pub(crate) color_by_command: bool,
    /// With queues: mark the CPUs that the scheduler considered in its decisions on this CPU. The
    /// trace must contain decisions (`--decisions` of `record` or `run`)
    #[arg(long, value_name = "CPU")]
    pub(crate) considered: Option<u16>,
    /// Mark all waste in one colour, without causes
    #[arg(long)]
    pub(crate) no_causes: bool,
    /// Use colours that are safe for all types of colour vision, or the colours of pictures in
    /// publications on wasted cores
    #[arg(long, value_name = "safe|published", default_value = "safe")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) palette: Palette,
    /// Assume that a CPU without any context switch is in this state: unknown or idle
    #[arg(long, value_name = "WHAT", default_value = "unknown", hide_possible_values = true)]
    pub(crate) silent_cpus: SilentCpus,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The pictures that are not of a trace.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    Curves(Curves),
}

/// Draw the curves of a sweep: the share of schedulable task sets
#[derive(Args, Debug)]
#[command(after_help = "\
Each point is the share of task sets that a test accepted, with its 95 %
confidence interval. An unknown point is a gap in the curve. The horizontal axis
is the column `total`, or `tasks` if all totals are equal. --over selects
another column for the axis. Each point then combines the rows of all totals (or
of all `tasks`). This combined share is called the weighted schedulability. For
every other column that varies, the picture has one panel per value. --only
selects the values to draw.

The file extension of -o selects the format: .pdf, .svg or .png. Without -o, the
picture is drawn in the terminal. docs/reference/sweep.md describes the columns
of the CSV file.

Examples:
  wastenot draw curves scenarios/sweeps/small.csv -o small.pdf
  wastenot draw curves scenarios/sweeps/small.csv --only cpus=4 -o four.svg
  wastenot draw curves scenarios/sweeps/small.csv --over tasks
  cat scenarios/sweeps/small.csv | wastenot draw curves -")]
pub(crate) struct Curves {
    /// Result of `wastenot bounds sweep` in CSV; `-` is standard input
    #[arg(value_name = "RESULT")]
    pub(crate) file: PathBuf,
    /// Write the picture to this file: .pdf, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Use this column for the horizontal axis: total, tasks, cpus or cache_delay
    #[arg(long, value_name = "COLUMN", value_parser = Column::axis)]
    pub(crate) over: Option<Column>,
    /// Draw only rows with this value in a column; may be repeated. Example: cpus=8
    #[arg(long, value_name = "COLUMN=VALUE")]
    pub(crate) only: Vec<Only>,
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// Tasks on each CPU: one line per CPU, one colour per task
    Cores,
    /// Numbers of running and waiting tasks over time
    Waiting,
    /// Queue length of each CPU over time
    Queues,
}

/// A set of colours.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Palette {
    /// Distinguishable with all types of colour vision
    Safe,
    /// The colours of the published pictures
    Published,
}

impl From<Picture> for crate::export::picture::Picture {
    fn from(picture: Picture) -> crate::export::picture::Picture {
        use crate::export::picture::Picture as Kind;
        match picture {
            Picture::Cores => Kind::Cores,
            Picture::Waiting => Kind::Waiting,
            Picture::Queues => Kind::Queues,
        }
    }
}

impl From<Palette> for wastenot_draw::Palette {
    fn from(palette: Palette) -> wastenot_draw::Palette {
        match palette {
            Palette::Safe => wastenot_draw::Palette::Safe,
            Palette::Published => wastenot_draw::Palette::Published,
        }
    }
}
