//! The code of one policy: its parameters, variables and functions.

use super::{Options, Writer};
use crate::ir::{Dimension, Event, Policy};

/// The code of one policy.
pub(super) struct Written<'a> {
    pub(super) writer: Writer<'a>,
    /// The function of each event.
    pub(super) handlers: [Option<String>; Event::COUNT],
    pub(super) dispatch: String,
    /// The functions of each regular balance.
    pub(super) periodic: Vec<String>,
}

impl Writer<'_> {
    /// The size of `struct frame` (`text/state.c`) with the slots of this policy.
    pub(super) fn frame_bytes(&self) -> usize {
        let fixed = 2 * 8 + 6 * 4 + 2 * 8;
        let (small, large) = (self.cpus + self.owed.len(), self.numbers);
        let filled = |bytes: usize| bytes.next_multiple_of(8);
        fixed + filled(4 * small) + 8 * large + filled(4 * self.items)
    }

    /// Whether anything depends on the least keys of queues.
    pub(super) fn asks_for_least_keys(&self) -> bool {
        let rebases = self.policy.idle.as_ref().is_some_and(|balance| balance.rebase.is_some());
        rebases || self.functions.contains("min_key(")
    }
}

impl<'a> Written<'a> {
    pub(super) fn of(policy: &'a Policy, options: Options) -> Written<'a> {
        let mut writer = Writer::new(policy, options);
        let handlers = writer.handlers();
        let dispatch = writer.dispatch();
        let periodic = policy.periodic.iter().enumerate();
        let periodic = periodic.map(|(index, it)| writer.balance_every(index, it)).collect();
        Written { writer, handlers, dispatch, periodic }
    }
}

/// Parameters, variables and functions of one policy.
pub(super) fn one(written: &Written) -> String {
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
         static __attribute__((unused)) s64 {name}(s32 cpu)\n{{\n\treturn (u32)cpu < MAX_CPUS ? {name}s[at(cpu)] : 0;\n}}\n\n\
         static __attribute__((unused)) void {name}_set(s32 cpu, s64 value)\n{{\n\
         \tif ((u32)cpu < MAX_CPUS)\n\t\t{name}s[at(cpu)] = value;\n}}\n\n\
         static __attribute__((unused)) void {name}_add(s32 cpu, s64 value)\n{{\n\
         \tif ((u32)cpu < MAX_CPUS)\n\t\t__sync_fetch_and_add(&{name}s[at(cpu)], value);\n}}\n"
    )
}

pub(super) fn dimension(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Count => "count",
        Dimension::Time => "time, in ns",
        Dimension::Weight => "weight",
    }
}
