//! `wastenot draw`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::check::SilentCpus;
use super::input::{self, Reading};
use super::when::WindowArgs;

/// Draw who ran where, who waited, how long the queues were
#[derive(Args, Debug)]
#[command(after_help = "\
With -o the ending decides: .pdf, .svg or .png. Without -o it is drawn on the terminal.
--min and --max are other names of --from and --to.

Examples:
  wastenot draw cores trace.dat
  wastenot draw cores trace.dat -o cores.pdf --socket-order --from 0.1 --to 0.2
  wastenot draw waiting trace.dat -o waiting.svg
  wastenot draw queues trace.dat -o queues.png --palette published")]
pub(crate) struct Draw {
    /// cores (what each ran), waiting (who ran, who waited) or queues (how long they were)
    #[arg(value_name = "PICTURE", hide_possible_values = true)]
    pub(crate) picture: Picture,
    #[arg(value_name = "FILE", help = input::FILE)]
    pub(crate) file: PathBuf,
    /// Where to write the picture: .pdf, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace what is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Order CPUs by package, node, cache and core
    #[arg(long)]
    pub(crate) socket_order: bool,
    /// cores: colour only tasks of this name, draw all others as black marks
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// cores: one colour a command instead of one a task
    #[arg(long)]
    pub(crate) color_by_command: bool,
    /// queues: mark the CPUs that this CPU's decisions looked at (`simulate --decisions`)
    #[arg(long, value_name = "CPU")]
    pub(crate) considered: Option<u16>,
    /// safe for every kind of colour vision, or those of the published pictures
    #[arg(long, value_name = "safe|published", default_value = "safe")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) palette: Palette,
    /// What a CPU without any switch is taken for: unknown or idle
    #[arg(long, value_name = "WHAT", default_value = "unknown", hide_possible_values = true)]
    pub(crate) silent_cpus: SilentCpus,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// What each CPU ran: one line a CPU, colours are tasks
    Cores,
    /// How many tasks ran and how many waited over time
    Waiting,
    /// How long each CPU's queue was over time
    Queues,
}

/// A set of colours.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Palette {
    /// Told apart by every kind of colour vision
    Safe,
    /// Those of the published pictures
    Published,
}
