//! `wastenot rota`: works on policies in Rota.

mod check;
pub(in crate::verbs) mod emit;
mod error;
mod fmt;

use crate::args::rota::{Rota, What};
use crate::fail::{Answer, Stop};

/// Runs the subcommand.
pub(crate) fn run(args: &Rota) -> Result<Answer, Stop> {
    match &args.what {
        What::Check(args) => check::run(args),
        What::Fmt(args) => fmt::run(args),
        What::Error(args) => error::run(args),
        What::Emit(args) => emit::run(args),
    }
}
