//! Partitions: every CPU is in one, every task is somebody's.

use super::{no, suggest};
use crate::Diagnostic;
use crate::ir::{Cpus, Level, Partition};
use crate::syntax::Span;
use crate::syntax::ast::{self, Tasks};

pub(super) fn lower(file: &ast::File, found: &mut Vec<Diagnostic>) -> Vec<Partition> {
    let partitions = file.partitions.iter().filter_map(|it| partition(it, file, found)).collect();
    every_policy_once(file, found);
    if !file.partitions.is_empty() {
        everything_is_somebodys(file, found);
        no_cpu_twice(file, found);
    }
    partitions
}

fn partition(
    partition: &ast::Partition,
    file: &ast::File,
    found: &mut Vec<Diagnostic>,
) -> Option<Partition> {
    let policy = file.policies.iter().position(|it| it.name.text == partition.policy.text);
    if policy.is_none() {
        let known = file.policies.iter().map(|policy| policy.name.text.as_str());
        let help = suggest(&partition.policy.text, known, "write it into the same file");
        let (span, message) = (partition.policy.span, no("policy", &partition.policy));
        found.push(Diagnostic::new("R101", span, message, "not in this file", help));
    }
    let cpus = match &partition.cpus {
        ast::Cpus::Rest(_) => Some(Cpus::Rest),
        ast::Cpus::List(ranges, span) => list(ranges, *span, found),
        ast::Cpus::Group(level, group) => group_of(level, *group, found),
    };
    let tasks = match &partition.tasks {
        Tasks::Cgroup(glob, _) => Some(glob.clone()),
        Tasks::Rest(_) => None,
    };
    let (name, span) = (partition.name.text.clone(), partition.span);
    Some(Partition { name, cpus: cpus?, policy: policy?, tasks, span })
}

fn list(ranges: &[(u64, u64)], span: Span, found: &mut Vec<Diagnostic>) -> Option<Cpus> {
    let limit = wastenot_model::CpuId::LIMIT as u64;
    let fits = |&(first, last): &(u64, u64)| {
        (first <= last && last < limit).then_some((first as u16, last as u16))
    };
    let lowered: Option<Vec<(u16, u16)>> = ranges.iter().map(fits).collect();
    if lowered.is_none() {
        let message = "these are no CPUs";
        let help = "write ranges from low to high, as in `cpus 0-3,8`; the last CPU is 8191";
        found.push(Diagnostic::new("R501", span, message, "not a range of CPUs", help));
    }
    lowered.map(Cpus::List)
}

fn group_of(level: &ast::Name, group: u64, found: &mut Vec<Diagnostic>) -> Option<Cpus> {
    let known =
        Level::named(&level.text).filter(|level| (Level::Smt..Level::Machine).contains(level));
    let group = u32::try_from(group).ok();
    if known.is_none() || group.is_none() {
        let message = "these are no CPUs";
        let help = "write `cpus 0-3`, `llc 0`, `node 1` or `rest`";
        found.push(Diagnostic::new("R501", level.span, message, "no group of CPUs", help));
    }
    Some(Cpus::Group(known?, group?))
}

/// A policy that has no CPU is forgotten; two of one name are one too many.
fn every_policy_once(file: &ast::File, found: &mut Vec<Diagnostic>) {
    for (n, policy) in file.policies.iter().enumerate() {
        let earlier = file.policies[..n].iter().find(|it| it.name.text == policy.name.text);
        if let Some(earlier) = earlier {
            let message = format!("there are two policies of the name `{}`", policy.name.text);
            let help = "give one of them another name";
            let twice = Diagnostic::new("R103", policy.name.span, message, "again", help);
            found.push(twice.and(earlier.name.span, "the first"));
        }
        let used = file.partitions.iter().any(|it| it.policy.text == policy.name.text);
        if !used && (file.policies.len() > 1 || !file.partitions.is_empty()) {
            let message = format!("`{}` has no CPUs", policy.name.text);
            let help = format!("write `partition NAME on rest runs {} for rest`", policy.name.text);
            let label = "no partition runs it";
            found.push(Diagnostic::new("R503", policy.name.span, message, label, help));
        }
    }
}

/// One partition at most has the rest, and one has to have the tasks that nobody else has.
fn everything_is_somebodys(file: &ast::File, found: &mut Vec<Diagnostic>) {
    let cpus = file.partitions.iter().filter_map(|it| match &it.cpus {
        ast::Cpus::Rest(span) => Some(*span),
        _ => None,
    });
    let tasks = file.partitions.iter().filter_map(|it| match &it.tasks {
        Tasks::Rest(span) => Some(*span),
        Tasks::Cgroup(..) => None,
    });
    for (what, spans) in [("CPUs", cpus.collect::<Vec<_>>()), ("tasks", tasks.collect())] {
        let whole = file.partitions[0].span;
        match spans.as_slice() {
            [_] => {}
            [] => {
                let message = format!("some {what} are in no partition");
                let help = match what {
                    "CPUs" => "let one partition be `on rest`",
                    _ => "let one partition be `for rest`",
                };
                let label = format!("no partition has the rest of the {what}");
                found.push(Diagnostic::new("R504", whole, message, label, help));
            }
            [first, again, ..] => {
                let message = format!("two partitions have the rest of the {what}");
                let help = "say of one of them what it has";
                let twice = Diagnostic::new("R504", *again, message, "again", help);
                found.push(twice.and(*first, "the first"));
            }
        }
    }
}

fn no_cpu_twice(file: &ast::File, found: &mut Vec<Diagnostic>) {
    let lists: Vec<(&[(u64, u64)], Span)> = file
        .partitions
        .iter()
        .filter_map(|it| match &it.cpus {
            ast::Cpus::List(ranges, span) => Some((ranges.as_slice(), *span)),
            _ => None,
        })
        .collect();
    let groups = file.partitions.iter().any(|it| matches!(it.cpus, ast::Cpus::Group(..)));
    for (n, (ranges, span)) in lists.iter().enumerate() {
        let meets = |(other, _): &&(&[(u64, u64)], Span)| {
            ranges.iter().any(|a| other.iter().any(|b| a.0 <= b.1 && b.0 <= a.1))
        };
        if let Some((_, first)) = lists[..n].iter().find(meets) {
            let message = "a CPU is in two partitions";
            let help = "let each CPU be in one";
            let twice = Diagnostic::new("R504", *span, message, "again", help);
            found.push(twice.and(*first, "the first"));
        }
        if groups {
            let message = "CPUs by number and by group may be the same ones";
            let help = "name all partitions in one way: `cpus 0-3`, or `node 0`";
            found.push(Diagnostic::new("R504", *span, message, "by number", help));
        }
    }
}
