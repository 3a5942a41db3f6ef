//! Truth by intervention: the same run with a fault and with only that fault off.

use std::collections::BTreeMap;

use wastenot_check::causes::{Cause, Causes, LostTime};
use wastenot_check::{Options, check};
use wastenot_experiment::{Bench as _, Sim};
use wastenot_model::{
    Builder, By, Carries, Change, Decision, Event, History, Sink as _, Span, Time, Window,
};
use wastenot_read::write::edit;
use wastenot_scenario::scenario::Scenario;
use wastenot_sim::End;

use super::faults::Fault;
use super::setup::{Draw, Setup};

/// What of the recordings is there to find causes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// All that a recorder can hold.
    Whole,
    /// The middle third.
    Third,
    /// No `sched_waking`, and not who woke a task.
    WithoutWakings,
    /// No affinities.
    WithoutAffinities,
    /// And the scheduler's decisions.
    WithDecisions,
}

impl View {
    pub(super) const ALL: [View; 5] = [
        View::Whole,
        View::Third,
        View::WithoutWakings,
        View::WithoutAffinities,
        View::WithDecisions,
    ];
    pub(super) fn name(self) -> &'static str {
        ["whole", "a third", "without wakings", "without affinities", "with decisions"]
            [self as usize]
    }
}

/// How finely causes are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// The second level of the tree.
    Class,
    /// The cause itself.
    Leaf,
}

impl Grain {
    /// What of `cause` counts.
    fn of(self, cause: &'static Cause) -> &'static str {
        match self {
            Grain::Class => cause.class(),
            Grain::Leaf => cause.path,
        }
    }
}

impl Fault {
    /// What its time should be found as, so finely.
    pub(super) fn target(&self, grain: Grain) -> Option<&'static str> {
        match grain {
            Grain::Class => Some(self.class),
            Grain::Leaf => self.leaf,
        }
    }
}

/// CPU time by a node of the tree of causes, in ns. Time that quotas took is task time.
pub(super) type ByCause = BTreeMap<&'static str, f64>;

/// What one run lost, under one view.
#[derive(Clone, Debug)]
struct Seen {
    /// CPU time that there was.
    cpu_ns: f64,
    /// Whether the work was finished.
    done: bool,
    /// What was lost of it in all, whatever the reason, as all that was recorded shows.
    all_ns: f64,
    /// What was found, by [`Grain`].
    found: [ByCause; 2],
}

/// What came of one case under one view.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Time that the fault took: what was lost with it and not without it.
    pub(super) truth_ns: f64,
    /// CPU time with the fault on.
    pub(super) cpu_ns: f64,
    /// What was found, by [`Grain`].
    pub(super) by: [Tally; 2],
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// With the fault on.
    pub(super) on: ByCause,
    /// With it off, scaled to the time with it on.
    pub(super) off: ByCause,
    /// With it off, for the same CPU time, whether or not the work was finished.
    pub(super) off_per_time: ByCause,
}

/// One case: a fault and where it was planted.
pub(super) struct Case {
    pub(super) fault: &'static Fault,
    pub(super) machine: String,
    pub(super) scheduler: String,
    pub(super) number: u64,
    /// By [`View`].
    pub(super) found: Vec<Found>,
}

/// Where policies are.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

impl Case {
    /// Plants `fault`, and runs with it and without it.
    pub(super) fn run(
        fault: &'static Fault,
        stream: u32,
        seed: u64,
        number: u64,
    ) -> Result<Case, String> {
        let mut draw = Draw::new(seed, stream, number);
        let setups = (fault.plant)(&mut draw);
        let named = |error: &String| format!("{} {number}: {error}", fault.name);
        let seed = draw.seed();
        let [on, off] = setups
            .each_ref()
            .map(|setup| run(setup, seed).and_then(Ran::seen).map_err(|error| named(&error)));
        let (on, off) = (on?, off?);
        let found = View::ALL.map(|view| compare(&on[view as usize], &off[view as usize], view));
        let Setup { machine, scheduler, .. } = &setups[0];
        let (machine, scheduler) = (machine.clone(), scheduler.clone());
        Ok(Case { fault, machine, scheduler, number, found: found.to_vec() })
    }
}

/// What two runs show.
fn compare(on: &Seen, off: &Seen, view: View) -> Found {
    let per_time = on.cpu_ns / off.cpu_ns.max(1.0);
    // Finished runs did the same work, so their losses compare as they are.
    let same_work = on.done && off.done && view != View::Third;
    let scale = if same_work { 1.0 } else { per_time };
    let tally = |on: &ByCause, off: &ByCause| {
        let scaled = |by: f64| off.iter().map(|(cause, ns)| (*cause, ns * by)).collect();
        Tally { on: on.clone(), off: scaled(scale), off_per_time: scaled(per_time) }
    };
    Found {
        truth_ns: (on.all_ns - off.all_ns * scale).max(0.0),
        cpu_ns: on.cpu_ns,
        by: [Grain::Class, Grain::Leaf]
            .map(|grain| tally(&on.found[grain as usize], &off.found[grain as usize])),
    }
}

/// A run.
struct Ran {
    history: History,
    done: bool,
}

fn run(setup: &Setup, seed: u64) -> Result<Ran, String> {
    let text = setup.text();
    let wrong = |error: &dyn std::fmt::Display| format!("{error}\n{text}");
    let scenario: Scenario = wastenot_experiment::scenario(&format!("{ROOT}/case.toml"), &text)
        .map_err(|error| wrong(&error))?;
    let variant = &scenario.variants[0];
    Sim.fits(variant).map_err(|error| wrong(&error))?;
    let limit = Time(scenario.limit.0);
    let options = wastenot_sim::Options { name: "case".into(), seed, limit, notes: true };
    let run = Sim.run(variant, &options).map_err(|error| wrong(&error))?;
    let mut history = run.history;
    // What only a simulator knows would give the answer away.
    history.annexes.retain(|annex| annex.table.name == Decision::ANNEX);
    Ok(Ran { history, done: run.outcome.end == End::Done })
}

impl Ran {
    /// By view.
    fn seen(mut self) -> Result<Vec<Seen>, String> {
        let decisions = std::mem::take(&mut self.history.annexes);
        let whole = self.look(&self.history, Window::ALL)?;
        let third = third(&self.history);
        let part = self.look(&edit::window(&self.history, third), Window::ALL)?;
        let within = self.look(&self.history, third)?;
        let waking = Carries::WAKINGS | Carries::WAKERS | Carries::CONTEXT;
        let unwoken = self.look(&without(&self.history, waking), Window::ALL)?;
        let unbound = self.look(&without(&self.history, Carries::AFFINITY), Window::ALL)?;
        let all_ns = whole.all_ns;
        self.history.annexes = decisions;
        let decided = self.look(&self.history, Window::ALL)?;
        Ok(vec![
            whole,
            Seen { all_ns: within.all_ns, ..part },
            Seen { all_ns, ..unwoken },
            Seen { all_ns, ..unbound },
            decided,
        ])
    }

    /// What is found in `window` of a History; an error if it is not all that was lost there.
    fn look(&self, history: &History, window: Window) -> Result<Seen, String> {
        let options = Options { window, limit: 0, ..Options::default() };
        let check = check(history, &options);
        let waste = &check.waste;
        let causes = check.causes.as_ref().ok_or("no causes")?;
        let kept_ns = waste.kept.as_ref().map_or(0, |kept| kept.cpu_ns);
        let held_ns = check.throttled.as_ref().map_or(0, |throttled| throttled.all.held_ns);
        let measured = [waste.cpu_ns, waste.wake_delay.cpu_ns, kept_ns, held_ns];
        for (loss, measured) in LostTime::ALL.iter().zip(measured) {
            let sum: u64 = causes.iter().map(|(_, part)| part.ns[*loss as usize]).sum();
            if sum != measured {
                return Err(format!("{}: {sum} ns by cause, {measured} ns in all", loss.name()));
            }
        }
        let span = options.counted(history).span().0;
        Ok(Seen {
            cpu_ns: (span * waste.cpus as u64) as f64,
            done: self.done,
            all_ns: measured.iter().sum::<u64>() as f64,
            found: [Grain::Class, Grain::Leaf].map(|grain| by(causes, grain)),
        })
    }
}

fn by(causes: &Causes, grain: Grain) -> ByCause {
    let mut sums = ByCause::new();
    for (cause, part) in causes.iter() {
        *sums.entry(grain.of(cause)).or_default() += part.ns.iter().sum::<u64>() as f64;
    }
    sums
}

fn third(history: &History) -> Window {
    let Window { from, to } = history.window();
    let length = (to.0 - from.0) / 3;
    Window { from: from + Span(length), to: from + Span(2 * length) }
}

/// The recording of a source that cannot tell `lacking`.
fn without(history: &History, lacking: Carries) -> History {
    let mut head = history.head.clone();
    head.carries = head.carries.without(lacking);
    let mut copy = Builder::new(head);
    // In their order, so that ids stay.
    history.names().for_each(|name| _ = copy.name(name));
    history.masks().iter().for_each(|mask| _ = copy.mask(mask));
    history.tasks().for_each(|(_, task)| _ = copy.task(task.clone()));
    let told = |event: &Event| match event {
        Event::Waking { .. } => Carries::WAKINGS,
        Event::Changed { what: Change::Affinity(_), .. } => Carries::AFFINITY,
        _ => Carries::NONE,
    };
    let kept = history.entries().filter(|entry| {
        let needed = told(&entry.event);
        needed == Carries::NONE || !lacking.has(needed)
    });
    kept.for_each(|mut entry| {
        if lacking.has(Carries::WAKERS) {
            entry.by = By::UNKNOWN;
        }
        copy.push(entry);
    });
    history.losses().iter().for_each(|loss| copy.loss(loss.clone()));
    copy.finish()
}
