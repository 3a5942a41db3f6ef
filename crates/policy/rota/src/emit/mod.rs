//! BPF C for sched_ext: one self-contained file for a program (docs/explain/emit.md).
//!
//! The parts that are the same for every policy are in `text/`, as readable C; one template for
//! each construct writes the rest. The emitter is not proved: it is kept small, and the tests run
//! its output against the interpreter.

mod balance;
mod expr;
mod file;
mod handler;
mod ops;
mod parts;
mod pieces;
mod policy;
mod quote;
mod refuse;
mod tables;

use crate::Diagnostic;
use crate::ir::{Level, Policy, Program};
pub use tables::{Span, Tables};

/// The number of CPUs that the tables of an emitted file have room for.
pub(crate) const MAX_CPUS: usize = 1024;

/// The C of a program, or the reasons why it cannot be emitted.
pub fn emit(program: &Program) -> Result<String, Vec<Diagnostic>> {
    emit_with(program, Options::default())
}

/// The same, with these options.
pub fn emit_with(program: &Program, options: Options) -> Result<String, Vec<Diagnostic>> {
    let faults = refuse::faults(program);
    if faults.is_empty() { Ok(file::write(program, options)) } else { Err(faults) }
}

/// The digest of an emitted file. An object has it as the variable `text_digest`.
pub fn digest(text: &str) -> u64 {
    file::digest(text)
}

/// What is emitted beside the policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Each step of the protocol is recorded ([`crate::step_log`]).
    pub steps: bool,
}

/// Writes one policy's own functions.
struct Writer<'a> {
    policy: &'a Policy,
    options: Options,
    /// The code so far: every function comes after those that it calls.
    functions: String,
    /// How many functions were written for set operators.
    operators: usize,
    /// How many slots the frame needs: for CPUs, numbers, and members of sets.
    cpus: usize,
    numbers: usize,
    items: usize,
    /// Slots of CPUs that may be claimed and then not used.
    owed: Vec<usize>,
    /// The levels of `me` and of the candidate.
    me: Level,
    other: Level,
    /// Whether this is a regular balance.
    regular: bool,
}

impl<'a> Writer<'a> {
    fn new(policy: &'a Policy, options: Options) -> Writer<'a> {
        Writer {
            policy,
            options,
            functions: String::new(),
            operators: 0,
            cpus: 0,
            numbers: 0,
            items: 0,
            owed: Vec::new(),
            me: Level::Cpu,
            other: Level::Cpu,
            regular: false,
        }
    }

    /// A name of this policy. A name that `text/` already uses gets an underscore.
    fn named(&self, name: &str) -> String {
        let name = format!("{}_{name}", self.policy.name);
        if file::taken(&name) { name + "_" } else { name }
    }

    /// A name for the next function of a set operator.
    fn function(&mut self, word: &str) -> String {
        self.operators += 1;
        self.named(&format!("{word}_{}", self.operators))
    }

    /// The C constant of a queue.
    fn kind(&self, queue: usize) -> String {
        self.named(&self.policy.queues[queue].name).to_uppercase()
    }
    fn task_var(&self, var: usize) -> String {
        self.named(&self.policy.task_vars[var].name)
    }
    fn cpu_var(&self, var: usize) -> String {
        self.named(&self.policy.cpu_vars[var].name)
    }
}
