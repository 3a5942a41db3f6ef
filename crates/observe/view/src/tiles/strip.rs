//! What one CPU did and who waited on it, exactly, in few bytes.
//!
//! A [`Strip`] holds one record for each moment at which what the CPU does, or who waits on it,
//! changed. Records stand in blocks, and a block begins with all that holds then, so that a reader
//! begins near the time that it is asked for. Numbers are LEB128; a task is its ordinal.
//!
//! ```text
//! block    activity  1 byte; the time since it began; the task, if it is RUN
//!          queue     the number of those who wait, and each: task, how long it waited, origin,
//!                    and who woke it: 0, or 1 more than the task
//! record   flags     1 byte
//!            bits 0 to 2   the activity, or 7: as before
//!            bit 3         the task that now runs was queued here, and leaves the queue
//!            bits 4 to 5   who joins the queue: 0 none, 1 the task that ran until now,
//!                          2 a task that begins to wait now, 3 a list follows
//!            bits 6 to 7   how the wait of who joins began, where it is one: see `ORIGINS`
//!          time      ns since the record before; of the first: since the block began
//!          task      if the activity is RUN
//!          joins     for 2 the task, and who woke it if it was woken; for 3 the number of those
//!                    who leave, and each; then the number of those who join, each as in a block
//! ```

use std::collections::HashMap;

use wastenot_model::{Activity, CpuId, CpuState, Origin, TaskId, TaskState, Time};

use crate::tiles::bytes::{self, Writer};
use crate::tiles::heap::Heap;
use crate::tiles::leb128;

/// Records of a block, at least.
const BLOCK: u32 = 256;
/// A block is at least so many times as long as what it begins with.
const BLOCK_LONGER: usize = 8;

/// What a CPU does and how many tasks wait on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing {
    /// What it does.
    pub activity: Activity,
    /// How many tasks wait on it.
    pub waiting: u32,
}

impl Doing {
    /// Of what nothing is known.
    pub(crate) const UNKNOWN: Doing = Doing { activity: Activity::Unknown, waiting: 0 };

    pub(crate) fn of(cpu: &CpuState) -> Doing {
        Doing { activity: cpu.activity(), waiting: cpu.waiting }
    }
}

/// A task that waits on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Who.
    pub task: TaskId,
    /// Since when it waits, here or elsewhere.
    pub since: Time,
    /// How its wait began.
    pub origin: Origin,
    /// Which task woke or created it, where it was woken or created and that is known.
    pub waker: Option<TaskId>,
}

impl Waiter {
    /// `task`, which is so.
    pub(crate) fn of(task: TaskId, known: &TaskState) -> Waiter {
        let waker = known.waker.task.filter(|task| is_woken(known.origin) && !task.is_idle());
        Waiter { task, since: known.since, origin: known.origin, waker }
    }
}

fn is_woken(origin: Origin) -> bool {
    matches!(origin, Origin::Wakeup | Origin::NoSelection | Origin::Waking | Origin::Fork)
}

/// A change of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Leaves(TaskId),
    Joins(Waiter),
}

const UNKNOWN: u8 = 0;
const OFFLINE: u8 = 1;
const IDLE: u8 = 2;
const RUN: u8 = 3;
const AS_BEFORE: u8 = 7;

const STARTS: u8 = 1 << 3;

const NONE: u8 = 0;
const WHO_RAN: u8 = 1;
const WOKEN: u8 = 2;
const LIST: u8 = 3;

/// In lists by their place; beside `WHO_RAN` and `WOKEN` in two bits.
const ORIGINS: [Origin; 8] = [
    Origin::Wakeup,
    Origin::Fork,
    Origin::Preempted,
    Origin::Yielded,
    Origin::Unknown,
    Origin::NoSelection,
    Origin::Waking,
    Origin::Released,
];

fn code(origin: Origin) -> u8 {
    ORIGINS.iter().position(|it| *it == origin).unwrap_or(4) as u8
}

/// What one CPU did.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    blocks: Vec<Block>,
    /// Of the last block, as long as it grows; those of the others are in the heap.
    bytes: Vec<u8>,
    /// Records of the last block.
    filled: u32,
    /// What holds, since when, and since when it does that.
    last: (Time, Doing),
    active_since: Time,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    time: Time,
    /// Its place in the heap.
    offset: u64,
    length: u32,
    /// Where in it its records begin.
    records: u32,
}

impl Strip {
    pub(crate) fn new(from: Time) -> Strip {
        let mut strip = Strip {
            blocks: Vec::new(),
            bytes: Vec::new(),
            filled: 0,
            last: (from, Doing::UNKNOWN),
            active_since: from,
        };
        strip.begin_block([].into_iter());
        strip
    }

    /// What holds.
    pub(crate) fn now(&self) -> Doing {
        self.last.1
    }

    fn begin_block(&mut self, queue: impl Iterator<Item = Waiter>) {
        let (time, is) = self.last;
        let (activity, task) = put_activity(is.activity);
        self.bytes.push(activity);
        leb128::put(&mut self.bytes, time.since(self.active_since).0);
        self.put_task(task);
        leb128::put(&mut self.bytes, is.waiting.into());
        // There are as many as the CPU says, unless they are more than a strip can tell.
        for waiter in queue.take(is.waiting as usize) {
            self.put_waiter(waiter, time);
        }
        let records = self.bytes.len() as u32;
        self.blocks.push(Block { time, offset: 0, length: 0, records });
        self.filled = 0;
    }

    /// The last block is complete.
    pub(crate) fn end_block(&mut self, heap: &mut Heap<'_>) {
        if let Some(last) = self.blocks.last_mut() {
            (last.offset, last.length) = (heap.put(&self.bytes), self.bytes.len() as u32);
        }
        self.bytes.clear();
    }

    fn put_task(&mut self, task: Option<TaskId>) {
        if let Some(task) = task {
            // An idle task neither waits nor is what a CPU is busy with.
            leb128::put(&mut self.bytes, task.index().unwrap_or(0) as u64);
        }
    }

    fn put_waiter(&mut self, waiter: Waiter, now: Time) {
        self.put_task(Some(waiter.task));
        leb128::put(&mut self.bytes, now.since(waiter.since).0);
        self.bytes.push(code(waiter.origin));
        self.put_waker(waiter);
    }

    fn put_waker(&mut self, waiter: Waiter) {
        if is_woken(waiter.origin) {
            let waker = waiter.waker.and_then(TaskId::index);
            leb128::put(&mut self.bytes, waker.map_or(0, |index| index as u64 + 1));
        }
    }

    /// From `now` on it is so. `changes` of the queue led there from what was, and `queue` is what
    /// it is now. Calls come in time order.
    pub(crate) fn push(
        &mut self,
        now: Time,
        is: Doing,
        changes: &[Change],
        queue: impl Iterator<Item = Waiter>,
        heap: &mut Heap<'_>,
    ) {
        let (before, was) = self.last;
        if was == is && changes.is_empty() {
            return;
        }
        let (mut activity, task) = put_activity(is.activity);
        if is.activity == was.activity {
            activity = AS_BEFORE;
        } else {
            self.active_since = now;
        }
        let task = task.filter(|_| activity == RUN);
        let flags_at = self.bytes.len();
        self.bytes.push(activity);
        leb128::put(&mut self.bytes, now.since(before).0);
        self.put_task(task);
        self.bytes[flags_at] |= self.put_changes(now, was.activity, task, changes);
        self.filled += 1;
        self.last = (now, is);
        let begin = self.blocks.last().map_or(0, |last| last.records as usize);
        if self.filled >= BLOCK && self.bytes.len() - begin >= begin * BLOCK_LONGER {
            self.end_block(heap);
            self.begin_block(queue);
        }
    }

    /// Writes what happened to the queue, and gives its flags.
    fn put_changes(
        &mut self,
        now: Time,
        ran: Activity,
        runs: Option<TaskId>,
        changes: &[Change],
    ) -> u8 {
        let starts = |change: &Change| matches!(change, Change::Leaves(it) if Some(*it) == runs);
        let started = changes.iter().position(starts);
        let starts = if started.is_some() { STARTS } else { 0 };
        let mut rest = changes.iter().enumerate().filter(|(n, _)| Some(*n) != started);
        let joins = match (rest.next(), rest.next()) {
            (None, _) => return starts,
            (Some((_, Change::Joins(it))), None) if it.since == now && code(it.origin) < 4 => {
                Some(*it)
            }
            _ => None,
        };
        match joins {
            Some(it) if ran == Activity::Run(it.task) && !is_woken(it.origin) => {
                starts | WHO_RAN << 4 | code(it.origin) << 6
            }
            Some(it) => {
                self.put_task(Some(it.task));
                self.put_waker(it);
                starts | WOKEN << 4 | code(it.origin) << 6
            }
            None => {
                // The task that starts is in the list as well.
                let leaves = changes.iter().filter(|it| matches!(it, Change::Leaves(_)));
                leb128::put(&mut self.bytes, leaves.count() as u64);
                for change in changes {
                    if let Change::Leaves(task) = change {
                        self.put_task(Some(*task));
                    }
                }
                let joins = changes.iter().filter(|it| matches!(it, Change::Joins(_)));
                leb128::put(&mut self.bytes, joins.count() as u64);
                for change in changes {
                    if let Change::Joins(waiter) = change {
                        self.put_waiter(*waiter, now);
                    }
                }
                LIST << 4
            }
        }
    }

    /// What it did from `from` on. The reader's first state holds then, or began before it. All
    /// blocks are in `heap`.
    pub(crate) fn read<'s, Q: Queue>(
        &'s self,
        heap: &'s [u8],
        from: Time,
        queue: Q,
    ) -> Reader<'s, Q> {
        let after = self.blocks.partition_point(|block| block.time <= from).max(1);
        let mut reader = Reader {
            heap,
            bytes: &[],
            blocks: &self.blocks[(after - 1).min(self.blocks.len())..],
            at: 0,
            now: (Time(0), Doing::UNKNOWN),
            active_since: Time(0),
            queue,
        };
        reader.begin_block();
        while reader.next_time().is_some_and(|time| time <= from) {
            reader.step();
        }
        reader
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        to.all(&self.blocks, |to, block| {
            let parts = u64::from(block.length) << 32 | u64::from(block.records);
            [block.time.0, block.offset, parts].into_iter().for_each(|it| to.number(it));
        });
    }

    /// To be read, not to be continued. So many bytes are in the heap.
    pub(crate) fn read_from(from: &mut bytes::Reader<'_>, heap: u64) -> Option<Strip> {
        let blocks = from.all(|from| {
            let (time, offset, parts) = (Time(from.number()?), from.number()?, from.number()?);
            let (length, records) = ((parts >> 32) as u32, parts as u32);
            let end = offset.checked_add(length.into())?;
            (records <= length && end <= heap).then_some(Block { time, offset, length, records })
        })?;
        let last = (Time(0), Doing::UNKNOWN);
        Some(Strip { blocks, bytes: Vec::new(), filled: 0, last, active_since: Time(0) })
    }

    /// Bytes beside the heap.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.blocks.len() * size_of::<Block>()
    }
}

fn put_activity(activity: Activity) -> (u8, Option<TaskId>) {
    match activity {
        Activity::Unknown => (UNKNOWN, None),
        Activity::Offline => (OFFLINE, None),
        // A CPU that is about to start a task is idle, and a task waits on it.
        Activity::Idle | Activity::Waking => (IDLE, None),
        Activity::Run(task) => (RUN, Some(task)),
    }
}

/// What a reader keeps of those who wait on a CPU.
pub(crate) trait Queue {
    /// No task waits any more.
    fn clear(&mut self) {}
    /// This task waits as well.
    fn join(&mut self, waiter: Waiter) {
        let _ = waiter;
    }
    /// This task waits no more.
    fn leave(&mut self, task: TaskId) {
        let _ = task;
    }
}

/// Keeps nothing: a [`Doing`] says how many wait.
impl Queue for () {}

/// Keeps all. Thousands may wait, and any of them may be the next to leave.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Those who came, and of each task its place in the order in which they came.
    came: u64,
    waiters: HashMap<TaskId, (u64, Waiter)>,
}

impl Waiting {
    /// All, in the order in which they came.
    pub(crate) fn in_order(self) -> Vec<Waiter> {
        let mut all: Vec<_> = self.waiters.into_values().collect();
        all.sort_unstable_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, waiter)| waiter).collect()
    }
}

impl Queue for Waiting {
    fn clear(&mut self) {
        self.waiters.clear();
    }
    fn join(&mut self, waiter: Waiter) {
        self.waiters.insert(waiter.task, (self.came, waiter));
        self.came += 1;
    }
    fn leave(&mut self, task: TaskId) {
        self.waiters.remove(&task);
    }
}

/// Moments at which something changed, in order.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'s, Q> {
    heap: &'s [u8],
    /// The block that is read, and those after it.
    blocks: &'s [Block],
    /// Those of that block.
    bytes: &'s [u8],
    at: usize,
    /// What holds, and since when.
    pub(crate) now: (Time, Doing),
    /// Since when it does what it does.
    pub(crate) active_since: Time,
    /// Who waits.
    pub(crate) queue: Q,
}

impl<Q: Queue> Reader<'_, Q> {
    fn number(&mut self) -> u64 {
        leb128::get(self.bytes, &mut self.at)
    }

    fn task(&mut self) -> TaskId {
        nth(self.number())
    }

    /// How many follow; each of them takes at least a byte.
    fn count(&mut self) -> usize {
        let count = self.number();
        (self.bytes.len().saturating_sub(self.at)).min(count.try_into().unwrap_or(usize::MAX))
    }

    fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    fn waiter(&mut self, now: Time) -> Waiter {
        let (task, since) = (self.task(), Time(now.0.saturating_sub(self.number())));
        let origin = ORIGINS[usize::from(self.byte()) % ORIGINS.len()];
        Waiter { task, since, origin, waker: self.waker(origin) }
    }

    fn waker(&mut self, origin: Origin) -> Option<TaskId> {
        let number = if is_woken(origin) { self.number() } else { 0 };
        (number > 0).then(|| nth(number - 1))
    }

    fn begin_block(&mut self) {
        let Some(block) = self.blocks.first() else { return };
        let bytes = self.heap.get(block.offset as usize..).unwrap_or_default();
        (self.bytes, self.at) = (&bytes[..bytes.len().min(block.length as usize)], 0);
        let activity = self.byte();
        self.active_since = Time(block.time.0.saturating_sub(self.number()));
        let task = (activity == RUN).then(|| self.task());
        let waiting = self.number() as u32;
        self.queue.clear();
        while self.at < block.records as usize {
            let waiter = self.waiter(block.time);
            self.queue.join(waiter);
        }
        self.now = (block.time, Doing { activity: get_activity(activity, task, waiting), waiting });
    }

    /// When the next change is.
    fn next_time(&self) -> Option<Time> {
        let mut ahead = self.at + 1;
        (self.at < self.bytes.len()).then(|| {
            let since = leb128::get(self.bytes, &mut ahead);
            Time(self.now.0.0.saturating_add(since))
        })
    }

    /// Moves to the next change. Returns false if the strip has no more.
    pub(crate) fn step(&mut self) -> bool {
        if self.at >= self.bytes.len() {
            return false;
        }
        let (time, was) = self.now;
        let flags = self.byte();
        let time = Time(time.0.saturating_add(self.number()));
        let (code, joins, origin) = (flags & 7, flags >> 4 & 3, flags >> 6);
        let mut waiting = was.waiting;
        let task = (code == RUN).then(|| self.task());
        if let Some(task) = task.filter(|_| flags & STARTS != 0) {
            waiting = waiting.saturating_sub(1);
            self.queue.leave(task);
        }
        match joins {
            NONE => {}
            LIST => {
                for _ in 0..self.count() {
                    waiting = waiting.saturating_sub(1);
                    let task = self.task();
                    self.queue.leave(task);
                }
                for _ in 0..self.count() {
                    waiting = waiting.saturating_add(1);
                    let waiter = self.waiter(time);
                    self.queue.join(waiter);
                }
            }
            _ => {
                let ran = if let Activity::Run(task) = was.activity { Some(task) } else { None };
                let who = ran.filter(|_| joins == WHO_RAN);
                let task = who.unwrap_or_else(|| self.task());
                waiting = waiting.saturating_add(1);
                let origin = ORIGINS[usize::from(origin)];
                let waker = if who.is_some() { None } else { self.waker(origin) };
                self.queue.join(Waiter { task, since: time, origin, waker });
            }
        }
        let activity = match code {
            AS_BEFORE => was.activity,
            code => get_activity(code, task, waiting),
        };
        if activity != was.activity {
            self.active_since = time;
        }
        self.now = (time, Doing { activity, waiting });
        if let (true, [_, next @ ..]) = (self.at >= self.bytes.len(), self.blocks)
            && !next.is_empty()
        {
            // It says again what holds now.
            self.blocks = next;
            self.begin_block();
        }
        true
    }
}

/// A task that there can be, also where the bytes are not what was written.
fn nth(ordinal: u64) -> TaskId {
    TaskId::nth(ordinal.min((u32::MAX as usize - CpuId::LIMIT) as u64) as usize)
}

fn get_activity(code: u8, task: Option<TaskId>, waiting: u32) -> Activity {
    match (code, task) {
        (RUN, Some(task)) => Activity::Run(task),
        (OFFLINE, _) => Activity::Offline,
        (IDLE, _) if waiting > 0 => Activity::Waking,
        (IDLE, _) => Activity::Idle,
        _ => Activity::Unknown,
    }
}
