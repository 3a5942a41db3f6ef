//! The cost of the designs that were rejected for message passing: counts, not times.
//!
//! Cerqueira, Vanga and Brandenburg (RTAS 2014) name three: the scheduler's state behind one word
//! that a CPU replaces by compare-and-exchange (lock-free), an order of events to which all CPUs
//! help each other (wait-free; Herlihy's universal construction, TOPLAS 1991), and a copy of the
//! state on every CPU (each CPU sends to all; Lamport's order of events, CACM 1978). Every CPU has
//! an event at the same instant: a job of its own is complete. The duration of an access or a
//! message is left out, and with it any claim about speed: only the counts that grow are modelled.

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::workload::Random;

/// Counts over all CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that took effect.
    pub events: u64,
    /// Attempts that failed because another CPU was faster.
    pub retries: u64,
    /// The most retries for one event.
    pub retries_max: u64,
    /// The most CPUs that accessed one cache line.
    pub sharers: usize,
    /// Cache lines that went from one CPU to another.
    pub moves: u64,
    /// Messages.
    pub messages: u64,
}

/// Cache lines, each with the CPU that accessed it last.
#[derive(Debug, Default)]
struct Lines {
    last: BTreeMap<u32, u32>,
    seen_by: BTreeMap<u32, BTreeSet<u32>>,
    moves: u64,
}

impl Lines {
    /// `cpu` reads or writes a line.
    fn access(&mut self, line: u32, cpu: u32) {
        let last = self.last.insert(line, cpu);
        self.moves += u64::from(last.is_some_and(|last| last != cpu));
        self.seen_by.entry(line).or_default().insert(cpu);
    }
    fn sharers(&self) -> usize {
        self.seen_by.values().map(BTreeSet::len).max().unwrap_or(0)
    }
}

/// A CPU that exchanges the word.
#[derive(Clone, Debug)]
struct Tries {
    left: u64,
    /// The version that it read.
    read: Option<u64>,
    retries: u64,
}

/// The state behind one word, while every CPU has `events` events, one after the other. The CPUs do
/// one access each in turn. With `overtaken`, another CPU always exchanges the word between CPU 0's
/// read and CPU 0's exchange, as long as any other CPU has an event left: only the other CPUs'
/// events bound the number of retries.
pub fn lock_free(cpus: u32, events: u64, overtaken: bool) -> Counts {
    let mut all = vec![Tries { left: events, read: None, retries: 0 }; cpus as usize];
    let (mut word, mut lines, mut counts) = (0, Lines::default(), Counts::default());
    let mut step = |cpu: u32, all: &mut [Tries]| {
        let it = &mut all[cpu as usize];
        lines.access(0, cpu);
        match it.read.take() {
            None => it.read = Some(word),
            Some(read) if read == word => {
                word += 1;
                (it.left, it.retries) = (it.left - 1, 0);
                counts.events += 1;
            }
            Some(_) => {
                it.retries += 1;
                counts.retries += 1;
                counts.retries_max = counts.retries_max.max(it.retries);
            }
        }
    };
    let others = |all: &[Tries]| (1..cpus).find(|cpu| all[*cpu as usize].left > 0);
    while let Some(other) = others(&all).filter(|_| overtaken) {
        step(0, &mut all);
        step(other, &mut all);
        step(other, &mut all);
        step(0, &mut all);
    }
    while all.iter().any(|it| it.left > 0) {
        for cpu in 0..cpus {
            if all[cpu as usize].left > 0 {
                step(cpu, &mut all);
            }
        }
    }
    Counts { sharers: lines.sharers(), moves: lines.moves, ..counts }
}

/// Events in an order to which all CPUs help. Each CPU announces its event. Then it proposes for
/// the next place in the order the event of the CPU whose turn it is, else its own, until its own
/// event has a place. No CPU retries for ever, but all CPUs that are not done access the line of
/// each place.
pub fn wait_free(cpus: u32) -> Counts {
    /// The next action of a CPU.
    #[derive(Clone, Copy)]
    enum Next {
        Announce,
        Look,
        Propose(u32),
        Done,
    }
    let mut lines = Lines::default();
    let mut next = vec![Next::Announce; cpus as usize];
    let mut announced = vec![false; cpus as usize];
    // The place of each event in the order, and the event at each place.
    let (mut at, mut order) = (vec![0; cpus as usize], Vec::new());
    let (mut events, mut accesses) = (0, vec![0; cpus as usize]);
    while events < u64::from(cpus) {
        for cpu in 0..cpus {
            let n = cpu as usize;
            let turn = at[n] as u32 % cpus;
            accesses[n] += u64::from(!matches!(next[n], Next::Done));
            next[n] = match next[n] {
                Next::Announce => {
                    lines.access(cpu, cpu);
                    announced[n] = true;
                    Next::Look
                }
                Next::Look => {
                    lines.access(turn, cpu);
                    let helps = announced[turn as usize] && !order.contains(&turn);
                    Next::Propose(if helps { turn } else { cpu })
                }
                Next::Propose(whose) => {
                    lines.access(cpus + at[n] as u32, cpu);
                    if at[n] == order.len() {
                        order.push(whose);
                    }
                    at[n] += 1;
                    if order[at[n] - 1] == cpu {
                        events += 1;
                        Next::Done
                    } else {
                        Next::Look
                    }
                }
                Next::Done => Next::Done,
            };
        }
    }
    let (sharers, moves) = (lines.sharers(), lines.moves);
    Counts { events, sharers, moves, ..Counts::default() }
}

/// A message of the third design.
#[derive(Clone, Copy, Debug)]
struct Told {
    to: u32,
    from: u32,
    /// The CPU whose event the message announces or acknowledges.
    event: u32,
}

/// A copy of the state on every CPU: each CPU announces its event to all others, and each CPU
/// acknowledges each event to all, so that all process the events in one order. Message delays are
/// random; messages from one CPU to another arrive in order. Also returns the order in which each
/// CPU processed the events.
pub fn broadcast(cpus: u32, seed: u64) -> (Counts, Vec<Vec<u32>>) {
    let mut random = Random::stream(seed, 0, 0);
    let mut under_way: BTreeMap<(u64, u64), Told> = BTreeMap::new();
    let mut last: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut messages = 0;
    let mut tell = |now: u64, from: u32, event: u32, under_way: &mut BTreeMap<(u64, u64), Told>| {
        for to in (0..cpus).filter(|to| *to != from) {
            let earliest = last.get(&(from, to)).copied().unwrap_or(0);
            let at = (now + 1 + random.below(100)).max(earliest);
            last.insert((from, to), at);
            under_way.insert((at, messages), Told { to, from, event });
            messages += 1;
        }
    };
    (0..cpus).for_each(|cpu| tell(0, cpu, cpu, &mut under_way));
    // By CPU and event: the CPUs that are known to know of the event.
    let mut known = vec![vec![BTreeSet::new(); cpus as usize]; cpus as usize];
    for cpu in 0..cpus {
        known[cpu as usize][cpu as usize].insert(cpu);
    }
    let mut taken: Vec<Vec<u32>> = vec![Vec::new(); cpus as usize];
    while let Some(((now, _), Told { to, from, event })) = under_way.pop_first() {
        let it = &mut known[to as usize];
        it[event as usize].insert(from);
        if from == event {
            it[event as usize].insert(to);
            tell(now, to, event, &mut under_way);
        }
        // Tie-breaking among events of one instant: the lower CPU goes first.
        let taken = &mut taken[to as usize];
        while it.get(taken.len()).is_some_and(|known| known.len() == cpus as usize) {
            taken.push(taken.len() as u32);
        }
    }
    let counts = Counts { events: cpus.into(), messages, ..Counts::default() };
    (counts, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_tried_for_as_often_as_others_succeed() {
        for cpus in [2u32, 8, 32] {
            let burst = lock_free(cpus, 1, false);
            let m = u64::from(cpus);
            assert_eq!((burst.retries, burst.retries_max), (m * (m - 1) / 2, m - 1));
            assert_eq!((burst.events, burst.sharers), (m, cpus as usize));
            // The number of events of the other CPUs bounds the retries of one event.
            for events in [1, 10, 100] {
                let overtaken = lock_free(cpus, events, true);
                assert_eq!(overtaken.retries_max, (m - 1) * events);
                assert_eq!(overtaken.events, m * events);
            }
        }
    }

    #[test]
    fn help_ends_but_all_come_to_every_line() {
        let (small, large) = (wait_free(8), wait_free(64));
        assert_eq!((small.events, small.retries, small.sharers), (8, 0, 8));
        assert_eq!((large.events, large.retries, large.sharers), (64, 0, 64));
        // The lines that move for one event grow with the number of CPUs.
        let of_event = |counts: &Counts| counts.moves as f64 / counts.events as f64;
        assert!(of_event(&large) > 6.0 * of_event(&small), "{small:?} {large:?}");
    }

    #[test]
    fn all_agree_on_one_order_and_tell_all_for_it() {
        for seed in 0..20 {
            let (counts, taken) = broadcast(9, seed);
            assert!(taken.iter().all(|order| order.len() == 9 && *order == taken[0]));
            // Each event to all others, and each acknowledgement of another's event to all others.
            assert_eq!(counts.messages, 9 * 8 + 9 * 8 * 8);
        }
    }
}
