//! The lines of a text that are not events: number of CPUs, host, kernel, lost events.

use wastenot_model::{CpuId, Head, Machine};

use super::line::number;

/// Reads a line that is not an event; returns false if it is not understood.
pub(super) fn remark(line: &[u8], head: &mut Head) -> bool {
    if let Some(rest) = line.strip_prefix(b"cpus=") {
        return cpus(rest, head); // trace-cmd report
    }
    let Some(rest) = line.strip_prefix(b"#") else { return line.trim_ascii().is_empty() };
    // ftrace: `# entries-in-buffer/entries-written: 603/603   #P:2`
    if let Some(at) = rest.windows(3).position(|window| window == b"#P:") {
        cpus(&rest[at + 3..], head);
    }
    // perf script --header: `# nrcpus avail : 2`
    if let Some(at) = rest.windows(3).position(|window| window == b" : ") {
        let (key, value) = (rest[..at].trim_ascii(), rest[at + 3..].trim_ascii());
        let value_text = || String::from_utf8_lossy(value).into_owned();
        match key {
            b"nrcpus avail" => drop(cpus(value, head)),
            b"hostname" => head.machine.name = value_text(),
            b"os release" => head.source.kernel = Some(value_text()),
            _ => {}
        }
    }
    true
}

fn cpus(text: &[u8], head: &mut Head) -> bool {
    let count = number(text).and_then(|(count, _)| usize::try_from(count).ok());
    let Some(count) = count else { return false };
    let missing = count.min(CpuId::LIMIT).saturating_sub(head.machine.len());
    head.machine.cpus.extend(std::iter::repeat_n(Machine::unknown_cpu(), missing));
    true
}

/// `CPU:3 [LOST 5 EVENTS]` (ftrace), `CPU:3 [5 EVENTS DROPPED]` (trace-cmd), either without count.
/// Other remarks on a CPU in brackets are not losses: the outer `None` is another line.
pub(super) fn lost(line: &[u8]) -> Option<Option<(CpuId, Option<u32>)>> {
    let (cpu, rest) = number(line.strip_prefix(b"CPU:")?)?;
    let cpu = u16::try_from(cpu).ok().filter(|&cpu| usize::from(cpu) < CpuId::LIMIT)?;
    let said = rest.strip_prefix(b" [")?.strip_suffix(b"]")?;
    let words: Vec<&[u8]> = said.split(|&byte| byte == b' ').take(4).collect();
    let count = match words[..] {
        [b"LOST", count, b"EVENTS"] | [count, b"EVENTS", b"DROPPED"] => {
            Some(number(count).and_then(|(count, _)| u32::try_from(count).ok()))
        }
        [b"LOST", b"EVENTS"] | [b"EVENTS", b"DROPPED"] => Some(None),
        _ => None,
    };
    Some(count.map(|count| (CpuId(cpu), count)))
}
