//! `wastenot watch`: catches CPUs that idle while tasks wait.

use std::io::pipe;
use std::os::fd::AsFd;

use signal_hook::consts::{SIGINT, SIGTERM};
use wastenot_check::sanity::Rules;
use wastenot_record::Error;
use wastenot_record::watch::{Options, Turn, Watch};

use crate::args;
use crate::fail::{Answer, Stop};
use crate::out;

/// Watches until it is told to stop.
pub(crate) fn run(args: &args::watch::Watch) -> Result<Answer, Stop> {
    let failed = |error: Error| Stop::new(&error, error.help());
    let (interrupt, end) = pipe().map_err(|error| failed(error.into()))?;
    for signal in [SIGINT, SIGTERM] {
        let end = end.try_clone().map_err(|error| failed(error.into()))?;
        signal_hook::low_level::pipe::register(signal, end)
            .map_err(|error| failed(error.into()))?;
    }
    let rules = Rules { period: args.period, confirm: args.confirm, ..Rules::default() };
    let options = Options { look: args.look, rules, ..Options::default() };
    let mut watch = Watch::begin(&options).map_err(failed)?;
    loop {
        match watch.turn(interrupt.as_fd()).map_err(failed)? {
            Turn::Interrupted => return Ok(Answer::Yes),
            Turn::Found(found) => {
                out::print_line(&found.violation)?;
            }
            Turn::Cleared | Turn::Ended(_) => {}
        }
    }
}
