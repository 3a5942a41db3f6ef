//! The grammar as data: docs/reference/rota.md is made of it, and so are random texts
//! ([`super::sample`]), which the parser must read. So neither can drift from the parser.
//!
//! Notation: `"word"` stands for itself, `CAPITALS` for a kind of token, `[ ]` for what may be left
//! out, `{ }` for what may be repeated, or left out, `|` for a choice.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it is called in other rules.
    pub name: &'static str,
    /// What it consists of.
    pub form: &'static str,
    /// What that means.
    pub about: &'static str,
}

const fn rule(name: &'static str, form: &'static str, about: &'static str) -> Rule {
    Rule { name, form, about }
}

/// The rules; the first is a whole text.
pub const RULES: &[Rule] = &[
    rule("file", "{ policy | partition }", "Policies, and how CPUs are parted among them."),
    rule(
        "policy",
        r#""policy" NAME [ "(" [ param { "," param } ] ")" ] "{" { item [ ";" ] } "}""#,
        "A scheduler. Its items stand in any order.",
    ),
    rule("param", "NAME \":\" value", "A constant that a user may set, and its default."),
    rule(
        "value",
        r#"( "count" | "weight" ) "=" NUMBER | "time" "=" TIME"#,
        "A dimension and a first value. Only numbers of one dimension are added and compared.",
    ),
    rule(
        "item",
        "variables | queue | metric | handler | balance | protocol | prove",
        "A part of a policy.",
    ),
    rule(
        "variables",
        r#"( "task" | "cpu" ) "{" { variable [ "," | ";" ] } "}""#,
        "What the policy keeps of every task, or of every CPU.",
    ),
    rule(
        "variable",
        r#"NAME ":" value [ "owner" ( "queue" | "cpu" ) | "shared" ]"#,
        "Its writer says how old a value may be that somebody else reads. Of tasks it is `owner \
         queue`: set before the task is put in a queue. Of CPUs `owner cpu`: set where the event \
         happens, as `here.x`; or `shared`: anybody adds to it with `+=`, nobody sets it.",
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
        "A name for an expression; it is put in wherever it is called. A metric can call those \
         that stand before it.",
    ),
    rule("dimension", r#""count" | "time" | "weight""#, "What a number is a number of."),
    rule(
        "handler",
        r#""on" event { "," event } block"#,
        "What is done when something happens. Each event has one handler.",
    ),
    rule(
        "event",
        concat!(
            r#"( "new" | "wake" | "preempt" | "yield" | "block" | "exit" | "start" | "stop" "#,
            r#"| "tick" | "dispatch" ) "(" [ NAME { "," NAME } ] ")""#,
        ),
        "An event with names for what it is about: a task, or for `dispatch` a CPU.",
    ),
    rule("block", r#""{" { statement END } "}""#, "One statement after the other."),
    rule(
        "statement",
        "find | let | assign | put | run | kick | if | attempts",
        "Something is done.",
    ),
    rule(
        "find",
        concat!(
            r#""let" NAME "=" "idle" "cpu" "in" "allowed" "(" NAME ")" [ "within" level ] "#,
            r#""near" place "by" "[" level { "," level } "]""#,
        ),
        "Claims the idle CPU that is nearest, if there is one. `near` orders; only `within` \
         restricts: to the group of that level in which the place after `near` lies.",
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
        "Puts a task in a queue. Then an idle CPU that may run it is claimed and kicked, the \
         nearest to where the task was last; `wake within` only one of the group of that level in \
         which the task was last.",
    ),
    rule("run", r#""run" NAME "on" NAME [ slice ]"#, "Runs a task on a CPU that was found idle."),
    rule("slice", r#""slice" expr"#, "How long the task may run then; `forever` has no end."),
    rule(
        "kick",
        r#""kick" place [ "preempt" ]"#,
        "Has a CPU dispatch; with `preempt` even if it runs a task.",
    ),
    rule(
        "if",
        r#""if" expr block [ "else" ( block | if ) ]"#,
        "Asks a condition, or whether an idle CPU was found.",
    ),
    rule(
        "attempts",
        r#"attempt { "else" attempt }"#,
        "In `dispatch`: where the CPU looks for its next task, one place after the other.",
    ),
    rule("attempt", r#""take" at | "balance" "idle""#, "A queue, or those of others."),
    rule(
        "balance",
        concat!(
            r#""balance" ( "idle" | "every" expr [ "on" "leader" "(" level ")" ] ) "{" { "#,
            r#"clause [ ";" ] } "}""#,
        ),
        "How CPUs take tasks from others: when they found none, or regularly.",
    ),
    rule("clause", "levels | filter | choose | steal | retry", "A part of a balance."),
    rule("levels", r#""level" level { "," level }"#, "Where to look, one after the other."),
    rule(
        "filter",
        r#""filter" "(" NAME "," NAME ")" "=" expr"#,
        "Who takes, from whom, and on what condition. It is read without locks.",
    ),
    rule(
        "choose",
        r#""choose" ( "any" | ( "argmax" | "argmin" ) expr ) [ "tie" "near" "(" NAME ")" ]"#,
        "Which of those that passed; any, if this is left out. No proof depends on it.",
    ),
    rule(
        "steal",
        r#""steal" expr [ "from" at ] [ "into" at ] [ "where" expr ] [ "rebase" NAME ]"#,
        "How many tasks move, from which queue into which. `from` has to be there where the filter \
         asks about no queue of whom it takes from, or about several. Without `into` the task \
         comes onto the CPU itself. `where` is asked again under the lock; that the task may run \
         here, `me in allowed(t)`, is always asked.",
    ),
    rule(
        "retry",
        r#""retry" ( "untried" | INTEGER )"#,
        "How many others of the same level are tried after the first that gave nothing; all of \
         them, if this is left out.",
    ),
    rule(
        "protocol",
        r#""unsafe" "protocol" "{" { setting [ "," | ";" ] } "}""#,
        "Breaks the protocol of wakeups, in order to see what comes of it; never emitted.",
    ),
    rule("setting", r#"NAME ":" NAME { "," NAME }"#, "One fault."),
    rule("prove", r#""prove" claim { "," claim }"#, "What `wastenot prove` has to show."),
    rule("claim", r#"NAME [ "(" [ NAME ] "<=" expr ")" ]"#, "A property, some with a bound."),
    rule(
        "partition",
        r#""partition" NAME "on" cpus "runs" NAME "for" ( "cgroup" QUOTED | "rest" )"#,
        "Gives CPUs to a policy of the file, and the tasks of a cgroup (`*`, `?`) to both.",
    ),
    rule(
        "cpus",
        r#""cpus" range { "," range } | level INTEGER | "rest""#,
        "By number, by group, or those of no other partition.",
    ),
    rule("range", r#"INTEGER [ "-" INTEGER ]"#, "One CPU, or from one to another."),
    rule("at", r#"place "." NAME"#, "The queue of that name that a place has."),
    rule("place", r#"( NAME | NAME "(" expr ")" ) { "." NAME }"#, "A CPU or a group of CPUs."),
    rule("expr", "fold | or", "A number, a condition, a CPU."),
    rule("or", r#"and { "or" and }"#, "One at least."),
    rule("and", r#"not { "and" not }"#, "All."),
    rule("not", r#""not" not | comparison"#, "The contrary."),
    rule(
        "comparison",
        r#"sum [ ( "<" | "<=" | ">" | ">=" | "=" | "!=" | "in" ) sum ]"#,
        "Comparisons do not chain.",
    ),
    rule("sum", r#"product { ( "+" | "-" ) product }"#, "From the left."),
    rule(
        "product",
        r#"field { ( "*" | "/" ) field }"#,
        "By numbers that are written there; `x * 50%` is rounded down.",
    ),
    rule("field", r#"primary { "." NAME }"#, "A variable or a queue of something."),
    rule("primary", r#"NUMBER | NAME | call | "(" expr ")""#, "What expressions are made of."),
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
        "Asks something of each CPU of a set. Its expression goes as far as it can; as the last \
         operand a fold needs no parentheses.",
    ),
    rule("set", r#"place | "allowed" "(" NAME ")""#, "CPUs of a place, or where a task may run."),
];

/// The kinds of tokens.
pub const TOKENS: &[(&str, &str)] = &[
    (
        "NAME",
        "Letters a to z and A to Z, digits and `_`; no digit first, and none of `and or not in \
         exists forall count sum min max mean argmin argmax`.",
    ),
    (
        "NUMBER",
        "Digits, with `_` between them if you like, and perhaps a unit: `ns us ms s %`. A share, \
         `50%`, stands beside `*` only.",
    ),
    ("TIME", "A NUMBER with a unit of time, or 0."),
    ("INTEGER", "A NUMBER without unit."),
    ("QUOTED", "A text on one line between quotes: `\"web*\"`."),
    ("END", "The end of the line, or `;`. Before the `}` of a block neither is needed."),
];
