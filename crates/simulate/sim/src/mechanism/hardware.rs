//! What paths contend for: kernel locks, cache lines, mailboxes.

use std::collections::VecDeque;

use wastenot_model::machine::{Prices, Spin};
use wastenot_model::{CpuId, CpuSet, Distribution, Machine, Span, Time};

macro_rules! ids {
    ($($name:ident $doc:literal;)*) => {
        $(#[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);)*
    };
}

ids! {
    LockId "Kernel locks, on which CPUs spin.";
    LineId "Cache lines that are always written together.";
    MailboxId "Mailboxes: many CPUs write, and one CPU reads.";
}

/// The observed contention of a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// How often it was taken.
    pub taken: u64,
    /// How long CPUs that had to wait for it waited, in ns.
    pub waits: Distribution,
    /// The most CPUs that held it or waited for it at one time.
    pub contenders_max: usize,
}

/// Locks, cache lines and mailboxes, and the observed contention.
#[derive(Debug, Default)]
pub struct Hardware {
    /// What each operation costs.
    pub prices: Prices,
    /// By CPU: its node, or a smaller unit if one is known.
    homes: Vec<u32>,
    locks: Vec<Lock>,
    lines: Vec<Line>,
    mailboxes: Vec<Mailbox>,
    /// By CPU: messages on their way to it, in the order of arrival.
    under_way: Vec<VecDeque<Message>>,
    /// By CPU: whether it waits for a lock.
    waits: Vec<bool>,
    /// Lines that moved to another CPU.
    transfers: u64,
}

#[derive(Debug)]
struct Lock {
    spin: Spin,
    holder: Option<CpuId>,
    waiting: VecDeque<(CpuId, Time)>,
    line: LineId,
    seen: Contention,
}

#[derive(Debug)]
struct Line {
    count: u32,
    /// The CPU that wrote it last.
    owner: Option<CpuId>,
    /// The other CPUs that have read it since.
    readers: CpuSet,
    writers: CpuSet,
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
    pub(crate) fn new(machine: &Machine) -> Hardware {
        let cpus = machine.cpus.len();
        let alone = (0..).map(|n| u32::MAX - n);
        let known = machine.cpus.iter().map(|cpu| cpu.node.or(cpu.llc).or(cpu.core));
        Hardware {
            homes: known.zip(alone).map(|(home, alone)| home.unwrap_or(alone)).collect(),
            under_way: (0..cpus).map(|_| VecDeque::new()).collect(),
            waits: vec![false; cpus],
            ..Hardware::default()
        }
    }

    /// A new lock.
    pub fn lock(&mut self, spin: Spin) -> LockId {
        let line = self.line(1);
        let (waiting, seen) = (VecDeque::new(), Contention::default());
        self.locks.push(Lock { spin, holder: None, waiting, line, seen });
        LockId(self.locks.len() as u32 - 1)
    }
    /// `count` new cache lines that are written together.
    pub fn line(&mut self, count: u32) -> LineId {
        let [readers, writers] = [CpuSet::new(), CpuSet::new()];
        self.lines.push(Line { count, owner: None, readers, writers });
        LineId(self.lines.len() as u32 - 1)
    }
    /// A new mailbox, read by `reader`.
    pub fn mailbox(&mut self, reader: CpuId) -> MailboxId {
        let line = self.line(1);
        self.mailboxes.push(Mailbox { reader, letters: VecDeque::new(), line });
        MailboxId(self.mailboxes.len() as u32 - 1)
    }
    /// The oldest letter in `mailbox`, taken out.
    pub fn read(&mut self, mailbox: MailboxId) -> Option<u64> {
        self.mailboxes[mailbox.0 as usize].letters.pop_front()
    }
    /// The CPU that holds `lock`.
    pub fn holder(&self, lock: LockId) -> Option<CpuId> {
        self.locks[lock.0 as usize].holder
    }
    /// How many CPUs wait for `lock`.
    pub fn waiting(&self, lock: LockId) -> usize {
        self.locks[lock.0 as usize].waiting.len()
    }
    /// The observed contention of `lock`.
    pub(crate) fn contention(&self, lock: LockId) -> &Contention {
        &self.locks[lock.0 as usize].seen
    }
    /// The CPUs that ever wrote `line`.
    pub(crate) fn writers(&self, line: LineId) -> &CpuSet {
        &self.lines[line.0 as usize].writers
    }
    /// The line of `mailbox`.
    pub(crate) fn line_of(&self, mailbox: MailboxId) -> LineId {
        self.mailboxes[mailbox.0 as usize].line
    }
    /// How many lines moved from one CPU to another.
    pub(crate) fn transfers(&self) -> u64 {
        self.transfers
    }

    /// How long `cpu` takes to get the lock if no CPU holds it; else `cpu` waits from `now` on.
    pub(crate) fn take(&mut self, lock: LockId, cpu: CpuId, now: Time) -> Option<Span> {
        let it = &mut self.locks[lock.0 as usize];
        let contenders = it.waiting.len() + usize::from(it.holder.is_some()) + 1;
        it.seen.contenders_max = it.seen.contenders_max.max(contenders);
        it.seen.taken += 1;
        if it.holder.is_some() {
            it.waiting.push_back((cpu, now));
            self.waits[cpu.index()] = true;
            return None;
        }
        it.holder = Some(cpu);
        let line = it.line;
        Some(self.write(line, cpu))
    }
    /// `lock` is handed on, at `now`: the CPU that has it next, and how long that takes.
    pub(crate) fn hand_on(&mut self, lock: LockId, now: Time) -> Option<(CpuId, Span)> {
        let it = &self.locks[lock.0 as usize];
        let Some(holder) = it.holder.filter(|_| !it.waiting.is_empty()) else {
            self.locks[lock.0 as usize].holder = None;
            return None;
        };
        let price = |cpu: CpuId| self.price(holder, cpu);
        let waiting = it.waiting.iter().map(|(cpu, _)| *cpu);
        let next = match it.spin {
            Spin::Own | Spin::Ticket => 0,
            Spin::TestAndSet => waiting.clone().enumerate().min_by_key(|&(_, cpu)| price(cpu))?.0,
        };
        let fetched = match it.spin {
            Spin::Own => Span::ZERO,
            Spin::Ticket | Spin::TestAndSet => {
                waiting.map(price).fold(Span::ZERO, |all, one| all + one)
            }
        };
        let it = &mut self.locks[lock.0 as usize];
        let (cpu, since) = it.waiting.remove(next)?;
        let line = it.line;
        it.holder = Some(cpu);
        self.waits[cpu.index()] = false;
        let line = self.write(line, cpu);
        let fetched = fetched * self.prices.fetches.into();
        let takes = self.prices.hand_off + line + fetched;
        self.locks[lock.0 as usize].seen.waits.add((now + takes - since).0);
        Some((cpu, takes))
    }
    /// Whether `cpu` waits for a lock.
    pub(crate) fn is_waiting(&self, cpu: CpuId) -> bool {
        self.waits[cpu.index()]
    }
    /// `cpu` writes a letter that arrives at `at`; returns its reader, and how long the write
    /// takes.
    pub(crate) fn post(
        &mut self,
        (mailbox, letter): (MailboxId, u64),
        cpu: CpuId,
        at: Time,
    ) -> (CpuId, Span) {
        let Mailbox { reader, line, .. } = self.mailboxes[mailbox.0 as usize];
        self.under_way[reader.index()].push_back(Message { at, mailbox, letter });
        (reader, self.write(line, cpu))
    }
    /// The mailbox of `cpu` in which the next letter arrives by `now`.
    pub(crate) fn arrive(&mut self, cpu: CpuId, now: Time) -> Option<MailboxId> {
        let message = self.under_way[cpu.index()].pop_front_if(|message| message.at <= now)?;
        self.mailboxes[message.mailbox.0 as usize].letters.push_back(message.letter);
        Some(message.mailbox)
    }
    /// When the next letter for `cpu` arrives.
    pub(crate) fn next_arrival(&self, cpu: CpuId) -> Option<Time> {
        self.under_way[cpu.index()].front().map(|message| message.at)
    }
    /// `cpu` writes `line`; returns how long that takes. The line has to come from its last writer,
    /// and is invalidated on all CPUs that have read it since.
    pub(crate) fn write(&mut self, line: LineId, cpu: CpuId) -> Span {
        let it = &self.lines[line.0 as usize];
        let last = it.owner.unwrap_or(cpu);
        let others = it.readers.iter().map(|reader| self.price(reader, cpu));
        let takes = others.fold(self.price(last, cpu), Span::max) * it.count.into();
        let it = &mut self.lines[line.0 as usize];
        if last != cpu || it.writers.is_empty() {
            it.writers.insert(cpu);
            self.transfers += if last == cpu { 0 } else { it.count.into() };
        }
        it.owner = Some(cpu);
        it.readers.clear();
        takes
    }
    /// `cpu` reads `line`; returns how long that takes.
    pub(crate) fn look(&mut self, line: LineId, cpu: CpuId) -> Span {
        let it = &mut self.lines[line.0 as usize];
        let last = it.owner.unwrap_or(cpu);
        let count = u64::from(it.count);
        if last == cpu || it.readers.contains(cpu) {
            return self.prices.line_own * count;
        }
        it.readers.insert(cpu);
        self.transfers += count;
        self.price(last, cpu) * count
    }

    /// How long a line takes from `last`, its last writer, to `cpu`.
    fn price(&self, last: CpuId, cpu: CpuId) -> Span {
        let prices = &self.prices;
        if last == cpu {
            prices.line_own
        } else if self.homes[last.index()] == self.homes[cpu.index()] {
            prices.line_near
        } else {
            prices.line_far
        }
    }
}
