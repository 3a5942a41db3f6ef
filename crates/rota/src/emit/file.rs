//! The file as a whole: what stands in `text/`, and between it what the policies say.

use super::expr::constant;
use super::{MAX_CPUS, Writer};
use crate::ir::{Attempt, Dimension, Event, Level, Periodic, Policy, Program};

const KERNEL: &str = include_str!("text/kernel.c");
const MACHINE: &str = include_str!("text/machine.c");
const STATE: &str = include_str!("text/state.c");
const NUMBER: &str = include_str!("text/number.c");
const CLAIM: &str = include_str!("text/claim.c");
const QUEUE: &str = include_str!("text/queue.c");
const KEYS: &str = include_str!("text/keys.c");
const PERIOD: &str = include_str!("text/period.c");
const TIMER: &str = include_str!("text/timer.c");
const MAP: &str = include_str!("text/map.c");
const PART: &str = include_str!("text/part.c");
const OPTIONAL: &str = include_str!("text/optional.c");
const SCAN: &str = include_str!("text/scan.c");
const CHAIN: &str = include_str!("text/chain.c");
const OPS: &str = include_str!("text/ops.c");
const TEXTS: [&str; 15] = [
    KERNEL, TIMER, MAP, MACHINE, STATE, NUMBER, CLAIM, QUEUE, KEYS, SCAN, PART, CHAIN, PERIOD,
    OPTIONAL, OPS,
];

/// Whether a name is in use in `text/`.
pub(super) fn taken(name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    TEXTS.iter().any(|text| text.split(|c| !part(c)).any(|word| word.eq_ignore_ascii_case(name)))
}

/// What was written of one policy.
struct Written<'a> {
    writer: Writer<'a>,
    /// The function of each event.
    handlers: [Option<String>; Event::COUNT],
    dispatch: String,
    /// The functions of each regular balance.
    periodic: Vec<String>,
}

impl<'a> Written<'a> {
    fn of(policy: &'a Policy) -> Written<'a> {
        let mut writer = Writer::new(policy);
        let handlers = writer.handlers();
        let dispatch = writer.dispatch();
        let periodic = policy.periodic.iter().enumerate();
        let periodic = periodic.map(|(index, it)| writer.balance_every(index, it)).collect();
        Written { writer, handlers, dispatch, periodic }
    }
}

/// Writes the file.
pub(super) fn write(program: &Program) -> String {
    let policies: Vec<Written> = program.policies.iter().map(Written::of).collect();
    let parts = Parts { program, policies: &policies };
    let policy: String = policies.iter().map(one).collect();
    let chain = CHAIN.replace("@CHAIN@", &parts.chain());
    let mut after =
        [&policy, "\n", &parts.glue(), &chain, "\n", &parts.periods(), &parts.ops()].concat();
    let weighs = policy.contains("queued_weight(");
    let queue = parts.hooks(QUEUE, weighs);
    let scan = parts.hooks(SCAN, weighs);
    for text in [&scan, KEYS, &queue, CLAIM, NUMBER] {
        after = needed(text, &after) + "\n" + &after;
    }
    let state = STATE.replace("@TASK_VARS@", &parts.task_vars()).replace("@FRAME@", &parts.frame());
    let after = parts.looks() + &after;
    let state = needed(&state, &after);
    let machine = needed(MACHINE, &[state.as_str(), &after].concat());
    let timed = after.contains("bpf_timer");
    let maps = if after.contains("MAP(") { MAP } else { "" };
    let kernel = KERNEL.replace("@MAPS@", &[maps, if timed { TIMER } else { "" }].concat());
    [&parts.head(), kernel.as_str(), "\n", &machine, "\n", &parts.kinds(), &state, "\n", &after]
        .concat()
}

/// Of a text those functions and structs that are used by what comes after, or by each other.
fn needed(text: &str, after: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for piece in pieces(text).into_iter().rev() {
        let texts = || std::iter::once(after).chain(kept.iter().copied());
        let used = match defines(piece) {
            Some(Defined::Function(name)) => texts().any(|text| mentions(text, name)),
            Some(Defined::Struct(head)) => texts().any(|text| text.contains(head)),
            None => true,
        };
        if used {
            kept.push(piece);
        }
    }
    kept.reverse();
    kept.concat()
}

/// A text cut after every function and struct.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(end) = ["\n}\n", "\n};\n"]
        .into_iter()
        .filter_map(|end| rest.find(end).map(|at| at + end.len()))
        .min()
    {
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// What a piece of text is there for.
enum Defined<'t> {
    Function(&'t str),
    /// `struct NAME`
    Struct(&'t str),
}

fn defines(piece: &str) -> Option<Defined<'_>> {
    piece.lines().find_map(|line| {
        if line.starts_with("static ") && line.ends_with(')') {
            return Some(Defined::Function(line.split('(').next()?.rsplit([' ', '*']).next()?));
        }
        let head = line.strip_suffix(" {").filter(|line| line.starts_with("struct "));
        head.map(Defined::Struct)
    })
}

/// Whether a text calls a function, or hands it on.
fn mentions(text: &str, name: &str) -> bool {
    let alone = |at: usize| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        let after = &text[at + name.len()..];
        !text[..at].ends_with(letter) && after.starts_with(['(', ',', ')'])
    };
    text.match_indices(name).any(|(at, _)| alone(at))
}

/// Parameters, variables and functions of one policy.
fn one(written: &Written) -> String {
    let writer = &written.writer;
    let policy = writer.policy;
    let mut text = format!("\n/*\n * Policy {}.\n */\n", policy.name);
    for param in &policy.params {
        let (name, what) = (writer.named(&param.name), dimension(param.dimension));
        text += &format!("RODATA s64 {name} = {}; /* {}: {what} */\n", param.value, param.name);
    }
    for (var, variable) in policy.cpu_vars.iter().enumerate() {
        text += &cpu_var(&writer.cpu_var(var), &variable.name, variable.value);
    }
    text + "\n" + &writer.functions
}

fn cpu_var(name: &str, variable: &str, value: i64) -> String {
    let begin =
        if value == 0 { String::new() } else { format!(" = {{[0 ... MAX_CPUS - 1] = {value}}}") };
    format!(
        "\n/* c.{variable} */\nstatic s64 {name}s[MAX_CPUS]{begin};\n\n\
         static s64 {name}(s32 cpu)\n{{\n\treturn (u32)cpu < MAX_CPUS ? {name}s[cpu] : 0;\n}}\n\n\
         static __attribute__((unused)) void {name}_set(s32 cpu, s64 value)\n{{\n\
         \tif ((u32)cpu < MAX_CPUS)\n\t\t{name}s[cpu] = value;\n}}\n\n\
         static __attribute__((unused)) void {name}_add(s32 cpu, s64 value)\n{{\n\
         \tif ((u32)cpu < MAX_CPUS)\n\t\t__sync_fetch_and_add(&{name}s[cpu], value);\n}}\n"
    )
}

fn dimension(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Count => "count",
        Dimension::Time => "time, in ns",
        Dimension::Weight => "weight",
        Dimension::Ratio => "ratio, in per cent",
    }
}

/// What depends on which partition has which policy.
struct Parts<'a> {
    program: &'a Program,
    policies: &'a [Written<'a>],
}

impl Parts<'_> {
    /// The policy of each partition.
    fn each(&self) -> Vec<&Written<'_>> {
        match self.program.partitions.as_slice() {
            [] => vec![&self.policies[0]],
            parts => parts.iter().map(|part| &self.policies[part.policy]).collect(),
        }
    }

    /// One statement for each partition: a switch, where there are several.
    fn by_part(&self, part: &str, code: impl Fn(&Written) -> String) -> String {
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

    fn head(&self) -> String {
        format!(
            "/* SPDX-License-Identifier: MIT OR GPL-2.0-only */\n/*\n\
             \x20* {}: a scheduler for sched_ext, written by `wastenot rota emit`.\n *\n\
             \x20* Each function of a policy stands under the clause that it comes from. `me` is who\n\
             \x20* dispatches or balances, `v` whom it may take from, `t` the task. Build it with\n\
             \x20* `clang -g -O2 -target bpf -mcpu=v3 -c`; a loader fills what is marked RODATA.\n */\n\
             enum {{ MAX_CPUS = {MAX_CPUS}, PARTS = {} }};\n\n\
             #define NOBODY 0xffffu /* no partition */\n#define ANY ~0u /* any queue */\n\n",
            self.names(", "),
            self.each().len(),
        )
    }

    /// The constants of all queues.
    fn kinds(&self) -> String {
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
        text + "\tKINDS\n};\n\n"
    }

    fn task_vars(&self) -> String {
        let mut text = String::new();
        for written in self.policies {
            for (var, variable) in written.writer.policy.task_vars.iter().enumerate() {
                let (name, what) = (written.writer.task_var(var), dimension(variable.dimension));
                text += &format!("\ts64 {name}; /* t.{}: {what} */\n", variable.name);
            }
        }
        text
    }

    /// Slots for what handlers bind.
    fn frame(&self) -> String {
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
            owed.iter().map(|n| format!("\ts32 owed{n}; /* cpu{n} and one, until used */\n")),
        );
        text.extend((0..numbers).map(|n| format!("\ts64 number{n}; /* let */\n")));
        text.extend((0..items).map(|n| format!("\ts32 x{n}; /* a member of a set */\n")));
        text
    }

    /// Which CPUs look into a queue.
    fn looks(&self) -> String {
        let mut text = "/* Whether a CPU that dispatches looks into a queue of a group. */\n\
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

    fn chain(&self) -> String {
        self.by_part("c->part", |written| {
            let writer = &written.writer;
            let queues = writer.policy.queues.iter().enumerate();
            let through = queues.map(|(queue, ir)| {
                format!("\tchain_through(c, {}, {});\n", writer.kind(queue), constant(ir.per))
            });
            through.collect()
        })
    }

    /// Which partition a task belongs to: that of its cgroup, or the one with everybody else's.
    fn part_of_task(&self) -> String {
        let parts = &self.program.partitions;
        if parts.len() < 2 {
            return "static u32 part_of_task(struct task_struct *p)\n{\n\treturn 0;\n}\n\n".into();
        }
        let rest = parts.iter().position(|part| part.tasks.is_none()).unwrap_or(0);
        PART.replace("@REST@", &rest.to_string())
    }

    /// What the operations call.
    fn glue(&self) -> String {
        let part = self.part_of_task();
        let first = self.by_part("f->part", |written| {
            let vars = written.writer.policy.task_vars.iter().enumerate();
            vars.map(|(var, ir)| {
                format!("\tf->t->{} = {};\n", written.writer.task_var(var), ir.value)
            })
            .collect()
        });
        let placed = self.by_part("f->part", |written| {
            let mut text = "\tswitch (event) {\n".to_string();
            for event in Event::ALL.into_iter().filter(|event| event.places()) {
                text += &format!("\tcase {}:\n", event.name().to_uppercase());
                if let Some(name) = &written.handlers[event as usize] {
                    text += &format!("\t\t{name}(f);\n\t\tbreak;\n");
                }
            }
            text + "\t}\n"
        });
        let dispatched = self
            .by_part("f->part", |written| format!("\treturn {}(f, stays);\n", written.dispatch));
        let dispatched = or_false(dispatched);
        format!(
            "/*\n * Which policy it is.\n */\nenum {{ NEW, WAKE, PREEMPT, YIELD }};\n\n\
             {part}\
             /* Variables begin with what the text says. */\n\
             static void first_seen(struct frame *f)\n{{\n{first}}}\n\n\
             static void placed(struct frame *f, u32 event)\n{{\n{placed}}}\n\n\
             static bool dispatched(struct frame *f, bool stays)\n{{\n{dispatched}}}\n\n"
        )
    }

    /// What handlers of an event are called for.
    fn call(&self, event: Event) -> String {
        self.by_part("f.part", |written| match &written.handlers[event as usize] {
            Some(name) => format!("\t{name}(&f);\n"),
            None => String::new(),
        })
    }

    fn ops(&self) -> String {
        let mut init = String::new();
        for (part, written) in self.each().iter().enumerate() {
            let writer = &written.writer;
            for (queue, ir) in writer.policy.queues.iter().enumerate() {
                let (kind, per) = (writer.kind(queue), constant(ir.per));
                init += &format!("\terror = error ?: make({part}, {kind}, {per});\n");
            }
        }
        for (index, (part, periodic, _)) in self.regular().iter().enumerate() {
            let level = constant(periodic.leader.unwrap_or(Level::Cpu));
            init += &format!("\tif (!error)\n\t\tbegin({part}, {index}, {level});\n");
        }
        let (optional, members) = self.optional();
        let weighs = self.weighs();
        OPS.replace("@LEFT@", &self.left())
            .replace("@UNWEIGH@", if weighs { "\tweigh(t, 0);\n" } else { "" })
            .replace("@RUNNING@", &self.call(Event::Start))
            .replace("@STOPPING@", &self.call(Event::Stop))
            .replace("@OPTIONAL@", &optional)
            .replace("@INIT@", &init)
            .replace("@OPS@", &members)
            .replace("@NAME@", &self.names("_"))
    }

    fn names(&self, between: &str) -> String {
        let names: Vec<&str> =
            self.program.policies.iter().map(|policy| policy.name.as_str()).collect();
        names.join(between)
    }

    /// Operations that only some policies need, and their lines in the table of all.
    fn optional(&self) -> (String, String) {
        let does = |event: Event| {
            self.policies.iter().any(|written| written.handlers[event as usize].is_some())
        };
        let yields = self.policies.iter().any(|written| {
            let [preempt, gave] = [Event::Preempt, Event::Yield].map(|it| it as usize);
            written.handlers[preempt] != written.handlers[gave]
        });
        let wanted = [
            ("quiescent", does(Event::Block) || does(Event::Exit)),
            ("tick", does(Event::Tick)),
            ("yield", yields),
        ];
        let (mut text, mut members) = (String::new(), String::new());
        let pieces = OPTIONAL.split_inclusive("\n}\n\n");
        for (piece, (name, _)) in pieces.zip(wanted).filter(|(_, (_, wanted))| *wanted) {
            text += piece;
            members += &format!("\t.{name} = (void *)rota_{name},\n");
        }
        let deeper = |event| self.call(event).replace('\t', "\t\t");
        let text = text
            .replace("@EXIT@", &deeper(Event::Exit))
            .replace("@BLOCK@", &deeper(Event::Block))
            .replace("@TICK@", &self.call(Event::Tick));
        (text, members)
    }

    /// Whether somebody asks for the weight of a queue.
    fn weighs(&self) -> bool {
        self.policies.iter().any(|written| written.writer.functions.contains("queued_weight("))
    }

    /// Text in which a queue counts weights, if somebody asks for them.
    fn hooks(&self, text: &str, weighs: bool) -> String {
        let (came, came_pinned, left) = match weighs {
            true => (
                "\tweigh(t, weight);\n",
                "\tweigh(t, pinned(f->p) ? 0 : f->p->scx.weight);\n",
                "\ts64 weight = t->weighed;\n\n\tweigh(t, 0);\n",
            ),
            false => ("", "", ""),
        };
        text.replace("@CAME@", came).replace("@WEIGH@", came_pinned).replace("@MOVED@", left)
    }

    /// What happens when a task that waited begins to run.
    fn left(&self) -> String {
        let mut text = String::new();
        if self.weighs() {
            text += "\t\tweigh(f.t, 0);\n";
        }
        text + &self.by_part("f.part", |written| {
            let writer = &written.writer;
            let mut text = String::new();
            if let Some(idle) = &writer.policy.idle
                && let Some(var) = idle.rebase
            {
                let (kind, var) = (writer.kind(idle.from), writer.task_var(var));
                let into = idle.into.unwrap_or(idle.from);
                let per = constant(writer.policy.queues[idle.from].per);
                let to = writer.kind(into);
                text += &format!(
                    "\t\t/* steal ... rebase: it was stolen, if it waited in another group. */\n\
                     \t\tif (f.t->kind == {kind} && f.t->group != group({per}, cpu))\n\
                     \t\t\tf.t->{var} = rebased(f.t->{var}, {kind}, f.t->group, {to}, \
                     group({per}, cpu));\n"
                );
            }
            if writer.functions.contains("min_key(") || text.contains("rebased(") {
                text += "\t\tkey_taken(&f);\n";
            }
            text
        })
    }

    /// Each regular balance of each partition: the partition, what it is, and its function.
    fn regular(&self) -> Vec<(usize, &Periodic, String)> {
        let mut all = Vec::new();
        for (part, written) in self.each().into_iter().enumerate() {
            let periodic = written.writer.policy.periodic.iter().enumerate();
            all.extend(periodic.map(|(n, it)| (part, it, written.periodic[n].clone())));
        }
        all
    }

    /// Timers, and what is done when one expires.
    fn periods(&self) -> String {
        let regular = self.regular();
        if regular.is_empty() {
            return String::new();
        }
        let (mut now, mut period) = (String::new(), String::new());
        for (index, (part, periodic, name)) in regular.iter().enumerate() {
            let written = self.each()[*part];
            let per = written.writer.policy.queues[periodic.balance.from].per;
            let me = match per {
                Level::Cpu => "cpu".into(),
                level => format!("group({}, cpu)", constant(level)),
            };
            let of = name.replace("balance_", "period_");
            let frame = format!("\t\tf.part = {part};\n\t\tf.me = {me};\n");
            now += &format!("\tcase {index}:\n{frame}\t\t{name}(&f, cpu);\n\t\tbreak;\n");
            period += &format!("\tcase {index}:\n{frame}\t\treturn {of}(&f);\n");
        }
        format!(
            "enum {{ BALANCES = {} }};\n\n\
             /* What each regular balance is. */\n\
             static void balance_now(u32 balance, s32 cpu)\n{{\n\
             \tstruct frame f = {{ .here = cpu, .now = bpf_ktime_get_ns() }};\n\n\tswitch (balance) {{\n{now}\t}}\n}}\n\n\
             static u64 period_of(u32 balance, s32 cpu)\n{{\n\
             \tstruct frame f = {{ .here = cpu, .now = bpf_ktime_get_ns() }};\n\n\tswitch (balance) {{\n{period}\t}}\n\
             \treturn ~0ULL >> 1;\n}}\n\n{PERIOD}\n",
            regular.len()
        )
    }
}

/// The body of a function that answers: no partition, no.
fn or_false(body: String) -> String {
    let switch = body.starts_with("\tswitch");
    if switch { body + "\treturn false;\n" } else { body }
}

/// A condition on `cpu`: it takes from that queue, or balances from it.
fn looks_into(writer: &Writer, queue: usize, per: Level) -> String {
    let mut who = Vec::new();
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
                who.push(if widest == Level::Machine {
                    "true".into()
                } else {
                    format!("group({wide}, nth({per}, of, 0)) == group({wide}, cpu)")
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
