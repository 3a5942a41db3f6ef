//! How long kernel code and hardware operations take: the parameters under which designs are
//! compared.

use super::Costs;
use crate::Span;

/// How CPUs spin for a lock, and which CPU gets it next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spin {
    /// Each waiter spins on its own line, first come, first served: MCS, Linux's queued spinlocks.
    #[default]
    Own,
    /// All waiters spin on one line, first come, first served: a ticket lock. Each waiter fetches
    /// the line again when the lock is handed on.
    Ticket,
    /// All waiters spin on one line, and the first that gets it has the lock: test-and-set. The
    /// nearest waiter gets it, so that CPUs of another node may wait for ever.
    TestAndSet,
}

/// How long hardware operations take. The default of all is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Taking or writing a line that this CPU wrote last.
    pub line_own: Span,
    /// The same, of a line that another CPU of the node wrote last.
    pub line_near: Span,
    /// The same, of a line that a CPU of another node wrote last.
    pub line_far: Span,
    /// Handing a lock on, without the transfer of its line.
    pub hand_off: Span,
    /// How often each waiter fetches the line of a lock that is handed on, unless it spins on its
    /// own line.
    pub fetches: u32,
    /// From writing a message until its reader is interrupted.
    pub message: Span,
    /// From when a timer is due until its CPU is interrupted.
    pub timer: Span,
}

/// How long a piece of kernel code takes: its own work, and the lines that it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Its work.
    pub work: Span,
    /// The number of lines.
    pub lines: u32,
}

/// A set of parameters for all parts of a job's path through a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Lines, locks, messages, timers.
    pub hardware: Prices,
    /// How CPUs spin for locks.
    pub spin: Spin,
    /// From the moment when another CPU sends an interrupt until it arrives.
    pub ipi: Span,
    /// Entering an interrupt.
    pub isr: Span,
    /// Interrupting another CPU.
    pub send: Span,
    /// A context switch.
    pub switch: Span,
    /// One step down or up a heap.
    pub heap_step: Span,
    /// Under the one lock of GSN-EDF.
    pub coarse: Section,
    /// Under the lock of one run queue of SCHED_DEADLINE.
    pub run_queue: Section,
    /// The work of a client of the dedicated processor, under its own lock.
    pub client: Section,
    /// Putting a message into a mailbox.
    pub mailbox: Section,
    /// What the dedicated processor does for one message.
    pub handler: Section,
    /// Checking one CPU during the search for the least urgent one.
    pub scan: Span,
}

impl Profile {
    /// The profiles that have a name.
    pub const NAMED: [(&str, Profile); 2] =
        [("free", Profile::FREE), ("x7550-assumed", Profile::X7550_ASSUMED)];

    /// With `lines` lines written under the one lock, and `fetches` fetches of a ticket lock's line
    /// by each waiter: these two are fitted, since they are not published.
    #[must_use]
    pub const fn with_lines(mut self, lines: u32, fetches: u32) -> Profile {
        self.coarse.lines = lines;
        self.hardware.fetches = fetches;
        self
    }

    /// All operations take no time.
    pub const FREE: Profile = Profile {
        hardware: Prices {
            line_own: Span::ZERO,
            line_near: Span::ZERO,
            line_far: Span::ZERO,
            hand_off: Span::ZERO,
            fetches: 0,
            message: Span::ZERO,
            timer: Span::ZERO,
        },
        spin: Spin::Own,
        ipi: Span::ZERO,
        isr: Span::ZERO,
        send: Span::ZERO,
        switch: Span::ZERO,
        heap_step: Span::ZERO,
        coarse: Section { work: Span::ZERO, lines: 0 },
        run_queue: Section { work: Span::ZERO, lines: 0 },
        client: Section { work: Span::ZERO, lines: 0 },
        mailbox: Section { work: Span::ZERO, lines: 0 },
        handler: Section { work: Span::ZERO, lines: 0 },
        scan: Span::ZERO,
    };

    /// Eight sockets of eight CPUs at 2 GHz, the machine on which Cerqueira, Vanga and Brandenburg
    /// measured (RTAS 2014). No value is measured: line transfers are of the order that others
    /// measured on such machines, and the number of lines written under the lock is fitted to the
    /// only published figure, 3 ms at 64 CPUs.
    pub const X7550_ASSUMED: Profile = Profile {
        hardware: Prices {
            line_own: Span(3),
            line_near: Span(50),
            line_far: Span(150),
            hand_off: Span(200),
            fetches: 8,
            message: Span(1_000),
            timer: Span(1_000),
        },
        spin: Spin::Ticket,
        ipi: Span(1_000),
        isr: Span(1_000),
        send: Span(300),
        switch: Span(1_000),
        heap_step: Span(50),
        coarse: Section { work: Span(1_000), lines: 133 },
        run_queue: Section { work: Span(600), lines: 12 },
        client: Section { work: Span(1_000), lines: 6 },
        mailbox: Section { work: Span(0), lines: 3 },
        handler: Section { work: Span(1_300), lines: 8 },
        scan: Span(2),
    };

    /// Inserting an element into a heap of `size` and removing one.
    pub fn heap(&self, size: usize) -> Span {
        let steps = 2.0 * libm::log2(size.max(2) as f64);
        Span(libm::ceil(self.heap_step.0 as f64 * steps) as u64)
    }

    /// The costs that the engine applies.
    pub fn costs(&self) -> Costs {
        Costs { switch: self.switch, ipi: self.ipi, ..Costs::default() }
    }
}
