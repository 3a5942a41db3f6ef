//! `prev_state` of `sched_switch` as Perfetto keeps it: the kernel's bits, whose meaning depends on
//! the kernel's release.
//!
//! Source: `include/linux/sched.h` and `include/trace/events/sched.h` of the releases named.

use wastenot_model::{Left, Source};

/// The meaning of the bits on one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct States {
    /// Any of these bits; the first is written.
    preempted: &'static [u64],
    parked: &'static [u64],
    /// An idle kernel thread: all bits of one of these.
    idle: &'static [u64],
    dead: u64,
}

const SLEEPING: u64 = 0x01;
const BLOCKED: u64 = 0x02;
const STOPPED_OR_TRACED: u64 = 0x04 | 0x08;
const DEAD_OR_ZOMBIE: u64 = 0x10 | 0x20;

/// Before 4.8.
const OLD: States =
    States { preempted: &[0x800], parked: &[0x200], idle: &[0x402], dead: DEAD_OR_ZOMBIE | 0x40 };
/// `TASK_NEW` came in with 4.8, below the bit that reports preemption.
const MIDDLE: States = States { preempted: &[0x1000], ..OLD };
/// Since 4.14 reported states are reduced to those that matter.
const NEW: States =
    States { preempted: &[0x100], parked: &[0x40], idle: &[0x80], dead: DEAD_OR_ZOMBIE };
/// Unknown: Perfetto's own viewer assumes an old kernel, today's recorders mean a new one. Reading
/// accepts what both can mean; the old form is written.
const UNKNOWN: States = States {
    preempted: &[0x800, 0x1000, 0x100],
    parked: &[0x200, 0x40],
    idle: &[0x402, 0x80],
    dead: DEAD_OR_ZOMBIE,
};

impl States {
    /// For a release such as `6.1.0-30-amd64`.
    pub(crate) fn of(release: Option<&str>) -> States {
        match release.and_then(Source::version_of) {
            None => UNKNOWN,
            Some((4, 14..) | (5.., _)) => NEW,
            Some((4, 8..)) => MIDDLE,
            Some(_) => OLD,
        }
    }

    #[inline]
    pub(crate) fn left(self, bits: u64) -> Left {
        let any = |of: &[u64]| of.iter().any(|bit| bits & bit != 0);
        match bits {
            0 => Left::Runnable,
            SLEEPING => Left::Sleeping,
            _ if any(self.preempted) => Left::Preempted,
            _ if bits & self.dead != 0 => Left::Dead,
            _ if any(self.parked) => Left::Parked,
            _ if self.idle.iter().any(|idle| bits & idle == *idle) => Left::Idle,
            _ if bits & STOPPED_OR_TRACED != 0 => Left::Stopped,
            _ if bits & BLOCKED != 0 => Left::Blocked,
            _ if bits & SLEEPING != 0 => Left::Sleeping,
            _ => Left::Unknown,
        }
    }

    /// The bits that [`left`](States::left) reads as `left`.
    pub(crate) fn bits(self, left: Left) -> Option<u64> {
        Some(match left {
            Left::Runnable => 0,
            Left::Preempted => self.preempted[0],
            Left::Sleeping => SLEEPING,
            Left::Blocked => BLOCKED,
            Left::Idle => self.idle[0],
            Left::Stopped => 0x04,
            Left::Parked => self.parked[0],
            Left::Dead => 0x10,
            Left::Unknown => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_comes_back_on_every_kernel() {
        for release in [None, Some("4.4.0"), Some("4.9.1-x"), Some("4.14.0"), Some("6.18.44+")] {
            let states = States::of(release);
            for letter in ['R', 'S', 'D', 'I', 'T', 'P', 'X'] {
                let left = Left::from_letter(letter);
                let bits = states.bits(left).expect("a known state");
                assert_eq!(states.left(bits), left, "{release:?} {letter}");
            }
            let bits = states.bits(Left::Preempted).expect("a known state");
            assert_eq!(states.left(bits), Left::Preempted, "{release:?}");
        }
    }

    #[test]
    fn bits_mean_what_their_kernel_says() {
        assert_eq!(States::of(Some("6.1")).left(0x100), Left::Preempted);
        assert_eq!(States::of(Some("4.9.0")).left(0x1000), Left::Preempted);
        assert_eq!(States::of(Some("4.4.0")).left(0x800), Left::Preempted);
        assert_eq!(States::of(Some("4.4.0")).left(0x82), Left::Blocked, "killable");
        assert_eq!(States::of(Some("6.1")).left(0x80), Left::Idle);
        assert_eq!(States::of(Some("6.1")).left(0x20), Left::Dead, "a zombie");
    }
}
