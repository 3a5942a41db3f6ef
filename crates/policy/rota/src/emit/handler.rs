//! Handlers as C: one function for each body, one C statement for each statement of the text.

use std::fmt::Write;

use super::Writer;
use super::expr::constant;
use super::quote::Quote;
use crate::ir::{Bool, Event, Level, Num, Place, Put, Set, Stmt, Visitor, visit_block};

impl Writer<'_> {
    /// The functions of all handlers that do something, and the function's name for each event.
    /// Handlers with equal bodies share one function.
    pub(super) fn handlers(&mut self) -> [Option<String>; Event::COUNT] {
        let handlers = &self.policy.handlers;
        let mut names = [const { None }; Event::COUNT];
        for event in Event::ALL {
            let body = &handlers[event as usize];
            if body.is_empty() || names[event as usize].is_some() {
                continue;
            }
            let same = |other: &Event| {
                other.places() == event.places() && handlers[*other as usize] == *body
            };
            let events: Vec<&str> =
                Event::ALL.iter().filter(|other| same(other)).map(|other| other.name()).collect();
            let name = self.named(&format!("on_{}", events.join("_")));
            let heads: Vec<String> = events.iter().map(|event| format!("on {event}(t)")).collect();
            let mut code = String::new();
            // It is a search: one for all places that name it, and none within a set operator.
            if !event.places() && names_home(body) {
                code += "\tf->home = home_of(f->p, f->t->prev);\n";
            }
            let before = self.owed.len();
            self.owe(body);
            self.block(body, 1, &mut code);
            for slot in &self.owed[before..] {
                let kick = format!("kick(f->owed{slot} - 1, SCX_KICK_IDLE);");
                code += &format!(
                    "\tif (f->owed{slot}) /* the claimed CPU was not used */\n\t\t{kick}\n"
                );
            }
            self.define(
                &heads.join(", "),
                &format!("static ALWAYS_INLINE void {name}(struct frame *f)"),
                &code,
            );
            for other in Event::ALL.iter().filter(|other| same(other)) {
                names[*other as usize] = Some(name.clone());
            }
        }
        names
    }

    /// A function and the clause that it comes from; the functions that it calls come before it.
    pub(super) fn define(&mut self, clause: &str, head: &str, body: &str) {
        write!(self.functions, "/* {clause} */\n{head}\n{{\n{body}}}\n\n").expect("text grows");
    }

    /// Records the slots of those claims that some path may leave unused.
    fn owe(&mut self, stmts: &[Stmt]) {
        for (n, stmt) in stmts.iter().enumerate() {
            match stmt {
                Stmt::Claim { slot, .. } if !uses(*slot, &stmts[n + 1..]) => self.owed.push(*slot),
                Stmt::If { then, otherwise, .. } => {
                    self.owe(then);
                    self.owe(otherwise);
                }
                _ => {}
            }
        }
    }

    fn block(&mut self, stmts: &[Stmt], depth: usize, code: &mut String) {
        for stmt in stmts {
            self.stmt(stmt, depth, code);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize, code: &mut String) {
        let tab = "\t".repeat(depth);
        let line = match stmt {
            Stmt::Claim { slot, within, near, by } => self.claim(*slot, *within, (near, by), &tab),
            Stmt::Pick { slot, set, item, key, greatest } => {
                self.pick(*slot, (set, *item), key, *greatest)
            }
            Stmt::Let(slot, value) => {
                self.numbers = self.numbers.max(slot + 1);
                format!("f->number{slot} = {};", self.num(value))
            }
            Stmt::SetTask(var, value) => {
                format!("f->t->{} = {};", self.task_var(*var), self.num(value))
            }
            Stmt::SetCpu { var, cpu, value, add } => {
                let word = if *add { "add" } else { "set" };
                let name = self.cpu_var(*var);
                format!("{name}_{word}({}, {});", self.cpu(cpu), self.num(value))
            }
            Stmt::Put(put) => self.put(put),
            Stmt::Run { slot, slice, .. } => {
                let slice = self.slice(slice.as_ref());
                let used = self.used(*slot, &tab);
                format!("{used}run_on(f, f->cpu{slot}, {slice});")
            }
            Stmt::Kick { cpu, preempt } => {
                let how = if *preempt { "SCX_KICK_PREEMPT" } else { "SCX_KICK_IDLE" };
                let used = match cpu {
                    Place::Slot(slot) => self.used(*slot, &tab),
                    _ => String::new(),
                };
                format!("{used}kick({}, {how});", self.cpu(cpu))
            }
            Stmt::If { condition, then, otherwise } => {
                let condition = self.bool(condition);
                writeln!(code, "{tab}if ({condition}) {{").expect("text grows");
                self.block(then, depth + 1, code);
                if !otherwise.is_empty() {
                    writeln!(code, "{tab}}} else {{").expect("text grows");
                    self.block(otherwise, depth + 1, code);
                }
                "}".into()
            }
        };
        writeln!(code, "{tab}{line}").expect("text grows");
    }

    fn used(&self, slot: usize, tab: &str) -> String {
        let owed = self.owed.contains(&slot);
        if owed { format!("f->owed{slot} = 0;\n{tab}") } else { String::new() }
    }

    fn claim(
        &mut self,
        slot: usize,
        within: Option<Level>,
        (near, by): (&Place, &[Level]),
        tab: &str,
    ) -> String {
        self.cpus = self.cpus.max(slot + 1);
        let near = self.cpu(near);
        let by: Vec<String> = by.iter().map(|level| format!("BY({})", constant(*level))).collect();
        let by = if by.is_empty() { "0".into() } else { by.join(" | ") };
        let within = constant(within.unwrap_or(Level::Machine));
        let owed = match self.owed.contains(&slot) {
            true => format!("\n{tab}f->owed{slot} = f->cpu{slot} + 1;"),
            false => String::new(),
        };
        format!("f->cpu{slot} = idle_cpu(f, {near}, {by}, {within});{owed}")
    }

    fn pick(
        &mut self,
        slot: usize,
        (set, item): (&Set, usize),
        key: &Num,
        greatest: bool,
    ) -> String {
        self.cpus = self.cpus.max(slot + 1);
        self.items = self.items.max(item + 1);
        let text = format!(
            "{} x{item} in {}: {}",
            if greatest { "argmax" } else { "argmin" },
            Quote(self.policy).set(set),
            Quote(self.policy).num(key)
        );
        let (key, sign) = (self.num(key), if greatest { "<=" } else { ">=" });
        let (level, group) = self.members(set);
        let name = self.function("pick");
        let skip = match set {
            Set::In(_) => String::new(),
            Set::Allowed => format!("\tif (!allowed(f->p, f->x{item}))\n\t\treturn 0;\n"),
        };
        write!(
            self.functions,
            "/* {text} */\nstatic long {name}_step(u32 n, struct fold *s)\n{{\n\
             \tstruct frame *f = s->f;\n\ts64 key;\n\n\
             \tf->x{item} = nth({level}, s->group, n);\n{skip}\tkey = {key};\n\
             \tif (s->met && key {sign} s->value)\n\t\treturn 0;\n\
             \ts->value = key;\n\ts->cpu = f->x{item};\n\ts->met++;\n\treturn 0;\n}}\n\n\
             static s32 {name}(struct frame *f)\n{{\n\
             \tstruct fold s = {{ .f = f, .group = {group}, .met = zero, .value = zero, .cpu = f->t->prev }};\n\
             \tu32 n = cpus({level}, s.group);\n\n\
             \tif (n)\n\t\tbpf_loop(n, {name}_step, &s, 0);\n\treturn s.cpu;\n}}\n\n"
        )
        .expect("text grows");
        format!("f->cpu{slot} = {name}(f);")
    }

    fn put(&mut self, put: &Put) -> String {
        let queue = &self.policy.queues[put.queue.queue];
        let (kind, per) = (self.kind(put.queue.queue), constant(queue.per));
        let (group, wake) = (self.group(&put.queue.at, queue.per), constant(put.wake));
        let slice = self.slice(put.slice.as_ref());
        let waits = |key: &str| format!("waits(f, {kind}, {per}, {group}, {key}, {wake})");
        match queue.key.map(|var| format!("f->t->{}", self.task_var(var))) {
            Some(key) => format!("put_by(f, {}, {key}, {slice});", waits(&key)),
            None => format!("put(f, {}, {slice});", waits("0")),
        }
    }

    fn slice(&mut self, slice: Option<&Num>) -> String {
        match slice {
            Some(slice) => {
                let slice = self.num(slice);
                format!("slice_of({slice})")
            }
            None => "SCX_SLICE_INF".into(),
        }
    }
}

/// Whether statements name the home of their task.
fn names_home(stmts: &[Stmt]) -> bool {
    struct Names(bool);
    impl Visitor for Names {
        fn place(&mut self, place: &Place) {
            self.0 |= *place == Place::Home;
        }
    }
    let mut names = Names(false);
    visit_block(stmts, &mut names);
    names.0
}

/// Whether every path on which a slot holds a CPU also sends a task or a kick to that CPU.
fn uses(slot: usize, stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Run { slot: used, .. } => *used == slot,
        Stmt::Kick { cpu, .. } => *cpu == Place::Slot(slot),
        Stmt::If { condition: Bool::Found(found), then, .. } if *found == slot => uses(slot, then),
        Stmt::If { then, otherwise, .. } => uses(slot, then) && uses(slot, otherwise),
        _ => false,
    })
}
