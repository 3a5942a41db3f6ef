//! The syntax tree of a text, before any check of its meaning: names are still text, and every node
//! has its position.

use super::Span;

/// A word of the text and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The word.
    pub text: String,
    /// Its position in the text.
    pub span: Span,
}

/// A file: policies, and how the CPUs are divided among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// `policy NAME(...) { ... }`
    pub policies: Vec<Policy>,
    /// `partition NAME on CPUS runs POLICY for TASKS`
    pub partitions: Vec<Partition>,
}

/// `policy NAME(PARAM, ...) { ITEM ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Its name.
    pub name: Name,
    /// Constants that a user may set.
    pub params: Vec<Variable>,
    /// All other parts.
    pub items: Vec<Item>,
    /// From `policy` to `}`.
    pub span: Span,
}

/// `NAME: DIMENSION = VALUE [WRITER]`: a parameter, or a variable of tasks or CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Name,
    /// `count`, `time`, `weight`.
    pub dimension: Name,
    /// The initial value.
    pub value: Expr,
    /// `owner queue`, `owner cpu`, `shared`: one word or two.
    pub writer: Vec<Name>,
}

/// `partition NAME on CPUS runs POLICY for TASKS`
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Its name.
    pub name: Name,
    /// Which CPUs.
    pub cpus: Cpus,
    /// The policy of this file that runs there.
    pub policy: Name,
    /// Its tasks.
    pub tasks: Tasks,
    /// The whole partition.
    pub span: Span,
}

/// The CPUs of a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum Cpus {
    /// `cpus 0-3,8`: ranges, both ends included.
    List(Vec<(u64, u64)>, Span),
    /// `node 0`, `llc 1`.
    Group(Name, u64),
    /// `rest`: the CPUs that no other partition has.
    Rest(Span),
}

/// The tasks of a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum Tasks {
    /// `cgroup "web*"`: by the name of their cgroup or session, with `*` and `?`.
    Cgroup(String, Span),
    /// `command "nginx*"`: by the name of their command, with `*` and `?`.
    Command(String, Span),
    /// `rest`.
    Rest(Span),
}

/// One item of a policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `task { VARIABLE ... }`
    Task(Vec<Variable>, Span),
    /// `cpu { VARIABLE ... }`
    Cpu(Vec<Variable>, Span),
    /// `queue NAME : ORDER per LEVEL`
    Queue(Queue),
    /// `metric NAME(X: LEVEL) : DIMENSION = EXPR`
    Metric(Metric),
    /// `on EVENT(ARG, ...), ... { ... }`
    On(Handler),
    /// `balance idle { ... }`, `balance every T [on leader(LEVEL)] { ... }`
    Balance(Balance),
    /// `unsafe protocol { KEY: WORD, ... }`
    Protocol(Vec<Setting>, Span),
    /// `prove CLAIM, ...`
    Prove(Vec<Claim>),
}

/// `queue NAME : fifo|ordered(VAR) per LEVEL`
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Its name.
    pub name: Name,
    /// `fifo`, `ordered`.
    pub order: Name,
    /// The variable by which it is ordered.
    pub key: Option<Name>,
    /// `cpu`, `smt`, `llc`, `node`, `machine`.
    pub per: Name,
    /// The whole declaration.
    pub span: Span,
}

/// `metric NAME(X: LEVEL) : DIMENSION = EXPR`
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: Name,
    /// The name of its argument.
    pub of: Name,
    /// The level of its argument.
    pub level: Name,
    /// Its dimension.
    pub dimension: Name,
    /// Its value.
    pub value: Expr,
}

/// `on EVENT(ARG, ...), ... { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// The events, each with the names of its arguments.
    pub events: Vec<(Name, Vec<Name>)>,
    /// The statements.
    pub body: Block,
    /// The whole handler.
    pub span: Span,
}

/// `{ STATEMENT ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The statements, in order.
    pub statements: Vec<Statement>,
    /// The position, with the braces.
    pub span: Span,
}

/// One statement and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Its position in the text.
    pub span: Span,
}

/// The statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `let NAME = idle cpu in allowed(T) [within LEVEL] near PLACE by [LEVEL, ...]`
    LetIdle {
        /// The name of the CPU.
        name: Name,
        /// The task whose CPUs are searched.
        task: Name,
        /// The level that restricts the search.
        within: Option<Name>,
        /// The place to search from.
        near: Expr,
        /// The levels that define "nearest".
        by: Vec<Name>,
    },
    /// `let NAME = EXPR`
    Let(Name, Expr),
    /// `TARGET := EXPR`, or `TARGET += EXPR`.
    Set {
        /// The variable: `t.vt`, `c.deadline`.
        target: Expr,
        /// Whether it is `+=`.
        add: bool,
        /// The new value, or the amount to add.
        value: Expr,
    },
    /// `put T in QUEUE [slice EXPR] [wake within LEVEL]`
    Put {
        /// The task.
        task: Name,
        /// The queue.
        queue: Expr,
        /// The slice; `forever`.
        slice: Option<Expr>,
        /// The level within which an idle CPU is woken.
        within: Option<Name>,
    },
    /// `run T on CPU [slice EXPR]`
    Run {
        /// The task.
        task: Name,
        /// The CPU.
        on: Name,
        /// The slice.
        slice: Option<Expr>,
    },
    /// `kick PLACE [preempt]`
    Kick {
        /// The CPU.
        cpu: Expr,
        /// Whether a running task is preempted.
        preempt: bool,
    },
    /// `if EXPR { ... } else { ... }`
    If {
        /// The condition, or the name of a CPU that may not have been found.
        condition: Expr,
        /// The statements if it holds.
        then: Block,
        /// The statements if it does not hold; an `else if` is a block of one statement.
        otherwise: Option<Block>,
    },
    /// `take QUEUE else take QUEUE else balance idle`
    Attempts(Vec<Attempt>),
}

/// One of the places where a CPU looks for its next task.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// `take QUEUE`
    Take(Expr),
    /// `balance idle`
    Balance(Span),
}

/// `balance ... { CLAUSE ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// `idle`, or `every T [on leader(LEVEL)]`.
    pub when: When,
    /// Its clauses, in the order of the text.
    pub(crate) clauses: Vec<Clause>,
    /// The whole balance.
    pub span: Span,
}

/// When CPUs balance.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// When they have nothing to run.
    Idle,
    /// Regularly.
    Every {
        /// How often.
        period: Expr,
        /// Only the leader of each group of this level balances; without it, every CPU.
        leader: Option<Name>,
    },
}

/// One clause of a balance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clause {
    /// `level LEVEL, ...`: the levels to search, in order.
    Level(Vec<Name>, Span),
    /// `filter(ME, V) = EXPR`: the condition for a candidate.
    Filter {
        /// The CPU that takes.
        me: Name,
        /// The candidate.
        other: Name,
        /// The condition.
        condition: Expr,
    },
    /// `choose any|argmax EXPR|argmin EXPR [tie near(ME)]`
    Choose {
        /// `any`, `argmax`, `argmin`.
        how: Name,
        /// The key.
        key: Option<Expr>,
        /// Ties go to the one nearest to this.
        tie: Option<Name>,
    },
    /// `steal ...`
    Steal(Box<Steal>),
    /// `retry untried`, or `retry N`.
    Retry {
        /// How often; `None`: until every candidate was tried.
        count: Option<u64>,
        /// Its position in the text.
        span: Span,
    },
}

/// `steal EXPR [from QUEUE] [into QUEUE] [where EXPR] [rebase VAR]`
#[derive(Clone, Debug, PartialEq)]
pub struct Steal {
    /// How many tasks.
    pub count: Expr,
    /// The victims' queue; without it, the one in `filter`.
    pub from: Option<Expr>,
    /// The receiving queue; without it, the task goes onto the CPU.
    pub into: Option<Expr>,
    /// The condition that is checked again after the queue is locked.
    pub recheck: Option<Expr>,
    /// The variable whose distance from the least key is carried over.
    pub rebase: Option<Name>,
    /// Its position in the text.
    pub span: Span,
}

/// `KEY: WORD, ...` in an unsafe protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The step of the protocol.
    pub key: Name,
    /// The words for it.
    pub words: Vec<Name>,
}

/// `NAME`, or `NAME([WHAT] <= EXPR)`
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Which property.
    pub name: Name,
    /// What is bounded, if it is named, and the bound.
    pub bound: Option<(Option<Name>, Expr)>,
}

/// An expression and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its position in the text.
    pub span: Span,
}

/// The expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number, and its unit if it has one: `3`, `20ms`, `50%`.
    Number(u64, Option<Unit>),
    /// A name.
    Name(String),
    /// `EXPR.NAME`
    Field(Box<Expr>, Name),
    /// `NAME(EXPR, ...)`
    Call(Name, Vec<Expr>),
    /// `not EXPR`
    Not(Box<Expr>),
    /// Two expressions and the operator between them.
    Binary(Box<Expr>, Operator, Box<Expr>),
    /// `OPERATOR NAME in SET : EXPR`, the operator one of `exists forall count sum min max mean
    /// argmin argmax`.
    Over {
        /// The operator.
        operator: Name,
        /// The name of each member.
        name: Name,
        /// The set: a place, or `allowed(T)`.
        set: Box<Expr>,
        /// The expression for each member.
        body: Box<Expr>,
    },
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `ns`
    Nanosecond,
    /// `us`
    Microsecond,
    /// `ms`
    Millisecond,
    /// `s`
    Second,
    /// `%`
    Percent,
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `or`
    Or,
    /// `and`
    And,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `in`
    In,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}
