//! The interpreter under the simulator.

mod known;
mod lag;
mod random;

use wastenot_rota::compile;
use wastenot_rota::interpret::Interpreter;

use crate::policies;

/// The text of a policy that comes with the project.
fn policy(name: &str) -> String {
    policies().into_iter().find(|(it, _)| it == name).expect("a policy").1
}

#[track_caller]
fn interpreter(text: &str) -> Interpreter {
    let program = compile(text).unwrap_or_else(|faults| panic!("{faults:#?}"));
    Interpreter::new(program, &[]).expect("no parameters are set")
}
