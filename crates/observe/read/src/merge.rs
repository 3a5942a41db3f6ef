//! Merges per-CPU streams in time order.
//!
//! Each stream keeps a buffer of decoded records. A loser tree finds the smallest head in
//! log2(streams) comparisons; empty buffers are refilled together, in parallel.

use std::hint::select_unpredictable;

use rayon::prelude::*;
use wastenot_model::Loss;

use crate::raw::Raw;

/// One CPU's records, decoded batch by batch.
pub(crate) trait Stream: Send {
    /// Appends the next records in file order; appends nothing when the stream has ended.
    /// A batch is some hundred to some thousand records, so that buffers stay in cache.
    fn fill(&mut self, out: &mut Vec<Raw>);

    /// The losses and damage found, asked for once the stream has ended.
    fn losses(&self) -> Vec<Loss> {
        Vec::new()
    }
}

/// A source whose records all exist already.
impl Stream for std::vec::IntoIter<Raw> {
    fn fill(&mut self, out: &mut Vec<Raw>) {
        out.extend(self.by_ref().take(4096));
    }
}

/// The position of a stream's next record in the order: time, then wakeups and migrations before
/// switches, then CPU; in one integer, so that comparing takes no branch. Ended streams are last.
type Key = u128;
const LAST: Key = Key::MAX;

struct Lane<S> {
    cpu: u16,
    stream: S,
    buffer: Vec<Raw>,
    next: usize,
    last: u64,
    steps: u64,
    largest_step: u64,
    ended: bool,
}

impl<S: Stream> Lane<S> {
    /// Decodes at least `room` more records, if there are any.
    fn refill(&mut self, room: usize) {
        self.buffer.drain(..self.next);
        self.next = 0;
        let before = self.buffer.len();
        while !self.ended && self.buffer.len() - before < room {
            let filled = self.buffer.len();
            self.stream.fill(&mut self.buffer);
            self.ended = self.buffer.len() == filled;
        }
        // Time must not go backwards within a stream: hold the stamp at the last one, and count.
        for raw in &mut self.buffer[before..] {
            if raw.time < self.last {
                self.steps += 1;
                self.largest_step = self.largest_step.max(self.last - raw.time);
                raw.time = self.last;
            }
            self.last = raw.time;
        }
    }
    fn left(&self) -> usize {
        self.buffer.len() - self.next
    }
    fn key(&self) -> Key {
        match self.buffer.get(self.next) {
            Some(raw) => {
                let tie = raw.event.rank() << 16 | u32::from(self.cpu);
                Key::from(raw.time) << 64 | Key::from(tie)
            }
            None => LAST,
        }
    }
}

/// What is reported of a stream once it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) cpu: u16,
    /// How often time went backwards, and how far at most.
    pub(crate) steps: u64,
    pub(crate) largest_step: u64,
    pub(crate) losses: Vec<Loss>,
}

/// Calls `each` with every record of every stream in the order (time, wakeups and migrations
/// before switches, cpu, sequence).
pub(crate) fn merge<S: Stream>(
    streams: Vec<(u16, S)>,
    mut each: impl FnMut(u16, &Raw),
) -> Vec<End> {
    let lane = |(cpu, stream)| Lane {
        cpu,
        stream,
        buffer: Vec::new(),
        next: 0,
        last: 0,
        steps: 0,
        largest_step: 0,
        ended: false,
    };
    let mut lanes: Vec<Lane<S>> = streams.into_iter().map(lane).collect();
    let room = room(lanes.len());
    lanes.par_iter_mut().for_each(|lane| lane.refill(room));
    let keys: Vec<Key> = lanes.iter().map(Lane::key).collect();
    let mut tree = Losers::new(&keys);
    while let Some(winner) = tree.winner() {
        let lane = &mut lanes[winner];
        each(lane.cpu, &lane.buffer[lane.next]);
        lane.next += 1;
        if lane.left() == 0 && !lane.ended {
            refill(&mut lanes, winner, room);
        }
        tree.replace(winner, lanes[winner].key());
    }
    let end = |lane: Lane<S>| End {
        cpu: lane.cpu,
        steps: lane.steps,
        largest_step: lane.largest_step,
        losses: lane.stream.losses(),
    };
    lanes.into_iter().map(end).collect()
}

/// How many records a stream decodes at a time. A single thread uses the smallest batches, which
/// stay in cache; waking other threads takes as long as decoding thousands of records.
fn room(lanes: usize) -> usize {
    const IN_ALL: usize = 1 << 16;
    match rayon::current_num_threads() {
        1 => 1,
        _ => (IN_ALL / lanes.max(1)).clamp(512, 8192),
    }
}

/// Refills `dry` and, since threads are woken anyway, all others that have few records left.
fn refill<S: Stream>(lanes: &mut [Lane<S>], dry: usize, room: usize) {
    if room == 1 {
        return lanes[dry].refill(room);
    }
    let thirsty = |lane: &&mut Lane<S>| !lane.ended && lane.left() < room / 4;
    lanes.par_iter_mut().filter(thirsty).for_each(|lane| lane.refill(room));
}

/// A tournament tree that keeps the loser at each node.
struct Losers {
    /// `losers[0]` is the overall winner.
    losers: Vec<Player>,
}

#[derive(Clone, Copy)]
struct Player {
    key: Key,
    lane: usize,
}

impl Losers {
    fn new(keys: &[Key]) -> Losers {
        let width = keys.len().next_power_of_two().max(2);
        let none = Player { key: LAST, lane: usize::MAX };
        let player = |lane| keys.get(lane).map_or(none, |&key| Player { key, lane });
        // Every match is played once, from the leaves up.
        let mut winners = vec![none; 2 * width];
        (0..width).for_each(|lane| winners[width + lane] = player(lane));
        let mut losers = vec![none; width];
        for node in (1..width).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], losers[node]) = if a.key <= b.key { (a, b) } else { (b, a) };
        }
        losers[0] = winners[1];
        Losers { losers }
    }

    /// The stream with the smallest key, unless all have ended.
    #[inline]
    fn winner(&self) -> Option<usize> {
        let winner = self.losers[0];
        (winner.key != LAST).then_some(winner.lane)
    }

    /// Gives the winner its next key and repeats its matches. The winners of matches cannot be
    /// predicted, so no branch depends on them.
    #[inline]
    fn replace(&mut self, winner: usize, key: Key) {
        let mut best = Player { key, lane: winner };
        let mut node = (self.losers.len() + winner) / 2;
        while node > 0 {
            let rival = &mut self.losers[node];
            let wins = rival.key < best.key;
            let win = select_unpredictable(wins, rival.key, best.key);
            let lose = select_unpredictable(wins, best.key, rival.key);
            let winner = select_unpredictable(wins, rival.lane, best.lane);
            rival.lane = select_unpredictable(wins, best.lane, rival.lane);
            rival.key = lose;
            best = Player { key: win, lane: winner };
            node /= 2;
        }
        self.losers[0] = best;
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::workload::Random;
    use wastenot_model::{Context, Left, Prio};

    use super::*;
    use crate::raw::{Comm, RawEvent};

    fn raw(time: u64, switch: bool) -> Raw {
        let event = match switch {
            false => RawEvent::Exec { tid: 1 },
            true => RawEvent::Switch {
                prev: 1,
                next: 0,
                left: Left::Sleeping,
                prev_prio: Prio::UNKNOWN,
                next_prio: Prio::UNKNOWN,
                prev_comm: Comm::default(),
                next_comm: Comm::default(),
            },
        };
        Raw { time, current: 1, context: Context::Task, event }
    }

    fn merged(streams: Vec<(u16, Vec<Raw>)>) -> Vec<(u16, u64, bool)> {
        let streams = streams.into_iter().map(|(cpu, raws)| (cpu, raws.into_iter())).collect();
        let mut out = Vec::new();
        merge(streams, |cpu, raw| out.push((cpu, raw.time, raw.event.rank() == 1)));
        out
    }

    #[test]
    fn at_equal_time_wakeups_come_before_switches_then_by_cpu() {
        let streams = vec![
            (0, vec![raw(5, true), raw(7, false)]),
            (1, vec![raw(5, false), raw(7, true)]),
            (2, vec![raw(5, false)]),
        ];
        let want = [(1, 5, false), (2, 5, false), (0, 5, true), (0, 7, false), (1, 7, true)];
        assert_eq!(merged(streams), want);
    }

    #[test]
    fn any_number_of_streams_comes_out_sorted() {
        let mut random = Random::stream(1, 0, 0);
        for count in [1usize, 2, 3, 7, 64, 129] {
            let mut expect = Vec::new();
            let mut streams = Vec::new();
            for cpu in 0..count as u16 {
                let mut time = 0;
                let mut raws = Vec::new();
                for sequence in 0..random.below(9000) {
                    time += random.below(4);
                    let switch = random.below(2) == 0;
                    expect.push((time, sequence, cpu));
                    raws.push(raw(time, switch));
                }
                streams.push((cpu, raws));
            }
            let out = merged(streams);
            assert_eq!(out.len(), expect.len());
            assert!(out.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{count} streams");
        }
    }

    #[test]
    fn time_that_goes_back_is_held_and_counted() {
        let streams = vec![(3, vec![raw(10, false), raw(4, false), raw(11, false)].into_iter())];
        let mut times = Vec::new();
        let ends = merge(streams, |_, raw| times.push(raw.time));
        assert_eq!(times, [10, 10, 11]);
        assert_eq!(ends, [End { cpu: 3, steps: 1, largest_step: 6, losses: Vec::new() }]);
    }
}
