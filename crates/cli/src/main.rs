//! The command line of Wastenot. `args` defines the arguments of each verb, and `verbs` does the
//! work. All inputs are read by `open`, and all results are written by `out`.

mod args;
mod cache;
mod export;
mod fail;
mod known;
mod map;
mod open;
mod out;
mod progress;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    match args::parse(std::env::args_os()).and_then(verbs::run) {
        Ok(answer) => answer.code(),
        Err(stop) => stop.say(),
    }
}
