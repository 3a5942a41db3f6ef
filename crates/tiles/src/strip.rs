//! What one CPU did, exactly, in few bytes.
//!
//! A [`Strip`] holds one record for each moment at which what the CPU does, or how many tasks wait
//! on it, changed. Records stand in blocks; each block has its first moment in an index, so that a
//! reader begins near the time that it is asked for. A record is a byte of flags, the time since
//! the record before it, and what the flags announce; numbers are LEB128.
//!
//! ```text
//! flags   bits 0 to 2: the activity, or 7: as before    bits 3 to 4: the change of the queue
//! time    LEB128, ns since the record before (the block's first: since the block's time)
//! task    LEB128, if the activity is RUN
//! queue   LEB128, the new length, if its change is neither 0, 1 nor -1
//! ```

use wastenot_model::{Activity, CpuState, TaskId, Time};

use crate::leb128;

/// Records of a block.
const BLOCK: u32 = 256;

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

const UNKNOWN: u8 = 0;
const OFFLINE: u8 = 1;
const IDLE: u8 = 2;
const RUN: u8 = 3;
const AS_BEFORE: u8 = 7;

const SAME: u8 = 0;
const MORE: u8 = 1;
const LESS: u8 = 2;
const OTHER: u8 = 3;

/// What one CPU did.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    bytes: Vec<u8>,
    blocks: Vec<Block>,
    /// Records of the last block.
    filled: u32,
    last: (Time, Doing),
}

/// Where a block begins, and what held just before its first record.
#[derive(Clone, Copy, Debug)]
struct Block {
    time: Time,
    offset: u64,
    before: Doing,
}

impl Strip {
    pub(crate) fn new(from: Time) -> Strip {
        let first = Block { time: from, offset: 0, before: Doing::UNKNOWN };
        Strip { bytes: Vec::new(), blocks: vec![first], filled: 0, last: (from, Doing::UNKNOWN) }
    }

    /// From `now` on it is so. Calls come in time order.
    pub(crate) fn push(&mut self, now: Time, is: Doing) {
        let (before, was) = self.last;
        if was == is {
            return;
        }
        let mut since = now.since(before).0;
        if self.filled == BLOCK {
            let offset = self.bytes.len() as u64;
            self.blocks.push(Block { time: now, offset, before: was });
            (self.filled, since) = (0, 0);
        }
        let (mode, task) = match is.activity {
            same if same == was.activity => (AS_BEFORE, None),
            Activity::Unknown => (UNKNOWN, None),
            Activity::Offline => (OFFLINE, None),
            Activity::Idle | Activity::Waking => (IDLE, None),
            Activity::Run(task) => (RUN, Some(task)),
        };
        let change = match i64::from(is.waiting) - i64::from(was.waiting) {
            0 => SAME,
            1 => MORE,
            -1 => LESS,
            _ => OTHER,
        };
        self.bytes.push(mode | change << 3);
        leb128::put(&mut self.bytes, since);
        if let Some(task) = task {
            leb128::put(&mut self.bytes, u64::from(task.0));
        }
        if change == OTHER {
            leb128::put(&mut self.bytes, u64::from(is.waiting));
        }
        self.filled += 1;
        self.last = (now, is);
    }

    /// What it did from `from` on: from when, and what. The first begins at `from` or before it.
    pub(crate) fn from(&self, from: Time) -> Reader<'_> {
        let after = self.blocks.partition_point(|block| block.time <= from);
        let block = self.blocks[after.saturating_sub(1)];
        let mut reader = Reader {
            strip: self,
            block: after.max(1),
            at: block.offset as usize,
            now: (block.time, block.before),
        };
        let mut ahead = reader.clone();
        while ahead.step().is_some_and(|(time, _)| time <= from) {
            reader = ahead.clone();
        }
        reader
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.blocks.len() * size_of::<Block>()
    }
}

/// Moments at which something changed, in order.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'s> {
    strip: &'s Strip,
    /// The block after the one that is read.
    block: usize,
    at: usize,
    /// What holds, and since when.
    pub(crate) now: (Time, Doing),
}

impl Reader<'_> {
    /// The next change, which holds from then on.
    pub(crate) fn step(&mut self) -> Option<(Time, Doing)> {
        let bytes = &self.strip.bytes;
        let mut time = self.now.0;
        if let Some(next) = self.strip.blocks.get(self.block)
            && next.offset as usize == self.at
        {
            time = next.time;
            self.block += 1;
        }
        let flags = *bytes.get(self.at)?;
        self.at += 1;
        let since = leb128::get(bytes, &mut self.at);
        let was = self.now.1;
        let task = (flags & 7 == RUN).then(|| TaskId(leb128::get(bytes, &mut self.at) as u32));
        let waiting = match flags >> 3 {
            SAME => was.waiting,
            MORE => was.waiting + 1,
            LESS => was.waiting.saturating_sub(1),
            _ => leb128::get(bytes, &mut self.at) as u32,
        };
        let activity = match (flags & 7, task) {
            (_, Some(task)) => Activity::Run(task),
            (UNKNOWN, _) => Activity::Unknown,
            (OFFLINE, _) => Activity::Offline,
            (IDLE, _) if waiting > 0 => Activity::Waking,
            (IDLE, _) => Activity::Idle,
            _ => was.activity,
        };
        self.now = (Time(time.0.saturating_add(since)), Doing { activity, waiting });
        Some(self.now)
    }
}
