//! Messages about common mistakes: one error each, at the right place, with the correction.

use wastenot_rota::{Diagnostic, codes, compile};

/// The errors of a policy with these items, to which the rest is added.
fn faults(items: &str) -> (String, Vec<Diagnostic>) {
    let text = codes::whole(items);
    let faults = compile(&text).err().unwrap_or_default();
    (text, faults)
}

/// Their codes and the marked texts.
fn told(items: &str) -> Vec<(&'static str, String)> {
    let (text, faults) = faults(items);
    let marked = |fault: &Diagnostic| &text[fault.span.start as usize..fault.span.end as usize];
    faults.iter().map(|fault| (fault.code, marked(fault).to_owned())).collect()
}

/// The only error: its code, the marked text, and what to write instead.
fn helped(items: &str, code: &str, marked: &str, help: &str) {
    assert_eq!(told(items), [(code, marked.to_owned())].map(|(code, it)| (code, it)), "{items}");
    let (_, faults) = faults(items);
    assert!(faults[0].help.contains(help), "{items}: {}", faults[0].help);
}

#[test]
fn a_metric_is_looked_at_though_nobody_calls_it() {
    let metric = "metric m(c: cpu) : count = queued(c.nosuch) + foo";
    let found = [("R101", "nosuch".to_owned()), ("R101", "foo".to_owned())];
    assert_eq!(told(metric), found);
    let called = "on tick(t) { if m(here) >= 1 { kick here } if m(t.prev) >= 1 { kick here } }";
    assert_eq!(told(&format!("{metric}\n{}", called.replace(" if m(t", "; if m(t"))), found);
    helped("metric m(c: cpu) : count = 5ms", "R204", "5ms", "count");
}

#[test]
fn metrics_differ_in_their_names_and_from_what_is_built_in() {
    let metric = |name| format!("metric {name}(c: cpu) : count = 1\n");
    helped(&[metric("m"), metric("m")].concat(), "R103", "m", "another name");
    for name in ["queued", "llc", "seen", "home", "allowed", "max_"] {
        let right = name.ends_with('_');
        assert_eq!(told(&metric(name)).is_empty(), right, "{name}");
    }
}

#[test]
fn a_metric_cannot_use_itself_nor_one_further_down() {
    for body in ["m(c)", "n(c)"] {
        let items = format!(
            "metric m(c: cpu) : count = {body}\nmetric n(c: cpu) : count = 1\n\
             on tick(t) {{ if m(here) >= 1 {{ kick here }} }}"
        );
        let name = &body[..1];
        helped(&items, "R101", name, "a metric cannot use itself");
    }
}

#[test]
fn the_metric_that_grows_too_large_is_marked() {
    let doubled =
        (1..20).map(|n| format!("metric m{n}(c: cpu) : count = m{0}(c) + m{0}(c)\n", n - 1));
    let items = format!("metric m0(c: cpu) : count = 1\n{}", doubled.collect::<String>());
    let found = told(&items);
    assert!(matches!(&found[..], [("R209", name)] if name != "m0"), "{found:?}");
    let items = "metric m(c: cpu) : count = 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n";
    let tick = "    if m(here) >= 1 { kick here }\n".repeat(250);
    let found = told(&format!("{items}on tick(t) {{\n{tick}}}"));
    assert_eq!(found, [("R209", "m(here)".to_owned())]);
}

#[test]
fn one_mistake_is_told_once() {
    let uses = "on stop(t, ran) { t.vt += scaled(ran, t.weight) }\non start(t) { t.vt := now }\n\
                on wake(t) { t.vt := max(t.vt, min_vt(home(t).q)); put t in home(t).q }\n";
    helped(&format!("task {{ vt: time = 0 }}\n{uses}"), "R201", "vt", "owner queue");
    let no_task = |items: String| items.replace("// no task {", "");
    let items = no_task(format!("// no task {{\nqueue q : ordered(vt) per llc\n{uses}"));
    let (_, faults) = faults(&format!("task {{ }}\n{items}"));
    let found: Vec<&str> = faults.iter().map(|fault| fault.code).collect();
    assert_eq!(found, ["R101"], "{faults:#?}");
    helped(&format!("task {{ vt: time = 3% owner queue }}\n{uses}"), "R204", "3%", "x * 50%");
    let twice = "on tick(t) { if queued(here.redy) >= 1 { kick here }\n kick here.redy }";
    assert_eq!(told(twice).len(), 2, "a queue, and no CPU");
    let twice = "on wake(t) { put t in home(t).redy }\non new(t) { put t in home(t).redy }";
    helped(twice, "R101", "redy", "`ready`");
}

#[test]
fn wrong_words_of_the_protocol_are_marked() {
    helped("unsafe protocol { enqueue: insert, kick }", "R502", "insert, kick", "kick, insert");
    helped("unsafe protocol { enqeue: kick }", "R502", "enqeue", "use one of `enqueue: kick");
}

#[test]
fn what_stands_there_twice_is_told_where_and_with_what_to_write() {
    let out = "remove one of the two";
    helped("unsafe protocol { idle: no_rescan, idle: no_rescan }", "R103", "idle", out);
    let blocks = "unsafe protocol { idle: no_rescan }\n".repeat(2);
    helped(&blocks, "R103", "idle", out);
    helped("prove no_lost_task, no_lost_task", "R103", "no_lost_task", out);
    helped("on stop(t, t) { }", "R103", "t", "another name");
    let balance = "balance idle {\n    level node, machine\n    filter(me, v) = \
                   queued(v.ready) >= 1\n    steal 1\n}";
    assert_eq!(told(balance), []);
    helped(&balance.replace("level node", "level node, node"), "R406", "node", out);
    let same = balance.replace("(me, v)", "(v, v)");
    helped(&same, "R103", "v", "another name");
    let find = "on wake(t) { let c = idle cpu in allowed(t) near t.prev by [llc, llc]\n\
                if c { run t on c } else { put t in home(t).ready } }";
    helped(find, "R406", "llc", out);
    let rest = "partition others on rest runs p for rest\n";
    let web = |name: &str, cpus: &str, cgroup: &str| {
        format!("partition {name} on cpus {cpus} runs p for cgroup \"{cgroup}\"\n")
    };
    let parted = |first: &str, second: &str| format!("{first}{second}{rest}");
    let one = web("web", "0-3", "web*");
    assert_eq!(told(&parted(&one, "")), []);
    helped(&parted("", &web("web", "0-3,2", "web*")), "R504", "cpus 0-3,2", "remove the overlap");
    helped(&parted(&one, &web("web", "4", "db*")), "R103", "web", "another name");
    helped(&parted(&one, &web("db", "4", "web*")), "R504", "\"web*\"", "other cgroups");
}

#[test]
fn shares_stand_beside_what_they_are_shares_of() {
    helped("cpu { jobs: ratio = 2% owner cpu }", "R008", "ratio", "one of count, time, weight");
    helped("cpu { jobs: count = 2% owner cpu }", "R204", "2%", "x * 50%");
    helped("on tick(t) { let r = 50% }", "R204", "50%", "x * 50%");
    for product in ["queued(c.ready) * 50%", "(50%) * queued(c.ready)"] {
        assert_eq!(told(&format!("metric m(c: cpu) : count = {product}")), []);
    }
}

#[test]
fn what_was_seen_was_seen_of_no_task() {
    let steals = |asks: &str| {
        format!(
            "on dispatch(c) {{ take c.ready else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = queued(v.ready) >= 1
                steal 1 where me in allowed(t) and {asks}
            }}"
        )
    };
    helped(&steals("t.weight = seen(t.weight)"), "R205", "t.weight", "needs no task");
    let able = "count c in allowed(t) : idle(c)";
    helped(&steals(&format!("seen({able}) >= 1")), "R205", able, "needs no task");
    assert_eq!(told(&steals("queued(v.ready) = seen(queued(v.ready))")), []);
}

#[test]
fn common_mistakes_get_the_words_that_were_meant() {
    let tick = |body: &str| format!("on tick(t) {{ {body} }}");
    let wake = |body: &str| {
        let find = "let c = idle cpu in allowed(t) near t.prev by [llc]";
        format!("on wake(t) {{\n{find}\n{body}\n}}")
    };
    helped("on wake(t) { put t in hom(t).ready }", "R205", "hom(t)", "`home(t)`");
    for place in ["t.prev", "home(t)"] {
        helped(&format!("on wake(t) {{ run t on {place} }}"), "R301", place, "claim a CPU");
    }
    let elif = "if idle(here) { kick here } elif idle(t.prev) { kick t.prev }";
    helped(&tick(elif), "R008", "elif", "`else if`");
    helped("balance every on leader(llc) { }", "R007", "on", "every 50ms");
    helped(&tick("let n = sum(queued(here.ready))"), "R007", "sum", "sum c in machine");
    let not = "if not c { put t in home(t).ready } else { run t on c }";
    helped(&wake(not), "R208", "c", "`if c {");
    helped(&tick("let n = queued(here.ready) / 0"), "R207", "0", "above zero");
    helped(&tick("let n = 3 / queued(here.ready)"), "R207", "queued(here.ready)", "x / 3");
    helped(&tick("while idle(here) { kick here }"), "R008", "while", "instead of a loop");
    let (_, faults) = faults(&tick("walk here"));
    assert_eq!(faults[0].help, "write one of let, put, run, kick, if");
    helped("task { vt: time = -20ms owner queue }", "R017", "-", "without `-`");
    let scaled = tick("t.vt := scaled(t.weight, now)");
    assert_eq!(told(&scaled).len(), 2, "both are wrong");
    helped(&tick("t.vt := scaled(now, now)"), "R204", "now", "`scaled(time, weight)`");
    helped(&tick("t.vt := scaled(now)"), "R206", "scaled", "`scaled(time, weight)`");
}

#[test]
fn a_queue_for_all_cannot_be_stolen_from() {
    let balance = "queue all : fifo per machine\nbalance idle {\n    level machine\n    \
                   filter(me, v) = queued(v.all) >= 1\n    steal 1\n}";
    helped(balance, "R406", "machine", "share one queue");
}

#[test]
fn a_key_is_carried_over_only_to_a_queue_that_it_orders() {
    let moved = |into: &str| {
        format!(
            "task {{ vt: time = 0 owner queue\n due: time = 0 owner queue }}
             queue q : ordered(vt) per cpu
             queue a : ordered(vt) per cpu
             queue d : ordered(due) per cpu
             queue z : fifo per cpu
             balance every 10ms {{
                 level machine
                 filter(me, v) = queued(v.q) >= 2
                 steal 1 from v.q into me.{into} rebase vt
             }}"
        )
    };
    for into in ["q", "a"] {
        assert_eq!(told(&moved(into)), [], "{into}");
    }
    for into in ["d", "z"] {
        helped(&moved(into), "R401", "vt", "both queues");
        assert!(faults(&moved(into)).1[0].message.contains(&format!("`{into}` is not ordered")));
    }
}
