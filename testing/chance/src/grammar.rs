//! The grammar as data. docs/reference/rota.md is generated from it, and so are random texts
//! ([`crate::sample`]), which the parser must accept; so neither can drift from the parser.
//!
//! Notation: `"word"` stands for itself, `CAPITALS` for a kind of token, `[ ]` for an optional
//! part, `{ }` for a part that occurs any number of times or not at all, `|` for a choice.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name in other rules.
    pub name: &'static str,
    /// Its form.
    pub form: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

const fn rule(name: &'static str, form: &'static str, about: &'static str) -> Rule {
    Rule { name, form, about }
}

/// The rules; the first is a whole file.
pub const RULES: &[Rule] = &[
    rule(
        "file",
        "{ policy | partition }",
        "Policies, and the partitions that divide the CPUs among the policies.",
    ),
    rule(
        "policy",
        r#""policy" NAME [ "(" [ param { "," param } ] ")" ] "{" { item [ ";" ] } "}""#,
        "A scheduler. Its items may have any order.",
    ),
    rule("param", "NAME \":\" value", "A constant that users can set, with its default."),
    rule(
        "value",
        r#"( "count" | "weight" ) "=" NUMBER | "time" "=" TIME"#,
        "A dimension and an initial value. Only numbers of the same dimension can be added or \
         compared.",
    ),
    rule(
        "item",
        "variables | queue | metric | handler | balance | protocol | prove",
        "A part of a policy.",
    ),
    rule(
        "variables",
        r#"( "task" | "cpu" ) "{" { variable [ "," | ";" ] } "}""#,
        "Variables of every task, or of every CPU.",
    ),
    rule(
        "variable",
        r#"NAME ":" value [ "owner" ( "queue" | "cpu" ) | "shared" ]"#,
        "The writer of the variable determines how old a value can be when another CPU reads it. A \
         task variable is `owner queue`: it is set before the task is put into a queue. A CPU \
         variable is `owner cpu` or `shared`. An `owner cpu` variable is set only for the CPU of \
         the event: `here.x := ...`. Every handler may add to a `shared` variable with `+=`, but \
         no handler may set it.",
    ),
    rule(
        "queue",
        r#""queue" NAME ":" ( "fifo" | "ordered" "(" NAME ")" ) "per" level"#,
        "A queue for each group of a level. An `ordered` queue is sorted by a task variable; the \
         task with the least value comes first.",
    ),
    rule(
        "level",
        r#""cpu" | "smt" | "llc" | "node" | "machine""#,
        "Groups of CPUs: one CPU, SMT siblings, the CPUs of a last-level cache, the CPUs of a NUMA \
         node, all CPUs.",
    ),
    rule(
        "metric",
        r#""metric" NAME "(" NAME ":" level ")" ":" dimension "=" expr"#,
        "A name for an expression, which is inlined wherever it is called. A metric can call \
         metrics that are declared above it.",
    ),
    rule("dimension", r#""count" | "time" | "weight""#, "The dimension of a number."),
    rule(
        "handler",
        r#""on" event { "," event } block"#,
        "The statements for an event. Each event has one handler.",
    ),
    rule(
        "event",
        concat!(
            r#"( "new" | "wake" | "preempt" | "yield" | "block" | "exit" | "start" | "stop" "#,
            r#"| "tick" | "dispatch" ) "(" [ NAME { "," NAME } ] ")""#,
        ),
        "An event, and a name for each of its arguments. The argument of `dispatch` is a CPU; the \
         argument of every other event is a task.",
    ),
    rule("block", r#""{" { statement END } "}""#, "Statements, in order."),
    rule("statement", "find | let | assign | put | run | kick | if | attempts", "An action."),
    rule(
        "find",
        concat!(
            r#""let" NAME "=" "idle" "cpu" "in" "allowed" "(" NAME ")" [ "within" level ] "#,
            r#""near" place "by" "[" level { "," level } "]""#,
        ),
        "Claims the nearest idle CPU, if there is one. `near` sets only the order of the search. \
         `within LEVEL` limits the search to one group of this level: the group that contains the \
         place after `near`.",
    ),
    rule("let", r#""let" NAME "=" expr"#, "A name for a value."),
    rule(
        "assign",
        r#"( NAME | "home" "(" NAME ")" ) { "." NAME } ( ":=" | "+=" ) expr"#,
        "Sets a variable of a task or CPU.",
    ),
    rule(
        "put",
        r#""put" NAME "in" at [ slice ] [ "wake" "within" level ]"#,
        "Puts a task into a queue. Then the statement claims and kicks an idle CPU. Of the idle \
         CPUs that the task may use, it selects the CPU nearest to the last CPU of the task. With \
         `wake within LEVEL`, the statement searches only one group of this level: the group that \
         contains the last CPU of the task.",
    ),
    rule("run", r#""run" NAME "on" NAME [ slice ]"#, "Runs a task on a CPU that was found idle."),
    rule(
        "slice",
        r#""slice" expr"#,
        "The time for which the task may run; `forever` means no limit.",
    ),
    rule(
        "kick",
        r#""kick" place [ "preempt" ]"#,
        "Makes a CPU run the handler of `dispatch`. With `preempt`, the CPU does so even if it \
         runs a task.",
    ),
    rule(
        "if",
        r#""if" expr block [ "else" ( block | if ) ]"#,
        "Tests a condition, or whether an idle CPU was found.",
    ),
    rule(
        "attempts",
        r#"attempt { "else" attempt }"#,
        "In `dispatch`: the places where the CPU looks for its next task, in order.",
    ),
    rule(
        "attempt",
        r#""take" at | "balance" "idle""#,
        "Takes a task from a queue (`take`), or from the queues of other CPUs (`balance idle`).",
    ),
    rule(
        "balance",
        concat!(
            r#""balance" ( "idle" | "every" expr [ "on" "leader" "(" level ")" ] ) "{" { "#,
            r#"clause [ ";" ] } "}""#,
        ),
        "The rules by which CPUs take tasks from other CPUs. `idle` means that a CPU takes tasks \
         when it found no task. `every` means that CPUs take tasks at regular times.",
    ),
    rule("clause", "levels | filter | choose | steal | retry", "A part of a balance."),
    rule("levels", r#""level" level { "," level }"#, "The levels to search, in order."),
    rule(
        "filter",
        r#""filter" "(" NAME "," NAME ")" "=" expr"#,
        "A name for the CPU that takes tasks, a name for the candidate, and the condition for \
         candidates. The condition is evaluated without locks.",
    ),
    rule(
        "choose",
        r#""choose" ( "any" | ( "argmax" | "argmin" ) expr ) [ "tie" "near" "(" NAME ")" ]"#,
        "The choice among the candidates that passed the filter. By default, any of them may be \
         chosen. No proof depends on the choice.",
    ),
    rule(
        "steal",
        r#""steal" expr [ "from" at ] [ "into" at ] [ "where" expr ] [ "rebase" NAME ]"#,
        "The number of tasks that move. `from` names the queue that the tasks leave, and `into` \
         the queue that they enter. `from` is required if the filter reads no queue of the \
         candidate, or several queues. Without `into`, the task goes directly to the CPU. `where` \
         is checked again under the lock. Every steal checks `me in allowed(t)`: whether the task \
         may run on this CPU.",
    ),
    rule(
        "retry",
        r#""retry" ( "untried" | INTEGER )"#,
        "If the first candidate had no task, the CPU tries other candidates of the same level. \
         `retry` limits the number of these candidates. `untried`, the default, means all of them.",
    ),
    rule(
        "protocol",
        r#""unsafe" "protocol" "{" { setting [ "," | ";" ] } "}""#,
        "Breaks the wakeup protocol, to show the consequences. Such a policy is never emitted.",
    ),
    rule("setting", r#"NAME ":" NAME { "," NAME }"#, "One fault."),
    rule("prove", r#""prove" claim { "," claim }"#, "The claims that `wastenot prove` must show."),
    rule("claim", r#"NAME [ "(" [ NAME ] "<=" expr ")" ]"#, "A claim; some claims have a bound."),
    rule(
        "partition",
        r#""partition" NAME "on" cpus "runs" NAME "for" ( ( "cgroup" | "command" ) QUOTED | "rest" )"#,
        "Assigns CPUs and tasks to a policy of the file. The tasks are those of a cgroup or \
         command; `*` and `?` are wildcards.",
    ),
    rule(
        "cpus",
        r#""cpus" range { "," range } | level INTEGER | "rest""#,
        "CPUs by number, or the CPUs of a group. `rest` means all CPUs that no other partition \
         has.",
    ),
    rule(
        "range",
        r#"INTEGER [ "-" INTEGER ]"#,
        "The number of one CPU, or the first and the last number of several CPUs.",
    ),
    rule("at", r#"place "." NAME"#, "A queue: its place, a dot and its name."),
    rule("place", r#"( NAME | NAME "(" expr ")" ) { "." NAME }"#, "A CPU or a group of CPUs."),
    rule("expr", "fold | or", "A number, a condition or a CPU."),
    rule("or", r#"and { "or" and }"#, "True if at least one condition is true."),
    rule("and", r#"not { "and" not }"#, "True if all conditions are true."),
    rule("not", r#""not" not | comparison"#, "Negation."),
    rule(
        "comparison",
        r#"sum [ ( "<" | "<=" | ">" | ">=" | "=" | "!=" | "in" ) sum ]"#,
        "Comparisons cannot be chained.",
    ),
    rule("sum", r#"product { ( "+" | "-" ) product }"#, "Evaluated from left to right."),
    rule(
        "product",
        r#"field { ( "*" | "/" ) field }"#,
        "Multiplies or divides by a literal number only. The value of `x * 50%` is rounded down.",
    ),
    rule("field", r#"primary { "." NAME }"#, "A variable or a queue of a task, CPU or group."),
    rule("primary", r#"NUMBER | NAME | call | "(" expr ")""#, "The parts of expressions."),
    rule(
        "call",
        r#"( NAME | "min" | "max" ) "(" [ expr { "," expr } ] ")""#,
        "A metric, or one of the calls below.",
    ),
    rule(
        "fold",
        concat!(
            r#"( "exists" | "forall" | "count" | "sum" | "min" | "max" | "mean" | "argmin" | "#,
            r#""argmax" ) NAME "in" set ":" expr"#,
        ),
        "Evaluates an expression for each CPU of a set. The expression extends as far as possible. \
         If a fold is the last operand, it needs no parentheses.",
    ),
    rule(
        "set",
        r#"place | "allowed" "(" NAME ")""#,
        "The CPUs of a place, or the CPUs on which a task may run.",
    ),
];

/// The kinds of tokens.
pub const TOKENS: &[(&str, &str)] = &[
    (
        "NAME",
        "Letters a to z and A to Z, digits and `_`. A name cannot begin with a digit. It cannot be \
         one of `and or not in exists forall count sum min max mean argmin argmax`.",
    ),
    (
        "NUMBER",
        "Digits, with optional `_` between them and an optional unit: `ns us ms s %`. A share such \
         as `50%` is allowed only with `*`.",
    ),
    ("TIME", "A NUMBER with a unit of time, or 0."),
    ("INTEGER", "A NUMBER without unit."),
    ("QUOTED", "Text on one line between quotes: `\"web*\"`."),
    ("END", "The end of the line, or `;`. Before the `}` of a block, neither is required."),
];
