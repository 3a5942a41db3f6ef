//! How long a path through each design may take at most, whatever the others do.
//!
//! Every CPU enters the kernel once while one waits in line for a lock, and no task has more than
//! one job that comes or one message that is under way. Lines are taken to come from afar. Who
//! spins by test-and-set may wait for ever.

use wastenot_model::Span;
use wastenot_model::machine::{Profile, Section};

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

    /// From when a CPU of SCHED_DEADLINE looks for its next task until it has it: it locks the
    /// queue of every CPU, where all others may be in line, and may lose its own lock each time
    /// (Cerqueira, Vanga, Brandenburg, RTAS 2014: O(m) queues, O(m) in line for each). Grows as the
    /// square of the CPUs where handing a lock on takes a constant time, as their cube with ticket
    /// locks.
    pub fn pull(&self) -> Option<Span> {
        let others = self.cpus as u64;
        let heaps = self.profile.heap(self.cpus) * 2 + self.heap();
        let each = self.section(self.profile.run_queue) + heaps + self.hand_off(self.cpus - 1)? * 2;
        Some(each * others * others * 2)
    }

    /// What a client of the dedicated processor does, its message included: only that processor and
    /// who wakes a task of it are ahead. Does not grow with the CPUs, but for who else writes the
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
        let first = first + *scan * self.cpus as u64 + *isr;
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
