//! R0xx: text and grammar.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R001",
        title: "this is no text",
        about: "A Rota file is UTF-8 without control characters (tabs and line ends excepted; a \
                line ends with LF or CR LF) and holds at most 1 MiB. Something else was \
                probably given in its place: a recording, a compiled object, a file of another \
                encoding.",
        wrong: "policy p { }\0\n",
        right: "policy p { }\n",
    },
    Code {
        code: "R002",
        title: "a character that means nothing",
        about: "Names consist of a to z, A to Z, digits and `_`. All other characters are those of \
                the grammar; the rest can stand in comments and quoted names only.",
        wrong: "policy größe { }\n",
        right: "policy groesse { }   // größe\n",
    },
    Code {
        code: "R003",
        title: "a symbol of another language",
        about: "Rota writes `=` for equal, `!=` for not equal, and the words `and`, `or`, `not`. A \
                variable is set with `:=` and added to with `+=`; for all else write it out: \
                `x := x - 1`.",
        wrong: "policy p {\n    queue q : fifo per cpu\n    balance idle {\n        level \
                machine\n        filter(me, v) = queued(v.q) >= 1 && queued(v.q) == 2\n        \
                choose any\n        steal 1\n        retry untried\n    }\n}\n",
        right: "policy p {\n    queue q : fifo per cpu\n    balance idle {\n        level \
                machine\n        filter(me, v) = queued(v.q) >= 1 and queued(v.q) = 2\n        \
                choose any\n        steal 1\n        retry untried\n    }\n}\n",
    },
    Code {
        code: "R004",
        title: "a number that says nothing",
        about: "Numbers are whole, without a point. Times have a unit: ns, us, ms or s; shares \
                have `%`; `_` may stand between digits. What is smaller than a unit is written \
                in the next smaller one: `1500us` for 1.5 ms.",
        wrong: "policy p(slice: time = 20msec) { }\n",
        right: "policy p(slice: time = 20ms) { }\n",
    },
    Code {
        code: "R005",
        title: "a quoted text without end",
        about: "A quoted text ends with `\"` on the line where it begins.",
        wrong: "policy p { }\npartition web on rest runs p for cgroup \"web*\n",
        right: "policy p { }\npartition web on rest runs p for cgroup \"web*\"\n",
    },
    Code {
        code: "R006",
        title: "a comment of another language",
        about: "Comments begin with `//` and go to the end of the line.",
        wrong: "# round robin\npolicy p { }\n",
        right: "// round robin\npolicy p { }\n",
    },
    Code {
        code: "R007",
        title: "something else is expected",
        about: "The grammar wants something here that the text does not have. The message says \
                what; the grammar stands in docs/reference/rota.md.",
        wrong: "policy p {\n    queue ready : fifo cpu\n}\n",
        right: "policy p {\n    queue ready : fifo per cpu\n}\n",
    },
    Code {
        code: "R008",
        title: "an unknown word",
        about: "Only certain words can stand here, and this is none of them. Mostly it is \
                misspelt; the message names the word that is nearest, or all.",
        wrong: "policy p {\n    qeue ready : fifo per cpu\n}\n",
        right: "policy p {\n    queue ready : fifo per cpu\n}\n",
    },
    Code {
        code: "R009",
        title: "`core` is not what runs a task",
        about: "What runs a task is a `cpu`: a logical CPU, as the kernel counts them. A core is \
                the set of CPUs that share one, SMT siblings; its level is named `smt`.",
        wrong: "policy p {\n    queue ready : fifo per core\n}\n",
        right: "policy p {\n    queue ready : fifo per cpu\n}\n",
    },
    Code {
        code: "R010",
        title: "a brace too few or too many",
        about: "Each `{` has its `}`. The message marks the `{` that is still open where something \
                begins that cannot stand inside of it; the missing `}` may belong further up. \
                `wastenot rota fmt` shows by its indents where blocks really end, once they do.",
        wrong: "policy p {\n    on block(t) {\n    on exit(t) { }\n}\n",
        right: "policy p {\n    on block(t) { }\n    on exit(t) { }\n}\n",
    },
    Code {
        code: "R011",
        title: "two statements on a line",
        about: "A statement ends where its line ends, or at a `;`. An expression that is not \
                finished goes on in the next line.",
        wrong: "policy p {\n    on tick(t) { kick here kick t.prev }\n}\n",
        right: "policy p {\n    on tick(t) { kick here; kick t.prev }\n}\n",
    },
    Code {
        code: "R012",
        title: "a word of the language as a name",
        about: "`and`, `or`, `not`, `in` and the operators over sets (`exists`, `forall`, `count`, \
                `sum`, `min`, `max`, `mean`, `argmin`, `argmax`) cannot be names. All other words \
                can, even `slice`.",
        wrong: "policy p(count: count = 3) { }\n",
        right: "policy p(tries: count = 3) { }\n",
    },
    Code {
        code: "R013",
        title: "nested too deep",
        about: "Blocks and expressions nest at most 64 deep; a chain such as `a + b + c` is as \
                deep as it is long. Give parts names with `let` or `metric`. Nobody can follow \
                a policy that needs more.",
        wrong: "policy p {\n    metric m(c: cpu) : count = \
                1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+\
                1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n}\n",
        right: "policy p {\n    metric m(c: cpu) : count = 68\n}\n",
    },
    Code {
        code: "R014",
        title: "`=` where something is set",
        about: "`=` compares. A variable of a task or CPU is set with `:=` and added to with \
                `+=`; a name for a value is made with `let x = ...`.",
        wrong: "policy p {\n    task { runs: count = 0 owner queue }\n    \
                on start(t) { t.runs = 1 }\n}\n",
        right: "policy p {\n    task { runs: count = 0 owner queue }\n    \
                on start(t) { t.runs := 1 }\n}\n",
    },
    Code {
        code: "R015",
        title: "a queue without its place",
        about: "There is one queue for each CPU, LLC and so on, so that a text must say which: \
                that of the CPU where the task was last (`home(t).ready`), that of the CPU \
                which dispatches (`c.ready`), that of the machine (`machine.ready`).",
        wrong: "policy p {\n    queue ready : fifo per cpu\n    on wake(t) { put t in ready }\n}\n",
        right: "policy p {\n    queue ready : fifo per cpu\n    \
                on wake(t) { put t in home(t).ready }\n}\n",
    },
    Code {
        code: "R016",
        title: "comparisons that chain",
        about: "`a < b < c` would compare a truth with a number. Compare two and two.",
        wrong: "policy p {\n    queue q : fifo per cpu\n    \
                on tick(t) { if 1 < queued(here.q) < 5 { kick here } }\n}\n",
        right: "policy p {\n    queue q : fifo per cpu\n    \
                on tick(t) { if 1 < queued(here.q) and queued(here.q) < 5 { kick here } }\n}\n",
    },
    Code {
        code: "R017",
        title: "a negative number",
        about: "Nothing that a policy counts is negative, so there is no sign. A difference may \
                be: subtract, or compare the other way round.",
        wrong: "policy p {\n    metric m(c: cpu) : count = queued(c.q) * -1\n}\n",
        right: "policy p {\n    metric m(c: cpu) : count = 0 - queued(c.q)\n}\n",
    },
];
