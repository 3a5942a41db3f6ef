//! Lives of a task on one CPU: with what numbers its handlers are called, one after the other.
//!
//! Nothing is made up: a life begins with `new`, the clock goes on, and the least key of a queue is
//! one with which such a task was put. There are many other lives.

use std::collections::BTreeSet;

use wastenot_rota::ir::Event;

use super::numbers::{Call, End, ends};
use super::step::Given;
use super::world::World;
use crate::text::Sets;

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
    /// No key of each queue is less any more.
    least: Vec<i64>,
    /// Its variables when it was queued, or started directly.
    queued: Vec<i64>,
    /// The queue into which it was put, and with what key.
    key: Option<(usize, i64)>,
    stops: usize,
    ticked: bool,
}

/// The key of a task that waits: since when, in which queue, and the key.
type Key = (i64, usize, i64);

/// Every call of a handler, with what it finds: those in which all variables of the task that
/// handlers set are equal, and so are the least keys of all queues, which is how they are told.
pub(super) fn lives(world: &World<'_>) -> Vec<Call> {
    let (mut keys, mut calls) = (BTreeSet::new(), Vec::new());
    // First as if it were alone, then beside those.
    for _ in 0..2 {
        let others: Vec<Key> = keys.iter().copied().collect();
        calls = led(world, &others, &mut keys);
    }
    calls
}

fn led(world: &World<'_>, keys: &[Key], met: &mut BTreeSet<Key>) -> Vec<Call> {
    let policy = world.policy;
    let sets = Sets::of(policy);
    let begun = |weight| Life {
        phase: Phase::Unborn,
        vars: policy.task_vars.iter().map(|var| var.value).collect(),
        cpu_vars: policy.cpu_vars.iter().map(|var| var.value).collect(),
        weight,
        now: 0,
        ran: 0,
        least: vec![0; policy.queues.len()],
        queued: policy.task_vars.iter().map(|var| var.value).collect(),
        key: None,
        stops: 0,
        ticked: false,
    };
    let mut now: BTreeSet<Life> = WEIGHTS.map(begun).into_iter().collect();
    let keyed = |queue: &usize| sets.fed[*queue] && policy.queues[*queue].key.is_some();
    let keyed: Vec<usize> = (0..policy.queues.len()).filter(keyed).collect();
    let (mut calls, mut known) = (Vec::new(), BTreeSet::new());
    while !now.is_empty() {
        let mut next = BTreeSet::new();
        for (life, event, after) in now.iter().flat_map(|life| {
            life.goes_on().into_iter().map(move |(event, after)| (life, event, after))
        }) {
            for leasts in after.leasts(event, keys, &keyed) {
                let values = life.vars.iter().zip(&sets.task).filter(|(_, set)| **set);
                let var = alike(values.map(|(value, _)| *value));
                let least = alike(keyed.iter().map(|queue| leasts[*queue]));
                let (ran, now, weight) = (after.ran, after.now, after.weight);
                let given = |var, least| Given { var, least, ran, now, weight };
                if let Some(given) = var.zip(least).map(|(var, least)| given(var, least)) {
                    let call = Call { event, given, risen: life.risen(event) };
                    if known.insert(call.clone()) {
                        calls.push(call);
                    }
                }
                let vars = (life.vars.clone(), life.cpu_vars.clone());
                for end in ends(world, event, vars, leasts.clone(), given(0, 0)) {
                    let life = Life { least: leasts.clone(), ..after.clone() }.ends(end, met);
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

/// What all numbers are, if they are equal; of none 0.
fn alike(mut numbers: impl Iterator<Item = i64>) -> Option<i64> {
    let first = numbers.next().unwrap_or(0);
    numbers.all(|number| number == first).then_some(first)
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
                let (event, mut life) = later(Event::Start, Phase::Runs, 0);
                // The task that is taken has the least key.
                if let Some((queue, key)) = self.key {
                    life.least[queue] = life.least[queue].max(key);
                }
                vec![(event, life)]
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

    /// The least keys of all queues: they never fall, and others have come by now.
    fn leasts(&self, event: Event, keys: &[Key], keyed: &[usize]) -> BTreeSet<Vec<i64>> {
        let mut leasts = BTreeSet::from([self.least.clone()]);
        for &queue in keyed.iter().filter(|_| event.places()) {
            let (now, least) = (self.now, self.least[queue]);
            let above = || {
                let met = keys.iter().filter(|(since, at, _)| *since <= now && *at == queue);
                met.map(|(.., key)| *key).filter(|key| *key > least)
            };
            for key in [above().min(), above().max()].into_iter().flatten() {
                let risen = leasts.clone().into_iter().map(|mut least| {
                    least[queue] = key;
                    least
                });
                leasts.extend(risen.collect::<Vec<_>>());
            }
        }
        leasts
    }

    fn risen(&self, event: Event) -> Vec<bool> {
        let vars = self.vars.iter().zip(&self.queued).filter(|_| event == Event::Stop);
        vars.map(|(now, queued)| now > queued).collect()
    }

    fn ends(self, end: End, met: &mut BTreeSet<Key>) -> Life {
        if let Some((queue, key)) = end.put {
            met.insert((self.now, queue, key));
        }
        let key = end.put.or(self.key);
        let queued = if self.phase == Phase::Waits { end.vars.clone() } else { self.queued };
        Life { vars: end.vars, cpu_vars: end.cpu_vars, key, queued, ..self }
    }
}
