//! What fits, in words and tables.

use wastenot_model::machine::Spin;
use wastenot_model::report::{Unit, number};
use wastenot_model::{Report, Table};
use wastenot_scenario::measured::By;

use super::question::{Calibrated, FETCHES};
use super::{LINES, Statistic};

impl Calibrated {
    /// The answer of `wastenot bounds calibrate`; `title` stands over it.
    pub fn report(&self, title: &str) -> Report {
        let mut report = Report::new("bounds-calibrate/1", title);
        report.verdict = self.verdict();
        let nearest = self.nearest();
        let ranges = || self.pairs.iter().filter_map(|(_, range)| range.as_ref());
        let pairs: u64 = ranges().map(|range| u64::from(range.end() - range.start()) + 1).sum();
        let machine = Some(self.machine.as_str()).filter(|machine| !machine.is_empty());
        // A number that was typed, and Feather-Trace, tell no machine.
        let label = if machine.is_some() { "measured on" } else { "" };
        report.measure("machine", label, machine, Unit::None);
        report.measure(
            "profile",
            "other values from",
            self.question.base_name.as_str(),
            Unit::None,
        );
        report.measure("figures", "figures", self.fit.points.len() as u64, Unit::None);
        report.measure("left_out", "other figures, left out", self.left_out as u64, Unit::None);
        report.measure("within", "tolerance", self.question.within, Unit::Share);
        report.measure("pairs", "pairs that fit", pairs, Unit::None);
        report.measure("determined", "", ranges().count() == 1, Unit::None);
        report.measure("nearest.fetches", "nearest pair: fetches", nearest.fetches, Unit::None);
        report.measure("nearest.lines", "  lines", nearest.lines, Unit::None);
        report.measure(
            "nearest.work_ns",
            "  work under the lock",
            nearest.profile.coarse.work,
            Unit::Ns,
        );
        report.measure("nearest.off", "  error", nearest.off(), Unit::Share);
        report.measure("tried.fetches_max", "", FETCHES, Unit::None);
        report.measure("tried.lines_max", "", LINES, Unit::None);
        report.tables = vec![self.fitting(), self.residuals()];
        report.assumptions = self.assumptions();
        report
    }

    fn percent(&self) -> String {
        // To the millionth of a per cent: 0.07 is 7 %, and no tail of rounding behind it.
        format!("{} %", (self.question.within * 1e8).round() / 1e6)
    }

    fn verdict(&self) -> String {
        let within = self.percent();
        let mut fits = self.pairs.iter().filter_map(|(pair, range)| Some((pair, range.as_ref()?)));
        let Some((first, range)) = fits.next() else {
            let nearest = self.nearest();
            let off = number(nearest.off() * 100.0, None);
            return format!(
                "No pair of `fetches` and `lines` fits the figures within {within}. The best pair \
                 (fetches {}, lines {}) has an error of {off} %. Either the figures contradict \
                 each other, or other values of the profile are wrong.",
                nearest.fetches, nearest.lines
            );
        };
        if let Some((last, _)) = fits.next_back() {
            let more = if last.fetches == FETCHES { " (more fetches were not tried)" } else { "" };
            return format!(
                "The figures do not determine a pair of `fetches` and `lines`: several pairs fit \
                 within {within}. These pairs have {} to {} fetches{more}.",
                first.fetches, last.fetches
            );
        }
        let lines = match range.clone().into_inner() {
            (1, 1) => "1 line".to_owned(),
            (from, to) if from == to => format!("{from} lines"),
            (from, LINES) => format!("{from} lines or more"),
            (from, to) => format!("{from} to {to} lines"),
        };
        let fetches = first.fetches;
        format!(
            "Only pairs with {fetches} fetches and {lines} fit within {within}. The search tried 0 \
             to {FETCHES} fetches."
        )
    }

    fn fitting(&self) -> Table {
        let mut table = Table::new("pairs_by_fetches", "Pairs that fit", []).shown(usize::MAX);
        for (pair, range) in &self.pairs {
            let Some(range) = range else { continue };
            table.row(|row| {
                row.cell("fetches", "fetches", pair.fetches)
                    .cell("lines_from", "lines from", *range.start())
                    .cell("lines_to", "to", *range.end())
                    .cell("lines", "nearest", pair.lines)
                    .ns("work_ns", "work", pair.profile.coarse.work)
                    .share("off", "error", pair.off())
            });
        }
        table
    }

    /// Of the nearest pair.
    fn residuals(&self) -> Table {
        let nearest = self.nearest();
        let simulated = nearest.simulated_ns.iter().zip(&nearest.residuals);
        let title = "Measured figures, and simulated figures with the nearest pair";
        let rows = self.fit.points.iter().zip(simulated);
        Table::of("residuals", title, rows, |row, (point, (ns, residual))| {
            let spin = match point.spin.unwrap_or(nearest.profile.spin) {
                Spin::Own => "own",
                Spin::Ticket => "ticket",
                Spin::TestAndSet => "test-and-set",
            };
            row.cell("cpus", "CPUs", point.cpus)
                .cell("sockets", "sockets", point.sockets)
                .cell("spin", "lock", spin)
                .cell("of", "", point.of.name())
                .ns("measured_ns", "figure", point.ns.round() as u64)
                .ns("simulated_ns", "simulated", ns.round() as u64)
                .share("residual", "error", *residual)
        })
        .shown(usize::MAX)
    }

    fn assumptions(&self) -> Vec<String> {
        let base = &self.question.base_name;
        let mut said = vec![format!(
            "a pair consists of `lines`, the number of cache lines that are written under the \
             lock, and `fetches`, the number of times that each waiting CPU fetches the line of a \
             ticket lock at a handover. The time for one line is from {base}"
        )];
        let alone = self.fit.points.iter().any(|point| point.cpus == 1);
        said.push(match alone {
            true => "the work under the lock is derived from the figures of one CPU".to_owned(),
            false => format!(
                "the work under the lock is the value in {base}, because no figure is for one CPU"
            ),
        });
        match self.by {
            By::Threads => said.extend([
                format!(
                    "the figures are from threads that only make scheduling decisions, so the \
                     simulation also makes only these decisions. The costs of interrupts, switches \
                     and other designs are from {base}, because the figures do not contain them"
                ),
                "the fitted section includes heap operations and the hand-off of the lock, so \
                 heap_step and hand_off are 0 in the profile. In this profile, other designs are \
                 cheaper than in reality. So use the profile only for the design with one lock, \
                 and do not compare designs with it"
                    .to_owned(),
            ]),
            By::FeatherTrace => said.push(
                "the simulation runs four tasks per CPU; all tasks together use half of the \
                 machine. To simulate maxima, all tasks are equal. To simulate other statistics, \
                 the tasks have random periods of 10 to 100 ms. The tasks of the measurement are \
                 unknown"
                    .to_owned(),
            ),
        }
        if self.fit.points.iter().any(|point| point.of == Statistic::Max) {
            said.push("observed maxima are not proven worst cases".to_owned());
        }
        said.push(
            "if more lines are written under the lock, the simulated time never decreases. So if \
             the first and the last number of lines in a range fit, all numbers between them fit, \
             too"
            .to_owned(),
        );
        said
    }
}
