//! Where tasks come to wait, encoded for solvers: what may be assumed of a waiting task.

use wastenot_rota::ir::Policy;
use wastenot_rota::ir::{
    Balance, Bool, Event, Level, Num, Place, Put, Set, Stmt, Visitor, visit_bool,
};
use wastenot_rota::syntax::Span;

use crate::encode::{Encoder, Names, NotEncoded};
use crate::smt::{Term, and, exists, implies, not, or};

/// A `put`, and what is known of the CPUs in its slots.
#[derive(Clone, Debug)]
pub struct Site<'p> {
    pub(super) event: Event,
    /// The statement.
    pub put: &'p Put,
    slots: Vec<Slot<'p>>,
    /// The CPUs that are kicked afterwards in every case.
    kicked: Vec<&'p Place>,
    /// The conditions on the path to it, and the value of each.
    given: Vec<(&'p Bool, bool)>,
}

/// What is known of a CPU in a slot.
#[derive(Clone, Copy, Debug)]
enum Slot<'p> {
    /// The task may run there.
    Allowed,
    /// It is in this place.
    In(&'p Place),
    /// Nothing.
    Nothing,
}

/// Every `put` of a policy.
pub fn sites(policy: &Policy) -> Vec<Site<'_>> {
    let mut found = Vec::new();
    for event in Event::ALL.into_iter().filter(|event| event.places()) {
        let mut slots = Vec::new();
        let mut way = Way { event, given: Vec::new() };
        block(&policy.handlers[event as usize], &mut way, &mut slots, &mut found, &[]);
    }
    found
}

/// The path of a handler to a statement.
struct Way<'p> {
    event: Event,
    given: Vec<(&'p Bool, bool)>,
}

/// `after`: the CPUs that are kicked after the block.
fn block<'p>(
    body: &'p [Stmt],
    way: &mut Way<'p>,
    slots: &mut Vec<Slot<'p>>,
    found: &mut Vec<Site<'p>>,
    after: &[&'p Place],
) {
    for (n, stmt) in body.iter().enumerate() {
        let kicked = || kicks(&body[n + 1..], after);
        match stmt {
            Stmt::Claim { slot, .. } => fill(slots, *slot, Slot::Allowed),
            Stmt::Pick { slot, set: Set::Allowed, .. } => fill(slots, *slot, Slot::Allowed),
            Stmt::Pick { slot, set: Set::In(place), .. } => fill(slots, *slot, Slot::In(place)),
            Stmt::Put(put) => {
                let (event, given) = (way.event, way.given.clone());
                found.push(Site { event, put, slots: slots.clone(), kicked: kicked(), given });
            }
            Stmt::If { condition, then, otherwise } => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    way.given.push((condition, holds));
                    block(branch, way, slots, found, &kicked());
                    way.given.pop();
                }
            }
            _ => {}
        }
    }
}

/// The CPUs that the rest of a block kicks, and those kicked after it, until a slot changes.
fn kicks<'p>(rest: &'p [Stmt], after: &[&'p Place]) -> Vec<&'p Place> {
    let finds =
        |stmt: &Stmt| !matches!(stmt, Stmt::SetTask(..) | Stmt::SetCpu { .. } | Stmt::Kick { .. });
    let plain = rest.iter().position(finds).unwrap_or(rest.len());
    let kicks = rest[..plain].iter().filter_map(|stmt| match stmt {
        Stmt::Kick { cpu, .. } => Some(cpu),
        _ => None,
    });
    let after = if plain == rest.len() { after } else { &[] };
    kicks.chain(after.iter().copied()).collect()
}

/// The conjuncts of a condition.
fn parts(condition: &Bool) -> Vec<&Bool> {
    match condition {
        Bool::And(a, b) => [parts(a), parts(b)].concat(),
        condition => vec![condition],
    }
}

/// Whether a condition reads nothing that the handler itself sets.
fn is_settled(condition: &Bool) -> bool {
    struct Asks(bool);
    impl Visitor for Asks {
        fn num(&mut self, num: &Num) {
            self.0 |= matches!(num, Num::TaskVar(_) | Num::Local(_));
        }
    }
    let mut asks = Asks(false);
    visit_bool(condition, &mut asks);
    !asks.0
}

fn fill<'p>(slots: &mut Vec<Slot<'p>>, slot: usize, with: Slot<'p>) {
    slots.resize(slots.len().max(slot + 1), Slot::Nothing);
    slots[slot] = with;
}

impl Site<'_> {
    /// What names stand for at this `put`, for a task that ran anywhere before. `called` makes the
    /// names of its CPUs differ from those of other sites.
    pub fn names(&self, encoder: &mut Encoder<'_>, called: &str) -> Names {
        let mut names = whereabouts(encoder, &format!(".{called}"));
        for (n, slot) in self.slots.iter().enumerate() {
            let cpu = encoder.cpu(&format!("slot.{called}.{n}"));
            let known = match slot {
                Slot::Allowed => Some(encoder.allowed(cpu.clone())),
                Slot::In(place) => encoder
                    .place(place, &names)
                    .ok()
                    .map(|(level, of)| encoder.same(level, of, cpu.clone())),
                Slot::Nothing => None,
            };
            known.into_iter().for_each(|known| {
                encoder.assert("The CPU that was found is one of the searched CPUs.", known);
            });
            names.slots.push(Some(cpu));
        }
        names
    }

    /// Asserts that the handler takes the path to this `put`: what names stand for there, and a CPU
    /// of the group into whose queue the task is put.
    ///
    /// # Errors
    /// That CPU cannot be encoded.
    pub(super) fn puts(&self, encoder: &mut Encoder<'_>) -> Result<(Names, Term), NotEncoded> {
        let names = self.names(encoder, "put");
        let given = self.given(encoder, &names);
        encoder.assert("The handler reaches this `put`.", given);
        let target = self.target(encoder, &names)?;
        Ok((names, target))
    }

    /// A CPU of the group into whose queue the task is put.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn target(&self, encoder: &mut Encoder<'_>, names: &Names) -> Result<Term, NotEncoded> {
        encoder.queue_cpu(&self.put.queue, names)
    }

    /// That the handler takes the path to this `put`, as far as it can be encoded. Each condition
    /// was evaluated at its own instant, before the task was put. Conditions on variables of tasks
    /// and on numbers named by `let` are left out: the handler may have set them in between.
    pub(crate) fn given(&self, encoder: &mut Encoder<'_>, names: &Names) -> Term {
        let names = Names { moment: ".put", ..names.clone() };
        let mut all = Vec::new();
        for (condition, holds) in &self.given {
            let conditions = if *holds { parts(condition) } else { vec![*condition] };
            for condition in conditions.into_iter().filter(|it| is_settled(it)) {
                if let Ok(asked) = encoder.apart(|encoder| encoder.bool(condition, &names)) {
                    all.push(if *holds { asked } else { not(asked) });
                }
            }
        }
        and(all)
    }

    /// Whether a CPU is kicked after this `put` in every case.
    pub(super) fn is_followed_by_kicks(&self) -> bool {
        !self.kicked.is_empty()
    }

    /// The CPUs that are kicked after this `put` in every case.
    pub(super) fn kicked(&self, encoder: &mut Encoder<'_>, names: &Names) -> Vec<Term> {
        let places = self.kicked.iter().filter_map(|place| encoder.place(place, names).ok());
        places.filter(|(level, _)| *level == Level::Cpu).map(|(_, cpu)| cpu).collect()
    }

    /// That this `put`, for the task of `names`, may choose the queue of the group of `cpu`, for
    /// some CPUs in its slots.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn may_put(
        &self,
        encoder: &mut Encoder<'_>,
        names: &Names,
        cpu: &Term,
    ) -> Result<Term, NotEncoded> {
        let mut names = Names { slots: Vec::new(), ..names.clone() };
        let found: Vec<String> = (0..self.slots.len()).map(|n| format!("found{n}")).collect();
        let mut known = Vec::new();
        for (slot, called) in self.slots.iter().zip(&found) {
            let cpu = crate::smt::name(called);
            known.push(match slot {
                Slot::Allowed => encoder.allowed(cpu.clone()),
                Slot::In(place) => {
                    let (level, of) = encoder.place(place, &names)?;
                    encoder.same(level, of, cpu.clone())
                }
                Slot::Nothing => Term::Bool(true),
            });
            names.slots.push(Some(cpu));
        }
        let target = self.target(encoder, &names)?;
        let per = encoder.policy().queues[self.put.queue.queue].per;
        known.push(encoder.same(per, target, cpu.clone()));
        let over = found.iter().map(|called| (called.as_str(), crate::encode::cpu_sort()));
        Ok(if found.is_empty() { and(known) } else { exists(over, and(known)) })
    }
}

/// The CPUs that a handler knows of a task: where the task ran last, its home, and where the
/// handler runs. Their names end in `called`.
pub(super) fn whereabouts(encoder: &mut Encoder<'_>, called: &str) -> Names {
    let prev = encoder.cpu(&format!("prev{called}"));
    let home = encoder.cpu(&format!("home{called}"));
    let (stays, able) = (encoder.allowed(prev.clone()), encoder.allowed(home.clone()));
    let stays = implies(stays, crate::smt::equal(home.clone(), prev.clone()));
    encoder.assert(
        "The home is the previous CPU if the task may run there, else some CPU where it may run.",
        stays,
    );
    encoder.assert("The task may run on its home.", able);
    let here = encoder.cpu(&format!("here{called}"));
    Names { prev: Some(prev), home: Some(home), here: Some(here), ..Names::default() }
}

/// A move of periodic balancing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// Which balance: its index.
    balance: usize,
    /// Into which queue.
    pub(super) queue: usize,
    pub(super) span: Span,
}

/// Every move of a policy.
pub(super) fn moves(policy: &Policy) -> Vec<Move> {
    let each = policy.periodic.iter().enumerate().filter_map(|(balance, periodic)| {
        let span = periodic.balance.spans.steal;
        periodic.balance.into.map(|queue| Move { balance, queue, span })
    });
    each.collect()
}

impl Move {
    /// A CPU of the group into whose queue the task is moved. Balancing moves only tasks that some
    /// CPU of the group may run: this is one of those CPUs.
    pub(super) fn target(&self, encoder: &mut Encoder<'_>) -> Term {
        let mover = encoder.cpu(&format!("mover.{}", self.balance));
        let able = encoder.allowed(mover.clone());
        encoder.assert("The task is moved to a CPU where it may run.", able);
        mover
    }
}

/// That the task may have come to wait in the queue of the group of `cpu`, through some `put` or
/// some move of periodic balancing. `None`: no task is ever put into such a queue.
pub(super) fn may_wait(encoder: &mut Encoder<'_>, queue: usize, cpu: &Term) -> Option<Term> {
    let policy = encoder.policy();
    let per = policy.queues[queue].per;
    let mut ways = Vec::new();
    for (n, site) in sites(policy).into_iter().enumerate() {
        if site.put.queue.queue != queue {
            continue;
        }
        let names = site.names(encoder, &n.to_string());
        let way = match site.target(encoder, &names) {
            Ok(target) => encoder.same(per, target, cpu.clone()),
            // A target that cannot be encoded may be any.
            Err(NotEncoded(_)) => Term::Bool(true),
        };
        let given = site.given(encoder, &names);
        ways.push(and([way, given]));
    }
    for moved in moves(policy).into_iter().filter(|moved| moved.queue == queue) {
        let target = moved.target(encoder);
        ways.push(encoder.same(per, target, cpu.clone()));
    }
    (!ways.is_empty()).then(|| or(ways))
}

/// Whether `me` takes from the queue of the group of `cpu` when it dispatches.
pub(super) fn takes(
    encoder: &mut Encoder<'_>,
    queue: usize,
    names: &Names,
    cpu: &Term,
) -> Result<Term, NotEncoded> {
    let policy = encoder.policy();
    let per = policy.queues[queue].per;
    let mut ways = Vec::new();
    for attempt in &policy.dispatch {
        if let wastenot_rota::ir::Attempt::Take(at, _) = attempt
            && at.queue == queue
        {
            let own = encoder.queue_cpu(at, names)?;
            ways.push(encoder.same(per, own, cpu.clone()));
        }
    }
    Ok(or(ways))
}

/// Whether the group of `cpu` is a candidate of `me` when it balances.
pub(super) fn candidate(
    encoder: &mut Encoder<'_>,
    queue: usize,
    names: &Names,
    cpu: &Term,
) -> Term {
    match encoder.policy().idle.as_ref().filter(|balance| balance.from == queue) {
        Some(balance) => candidate_of(encoder, balance, names, cpu),
        None => Term::Bool(false),
    }
}

/// Whether the group of `cpu` is a candidate of `me` in this balance of a policy with these queues.
pub fn candidate_of(
    encoder: &mut Encoder<'_>,
    balance: &Balance,
    names: &Names,
    cpu: &Term,
) -> Term {
    let policy = encoder.policy();
    let Some((_, me)) = names.me.clone() else { return Term::Bool(false) };
    let own = encoder.same(policy.queues[balance.from].per, me.clone(), cpu.clone());
    let within = balance.levels.iter();
    let within: Vec<Term> =
        within.map(|level| encoder.same(*level, me.clone(), cpu.clone())).collect();
    let mut all = vec![crate::smt::not(own), or(within)];
    if policy.protocol.groups_from_cpu0 {
        let sort = crate::encode::cpu_sort;
        encoder.function("sees", &[sort(), sort()], crate::smt::Sort::Bool);
        all.push(crate::smt::call("sees", [me, cpu.clone()]));
    }
    and(all)
}

/// Names in a balance: the idle CPU, and a CPU of the candidate.
pub fn taking(encoder: &mut Encoder<'_>, other: Level) -> (Names, Term, Term) {
    let (me, cpu) = (encoder.cpu("me"), encoder.cpu("v"));
    let names = Names {
        me: Some((Level::Cpu, me.clone())),
        other: Some((other, cpu.clone())),
        here: Some(me.clone()),
        ..Names::default()
    };
    (names, me, cpu)
}
