//! The command to type after `wastenot prove`.

use std::path::Path;

use wastenot_prove::Judgement;

use crate::args::prove::{Prove, Who};
use crate::out;

/// The next command, with the same arguments: a picture of the counterexample, or more time for the
/// solvers. `asked` is the number of solvers that ran.
pub(super) fn next(
    file: &Path,
    judged: &[Judgement<'_>],
    args: &Prove,
    asked: usize,
) -> Option<String> {
    let file = out::quoted(file).filter(|file| file != "-")?;
    let allow = ["", " --allow-unsafe"][usize::from(args.allow_unsafe)];
    match (judged.iter().find_map(Judgement::counterexample), &args.cex) {
        (Some(_), Some(cex)) => Some(format!("wastenot draw cores {}", out::quoted(cex)?)),
        // The exit code for a refuted policy is 1, so `&&` would stop here.
        (Some(_), None) => {
            Some(format!("wastenot prove {file}{allow} --cex cex.wn; wastenot draw cores cex.wn"))
        }
        (None, _) => {
            // More time does not help if a solver has answered, or if there is no solver.
            let more = match (args.solver, asked) {
                (Some(Who::None), _) => "",
                (_, 0) => return None,
                _ => " --both --patience 2m",
            };
            let open = judged.iter().any(Judgement::is_open);
            open.then(|| format!("wastenot prove {file}{allow}{more}"))
        }
    }
}
