//! One run of a genome under a scheduler, and what of it the oracle asks about.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wastenot_check::causes::LostTime;
use wastenot_check::{Movable, Scope, waste};
use wastenot_experiment::{Bench, Error, Sim};
use wastenot_model::{Observer, Phase, Silent, Span, State, TaskId, TaskState, Time, replay};
use wastenot_scenario::scenario::{Choice, Variant};
use wastenot_sim::{End, Options};

use crate::decisions::Decisions;
use crate::genome::{Genome, LIMIT};

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// How it ended.
    pub ended: Ended,
    /// How long it took, in simulated time.
    pub time_ns: u64,
    /// CPU time in which tasks ran.
    pub busy_ns: u64,
    /// CPU time that was idle while tasks that could have used it waited.
    pub waste_ns: u64,
    /// The longest stretch in which there was such a CPU all the time.
    pub longest_ns: u64,
    /// What of that each cause took; only those that took some.
    pub causes: Vec<Took>,
    /// The longest wait of a task.
    pub waited_ns: u64,
    /// How often a task was moved at most while it waited once.
    pub moves: u64,
    /// Of stretches in which a task ran or waited all the time, by length: the one with the least
    /// CPU time for its length.
    pub served: Vec<Served>,
    /// The jobs of sporadic tasks, under a real-time scheduler.
    pub jobs: Vec<Jobs>,
    /// The decisions that it shows, a bit for each kind ([`crate::decisions`]).
    pub decisions: u64,
}

impl Seen {
    /// The share of all jobs that were late.
    pub fn missed(&self) -> f64 {
        let sum = |of: fn(&Jobs) -> u64| self.jobs.iter().map(of).sum::<u64>();
        sum(|it| it.missed) as f64 / sum(|it| it.jobs).max(1) as f64
    }
}

/// What a cause took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// The cause, a path in the tree of causes.
    pub cause: String,
    /// CPU time.
    pub ns: u64,
    /// The longest stretch of one task's wait that it took.
    pub longest_ns: u64,
}

/// The CPU time that a task had while it ran or waited all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// How long it did.
    pub of_ns: u64,
    /// For how long of that it ran.
    pub ns: u64,
}

impl Served {
    /// What part of its length it ran.
    pub fn share(self) -> f64 {
        self.ns as f64 / self.of_ns.max(1) as f64
    }
}

/// The jobs of the tasks of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jobs {
    /// Their name.
    pub name: String,
    /// How many.
    pub jobs: u64,
    /// How many of them were late.
    pub missed: u64,
    /// The longest from a release until the job was complete.
    pub response_ns: u64,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// All that is waited for ended.
    #[default]
    Done,
    /// At the limit of simulated time.
    Limit,
    /// It cannot be told: the tasks waited for one another, or went on for ever.
    Never(String),
}

/// The scenario of a genome, read from its text as `wastenot run` reads it.
///
/// # Errors
/// It is refused, which is a fault of ours: a genome is one that runs.
pub fn variant(genome: &Genome, choice: &Choice) -> Result<Variant, wastenot_scenario::Error> {
    let text = genome.text(choice, "");
    let scenario = wastenot_scenario::scenario("genome.toml", &text)?;
    let variant = scenario.variants.into_iter().next();
    let mut variant = variant.unwrap_or_else(|| unreachable!("a scenario has a variant"));
    // Its policy and its profile were read before. What the genome sets of it stays.
    let Choice { text, profile, .. } = choice.clone();
    variant.scheduler = Choice { text, profile, ..variant.scheduler };
    Ok(variant)
}

/// Runs it, and looks at what happened.
///
/// # Errors
/// The scheduler cannot be made.
pub fn look(variant: &Variant, seed: u64) -> Result<Seen, Error> {
    let options = Options { name: "hunt".into(), seed, limit: Time(LIMIT.0), notes: false };
    let run = match Sim.run(variant, &options) {
        Ok(run) => run,
        Err(Error::Run { what, .. }) => {
            return Ok(Seen { ended: Ended::Never(what), ..Seen::default() });
        }
        Err(error) => return Err(error),
    };
    let history = &run.history;
    let options = wastenot_check::Options { limit: 0, ..Default::default() };
    let (scope, movable) = (Scope::new(history, &options), Movable::survey(history));
    let mut waste = waste::Waste::new(history, &scope, &movable, &options);
    let (mut waits, mut decisions) = (Waits::default(), Decisions::on(&history.head.machine));
    replay(history, Silent::Unknown, &mut (&mut waste, (&mut waits, &mut decisions)));
    let waste = waste.finish();
    let parts = waste.causes.iter().flat_map(|causes| causes.iter());
    let took = parts.map(|(cause, part)| Took {
        cause: cause.path.to_owned(),
        ns: part.ns[LostTime::Waste as usize],
        longest_ns: part.worst[LostTime::Waste as usize].map_or(0, |it| it.ns),
    });
    let deadlines = run.real_time.iter().flat_map(|it| &it.deadlines);
    let jobs = deadlines.map(|(name, of)| Jobs {
        name: name.clone(),
        jobs: of.jobs,
        missed: of.missed,
        response_ns: of.response_ns_max,
    });
    Ok(Seen {
        served: waits.served.values().copied().collect(),
        jobs: jobs.collect(),
        ended: if run.outcome.end == End::Done { Ended::Done } else { Ended::Limit },
        time_ns: run.outcome.time.0,
        busy_ns: waste.busy_ns,
        waste_ns: waste.cpu_ns,
        longest_ns: waste.longest_ns,
        causes: took.filter(|it| it.ns > 0).collect(),
        waited_ns: waits.longest.0,
        moves: waits.moves,
        decisions: decisions.seen,
    })
}

/// How long tasks wait, how often they are moved in that time, and what they get while they want to
/// run.
#[derive(Default)]
struct Waits {
    longest: Span,
    moves: u64,
    /// By task, where it wants to run.
    wanting: Vec<Option<Wanting>>,
    /// The least share, by the power of two of the length in ms.
    served: BTreeMap<u32, Served>,
}

/// A task that runs or waits all the time.
#[derive(Clone, Copy)]
struct Wanting {
    since: Time,
    /// How long it ran until it was seen last, and when that was.
    ran: Span,
    seen: Time,
}

/// The shortest stretch that is kept: in shorter ones tasks take turns.
const SHORTEST: Span = Span::ms(16);

impl Waits {
    fn see(&mut self, task: TaskId, was: &TaskState, now: Time, wants: bool) {
        if was.phase == Phase::Waiting {
            self.longest = self.longest.max(now - was.since);
            self.moves = self.moves.max(was.moves.into());
        }
        let Some(index) = task.index() else { return };
        if self.wanting.len() <= index {
            self.wanting.resize(index + 1, None);
        }
        let wanting = &mut self.wanting[index];
        if let Some(it) = wanting {
            if was.phase == Phase::Running {
                it.ran = it.ran + (now - it.seen);
            }
            it.seen = now;
        }
        if wants {
            wanting.get_or_insert(Wanting { since: now, ran: Span::ZERO, seen: now });
        } else if let Some(Wanting { since, ran, .. }) = wanting.take() {
            let seen = Served { of_ns: (now - since).0, ns: ran.0 };
            if seen.of_ns >= SHORTEST.0 {
                let least = self.served.entry((seen.of_ns / 1_000_000).ilog2()).or_insert(seen);
                if seen.share() < least.share() {
                    *least = seen;
                }
            }
        }
    }
}

impl Observer for Waits {
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        // A move does not end a wait.
        if (was.phase, now.phase) != (Phase::Waiting, Phase::Waiting) {
            let wants = matches!(now.phase, Phase::Running | Phase::Waiting);
            self.see(task, was, state.now(), wants);
        }
    }

    fn end(&mut self, state: &State) {
        for task in (0..state.task_count()).map(TaskId::nth) {
            self.see(task, &state.task(task), state.now(), false);
        }
    }
}
