//! What a text says, before anybody knows whether it makes sense: names are still text, and every
//! piece knows where it stands.

use super::Span;

/// A piece of text with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// What it says.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A file: policies, and how CPUs are parted among them.
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
    /// All else.
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
    /// What it begins with.
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
    /// Under which policy of this file.
    pub policy: Name,
    /// Whose tasks.
    pub tasks: Tasks,
    /// All of it.
    pub span: Span,
}

/// The CPUs of a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum Cpus {
    /// `cpus 0-3,8`: ranges, both ends included.
    List(Vec<(u64, u64)>, Span),
    /// `node 0`, `llc 1`.
    Group(Name, u64),
    /// `rest`: those of no other partition.
    Rest(Span),
}

/// The tasks of a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum Tasks {
    /// `cgroup "web*"`: by the name of their cgroup or session, with `*` and `?`.
    Cgroup(String, Span),
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
    /// All of it.
    pub span: Span,
}

/// `metric NAME(X: LEVEL) : DIMENSION = EXPR`
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: Name,
    /// What it is a metric of.
    pub of: Name,
    /// Of which level that is.
    pub level: Name,
    /// Its dimension.
    pub dimension: Name,
    /// Its value.
    pub value: Expr,
}

/// `on EVENT(ARG, ...), ... { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// Which events, each with the names of its arguments.
    pub events: Vec<(Name, Vec<Name>)>,
    /// What is done.
    pub body: Block,
    /// All of it.
    pub span: Span,
}

/// `{ STATEMENT ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// One after the other.
    pub statements: Vec<Statement>,
    /// With the braces.
    pub span: Span,
}

/// One statement and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What.
    pub kind: StatementKind,
    /// Where.
    pub span: Span,
}

/// The statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `let NAME = idle cpu in allowed(T) [within LEVEL] near PLACE by [LEVEL, ...]`
    LetIdle {
        /// The name that it gets.
        name: Name,
        /// Whose CPUs: the task.
        task: Name,
        /// Only there.
        within: Option<Name>,
        /// Near what.
        near: Expr,
        /// Nearest by these levels.
        by: Vec<Name>,
    },
    /// `let NAME = EXPR`
    Let(Name, Expr),
    /// `TARGET := EXPR`, or `TARGET += EXPR`.
    Set {
        /// A variable: `t.vt`, `c.deadline`.
        target: Expr,
        /// `+=`.
        add: bool,
        /// Its new value, or what is added.
        value: Expr,
    },
    /// `put T in QUEUE [slice EXPR] [wake within LEVEL]`
    Put {
        /// Whom.
        task: Name,
        /// Where.
        queue: Expr,
        /// How long it may run then; `forever`.
        slice: Option<Expr>,
        /// An idle CPU is woken only there.
        within: Option<Name>,
    },
    /// `run T on CPU [slice EXPR]`
    Run {
        /// Whom.
        task: Name,
        /// Where.
        on: Name,
        /// How long.
        slice: Option<Expr>,
    },
    /// `kick PLACE [preempt]`
    Kick {
        /// Which CPU.
        cpu: Expr,
        /// Even if it runs a task.
        preempt: bool,
    },
    /// `if EXPR { ... } else { ... }`
    If {
        /// The condition, or the name of a CPU that may not have been found.
        condition: Expr,
        /// If so.
        then: Block,
        /// If not; an `else if` is a block of one statement.
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
    pub clauses: Vec<Clause>,
    /// All of it.
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
        /// Only the leader of each group of this level; without it every CPU.
        leader: Option<Name>,
    },
}

/// One clause of a balance.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// `level LEVEL, ...`: where to look, one after the other.
    Level(Vec<Name>, Span),
    /// `filter(ME, V) = EXPR`: from whom one may take.
    Filter {
        /// Who takes.
        me: Name,
        /// From whom.
        other: Name,
        /// The condition.
        condition: Expr,
    },
    /// `choose any|argmax EXPR|argmin EXPR [tie near(ME)]`
    Choose {
        /// `any`, `argmax`, `argmin`.
        how: Name,
        /// Of what.
        key: Option<Expr>,
        /// Of equals the one nearest to this.
        tie: Option<Name>,
    },
    /// `steal ...`
    Steal(Box<Steal>),
    /// `retry untried`, or `retry N`.
    Retry {
        /// How often; `None` is until every candidate was tried.
        count: Option<u64>,
        /// Where it stands.
        span: Span,
    },
}

/// `steal EXPR [from QUEUE] [into QUEUE] [where EXPR] [rebase VAR]`
#[derive(Clone, Debug, PartialEq)]
pub struct Steal {
    /// How many.
    pub count: Expr,
    /// From which queue; without it the one of `filter`.
    pub from: Option<Expr>,
    /// Into which; without it onto the CPU.
    pub into: Option<Expr>,
    /// What is looked at again when the queue is locked.
    pub recheck: Option<Expr>,
    /// The variable that is carried over from one queue's least to the other's.
    pub rebase: Option<Name>,
    /// Where it stands.
    pub span: Span,
}

/// `KEY: WORD, ...` of an unsafe protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// What is set.
    pub key: Name,
    /// To what.
    pub words: Vec<Name>,
}

/// `NAME`, or `NAME([WHAT] <= EXPR)`
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Which property.
    pub name: Name,
    /// What is bounded, where it is named, and by what.
    pub bound: Option<(Option<Name>, Expr)>,
}

/// An expression and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// The expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number, and its unit where it has one: `3`, `20ms`, `50%`.
    Number(u64, Option<Unit>),
    /// A name.
    Name(String),
    /// `EXPR.NAME`
    Field(Box<Expr>, Name),
    /// `NAME(EXPR, ...)`
    Call(Name, Vec<Expr>),
    /// `not EXPR`
    Not(Box<Expr>),
    /// Two expressions and what is between them.
    Binary(Box<Expr>, Operator, Box<Expr>),
    /// `OPERATOR NAME in SET : EXPR`, the operator one of `exists forall count sum min max mean
    /// argmin argmax`.
    Over {
        /// Which.
        operator: Name,
        /// The name of each member.
        name: Name,
        /// The set: a place, or `allowed(T)`.
        set: Box<Expr>,
        /// What is asked of each.
        body: Box<Expr>,
    },
}

/// What a number is a number of.
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

/// What stands between two expressions.
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
