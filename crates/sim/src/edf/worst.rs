//! How long a path through each design may take at most, whatever the others do.
//!
//! Every CPU enters the kernel once while one waits in line for a lock, and no task has more than
//! one job that comes or one message that is under way. Lines are taken to come from afar. Who
//! spins by test-and-set may wait for ever.

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

    /// From when a CPU of SCHED_DEADLINE looks for its next task until nobody who waits there is
    /// better off elsewhere: it locks the queue of every CPU, where all others may be in line, and
    /// may lose its own lock each time (Cerqueira, Vanga, Brandenburg, RTAS 2014: O(m) queues, O(m)
    /// in line for each). As they measured it, it grows as the square of the CPUs where handing a
    /// lock on takes a constant time, as their cube with ticket locks. Since Linux 3.14 whoever
    /// holds the lock of a queue may wait for that of the heap, where all may be in line once more.
    ///
    /// It is their argument and no proof: whoever is ahead in line may hold the lock for as long as
    /// it waits for others, and pushes go on as long as they succeed.
    pub fn pull(&self, rules: Rules) -> Option<Span> {
        // Its own at first, both for each other CPU, and its own again once it has switched.
        let locks = 2 * (self.cpus as u64 - 1) + 2;
        Some(self.queue_lock(rules)? * locks + self.push(rules)?)
    }

    /// From the interrupt that releases a job of SCHED_DEADLINE until it waits or runs: the task
    /// may have to leave its CPU first, which looks for its next meanwhile.
    pub fn enqueue(&self, rules: Rules) -> Option<Span> {
        let looks = self.profile.scan * self.cpus as u64 + SPIN;
        let own = self.queue_lock(rules)? + looks * 2;
        Some(self.profile.isr + self.pull(rules)? + own + self.push(rules)?)
    }

    /// Every try takes two locks.
    fn push(&self, rules: Rules) -> Option<Span> {
        Some(self.queue_lock(rules)? * (2 * u64::from(TRIES)))
    }

    /// The lock of a queue: all others are ahead.
    fn queue_lock(&self, rules: Rules) -> Option<Span> {
        let cpus = self.cpus as u64;
        let hand_off = self.hand_off(self.cpus - 1)?;
        let finds = match rules {
            Rules::V8 => self.profile.scan * cpus,
            // The earliest deadlines of two CPUs change.
            Rules::Heap => (self.profile.heap(self.cpus) + self.line() + hand_off) * cpus * 2,
        };
        let holds = self.section(self.profile.run_queue) + self.heap() * 2 + finds;
        Some((hand_off + holds + self.profile.send) * cpus)
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
