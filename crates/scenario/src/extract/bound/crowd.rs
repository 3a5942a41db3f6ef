//! How long so many servers take at least for jobs of which each has something that must come
//! before and after it: CPUs and work, a lock and what is done under it.

use std::cmp::Reverse;

use wastenot_model::{CpuSet, Span};

/// Earliest beginnings that are tried. Any choice of them gives a bound; more give a closer one.
const HEADS: usize = 64;

/// Work that only these CPUs can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// The CPUs.
    pub cpus: CpuSet,
    /// The work of awaited tasks that may run nowhere else.
    pub work: Span,
}

impl Crowd {
    /// How long it takes at least.
    pub fn span(&self) -> Span {
        Span(self.work.0.div_ceil(self.cpus.len().max(1) as u64))
    }
}

/// Something that takes one server's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    /// It cannot begin before.
    pub(super) head: u64,
    /// What it takes.
    pub(super) span: u64,
    /// What must come after it.
    pub(super) tail: u64,
}

/// When `servers` have done all `jobs`, and what comes after them, at the earliest: of those that
/// begin at `head` or later and have `tail` or more behind them, none is done before the smallest
/// head, all of them need their spans, and the last one has its tail ahead.
pub(super) fn least(jobs: &[Job], servers: usize) -> u64 {
    let mut heads: Vec<u64> = jobs.iter().map(|job| job.head).collect();
    heads.sort_unstable();
    heads.dedup();
    let step = heads.len().div_ceil(HEADS).max(1);
    let mut jobs = jobs.to_vec();
    jobs.sort_unstable_by_key(|job| Reverse(job.tail));
    let mut longest = 0;
    for head in heads.into_iter().step_by(step) {
        let mut work = 0_u64;
        for job in jobs.iter().filter(|job| job.head >= head) {
            work = work.saturating_add(job.span);
            let ends = head.saturating_add(work.div_ceil(servers.max(1) as u64));
            longest = longest.max(ends.saturating_add(job.tail));
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(head: u64, span: u64, tail: u64) -> Job {
        Job { head, span, tail }
    }

    #[test]
    fn one_server_does_one_after_the_other_between_the_least_head_and_tail() {
        assert_eq!(least(&[], 1), 0);
        assert_eq!(least(&[job(1, 10, 0), job(1, 10, 0), job(1, 1, 50)], 1), 52);
        assert_eq!(least(&[job(1, 10, 3), job(2, 10, 4)], 1), 24);
        assert_eq!(least(&[job(0, 4, 0), job(9, 4, 9)], 1), 22, "the second alone");
    }

    #[test]
    fn more_servers_share_and_round_up() {
        assert_eq!(least(&[job(0, 5, 0), job(0, 5, 0), job(0, 5, 0)], 2), 8);
        assert_eq!(least(&[job(0, 5, 1), job(0, 5, 1)], 3), 5, "4 and the tail");
    }
}
