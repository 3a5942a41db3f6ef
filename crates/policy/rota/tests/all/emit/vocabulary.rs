//! Policies that together use the whole vocabulary, so that constructs that no policy of the
//! project uses are also compiled and compared.

use wastenot_rota::compile;
use wastenot_rota::ir::Program;
use wastenot_rota::syntax::vocabulary::{CALLS, PLACES};

/// Parts of a policy: a condition and a number on `me` and `v`, and the body of `stop`.
const SAYS: [(&str, &str, &str); 12] = [
    ("weight(v.q) > weight(me)", "weight(v.q)", "t.had := decayed(t.had, ran, 3ms) + ran"),
    ("idle(v) or running(v) >= 1", "weight(v)", "t.had := half(t.had) + until(10ms)"),
    ("exists c in llc(v) : idle(c)", "sum c in llc(v) : weight(c)", "here.last := t.job"),
    ("forall c in smt(v) : running(c) >= 1", "cpus(node(v))", "here.jobs += 1"),
    (
        "(count c in machine : idle(c)) >= cpus(llc(v))",
        "max c in node(v) : queued(c.ready)",
        "if here in llc(t.prev) { kick here }",
    ),
    (
        "(mean c in llc(me) : weight(c.ready)) < weight(v.ready)",
        "min c in smt(v) : c.load",
        "here.load := max(here.load, ran)",
    ),
    (
        "v in node(me) and v.jobs + v.last <= 9",
        "v.load",
        "t.had := min(now, t.had) + scaled(1ms, t.weight)",
    ),
    (
        "min(queued(v.ready), 3) >= max(queued(me.ready), 1)",
        "queued(v.ready) + v.jobs",
        "home(t).jobs += 1",
    ),
    (
        "not (queued(v.q) = queued(me.q))",
        "min_vt(v.q)",
        "t.had := t.had + ran / 2 - (ran - 1us) * 3",
    ),
    (
        "weight(llc(v)) >= weight(llc(me)) and running(machine) >= 2",
        "running(llc(v)) - cpus(smt(v))",
        "let x = argmin c in allowed(t) : queued(c.ready)\n kick x",
    ),
    (
        "running(v) != running(me)",
        "half(v.load)",
        "let x = argmax c in llc(here) : running(c) + c.jobs\n x.jobs += queued(x.ready)",
    ),
    (
        "queued(llc(v).q) > 0",
        "sum c in llc(v) : queued(c.ready)",
        "if idle(home(t)) { here.load := now }",
    ),
];

/// One policy for each, with its own name.
pub(super) fn policies() -> Vec<(String, Program)> {
    let each = SAYS.into_iter().enumerate().map(|(n, (condition, key, stop))| {
        let order = ["argmax", "argmin"][n % 2];
        let near = ["", " tie near(me)"][n / 2 % 2];
        let puts = ["home(t).ready", "t.prev.q", "here.ready"][n % 3];
        let put = format!("put t in {puts}");
        let text = format!(
            "policy says(slice: time = 3ms) {{
                task {{ had: time = 0 owner queue }}
                cpu {{
                    load: time = 7ms owner cpu
                    last: count = 0 owner cpu
                    jobs: count = 0 shared
                }}
                queue ready : fifo per cpu
                queue q : ordered(had) per llc
                on new(t) {{ put t in home(t).q slice slice }}
                on wake(t) {{
                    let c = idle cpu in allowed(t) within node near here by [smt, llc]
                    if c {{ run t on c slice slice }}
                    else {{ {put} slice half(slice) wake within {} }}
                }}
                on preempt(t) {{ put t in home(t).ready }}
                on yield(t) {{ put t in home(t).q slice forever }}
                on block(t), exit(t) {{ }}
                on stop(t, ran) {{ {stop} }}
                on dispatch(c) {{ take c.ready else take c.q else balance idle }}
                balance idle {{
                    level llc, node, machine
                    filter(me, v) = queued(v.ready) >= 1 and (({condition}) or queued(v.ready) > 2)
                    choose {order} {key}{near}
                    steal 1 from v.ready where me in allowed(t)
                    retry {}
                }}
                balance every 5ms on leader(smt) {{
                    level llc, machine
                    filter(me, v) = queued(v.ready) >= 2 + queued(llc(me).q)
                    steal 2 from v.ready into me.q
                }}
            }}",
            ["llc", "cpu", "node", "machine"][n % 4],
            ["untried", "1"][n / 4 % 2]
        );
        let program = compile(&text);
        (format!("says-{n}"), program.unwrap_or_else(|faults| panic!("{n}: {faults:#?}")))
    });
    each.collect()
}

#[test]
fn every_call_and_every_place_is_said() {
    let all: String = SAYS.iter().map(|(a, b, c)| format!("{a} {b} {c} ")).collect();
    // Words that every policy above uses anyway; and `seen`, which no kernel checks (R702).
    let all = all + "t.prev, home(t), here, me, v, x in allowed(t), seen(x)";
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    for entry in CALLS.iter().chain(PLACES) {
        let calls = entry.form.split('(').map(|before| before.rsplit(|c| !letter(c)).next());
        let calls: Vec<&str> = calls.flatten().filter(|word| !word.is_empty()).collect();
        let words = if entry.form.contains('(') { calls } else { entry.form.split(", ").collect() };
        for word in words {
            let said = all.contains(word) || word == "x in P" && all.contains("v in node(me)");
            assert!(said, "`{word}` of `{}` is in no policy", entry.form);
        }
    }
    for fold in ["exists", "forall", "count", "sum", "min", "max", "mean", "argmin", "argmax"] {
        assert!(all.contains(&format!("{fold} c in")), "{fold}");
    }
}
