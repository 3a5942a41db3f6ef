//! Partitions: every CPU is in one partition, and every task belongs to one.

use std::collections::{BTreeMap, BTreeSet};

use super::{no, suggest};
use crate::Diagnostic;
use crate::ir::{Cpus, Level, Meet, Partition, Tasks};
use crate::syntax::Span;
use crate::syntax::ast;

pub(super) fn lower(file: &ast::File, found: &mut Vec<Diagnostic>) -> Vec<Partition> {
    let partitions: Vec<Partition> =
        file.partitions.iter().filter_map(|it| partition(it, file, found)).collect();
    each_once(file, found);
    every_policy_runs(file, found);
    if !file.partitions.is_empty() {
        everything_is_somebodys(file, found);
        no_cpu_twice(&partitions, file, found);
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
        let help = suggest(&partition.policy.text, known, "write the policy into the same file");
        let (span, message) = (partition.policy.span, no("policy", &partition.policy));
        found.push(Diagnostic::new("R101", span, message, "not in this file", help));
    }
    let cpus = match &partition.cpus {
        ast::Cpus::Rest(_) => Some(Cpus::Rest),
        ast::Cpus::List(ranges, span) => list(ranges, *span, found),
        ast::Cpus::Group(level, group) => group_of(level, *group, found),
    };
    let tasks = match &partition.tasks {
        ast::Tasks::Cgroup(glob, _) => Tasks::Cgroup(glob.clone()),
        ast::Tasks::Command(glob, _) => Tasks::Command(glob.clone()),
        ast::Tasks::Rest(_) => Tasks::Rest,
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
        let message = "these CPUs are not valid";
        let help = "write ranges from low to high, for example `cpus 0-3,8`; the highest CPU \
                    number is 8191";
        found.push(Diagnostic::new("R501", span, message, "not a range of CPUs", help));
    }
    let mut ranges = lowered?;
    ranges.sort_unstable();
    if let Some(again) = ranges.windows(2).find(|pair| pair[0].1 >= pair[1].0) {
        let message = format!("CPU {} occurs twice", again[1].0);
        let help = "remove the overlap of the ranges, for example `cpus 0-3,8`";
        found.push(Diagnostic::new("R504", span, message, "in two ranges", help));
        return None;
    }
    Some(Cpus::List(ranges))
}

fn group_of(level: &ast::Name, group: u64, found: &mut Vec<Diagnostic>) -> Option<Cpus> {
    let known =
        Level::named(&level.text).filter(|level| (Level::Smt..Level::Machine).contains(level));
    let group = u32::try_from(group).ok();
    if known.is_none() || group.is_none() {
        let message = "these CPUs are not valid";
        let help = "write `cpus 0-3`, `llc 0`, `node 1` or `rest`";
        found.push(Diagnostic::new("R501", level.span, message, "not a group of CPUs", help));
    }
    Some(Cpus::Group(known?, group?))
}

/// Reports a policy that no partition runs.
fn every_policy_runs(file: &ast::File, found: &mut Vec<Diagnostic>) {
    let used: BTreeSet<&str> = file.partitions.iter().map(|it| it.policy.text.as_str()).collect();
    for policy in &file.policies {
        let used = used.contains(policy.name.text.as_str());
        if !used && (file.policies.len() > 1 || !file.partitions.is_empty()) {
            let message = format!("`{}` has no CPUs", policy.name.text);
            let help = format!("add `partition NAME on rest runs {} for rest`", policy.name.text);
            let label = "no partition runs this policy";
            found.push(Diagnostic::new("R503", policy.name.span, message, label, help));
        }
    }
}

/// Reports names that occur twice, of policies and of partitions; and two partitions for the same
/// cgroups or commands, since the second would have no tasks.
fn each_once(file: &ast::File, found: &mut Vec<Diagnostic>) {
    let other_name = "give one of the two another name";
    let policies = file.policies.iter().map(|it| (it.name.text.as_str(), it.name.span));
    for (name, span, first) in given_again(policies) {
        let message = format!("there are two policies with the name `{name}`");
        let twice = Diagnostic::new("R103", span, message, "again", other_name);
        found.push(twice.and(first, "first policy"));
    }
    let names = file.partitions.iter().map(|it| (it.name.text.as_str(), it.name.span));
    for (name, span, first) in given_again(names) {
        let message = format!("there are two partitions with the name `{name}`");
        let twice = Diagnostic::new("R103", span, message, "again", other_name);
        found.push(twice.and(first, "first partition"));
    }
    let cgroups = file.partitions.iter().filter_map(|it| match &it.tasks {
        ast::Tasks::Cgroup(rule, span) => Some((rule.as_str(), *span)),
        _ => None,
    });
    let commands = file.partitions.iter().filter_map(|it| match &it.tasks {
        ast::Tasks::Command(rule, span) => Some((rule.as_str(), *span)),
        _ => None,
    });
    let again = given_again(cgroups).into_iter().map(|it| ("cgroups", it));
    let again = again.chain(given_again(commands).into_iter().map(|it| ("commands", it)));
    for (what, (rule, span, first)) in again {
        let message = format!("two partitions have the {what} `{rule}`");
        let help = format!(
            "use one partition for the CPUs of both partitions, or name other {what} in one of them"
        );
        let twice = Diagnostic::new("R504", span, message, "again", help);
        found.push(twice.and(first, "first use"));
    }
}

/// The names that occur again, with the position of their first occurrence.
fn given_again<'a>(all: impl Iterator<Item = (&'a str, Span)>) -> Vec<(&'a str, Span, Span)> {
    let mut firsts: BTreeMap<&str, Span> = BTreeMap::new();
    let again = all.filter_map(|(name, span)| {
        let first = *firsts.entry(name).or_insert(span);
        (first != span).then_some((name, span, first))
    });
    again.collect()
}

/// At most one partition has `rest` as CPUs, and one partition must have all other tasks.
fn everything_is_somebodys(file: &ast::File, found: &mut Vec<Diagnostic>) {
    let cpus = file.partitions.iter().filter_map(|it| match &it.cpus {
        ast::Cpus::Rest(span) => Some(*span),
        _ => None,
    });
    let tasks = file.partitions.iter().filter_map(|it| match &it.tasks {
        ast::Tasks::Rest(span) => Some(*span),
        ast::Tasks::Cgroup(..) | ast::Tasks::Command(..) => None,
    });
    for (what, spans) in [("CPUs", cpus.collect::<Vec<_>>()), ("tasks", tasks.collect())] {
        let whole = file.partitions[0].span;
        match spans.as_slice() {
            [_] => {}
            [] => {
                let message = format!("some {what} are in no partition");
                let help = match what {
                    "CPUs" => "write `on rest` for one partition",
                    _ => "write `for rest` for one partition",
                };
                let label = format!("no partition has `rest` for the {what}");
                found.push(Diagnostic::new("R504", whole, message, label, help));
            }
            [first, again, ..] => {
                let message = format!("two partitions have `rest` for the {what}");
                let help = "replace `rest` in one of the two partitions";
                let twice = Diagnostic::new("R504", *again, message, "again", help);
                found.push(twice.and(*first, "first `rest`"));
            }
        }
    }
}

/// Partitions are divided by number or by groups of one level, so that no two can share a CPU.
fn no_cpu_twice(partitions: &[Partition], file: &ast::File, found: &mut Vec<Diagnostic>) {
    let written: BTreeMap<Span, &ast::Cpus> =
        file.partitions.iter().map(|it| (it.span, &it.cpus)).collect();
    let mut named = Named::default();
    for (n, partition) in partitions.iter().enumerate() {
        let span = match written.get(&partition.span) {
            Some(ast::Cpus::Rest(span) | ast::Cpus::List(_, span)) => *span,
            Some(ast::Cpus::Group(level, _)) => level.span,
            None => partition.span,
        };
        match named.meets(&partition.cpus) {
            Some((Meet::Surely, (_, first))) => {
                let message = "a CPU is in two partitions";
                let help = "put each CPU into only one partition";
                let twice = Diagnostic::new("R504", span, message, "again", help);
                found.push(twice.and(first, "first partition"));
            }
            Some((Meet::Perhaps, (_, first))) => {
                let message = "partitions may overlap, because they name CPUs in different ways";
                let help = "name the CPUs of all partitions in one way: `cpus 0-3`, or `node 0`";
                let two = Diagnostic::new("R504", span, message, "a different way", help);
                found.push(two.and(first, "first way"));
            }
            None => {}
        }
        named.add(&partition.cpus, (n, span));
    }
}

/// A partition by its number, and the position of its CPUs in the text.
type First = (usize, Span);

/// Which partition named which CPUs first. It agrees with [`Cpus::meets`], but covers all
/// partitions of a text at once.
#[derive(Default)]
struct Named {
    cpus: BTreeMap<u16, First>,
    groups: BTreeMap<(Level, u32), First>,
    /// By number (`None`), or by groups of a level.
    ways: BTreeMap<Option<Level>, First>,
}

impl Named {
    /// The first partition that surely has one of these CPUs, or else the first that may have one.
    fn meets(&self, cpus: &Cpus) -> Option<(Meet, First)> {
        let (way, surely) = match cpus {
            Cpus::Rest => return None,
            Cpus::List(ranges) => {
                let owners = ranges.iter().flat_map(|&(from, to)| self.cpus.range(from..=to));
                (None, owners.map(|(_, first)| *first).min())
            }
            Cpus::Group(level, n) => (Some(*level), self.groups.get(&(*level, *n)).copied()),
        };
        let other = || self.ways.iter().filter(|(other, _)| **other != way).map(|(_, first)| first);
        let perhaps = || other().min().map(|first| (Meet::Perhaps, *first));
        surely.map(|first| (Meet::Surely, first)).or_else(perhaps)
    }

    fn add(&mut self, cpus: &Cpus, first: First) {
        let way = match cpus {
            Cpus::Rest => return,
            Cpus::List(ranges) => {
                for cpu in ranges.iter().flat_map(|&(from, to)| from..=to) {
                    self.cpus.entry(cpu).or_insert(first);
                }
                None
            }
            Cpus::Group(level, n) => {
                self.groups.entry((*level, *n)).or_insert(first);
                Some(*level)
            }
        };
        self.ways.entry(way).or_insert(first);
    }
}
