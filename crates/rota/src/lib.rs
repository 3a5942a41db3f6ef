//! Rota: a small language for schedulers.
//!
//! A policy is a page of text. What it means is [`ir`]: the interpreter runs it in the simulator,
//! the emitter makes BPF C of it for sched_ext, and the prover (`wastenot-prove`) shows that no CPU
//! goes idle while a task waits that it may run, or how one does.

mod diagnostic;
pub mod emit;
pub mod eval;
pub mod ir;
pub mod syntax;
mod tree;

pub use diagnostic::Diagnostic;
pub use tree::Tree;
