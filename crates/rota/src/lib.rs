//! Rota: a small language for schedulers.
//!
//! A policy is a page of text. What it means is [`ir`]: the interpreter runs it in the simulator,
//! the emitter makes BPF C of it for sched_ext, and the prover (`wastenot-prove`) shows that no CPU
//! goes idle while a task waits that it may run, or how one does.

pub mod codes;
mod diagnostic;
pub mod emit;
pub mod eval;
pub mod interpret;
pub mod ir;
mod lower;
mod render;
pub mod syntax;
mod tree;

pub use diagnostic::Diagnostic;
pub use render::{line_and_column, render};
pub use syntax::{format, parse, text};
pub use tree::Tree;

/// What a text means, or everything that is wrong with it, in the order of the text.
pub fn compile(text: &str) -> Result<ir::Program, Vec<Diagnostic>> {
    let (file, faults) = parse(text);
    if !faults.is_empty() {
        return Err(faults);
    }
    lower::lower(&file).map_err(|mut faults| {
        faults.sort_by_key(|fault| fault.span);
        faults.truncate(syntax::FAULTS);
        faults
    })
}
