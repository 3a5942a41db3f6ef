//! Dispatch and balancing as C.

use super::Writer;
use super::expr::constant;
use super::quote::Quote;
use crate::ir::{Attempt, Balance, Choose, Level, Periodic};

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
                    code += &format!("\tif (!stays && {name}(f, f->me))\n\t\treturn true;\n");
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
        let kind = self.kind(balance.from);
        self.attempts("idle", "balance idle", balance, |_, _| {
            ("steal 1".into(), format!("\ts->took = steal(s, {kind});\n"))
        })
    }

    /// `balance every PERIOD on leader(LEVEL) { ... }`
    pub(super) fn balance_every(&mut self, index: usize, periodic: &Periodic) -> String {
        let (balance, word) = (&periodic.balance, format!("every_{}", index + 1));
        self.me = self.policy.queues[balance.from].per;
        self.regular = true;
        let period = self.named(&format!("period_{word}"));
        let clause = format!("every {}", Quote(self.policy).num(&periodic.period));
        let value = self.num(&periodic.period);
        self.define(
            &clause,
            &format!("static s64 {period}(struct frame *f)"),
            &format!("\treturn {value};\n"),
        );
        let name = self.attempts(&word, &clause, balance, |writer, filter| {
            let name = writer.pull(&word, balance, filter);
            let code = format!(
                "\ts->moved = zero;\n\ts->most = 0x7fffffffffffffffLL;\n\
                 \tbpf_loop(MAX_CPUS, {name}, s, 0);\n\ts->took = s->moved > 0;\n"
            );
            ("as many as came".into(), code)
        });
        (self.me, self.regular) = (Level::Cpu, false);
        name
    }

    /// Functions that try one candidate after the other, level by level. `attempt` writes the code
    /// of one attempt, given the filter's name.
    fn attempts(
        &mut self,
        word: &str,
        clause: &str,
        balance: &Balance,
        attempt: impl FnOnce(&mut Self, &str) -> (String, String),
    ) -> String {
        self.other = self.policy.queues[balance.from].per;
        let per = constant(self.other);
        let (filter, scan) = self.scan(word, balance);
        let name = self.named(&format!("balance_{word}"));
        let (steal, body) = attempt(self, &filter);
        let (retry, again, retries) = match balance.retry {
            None => ("untried".into(), String::new(), String::new()),
            Some(retry) => (
                retry.to_string(),
                "\tif (!s->retries--)\n\t\treturn stop();\n".into(),
                format!("\ts->retries = zero + {};\n", retry.min(u64::from(u32::MAX))),
            ),
        };
        self.define(
            &format!("{steal} retry {retry}"),
            &format!("static long {name}_step(u32 n, struct scan *s)"),
            &format!(
                "\tif (!{scan}(s))\n\t\treturn stop();\n{body}\
                 \tif (s->took)\n\t\treturn stop();\n{again}\treturn 0;\n"
            ),
        );
        self.define(
            "one level: the CPU tries candidates until it has a task or no candidate is left",
            &format!("static bool {name}_level(struct scan *s, u32 level)"),
            &format!(
                "\tu32 n = groups_in(s->part, s->from).count;\n\n\
                 \ts->nearer = s->level;\n\ts->level = level;\n{retries}\
                 \tif (n)\n\t\tbpf_loop(n, {name}_step, s, 0);\n\treturn s->took;\n"
            ),
        );
        let tries: Vec<String> = balance
            .levels
            .iter()
            .map(|level| format!("{name}_level(&s, {})", constant(*level)))
            .collect();
        let levels: Vec<&str> = balance.levels.iter().map(|level| level.name()).collect();
        self.define(
            &format!("{clause} {{ level {} }}", levels.join(", ")),
            &format!("static bool {name}(struct frame *f, s32 cpu)"),
            &format!(
                "\tstruct scan s = {{\n\t\t.part = f->part, .me = f->me, .here = f->here, .now = f->now,\n\
                 \t\t.cpu = cpu, .from = {per}\n\t}};\n\n\
                 \tbegin_scan(&s, {});\n\treturn {};\n",
                self.regular,
                tries.join(" ||\n\t       ")
            ),
        );
        self.other = Level::Cpu;
        name
    }

    /// Functions that move tasks one by one from the best candidate into a queue of `me`.
    fn pull(&mut self, word: &str, balance: &Balance, filter: &str) -> String {
        let into = balance.into.unwrap_or(balance.from);
        let queue = &self.policy.queues[into];
        let (level, to, from) = (constant(queue.per), self.kind(into), self.kind(balance.from));
        let name = self.named(&format!("pull_{word}"));
        let carry = balance.rebase.map(|var| self.task_var(var));
        let rebase = carry.as_ref().map_or("", |_| " rebase");
        let var = queue.key.map(|var| self.task_var(var));
        // Several CPUs can try to move a task: only the one that moves it changes its key.
        let (key, carried) = match carry.or(var) {
            Some(var) if balance.rebase.is_some() => (
                format!("\ts64 key = rebased(t->{var}, {from}, s->best, {to}, into);\n"),
                format!("\tt->{var} = key;\n"),
            ),
            Some(var) => (format!("\ts64 key = t->{var};\n"), String::new()),
            None => (String::new(), String::new()),
        };
        let insert = match queue.key {
            Some(_) => format!(
                "\tscx_bpf_dsq_move_set_vtime(it, key);\n\
                 \tif (!scx_bpf_dsq_move_vtime(it, p, queue(s->part, {to}, into), 0))"
            ),
            None => format!("\tif (!scx_bpf_dsq_move(it, p, queue(s->part, {to}, into), 0))"),
        };
        let waits = if queue.key.is_some() { "key" } else { "0" };
        // Each moment that has a number belongs to a record.
        let (begin, back, done) = match self.options.steps {
            true => (
                "\tu64 begin = tick();\n",
                " {\n\t\trecord(begin, ABOUT(cpu, S_SELECT), 0, 0, 0);\n\t\treturn false;\n\t}\n",
                format!(
                    "\tt->in = queue(s->part, {to}, into);\n\
                     \trecord(begin, ABOUT(cpu, S_MOVE), t->in, {waits}, p->pid);\n"
                ),
            ),
            false => ("", "\n\t\treturn false;\n", String::new()),
        };
        self.define(
            &format!("into {}{rebase}", queue.name),
            &format!(
                "static bool {name}_one(struct scan *s, struct bpf_iter_scx_dsq *it,\n\
                 \t\t\tstruct task_struct *p, struct task *t, s32 cpu)"
            ),
            &format!(
                "\tu32 into = group({level}, s->cpu);\n{key}{begin}\n{insert}{back}{carried}\
                 \tmoved(t, {to}, into, {waits}, cpu);\n{done}\treturn true;\n"
            ),
        );
        let text = Quote(self.policy).num(&balance.count);
        let count = self.num(&balance.count);
        self.define(
            &format!("steal {text}: one task per call; each call evaluates the filter"),
            &format!("static long {name}(u32 n, struct scan *s)"),
            &format!(
                "\tu64 id = queue(s->part, {from}, s->best);\n\
                 \tstruct frame frame = frame_of(s), *f = &frame;\n\tstruct bpf_iter_scx_dsq it;\n\
                 \tstruct task_struct *p;\n\tstruct task *t;\n\tbool came = false;\n\
                 \ts64 count;\n\ts32 cpu;\n\n\
                 \tf->other = the_best(s);\n\tcount = {count};\n\
                 \tif (s->moved >= s->most || count < 1 || !{filter}(f))\n\t\treturn stop();\n\
                 \ts->most = lesser(s->most, count);\n\
                 \tif (!bpf_iter_scx_dsq_new(&it, id, 0)) {{\n\
                 \t\twhile (!came && (p = bpf_iter_scx_dsq_next(&it))) {{\n\
                 \t\t\tcpu = lowest_allowed(p, {level}, group({level}, s->cpu));\n\
                 \t\t\tt = task_of(p);\n\
                 \t\t\tif (cpu < 0 || !t || !{name}_one(s, &it, p, t, cpu))\n\
                 \t\t\t\tcontinue;\n\
                 \t\t\tcame = true;\n\t\t\tbarrier();\n\t\t\twake_for(p, t, MACHINE);\n\t\t}}\n\t}}\n\
                 \tbpf_iter_scx_dsq_destroy(&it);\n\
                 \tif (!came)\n\t\treturn stop();\n\ts->moved++;\n\treturn 0;\n"
            ),
        );
        name
    }

    /// Functions that find the best untried candidate. Returns the names of the filter function and
    /// of the function that finds it.
    fn scan(&mut self, word: &str, balance: &Balance) -> (String, String) {
        let filter = self.named(&format!("filter_{word}"));
        let condition = self.bool(&balance.filter);
        let clause = format!("filter(me, v) = {}", Quote(self.policy).bool(&balance.filter));
        let body = format!("\treturn {condition};\n");
        self.define(&clause, &format!("static bool {filter}(struct frame *f)"), &body);

        let name = self.named(&format!("scan_{word}"));
        let (key, near) = self.choose(word, &balance.choose);
        self.define(
            "one candidate",
            &format!("static long {name}_step(u32 n, struct look *l)"),
            &format!(
                "\ts32 group = candidate(l, n);\n\n\
                 \tif (group >= 0 && {filter}(&l->f))\n\t\tconsider(l->s, group, {key});\n\treturn 0;\n"
            ),
        );
        self.define(
            "finds the best candidate; not static, so the verifier checks it only once",
            &format!("int {name}(struct scan *s)"),
            &format!(
                "\tstruct look l = {{}};\n\tu32 n;\n\n\
                 \tif (!s)\n\t\treturn 0;\n\
                 \tl.s = s;\n\tl.f = frame_of(s);\n\ts->best = -1;\n\ts->near = {near};\n\
                 \tn = groups_in(s->part, s->from).count;\n\
                 \tif (n)\n\t\tbpf_loop(n, {name}_step, &l, 0);\n\
                 \tif (s->best < 0)\n\t\treturn 0;\n\
                 \ttry(s, s->best);\n\treturn 1;\n"
            ),
        );
        (filter, name)
    }

    /// The key that is greatest for the best candidate, and whether ties go to the nearest.
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
        (format!("{name}(&l->f)"), *near)
    }
}
