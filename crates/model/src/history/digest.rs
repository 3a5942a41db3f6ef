//! A digest of a History: the same on every machine, another for nearly every other History.

use super::History;

/// FNV-1a (Fowler, Noll, Vo), a word at a time.
struct Digest(u64);

impl Digest {
    fn word(&mut self, word: u64) {
        // The shift lets high bits reach low ones, which multiplying alone does not.
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 ^= self.0 >> 29;
    }
    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        text.bytes().for_each(|byte| self.word(u64::from(byte)));
    }
}

impl History {
    /// Of every event, task, name, affinity and the window; not of machine, source and annexes.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest(0xcbf2_9ce4_8422_2325);
        for row in self.rows.iter() {
            row.words().into_iter().for_each(|word| digest.word(word));
        }
        for (_, task) in self.tasks() {
            digest.word(task.tid as u64);
            digest.word(task.pid.map_or(u64::MAX, |pid| pid as u64));
            digest.text(self.name(task.name));
        }
        self.names().for_each(|name| digest.text(name));
        for mask in self.masks() {
            digest.word(mask.words().len() as u64);
            mask.words().iter().for_each(|&word| digest.word(word));
        }
        digest.word(self.window().from.0);
        digest.word(self.window().to.0);
        digest.0
    }
}

#[cfg(test)]
mod tests {
    use crate::*;

    #[test]
    fn one_nanosecond_or_one_letter_is_another_digest() {
        let digest = |time: u64, name: &str| {
            let mut sink = Builder::new(Head::new(Machine::flat(1)));
            let name = sink.name(name);
            let task = sink.task(Task::new(7, name));
            let (cpu, idle) = (CpuId(0), TaskId::idle(CpuId(0)));
            sink.push(Entry::switch(Time(time), cpu, idle, task, Left::Runnable));
            sink.finish().digest()
        };
        assert_eq!(digest(10, "a"), digest(10, "a"));
        let all = [digest(10, "a"), digest(11, "a"), digest(10, "b"), digest(10, "ab")];
        assert!(all.iter().enumerate().all(|(n, one)| !all[..n].contains(one)), "{all:?}");
    }
}
