//! The signals that end a recording or deployment, and the signals that are passed to its command.

use std::fs;
use std::io::{self, PipeReader, pipe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use signal_hook::consts::{
    SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH,
};

use crate::fail::Stop;

/// Signals that end a recording or a watch, or are passed to its command.
pub(super) const ENDS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
/// Signals that are only passed to the command.
const PASSED_ON: [i32; 5] = [SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH];

/// The signals that end a recording without a command.
///
/// Signals that were ignored at the start are left out, because `nohup` ignores them on purpose.
/// SIGINT always ends a recording, as it ends perf and trace-cmd: scripts run them in the
/// background, where shells ignore SIGINT.
pub(super) fn ends() -> Vec<i32> {
    let ignored = ignored_here();
    ENDS.into_iter().filter(|&signal| signal == SIGINT || !ignored.has(signal)).collect()
}

/// A pipe that becomes readable when a signal requests the end.
pub(super) fn listen() -> io::Result<PipeReader> {
    let (reader, writer) = pipe()?;
    for signal in ends() {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&AT_ONCE))?;
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

static AT_ONCE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Sets whether a signal ends this process at once. Use it while there is nothing to clean up.
pub(super) fn end_at_once(is: bool) {
    AT_ONCE.store(is, Ordering::Relaxed);
}

/// Whether the end is requested within `time`. Waits for at most `time`.
pub(super) fn comes_within(signals: &PipeReader, time: Duration) -> bool {
    let mut asked = [PollFd::new(signals, PollFlags::IN)];
    let time = Timespec::try_from(time).unwrap_or_default();
    poll(&mut asked, Some(&time)).is_ok_and(|ready| ready > 0)
}

/// Returns a function that reports whether a signal requests the end.
pub(super) fn is_over() -> Result<impl Fn() -> bool + Send + Sync + 'static, Stop> {
    let signals = listen().map_err(|error| Stop::new(error, "try again"))?;
    Ok(move || comes_within(&signals, Duration::ZERO))
}

/// The signals that are passed to a command. Signals that were ignored at the start are left out,
/// because the command inherits this.
pub(super) fn of_a_command() -> Vec<i32> {
    let ignored = ignored_here();
    ENDS.into_iter().chain(PASSED_ON).filter(|&signal| !ignored.has(signal)).collect()
}

/// One bit per signal; the lowest bit is signal 1.
#[derive(Debug, PartialEq, Eq)]
struct Ignored(u64);

impl Ignored {
    /// Reads the text of /proc/PID/status (proc(5)).
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
