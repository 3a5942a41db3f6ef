//! Moments in time order at which something began and ended in turn, in few bytes.

use wastenot_model::{Time, Window};

use crate::leb128;

/// Moments of a block.
const BLOCK: usize = 256;

/// Moments: the first, third, ... begin something, the others end it.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    bytes: Vec<u8>,
    /// Where each block begins: after which moment, and at which byte.
    blocks: Vec<(Time, usize)>,
    count: usize,
    last: Time,
}

impl Times {
    pub(crate) fn new(begin: Time) -> Times {
        Times { bytes: Vec::new(), blocks: Vec::new(), count: 0, last: begin }
    }

    pub(crate) fn push(&mut self, now: Time) {
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.push((self.last, self.bytes.len()));
        }
        leb128::put(&mut self.bytes, (now - self.last).0);
        (self.count, self.last) = (self.count + 1, now);
    }

    /// The parts of `window` between a begin and its end, in order.
    pub(crate) fn windows(&self, window: Window) -> impl Iterator<Item = Window> + '_ {
        // A block holds an even number of moments, so that each begins with a begin.
        let after = self.blocks.partition_point(|(time, _)| *time <= window.from);
        let (mut time, mut at) = match self.blocks.get(after.saturating_sub(1)) {
            Some(block) => *block,
            None => (Time::MAX, self.bytes.len()),
        };
        let mut next = move || {
            let since = (at < self.bytes.len()).then(|| leb128::get(&self.bytes, &mut at))?;
            time = Time(time.0 + since);
            Some(time)
        };
        std::iter::from_fn(move || {
            loop {
                let from = next().filter(|from| *from < window.to)?;
                let to = next().unwrap_or(Time::MAX);
                if let Some((from, to)) = window.clip(from, to) {
                    return Some(Window { from, to });
                }
            }
        })
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.blocks.len() * size_of::<(Time, usize)>()
    }
}
