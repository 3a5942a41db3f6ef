//! `wastenot compare`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use wastenot_check::budget::percent;

use super::check::{Face, Select};
use super::input::Reading;
use super::when::WindowArgs;

/// Compare the measures of check between runs
#[derive(Args, Debug)]
#[command(after_help = "\
With several runs on a side, medians are compared, with a 95 % bootstrap
interval of the change.

--worse-than judges waste.cpu_ns, waste.share, waste.longest_ns, waste.wall_ns,
wake_delay.cpu_ns, waits.wait_ns, latency.from_wakeup.p50_ns,
latency.from_wakeup.p99_ns and latency.from_wakeup.max_ns; those that got worse
are listed on stderr.

Runs are not comparable if their CPUs or topologies differ, their lengths by
more than 10 %, the data that they contain (wakeups, placement, affinity,
throttling), or the known share of CPU time by more than 5 points, or if more
than 0.1 % of the events are lost. The report then begins with the
reasons, and --worse-than needs --anyway. Kernels may differ.

Exit codes: 0 success; 1 worse than --worse-than; 2 failure; 3 unknown, or the
runs are not comparable.

Examples:
  wastenot compare before.dat after.dat
  wastenot compare before-1.dat before-2.dat -- after-1.dat after-2.dat
  wastenot compare before.dat after.dat --worse-than 5% --anyway --json")]
pub(crate) struct Compare {
    /// Traces before the change; two files without `--` are one before and one after
    #[arg(value_name = "FILE", required = true)]
    pub(crate) before: Vec<PathBuf>,
    /// Traces after the change
    #[arg(value_name = "AFTER", last = true)]
    pub(crate) after: Vec<PathBuf>,
    /// Exit with 1 if a judged measure is worse by more than this share of its value before; with
    /// several runs on both sides, only if the 95 % interval of the change is above 0
    #[arg(long, value_name = "SHARE")]
    pub(crate) worse_than: Option<Share>,
    /// Judge runs that are not comparable, too, such as the same work taking longer
    #[arg(long, requires = "worse_than")]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) face: Face,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Share, &'static str> {
        let share = text.strip_suffix('%').and_then(percent);
        share.map(Share).ok_or("expected a share: 5%")
    }
}

#[cfg(test)]
mod tests {
    use wastenot_check::compare::SMALLER_IS_BETTER;

    #[test]
    fn the_help_names_every_measure_that_is_judged_and_no_other() {
        let mut command = crate::args::command();
        let compare = command.find_subcommand_mut("compare").expect("a verb");
        let help = compare.render_help().to_string();
        let (_, judged) = help.split_once("--worse-than judges").expect("the list");
        let (judged, _) = judged.split_once(';').expect("its end");
        let words = judged.split([' ', '\n', ',']).filter(|word| word.contains('.'));
        assert_eq!(words.collect::<Vec<_>>(), SMALLER_IS_BETTER);
    }
}
