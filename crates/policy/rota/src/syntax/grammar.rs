//! The grammar as data. docs/reference/rota.md is generated from it, and so are random texts
//! ([`super::sample`]), which the parser must accept; so neither can drift from the parser.
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
    rule("file", "{ policy | partition }", "Policies, and how the CPUs are divided among them."),
    rule(
        "policy",
        r#""policy" NAME [ "(" [ param { "," param } ] ")" ] "{" { item [ ";" ] } "}""#,
        "A scheduler. Its items may come in any order.",
    ),
    rule("param", "NAME \":\" value", "A constant that a user may set, and its default."),
    rule(
        "value",
        r#"( "count" | "weight" ) "=" NUMBER | "time" "=" TIME"#,
        "A dimension and an initial value. Only numbers of the same dimension can be added and \
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
        "Its writer determines how outdated a value can be for other readers. A task variable is \
         `owner queue`: set before the task is put in a queue. A CPU variable is `owner cpu`: set \
         on the CPU where the event happens, as `here.x`; or `shared`: every handler may add to it \
         with `+=`, and none may set it.",
    ),
    rule(
        "queue",
        r#""queue" NAME ":" ( "fifo" | "ordered" "(" NAME ")" ) "per" level"#,
        "A queue for each group of a level; ordered by a variable of tasks, least first.",
    ),
    rule(
        "level",
        r#""cpu" | "smt" | "llc" | "node" | "machine""#,
        "Groups of CPUs: one CPU, SMT siblings, those of a last-level cache, of a NUMA node, all.",
    ),
    rule(
        "metric",
        r#""metric" NAME "(" NAME ":" level ")" ":" dimension "=" expr"#,
        "A name for an expression, which is inlined wherever it is called. A metric can call the \
         metrics before it.",
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
        "An event with names for its arguments: a task, or for `dispatch` a CPU.",
    ),
    rule("block", r#""{" { statement END } "}""#, "Statements, in order."),
    rule("statement", "find | let | assign | put | run | kick | if | attempts", "An action."),
    rule(
        "find",
        concat!(
            r#""let" NAME "=" "idle" "cpu" "in" "allowed" "(" NAME ")" [ "within" level ] "#,
            r#""near" place "by" "[" level { "," level } "]""#,
        ),
        "Claims the nearest idle CPU, if there is one. `near` only orders the CPUs; `within` \
         restricts them to the group of that level that contains the place after `near`.",
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
        "Puts a task in a queue. Then the idle CPU that may run it and is nearest to the task's \
         last CPU is claimed and kicked; `wake within` restricts this to the group of that level \
         that contains the task's last CPU.",
    ),
    rule("run", r#""run" NAME "on" NAME [ slice ]"#, "Runs a task on a CPU that was found idle."),
    rule("slice", r#""slice" expr"#, "How long the task may run; `forever` has no end."),
    rule(
        "kick",
        r#""kick" place [ "preempt" ]"#,
        "Makes a CPU dispatch; with `preempt` even if it runs a task.",
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
    rule("attempt", r#""take" at | "balance" "idle""#, "A queue, or the queues of other CPUs."),
    rule(
        "balance",
        concat!(
            r#""balance" ( "idle" | "every" expr [ "on" "leader" "(" level ")" ] ) "{" { "#,
            r#"clause [ ";" ] } "}""#,
        ),
        "How CPUs take tasks from other CPUs: when they found none, or regularly.",
    ),
    rule("clause", "levels | filter | choose | steal | retry", "A part of a balance."),
    rule("levels", r#""level" level { "," level }"#, "The levels to search, in order."),
    rule(
        "filter",
        r#""filter" "(" NAME "," NAME ")" "=" expr"#,
        "The CPU that takes, the candidate, and the condition. The condition is read without \
         locks.",
    ),
    rule(
        "choose",
        r#""choose" ( "any" | ( "argmax" | "argmin" ) expr ) [ "tie" "near" "(" NAME ")" ]"#,
        "Which of the candidates that passed the filter; any, if this is left out. No proof \
         depends on it.",
    ),
    rule(
        "steal",
        r#""steal" expr [ "from" at ] [ "into" at ] [ "where" expr ] [ "rebase" NAME ]"#,
        "How many tasks move, from which queue into which. `from` is required if the filter reads \
         no queue of the candidate, or several. Without `into` the task goes directly onto the \
         CPU. `where` is checked again under the lock; `me in allowed(t)`, that the task may run \
         here, is always checked.",
    ),
    rule(
        "retry",
        r#""retry" ( "untried" | INTEGER )"#,
        "How many other candidates of the same level are tried after the first one gave nothing; \
         all, if this is left out.",
    ),
    rule(
        "protocol",
        r#""unsafe" "protocol" "{" { setting [ "," | ";" ] } "}""#,
        "Breaks the protocol of wakeups, to show the consequences; never emitted.",
    ),
    rule("setting", r#"NAME ":" NAME { "," NAME }"#, "One fault."),
    rule("prove", r#""prove" claim { "," claim }"#, "What `wastenot prove` must show."),
    rule("claim", r#"NAME [ "(" [ NAME ] "<=" expr ")" ]"#, "A property; some have a bound."),
    rule(
        "partition",
        r#""partition" NAME "on" cpus "runs" NAME "for" ( ( "cgroup" | "command" ) QUOTED | "rest" )"#,
        "Gives CPUs to a policy of the file, and the tasks of a cgroup or command (`*`, `?`) to both.",
    ),
    rule(
        "cpus",
        r#""cpus" range { "," range } | level INTEGER | "rest""#,
        "By number, by group, or those of no other partition.",
    ),
    rule("range", r#"INTEGER [ "-" INTEGER ]"#, "One CPU, or all from one to another."),
    rule("at", r#"place "." NAME"#, "The queue of that name at a place."),
    rule("place", r#"( NAME | NAME "(" expr ")" ) { "." NAME }"#, "A CPU or a group of CPUs."),
    rule("expr", "fold | or", "A number, a condition, a CPU."),
    rule("or", r#"and { "or" and }"#, "At least one holds."),
    rule("and", r#"not { "and" not }"#, "All hold."),
    rule("not", r#""not" not | comparison"#, "Negation."),
    rule(
        "comparison",
        r#"sum [ ( "<" | "<=" | ">" | ">=" | "=" | "!=" | "in" ) sum ]"#,
        "Comparisons do not chain.",
    ),
    rule("sum", r#"product { ( "+" | "-" ) product }"#, "Evaluated from the left."),
    rule(
        "product",
        r#"field { ( "*" | "/" ) field }"#,
        "Only by literal numbers; `x * 50%` is rounded down.",
    ),
    rule("field", r#"primary { "." NAME }"#, "A variable or a queue of something."),
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
        "Evaluates an expression for each CPU of a set. The expression extends as far as possible; \
         as the last operand a fold needs no parentheses.",
    ),
    rule(
        "set",
        r#"place | "allowed" "(" NAME ")""#,
        "The CPUs of a place, or those on which a task \
                                                     may run.",
    ),
];

/// The kinds of tokens.
pub const TOKENS: &[(&str, &str)] = &[
    (
        "NAME",
        "Letters a to z and A to Z, digits and `_`; not a digit first, and not one of `and or not \
         in exists forall count sum min max mean argmin argmax`.",
    ),
    (
        "NUMBER",
        "Digits, optionally with `_` between them, and optionally a unit: `ns us ms s %`. A share, \
         `50%`, is allowed beside `*` only.",
    ),
    ("TIME", "A NUMBER with a unit of time, or 0."),
    ("INTEGER", "A NUMBER without unit."),
    ("QUOTED", "A text on one line between quotes: `\"web*\"`."),
    ("END", "The end of the line, or `;`. Neither is needed before the `}` of a block."),
];
