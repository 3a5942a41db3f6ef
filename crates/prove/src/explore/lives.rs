//! Lives of a task on one CPU: with what numbers its handlers are called, one after the other.
//!
//! Nothing is made up: a life begins with `new`, the clock goes on, and the least key of a queue is
//! one with which such a task was put. There are many other lives.

use std::collections::BTreeSet;

use wastenot_rota::ir::Event;

use super::keys::{End, Given, ends, set};
use super::situation::World;

/// How long it runs, in ns: around the sizes of slices and lags, and very long.
const RUNS: [i64; 4] = [1, 999_999, 5_000_000, 1_000_000_000_000_000];
/// How long it sleeps, and when it comes, in ns.
const SLEEPS: [i64; 3] = [0, 5_000_000, 1 << 51];
/// Weights that are tried.
const WEIGHTS: [i64; 3] = [100, 1, 10_000];
/// It runs so many times.
const STOPS: usize = 2;
/// Lives that are led, at once.
const MOST: usize = 5_000;

/// Where a life is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Unborn,
    Waits,
    Runs,
    Stopped,
    Away,
}

/// A life, as far as it was led.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Life {
    phase: Phase,
    vars: Vec<i64>,
    cpu_vars: Vec<i64>,
    weight: i64,
    now: i64,
    /// For how long it ran.
    ran: i64,
    /// No key of its queue is less any more.
    least: i64,
    /// The key with which it was put.
    key: i64,
    stops: usize,
    ticked: bool,
}

/// Keys of tasks that wait, and since when.
type Keys = BTreeSet<(i64, i64)>;

/// Every call of a handler, with what it finds: those in which all variables of the task that
/// handlers set are equal, which is how they are told.
pub(super) fn lives(world: &World<'_>) -> Vec<(Event, Given)> {
    let (mut keys, mut calls) = (Keys::new(), Vec::new());
    // First as if it were alone, then beside those.
    for _ in 0..2 {
        let mut met = Keys::new();
        calls = led(world, &keys, &mut met);
        keys.extend(met);
    }
    calls
}

fn led(world: &World<'_>, keys: &Keys, met: &mut Keys) -> Vec<(Event, Given)> {
    let policy = world.policy;
    let (set, _) = set(policy);
    let begun = |weight| Life {
        phase: Phase::Unborn,
        vars: policy.task_vars.iter().map(|var| var.value).collect(),
        cpu_vars: policy.cpu_vars.iter().map(|var| var.value).collect(),
        weight,
        now: 0,
        ran: 0,
        least: 0,
        key: 0,
        stops: 0,
        ticked: false,
    };
    let mut now: BTreeSet<Life> = WEIGHTS.map(begun).into_iter().collect();
    let (mut calls, mut known) = (Vec::new(), BTreeSet::new());
    while !now.is_empty() {
        let mut next = BTreeSet::new();
        for (life, event, after) in now.iter().flat_map(|life| {
            life.goes_on().into_iter().map(move |(event, after)| (life, event, after))
        }) {
            for least in after.leasts(event, keys) {
                let mut values = life.vars.iter().zip(&set).filter(|(_, set)| **set);
                let var = values.next().map_or(0, |(value, _)| *value);
                let alike = values.all(|(value, _)| *value == var);
                let (ran, now, weight) = (after.ran, after.now, after.weight);
                let given = Given { var, least, ran, now, weight };
                if alike && known.insert((event, given)) {
                    calls.push((event, given));
                }
                let vars = (life.vars.clone(), life.cpu_vars.clone());
                for end in ends(world, event, vars, given) {
                    let life = Life { least, ..after.clone() }.ends(end, met);
                    if next.len() < MOST {
                        next.insert(life);
                    }
                }
            }
        }
        now = next;
    }
    calls
}

impl Life {
    /// What may happen next, and what it is like when the handler is called.
    fn goes_on(&self) -> Vec<(Event, Life)> {
        let later = |event, phase, by: i64| {
            (event, Life { phase, now: self.now.saturating_add(by), ran: 0, ..self.clone() })
        };
        match self.phase {
            Phase::Unborn => SLEEPS.map(|by| later(Event::New, Phase::Waits, by)).to_vec(),
            Phase::Waits if self.stops == STOPS => Vec::new(),
            Phase::Waits => {
                let (event, life) = later(Event::Start, Phase::Runs, 0);
                // Whoever is taken has the least key.
                vec![(event, Life { least: self.least.max(self.key), ..life })]
            }
            Phase::Runs => {
                let stops = RUNS.map(|ran| {
                    let (event, life) = later(Event::Stop, Phase::Stopped, ran);
                    (event, Life { ran, stops: self.stops + 1, ticked: false, ..life })
                });
                // A second tick finds no more than the first.
                let ticks = (!self.ticked).then(|| {
                    let (event, life) = later(Event::Tick, Phase::Runs, 0);
                    (event, Life { ticked: true, ..life })
                });
                stops.into_iter().chain(ticks).collect()
            }
            Phase::Stopped => vec![
                later(Event::Preempt, Phase::Waits, 0),
                later(Event::Yield, Phase::Waits, 0),
                later(Event::Block, Phase::Away, 0),
            ],
            Phase::Away => SLEEPS.map(|by| later(Event::Wake, Phase::Waits, by)).to_vec(),
        }
    }

    /// The least key of its queue: it never falls, and others have come by now.
    fn leasts(&self, event: Event, keys: &Keys) -> BTreeSet<i64> {
        let mut leasts = BTreeSet::from([self.least]);
        if event.places() {
            let met = || keys.iter().filter(|(since, _)| *since <= self.now);
            let above = || met().map(|(_, key)| *key).filter(|key| *key > self.least);
            leasts.extend([above().min(), above().max()].into_iter().flatten());
        }
        leasts
    }

    fn ends(self, end: End, met: &mut Keys) -> Life {
        if let Some(key) = end.put {
            met.insert((self.now, key));
        }
        let key = end.put.unwrap_or(self.key);
        Life { vars: end.vars, cpu_vars: end.cpu_vars, key, ..self }
    }
}
