//! The causes of lost time in words.

use std::cmp::Reverse;

use wastenot_model::{Finding, History, Report, Span, Table, Unit, Value, Window};

use super::beside::NOTABLE;
use crate::causes::{self, Cause, Causes, LostTime, TREE};
use crate::{Check, Options};

impl Check {
    /// What each class of causes took of what was wasted, the largest first.
    pub(super) fn classes(&self) -> Vec<(&'static Cause, u64)> {
        let mut classes: Vec<(&Cause, u64)> = Vec::new();
        for (cause, part) in self.causes.iter().flat_map(Causes::iter) {
            let (ns, class) = (part.ns[LostTime::Waste as usize], cause.class());
            // Of a class that is no cause itself, the cause below it stands for it.
            let node = TREE.iter().find(|it| it.path == class).unwrap_or(&cause);
            match classes.iter_mut().find(|(it, _)| it.class() == class) {
                Some((_, sum)) => *sum = sum.saturating_add(ns),
                None if ns > 0 => classes.push((node, ns)),
                None => {}
            }
        }
        classes.sort_by_key(|(cause, ns)| (Reverse(*ns), cause.path));
        classes
    }

    /// The cause that took the larger part of what was wasted, and how much: the deepest one in the
    /// tree, since it says most.
    pub fn main_cause(&self) -> Option<(&'static Cause, u64)> {
        let causes = self.causes.as_ref()?;
        let took = TREE.iter().map(|cause| (*cause, causes.ns(LostTime::Waste, cause.path)));
        let took = took.filter(|(_, ns)| *ns > self.waste.cpu_ns / 2);
        took.max_by_key(|(cause, _)| cause.path.matches('/').count())
    }

    /// That cause, and what to do about it where it matters. Where most of it has narrower causes,
    /// the largest of these.
    pub(super) fn cause_words(&self) -> String {
        let Some((cause, ns)) = self.main_cause() else { return String::new() };
        let share = Value::Num(ns as f64 / self.waste.cpu_ns as f64).show(Unit::Share);
        if cause.is_unknown() {
            return format!(" The cause of {share} of the waste is unknown.");
        }
        let parts = self.causes.iter().flat_map(Causes::iter);
        let parts = parts.filter(|(it, _)| it.is_within(cause.path));
        let largest = parts.max_by_key(|(_, part)| part.ns[LostTime::Waste as usize]);
        let (most, _) = largest.expect("a cause that took time has parts");
        let why = match most == cause {
            true => cause.about.to_owned(),
            false => format!("{}, mostly because {}", cause.label(), most.about),
        };
        // Small waste needs no advice; where there are several causes, each finding has its own.
        let matters = most == cause && self.waste.share() >= NOTABLE;
        let advice = if matters { format!(" {}", cause.advice) } else { String::new() };
        let is = if most.named { "Cause" } else { "Suspected cause" };
        format!(" {is} of {share}: {why}.{advice}")
    }

    /// The larger causes with what to do about them.
    pub(super) fn cause_findings(&self, whole: Window) -> impl Iterator<Item = Finding> + '_ {
        let causes = self.causes.iter().flat_map(Causes::iter);
        let large = causes.filter_map(|(cause, part)| {
            let ns = part.ns[LostTime::Waste as usize];
            (ns > 0 && ns as f64 >= LEAST * self.waste.cpu_ns as f64).then_some((cause, part, ns))
        });
        let mut large: Vec<_> = large.collect();
        large.sort_by_key(|(_, _, ns)| Reverse(*ns));
        large.into_iter().map(move |(cause, part, ns)| Finding {
            code: "cause".to_owned(),
            window: part.worst[LostTime::Waste as usize].map_or(whole, |worst| worst.window),
            message: {
                let why = match (cause.is_unknown(), cause.named) {
                    (true, _) => ". The cause is unknown:",
                    (false, true) => " because",
                    (false, false) => ". Suspected cause:",
                };
                format!("{} of CPU time was wasted{why} {}.", Span(ns), cause.about)
            },
            help: Some(cause.advice.to_owned()),
        })
    }

    /// Waste by class, and all lost CPU time by whose it is.
    pub(super) fn cause_measures(&self, report: &mut Report) {
        let took = self.causes.as_ref().map(Causes::waste_by_class);
        for (class, (word, _)) in causes::CLASSES.iter().enumerate() {
            let ns = took.map(|took| took[class]);
            let label = if ns > Some(0) { format!("  by {word}") } else { String::new() };
            report.measure(&format!("lost.{word}_ns"), &label, ns, Unit::Ns);
        }
        let parties = self.parties();
        for (n, party) in PARTIES.iter().enumerate() {
            let ns = parties.map(|all| all[n].1);
            report.measure(&format!("lost_by.{party}_ns"), "", ns, Unit::Ns);
        }
    }

    /// Whose the lost CPU time is, by the roots of the tree: waste, wake delay, and idle time that
    /// affinities kept from tasks. Time that quotas took is task time, and not in it.
    fn parties(&self) -> Option<[(&'static str, u64); PARTIES.len()]> {
        let causes = self.causes.as_ref()?;
        Some(PARTIES.map(|party| {
            let of = |loss: &LostTime| causes.ns(*loss, party);
            (party, LostTime::CPU_TIME.iter().map(of).fold(0, u64::saturating_add))
        }))
    }

    /// The shares of those that have one, the largest first.
    fn party_words(&self) -> String {
        let mut parties = self.parties().map_or(Vec::new(), Vec::from);
        let all = parties.iter().fold(0u64, |all, (_, ns)| all.saturating_add(*ns));
        parties.retain(|(_, ns)| *ns > 0);
        parties.sort_by_key(|(_, ns)| Reverse(*ns));
        let share = |ns: u64| Value::Num(ns as f64 / all as f64).show(Unit::Share);
        let each = parties.iter().map(|(party, ns)| format!("{party} {}", share(*ns)));
        each.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn cause_table(&self, history: &History) -> Table {
        let parties = self.party_words();
        let title = match parties.is_empty() {
            true => "Causes of lost time".to_owned(),
            false => format!("Causes of lost time (shares of CPU time: {parties})"),
        };
        let mut table = Table::new("causes", &title, []).shown(usize::MAX);
        let none = Causes::default();
        let causes = self.causes.as_ref().unwrap_or(&none);
        for loss in LostTime::ALL {
            let whole =
                causes.iter().fold(0u64, |a, (_, it)| a.saturating_add(it.ns[loss as usize]));
            let mut parts: Vec<_> =
                causes.iter().filter(|(_, part)| part.ns[loss as usize] > 0).collect();
            parts.sort_by_key(|(_, part)| Reverse(part.ns[loss as usize]));
            for (cause, part) in parts {
                let ns = part.ns[loss as usize];
                let share = ns as f64 / whole.max(1) as f64;
                let worst = part.worst[loss as usize];
                let next_step = (share >= LEAST).then(|| cause.next_step());
                table.row(|row| {
                    row.cell("cause", "cause", cause.path)
                        .cell("loss", "kind", loss.name())
                        .ns("ns", "lost time", ns)
                        .share("share", "share", share)
                        .ns("worst_ns", "longest", worst.map(|it| it.ns))
                        .at("worst_from_ns", "at", worst.map(|it| it.window.from))
                        .at("worst_to_ns", "", worst.map(|it| it.window.to))
                        .cell("worst_task", "", worst.map(|it| history.task_label(it.task)))
                        .cell("worst_cpu", "", worst.map(|it| it.cpu))
                        .cell("about", "", cause.about)
                        .cell("advice", "", cause.advice)
                        .cell("missing", "", cause.missing)
                        .cell("named", "", cause.named)
                        .below("next_step", "next step", next_step)
                });
            }
        }
        table
    }

    /// The stretches of the cause that was asked for.
    pub(super) fn stretch_table(&self, history: &History, options: &Options) -> Table {
        let title = options.of_cause.map_or(String::new(), |it| format!("Lost time by {it}"));
        let mut table = Table::new("stretches", &title, []);
        table.first = options.of_cause.is_some();
        let Some((asked, causes)) = options.of_cause.zip(self.causes.as_ref()) else {
            return table;
        };
        let within = causes.stretches.iter().filter(|(cause, ..)| cause.is_within(asked));
        let mut within: Vec<_> = within.collect();
        within.sort_by_key(|(_, _, it)| (Reverse(it.ns), it.window.from, it.task));
        for (cause, loss, it) in within.into_iter().take(options.limit) {
            table.row(|row| {
                row.cell("task", "task", history.task_name(it.task))
                    .cell("tid", "", history.task(it.task).map(|task| task.tid))
                    .cell("cpu", "CPU", it.cpu)
                    .at("from_ns", "from", it.window.from)
                    .ns("length_ns", "length", it.window.span())
                    .ns("ns", "lost time", it.ns)
                    .cell("loss", "kind", loss.name())
                    .cell("cause", "cause", cause.path)
            });
        }
        table
    }
}

/// The roots of the tree of causes: to whom lost time can belong.
const PARTIES: [&str; 5] = ["scheduler", "configuration", "host", "design", "unknown"];

/// Causes of less than this share of what was lost are in the table only, without a next step.
const LEAST: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_root_of_the_tree_is_a_party() {
        let root = |cause: &&Cause| cause.path.split('/').next().expect("a root");
        for root in TREE.iter().map(root) {
            assert!(PARTIES.contains(&root), "{root}");
        }
    }
}
