//! R0xx: text and grammar.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R001",
        title: "the file is not text",
        about: "A Rota file is UTF-8 text of at most 1 MiB. Tabs and line ends (LF or CR LF) are \
                the only control characters that are allowed. This file is probably something \
                else: a trace, a compiled object, or text in another encoding.",
        wrong: "policy p { }\0\n",
        right: "policy p { }\n",
    },
    Code {
        code: "R002",
        title: "a character that is not allowed",
        about: "Names consist of a to z, A to Z, digits and `_`. The grammar uses a few other \
                characters. Characters that neither names nor the grammar use are allowed only in \
                comments and quoted names.",
        wrong: "policy größe { }\n",
        right: "policy groesse { }   // größe\n",
    },
    Code {
        code: "R003",
        title: "a symbol of another language",
        about: "Rota uses `=` for equal, `!=` for not equal, and the words `and`, `or` and `not`. \
                `:=` sets a variable, and `+=` adds to it. Rota has no short form such as `-=`: \
                write `x := x - 1`.",
        wrong: "policy p {\n    queue q : fifo per cpu\n    balance idle {\n        level \
                machine\n        filter(me, v) = queued(v.q) >= 1 && queued(v.q) == 2\n        \
                choose any\n        steal 1\n        retry untried\n    }\n}\n",
        right: "policy p {\n    queue q : fifo per cpu\n    balance idle {\n        level \
                machine\n        filter(me, v) = queued(v.q) >= 1 and queued(v.q) = 2\n        \
                choose any\n        steal 1\n        retry untried\n    }\n}\n",
    },
    Code {
        code: "R004",
        title: "a malformed number",
        about: "Numbers are whole numbers without a decimal point. Times have a unit: ns, us, ms \
                or s. Shares have `%`. `_` may separate digits. Write fractions in the next \
                smaller unit: `1500us` for 1.5 ms.",
        wrong: "policy p(slice: time = 20msec) { }\n",
        right: "policy p(slice: time = 20ms) { }\n",
    },
    Code {
        code: "R005",
        title: "a quoted text without a closing quote",
        about: "A quoted text must end with `\"` on the line where it begins.",
        wrong: "policy p { }\npartition web on rest runs p for cgroup \"web*\n",
        right: "policy p { }\npartition web on rest runs p for cgroup \"web*\"\n",
    },
    Code {
        code: "R006",
        title: "a comment of another language",
        about: "Comments begin with `//` and end at the end of the line.",
        wrong: "# round robin\npolicy p { }\n",
        right: "// round robin\npolicy p { }\n",
    },
    Code {
        code: "R007",
        title: "an unexpected word or symbol",
        about: "The grammar does not allow this word or symbol here. The message names the words \
                or symbols that are allowed. docs/reference/rota.md contains the grammar.",
        wrong: "policy p {\n    queue ready : fifo cpu\n}\n",
        right: "policy p {\n    queue ready : fifo per cpu\n}\n",
    },
    Code {
        code: "R008",
        title: "an unknown word",
        about: "Only certain words are allowed here, and this word is not one of them. Usually it \
                is misspelt. The message shows the nearest word, or all allowed words.",
        wrong: "policy p {\n    qeue ready : fifo per cpu\n}\n",
        right: "policy p {\n    queue ready : fifo per cpu\n}\n",
    },
    Code {
        code: "R009",
        title: "a task runs on a `cpu`, not on a `core`",
        about: "A task runs on a `cpu`. A `cpu` is a logical CPU, and has the same number as in \
                the kernel. A core is a set of CPUs, the SMT siblings; its level has the name \
                `smt`.",
        wrong: "policy p {\n    queue ready : fifo per core\n}\n",
        right: "policy p {\n    queue ready : fifo per cpu\n}\n",
    },
    Code {
        code: "R010",
        title: "a missing or extra brace",
        about: "Each `{` needs a `}`. The message shows a `{` that has no `}`. It also shows a \
                line that is not allowed inside the block of this `{`. The missing `}` may belong \
                on an earlier line. After you close all blocks, run `wastenot rota fmt`: its \
                indents show where each block ends.",
        wrong: "policy p {\n    on block(t) {\n    on exit(t) { }\n}\n",
        right: "policy p {\n    on block(t) { }\n    on exit(t) { }\n}\n",
    },
    Code {
        code: "R011",
        title: "two statements on a line",
        about: "A statement ends at the end of its line, or at a `;`. An unfinished expression \
                continues on the next line.",
        wrong: "policy p {\n    on tick(t) { kick here kick t.prev }\n}\n",
        right: "policy p {\n    on tick(t) { kick here; kick t.prev }\n}\n",
    },
    Code {
        code: "R012",
        title: "a reserved word as a name",
        about: "`and`, `or`, `not`, `in` and the operators over sets (`exists`, `forall`, `count`, \
                `sum`, `min`, `max`, `mean`, `argmin`, `argmax`) cannot be names. All words except \
                these can be names, even `slice`.",
        wrong: "policy p(count: count = 3) { }\n",
        right: "policy p(tries: count = 3) { }\n",
    },
    Code {
        code: "R013",
        title: "nested too deep",
        about: "Blocks and expressions can be nested up to 64 levels deep. In a chain such as `a + \
                b + c`, each operator is one level. Use `let` or `metric` to name parts of the \
                expression.",
        wrong: "policy p {\n    metric m(c: cpu) : count = \
                1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+\
                1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n}\n",
        right: "policy p {\n    metric m(c: cpu) : count = 68\n}\n",
    },
    Code {
        code: "R014",
        title: "`=` where `:=` is needed",
        about: "`=` compares two values. `:=` sets a variable of a task or CPU, and `+=` adds to a \
                variable. `let x = ...` names a value.",
        wrong: "policy p {\n    task { runs: count = 0 owner queue }\n    \
                on start(t) { t.runs = 1 }\n}\n",
        right: "policy p {\n    task { runs: count = 0 owner queue }\n    \
                on start(t) { t.runs := 1 }\n}\n",
    },
    Code {
        code: "R015",
        title: "a queue without its place",
        about: "A queue `per cpu` exists once for each CPU, a queue `per llc` once for each LLC, \
                and so on. So a statement must name the place of the queue: the last CPU of the \
                task (`home(t).ready`), the CPU that dispatches (`c.ready`), or the machine \
                (`machine.ready`).",
        wrong: "policy p {\n    queue ready : fifo per cpu\n    on wake(t) { put t in ready }\n}\n",
        right: "policy p {\n    queue ready : fifo per cpu\n    \
                on wake(t) { put t in home(t).ready }\n}\n",
    },
    Code {
        code: "R016",
        title: "chained comparisons",
        about: "`a < b < c` would compare a condition with a number. Compare two numbers at a \
                time.",
        wrong: "policy p {\n    queue q : fifo per cpu\n    \
                on tick(t) { if 1 < queued(here.q) < 5 { kick here } }\n}\n",
        right: "policy p {\n    queue q : fifo per cpu\n    \
                on tick(t) { if 1 < queued(here.q) and queued(here.q) < 5 { kick here } }\n}\n",
    },
    Code {
        code: "R017",
        title: "a negative number",
        about: "Rota has no negative literals, because no count of a policy is negative. Only the \
                result of a subtraction may be negative. Write a subtraction, or reverse the \
                comparison.",
        wrong: "policy p {\n    metric m(c: cpu) : count = queued(c.q) * -1\n}\n",
        right: "policy p {\n    metric m(c: cpu) : count = 0 - queued(c.q)\n}\n",
    },
];
