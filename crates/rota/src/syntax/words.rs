//! The words of the language, where a text can choose between them only.

/// What a queue or a metric belongs to, from narrow to wide.
pub const LEVELS: [&str; 5] = ["cpu", "smt", "llc", "node", "machine"];
/// What a number is a number of.
pub const DIMENSIONS: [&str; 3] = ["count", "time", "weight"];
/// The order in which a queue gives its tasks.
pub const ORDERS: [&str; 2] = ["fifo", "ordered"];
/// What happens to tasks and CPUs.
pub const EVENTS: [&str; 10] =
    ["new", "wake", "preempt", "yield", "block", "exit", "start", "stop", "tick", "dispatch"];
/// How a file's parts begin.
pub const PARTS: [&str; 2] = ["policy", "partition"];
/// How a policy's items begin.
pub const ITEMS: [&str; 9] =
    ["task", "cpu", "queue", "metric", "on", "balance", "unsafe", "prove", "protocol"];
/// How statements begin; the last two in `dispatch` only.
pub const STATEMENTS: [&str; 7] = ["let", "put", "run", "kick", "if", "take", "balance"];
/// How clauses of a balance begin.
pub const CLAUSES: [&str; 5] = ["level", "filter", "choose", "steal", "retry"];
/// How an expression over a set begins.
pub const FOLDS: [&str; 9] =
    ["exists", "forall", "count", "sum", "min", "max", "mean", "argmin", "argmax"];
/// What stands between expressions; with [`FOLDS`] no name can be one of these.
pub const OPERATORS: [&str; 4] = ["and", "or", "not", "in"];
/// The units of numbers.
pub const UNITS: [&str; 5] = ["ns", "us", "ms", "s", "%"];

/// Whether a word can only be what the language means by it.
pub fn is_reserved(word: &str) -> bool {
    FOLDS.contains(&word) || OPERATORS.contains(&word)
}
