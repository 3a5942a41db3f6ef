//! How long a path through each design may take at most, whatever the others do.
//!
//! Every CPU enters the kernel once while one waits in line, and no task has more than one job that
//! comes or one message that is under way. Lines are taken to come from afar. Who spins by
//! test-and-set may wait for ever.

use wastenot_model::Span;
use wastenot_model::machine::{Profile, Section};

use super::per_cpu::{Rules, SPIN, TRIES};
use crate::mechanism::Spin;

/// What the bounds depend on.
#[derive(Clone, Copy, Debug)]
pub struct Worst<'p> {
    /// What things take.
    pub profile: &'p Profile,
    /// CPUs that run tasks, and the one that does not.
    pub cpus: usize,
    /// Tasks.
    pub tasks: usize,
}

impl Worst<'_> {
    /// A line, from wherever.
    fn line(&self) -> Span {
        let prices = &self.profile.hardware;
        prices.line_own.max(prices.line_near).max(prices.line_far)
    }
    /// Handing a lock on for which so many wait. `None`: it may never get there.
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

    /// From entering the kernel until the lock of GSN-EDF is given back, be it for the next task or
    /// for jobs that come: every CPU is ahead, all jobs come, and each leads to a link, as does
    /// each CPU that looks for a task. Grows as the square of the CPUs with ticket locks, else
    /// linearly.
    pub fn coarse(&self) -> Option<Span> {
        let (cpus, jobs) = (self.cpus as u64, self.tasks as u64);
        let each = self.hand_off(self.cpus - 1)? + self.section(self.profile.coarse);
        let links = (self.heap() + self.profile.send) * (jobs + cpus);
        Some(self.profile.isr + (each + self.heap() * 2) * cpus + self.heap() * jobs + links)
    }

    /// From entering the kernel of SCHED_DEADLINE until nobody who waits on the locked queue is
    /// better off elsewhere: any of its paths.
    ///
    /// Whoever waits for a lock waits for a path that works, or for one that waits for a lock of a
    /// higher number, or for that of the heap: never in a circle. So while a path waits another
    /// one works, and it takes no longer than all paths that are under way meanwhile would take one
    /// after the other. Every CPU is taken to walk one of them, and no more tasks to be pushed than
    /// there are CPUs: those that are the most urgent. O(m) paths with O(m) locks: as was argued
    /// when it was measured (Cerqueira, Vanga, Brandenburg, RTAS 2014), it grows as the square of
    /// the CPUs where handing a lock on takes a constant time, as their cube with ticket locks.
    pub fn run_queues(&self, rules: Rules) -> Option<Span> {
        let cpus = self.cpus as u64;
        let hand_off = self.hand_off(self.cpus - 1)?;
        // What others look at has changed, and so has the heap, perhaps.
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

    /// How many locks of queues a path of SCHED_DEADLINE takes, in the mean of all that are under
    /// way: its own at first and once it has switched, and both for each other CPU; then two for
    /// each try to push, of one task and of one more in vain. One that pushes more takes more.
    pub fn queue_locks(&self) -> u64 {
        2 * self.cpus as u64 + 2 * 2 * u64::from(TRIES)
    }

    /// What a client of the dedicated processor does, its message included: only that processor is
    /// ahead. Does not grow with the CPUs, but for who else writes the
    /// same mailbox.
    pub fn client(&self) -> Option<Span> {
        let Profile { client, mailbox, .. } = self.profile;
        let post = self.section(*mailbox) + self.line();
        Some((self.hand_off(2)? + self.section(*client)) * 3 + post)
    }

    /// What the processor does of one message, or of so many jobs that come at once: every link
    /// that follows is written under the lock of a client, in whose line two are ahead; who runs
    /// elsewhere is looked for first, and again if it began meanwhile.
    pub fn handler(&self, jobs: usize) -> Option<Span> {
        let Profile { handler, scan, isr, send, client, .. } = self.profile;
        let first = handler.work + self.line() * u64::from(handler.lines + 1);
        // A look at all CPUs, and at all mailboxes.
        let looks = (*scan + self.profile.hardware.line_own) * self.cpus as u64;
        let first = first + looks + *isr;
        let write = self.hand_off(2)? * 2 + self.section(*client) * 3 + *send;
        let links = (jobs + 1).min(self.cpus) as u64;
        Some(first + self.heap() * (jobs as u64 + 1) + (self.heap() + write * 3) * links)
    }

    /// From a message until the processor reads it: every task has a message or a job before it.
    /// Grows linearly with the tasks: the processor is where this design ends.
    pub fn request(&self) -> Option<Span> {
        let all = self.handler(1)? * self.tasks as u64 + self.handler(self.tasks)?;
        let prices = &self.profile.hardware;
        Some(prices.message + self.section(self.profile.mailbox) + self.line() + all)
    }
}
