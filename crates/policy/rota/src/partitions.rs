//! Partitions on a machine: their CPUs and their tasks.

use wastenot_model::{CpuId, CpuSet, Machine};

use crate::Tree;
use crate::ir::{Cpus, Program, Tasks};

/// The CPUs of each partition, in the order of the text; a program without partitions counts as one
/// partition. If two partitions name a CPU, the first has it. CPUs that no partition names go to
/// the one that has `rest`, or to the first. So every CPU is in one partition.
pub fn cpus(program: &Program, machine: &Machine) -> Vec<CpuSet> {
    if program.partitions.is_empty() {
        return vec![CpuSet::first(machine.len())];
    }
    let whole = Tree::of(machine, &CpuSet::first(machine.len()));
    let mut free = CpuSet::first(machine.len());
    let mut parts = Vec::new();
    for partition in &program.partitions {
        let named: CpuSet = match &partition.cpus {
            Cpus::List(ranges) => {
                let within = |cpu: &CpuId| {
                    ranges.iter().any(|&(first, last)| (first..=last).contains(&cpu.0))
                };
                free.iter().filter(within).collect()
            }
            Cpus::Group(level, group) if (*group as usize) < whole.count(*level) => {
                let members = whole.members(*level, *group as usize);
                members.iter().copied().filter(|&cpu| free.contains(cpu)).collect()
            }
            Cpus::Group(..) | Cpus::Rest => CpuSet::new(),
        };
        named.iter().for_each(|cpu| free.remove(cpu));
        parts.push(named);
    }
    let rest = program.partitions.iter().position(|it| it.cpus == Cpus::Rest).unwrap_or(0);
    parts[rest] = parts[rest].or(&free);
    parts
}

/// The partition of tasks whose cgroup or session, and whose command, have these names: the first
/// whose pattern matches, else the one that has all other tasks, else the first.
pub fn named(program: &Program, group: &str, command: &str) -> usize {
    let named = [of_group(program, group), of_command(program, command)];
    named.into_iter().flatten().min().unwrap_or_else(|| rest(program))
}

/// The first partition whose pattern matches this name of a cgroup or session.
pub fn of_group(program: &Program, group: &str) -> Option<usize> {
    program.partitions.iter().position(|it| match &it.tasks {
        Tasks::Cgroup(pattern) => matches(pattern, group),
        Tasks::Command(_) | Tasks::Rest => false,
    })
}

/// The first partition whose pattern matches this name of a command.
pub fn of_command(program: &Program, command: &str) -> Option<usize> {
    program.partitions.iter().position(|it| match &it.tasks {
        Tasks::Command(pattern) => matches(pattern, command),
        Tasks::Cgroup(_) | Tasks::Rest => false,
    })
}

/// The partition with all other tasks.
pub(crate) fn rest(program: &Program) -> usize {
    program.partitions.iter().position(|it| it.tasks == Tasks::Rest).unwrap_or(0)
}

/// Whether `name` matches `pattern`, in which `*` is any text and `?` one letter.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&letter) if letter == '?' || letter == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&letter| letter == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_letter() {
        for (pattern, name) in
            [("web*", "web"), ("*b?t*", "a/batch"), ("**", ""), ("a*b*c", "abbc")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("web", "web1"), ("?", ""), ("a*b", "ac"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
