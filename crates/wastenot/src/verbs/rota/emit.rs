//! `wastenot rota emit`: the C of a policy, for sched_ext.

use wastenot_rota::{compile, emit};

use super::Source;
use crate::args::rota::Emit;
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};

/// Writes it.
pub(super) fn run(args: &Emit) -> Result<Answer, Stop> {
    let source = Source::read(&args.file)?;
    let text = match &source.fault {
        Some(fault) => Err(vec![fault.clone()]),
        None => compile(&source.text).and_then(|program| emit::emit(&program)),
    };
    match text {
        Ok(text) => {
            let target = Target::new(&args.output, args.force)?;
            target.write(|out| out.write_all(text.as_bytes()))?;
            Ok(Answer::Yes)
        }
        Err(found) => {
            out::print_as_is(&source.refused(&found))?;
            Ok(Answer::No)
        }
    }
}
