//! An attempt of an idle CPU, step by step. What it does next follows from the text. Which of
//! several candidates it examines first, and what it finds, its driver decides: the explorer tries
//! all, a forced counterexample goes as recorded.

use crate::ir::{Attempt, Policy, QueueAt};

/// Where an idle CPU looks; it depends on the machine alone.
pub trait Places {
    /// The queue that it takes from, and of which group.
    fn own(&self, queue: &QueueAt) -> (usize, usize);
    /// The groups that `balance idle` examines on one of its levels.
    fn candidates(&self, level: usize) -> Vec<usize>;
}

/// How far an attempt is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Index into the policy's dispatch.
    nth: usize,
    scan: Option<Scan>,
    /// It tries every candidate, whatever `retry` says.
    patient: bool,
}

/// How far a balance is on one of its levels.
#[derive(Clone, Debug)]
struct Scan {
    level: usize,
    unread: Vec<usize>,
    /// Candidates that passed and were not tried yet, with what the re-check remembers.
    passed: Vec<(usize, Vec<i64>)>,
    /// How many may still be tried.
    tries: u64,
}

/// What an attempt does next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// It looks into a queue that it takes from.
    Takes((usize, usize)),
    /// It reads one of these candidates.
    Reads(&'a [usize]),
    /// It locks the queue of one of these, which passed; with what the re-check remembers.
    Tries(&'a [(usize, Vec<i64>)]),
    /// It has failed: the CPU sleeps.
    Sleeps,
}

impl Progress {
    /// An attempt that has not begun, and that tries every candidate, whatever `retry` says.
    pub fn patient() -> Progress {
        Progress { patient: true, ..Progress::default() }
    }

    /// What is next, if nothing was found so far.
    pub fn next(&mut self, policy: &Policy, places: &impl Places) -> Next<'_> {
        while let Some(attempt) = policy.dispatch.get(self.nth) {
            match (attempt, &policy.idle) {
                (Attempt::Take(queue, _), _) => return Next::Takes(places.own(queue)),
                (Attempt::Balance, Some(balance)) => {
                    let level = match &self.scan {
                        Some(scan) if !scan.is_over() => break,
                        Some(scan) => scan.level + 1,
                        None => 0,
                    };
                    self.scan = None;
                    if level < balance.levels.len() {
                        let retry = balance.retry.filter(|_| !self.patient);
                        let tries = retry.map_or(u64::MAX, |retry| retry.saturating_add(1));
                        let unread = places.candidates(level);
                        self.scan = Some(Scan { level, unread, passed: Vec::new(), tries });
                        continue;
                    }
                }
                (Attempt::Balance, None) => {}
            }
            self.nth += 1;
        }
        match &self.scan {
            Some(scan) if !scan.unread.is_empty() => Next::Reads(&scan.unread),
            Some(scan) => Next::Tries(&scan.passed),
            None => Next::Sleeps,
        }
    }

    /// The queue that it took from had no task for it.
    pub fn took_none(&mut self) {
        self.nth += 1;
    }

    /// It has read a candidate; `seen`: what the re-check remembers, if the candidate passed.
    pub fn read(&mut self, group: usize, seen: Option<Vec<i64>>) {
        let Some(scan) = &mut self.scan else { return };
        scan.unread.retain(|&unread| unread != group);
        scan.passed.extend(seen.map(|seen| (group, seen)));
    }

    /// It tries a candidate; what the re-check remembers of that.
    pub fn tries(&mut self, group: usize) -> Vec<i64> {
        let Some(scan) = &mut self.scan else { return Vec::new() };
        scan.tries = scan.tries.saturating_sub(1);
        let at = scan.passed.iter().position(|(passed, _)| *passed == group);
        at.map(|at| scan.passed.remove(at).1).unwrap_or_default()
    }
}

impl Scan {
    fn is_over(&self) -> bool {
        self.unread.is_empty() && (self.passed.is_empty() || self.tries == 0)
    }
}
