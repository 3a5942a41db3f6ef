//! BPF C for sched_ext: one self-contained file for a program (docs/emit.md).
//!
//! What no policy changes stands in `text/`, as C that can be read as such; what a policy says is
//! written by one template for each construct. Nobody proves the emitter: it is kept small, and
//! what it writes runs against the interpreter in the tests.

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

/// How many CPUs the tables of an emitted file have room for.
pub const MAX_CPUS: usize = 1024;

/// The C of a program, or why there can be none.
pub fn emit(program: &Program) -> Result<String, Vec<Diagnostic>> {
    let faults = refuse::faults(program);
    if faults.is_empty() { Ok(file::write(program)) } else { Err(faults) }
}

/// Writes one policy's own functions.
struct Writer<'a> {
    policy: &'a Policy,
    /// What has been written so far: every function after those that it calls.
    functions: String,
    /// Functions that set operators became.
    operators: usize,
    /// How many slots the frame needs: CPUs, numbers, members of sets.
    cpus: usize,
    numbers: usize,
    items: usize,
    /// Slots of CPUs that may be claimed and not used.
    owed: Vec<usize>,
    /// The levels of `me` and of the candidate.
    me: Level,
    other: Level,
    /// Whether this is a balance that is done regularly.
    regular: bool,
    /// Whether this is a handler that places its task, so that its home is known.
    places: bool,
}

impl<'a> Writer<'a> {
    fn new(policy: &'a Policy) -> Writer<'a> {
        Writer {
            policy,
            functions: String::new(),
            operators: 0,
            cpus: 0,
            numbers: 0,
            items: 0,
            owed: Vec::new(),
            me: Level::Cpu,
            other: Level::Cpu,
            regular: false,
            places: false,
        }
    }

    /// A name of this policy. Names in `text/` come first: such a one gets a stroke.
    fn named(&self, name: &str) -> String {
        let name = format!("{}_{name}", self.policy.name);
        if file::taken(&name) { name + "_" } else { name }
    }

    /// A name for the next function of a set operator.
    fn function(&mut self, word: &str) -> String {
        self.operators += 1;
        self.named(&format!("{word}_{}", self.operators))
    }

    /// The constant of a queue.
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
