//! The least time that some servers take for a list of jobs, where each job has work that must come
//! before and after it: CPUs and work, or a lock and its critical sections.

use std::cmp::Reverse;

use wastenot_model::{CpuSet, Span};

/// How many earliest beginnings are tried. Any choice gives a bound; more choices give a closer
/// one.
const HEADS: usize = 64;

/// Work that only these CPUs can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// The CPUs.
    pub cpus: CpuSet,
    /// The work of awaited tasks that may run on no other CPU.
    pub work: Span,
}

impl Crowd {
    /// The least time that it takes.
    pub fn span(&self) -> Span {
        Span(self.work.0.div_ceil(self.cpus.len().max(1) as u64))
    }
}

/// A job that takes the time of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    /// The earliest time at which it can begin.
    pub(super) head: u64,
    /// The server time that it takes.
    pub(super) span: u64,
    /// What must come after it.
    pub(super) tail: u64,
}

/// The earliest time at which `servers` have done all `jobs` and what comes after them. Take the
/// jobs that begin at `head` or later and have `tail` or more after them: none is done before the
/// smallest head, all of them need their spans, and after the last one its tail follows.
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
