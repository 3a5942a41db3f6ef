//! The parts of the file that cover all policies together: the list of queues, the data kept for
//! tasks, which CPUs look where. If partitions have different policies, there is one case for each.

use super::expr::constant;
use super::policy::{Written, dimension};
use super::{MAX_CPUS, Options, Writer};
use crate::ir::{Attempt, Level, Place, Program};

/// Code that depends on which partition has which policy.
pub(super) struct Parts<'a> {
    pub(super) program: &'a Program,
    pub(super) policies: &'a [Written<'a>],
    pub(super) options: Options,
}

impl Parts<'_> {
    /// The policy of each partition.
    pub(super) fn each(&self) -> Vec<&Written<'_>> {
        match self.program.partitions.as_slice() {
            [] => vec![&self.policies[0]],
            parts => parts.iter().map(|part| &self.policies[part.policy]).collect(),
        }
    }

    /// One statement for each partition: a `switch`, if there are several.
    pub(super) fn by_part(&self, part: &str, code: impl Fn(&Written) -> String) -> String {
        let codes: Vec<String> = self.each().iter().map(|written| code(written)).collect();
        if codes.iter().all(|code| *code == codes[0]) {
            return codes[0].clone();
        }
        let mut text = format!("\tswitch ({part}) {{\n");
        for (part, code) in codes.iter().enumerate() {
            text += &format!("\tcase {part}:\n");
            text.extend(code.lines().map(|line| format!("\t{line}\n")));
            text += "\t\tbreak;\n";
        }
        text + "\t}\n"
    }

    pub(super) fn head(&self) -> String {
        format!(
            "/* SPDX-License-Identifier: MIT OR GPL-2.0-only */\n/*\n\
             \x20* {}: a scheduler for sched_ext, written by `wastenot rota emit`.\n *\n\
             \x20* Above each function of a policy, a comment shows its clause in the policy. In\n\
             \x20* these functions, `me` is the CPU or group that dispatches or balances, `v` is\n\
             \x20* the candidate from which it may take tasks, and `t` is the task. Compile this\n\
             \x20* file with `clang -g -O2 -target bpf -mcpu=v3 -c`. A loader fills in the\n\
             \x20* values marked RODATA.\n */\n\
             enum {{ MAX_CPUS = {MAX_CPUS}, PARTS = {}, PART_ROWS = {} }};\n\n\
             #define NOBODY 0xffffu /* no partition */\n#define ANY ~0u /* any queue */\n\n",
            self.names(", "),
            self.each().len(),
            self.each().len().next_power_of_two(),
        )
    }

    /// The constants of all queues.
    pub(super) fn kinds(&self) -> String {
        let mut text = "/* The queues of the text. */\nenum {\n".to_string();
        for written in self.policies {
            for (queue, ir) in written.writer.policy.queues.iter().enumerate() {
                let order = match ir.key {
                    Some(var) => format!("ordered({})", written.writer.policy.task_vars[var].name),
                    None => "fifo".into(),
                };
                let (kind, per) = (written.writer.kind(queue), ir.per.name());
                text += &format!("\t{kind}, /* queue {} : {order} per {per} */\n", ir.name);
            }
        }
        let kinds: usize = self.policies.iter().map(|it| it.writer.policy.queues.len()).sum();
        text + &format!("\tKINDS,\n\tKIND_ROWS = {}\n}};\n\n", kinds.next_power_of_two())
    }

    pub(super) fn task_vars(&self) -> String {
        let mut text = String::new();
        for written in self.policies {
            for (var, variable) in written.writer.policy.task_vars.iter().enumerate() {
                let (name, what) = (written.writer.task_var(var), dimension(variable.dimension));
                text += &format!("\ts64 {name}; /* t.{}: {what} */\n", variable.name);
            }
        }
        text
    }

    /// Slots for the names that handlers bind.
    pub(super) fn frame(&self) -> String {
        let most = |of: fn(&Writer) -> usize| {
            self.policies.iter().map(|written| of(&written.writer)).max().unwrap_or(0)
        };
        let (cpus, numbers) = (most(|w| w.cpus), most(|w| w.numbers));
        let items = most(|w| w.items);
        let mut text = String::new();
        text.extend((0..cpus).map(|n| format!("\ts32 cpu{n}; /* let, -1 if none was found */\n")));
        let mut owed: Vec<usize> =
            self.policies.iter().flat_map(|written| written.writer.owed.clone()).collect();
        owed.sort_unstable();
        owed.dedup();
        text.extend(
            owed.iter().map(|n| {
                format!("\ts32 owed{n}; /* cpu{n} + 1 until that CPU is used, then 0 */\n")
            }),
        );
        text.extend((0..numbers).map(|n| format!("\ts64 number{n}; /* let */\n")));
        text.extend((0..items).map(|n| format!("\ts32 x{n}; /* a member of a set */\n")));
        text
    }

    /// Which CPUs look into a queue.
    pub(super) fn looks(&self) -> String {
        let mut text = "/* Whether a CPU that dispatches searches a queue of a group. */\n\
             static bool looks(u32 kind, u32 of, s32 cpu)\n{\n\tswitch (kind) {\n"
            .to_string();
        for written in self.policies {
            let writer = &written.writer;
            for (queue, ir) in writer.policy.queues.iter().enumerate() {
                let who = looks_into(writer, queue, ir.per);
                text += &format!("\tcase {}:\n\t\treturn {who};\n", writer.kind(queue));
            }
        }
        text + "\t}\n\treturn true;\n}\n\n"
    }

    pub(super) fn chain(&self) -> String {
        self.by_part("c->part", |written| {
            let writer = &written.writer;
            let queues = writer.policy.queues.iter().enumerate();
            let through = queues.map(|(queue, ir)| {
                let (kind, per) = (writer.kind(queue), constant(ir.per));
                format!("\tif (chain_through(c->part, {kind}, {per}))\n\t\tc->found = true;\n")
            });
            through.collect()
        })
    }
}

/// A condition on `cpu`: it takes from that queue, or balances from it.
fn looks_into(writer: &Writer, queue: usize, per: Level) -> String {
    let mut who = Vec::new();
    let takes_own = |attempt: &Attempt| match attempt {
        Attempt::Take(at, _) => at.queue == queue && is_own(&at.at, per),
        Attempt::Balance => false,
    };
    // No CPU balances from its own queue.
    let other = match writer.policy.dispatch.iter().any(takes_own) {
        true => None,
        false => Some(format!("of != group({}, cpu)", constant(per))),
    };
    for attempt in &writer.policy.dispatch {
        match (attempt, &writer.policy.idle) {
            (Attempt::Take(at, _), _) if at.queue == queue => {
                let own = writer.group(&at.at, per).replace("f->me", "cpu");
                who.push(if per == Level::Machine {
                    "true".into()
                } else {
                    format!("of == {own}")
                });
            }
            (Attempt::Balance, Some(idle)) if idle.from == queue => {
                let widest = idle.levels.iter().max().copied().unwrap_or(Level::Cpu);
                let (wide, per) = (constant(widest), constant(per));
                let near = (widest != Level::Machine)
                    .then(|| format!("group({wide}, nth({per}, of, 0)) == group({wide}, cpu)"));
                let both: Vec<String> = other.iter().cloned().chain(near).collect();
                who.push(match both.as_slice() {
                    [] => "true".into(),
                    [one] => one.clone(),
                    all => format!("({})", all.join(" && ")),
                });
            }
            _ => {}
        }
    }
    if who.is_empty() {
        return "false".into();
    }
    if who.contains(&"true".to_string()) { "true".into() } else { who.join(" || ") }
}

/// Whether a place, for a CPU that dispatches, is in the same group of that level as the CPU.
fn is_own(place: &Place, per: Level) -> bool {
    match place {
        Place::Me => true,
        Place::Of(level, inner) => *level <= per && is_own(inner, per),
        _ => false,
    }
}
