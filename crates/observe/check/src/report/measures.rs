//! The measures of a check. A measure without a label is only for programs.

use wastenot_model::report::counted;
use wastenot_model::{Carries, Cpu, Distance, History, Machine, Report, TaskId, Unit};

use crate::migrations::Effect;
use crate::{Check, Options, Recorder, depth, is_cut};

/// Labels of migrations by [`Effect`].
const EFFECTS: [&str; Effect::ALL.len()] = [
    "  after which the task ran sooner",
    "  after which it ran no sooner",
    "  that were forced",
    "  with unknown effect",
];

/// What was read.
pub(crate) fn trace(report: &mut Report, history: &History) {
    use Unit::{At, None as Count};
    let head = &history.head;
    let (lost, uncounted) = history.lost_events();
    report.measure("trace.format", "Format", head.source.format.as_str(), Count);
    report.measure("trace.name", "", head.source.name.as_str(), Count);
    report.measure("trace.kernel", "Kernel", head.source.kernel.clone(), Count);
    report.measure("trace.cpus", "CPUs", history.cpu_count(), Count);
    report.measure("trace.tasks", "Tasks", history.task_count(), Count);
    report.measure("trace.start_ns", "", history.window().from, At);
    report.measure("trace.end_ns", "", history.window().to, At);
    report.measure("trace.events", "", history.len(), Count);
    report.measure("trace.lost_events", "Lost events", lost, Count);
    report.measure("trace.lost_uncounted", "", uncounted, Count);
    report.measure("trace.clock", "Clock", head.clock.name.as_str(), Count);
    let unit = if head.clock.nanoseconds { "ns" } else { "cycles" };
    report.measure("trace.time_unit", "", unit, Count);
    let carries: Vec<&str> = head.carries.words().collect();
    report.measure("trace.carries", "", carries, Count);
    let topology = head.carries.has(Carries::TOPOLOGY) || head.machine.topology_known();
    report.measure("trace.topology_known", "", topology, Count);
    report.measure("trace.topology", "", shared(&head.machine), Count);
}

/// What CPUs share, in words: `2 packages, 4 nodes, 4 LLCs, 16 cores`.
fn shared(machine: &Machine) -> Option<String> {
    type Key = fn(&Cpu) -> Option<u32>;
    let keys: [(&str, Key); 4] = [
        ("package", |cpu| cpu.package),
        ("node", |cpu| cpu.node),
        ("LLC", |cpu| cpu.llc),
        ("core", |cpu| cpu.core),
    ];
    let known = keys.map(|(noun, key)| (noun, machine.count(key)));
    let known = known.into_iter().filter(|(_, number)| *number > 0);
    let words: Vec<String> = known.map(|(noun, number)| counted(number, noun)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What was counted, where that is less than all.
pub(super) fn selection(report: &mut Report, history: &History, options: &Options) {
    let counted = options.counted(history);
    let part = counted != history.window();
    let label = |shown: bool, label: &str| if shown { label.to_owned() } else { String::new() };
    let from = label(part, "Counted window, from");
    report.measure("selection.from_ns", &from, counted.from, Unit::At);
    report.measure("selection.to_ns", &label(part, "  to"), counted.to, Unit::At);
    let cpus = options.cpus.as_ref().map(ToString::to_string);
    report.measure("selection.cpus", &label(cpus.is_some(), "CPUs counted"), cpus, Unit::None);
    let tasks = options.tasks.as_ref().map(Vec::len);
    report.measure("selection.tasks", &label(tasks.is_some(), "Tasks counted"), tasks, Unit::None);
}

impl Check {
    pub(super) fn waste_measures(&self, report: &mut Report, history: &History) {
        use Unit::{None as Count, Ns, Share};
        let waste = &self.waste;
        report.measure("waste.cpu_ns", "CPU time wasted", waste.cpu_ns, Ns);
        report.measure("waste.cpu_ns_max", "  at most", waste.cpu_ns_max, Ns);
        report.measure("waste.share", "  of known CPU time", waste.share(), Share);
        self.cause_measures(report);
        let figure = self.without_probably_pinned.as_ref().map(|figures| figures.cpu_ns);
        let label = if figure.is_some() { "  without probably pinned tasks" } else { "" };
        report.measure("waste.cpu_ns_without_probably_pinned", label, figure, Ns);
        let throttled = self.without_possibly_throttled.as_ref();
        report.measure("waste.possibly_throttled_waits", "", throttled.map(|it| it.0), Count);
        let figure = throttled.map(|it| it.1);
        let label = if figure.is_some() { "  without waits that a quota may explain" } else { "" };
        report.measure("waste.cpu_ns_without_possibly_throttled", label, figure, Ns);
        let known = match is_cut(history) {
            true => "Known CPU time before the cut",
            false => "Known CPU time",
        };
        // Of nothing no share is known; a file that is cut says nothing of the rest.
        let share = (waste.online_ns > 0 || !is_cut(history)).then(|| waste.known_share());
        report.measure("waste.known_share", known, share, Share);
        report.measure("waste.wall_ns", "Time with waste", waste.wasteful_ns, Ns);
        report.measure("waste.episodes", "Episodes", waste.episodes, Count);
        report.measure("waste.longest_ns", "  longest", waste.longest_ns, Ns);
        let silent = waste.cpu_ns_silent_idle;
        report.measure("waste.cpu_ns_silent_idle", "", silent, Ns);
        report.measure("waste.whole_core_ns", "", waste.whole_core_ns, Ns);
        report.measure("waste.capacity_ns", "", waste.capacity_ns, Ns);
        report.measure("waste.probably_pinned", "", self.stayed_put.len(), Count);
        let delay = &waste.wake_delay;
        report.measure("wake_delay.cpu_ns", "Wake delay", delay.cpu_ns, Ns);
        report.measure("wake_delay.count", "", delay.count, Count);
        report.measure("wake_delay.longest_ns", "  longest", delay.longest_ns, Ns);
        report.measure("wake_delay.not_started", "", delay.not_started_count, Count);
        let possible = delay.possibly_throttled_ns;
        let label = if possible.is_some_and(|ns| ns > 0) { "  possibly throttled" } else { "" };
        report.measure("wake_delay.possibly_throttled_ns", label, possible, Ns);
        report.measure("cpu.known_ns", "", waste.known_ns, Ns);
        report.measure("cpu.online_ns", "", waste.online_ns, Ns);
        report.measure("cpu.busy_ns", "CPU time busy", waste.busy_ns, Ns);
        report.measure("cpu.idle_ns", "CPU time idle", waste.idle_ns, Ns);
        report.measure("cpu.idle_policy_ns", "", waste.idle_policy_ns, Ns);
        let found = &self.violations;
        report.measure("violation_count", "Violations", found.total.count, Count);
        report.measure("violation_persistent", "", found.persistent.count, Count);
    }

    pub(super) fn wait_measures(&self, report: &mut Report) {
        use Unit::{None as Count, Ns};
        let waits = &self.waits;
        report.measure("waits.count", "Waits", waits.all.waits.count, Count);
        report.measure("waits.wait_ns", "  total", waits.all.waits.sum, Ns);
        report.measure("waits.queued_ns", "", self.waste.wait_ns, Ns);
        report.measure("waits.unplaced_ns", "", self.waste.unplaced_ns, Ns);
        report.measure("waits.unknown_starts", "", waits.unknown_starts, Count);
        for (name, label, lengths) in [
            ("latency.from_wakeup", "Wakeup to run", &waits.from_wakeup),
            ("latency.from_waking", "", &waits.from_waking),
            ("latency.preempted", "", &waits.preempted),
        ] {
            for (word, share) in QUANTILES {
                let label = match (label, *word) {
                    ("", _) | (_, "p90_ns" | "p999_ns") => String::new(),
                    (label, "p50_ns") => format!("{label}, median"),
                    (_, "p99_ns") => "  99th percentile".to_owned(),
                    _ => "  longest".to_owned(),
                };
                let value = lengths.quantile(*share);
                report.measure(&format!("{name}.{word}"), &label, value, Ns);
            }
            report.measure(&format!("{name}.count"), "", lengths.count, Count);
        }
    }

    pub(super) fn placement_measures(
        &self,
        report: &mut Report,
        carries: Carries,
        options: &Options,
    ) {
        use Unit::None as Count;
        let found = &self.placements;
        for (name, label, landed, rows) in [
            ("placements.wakeups", "Wakeups placed", found.wakeups, Carries::WAKEUPS),
            ("placements.forks", "New tasks placed", found.forks, Carries::NEW),
        ] {
            let told = |count: u64| carries.has(rows).then_some(count);
            let sub = |text: &str| if label.is_empty() { String::new() } else { text.to_owned() };
            report.measure(&format!("{name}.total"), label, told(landed.total), Count);
            report.measure(&format!("{name}.on_idle"), "", told(landed.on_idle), Count);
            let none = landed.on_busy_none_idle;
            report.measure(&format!("{name}.on_busy_none_idle"), "", told(none), Count);
            let some = landed.on_busy_some_idle;
            let label = sub("  on a busy CPU while another CPU was idle");
            report.measure(&format!("{name}.on_busy_some_idle"), &label, told(some), Count);
            // A new task has been nowhere before.
            let shown = landed.on_busy_prev_idle > 0 || name == "placements.wakeups";
            let text = "  on a busy CPU while the previous CPU was idle";
            let label = sub(if shown { text } else { "" });
            let prev = landed.on_busy_prev_idle;
            report.measure(&format!("{name}.on_busy_prev_idle"), &label, told(prev), Count);
        }
        let label = "  spread over the allowed CPUs";
        report.measure("placements.forks.spread", label, found.spread.index(), Unit::Share);
        report.measure("placements.no_selection", "", found.no_selection, Count);
        report.measure("migrations.total", "Migrations", self.migrations.total(), Count);
        for distance in Distance::ALL.into_iter().filter(|distance| *distance != Distance::Same) {
            let name = format!("migrations.{}", distance.name());
            report.measure(&name, "", self.migrations.by_distance(distance), Count);
        }
        for (effect, label) in Effect::ALL.into_iter().zip(EFFECTS) {
            let (name, count) = (effect.name(), self.migrations.with_effect(effect));
            let label = if count > 0 { label } else { "" };
            report.measure(&format!("migrations.{name}"), label, count, Count);
        }
        // Of moves over an unknown distance nothing is known.
        let known = self.migrations.by_distance(Distance::Unknown) == 0;
        let cost = options.costs.as_ref().filter(|_| known).map(|costs| {
            let of = |distance| costs.of_move(distance).0;
            let moves = |distance| self.migrations.by_distance(distance);
            let all = Distance::ALL.into_iter().map(|it| of(it).saturating_mul(moves(it)));
            all.fold(0, u64::saturating_add)
        });
        let label = if cost.is_some() { "  CPU time lost by migrations" } else { "" };
        report.measure("migrations.cost_ns", label, cost, Unit::Ns);
        let longest = self.depth.longest;
        report.measure("depth.max", "Longest run queue", longest.map_or(0, |it| it.0), Count);
        report.measure("depth.max_cpu", "", longest.map(|it| it.1), Count);
        report.measure("depth.max_at_ns", "", longest.map(|it| it.2), Unit::At);
        report.measure("depth.mean", "", depth::mean(&self.depth.total()), Count);
    }

    /// What the recording itself took; where other tasks are asked for, that is not counted.
    pub(super) fn recorder_measure(
        &self,
        report: &mut Report,
        history: &History,
        options: &Options,
    ) {
        let recorder = Recorder::of(history).filter(|_| options.tasks.is_none());
        let ran = recorder.map(|recorder| {
            let tasks = self.waits.by_task.iter().enumerate();
            let tasks = tasks.filter(|(n, _)| recorder.has(TaskId::nth(*n)));
            tasks.fold(0, |all: u64, (_, waited)| all.saturating_add(waited.run_ns))
        });
        let label = if ran.is_some() { "CPU time of the recorder" } else { "" };
        report.measure("recorder.cpu_ns", label, ran, Unit::Ns);
    }

    pub(super) fn other_tools(&self, report: &mut Report) {
        use Unit::{None as Count, Ns, Share};
        let schedviz = self.schedviz;
        report.measure("others.schedviz.wall_ns", "SchedViz: wall time", schedviz.wall_ns, Ns);
        report.measure("others.schedviz.per_cpu_ns", "SchedViz: per CPU", schedviz.per_cpu_ns, Ns);
        let threads = schedviz.per_thread_ns;
        report.measure("others.schedviz.per_thread_ns", "SchedViz: per thread", threads, Ns);
        let systing = self.systing;
        report.measure(
            "others.systing.violation_ns",
            "systing: violations",
            systing.violation_ns,
            Ns,
        );
        report.measure("others.systing.fraction", "", systing.fraction(), Share);
        let sanity = &self.sanity;
        report.measure("others.sanity.looks", "", sanity.looks, Count);
        report.measure("others.sanity.suspected", "", sanity.suspected, Count);
        let confirmed = sanity.confirmed;
        report.measure("others.sanity.confirmed", "Sanity checker: confirmed", confirmed, Count);
        report.measure("others.sanity.transient", "", sanity.transient, Count);
        report.measure("others.sanity.unfinished", "", sanity.unfinished, Count);
        let consecutive = sanity.consecutive;
        report.measure("others.sanity.consecutive", "", consecutive, Count);
        report.measure("others.sanity.deficits", "", sanity.deficits, Count);
        report.measure("others.sanity.useless_migrations", "", sanity.useless, Count);
    }
}

const QUANTILES: &[(&str, f64)] =
    &[("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99), ("p999_ns", 0.999), ("max_ns", 1.0)];
