//! A sign of life on stderr while work goes on: only on a terminal, only after half a second.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::ProgressBar;

/// Work that ends sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Does `work`; says `what` and for how long while it lasts.
pub(crate) fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !stderr().is_terminal() || std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return work();
    }
    let (done, waiting) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
                spinner.enable_steady_tick(Duration::from_millis(100));
                // The sender is dropped when the work ends, also by a panic.
                let _ = waiting.recv();
                spinner.finish_and_clear();
            }
        });
        let result = work();
        drop(done);
        result
    })
}
