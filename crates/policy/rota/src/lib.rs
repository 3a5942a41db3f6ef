//! Rota: a small language for schedulers.
//!
//! A policy is a page of text; [`ir`] is its meaning. The interpreter runs it in the simulator, the
//! emitter makes BPF C of it for sched_ext, and the prover (`wastenot-prove`) shows that no CPU
//! goes idle while a task waits that the CPU may run, or finds an execution in which one does.

pub mod attempt;
mod claims;
pub mod codes;
mod diagnostic;
pub mod emit;
pub mod eval;
pub mod interpret;
pub mod ir;
mod lower;
pub mod partitions;
pub mod paths;
mod render;
pub mod step_log;
pub mod syntax;
mod tree;

pub use claims::claims;
pub use diagnostic::Diagnostic;
pub use lower::faults;
pub use render::{line_and_column, render};
pub use syntax::{format, parse, text};
pub use tree::Tree;

/// The meaning of a text, or all of its errors in the order of the text.
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

/// Reads, compiles, formats and renders any input: the entry point for fuzzing. Must not panic,
/// hang, or allocate in proportion to a number in the data.
pub fn fuzz_one(data: &[u8]) {
    let Ok(source) = text(data) else { return };
    for fault in compile(source).err().unwrap_or_default() {
        let places = std::iter::once(&fault.span).chain(fault.others.iter().map(|(span, _)| span));
        for span in places {
            let inside = source.get(span.start as usize..span.end as usize).is_some();
            assert!(inside, "{fault:?} has a valid span");
        }
        assert!(codes::named(fault.code).is_some(), "{fault:?} can be explained");
        assert!(!fault.message.is_empty() && !fault.help.is_empty(), "{fault:?} says what to do");
        assert!(!render(&[fault], "data", source, false, 80).is_empty());
    }
    if let Ok(once) = format(source) {
        assert_eq!(format(&once).as_ref(), Ok(&once), "formatting twice is formatting once");
    }
}
