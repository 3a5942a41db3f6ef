//! The output of ftrace, `trace-cmd report` and `perf script`.

use wastenot_model::{Context, History};

use super::tracepoint::{Kind, Record, STATES_NEW, Value, What, records};

/// The tool that prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// `cat trace` of tracefs.
    Ftrace,
    /// `trace-cmd report -t`, in the format of its plugins.
    Report,
    /// `trace-cmd report -t -N`: as the kernel prints.
    ReportPlain,
    /// `trace-cmd report -t -R`: every field unchanged.
    ReportRaw,
    /// `perf script --ns`.
    PerfScript,
}

/// A whole text.
pub fn text(history: &History, tool: Text) -> String {
    let cpus = history.cpu_count();
    let mut page = match tool {
        Text::Ftrace => format!(
            "# tracer: nop\n#\n# entries-in-buffer/entries-written: {0}/{0}   #P:{cpus}\n#\n\
             #                                _-----=> irqs-off/BH-disabled\n\
             #                               / _----=> need-resched\n\
             #                              | / _---=> hardirq/softirq\n\
             #                              || / _--=> preempt-depth\n\
             #                              ||| / _-=> migrate-disable\n\
             #                              |||| /     delay\n\
             #           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n\
             #              | |         |   |||||     |         |\n",
            history.len()
        ),
        Text::Report | Text::ReportPlain | Text::ReportRaw => format!("cpus={cpus}\n"),
        Text::PerfScript => String::new(),
    };
    let mut lost: Vec<Option<Option<u32>>> = vec![None; cpus];
    for record in records(history) {
        let cpu = usize::from(record.cpu);
        match record.what {
            // Printed with the next event that this CPU recorded.
            What::Lost(count) => lost[cpu] = Some(count),
            What::Hit(..) => {
                if let Some(count) = lost[cpu].take() {
                    page += &dropped(tool, cpu, count);
                }
                page += &line(tool, &record);
            }
        }
    }
    page
}

fn dropped(tool: Text, cpu: usize, count: Option<u32>) -> String {
    match (tool, count) {
        (Text::PerfScript, _) => String::new(),
        (Text::Ftrace, Some(count)) => format!("CPU:{cpu} [LOST {count} EVENTS]\n"),
        (Text::Ftrace, None) => format!("CPU:{cpu} [LOST EVENTS]\n"),
        (_, Some(count)) => format!("CPU:{cpu} [{count} EVENTS DROPPED]\n"),
        (_, None) => format!("CPU:{cpu} [EVENTS DROPPED]\n"),
    }
}

fn line(tool: Text, record: &Record) -> String {
    let point = record.point().expect("not a loss");
    let (tid, name) = &record.current;
    let comm = match (tool, *tid) {
        (Text::PerfScript, 0) => "swapper",
        (_, 0) => "<idle>",
        _ => name,
    };
    let (cpu, s, ns) = (record.cpu, record.time / 1_000_000_000, record.time % 1_000_000_000);
    let (name, body) = (point.name, body(tool, record));
    match tool {
        Text::Ftrace => {
            let flags = match record.context {
                Context::Unknown | Context::Task => "d..2.",
                Context::Softirq => "d.s2.",
                Context::Hardirq => "d.h2.",
            };
            let us = ns / 1000;
            format!("{comm:>16}-{tid:<7} [{cpu:03}] {flags} {s:>5}.{us:06}: {name}: {body}\n")
        }
        Text::PerfScript => {
            let event = format!("{}:{name}", point.system);
            format!("{comm:>16} {tid:>5} [{cpu:03}] {s:>5}.{ns:09}: {event:>24}: {body}\n")
        }
        _ => {
            let event = format!("{name}:");
            format!("{comm:>16}-{tid:<5} [{cpu:03}] {s:>5}.{ns:09}: {event:<22}{body}\n")
        }
    }
}

fn body(tool: Text, record: &Record) -> String {
    let of = |field: &str| print(record.value(field));
    let name = record.point().expect("not a loss").name;
    match (tool, name) {
        (Text::ReportRaw, _) => raw(record),
        (Text::Report, "sched_switch") => format!(
            // The plugin does not print that a task was preempted.
            "{}:{} [{}] {} ==> {}:{} [{}]",
            of("prev_comm"),
            of("prev_pid"),
            of("prev_prio"),
            of("prev_state").trim_end_matches('+'),
            of("next_comm"),
            of("next_pid"),
            of("next_prio")
        ),
        (Text::Report, "sched_waking" | "sched_wakeup" | "sched_wakeup_new") => {
            format!("{}:{} [{}] CPU:{:0>3}", of("comm"), of("pid"), of("prio"), of("target_cpu"))
        }
        (_, "sched_switch") => format!(
            "prev_comm={} prev_pid={} prev_prio={} prev_state={} ==> next_comm={} next_pid={} \
             next_prio={}",
            of("prev_comm"),
            of("prev_pid"),
            of("prev_prio"),
            of("prev_state"),
            of("next_comm"),
            of("next_pid"),
            of("next_prio")
        ),
        (_, "sched_waking" | "sched_wakeup" | "sched_wakeup_new") => format!(
            "comm={} pid={} prio={} target_cpu={:0>3}",
            of("comm"),
            of("pid"),
            of("prio"),
            of("target_cpu")
        ),
        (_, "sched_process_fork") => format!(
            "comm={} pid={} child_comm={} child_pid={}",
            of("parent_comm"),
            of("parent_pid"),
            of("child_comm"),
            of("child_pid")
        ),
        (_, "cpuhp_enter") => format!(
            "cpu: {:0>4} target: {:>3} step: {:>3} (sched_cpu_activate)",
            of("cpu"),
            of("target"),
            of("idx")
        ),
        _ => raw(record),
    }
}

/// Every field by name.
fn raw(record: &Record) -> String {
    let point = record.point().expect("not a loss");
    let fields = point.fields.iter().map(|(name, kind)| match record.value(name) {
        Value::Left(left) => format!("{name}={}", STATES_NEW.bits(*left)),
        Value::Number(number) if *kind == Kind::Pointer => format!("{name}=0x{number:x}"),
        Value::Number(number) if *name == "target_cpu" => format!("{name}={number:03}"),
        value => format!("{name}={}", print(value)),
    });
    fields.collect::<Vec<_>>().join(" ")
}

fn print(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Left(left) => left.letters().to_owned(),
    }
}
