//! `wastenot compare`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use wastenot_check::budget::percent;

use super::check::{Face, Looking};

/// Compare traces from before and after a change
#[derive(Args, Debug)]
#[command(after_help = "\
You can give several traces from before the change and several from after it.
`compare` then compares the medians, and reports a 95 % bootstrap confidence
interval of the difference.

--worse-than compares waste.cpu_ns, waste.share, waste.longest_ns,
waste.wall_ns, wake_delay.cpu_ns, waits.wait_ns, latency.from_wakeup.p50_ns,
latency.from_wakeup.p99_ns and latency.from_wakeup.max_ns. On stderr, `compare`
lists the measures that got worse.

Two traces are not comparable if
  - their CPUs or topologies differ,
  - their lengths differ by more than 10 %,
  - they contain different data (wakeups, placement, affinity, throttling),
  - the share of CPU time with known activity differs by more than 5 percentage
    points, or
  - a trace lost more than 0.1 % of its events.
Traces of different kernels are comparable. If traces are not comparable, the
report begins with the reasons. --worse-than gives a verdict on such traces only
with --anyway.

Exit codes: 0 success; 1 a measure got worse by more than --worse-than;
2 failure; 3 the traces are not comparable, or lack the information that
--worse-than needs.

Examples:
  wastenot compare before.dat after.dat
  wastenot compare before-1.dat before-2.dat -- after-1.dat after-2.dat
  wastenot compare before.dat after.dat --worse-than 5% --anyway --json")]
pub(crate) struct Compare {
    /// Traces from before the change. If two files are given without `--`, the second is the trace
    /// from after the change
    #[arg(value_name = "FILE", required = true)]
    pub(crate) before: Vec<PathBuf>,
    /// Traces from after the change
    #[arg(value_name = "AFTER", last = true)]
    pub(crate) after: Vec<PathBuf>,
    /// Exit with 1 if a compared measure increased by more than this share (5%) of its value before
    /// the change. With several traces before and after, the 95 % interval of the change must also
    /// be above 0
    #[arg(long, value_name = "SHARE")]
    pub(crate) worse_than: Option<Share>,
    /// Apply --worse-than even to traces that are not comparable, for example if the same work took
    /// longer
    #[arg(long, requires = "worse_than")]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) face: Face,
    #[command(flatten)]
    pub(crate) looking: Looking,
}

/// `5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Share, &'static str> {
        let share = text.strip_suffix('%').and_then(percent);
        share.map(Share).ok_or("expected a share such as 5%")
    }
}

#[cfg(test)]
mod tests {
    use wastenot_check::compare::SMALLER_IS_BETTER;

    #[test]
    fn the_help_names_every_compared_measure_and_no_other() {
        let mut command = crate::args::command();
        let compare = command.find_subcommand_mut("compare").expect("a verb");
        let help = compare.render_help().to_string();
        let (_, judged) = help.split_once("--worse-than compares").expect("the list");
        let (judged, _) = judged.split_once(". ").expect("its end");
        let words = judged.split([' ', '\n', ',']).filter(|word| word.contains('.'));
        assert_eq!(words.collect::<Vec<_>>(), SMALLER_IS_BETTER);
    }
}
