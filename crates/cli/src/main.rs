//! The command line of Wastenot: parse, do, say. What each verb takes stands in `args`, what it
//! does in `verbs`; traces come in through `open`, results go out through `out`.

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
