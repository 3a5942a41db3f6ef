//! Which signals end what goes on, and which are for a command that goes on beside it.

use std::fs;
use std::io::{self, PipeReader, pipe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use signal_hook::consts::{
    SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH,
};

/// They end a recording or a watch, or are for its command.
pub(super) const ENDS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
/// They mean nothing to a recording, but may mean something to its command.
const PASSED_ON: [i32; 5] = [SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH];

/// Those that end what has no command.
///
/// Not those that were ignored when we began: who wrote `nohup` before us meant it. SIGINT does all
/// the same, as it ends perf and trace-cmd: scripts run them in the background, where shells ignore
/// it.
pub(super) fn ends() -> Vec<i32> {
    let ignored = ignored_here();
    ENDS.into_iter().filter(|&signal| signal == SIGINT || !ignored.has(signal)).collect()
}

/// Can be read when it is time to end.
pub(super) fn listen() -> io::Result<PipeReader> {
    let (reader, writer) = pipe()?;
    for signal in ends() {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&AT_ONCE))?;
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

static AT_ONCE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether a signal ends us at once, as if we did not listen: while nothing goes on that would have
/// to be ended first.
pub(super) fn end_at_once(is: bool) {
    AT_ONCE.store(is, Ordering::Relaxed);
}

/// Whether it is time to end within `time`, which is waited for otherwise.
pub(super) fn comes_within(signals: &PipeReader, time: Duration) -> bool {
    let mut asked = [PollFd::new(signals, PollFlags::IN)];
    let time = Timespec::try_from(time).unwrap_or_default();
    poll(&mut asked, Some(&time)).is_ok_and(|ready| ready > 0)
}

/// Those that a command is told of. Not those that were ignored when we began: the command inherits
/// that.
pub(super) fn of_a_command() -> Vec<i32> {
    let ignored = ignored_here();
    ENDS.into_iter().chain(PASSED_ON).filter(|&signal| !ignored.has(signal)).collect()
}

/// A bit for each signal, the lowest that of signal 1.
#[derive(Debug, PartialEq, Eq)]
struct Ignored(u64);

impl Ignored {
    /// By the text of /proc/PID/status (proc(5)).
    fn read(status: &str) -> Ignored {
        let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Ignored(bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0))
    }

    fn has(&self, signal: i32) -> bool {
        self.0 & 1 << (signal - 1) != 0
    }
}

fn ignored_here() -> Ignored {
    Ignored::read(&fs::read_to_string("/proc/self/status").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_is_a_signal() {
        let status = "Name:\tx\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001003\n";
        let ignored = Ignored::read(status);
        assert!([SIGHUP, SIGINT, 13].into_iter().all(|signal| ignored.has(signal)));
        assert!(!ignored.has(SIGTERM) && !ignored.has(SIGQUIT));
        assert_eq!(Ignored::read("nonsense"), Ignored(0));
    }
}
