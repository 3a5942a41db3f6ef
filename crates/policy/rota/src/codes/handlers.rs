//! R3xx: handlers, and where they place their task.

use super::Code;

pub(super) const CODES: &[Code] = &[
    Code {
        code: "R301",
        title: "an idle CPU that may not exist",
        about: "`let c = idle cpu ...` searches for an idle CPU, and may find none. Test the \
                result with `if c`. In the block after `if c`, `c` is an idle CPU whose idle flag \
                is claimed.",
        wrong: "on wake(t) {\n    let c = idle cpu in allowed(t) near t.prev by [machine]\n    \
                if c { run t on c } else { put t in home(t).ready }\n    kick c\n}\n",
        right: "on wake(t) {\n    let c = idle cpu in allowed(t) near t.prev by [machine]\n    \
                if c { run t on c } else { put t in home(t).ready }\n}\n",
    },
    Code {
        code: "R302",
        title: "an event that is handled twice",
        about: "Each event has exactly one handler.",
        wrong: "on tick(t) { kick here }\non tick(t) { t.vt += 1ms }\n",
        right: "on tick(t) {\n    kick here\n    t.vt += 1ms\n}\n",
    },
    Code {
        code: "R303",
        title: "an event without a handler",
        about: "A policy needs handlers of `new`, `wake`, `preempt` and `yield`, because these \
                handlers place the task. It also needs handlers of `block`, `exit` and `dispatch`. \
                An empty handler is written `on exit(t) { }`. The handlers of `start`, `stop` and \
                `tick` are optional.",
        wrong: "policy p {\n    queue all : fifo per machine\n    \
                on new(t), wake(t), preempt(t) { put t in machine.all }\n    \
                on block(t), exit(t) { }\n    on dispatch(c) { take machine.all }\n}\n",
        right: "policy p {\n    queue all : fifo per machine\n    \
                on new(t), wake(t), preempt(t), yield(t) { put t in machine.all }\n    \
                on block(t), exit(t) { }\n    on dispatch(c) { take machine.all }\n}\n",
    },
    Code {
        code: "R304",
        title: "an event with the wrong arguments",
        about: "The argument of `dispatch` is a CPU. The argument of every other event is a task. \
                `stop(t, ran)` also has `ran`, the time for which the task ran.",
        wrong: "on stop(t) { t.vt += 1ms }\n",
        right: "on stop(t, ran) { t.vt += ran }\n",
    },
    Code {
        code: "R305",
        title: "`take` outside of `dispatch`, or another statement inside `dispatch`",
        about: "`dispatch` contains only one chain of places where a CPU looks for its next task: \
                `take c.ready else take c.q else balance idle`. No other handler takes tasks out \
                of queues.",
        wrong: "on tick(t) { take here.ready }\n",
        right: "on tick(t) { kick here preempt }\n",
    },
    Code {
        code: "R306",
        title: "too many paths",
        about: "The compiler checks each path through a handler. On each path, the handler must \
                place its task once and use each CPU that it claims. Each `if` on a claimed CPU \
                doubles the number of paths. The maximum is 1024.",
        wrong: "on wake(t) {\n\
                \x20   let a = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let b = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let d = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let e = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let f = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let g = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let h = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let i = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let j = idle cpu in allowed(t) near here by [machine]\n\
                \x20   let k = idle cpu in allowed(t) near here by [machine]\n\
                \x20   if a { }\n\
                \x20   if b { }\n\
                \x20   if d { }\n\
                \x20   if e { }\n\
                \x20   if f { }\n\
                \x20   if g { }\n\
                \x20   if h { }\n\
                \x20   if i { }\n\
                \x20   if j { }\n\
                \x20   if k { }\n\
                \x20   put t in home(t).ready\n}\n",
        right: "on wake(t) {\n    let a = idle cpu in allowed(t) near here by [machine]\n    \
                if a { run t on a } else { put t in home(t).ready }\n}\n",
    },
    Code {
        code: "R307",
        title: "a task that is lost, or placed twice",
        about: "Handlers of `new`, `wake`, `preempt` and `yield` must place their task exactly \
                once on every path, with `put` or `run`. A task that is in no queue never runs \
                again. A task in two queues would run twice.",
        wrong: "on wake(t) { if queued(here.ready) = 0 { put t in here.ready } }\n",
        right: "on wake(t) {\n    if queued(here.ready) = 0 { put t in here.ready } \
                else { put t in home(t).q }\n}\n",
    },
    Code {
        code: "R308",
        title: "a claimed CPU that is not used",
        about: "`let c = idle cpu ...` finds an idle CPU and claims its idle flag. After this, no \
                other handler wakes the CPU. So the handler that claimed the CPU must use the CPU: \
                run the task there, or kick the CPU.",
        wrong: "on wake(t) {\n    let c = idle cpu in allowed(t) near t.prev by [machine]\n    \
                put t in home(t).ready\n}\n",
        right: "on wake(t) {\n    let c = idle cpu in allowed(t) near t.prev by [machine]\n    \
                if c { run t on c } else { put t in home(t).ready }\n}\n",
    },
    Code {
        code: "R309",
        title: "a task variable is set too late",
        about: "As soon as a task is in a queue, another CPU may take it. So set the variables of \
                a task before you put the task into a queue.",
        wrong: "on wake(t) {\n    put t in home(t).q\n    t.vt := 0\n}\n",
        right: "on wake(t) {\n    t.vt := 0\n    put t in home(t).q\n}\n",
    },
    Code {
        code: "R310",
        title: "an event that must not place a task",
        about: "After `block` and `exit`, the task sleeps or has ended. At `start`, `stop` and \
                `tick`, the task is on a CPU. If the task must move, the event `preempt` or \
                `yield` follows.",
        wrong: "on block(t) { put t in home(t).ready }\n",
        right: "on block(t) { }\n",
    },
];
