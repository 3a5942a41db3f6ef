//! Load balancing: when a CPU searches work on other CPUs (`rebalance_domains`, `newidle_balance`,
//! `nohz_idle_balance`), and one balancing of one domain (`load_balance`).

mod legacy;
mod pull;
mod rework;
mod stats;

pub(super) use stats::{Class, Load};

use wastenot_model::policy::{Context, Note};
use wastenot_model::{CpuId, CpuSet, Decision, TaskId, decisions};

use super::rules::{Era, Imbalance, MIGRATION_COST};
use super::{Cfs, cpu_id, mask};

/// The longest interval between balancings, in ms, that results when all tasks are pinned.
const MAX_PINNED_INTERVAL: u64 = 512;
/// The interval at which the blocked load of idle CPUs is updated (`LOAD_AVG_PERIOD`), in ms.
const BLOCKED_REFRESH_MS: u64 = 32;

/// Balancing on behalf of idle CPUs, which do not tick.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Nohz {
    /// The jiffy from which the next one may be kicked.
    next: u64,
    /// The jiffy from which blocked load is updated again.
    next_blocked: u64,
}

/// What the CPU that balances is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It runs a task.
    Busy,
    /// It is idle.
    Idle,
    /// It is about to be idle.
    Newly,
}

/// The amount to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    Load(u64),
    Util(u64),
    Tasks(u64),
}

/// One balancing of one domain of one CPU (`struct lb_env`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The CPU that balances, and the CPU that receives tasks: another CPU of its group if tasks
    /// may not run here.
    pub(super) cpu: u32,
    pub(super) to: u32,
    pub(super) level: usize,
    pub(super) idle: Phase,
    pub(super) amount: Amount,
    /// Whether no examined task may run here; whether some may not; and a CPU where one of those
    /// may.
    pub(super) all_pinned: bool,
    pub(super) some_pinned: bool,
    pub(super) other: Option<u32>,
    pub(super) redirected: bool,
    /// The group that was found busiest last.
    pub(super) busiest: Option<u32>,
}

impl Cfs {
    /// At each tick of a busy CPU: its own balancing if it is due, and a kick for idle CPUs.
    pub(super) fn balance_on_tick(&mut self, cx: &mut Context, cpu: u32) {
        if self.jiffies >= self.rqs[cpu as usize].next_balance {
            self.rebalance(cx, cpu, Phase::Busy);
        }
        if self.rules.blocked_load && self.jiffies >= self.nohz.next_blocked {
            self.nohz.next_blocked = self.jiffies + self.rules.jiffies(BLOCKED_REFRESH_MS);
            let mut next = 0;
            while let Some(idle) = mask::next(&self.idle, &self.idle, next) {
                next = idle + 1;
                self.refresh_cpu(idle as u32);
            }
        }
        if self.jiffies >= self.nohz.next && self.needs_idle_help(cpu) {
            self.balance_idle(cx);
        }
    }

    /// The CPU's domains that are due, narrow to wide (`rebalance_domains`).
    fn rebalance(&mut self, cx: &mut Context, cpu: u32, idle: Phase) {
        let mut idle = idle;
        self.refresh_cpu(cpu);
        let (mut designated, mut decayed, mut cost) = (true, false, 0);
        let mut next_balance = self.jiffies + 60 * self.rules.hz;
        for level in 0..self.topology.chains[cpu as usize].len() {
            let decay = self.decay_cost(cpu, level);
            decayed |= decay;
            cost += self.topology.chains[cpu as usize][level].max_cost;
            if !designated {
                if decayed {
                    continue;
                }
                break;
            }
            let interval = self.interval(cpu, level, idle);
            if self.jiffies >= self.topology.chains[cpu as usize][level].last_balance + interval {
                if self.look(cx, cpu, level, idle, &mut designated) > 0 {
                    idle = if self.is_idle(cpu) { Phase::Idle } else { Phase::Busy };
                }
                self.topology.chains[cpu as usize][level].last_balance = self.jiffies;
            }
            let last = self.topology.chains[cpu as usize][level].last_balance;
            next_balance = next_balance.min(last + self.interval(cpu, level, idle));
        }
        let rq = &mut self.rqs[cpu as usize];
        if decayed {
            rq.max_balance_cost = cost.max(MIGRATION_COST);
        }
        rq.next_balance = next_balance.max(self.jiffies + 1);
    }

    /// About once a second the recorded cost of newly-idle balancing decays by one percent.
    fn decay_cost(&mut self, cpu: u32, level: usize) -> bool {
        let (hz, jiffies) = (self.rules.hz, self.jiffies);
        let domain = &mut self.topology.chains[cpu as usize][level];
        let due = jiffies > domain.next_decay;
        if due {
            domain.max_cost = domain.max_cost * 253 / 256;
            domain.next_decay = jiffies + hz;
        }
        due
    }

    /// Jiffies between two balancings of a domain: longer where the CPU is busy.
    fn interval(&self, cpu: u32, level: usize, idle: Phase) -> u64 {
        let old = self.rules.era == Era::V4;
        let busy = idle != Phase::Idle;
        let factor = if busy { if old { 32 } else { 16 } } else { 1 };
        let interval = self.topology.chains[cpu as usize][level].interval * factor;
        let jiffies = self.rules.jiffies(interval) - u64::from(busy && !old && interval > 1);
        let online = u64::from(self.online.iter().map(|word| word.count_ones()).sum::<u32>());
        jiffies.clamp(1, (self.rules.hz * online / 10).max(1))
    }

    /// Whether a busy CPU should kick idle ones to balance (`nohz_kick_needed`): it has two tasks,
    /// or several CPUs of its cache are busy while any others are idle.
    fn needs_idle_help(&self, cpu: u32) -> bool {
        if self.idle.iter().all(|word| *word == 0) {
            return false;
        }
        if self.rqs[cpu as usize].nr >= 2 {
            return true;
        }
        let cache = &self.topology.llc[cpu as usize];
        // 4.1 counts these only if a domain lies above the cache's domain.
        if self.rules.era == Era::V4 && self.topology.chains[cpu as usize].len() <= cache.levels {
            return false;
        }
        let words = cache.cpus.iter().zip(&self.online).zip(&self.idle);
        words.map(|((cache, online), idle)| (cache & online & !idle).count_ones()).sum::<u32>() > 1
    }

    /// The first idle CPU balances for all idle CPUs, for itself last (`nohz_idle_balance`).
    fn balance_idle(&mut self, cx: &mut Context) {
        let Some(helper) = mask::next(&self.idle, &self.idle, 0) else { return };
        self.nohz.next = self.jiffies + 1;
        let mut next = helper + 1;
        let mut earliest = u64::MAX;
        while let Some(idle) = mask::next(&self.idle, &self.idle, next) {
            next = idle + 1;
            earliest = earliest.min(self.balance_if_due(cx, idle as u32));
        }
        if self.is_idle(helper as u32) {
            self.balance_if_due(cx, helper as u32);
        }
        let earliest = earliest.min(self.rqs[helper].next_balance);
        self.nohz.next = self.nohz.next.max(earliest);
    }

    fn balance_if_due(&mut self, cx: &mut Context, cpu: u32) -> u64 {
        if self.jiffies >= self.rqs[cpu as usize].next_balance {
            if self.rules.era == Era::V4 {
                self.update_history(cpu);
            }
            self.rebalance(cx, cpu, Phase::Idle);
        }
        self.rqs[cpu as usize].next_balance
    }

    /// The CPU has run out of tasks: before it goes idle it tries to pull some, if its recent idle
    /// spans were long enough to pay for that (`idle_balance`).
    pub(super) fn newly_idle(&mut self, cx: &mut Context, cpu: u32) {
        self.rqs[cpu as usize].idle_stamp = Some(self.now);
        if !self.rqs[cpu as usize].online {
            return;
        }
        let avg_idle = self.rqs[cpu as usize].avg_idle;
        let least = match (self.rules.era, self.topology.chains[cpu as usize].first()) {
            (Era::V6, Some(domain)) => domain.max_cost,
            _ => MIGRATION_COST,
        };
        if avg_idle < least || !self.overload {
            return self.next_balance_when_idle(cpu, usize::MAX);
        }
        self.refresh_cpu(cpu);
        let (mut cost, mut pulled) = (0, 0);
        let mut levels = 0;
        for level in 0..self.topology.chains[cpu as usize].len() {
            let domain = &self.topology.chains[cpu as usize][level];
            if avg_idle < cost + domain.max_cost {
                break;
            }
            let spent = cx.scan.0 * u64::from(domain.weight);
            pulled = self.look(cx, cpu, level, Phase::Newly, &mut true);
            let domain = &mut self.topology.chains[cpu as usize][level];
            domain.max_cost = domain.max_cost.max(spent);
            cost += spent;
            levels = level + 1;
            if pulled > 0 || self.rqs[cpu as usize].nr > 0 {
                break;
            }
        }
        let rq = &mut self.rqs[cpu as usize];
        rq.max_balance_cost = rq.max_balance_cost.max(cost);
        self.next_balance_when_idle(cpu, levels.max(1));
        if pulled > 0 {
            self.rqs[cpu as usize].idle_stamp = None;
        }
    }

    /// An idle CPU balances sooner than a busy one (`update_next_balance`).
    fn next_balance_when_idle(&mut self, cpu: u32, levels: usize) {
        for level in 0..self.topology.chains[cpu as usize].len().min(levels) {
            let last = self.topology.chains[cpu as usize][level].last_balance;
            let next = last + self.interval(cpu, level, Phase::Idle);
            let rq = &mut self.rqs[cpu as usize];
            rq.next_balance = rq.next_balance.min(next);
        }
        let next = self.rqs[cpu as usize].next_balance;
        self.nohz.next = self.nohz.next.min(next.max(self.jiffies));
    }

    /// Balances one domain; returns how many tasks were pulled (`load_balance`).
    fn look(
        &mut self,
        cx: &mut Context,
        cpu: u32,
        level: usize,
        idle: Phase,
        designated: &mut bool,
    ) -> u32 {
        if !cx.online.contains(cpu_id(cpu)) {
            return 0; // it is about to go off (`cpu_active_mask`)
        }
        let mut look = Look {
            cpu,
            to: cpu,
            level,
            idle,
            amount: Amount::Tasks(0),
            all_pinned: false,
            some_pinned: false,
            other: None,
            redirected: false,
            busiest: None,
        };
        let span = &self.topology.chains[cpu as usize][level].span;
        for (word, span) in self.considered.iter_mut().zip(span) {
            *word = *span;
        }
        for (n, word) in self.considered.iter_mut().enumerate() {
            *word &= cx.online.words().get(n).copied().unwrap_or(0);
        }
        let (moved, outcome) = self.look_until_settled(cx, &mut look, designated);
        cx.note(|_| Note {
            cpu: cpu_id(cpu),
            what: if idle == Phase::Newly { Decision::NEWIDLE } else { Decision::PERIODIC },
            task: None,
            considered: mask::to_set(&self.topology.chains[cpu as usize][level].span),
            local: mask::to_set(&self.local_group(cpu, level).cpus),
            busiest: self.cpus_of(look.busiest),
            outcome: match moved {
                0 => outcome.into(),
                moved => decisions::moved(moved),
            },
        });
        moved
    }

    fn look_until_settled(
        &mut self,
        cx: &mut Context,
        look: &mut Look,
        designated: &mut bool,
    ) -> (u32, &'static str) {
        loop {
            if !self.is_designated(look) {
                *designated = false;
                return self.balanced(look, Decision::NOT_DESIGNATED);
            }
            look.busiest = self.find_busiest_group(look);
            let Some(group) = look.busiest else {
                return self.balanced(look, Decision::BALANCED);
            };
            let Some(busiest) = self.find_busiest_queue(look, group) else {
                return self.balanced(look, Decision::BALANCED);
            };
            let mut moved = 0;
            if self.rqs[busiest as usize].nr > 1 {
                look.all_pinned = true;
                moved = self.pull(cx, look, busiest);
                if look.some_pinned && look.amount.left() {
                    self.set_pinned_above(look, true);
                }
                if look.all_pinned {
                    mask::set(&mut self.considered, busiest as usize, false);
                    if self.considered.iter().any(|word| *word != 0) {
                        look.to = look.cpu;
                        continue;
                    }
                    return self.settle(look, Decision::PINNED);
                }
            }
            return match moved {
                0 => self.failed(cx, look, busiest),
                moved => {
                    self.domain(look).failed = 0;
                    self.reset_interval(look);
                    (moved, "")
                }
            };
        }
    }

    fn domain(&mut self, look: &Look) -> &mut super::topology::Domain {
        &mut self.topology.chains[look.cpu as usize][look.level]
    }

    fn balanced(&mut self, look: &Look, outcome: &'static str) -> (u32, &'static str) {
        if !look.all_pinned {
            self.set_pinned_above(look, false);
        }
        self.settle(look, outcome)
    }

    /// There was nothing to do: the interval grows.
    fn settle(&mut self, look: &Look, outcome: &'static str) -> (u32, &'static str) {
        self.domain(look).failed = 0;
        self.back_off(look);
        (0, outcome)
    }

    fn back_off(&mut self, look: &Look) {
        if look.idle == Phase::Newly && self.rules.era != Era::V4 {
            return;
        }
        let domain = self.domain(look);
        let longest = 2 * u64::from(domain.weight);
        if look.all_pinned && domain.interval < MAX_PINNED_INTERVAL || domain.interval < longest {
            domain.interval *= 2;
        }
    }

    fn reset_interval(&mut self, look: &Look) {
        let domain = self.domain(look);
        domain.interval = u64::from(domain.weight);
    }

    /// There is a busiest queue, but nothing could be pulled: after several failures the running
    /// task of that queue is moved.
    fn failed(&mut self, cx: &mut Context, look: &Look, busiest: u32) -> (u32, &'static str) {
        let domain = self.domain(look);
        if look.idle != Phase::Newly {
            domain.failed += 1;
        }
        let patience = domain.cache_nice_tries + 2;
        let moves_tasks = self.rules.era != Era::V6 || matches!(look.amount, Amount::Tasks(_));
        let domain = self.domain(look);
        if domain.failed <= patience || !moves_tasks {
            self.reset_interval(look);
            return (0, Decision::FAILED);
        }
        let Some(running) = self.current_task(busiest) else { return (0, Decision::FAILED) };
        if !cx.allowed(self.task_of(running), cpu_id(look.cpu)) {
            let pinned = Look { all_pinned: true, ..*look };
            self.back_off(&pinned);
            return (0, Decision::PINNED);
        }
        let domain = self.domain(look);
        domain.failed = domain.cache_nice_tries + 1;
        let longest = 2 * u64::from(domain.weight);
        if domain.interval < longest {
            domain.interval *= 2;
        }
        self.push_from(cx, busiest, look.cpu);
        (0, Decision::ACTIVE)
    }

    /// Wakes the thread that moves the running task of `busiest` to `to`.
    fn push_from(&mut self, cx: &mut Context, busiest: u32, to: u32) {
        let rq = &mut self.rqs[busiest as usize];
        let Some(stopper) = rq.stopper.filter(|_| !rq.stopping) else { return };
        rq.push = Some(to);
        rq.stopping = true;
        self.note_idle(busiest);
        cx.wake(stopper);
    }

    /// Records pinned tasks at the level above, where the group that holds this domain then counts
    /// as imbalanced.
    fn set_pinned_above(&mut self, look: &Look, pinned: bool) {
        if look.level + 1 < self.topology.chains[look.cpu as usize].len() {
            let group = self.topology.groups(look.cpu, look.level + 1)[0];
            self.topology.groups[group as usize].pinned = pinned;
        }
    }

    fn cpus_of(&self, group: Option<u32>) -> CpuSet {
        group.map_or_else(CpuSet::new, |group| {
            mask::to_set(&self.topology.groups[group as usize].cpus)
        })
    }

    pub(super) fn local_group(&self, cpu: u32, level: usize) -> &super::topology::Group {
        &self.topology.groups[self.topology.groups(cpu, level)[0] as usize]
    }

    /// Whether this CPU balances for its group: the first idle CPU does, else the first CPU
    /// (`should_we_balance`).
    fn is_designated(&self, look: &Look) -> bool {
        if look.idle == Phase::Newly || self.rules.all_balance {
            return mask::contains(&self.considered, look.to as usize);
        }
        let group = self.local_group(look.cpu, look.level);
        let mut next = 0;
        while let Some(cpu) = mask::next(&group.cpus, &self.considered, next) {
            next = cpu + 1;
            if mask::contains(&group.balance, cpu) && self.is_idle(cpu as u32) {
                return cpu as u32 == look.cpu;
            }
        }
        group.balancer() == Some(look.cpu as usize)
    }

    fn find_busiest_group(&mut self, look: &mut Look) -> Option<u32> {
        match self.rules.imbalance {
            Imbalance::Rework => self.busiest_by_class(look),
            _ => self.busiest_by_load(look),
        }
    }

    /// The stopper of a CPU has run: one of the tasks that it interrupted or found moves to the CPU
    /// that requested it (`active_load_balance_cpu_stop`).
    pub(super) fn push_running(&mut self, cx: &mut Context, thread: TaskId) {
        let Some(cpu) = self.rqs.iter().position(|rq| rq.stopper == Some(thread)) else { return };
        let Some(to) = self.rqs[cpu].push.take() else { return };
        if !self.rqs[to as usize].online || !cx.online.contains(CpuId(to as u16)) {
            return;
        }
        let holds = |domain: &super::topology::Domain| mask::contains(&domain.span, cpu);
        let Some(level) = self.topology.chains[to as usize].iter().position(holds) else { return };
        let pushed = self.pull_one(cx, cpu as u32, to);
        // From 4.7 on (d02c071183e1); before, the next balancing takes cache-hot tasks.
        if pushed && self.rules.era != Era::V4 {
            self.topology.chains[to as usize][level].failed = 0;
        }
    }
}

impl Amount {
    fn left(self) -> bool {
        matches!(self, Amount::Load(left) | Amount::Util(left) | Amount::Tasks(left) if left > 0)
    }
}
