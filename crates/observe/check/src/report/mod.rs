//! The results of a check as a Report.

mod beside;
mod causes;
mod first;
mod matters;
mod measures;
mod tables;
mod words;

use wastenot_model::report::counted;
use wastenot_model::{Finding, History, LossKind, Report, Span, Unit, Value};

use self::matters::Matters;
use self::measures::selection;
pub(crate) use self::measures::trace;
use self::tables::histogram;
use self::words::{kept_finding, not_started_finding, sentence, throttled_finding};
use crate::sched_ext::Loaded;
use crate::waste::assumptions;
use crate::{Check, Options, stall};

impl Check {
    /// The report of `history`, for which this check was made under `options`.
    pub fn report(&self, history: &History, options: &Options) -> Report {
        let mut report = Report::new("check/1", title(history, options));
        report.verdict = self.verdict(history);
        report.proportions = self.proportions(history, options);
        report.worst = self.moment(history);
        trace(&mut report, history);
        selection(&mut report, history, options);
        self.waste_measures(&mut report, history);
        self.beside_measures(&mut report);
        self.wait_measures(&mut report);
        self.placement_measures(&mut report, history.head.carries, options);
        self.recorder_measure(&mut report, history, options);
        self.other_tools(&mut report);
        report.tables = vec![
            self.cause_table(history),
            self.stretch_table(history, options),
            self.violation_table(history, options),
            self.not_started_table(history),
            self.episode_table(),
            self.kept_table(history),
            self.throttled_table(history),
            self.cgroup_table(history),
            self.stolen_table(),
            self.served_table(),
            self.idle_states_table(),
            self.origin_table(),
            self.nearest_table(),
            self.task_table(history),
            self.cpu_table(),
            self.migration_table(options),
            histogram("wait_histogram", "Waits by length", &self.waits.all.waits),
            histogram("latency_histogram", "Wakeup to run by length", &self.waits.from_wakeup),
            self.depth_table(),
        ];
        report.findings = self.findings(history, options);
        report.losses = self.contradictions.losses(history);
        report.assumptions = self.assumptions(history, options);
        if !history.head.clock.nanoseconds {
            forget_times(&mut report);
        }
        report
    }

    fn verdict(&self, history: &History) -> String {
        let waste = &self.waste;
        if waste.known_ns == 0 {
            let text = "The waste is unknown, because the activity of every CPU is unknown.";
            return text.to_owned() + &cut_words(history);
        }
        if !history.head.clock.nanoseconds {
            return format!(
                "The waste in seconds is unknown: the clock ({}) counts cycles, and the trace does \
                 not contain the rate of the clock. CPUs idled for {:.2} % of the known CPU time \
                 instead of running waiting tasks.",
                history.head.clock.name,
                waste.share() * 100.0
            );
        }
        let cut = is_cut(history);
        // What matters more than the waste comes first.
        let (wasted, beside) = (self.waste_words(history), self.beside_words(history));
        let mut text = match self.what_matters() {
            Matters::Affinity | Matters::Quota => {
                format!("{} {} {wasted}", beside.trim_start(), self.beside_advice())
            }
            Matters::Waste => wasted + &self.cause_words() + &beside,
            Matters::Waits => {
                let waited = Span(self.busy_wait_ns());
                let busy = format!(" Tasks waited {waited} in total for busy CPUs.");
                wasted + &beside + &busy
            }
        };
        text += &cut_words(history);
        if cut {
            text += " These figures are not bounds: a task that seems to wait may run on a CPU \
                     with missing events.";
        }
        if self.contradictions.counted > 0 {
            let times = counted(self.contradictions.counted, "time");
            text +=
                &format!(" Events contradict each other {times}, so the figures are approximate.");
        }
        if waste.known_share() < 0.995 {
            let known = waste.known_share() * 100.0;
            text += &format!(" {known:.1} % of the CPU activity is known.");
        }
        if !waste.silent.is_empty() {
            let silent = waste.silent.len() as u64;
            let (verb, they) =
                if silent == 1 { ("has", "this CPU was") } else { ("have", "they were") };
            let figure = Span(waste.cpu_ns_silent_idle);
            let still = if waste.cpu_ns_silent_idle == waste.cpu_ns { "still " } else { "" };
            text += &format!(
                " {} {verb} no context switch. If {they} idle, the waste is {still}{figure}.",
                counted(silent, "CPU")
            );
        }
        text + &self.trigger_words()
    }

    /// Returns the sentence of the verdict about wasted time.
    fn waste_words(&self, history: &History) -> String {
        let waste = &self.waste;
        let doubtful = self.is_doubtful(history);
        let bounded = waste.cpu_ns_max > waste.cpu_ns;
        let most =
            if bounded { format!(" (at most {})", Span(waste.cpu_ns_max)) } else { String::new() };
        match waste.cpu_ns {
            0 if doubtful => format!("No CPU time seems to have been wasted{most}."),
            0 if bounded => format!("Possibly no CPU time was wasted{most}."),
            0 => "No CPU time was wasted.".to_owned(),
            ns => format!(
                "{} of CPU time was wasted{most}: CPUs idled for {:.2} % of the known CPU time \
                 instead of running waiting tasks, in {} of up to {}.",
                match (doubtful, bounded) {
                    (true, _) => format!("About {}", Span(ns)),
                    (false, true) => format!("At least {}", Span(ns)),
                    (false, false) => Span(ns).to_string(),
                },
                waste.share() * 100.0,
                counted(waste.episodes, "episode"),
                Span(waste.longest_ns),
            ),
        }
    }

    /// What ended the recording: it may be no waste, and so nowhere else.
    fn trigger_words(&self) -> String {
        self.trigger.as_ref().map_or(String::new(), |it| format!(" {}", it.sentence()))
    }

    fn findings(&self, history: &History, options: &Options) -> Vec<Finding> {
        let violations = self.violations.worst.iter().take(20).map(|it| Finding {
            code: "waste".to_owned(),
            window: it.window,
            message: sentence(history, it),
            help: None,
        });
        let not_started = self.waste.wake_delay.not_started.iter().take(5);
        let not_started = not_started.map(|it| not_started_finding(history, it));
        let kept = self.waste.kept.iter().flat_map(|kept| &kept.tasks).take(5);
        let kept = kept.map(|it| kept_finding(history, it));
        let throttled = self.throttled.iter().flat_map(|found| &found.by_task).take(5);
        let counted = options.counted(history);
        let throttled = throttled.map(|it| throttled_finding(history, counted, it));
        let trigger = self.trigger.iter().map(|it| Finding {
            code: "trigger".to_owned(),
            window: it.window,
            message: it.sentence(),
            help: None,
        });
        let causes = self.cause_findings(counted);
        let dump = stall::recorded(history).map(|(window, dump)| Finding {
            code: "sched-ext-dump".to_owned(),
            window,
            message: format!("The kernel dumped the state of sched_ext. {}", dump.verdict()),
            help: Some("show the dump with `wastenot explain FILE`".to_owned()),
        });
        trigger
            .chain(dump)
            .chain(causes)
            .chain(violations)
            .chain(not_started)
            .chain(kept)
            .chain(throttled)
            .collect()
    }

    fn assumptions(&self, history: &History, options: &Options) -> Vec<String> {
        let mut lines = assumptions(history, &self.movable, options);
        lines.extend(history.head.source.caveat());
        let stayed = &self.stayed_put;
        if !stayed.is_empty() {
            let names: Vec<String> =
                stayed.iter().take(5).map(|task| history.task_label(*task)).collect();
            lines.push(format!(
                "{} tasks are probably pinned ({}{}): they often waited while another CPU was \
                 idle, and never moved.",
                stayed.len(),
                names.join(", "),
                if stayed.len() > 5 { ", ..." } else { "" }
            ));
        }
        if Loaded::of(history) != Loaded::Never && !options.shared_queue {
            lines.push(
                "A sched_ext scheduler was loaded for at least some of the time. A waiting task \
                 may be in a queue of this scheduler. The trace then names a CPU for the task, \
                 although the task may start on any CPU. If the named CPU is idle, its idle time \
                 counts as wake delay. To avoid this, add --shared-queue."
                    .to_owned(),
            );
        }
        if !history.head.machine.topology_known() {
            lines.push(
                "The trace does not contain the topology, so distances are unknown. Give the \
                 topology with --machine."
                    .to_owned(),
            );
        }
        lines
    }
}

/// Whether the end of the file is gone: then no figure is a bound.
pub fn is_cut(history: &History) -> bool {
    history.losses().iter().any(|loss| loss.kind == LossKind::Cut)
}

/// From when on nothing is known of a file that is cut.
fn cut_words(history: &History) -> String {
    match (is_cut(history), history.is_empty()) {
        (false, _) => String::new(),
        (true, true) => " The file is truncated before its first event.".to_owned(),
        (true, false) => {
            let end = history.window().to;
            format!(" The file is truncated: nothing is known after @{end}.")
        }
    }
}

/// What was checked: how much of it, where that is not all.
fn title(history: &History, options: &Options) -> String {
    let source = &history.head.source;
    let name = source.name.rsplit('/').next().unwrap_or_default();
    let (all, part) = (history.window(), options.counted(history));
    let span = match history.head.clock.nanoseconds {
        false => "an unknown time".to_owned(),
        true if part == all => all.span().to_string(),
        true => format!("{} of {}", part.span(), all.span()),
    };
    let cpus = match &options.cpus {
        None => counted(history.cpu_count(), "CPU"),
        Some(some) => format!("CPUs {some} of {}", history.cpu_count()),
    };
    let tasks = options.tasks.as_ref().map_or(String::new(), |some| {
        format!(", {} of {}", some.len(), counted(history.task_count(), "task"))
    });
    let cut = if is_cut(history) { ", truncated" } else { "" };
    format!("{name}: {cpus}{tasks}, {span}, {}{cut}", counted(history.len(), "event"))
}

/// Cycles are not nanoseconds: what would be shown as time is unknown.
fn forget_times(report: &mut Report) {
    let is_time = |unit: Unit| matches!(unit, Unit::Ns | Unit::At);
    for measure in report.measures.iter_mut().filter(|measure| is_time(measure.unit)) {
        measure.value = Value::Unknown;
    }
    for table in &mut report.tables {
        for (index, column) in table.columns.iter().enumerate() {
            if is_time(column.unit) {
                table.rows.iter_mut().for_each(|row| row[index] = Value::Unknown);
            }
        }
    }
    for it in report.proportions.iter_mut().filter(|it| is_time(it.unit)) {
        it.value = Value::Unknown;
    }
    report.worst = None;
    report.findings.clear();
}
