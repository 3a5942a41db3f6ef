//! Which signals a recording listens to.

use std::fs;

use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH,
};

/// They end a recording, or are for its command.
const ENDS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
/// They mean nothing to a recording, but may mean something to its command.
const PASSED_ON: [i32; 5] = [SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH];

/// Those of a recording that the signal `trigger` may end too.
///
/// Not those that were ignored when we began: who wrote `nohup` before us meant it for us and for
/// the command, which inherits it. Without a command SIGINT ends a recording all the same, as it
/// ends those of perf and trace-cmd: scripts run them in the background, where shells ignore it.
pub(super) fn wanted(has_command: bool, trigger: Option<i32>) -> Vec<i32> {
    let ignored = ignored(&fs::read_to_string("/proc/self/status").unwrap_or_default());
    let passed_on = if has_command { &PASSED_ON[..] } else { &[] };
    let heard = ENDS.iter().chain(passed_on).copied();
    let heard = heard
        .filter(|signal| ignored & 1 << (signal - 1) == 0 || *signal == SIGINT && !has_command);
    heard.chain([SIGCHLD]).chain(trigger).collect()
}

/// By the text of /proc/PID/status: a bit for each signal, the lowest that of signal 1 (proc(5)).
fn ignored(status: &str) -> u64 {
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_bit_is_a_signal() {
        let status = "Name:\tx\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001003\n";
        assert_eq!(super::ignored(status), 1 << 0 | 1 << 1 | 1 << 12);
        assert_eq!(super::ignored("nonsense"), 0);
    }
}
