//! Upper bounds on the length of a path through each design, whatever the other CPUs do.
//!
//! Assumptions: every CPU enters the kernel once while one waits in a lock's queue, and no task has
//! more than one job to be released or one message under way. Every cache line comes from the
//! furthest CPU. A CPU that spins on a test-and-set lock may wait for ever.

use wastenot_model::Span;
use wastenot_model::machine::Spin;
use wastenot_model::machine::{Profile, Section};
use wastenot_sim::edf::{Rules, SPIN, TRIES};

/// What the bounds depend on.
#[derive(Clone, Copy, Debug)]
pub struct Worst<'p> {
    /// How long operations take.
    pub profile: &'p Profile,
    /// CPUs, those that run tasks and the one that does not.
    pub cpus: usize,
    /// Tasks.
    pub tasks: usize,
}

impl Worst<'_> {
    /// A cache line from the furthest CPU.
    fn line(&self) -> Span {
        let prices = &self.profile.hardware;
        prices.line_own.max(prices.line_near).max(prices.line_far)
    }
    /// Handing on a lock for which `waiting` CPUs wait. `None`: a waiter may never get it.
    fn hand_off(&self, waiting: usize) -> Option<Span> {
        let prices = &self.profile.hardware;
        let fetched = match self.profile.spin {
            Spin::Own => 0,
            Spin::Ticket => u64::from(prices.fetches) * waiting as u64,
            Spin::TestAndSet => return None,
        };
        Some(prices.hand_off + self.line() * (1 + fetched))
    }
    fn section(&self, section: Section) -> Span {
        section.work + self.line() * section.lines.into()
    }
    fn heap(&self) -> Span {
        self.profile.heap(self.tasks)
    }

    /// From entering the kernel until the lock of GSN-EDF is released, whether for the next task or
    /// for released jobs: every CPU is ahead, all jobs are released, and each leads to a link, as
    /// does each CPU that picks a task. Grows as the square of the number of CPUs with ticket
    /// locks, else linearly.
    pub fn coarse(&self) -> Option<Span> {
        let (cpus, jobs) = (self.cpus as u64, self.tasks as u64);
        let each = self.hand_off(self.cpus - 1)? + self.section(self.profile.coarse);
        let links = (self.heap() + self.profile.send) * (jobs + cpus);
        Some(self.profile.isr + (each + self.heap() * 2) * cpus + self.heap() * jobs + links)
    }

    /// From entering the kernel of SCHED_DEADLINE until no task that waits on the locked run queue
    /// should move to another CPU, for any of its paths.
    ///
    /// A path that waits for a lock waits for a path that works, or for a path that itself waits
    /// for a lock with a higher number or for the lock of the heap: never in a cycle. So while a
    /// path waits another one works, and the wait is no longer than all paths that are under way
    /// meanwhile would take one after the other. Assumptions: every CPU is in one of the paths, and
    /// no more tasks are to be pushed than there are CPUs: the most urgent ones. O(m) paths with
    /// O(m) locks: as was argued when it was measured (Cerqueira, Vanga, Brandenburg, RTAS 2014),
    /// it grows as the square of the number of CPUs if handing a lock on takes a constant time, as
    /// its cube with ticket locks.
    pub fn run_queues(&self, rules: Rules) -> Option<Span> {
        let cpus = self.cpus as u64;
        let hand_off = self.hand_off(self.cpus - 1)?;
        // The published deadline has changed, and possibly the heap.
        let told = match rules {
            Rules::V8 => self.line(),
            Rules::Heap => self.line() * 2 + self.profile.heap(self.cpus) + hand_off,
        };
        let looks = match rules {
            Rules::V8 => (self.line() + self.profile.scan) * cpus,
            Rules::Heap => self.line(),
        };
        // A task moves from one queue to another.
        let section = self.section(self.profile.run_queue) + (self.heap() + told) * 2;
        let lock = hand_off + section + self.profile.send;
        let tries = 2 * u64::from(TRIES);
        let path = self.profile.isr + SPIN + self.line() * cpus + looks * (1 + tries);
        Some((path + lock * self.queue_locks()) * cpus)
    }

    /// How many run queue locks a path of SCHED_DEADLINE takes, in the mean of all paths that are
    /// under way: the lock of its own CPU at first and after the switch, and both locks for each
    /// other CPU; then two for each try to push: for one task, and for one more that fails. A path
    /// that pushes more tasks takes more locks.
    pub fn queue_locks(&self) -> u64 {
        2 * self.cpus as u64 + 2 * 2 * u64::from(TRIES)
    }

    /// The path of a client of the dedicated processor, its message included: only that processor
    /// is ahead. Does not grow with the number of CPUs, except by those that write the same
    /// mailbox.
    pub fn client(&self) -> Option<Span> {
        let Profile { client, mailbox, .. } = self.profile;
        let post = self.section(*mailbox) + self.line();
        Some((self.hand_off(2)? + self.section(*client)) * 3 + post)
    }

    /// What the processor does for one message, or for `jobs` jobs that are released at once: every
    /// link that follows is written under the lock of a client, in whose queue two are ahead; first
    /// the processor looks for a client that runs the task, and again if one began to run it
    /// meanwhile.
    pub fn handler(&self, jobs: usize) -> Option<Span> {
        let Profile { handler, scan, isr, send, client, .. } = self.profile;
        let first = handler.work + self.line() * u64::from(handler.lines + 1);
        // A scan of all CPUs, and of all mailboxes.
        let looks = (*scan + self.profile.hardware.line_own) * self.cpus as u64;
        let first = first + looks + *isr;
        let write = self.hand_off(2)? * 2 + self.section(*client) * 3 + *send;
        let links = (jobs + 1).min(self.cpus) as u64;
        Some(first + self.heap() * (jobs as u64 + 1) + (self.heap() + write * 3) * links)
    }

    /// From a message until the processor reads it: every task has a message or a job before it.
    /// Grows linearly with the number of tasks: this is the limit of this design.
    pub fn request(&self) -> Option<Span> {
        let all = self.handler(1)? * self.tasks as u64 + self.handler(self.tasks)?;
        let prices = &self.profile.hardware;
        Some(prices.message + self.section(self.profile.mailbox) + self.line() + all)
    }
}
