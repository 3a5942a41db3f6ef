//! Converts the stamps of all bundles to one clock.
//!
//! Bundles are stamped with the boot clock unless they name another. For the local and global
//! clocks, such a bundle has a pair of stamps taken together; the raw monotonic clock is in clock
//! snapshots. The first pair of each clock gives one offset for the whole file: clocks may drift
//! against each other, but lengths and order stay those of the kernel's own clock.

use std::collections::BTreeMap;

/// What a trace contains about its clocks.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// By `FtraceClock`: boot time minus that clock, in nanoseconds.
    offsets: BTreeMap<u64, i128>,
    used: BTreeMap<u64, ()>,
}

const BOOT: u64 = 0;
const MONO_RAW: u64 = 4;

impl Clocks {
    /// A bundle is stamped with `clock`.
    pub(super) fn uses(&mut self, clock: u64) {
        self.used.insert(clock, ());
    }
    /// `clock` showed `stamp` when the boot clock showed `boot`.
    pub(super) fn pair(&mut self, clock: u64, stamp: u64, boot: u64) {
        self.offsets.entry(clock).or_insert(i128::from(boot) - i128::from(stamp));
    }
    /// The raw monotonic clock in a snapshot.
    pub(super) fn raw_pair(&mut self, stamp: u64, boot: u64) {
        self.pair(MONO_RAW, stamp, boot);
    }
    pub(super) fn conversion(&self) -> Conversion {
        // A file that uses one clock throughout, without a pair, stays on that clock.
        let alone = (self.used.len() == 1).then(|| self.used.keys().next().copied()).flatten();
        let alone = alone.filter(|clock| *clock != BOOT && !self.offsets.contains_key(clock));
        let lacks = |clock: &&u64| **clock != BOOT && !self.offsets.contains_key(clock);
        let missing = alone.is_none() && self.used.keys().any(|clock| lacks(&clock));
        Conversion { offsets: self.offsets.clone(), alone, missing }
    }
}

/// How to convert.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    offsets: BTreeMap<u64, i128>,
    alone: Option<u64>,
    missing: bool,
}

impl Conversion {
    /// The offset to add to a stamp of `clock`.
    pub(super) fn offset(&self, clock: u64) -> i64 {
        let offset = self.offsets.get(&clock).copied().unwrap_or(0);
        i64::try_from(offset).unwrap_or(0)
    }
    /// Whether the result is on the boot clock.
    pub(super) fn is_boot(&self) -> bool {
        self.alone.is_none()
    }
    /// The clock of the result, as the kernel calls it.
    pub(super) fn name(&self) -> &'static str {
        match self.alone {
            None => "boot",
            Some(2) => "global",
            Some(3) => "local",
            Some(MONO_RAW) => "mono_raw",
            Some(_) => "",
        }
    }
    /// A note on what could not be converted.
    pub(super) fn note(&self) -> Option<&'static str> {
        self.missing
            .then_some("the trace uses several clocks but contains no snapshot that relates them")
    }
}
