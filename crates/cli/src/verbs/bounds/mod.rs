//! `wastenot bounds`: tests whether deadlines are met, and computes overheads.

mod calibrate;
mod measure;
mod overheads;
mod sweep;
mod test;

use std::path::Path;

use crate::args::bounds::{Bounds, What};
use crate::fail::{Answer, Stop};
use crate::out::Target;

/// Runs the subcommand.
pub(crate) fn run(args: &Bounds) -> Result<Answer, Stop> {
    match &args.what {
        What::Test(args) => test::run(args),
        What::Sweep(args) => sweep::run(args),
        What::Overheads(args) => overheads::run(args),
        What::Measure(args) => measure::run(args),
        What::Calibrate(args) => calibrate::run(args),
    }
}

/// An output file with this extension, or standard output. `what` is the beginning of the error for
/// another extension.
fn target(path: &Path, ending: &str, force: bool, what: &str, help: &str) -> Result<Target, Stop> {
    let fits = path.extension().is_some_and(|it| it.eq_ignore_ascii_case(ending));
    if !fits && path != Path::new("-") {
        let what = format!("{what}, but {} does not end in .{ending}", path.display());
        return Err(Stop::new(what, help));
    }
    Target::new(path, force)
}
