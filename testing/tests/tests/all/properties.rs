//! What must hold for every history.

use std::collections::BTreeSet;

use wastenot_check::violations::Violation;
use wastenot_check::{Options, check, waste};
use wastenot_model::{
    CpuMode, Distance, Entry, History, Observer, Phase, Silent, State, TaskId, Time, Window, replay,
};
use wastenot_needs::effort;
use wastenot_tests::Rng;
use wastenot_tests::random::{Plan, renumbered};
use wastenot_tests::reference::Asked;

use crate::waste::measured;

/// Checks the whole State whenever time passes.
struct Laws<'a> {
    history: &'a History,
    run_ns: u64,
    wait_ns: u64,
    other_ns: u64,
    busy_ns: u64,
}

impl Laws<'_> {
    fn check(&self, state: &State) {
        let mut running = BTreeSet::new();
        let mut queued = BTreeSet::new();
        for (cpu, now) in state.cpus() {
            if let CpuMode::Busy(task) = now.mode {
                assert!(running.insert(task), "{task:?} runs on two CPUs");
                let known = state.task(task);
                assert_eq!((known.phase, known.cpu), (Phase::Running, Some(cpu)), "{task:?}");
            }
            let waiting: Vec<TaskId> = state.waiting(cpu).collect();
            assert_eq!(waiting.len(), now.waiting as usize);
            for task in waiting {
                assert!(queued.insert(task), "{task:?} waits twice");
                assert_eq!(state.task(task).cpu, Some(cpu));
            }
        }
        queued.extend(state.unplaced());
        for (task, _) in self.history.tasks() {
            let phase = state.task(task).phase;
            assert_eq!(phase == Phase::Running, running.contains(&task), "{task:?}");
            assert_eq!(phase == Phase::Waiting, queued.contains(&task), "{task:?}");
        }
    }
}

impl Observer for Laws<'_> {
    fn held(&mut self, state: &State, from: Time, to: Time) {
        self.check(state);
        let span = (to - from).0;
        for (task, _) in self.history.tasks() {
            *match state.task(task).phase {
                Phase::Running => &mut self.run_ns,
                Phase::Waiting => &mut self.wait_ns,
                _ => &mut self.other_ns,
            } += span;
        }
        let busy = state.cpus().filter(|(_, cpu)| matches!(cpu.mode, CpuMode::Busy(_))).count();
        self.busy_ns += busy as u64 * span;
    }
    fn event(&mut self, state: &State, _: &Entry) {
        self.check(state);
    }
}

#[test]
fn a_cpu_runs_one_task_and_run_wait_and_sleep_make_a_life() {
    for seed in 0..effort(3_000).min(10_000) {
        let history = Plan::small(seed).history();
        let mut laws = Laws { history: &history, run_ns: 0, wait_ns: 0, other_ns: 0, busy_ns: 0 };
        replay(&history, Silent::Unknown, &mut laws);
        let lives = history.task_count() as u64 * history.window().span().0;
        assert_eq!(laws.run_ns + laws.wait_ns + laws.other_ns, lives, "seed {seed}");
        assert_eq!(laws.run_ns, laws.busy_ns, "seed {seed}");
        let figures = waste::measure(&history, &Options::default());
        assert_eq!(figures.busy_ns, laws.run_ns, "seed {seed}");
        assert_eq!(figures.wait_ns + figures.unplaced_ns, laws.wait_ns, "seed {seed}");
    }
}

#[test]
fn renumbering_cpus_changes_no_measure() {
    for seed in 0..effort(3_000).min(10_000) {
        let history = Plan { contradicts: Some(false), ..Plan::small(seed) }.history();
        let cpus = history.cpu_count();
        let whole = history.head.start.as_ref().is_none_or(|start| start.cpus.len() == cpus);
        if !whole {
            continue;
        }
        let mut rng = Rng::new(seed);
        let mut names: Vec<u16> = (0..cpus as u16).collect();
        for last in (1..cpus).rev() {
            names.swap(last, rng.below(last + 1));
        }
        let other = renumbered(&history, &names);
        let [ours, theirs] = [&history, &other].map(|history| measured(history, &Asked::ALL));
        assert_eq!(ours, theirs, "seed {seed}");
    }
}

#[test]
fn a_measure_of_a_part_and_of_the_rest_add_up() {
    for seed in 0..effort(1_000).min(10_000) {
        let history = Plan::small(seed).history();
        let Window { from, to } = history.window();
        let middle = Time(from.0 + (to - from).0 / 2);
        let of =
            |from, to| measured(&history, &Asked { window: Window { from, to }, ..Asked::ALL });
        let (whole, left, right) = (of(from, to), of(from, middle), of(middle, to));
        assert_eq!(whole.waste_cpu_ns, left.waste_cpu_ns + right.waste_cpu_ns, "seed {seed}");
        assert_eq!(whole.known_cpu_ns, left.known_cpu_ns + right.known_cpu_ns, "seed {seed}");
    }
}

/// Checks that reported violations are true.
struct Witness<'a> {
    violations: &'a [Violation],
    seen: usize,
}

impl Observer for Witness<'_> {
    fn held(&mut self, state: &State, from: Time, to: Time) {
        for it in self.violations {
            if to <= it.stretch.from || it.stretch.to <= from {
                continue;
            }
            assert!(state.cpu(it.idle_cpu).is_idle(), "{from} {it:?}");
            let task = state.task(it.task);
            assert_eq!(task.phase, Phase::Waiting, "{from} {it:?}");
            let place = task.cpu.expect("it waits on a CPU");
            assert!(it.stretch_cpus.contains(&place), "{from} on {place} {it:?}");
            if from <= it.stretch.from {
                assert_eq!(it.stretch_cpus.first(), Some(&place), "{from} {it:?}");
                self.seen += 1;
            }
        }
    }
}

#[test]
fn a_violation_names_where_its_task_waited_and_never_the_idle_cpu() {
    let (mut violations, mut elsewhere) = (0, 0);
    for seed in 0..effort(3_000).min(30_000) {
        let history = Plan::small(seed).history();
        let Window { from, to } = history.window();
        let third = (to - from).0 / 3;
        let part = Window { from: Time(from.0 + third), to: Time(to.0 - third / 2) };
        let window = if seed.is_multiple_of(2) { Window::ALL } else { part };
        let options = Options { window, ..Options::default() };
        let found = check(&history, &options);
        let worst = &found.violations.worst;
        for it in worst {
            assert!(!it.stretch_cpus.contains(&it.idle_cpu), "seed {seed}: {it:?}");
            assert!(it.nearest != Distance::Same, "seed {seed}: {it:?}");
            assert!(it.idle.iter().all(|idle| idle.distance != Distance::Same), "seed {seed}");
            elsewhere += usize::from(it.cpu == it.idle_cpu);
        }
        let mut witness = Witness { violations: worst, seen: 0 };
        replay(&history, Silent::Unknown, &mut witness);
        assert_eq!(witness.seen, worst.len(), "seed {seed}");
        violations += worst.len();
        let report = found.report(&history, &options);
        for finding in report.findings.iter().filter(|finding| finding.code == "waste") {
            let words: Vec<&str> = finding.message.split([' ', ',']).collect();
            let cpu = |before: &str| {
                let at = words.windows(3).find(|at| at[0] == before && at[1] == "CPU");
                at.map(|at| at[2])
            };
            assert!(cpu("on").is_some() && cpu("on") != cpu("while"), "{}", finding.message);
        }
    }
    assert!(violations > 1_000 && elsewhere > 0, "{elsewhere} of {violations}");
}
