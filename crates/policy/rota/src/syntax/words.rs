//! The keywords of the language.

/// The levels of queues and metrics, from narrow to wide.
pub const LEVELS: [&str; 5] = ["cpu", "smt", "llc", "node", "machine"];
/// The dimensions of numbers.
pub(crate) const DIMENSIONS: [&str; 3] = ["count", "time", "weight"];
/// The order in which a queue gives its tasks.
pub(crate) const ORDERS: [&str; 2] = ["fifo", "ordered"];
/// The events of tasks and CPUs.
pub const EVENTS: [&str; 10] =
    ["new", "wake", "preempt", "yield", "block", "exit", "start", "stop", "tick", "dispatch"];
/// The keywords that begin the parts of a file.
pub(crate) const PARTS: [&str; 2] = ["policy", "partition"];
/// The keywords that begin the items of a policy.
pub(crate) const ITEMS: [&str; 9] =
    ["task", "cpu", "queue", "metric", "on", "balance", "unsafe", "prove", "protocol"];
/// The keywords that begin statements; the last two occur in `dispatch` only.
pub(crate) const STATEMENTS: [&str; 7] = ["let", "put", "run", "kick", "if", "take", "balance"];
/// The keywords that begin the clauses of a balance.
pub(crate) const CLAUSES: [&str; 5] = ["level", "filter", "choose", "steal", "retry"];
/// The keywords that begin an expression over a set.
pub const FOLDS: [&str; 9] =
    ["exists", "forall", "count", "sum", "min", "max", "mean", "argmin", "argmax"];
/// The operators that are words; these and [`FOLDS`] cannot be names.
pub const OPERATORS: [&str; 4] = ["and", "or", "not", "in"];
/// The units of numbers.
pub const UNITS: [&str; 5] = ["ns", "us", "ms", "s", "%"];

/// Whether a word is reserved, so that it cannot be a name.
pub(crate) fn is_reserved(word: &str) -> bool {
    FOLDS.contains(&word) || OPERATORS.contains(&word)
}
