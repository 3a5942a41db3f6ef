//! Dispatch and balancing as C.

use super::Writer;
use super::expr::constant;
use super::quote::Quote;
use crate::ir::{Attempt, Balance, Choose, Level};

impl Writer<'_> {
    /// `on dispatch(c) { ... }`
    pub(super) fn dispatch(&mut self) -> String {
        let policy = self.policy;
        let mut idle = None;
        if policy.dispatch.iter().any(|attempt| matches!(attempt, Attempt::Balance)) {
            idle = policy.idle.as_ref().map(|balance| self.balance_idle(balance));
        }
        let (mut words, mut code) = (Vec::new(), String::new());
        for attempt in &policy.dispatch {
            match attempt {
                Attempt::Take(at, _) => {
                    words.push(format!("take {}", Quote(policy).queue(at)).replace("me.", "c."));
                    let at = self.queue(at);
                    code += &format!("\tif (take(f, {at}))\n\t\treturn true;\n");
                }
                Attempt::Balance => {
                    words.push("balance idle".into());
                    let Some(name) = &idle else { continue };
                    code += &format!("\tif (!stays && {name}(f))\n\t\treturn true;\n");
                }
            }
        }
        code += "\treturn false;\n";
        let name = self.named("dispatch");
        let clause = format!("on dispatch(c) {{ {} }}", words.join(" else "));
        self.define(&clause, &format!("static bool {name}(struct frame *f, bool stays)"), &code);
        name
    }

    /// `balance idle { ... }`
    fn balance_idle(&mut self, balance: &Balance) -> String {
        self.other = self.policy.queues[balance.from].per;
        let scan = self.scan("idle", balance);
        let name = self.named("balance_idle");
        let (per, kind) = (constant(self.other), self.kind(balance.from));
        let again = match balance.retry {
            None => String::new(),
            Some(_) => "\tif (!s->retries--)\n\t\treturn stop();\n".into(),
        };
        let retry = balance.retry.map_or("untried".into(), |retry| retry.to_string());
        self.define(
            &format!("steal 1 retry {retry}"),
            &format!("static long {name}_step(u32 n, struct scan *s)"),
            &format!(
                "\tif (!{scan}(s))\n\t\treturn stop();\n\
                 \ts->took = steal(s->f, {kind}, s->best);\n\
                 \tif (s->took)\n\t\treturn stop();\n{again}\treturn 0;\n"
            ),
        );
        let levels: Vec<&str> = balance.levels.iter().map(|level| level.name()).collect();
        let retries = match balance.retry {
            None => String::new(),
            Some(retry) => format!("\ts->retries = {};\n", retry.min(u64::from(u32::MAX))),
        };
        self.define(
            "one level: candidates are tried until a steal succeeds or nobody is left",
            &format!("static bool {name}_level(struct scan *s, u32 level)"),
            &format!(
                "\tu32 n = groups_in(s->f->part, s->from).count;\n\n\
                 \ts->nearer = s->level;\n\ts->level = level;\n{retries}\
                 \tif (n)\n\t\tbpf_loop(n, {name}_step, s, 0);\n\treturn s->took;\n"
            ),
        );
        let tries: Vec<String> = balance
            .levels
            .iter()
            .map(|level| format!("{name}_level(&s, {})", constant(*level)))
            .collect();
        self.define(
            &format!("balance idle {{ level {} }}", levels.join(", ")),
            &format!("static bool {name}(struct frame *f)"),
            &format!(
                "\tstruct scan s = scan_for(f, f->me, {per});\n\n\treturn {};\n",
                tries.join(" || ")
            ),
        );
        self.other = Level::Cpu;
        name
    }

    /// Functions that find the best untried candidate. Gives the name of the one that does so.
    pub(super) fn scan(&mut self, word: &str, balance: &Balance) -> String {
        let filter = self.named(&format!("filter_{word}"));
        let condition = self.bool(&balance.filter);
        let clause = format!("filter(me, v) = {}", Quote(self.policy).bool(&balance.filter));
        let body = format!("\treturn {condition};\n");
        self.define(&clause, &format!("static bool {filter}(struct frame *f)"), &body);

        let name = self.named(&format!("scan_{word}"));
        let (key, near) = self.choose(word, &balance.choose);
        self.define(
            "one candidate",
            &format!("static long {name}_step(u32 n, struct scan *s)"),
            &format!(
                "\ts32 group = candidate(s, n);\n\n\
                 \tif (group >= 0 && {filter}(s->f))\n\t\tconsider(s, group, {key});\n\treturn 0;\n"
            ),
        );
        self.define(
            "the best of the candidates",
            &format!("static bool {name}(struct scan *s)"),
            &format!(
                "\tu32 n = groups_in(s->f->part, s->from).count;\n\n\
                 \ts->best = -1;\n\ts->near = {near};\n\
                 \tif (n)\n\t\tbpf_loop(n, {name}_step, s, 0);\n\
                 \tif (s->best < 0)\n\t\treturn false;\n\
                 \ttry(s, s->best);\n\treturn true;\n"
            ),
        );
        name
    }

    /// What is greatest for the best candidate, and whether the nearest of equals is better.
    fn choose(&mut self, word: &str, choose: &Choose) -> (String, bool) {
        let Choose::Best { key, greatest, near } = choose else { return ("0".into(), false) };
        let name = self.named(&format!("choose_{word}"));
        let text = Quote(self.policy).num(key);
        let key = self.num(key);
        let (how, key) = if *greatest { ("argmax", key) } else { ("argmin", format!("~({key})")) };
        let tie = if *near { " tie near(me)" } else { "" };
        self.define(
            &format!("choose {how} {text}{tie}"),
            &format!("static s64 {name}(struct frame *f)"),
            &format!("\treturn {key};\n"),
        );
        (format!("{name}(s->f)"), *near)
    }
}
