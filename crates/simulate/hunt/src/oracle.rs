//! What is a finding: what a scheduler promises not to do.
//!
//! The same questions ([`losses`]) are asked of every scheduler; the intervals within which a
//! scheduler has to act are its own ([`Promise`]).
//!
//! Two are about the waste that each cause took in a run (`wastenot_check::causes`):
//!
//! - **Does it persist?** A CPU was idle, and all the time some task waited that it may run, for at
//!   least as long as the scheduler takes to look at every CPU. The loss is that of the cause of
//!   most of the waste of the run.
//! - **Does it recur?** The cause took at least [`RECURS`] of the CPU time that tasks used, at
//!   least [`TIMES`] times as much as it took of one task's wait, and there were at least as many
//!   stretches of waste: single losses may be short, but there is one after the other.
//!
//! Only causes within `scheduler` count: what affinities and quotas ask for is no loss of a
//! scheduler, and the tree of causes has it elsewhere. The others are about tasks:
//!
//! - **Is a wakeup lost?** A CPU was idle though a task was queued on it.
//! - **Does it starve?** A task waited for longer than it takes until every other one has had its
//!   turn, though all are alike.
//! - **Is it unfair?** A task that wanted to run all the time, for longer than balancing takes, got
//!   less than half of what each would get if all were spread evenly, though all are alike.
//! - **Does it storm?** A task was moved from queue to queue, again and again, while it waited
//!   and no task came or went.
//! - **Does it hang?** The run never ends, though no task spins and the work of every genome ends.
//! - **Does it miss deadlines?** Under a real-time scheduler, some job is late. This is all that is
//!   asked of one.
//!
//! A scheduler may be held against another one instead: then it is asked what is [`worse`].
//!
//! A loss of a run is only a candidate. It is a [finding](crate::finding) if it is there with three
//! seeds and disappears in a control.

use wastenot_check::causes::is_within;
use wastenot_experiment::{Claims, STEPS, claims, pace};
use wastenot_model::Span;
use wastenot_scenario::scenario::Choice;

use crate::genome::{Genome, is_real_time};
use crate::trial::{Ended, Seen, Took};

/// The share of the CPU time that tasks used from which on a loss recurs.
pub const RECURS: f64 = 0.05;
/// How many times as much as of one task's wait a loss takes that recurs, and how many stretches of
/// waste there are.
pub const TIMES: f64 = 20.0;
/// How much less than its share a task gets where it is unfair.
const UNFAIR: f64 = 2.0;
/// What stands for a cause where a loss is no waste: jobs are late, a task is queued on an idle
/// CPU, waits too long, gets too little, or is moved too often, or the run never ends.
pub const OTHERS: [&str; 6] = [LATE, LOST, STARVED, UNEQUAL, STORM, HANG];
/// See [`OTHERS`].
pub const LATE: &str = "deadline";
/// See [`OTHERS`].
pub const LOST: &str = "lost-wakeup";
/// See [`OTHERS`].
const STARVED: &str = "starvation";
/// See [`OTHERS`].
const UNEQUAL: &str = "unfairness";
/// See [`OTHERS`].
const STORM: &str = "storm";
/// See [`OTHERS`].
pub const HANG: &str = "hang";
/// The same where the work takes longer than under another scheduler.
pub(crate) const SLOWER_WORK: &str = "slower";
/// By how much longer a run takes that is worse.
pub const SLOWER: f64 = 0.1;
/// A cause persists only if it took at least this part of the waste.
const MOST: f64 = 0.5;

/// A loss of one run, by one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss<'s> {
    /// The cause, a path in the tree.
    pub cause: &'s str,
    /// Which it is.
    pub kind: Kind,
    /// Of waste, what it took of the CPU time that tasks used; of unfairness, the part of its time
    /// that the task ran; of deadlines, the part of the jobs that was late; where it is worse, how
    /// much more of that; else 0.
    pub share: f64,
    /// If it persists, the longest stretch in which a CPU was overlooked; if it recurs, the longest
    /// that it kept one task waiting; of tasks, the longest wait.
    pub longest: Span,
    /// How much it is: from 1 on it is a candidate.
    pub grade: f64,
}

/// How a loss breaks a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A CPU is overlooked for longer than the scheduler's own intervals.
    Persists,
    /// It happens again and again.
    Recurs,
    /// A CPU sleeps though a task is queued on it.
    Sleeps,
    /// A task waits too long for its turn.
    Starves,
    /// A waiting task is moved again and again.
    Storms,
    /// A task gets less than half of its share.
    Unfair,
    /// The run never ends.
    Hangs,
    /// A job is late.
    Misses,
    /// It takes longer, or wastes more, than under another scheduler.
    Worse,
}

impl Kind {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Persists => "persists",
            Kind::Recurs => "recurs",
            Kind::Sleeps => "is lost",
            Kind::Starves => "starves",
            Kind::Storms => "storms",
            Kind::Unfair => "is unfair",
            Kind::Hangs => "hangs",
            Kind::Misses => "misses deadlines",
            Kind::Worse => "is worse",
        }
    }

    /// Whether it is about waste, by its cause.
    pub fn is_waste(self) -> bool {
        matches!(self, Kind::Persists | Kind::Recurs)
    }
}

/// A scheduler, and within what time it has to act.
#[derive(Clone, Debug)]
pub struct Promise {
    /// The scheduler. Decisions of a policy in Rota take steps.
    pub choice: Choice,
    /// The scheduler that it must not be worse than: then nothing else is asked.
    pub against: Option<Choice>,
    family: Family,
}

#[derive(Clone, Copy, Debug)]
enum Family {
    /// CFS and EEVDF of Linux.
    Linux,
    /// One queue for all CPUs: a CPU that becomes idle takes from it.
    OneQueue,
    /// A policy in Rota: what it claims, and how long the longest step of a decision takes.
    Policy(Claims, Span),
    /// It schedules sporadic tasks.
    RealTime,
    Other,
}

/// How long the longest step of a decision of a policy takes, unless `steps` is set.
const STEP: Span = Span::us(5);
/// The shortest wait of a task that is held against a policy: other paths of the CPU, as wakeups by
/// its timers, come between.
const SHORTEST: Span = Span::us(500);
/// So often a task may be moved while it waits. Where balancing settles, the queue that it comes to
/// is no longer than others, so it is moved again only if others come.
const MOVES: u64 = 20;

impl Promise {
    /// That of a scheduler, which may be held against another one.
    pub fn of(mut choice: Choice, mut against: Option<Choice>) -> Promise {
        for it in [Some(&mut choice), against.as_mut()].into_iter().flatten() {
            if it.text.is_some() && !it.tunables.iter().any(|(name, _)| name == STEPS) {
                it.tunables.push((STEPS.to_owned(), STEP.exact()));
            }
        }
        let family = match claims(&choice) {
            Some(claims) => {
                // A wrong one is refused when it runs.
                let step = pace(&choice).ok().flatten().map_or(STEP, |pace| pace.most);
                Family::Policy(claims, step)
            }
            None => match &*choice.name {
                name if name.starts_with("cfs-") || name.starts_with("eevdf-") => Family::Linux,
                "global-fifo" | "work-conserving" | "linux-2.4" => Family::OneQueue,
                _ if is_real_time(&choice) => Family::RealTime,
                _ => Family::Other,
            },
        };
        Promise { choice, against, family }
    }

    /// How long a CPU may be idle while tasks wait elsewhere that it may run, by the intervals of
    /// the scheduler itself, on the machine of a genome; `None` where no such interval is known.
    ///
    /// Linux, CFS and EEVDF: an idle CPU balances each domain at least every 2 ms times the number
    /// of its CPUs (`sd->max_interval`, kernel/sched/topology.c), rounded up to ticks. The widest
    /// has all CPUs. Where all tasks that it saw were bound to other CPUs, it waits for up to twice
    /// `MAX_PINNED_INTERVAL` of 512 ms. A task that is cache-hot is taken after three failed
    /// passes at most (`cache_nice_tries`), and a running one is pushed away after two more
    /// (`need_active_balance`, kernel/sched/fair.c).
    ///
    /// Policies in Rota, if they claim so: an idle CPU has to look again only as often as another
    /// CPU was faster (`rounds(<= idle_cpus)`, docs/explain/proofs.md), and each time it has to be
    /// kicked, and reads and tries every queue once. Before it looks it may have to put every task,
    /// as where all are woken there at once.
    fn idle(&self, genome: &Genome) -> Option<Span> {
        const PASSES: u64 = 5;
        /// Steps of a put: inserting, claiming a CPU, kicking it.
        const PUT: u64 = 4;
        let cpus = genome.machine().cpus() as u64;
        match self.family {
            Family::Linux => {
                let pass = if genome.is_bound() { 1024 } else { 2 * cpus };
                Some(Span::ms(PASSES * pass.next_multiple_of(self.tick_ms(genome))))
            }
            Family::OneQueue => Some(Span::ms(1)),
            Family::Policy(claims, step) => {
                let attempt = (2 * cpus + 8) * step.0 + genome.kick().0;
                let puts = genome.all_tasks() as u64 * PUT * step.0;
                claims.conserves.then(|| Span((cpus + 1) * attempt + puts).max(SHORTEST))
            }
            Family::RealTime | Family::Other => None,
        }
    }

    /// How long a CPU may be idle though a task is queued on it: it was told at once, if late. A
    /// policy in Rota may have left the task for others that look.
    fn asleep(&self, genome: &Genome) -> Option<Span> {
        match self.family {
            Family::Linux | Family::OneQueue => Some(Span::ms(1) + genome.kick()),
            _ => self.idle(genome),
        }
    }

    /// Whether it is a policy in Rota. Its waste needs no price, since it claims not to waste; and
    /// it claims nothing of short losses that recur, as the steps of its decisions take time.
    pub(crate) fn is_claimed(&self) -> bool {
        matches!(self.family, Family::Policy(..))
    }

    /// How far one task may be ahead of another one on the queue of a CPU, though both are alike.
    ///
    /// Ticks decide when a task has run for long enough. CFS (kernel/sched/fair.c before 6.6): a
    /// new task begins up to a latency of 24 ms behind the others (`START_DEBIT`), and a woken one
    /// up to half of that before them (`GENTLE_FAIR_SLEEPERS`). EEVDF: the lag of a task is at most
    /// a slice and a tick (`entity_lag`), to either side.
    fn ahead(&self, genome: &Genome) -> Option<Span> {
        const LATENCY_MS: u64 = 24;
        const SLICE_MS: u64 = 3;
        let tick_ms = self.tick_ms(genome);
        let queue = self.choice.tunables.iter().find(|(name, _)| name == "queue");
        let is_eevdf = queue.map_or(self.choice.name.starts_with("eevdf-"), |it| it.1 == "eevdf");
        let ahead = match is_eevdf {
            true => 2 * (SLICE_MS + tick_ms),
            false => LATENCY_MS + LATENCY_MS / 2 + tick_ms,
        };
        matches!(self.family, Family::Linux).then(|| Span::ms(ahead))
    }

    /// How long a task may wait for its turn, among tasks that are alike, were all on one CPU.
    fn turn(&self, genome: &Genome) -> Option<Span> {
        self.ahead(genome).map(|it| Span(it.0 * genome.all_tasks() as u64))
    }

    /// In what time tasks that are alike get what they are due, if they are spread evenly, so many
    /// on a CPU: for Linux twice what balancing takes ([`Promise::idle`]), and four turns.
    fn spread(&self, genome: &Genome, each: usize) -> Option<Span> {
        let (idle, ahead) = (self.idle(genome)?, self.ahead(genome)?);
        Some(Span(2 * idle.0 + 4 * ahead.0 * each as u64))
    }

    /// How long a tick is, where it is set: 4 ms unless the scheduler or the genome has another.
    fn tick_ms(&self, genome: &Genome) -> u64 {
        let set = self.choice.tunables.iter().chain(genome.tuned());
        let hz = set.into_iter().find(|(name, _)| name == "hz");
        hz.and_then(|(_, hz)| hz.parse().ok()).map_or(4, |hz: u64| 1000 / hz.max(1))
    }

    /// How often a task may be moved while it waits and no task comes or goes.
    fn moves(&self) -> Option<u64> {
        match self.family {
            Family::Policy(Claims { settles: true, .. }, _) | Family::Linux => Some(MOVES),
            _ => None,
        }
    }
}

/// What is asked of a run: its losses, or, if the scheduler is held against another one under which
/// the same work shows `than`, what is worse. The greatest comes first.
pub(crate) fn asked<'s>(
    seen: &'s Seen,
    than: Option<&Seen>,
    genome: &Genome,
    promise: &Promise,
) -> Vec<Loss<'s>> {
    match than {
        Some(than) => worse(seen, than),
        None => losses(seen, genome, promise),
    }
}

/// The losses of a run, the greatest first.
pub fn losses<'s>(seen: &'s Seen, genome: &Genome, promise: &Promise) -> Vec<Loss<'s>> {
    let other = |kind: Kind, cause, (is, most): (u64, u64)| {
        let grade = is as f64 / most.max(1) as f64;
        let is_time = matches!(kind, Kind::Starves | Kind::Sleeps);
        let longest = if is_time { Span(is) } else { Span::ZERO };
        Loss { cause, kind, share: 0.0, longest, grade }
    };
    match seen.ended {
        Ended::Never(_) if genome.spins() => return Vec::new(),
        Ended::Never(_) | Ended::Fault(_) => return vec![other(Kind::Hangs, HANG, (1, 1))],
        Ended::Done | Ended::Limit => {}
    }
    if matches!(promise.family, Family::RealTime) {
        return late(seen, genome).into_iter().collect();
    }
    let mut all = wasted(seen, genome, promise);
    // A task that comes to a CPU on which the quota of its group is used up is not told apart.
    let asleep = promise.asleep(genome).filter(|_| !genome.has_quotas());
    all.extend(asleep.map(|most| other(Kind::Sleeps, LOST, (seen.asleep_ns, most.0))));
    let turn = promise.turn(genome).filter(|_| genome.is_alike());
    all.extend(turn.map(|most| other(Kind::Starves, STARVED, (seen.waited_ns, most.0))));
    if genome.is_alike() && !genome.is_bound() && !genome.yields() {
        all.extend(unfair(seen, genome, promise));
    }
    all.extend(promise.moves().map(|most| other(Kind::Storms, STORM, (seen.moves, most))));
    sorted(all)
}

/// Those that are any, the greatest first.
fn sorted(mut all: Vec<Loss<'_>>) -> Vec<Loss<'_>> {
    all.retain(|it| it.grade > 0.0);
    all.sort_by(|a, b| b.grade.total_cmp(&a.grade).then_with(|| a.cause.cmp(b.cause)));
    all
}

/// What each cause within `scheduler` took.
fn wasted<'s>(seen: &'s Seen, genome: &Genome, promise: &Promise) -> Vec<Loss<'s>> {
    let bound = promise.idle(genome);
    let of_scheduler = seen.causes.iter().filter(|it| is_within(&it.cause, "scheduler"));
    let loss = |took: &'s Took| {
        let part = took.ns as f64 / seen.waste_ns.max(1) as f64;
        let bound = bound.filter(|_| part >= MOST);
        let persists = bound.map_or(0.0, |it| seen.overlooked_ns as f64 / it.0.max(1) as f64);
        let share = part * seen.wasted();
        let times = took.ns as f64 / took.longest_ns.max(1) as f64;
        let times = times.min(seen.stretches as f64);
        // Both have to be: how far it is from that is the lesser of the two.
        let recurs = (share / RECURS).min(times / TIMES);
        let recurs = if promise.is_claimed() { 0.0 } else { recurs };
        let (kind, longest) = match persists >= recurs {
            true => (Kind::Persists, Span(seen.overlooked_ns)),
            false => (Kind::Recurs, Span(took.longest_ns)),
        };
        Loss { cause: &took.cause, kind, share, longest, grade: persists.max(recurs) }
    };
    of_scheduler.map(loss).collect()
}

/// The task that got least of its share, of those that wanted to run for long.
fn unfair<'s>(seen: &Seen, genome: &Genome, promise: &Promise) -> Option<Loss<'s>> {
    // Some CPUs may be off.
    let cpus = genome.machine().cpus().saturating_sub(genome.toggles()).max(1);
    let each = genome.all_tasks().div_ceil(cpus);
    let least = promise.spread(genome, each)?;
    let long = seen.served.iter().filter(|it| it.of_ns >= least.0);
    let it = long.min_by(|a, b| a.share().total_cmp(&b.share()))?;
    Some(Loss {
        cause: UNEQUAL,
        kind: Kind::Unfair,
        share: it.share(),
        longest: Span(it.of_ns),
        grade: 1.0 / each as f64 / it.share().max(1e-9) / UNFAIR,
    })
}

/// How late the latest job was: from 1 on it was late. Where none was, how near it came.
fn late<'s>(seen: &Seen, genome: &Genome) -> Option<Loss<'s>> {
    let near = seen.jobs.iter().map(|it| {
        let period_ns = genome.period_ns(&it.name).unwrap_or(u64::MAX);
        let near = it.response_ns as f64 / period_ns as f64;
        if it.missed > 0 { near.max(1.0) } else { near.min(0.999) }
    });
    let grade = near.fold(0.0, f64::max);
    let share = seen.missed();
    let loss = Loss { cause: LATE, kind: Kind::Misses, share, longest: Span::ZERO, grade };
    (grade > 0.0).then_some(loss)
}

/// In what a run is worse than the same work under another scheduler, the greatest first: it takes
/// at least [`SLOWER`] longer, or at least [`RECURS`] more of the CPU time used is wasted, and by a
/// cause that takes so much more. Waste that only has another cause than before is not worse.
pub fn worse<'s>(seen: &'s Seen, than: &Seen) -> Vec<Loss<'s>> {
    let kind = Kind::Worse;
    if !than.is_sound() {
        return Vec::new();
    }
    if !seen.is_sound() {
        return vec![Loss { cause: HANG, kind, share: 0.0, longest: Span::ZERO, grade: 1.0 }];
    }
    let more = seen.wasted() - than.wasted();
    let causes = seen.causes.iter().filter(|it| is_within(&it.cause, "scheduler"));
    let mut all: Vec<Loss<'_>> = causes
        .map(|took| {
            let other = than.causes.iter().find(|it| it.cause == took.cause);
            let share = |ns: u64, of: &Seen| ns as f64 / of.busy_ns.max(1) as f64;
            let share = share(took.ns, seen) - other.map_or(0.0, |it| share(it.ns, than));
            let share = share.min(more);
            let longest = Span(took.longest_ns);
            Loss { cause: &took.cause, kind, share, longest, grade: share / RECURS }
        })
        .collect();
    let share = seen.missed() - than.missed();
    all.push(Loss { cause: LATE, kind, share, longest: Span::ZERO, grade: share / RECURS });
    if than.ended == Ended::Done {
        let share = seen.time_ns as f64 / than.time_ns.max(1) as f64 - 1.0;
        let longest = Span(seen.time_ns.saturating_sub(than.time_ns));
        all.push(Loss { cause: SLOWER_WORK, kind, share, longest, grade: share / SLOWER });
    }
    sorted(all)
}
