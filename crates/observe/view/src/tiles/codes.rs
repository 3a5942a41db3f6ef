//! A small number that changes now and then, in few bytes.

use wastenot_model::{Time, Window};

use crate::tiles::bytes::{Reader, Writer};
use crate::tiles::leb128;

/// Changes of a block.
const BLOCK: usize = 256;

/// What a number was from when on. Before the first change it is 0.
#[derive(Clone, Debug)]
pub(crate) struct Codes {
    /// Of each change the time since the one before (LEB128), and the number.
    bytes: Vec<u8>,
    /// Where each block begins: after which change, at which byte, and what held before it.
    blocks: Vec<(Time, usize, u8)>,
    count: usize,
    last: (Time, u8),
}

impl Codes {
    pub(crate) fn new(begin: Time) -> Codes {
        Codes { bytes: Vec::new(), blocks: Vec::new(), count: 0, last: (begin, 0) }
    }

    /// From `now` on it is `code`. Calls come in time order.
    pub(crate) fn set(&mut self, now: Time, code: u8) {
        if self.last.1 == code {
            return;
        }
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.push((self.last.0, self.bytes.len(), self.last.1));
        }
        leb128::put(&mut self.bytes, (now - self.last.0).0);
        self.bytes.push(code);
        (self.count, self.last) = (self.count + 1, (now, code));
    }

    /// The parts of `window` in which it is not 0, in order, each with what it is.
    pub(crate) fn during(&self, window: Window) -> impl Iterator<Item = (Window, u8)> + '_ {
        let after = self.blocks.partition_point(|(time, ..)| *time <= window.from);
        let first = self.blocks.get(after.saturating_sub(1));
        let (mut now, mut at, mut code) = first.copied().unwrap_or((window.to, 0, 0));
        std::iter::from_fn(move || {
            while now < window.to {
                let (from, was) = (now, code);
                now = window.to;
                if at < self.bytes.len() {
                    let since = leb128::get(&self.bytes, &mut at);
                    now = Time(from.0.saturating_add(since));
                    code = self.bytes.get(at).copied().unwrap_or(0);
                    at += 1;
                }
                if let Some((from, to)) = window.clip(from, now)
                    && was != 0
                {
                    return Some((Window { from, to }, was));
                }
            }
            None
        })
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        to.bytes(&self.bytes);
        to.all(&self.blocks, |to, (time, at, code)| {
            [time.0, *at as u64, u64::from(*code)].into_iter().for_each(|it| to.number(it));
        });
    }

    /// To be read, not to be continued.
    pub(crate) fn read_from(from: &mut Reader<'_>) -> Option<Codes> {
        let bytes = from.bytes()?.to_vec();
        let blocks = from.all(|from| {
            let (time, at) = (Time(from.number()?), usize::try_from(from.number()?).ok()?);
            Some((time, at, u8::try_from(from.number()?).ok()?))
        })?;
        Some(Codes { bytes, blocks, count: 0, last: (Time(0), 0) })
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.blocks.len() * size_of::<(Time, usize, u8)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_window_of_many_changes_is_read_as_it_was_set() {
        let mut codes = Codes::new(Time(5));
        let mut plain = vec![0u8; 5];
        for n in 0..3000u64 {
            codes.set(Time(plain.len() as u64), (n % 7 % 4) as u8);
            plain.extend(std::iter::repeat_n((n % 7 % 4) as u8, (n % 5) as usize));
        }
        codes.set(Time(plain.len() as u64), 0);
        plain.extend([0; 10]);
        for from in (0..plain.len()).step_by(61) {
            for length in [0, 1, 7, 100, 5000] {
                let to = (from + length).min(plain.len());
                let window = Window { from: Time(from as u64), to: Time(to as u64) };
                let mut read = vec![0; to - from];
                for (part, code) in codes.during(window) {
                    read[part.from.0 as usize - from..part.to.0 as usize - from].fill(code);
                }
                assert_eq!(read, plain[from..to], "{window:?}");
            }
        }
    }
}
