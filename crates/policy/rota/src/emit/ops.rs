//! The sched_ext operations and the timers of regular balances: each calls the policy of its
//! partition.

use super::expr::constant;
use super::file::{OPS, OPTIONAL, PART, PERIOD};
use super::parts::Parts;
use crate::ir::{Event, Level, Periodic};
use crate::partitions;

impl Parts<'_> {
    /// The partition of a task: that of its cgroup or its process, or the one with all other tasks.
    fn part_of_task(&self) -> String {
        let parts = &self.program.partitions;
        if parts.len() < 2 {
            return "static u32 part_of_task(struct task_struct *p)\n{\n\treturn 0;\n}\n\n".into();
        }
        let rest = partitions::rest(self.program);
        PART.replace("@REST@", &rest.to_string())
    }

    /// The functions that the operations call.
    pub(super) fn glue(&self) -> String {
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
             /* Variables begin with the values in the policy. */\n\
             static void first_seen(struct frame *f)\n{{\n{first}}}\n\n\
             static void placed(struct frame *f, u32 event)\n{{\n{placed}}}\n\n\
             static bool dispatched(struct frame *f, bool stays)\n{{\n{dispatched}}}\n\n"
        )
    }

    /// The call of an event's handler.
    fn call(&self, event: Event) -> String {
        self.by_part("f.part", |written| match &written.handlers[event as usize] {
            Some(name) => format!("\t{name}(&f);\n"),
            None => String::new(),
        })
    }

    pub(super) fn ops(&self) -> String {
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
        let elsewhere = match self.program.partitions.len() {
            0 | 1 => "",
            _ => "\tif (f->home < 0)\n\t\tbpf_loop(PARTS, elsewhere_step, f, 0);\n",
        };
        let chosen = |text: &str| self.options.choose(text);
        chosen(OPS)
            .replace("@LEFT@", &self.left())
            .replace("@BEGINS@", &self.begins())
            .replace("@ELSEWHERE@", elsewhere)
            .replace("@UNWEIGH@", if weighs { "\tweigh(t, 0);\n" } else { "" })
            .replace("@RUNNING@", &self.call(Event::Start))
            .replace("@STOPPING@", &self.call(Event::Stop))
            .replace("@OPTIONAL@", &optional)
            .replace("@INIT@", &init)
            .replace("@OPS@", &members)
            .replace("@NAME@", &self.names("_"))
    }

    pub(super) fn names(&self, between: &str) -> String {
        let names: Vec<&str> =
            self.program.policies.iter().map(|policy| policy.name.as_str()).collect();
        names.join(between)
    }

    /// Operations that only some policies need, and their lines in the table of operations.
    fn optional(&self) -> (String, String) {
        let does = |event: Event| {
            self.policies.iter().any(|written| written.handlers[event as usize].is_some())
        };
        let yields = self.policies.iter().any(|written| {
            let [preempt, gave] = [Event::Preempt, Event::Yield].map(|it| it as usize);
            written.handlers[preempt] != written.handlers[gave]
        });
        let wanted = [
            ("quiescent", self.options.steps || does(Event::Block) || does(Event::Exit)),
            ("tick", does(Event::Tick)),
            ("yield", yields),
        ];
        let (mut text, mut members) = (String::new(), String::new());
        let all = self.options.choose(OPTIONAL);
        let pieces = all.split_inclusive("\n}\n\n");
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

    /// Whether any expression reads the weight of a queue.
    pub(super) fn weighs(&self) -> bool {
        self.policies.iter().any(|written| written.writer.functions.contains("queued_weight("))
    }

    /// Text in which a queue counts weights, if any expression reads them.
    pub(super) fn hooks(&self, text: &str, weighs: bool) -> String {
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

    /// A task that begins to run counts in the order of the queue from which its CPU takes.
    fn begins(&self) -> String {
        self.by_part("f.part", |written| {
            let writer = &written.writer;
            let order = writer.policy.order().filter(|_| writer.asks_for_least_keys());
            let Some((at, var)) = order else { return String::new() };
            let per = constant(writer.policy.queues[at.queue].per);
            let (kind, var) = (writer.kind(at.queue), writer.task_var(var));
            format!("\tkey_begins(&f, {kind}, group({per}, cpu), f.t->{var});\n")
        })
    }

    /// The code for a task that waited and now begins to run.
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
                    "\t\t/* steal ... rebase: a task from another group was stolen. */\n\
                     \t\tif (f.t->kind == {kind} && f.t->group != group({per}, cpu))\n\
                     \t\t\tf.t->{var} = rebased(f.t->{var}, {kind}, f.t->group, {to}, \
                     group({per}, cpu));\n"
                );
            }
            if writer.asks_for_least_keys() {
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

    /// Timers, and the code that runs when one expires.
    pub(super) fn periods(&self) -> String {
        let regular = self.regular();
        if regular.is_empty() {
            return String::new();
        }
        let (mut now, mut due, mut period) = (String::new(), String::new(), String::new());
        for (index, (part, periodic, name)) in regular.iter().enumerate() {
            let written = self.each()[*part];
            let per = written.writer.policy.queues[periodic.balance.from].per;
            let me = match per {
                Level::Cpu => "cpu".into(),
                level => format!("group({}, cpu)", constant(level)),
            };
            let of = name.replace("balance_", "period_");
            let call = match written.writer.options.steps {
                true => format!(
                    "\tbegin = tick();\n\ttook = {name}(&f, cpu);\n\
                     \trecord(begin, ABOUT(cpu, S_REGULAR), {index}, took, 0);\n"
                ),
                false => format!("\t{name}(&f, cpu);\n"),
            };
            let kept = match written.writer.options.steps {
                true => "\tu64 begin;\n\tbool took;\n",
                false => "",
            };
            let frame = format!("\t\tf.part = {part};\n\t\tf.me = {me};\n");
            now += &format!(
                "int regular_{index}(u32 cpu)\n{{\n\
                 \tstruct frame f = {{ .here = cpu, .part = {part}, .now = bpf_ktime_get_ns() }};\n\
                 {kept}\n\tif (cpu >= MAX_CPUS)\n\t\treturn 0;\n\tf.me = {me};\n\
                 \tbpf_rcu_read_lock();\n{call}\tbpf_rcu_read_unlock();\n\
                 \treturn 0;\n}}\n\n"
            );
            due += &format!("\tcase {index}:\n\t\tregular_{index}(cpu);\n\t\tbreak;\n");
            period += &format!("\tcase {index}:\n{frame}\t\treturn {of}(&f);\n");
        }
        format!(
            "enum {{ BALANCES = {} }};\n\n\
             /* Each regular balance. The verifier checks functions without `static` only once.\n\
             \x20* It may assume that the callback of a timer can sleep: then RCU must hold\n\
             \x20* the tasks of a queue. */\n{now}\
             static void balance_now(u32 balance, s32 cpu)\n{{\n\
             \tswitch (balance) {{\n{due}\t}}\n}}\n\n\
             static u64 period_of(u32 balance, s32 cpu)\n{{\n\
             \tstruct frame f = {{ .here = cpu, .now = bpf_ktime_get_ns() }};\n\n\tswitch (balance) {{\n{period}\t}}\n\
             \treturn ~0ULL >> 1;\n}}\n\n{PERIOD}\n",
            regular.len()
        )
    }
}

/// The body of a function that returns a bool: with no partition, it returns false.
fn or_false(body: String) -> String {
    let switch = body.starts_with("\tswitch");
    if switch { body + "\treturn false;\n" } else { body }
}
