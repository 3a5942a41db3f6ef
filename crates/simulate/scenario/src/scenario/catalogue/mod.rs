//! Workloads by name: the workloads of papers and benchmarks, as functions of a few arguments.
//!
//! A task of a scenario with `use = "omp_barrier"` is made here. Each family has a file; a function
//! is a row of its table, so documentation, defaults and checks come from one place.

mod background;
mod build;
mod maker;
mod media;
mod messages;
mod osv;
mod parallel;
mod server;
mod stress;

use wastenot_model::workload::{Variate, Waiting};
use wastenot_model::{CpuSet, Machine, Span, shortened};

use crate::scenario::fields::{self, Fields};
use crate::scenario::node::{Node, Wrong, wrong};
use crate::scenario::program;
use wastenot_model::suggest_of;

pub(crate) use maker::Maker;

/// Functions that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What its functions have in common, in one line.
    pub about: &'static str,
    /// The functions.
    pub functions: &'static [Function],
}

/// A workload with a few arguments.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// What to write after `use =`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The source: a paper or a benchmark.
    pub source: &'static str,
    /// The arguments that can be set.
    pub arguments: &'static [Argument],
    make: fn(&Arguments, &mut Maker),
}

/// An argument of a function.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its key.
    pub name: &'static str,
    /// What it means, in one line.
    pub about: &'static str,
    /// Its type.
    pub kind: ArgumentKind,
    /// Its default.
    pub default: &'static str,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A whole number up to this.
    Count(u32),
    /// A fixed length of time.
    Time,
    /// A length of time that may vary: `exp(150ms)`.
    Variate,
    /// How to wait: `spin`.
    Waiting,
    /// A list of CPUs, or `all`.
    Cpus,
}

/// Every workload, by family.
pub const CATALOGUE: &[Family] = &[
    Family { about: "Parallel programs", functions: parallel::FUNCTIONS },
    Family { about: "Many short jobs", functions: build::FUNCTIONS },
    Family { about: "Servers", functions: server::FUNCTIONS },
    Family { about: "Tasks that communicate", functions: messages::FUNCTIONS },
    Family { about: "Media", functions: media::FUNCTIONS },
    Family { about: "Background load", functions: background::FUNCTIONS },
    Family { about: "Scheduler tests of OSv", functions: osv::FUNCTIONS },
    Family { about: "Stressors", functions: stress::FUNCTIONS },
];

const fn argument(
    name: &'static str,
    kind: ArgumentKind,
    default: &'static str,
    about: &'static str,
) -> Argument {
    Argument { name, about, kind, default }
}

/// The function with this name.
pub(crate) fn find(name: &str, at: usize) -> Result<&'static Function, Wrong> {
    let all = || CATALOGUE.iter().flat_map(|family| family.functions);
    all().find(|function| function.name == name).ok_or_else(|| {
        let help = suggest_of(name, all().map(|function| function.name), "use one of");
        wrong(at, format!("there is no workload `{}`", shortened(name)), help)
    })
}

impl Function {
    /// Makes the function's tasks with the arguments in `fields`.
    pub(crate) fn expand(&self, fields: &Fields, maker: &mut Maker) -> Result<(), Wrong> {
        let mut values = Vec::with_capacity(self.arguments.len());
        for argument in self.arguments {
            let value = match fields.get(argument.name) {
                Some(node) => argument.read(node, maker.machine())?,
                None => {
                    let value = fields::default_of(fields.at(), argument.default);
                    argument.read(&value, maker.machine())?
                }
            };
            values.push((argument.name, value));
        }
        (self.make)(&Arguments { values }, maker);
        Ok(())
    }
}

impl Argument {
    fn read(&self, node: &Node, machine: &Machine) -> Result<Value, Wrong> {
        let read = |result: Result<Value, String>| {
            result.map_err(|help| wrong(node.at, fields::expected(node, self.name, "").what, help))
        };
        let word = node.word().unwrap_or_default();
        match self.kind {
            ArgumentKind::Count(most) => {
                let count = fields::integer(node, self.name, 0..=i64::from(most))?;
                Ok(Value::Count(count as u32))
            }
            ArgumentKind::Time => fields::span(node, self.name).map(Value::Time),
            ArgumentKind::Variate => read(program::read_variate(&word).map(Value::Variate)),
            ArgumentKind::Waiting => read(program::read_waiting(&word).map(Value::Waiting)),
            ArgumentKind::Cpus => program::cpus(node.at, &word, machine).map(Value::Cpus),
        }
    }
}

/// An argument's value.
#[derive(Clone, Debug)]
enum Value {
    Count(u32),
    Time(Span),
    Variate(Variate),
    Waiting(Waiting),
    Cpus(Option<CpuSet>),
}

/// Every argument of a function with its value.
#[derive(Clone, Debug)]
struct Arguments {
    values: Vec<(&'static str, Value)>,
}

impl Arguments {
    fn get(&self, name: &str) -> &Value {
        let found = self.values.iter().find(|(known, _)| *known == name);
        &found.expect("functions ask for arguments that they declare").1
    }
    fn count(&self, name: &str) -> u32 {
        let Value::Count(count) = self.get(name) else { unreachable!("`{name}` is a count") };
        *count
    }
    fn time(&self, name: &str) -> Span {
        let Value::Time(span) = self.get(name) else { unreachable!("`{name}` is a time") };
        *span
    }
    fn variate(&self, name: &str) -> Variate {
        let Value::Variate(variate) = self.get(name) else { unreachable!("`{name}` varies") };
        *variate
    }
    fn waiting(&self, name: &str) -> Waiting {
        let Value::Waiting(waiting) = self.get(name) else { unreachable!("`{name}` is waiting") };
        *waiting
    }
    fn cpus(&self, name: &str) -> Option<CpuSet> {
        let Value::Cpus(cpus) = self.get(name) else { unreachable!("`{name}` is CPUs") };
        cpus.clone()
    }
}
