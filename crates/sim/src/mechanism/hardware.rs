//! What paths contend for: kernel locks, cache lines, mailboxes.

use std::collections::VecDeque;

use wastenot_model::{CpuId, Span, Time};

macro_rules! ids {
    ($($name:ident $doc:literal;)*) => {
        $(#[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);)*
    };
}

ids! {
    LockId "A kernel lock: a queue of spinning CPUs (ticket, MCS).";
    LineId "A cache line.";
    MailboxId "A mailbox: written by many CPUs, read by one.";
}

/// What the hardware takes. All zero unless set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Taking or writing a line that this CPU wrote last.
    pub line_own: Span,
    /// The same, of a line that another CPU of the node wrote last.
    pub line_near: Span,
    /// The same, of a line that a CPU of another node wrote last.
    pub line_far: Span,
    /// From writing a message until its reader is interrupted.
    pub message: Span,
}

/// Locks, lines and mailboxes, and what was seen of them.
#[derive(Debug, Default)]
pub struct Hardware {
    /// What it takes.
    pub prices: Prices,
    locks: Vec<Lock>,
    lines: Vec<Option<CpuId>>,
    mailboxes: Vec<Mailbox>,
    /// Messages on their way, in the order of arrival.
    under_way: VecDeque<Message>,
}

#[derive(Debug)]
struct Lock {
    holder: Option<CpuId>,
    waiting: VecDeque<CpuId>,
    line: LineId,
}

#[derive(Debug)]
struct Message {
    at: Time,
    mailbox: MailboxId,
    letter: u64,
}

#[derive(Debug)]
struct Mailbox {
    reader: CpuId,
    letters: VecDeque<u64>,
    line: LineId,
}

impl Hardware {
    /// A new lock.
    pub fn lock(&mut self) -> LockId {
        let line = self.line();
        self.locks.push(Lock { holder: None, waiting: VecDeque::new(), line });
        LockId(self.locks.len() as u32 - 1)
    }
    /// A new cache line.
    pub fn line(&mut self) -> LineId {
        self.lines.push(None);
        LineId(self.lines.len() as u32 - 1)
    }
    /// A new mailbox, read by `reader`.
    pub fn mailbox(&mut self, reader: CpuId) -> MailboxId {
        let line = self.line();
        self.mailboxes.push(Mailbox { reader, letters: VecDeque::new(), line });
        MailboxId(self.mailboxes.len() as u32 - 1)
    }
    /// The oldest letter in `mailbox`, taken out.
    pub fn read(&mut self, mailbox: MailboxId) -> Option<u64> {
        self.mailboxes[mailbox.0 as usize].letters.pop_front()
    }
    /// Who holds `lock`.
    pub fn holder(&self, lock: LockId) -> Option<CpuId> {
        self.locks[lock.0 as usize].holder
    }
    /// How many CPUs wait for `lock`.
    pub fn waiting(&self, lock: LockId) -> usize {
        self.locks[lock.0 as usize].waiting.len()
    }

    /// Whether `cpu` has the lock now; otherwise it waits.
    pub(crate) fn take(&mut self, lock: LockId, cpu: CpuId) -> Option<LineId> {
        let lock = &mut self.locks[lock.0 as usize];
        if lock.holder.is_some() {
            lock.waiting.push_back(cpu);
            return None;
        }
        lock.holder = Some(cpu);
        Some(lock.line)
    }
    /// Hands the lock on; who has it now, and the line that has to travel there.
    pub(crate) fn hand_on(&mut self, lock: LockId) -> Option<(CpuId, LineId)> {
        let lock = &mut self.locks[lock.0 as usize];
        lock.holder = lock.waiting.pop_front();
        lock.holder.map(|cpu| (cpu, lock.line))
    }
    /// Whether `cpu` waits for a lock.
    pub(crate) fn is_waiting(&self, cpu: CpuId) -> bool {
        self.locks.iter().any(|lock| lock.waiting.contains(&cpu))
    }
    /// Leaves a letter that arrives at `at`; who reads it, and the line that was written.
    pub(crate) fn post(&mut self, mailbox: MailboxId, letter: u64, at: Time) -> (CpuId, LineId) {
        self.under_way.push_back(Message { at, mailbox, letter });
        let mailbox = &self.mailboxes[mailbox.0 as usize];
        (mailbox.reader, mailbox.line)
    }
    /// The mailbox of `cpu` into which the next letter falls by `now`.
    pub(crate) fn arrive(&mut self, cpu: CpuId, now: Time) -> Option<MailboxId> {
        let at = self.next_for(cpu)?;
        if self.under_way[at].at > now {
            return None;
        }
        let message = self.under_way.remove(at)?;
        self.mailboxes[message.mailbox.0 as usize].letters.push_back(message.letter);
        Some(message.mailbox)
    }
    /// When the next letter for `cpu` arrives.
    pub(crate) fn next_arrival(&self, cpu: CpuId) -> Option<Time> {
        self.next_for(cpu).map(|at| self.under_way[at].at)
    }
    fn next_for(&self, cpu: CpuId) -> Option<usize> {
        let mut under_way = self.under_way.iter();
        under_way.position(|message| self.mailboxes[message.mailbox.0 as usize].reader == cpu)
    }
    /// `cpu` writes `line`: whoever wrote it before.
    pub(crate) fn write(&mut self, line: LineId, cpu: CpuId) -> Option<CpuId> {
        self.lines[line.0 as usize].replace(cpu)
    }
}
