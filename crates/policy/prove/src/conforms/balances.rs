//! Attempts and regular balances: where they look, which candidates the filter passes, which one
//! they choose, and what they move.
//!
//! A scan reads without locks, one queue after the other, at some moment between the step before
//! and its choice. So a filter is evaluated over all that a queue may have held meanwhile, and a
//! choice is refused only if it is wrong whatever was read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{At, Frame, Leaf, Look};
use wastenot_rota::ir::{Attempt, Balance, Bool, Choose, Level, Num};
use wastenot_rota::step_log::{QueueNumber, Step, What};

use super::model::{Model, Part, is_around};
use super::stays::{Stay, Stays};
use super::{Conformance, Rule};
use crate::explore::range::{Range, Ranges};

/// Checks each attempt and each regular balance.
pub(super) fn check(model: &Model<'_>, steps: &[Step], stays: &Stays, found: &mut Conformance) {
    let mut waits: HashMap<QueueNumber, Vec<&Stay>> = HashMap::new();
    let mut taken: HashMap<usize, &Stay> = HashMap::new();
    for stay in &stays.all {
        waits.entry(stay.queue).or_default().push(stay);
        if let Some((at, _)) = stay.taken {
            taken.insert(at, stay);
        }
    }
    let mut before: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        if is_between(step.what) {
            continue;
        }
        let inner = before.entry(step.cpu).or_default();
        if !matches!(step.what, What::Attempt | What::Regular) {
            inner.push(at);
            continue;
        }
        let mut inner = std::mem::take(inner);
        inner.retain(|n| steps[*n].begin > step.begin);
        let Some(cpu) = step.to else { continue };
        let (part, balance, me) = match step.what {
            What::Attempt => {
                let Some(part) = model.of_cpu(cpu) else { continue };
                looks(part, steps, at, &inner, found);
                let balances = part.policy.dispatch.contains(&Attempt::Balance);
                let Some(idle) = part.policy.idle.as_ref().filter(|_| balances) else { continue };
                if step.queue == 1 {
                    continue;
                }
                (part, idle, Level::Cpu)
            }
            _ => {
                let Some((part, periodic)) = model.regular(step.queue) else { continue };
                leads(part, periodic.leader, cpu, at, found);
                (part, &periodic.balance, part.policy.queues[periodic.balance.from].per)
            }
        };
        let tree = &part.tree;
        if !tree.has(CpuId(cpu)) {
            continue;
        }
        let me = At { level: me, group: tree.group(me, CpuId(cpu)) };
        let regular = step.what == What::Regular;
        let view = View { part, waits: &waits, from: 0, until: 0 };
        Replay { model, steps, taken: &taken, view, balance, me, cpu, regular, found }
            .run(at, &inner);
    }
}

/// Steps that can come on a CPU between those of a regular balance: a timer can be interrupted, and
/// the balance wakes CPUs itself.
fn is_between(what: What) -> bool {
    use What::{Claim, Early, Find, In, Kick, Leave, Left, Mask, Place, Put, Run};
    matches!(what, Mask | Place | Put | In | Early | Find | Claim | Kick | Run | Leave | Left)
}

/// Only the lowest CPU of each group of the level balances.
fn leads(part: &Part<'_>, leader: Option<Level>, cpu: u16, at: usize, found: &mut Conformance) {
    let Some(level) = leader.filter(|_| part.tree.has(CpuId(cpu))) else { return };
    let group = part.tree.group(level, CpuId(cpu));
    let wrong = part.tree.members(level, group)[0] != CpuId(cpu);
    let why = || format!("CPU {cpu} balances, but it is not the leader of its {}", level.name());
    found.judge(Rule::Select, at, wrong.then(why));
}

/// An attempt looks where its text says, in that order, and leaves out nothing before it fails.
fn looks(part: &Part<'_>, steps: &[Step], at: usize, inner: &[usize], found: &mut Conformance) {
    let attempt = &steps[at];
    let dispatch = &part.policy.dispatch;
    let cpu = attempt.to.unwrap_or(attempt.cpu);
    let index = |step: &Step| {
        let queue = QueueNumber::of(step.queue);
        let kind = part.kind(queue)?;
        let per = part.policy.queues[kind].per;
        let own = match queue.pinned {
            true => queue.group == usize::from(cpu),
            false => part.group(queue.group, per) == Some(part.tree.group(per, CpuId(cpu))),
        };
        let is = |it: &Attempt| match it {
            Attempt::Take(place, _) => place.queue == kind && is_around(&place.at, per) && own,
            Attempt::Balance => false,
        };
        dispatch.iter().position(is)
    };
    let balance = dispatch.iter().position(|it| *it == Attempt::Balance);
    let plain = |it: &Attempt| match it {
        Attempt::Take(place, _) => is_around(&place.at, part.policy.queues[place.queue].per),
        Attempt::Balance => true,
    };
    if !part.tree.has(CpuId(cpu)) || !dispatch.iter().all(plain) {
        return;
    }
    let (mut next, mut looked) = (0, BTreeSet::new());
    for step in inner.iter().map(|n| &steps[*n]) {
        let place = match step.what {
            What::Take => index(step),
            What::Select | What::Steal => balance,
            _ => continue,
        };
        let Some(place) = place else {
            let why = format!("CPU {cpu} looks for a task in a queue that is not in the policy");
            return found.judge(Rule::Look, at, Some(why));
        };
        if place < next || (next..place).any(|n| Some(n) != balance && !looked.contains(&n)) {
            let why = format!("CPU {cpu} does not look into the queues in the order of the policy");
            return found.judge(Rule::Look, at, Some(why));
        }
        looked.insert(place);
        next = place;
    }
    let missed = (0..dispatch.len()).any(|n| Some(n) != balance && !looked.contains(&n));
    let why = || format!("CPU {cpu} skips a queue of the policy in an attempt that finds no task");
    found.judge(Rule::Look, at, (attempt.value == 0 && missed).then(why));
}

/// What a scan may have read between two moments.
#[derive(Clone, Copy)]
struct View<'a> {
    part: &'a Part<'a>,
    waits: &'a HashMap<QueueNumber, Vec<&'a Stay>>,
    from: u64,
    until: u64,
}

impl<'a> View<'a> {
    fn within(self, from: u64, until: u64) -> View<'a> {
        View { from, until, ..self }
    }

    /// The tasks that may have been in a queue.
    fn stays(&self, queue: usize, group: usize) -> impl Iterator<Item = &'a Stay> {
        let number = self.part.number_of(queue, group);
        let all = number.and_then(|it| self.waits.get(&it)).map_or(&[][..], |it| &it[..]);
        let (from, until) = (self.from, self.until);
        all.iter().copied().filter(move |it| it.from < until && it.gone > from)
    }
}

impl Look for View<'_> {
    type Domain = Ranges;

    fn tree(&self) -> &Tree {
        &self.part.tree
    }

    fn allowed(&self, _: CpuId) -> bool {
        true
    }

    fn read(&self, leaf: Leaf) -> Range {
        match leaf {
            Leaf::Queued(queue, group) => {
                let surely = self.stays(queue, group).filter(|it| it.covers(self.from, self.until));
                let (least, most) = (surely.count(), self.stays(queue, group).count());
                Range { least: least as i64, most: most as i64 }
            }
            Leaf::Running(_) => Range { least: 0, most: 1 },
            Leaf::QueuedWeight(..) | Leaf::RunningWeight(_) | Leaf::Job => Range::COUNT,
            _ => Range::ANY,
        }
    }
}

/// A candidate that was chosen last, and what came of it.
struct Chosen {
    group: usize,
    level: usize,
    moves: i64,
    /// At least and at most so many may be moved.
    least: i64,
    most: i64,
}

/// The replay of one balance.
struct Replay<'a, 'f> {
    model: &'a Model<'a>,
    steps: &'a [Step],
    taken: &'a HashMap<usize, &'a Stay>,
    view: View<'a>,
    balance: &'a Balance,
    me: At,
    cpu: u16,
    regular: bool,
    found: &'f mut Conformance,
}

impl Replay<'_, '_> {
    fn run(&mut self, at: usize, inner: &[usize]) {
        let whole = &self.steps[at];
        let (mut since, mut tried) = (whole.begin, BTreeSet::new());
        let mut last: Option<Chosen> = None;
        for &n in inner {
            let step = &self.steps[n];
            let wrong = match step.what {
                // What a failed move leaves in the log.
                What::Select if step.begin != step.end => continue,
                What::Select => {
                    let more = last.as_ref().and_then(|it| self.left(it, since, step.end));
                    let (chosen, wrong) = self.select(step, since, &tried, last.as_ref());
                    tried.insert(chosen.group);
                    last = Some(chosen);
                    more.or(wrong)
                }
                What::Steal => last.as_ref().and_then(|it| self.steal(step, it)),
                What::Move => last.as_mut().and_then(|it| self.moved(n, since, it)),
                _ => None,
            };
            if matches!(step.what, What::Select | What::Steal | What::Move) {
                self.found.judge(Rule::Select, n, wrong);
            }
            since = step.end;
        }
        let wrong = match &last {
            Some(it) if it.moves > 0 => self.left(it, since, whole.end),
            _ if whole.value == 1 => None,
            _ => {
                let more = last.as_ref().and_then(|it| self.left(it, since, whole.end));
                more.or_else(|| self.ends(since, whole.end, &tried, last.as_ref()))
            }
        };
        self.found.judge(Rule::Select, at, wrong);
    }

    fn frame(&self, group: usize) -> Frame<Ranges> {
        let policy = self.view.part.policy;
        let mut frame = Frame::new(policy.params.iter().map(|it| it.value).collect());
        let level = policy.queues[self.balance.from].per;
        (frame.me, frame.other) = (Some(self.me), Some(At { level, group }));
        frame.here = Some(CpuId(self.cpu));
        frame
    }

    fn per(&self) -> Vec<Level> {
        self.view.part.policy.queues.iter().map(|it| it.per).collect()
    }

    fn passes(&self, view: &View<'_>, group: usize, condition: &Bool) -> Option<bool> {
        self.frame(group).bool(view, &self.per(), condition)
    }

    fn number(&self, view: &View<'_>, group: usize, number: &Num) -> Range {
        self.frame(group).num(view, &self.per(), number)
    }

    /// The candidates of the `n`th level.
    fn victims(&self, n: usize) -> Vec<usize> {
        let per = self.view.part.policy.queues[self.balance.from].per;
        self.view.part.tree.victims(CpuId(self.cpu), per, &self.balance.levels, n).collect()
    }

    /// A candidate in words.
    fn name(&self, group: usize) -> String {
        let number = self.view.part.number_of(self.balance.from, group);
        number.map_or_else(|| format!("group {group}"), |it| self.model.name(it))
    }

    /// A candidate was chosen. `last` is the one before it.
    fn select(
        &self,
        step: &Step,
        since: u64,
        tried: &BTreeSet<usize>,
        last: Option<&Chosen>,
    ) -> (Chosen, Option<String>) {
        let per = self.view.part.policy.queues[self.balance.from].per;
        let group = self.view.part.group(step.queue as usize, per).unwrap_or(usize::MAX);
        let levels = self.balance.levels.len();
        let level = (0..levels).find(|n| self.victims(*n).contains(&group));
        let chosen = |level| Chosen { group, level, moves: 0, least: i64::MAX, most: i64::MAX };
        let (cpu, view) = (self.cpu, self.view.within(since, step.end));
        let Some(level) = level else {
            let why = format!("CPU {cpu} chooses a queue that is not a candidate of its balance");
            return (chosen(levels), Some(why));
        };
        let name = self.name(group);
        let (begun, all) = (last.map_or(0, |it| it.level), self.balance.retry.is_none());
        let wrong = if tried.contains(&group) || level < begun {
            Some(format!("CPU {cpu} chooses {name}, which it has already tried"))
        } else if self.passes(&view, group, &self.balance.filter) == Some(false) {
            Some(format!("CPU {cpu} chooses {name}, which the filter rejects"))
        } else if let Some(near) =
            (begun..level).filter(|_| all).find_map(|n| self.untried(&view, n, tried))
        {
            let near = self.name(near);
            Some(format!(
                "CPU {cpu} chooses {name}, although {near} is nearer and passes the filter"
            ))
        } else {
            self.best(step, &view, (group, level), tried)
        };
        (chosen(level), wrong)
    }

    /// What was chosen has the key of the text, and no other candidate has a better one.
    fn best(
        &self,
        step: &Step,
        view: &View<'_>,
        (group, level): (usize, usize),
        tried: &BTreeSet<usize>,
    ) -> Option<String> {
        let (cpu, name) = (self.cpu, self.name(group));
        let Choose::Best { key, greatest, .. } = &self.balance.choose else {
            let why = || format!("CPU {cpu} chooses {name} by a key that is not in the policy");
            return (step.value != 0).then(why);
        };
        let key = |group| match (self.number(view, group, key), greatest) {
            (key, true) => key,
            (key, false) => Range { least: !key.most, most: !key.least },
        };
        let own = key(group);
        if step.value < own.least || step.value > own.most {
            let why = "does not have the recorded key";
            return Some(format!("CPU {cpu} chooses {name}, which {why}: {}", step.value));
        }
        let is_better = |it: &usize| {
            *it != group
                && !tried.contains(it)
                && key(*it).least > step.value
                && self.passes(view, *it, &self.balance.filter) == Some(true)
        };
        let better = self.victims(level).into_iter().find(is_better)?;
        let better = self.name(better);
        Some(format!("CPU {cpu} chooses {name}, although the policy prefers {better}"))
    }

    /// A candidate of a level that surely passes the filter and was not tried.
    fn untried(&self, view: &View<'_>, level: usize, tried: &BTreeSet<usize>) -> Option<usize> {
        let is = |it: &usize| {
            !tried.contains(it) && self.passes(view, *it, &self.balance.filter) == Some(true)
        };
        self.victims(level).into_iter().find(is)
    }

    /// An idle CPU takes from the queue that it chose.
    fn steal(&self, step: &Step, chosen: &Chosen) -> Option<String> {
        let number = self.view.part.number_of(self.balance.from, chosen.group);
        let (cpu, name) = (self.cpu, self.name(chosen.group));
        let why = || format!("CPU {cpu} chose {name}, but takes from another queue");
        (number != Some(QueueNumber::of(step.queue))).then(why)
    }

    /// A regular balance moved a task.
    fn moved(&self, at: usize, since: u64, chosen: &mut Chosen) -> Option<String> {
        let (step, part) = (&self.steps[at], self.view.part);
        let into = self.balance.into.unwrap_or(self.balance.from);
        let own = part.tree.group(part.policy.queues[into].per, CpuId(self.cpu));
        let view = self.view.within(since, step.begin);
        let count = self.number(&view, chosen.group, &self.balance.count);
        let filter = self.passes(&view, chosen.group, &self.balance.filter);
        let enough = chosen.moves >= chosen.most || count.most < 1;
        chosen.moves += 1;
        chosen.least = chosen.least.min(count.least);
        chosen.most = chosen.most.min(count.most);
        let (cpu, name) = (self.cpu, self.name(chosen.group));
        let from = part.number_of(self.balance.from, chosen.group);
        let was = self.taken.get(&at).map(|it| it.queue);
        if part.number_of(into, own) != Some(QueueNumber::of(step.queue)) {
            Some(format!("CPU {cpu} moves a task into a queue that the policy does not name"))
        } else if was.is_some() && was != from {
            Some(format!("CPU {cpu} chose {name}, but moves a task from another queue"))
        } else if filter == Some(false) {
            Some(format!(
                "CPU {cpu} moves a task from {name} although the filter now rejects this queue"
            ))
        } else {
            enough.then(|| format!("CPU {cpu} moves more tasks from {name} than the policy allows"))
        }
    }

    /// A regular balance turns away from a candidate: there was no task to move any more.
    fn left(&self, chosen: &Chosen, since: u64, until: u64) -> Option<String> {
        if !self.regular || chosen.level >= self.balance.levels.len() {
            return None;
        }
        let (view, part) = (self.view.within(since, until), self.view.part);
        let count = self.number(&view, chosen.group, &self.balance.count);
        let filter = self.passes(&view, chosen.group, &self.balance.filter);
        if chosen.moves >= chosen.least || count.least < 1 || filter != Some(true) {
            return None;
        }
        let into = self.balance.into.unwrap_or(self.balance.from);
        let per = part.policy.queues[into].per;
        let group = part.tree.group(per, CpuId(self.cpu));
        let cpus = part.tree.members(per, group);
        let is = |it: &&Stay| it.covers(since, until) && cpus.iter().any(|cpu| it.may(cpu.0));
        let stay = view.stays(self.balance.from, chosen.group).find(is)?;
        let (cpu, name, task) = (self.cpu, self.name(chosen.group), stay.task);
        Some(format!("CPU {cpu} moves too few tasks from {name}: task {task} is still there"))
    }

    /// A balance ends without a task: no candidate was left.
    fn ends(
        &self,
        since: u64,
        until: u64,
        tried: &BTreeSet<usize>,
        last: Option<&Chosen>,
    ) -> Option<String> {
        let dispatch = &self.view.part.policy.dispatch;
        let is_last = self.regular || dispatch.last() == Some(&Attempt::Balance);
        if !is_last || self.balance.retry.is_some() {
            return None;
        }
        let view = self.view.within(since, until);
        let begun = last.map_or(0, |it| it.level);
        let left =
            (begun..self.balance.levels.len()).find_map(|n| self.untried(&view, n, tried))?;
        let (cpu, name) = (self.cpu, self.name(left));
        Some(format!(
            "a balance of CPU {cpu} ends, although it has not tried {name}, which passes the filter"
        ))
    }
}
