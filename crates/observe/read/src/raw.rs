//! The decoded form of a record: an event that still has tids and command bytes.

use wastenot_model::{Context, CpuId, How, Left, Prio};

/// A command name as the kernel keeps it: up to 15 bytes and a NUL; all zero means unknown.
///
/// In some kernels the bytes after the NUL are leftovers of a longer name. They are kept: clearing
/// them costs more than all other work on a name, and they seldom change. Use [`Comm::is`] for an
/// exact comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comm(pub [u8; 16]);

impl Comm {
    /// No name is told.
    pub(crate) const UNKNOWN: Comm = Comm([0; 16]);

    /// From bytes that may end at a NUL. Longer names are cut, as the kernel cuts them.
    #[inline]
    pub(crate) fn new(bytes: &[u8]) -> Comm {
        let mut comm = [0; 16];
        let room = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()).min(16);
        comm[..room].copy_from_slice(&bytes[..room]);
        Comm(comm)
    }
    /// Whether both are the same name, whatever follows their NULs.
    #[inline]
    pub(crate) fn is(self, other: Comm) -> bool {
        self == other || Comm::new(&self.0) == Comm::new(&other.0)
    }
    #[inline]
    pub(crate) fn is_told(self) -> bool {
        self.0[0] != 0
    }
    /// As text; bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self) -> String {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(16);
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}

/// One record of one CPU's stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Raw {
    /// Nanoseconds (or whatever the clock counts).
    pub(crate) time: u64,
    /// The task in whose context it was recorded: `common_pid`; negative if unknown.
    pub(crate) current: i32,
    /// Interrupt or task context.
    pub(crate) context: Context,
    /// What happened.
    pub(crate) event: RawEvent,
}

/// The event, with tids for tasks. `model::Event` defines the meaning of each kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RawEvent {
    Switch {
        prev: i32,
        next: i32,
        left: Left,
        prev_prio: Prio,
        next_prio: Prio,
        prev_comm: Comm,
        next_comm: Comm,
    },
    Waking {
        tid: i32,
        prev: Option<CpuId>,
        prio: Prio,
        comm: Comm,
    },
    Queued {
        tid: i32,
        on: Option<CpuId>,
        how: How,
        prio: Prio,
        comm: Comm,
    },
    Migrate {
        tid: i32,
        from: Option<CpuId>,
        to: CpuId,
        comm: Comm,
    },
    Fork {
        parent: i32,
        child: i32,
        child_comm: Comm,
    },
    Exec {
        tid: i32,
    },
    Exit {
        tid: i32,
        comm: Comm,
    },
    Cpu {
        cpu: CpuId,
        up: bool,
    },
    Freq {
        cpu: CpuId,
        khz: u32,
    },
    /// The task has a new name (`task_rename`, a COMM record).
    Rename {
        tid: i32,
        comm: Comm,
    },
    /// An event that is not read: it shows only which task was current. Readers keep the first one
    /// of a CPU that has no other event, so that the CPU is known to have run that task.
    Seen,
    /// Events were dropped between the previous record of this stream and this one.
    Lost {
        count: Option<u32>,
    },
    /// The file ends here for this CPU: later events are not known. The cut itself is reported as a
    /// separate `Loss`.
    Cut,
}

impl RawEvent {
    /// At equal time across CPUs wakeups and migrations come before switches.
    #[inline]
    pub(crate) fn rank(&self) -> u32 {
        u32::from(matches!(self, RawEvent::Switch { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ends_at_its_nul_whatever_follows() {
        assert_eq!(Comm::new(b"sh\0garbage\0\0\0\0\0\0"), Comm::new(b"sh"));
        assert_eq!(Comm::new(b"0123456789abcdef").text(), "0123456789abcdef");
        assert_eq!(Comm::new(b"\0x"), Comm::default());
        assert_eq!(Comm::new(b"\x01\0\x01").text(), "\x01");
        assert!(Comm(*b"sh\0garbage\0\0\0\0\0\0").is(Comm::new(b"sh")));
        assert!(!Comm(*b"sh\0garbage\0\0\0\0\0\0").is(Comm::new(b"shg")));
        assert_eq!(Comm::new("\u{e9}t\u{e9}".as_bytes()).text(), "\u{e9}t\u{e9}");
    }
}
