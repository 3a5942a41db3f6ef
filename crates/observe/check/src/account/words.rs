//! Accounts in sentences.

use std::cmp::Reverse;

use wastenot_model::{History, Moment, Span, TaskId};

use super::{Account, Apart, Every, Kind, Meanwhile, Part, Step, sum};

/// Kinds of less than this share are not in the verdict, and no reasons of less.
const LEAST: f64 = 0.005;

/// Less of the CPU time of tasks that ran apart, and less of waits, is not in the verdict.
const NOTABLE: f64 = 0.1;

impl Account {
    pub(super) fn verdict(&self, history: &History) -> String {
        let who = self.who(history);
        if let Some(every) = &self.every {
            return self.every_verdict(history, &who, every);
        }
        if self.path.is_empty() {
            return format!("{who} did not run in the examined time.");
        }
        let parts = shares(history, &self.parts());
        let mut text = format!("{who} took {}: {parts}.", self.window.span());
        let waited = self.ns(Kind::Wait) + self.ns(Kind::WaitOther);
        if waited as f64 >= NOTABLE * self.window.span().0 as f64 {
            text += &Meanwhile::sentence(&self.meanwhile, history);
        }
        if let Some(least) = self.least_ns() {
            let lost = Span(self.window.span().0 - least);
            text += &format!(
                " These waits contain {lost} of lost time. Without this lost time, the path takes \
                 {}.",
                Span(least)
            );
        }
        text + &self.apart_words()
    }

    /// How much they ran apart, where that is much.
    fn apart_words(&self) -> String {
        let matters = |apart: &Apart| apart.share() >= NOTABLE && apart.may_spin();
        let Some(apart) = self.apart.filter(matters) else { return String::new() };
        format!(
            " The tasks used {} of CPU time. For {} of this time, at least one more of these tasks \
             waited for a CPU. If the tasks spin at barriers, these waits caused at most {1} of \
             spinning. A profile (perf record) shows whether tasks spin. Dedicated CPUs (cpusets), \
             gang scheduling or blocking barriers (OMP_WAIT_POLICY=passive) avoid the spinning.",
            Span(apart.ran_ns),
            Span(apart.apart_ns)
        )
    }

    fn every_verdict(&self, history: &History, who: &str, every: &Every) -> String {
        let Some((median, of_median)) = &every.median else {
            return format!("{who} did not sleep again after a wakeup in the examined time.");
        };
        let (count, all) = (every.lengths.count, sum_of(&every.parts));
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let was = if self.tasks.len() == 1 { "was" } else { "were" };
        let mut text = format!(
            "{who} {was} woken and slept again {times}. This took {} in total: {}. The median \
             activation took {}, the slowest {}",
            Span(all),
            shares(history, &every.parts),
            median.window.span(),
            self.window.span()
        );
        let more = more(&self.parts(), of_median);
        let most: Vec<String> = more
            .iter()
            .filter(|(_, more)| *more as f64 > LEAST * self.window.span().0 as f64)
            .take(2)
            .map(|(part, more)| format!("{} more {}{}", Span(*more), doing(part.kind), why(part)))
            .collect();
        if !most.is_empty() {
            text += &format!(": {}", most.join("; "));
        }
        text + "."
    }

    /// The tasks in a word or two.
    pub(super) fn who(&self, history: &History) -> String {
        if let [task] = self.tasks[..] {
            return history.task_label(task);
        }
        let mut names: Vec<String> = self.tasks.iter().map(|it| history.task_name(*it)).collect();
        names.sort_unstable();
        names.dedup();
        let others = if names.len() > 2 { ", ..." } else { "" };
        names.truncate(2);
        format!("{} tasks ({}{others})", self.tasks.len(), names.join(", "))
    }

    /// The longest wait for a CPU on the path.
    pub(super) fn moment(&self, history: &History) -> Option<Moment> {
        let waits = self.path.iter().filter(|step| step.kind.is_wait());
        let step = waits.max_by_key(|step| (step.window.span(), Reverse(step.window.from)))?;
        Some(Moment { window: step.window, message: sentence(history, step), picture: None })
    }
}

fn sentence(history: &History, step: &Step) -> String {
    let (task, span) = (history.task_label(step.task), step.window.span());
    let cpu = step.cpu.map_or("a CPU".to_owned(), |cpu| format!("CPU {cpu}"));
    let because = step.reason.map_or(String::new(), |it| format!(": {}", it.about));
    match step.kind {
        Kind::Held => format!("a quota held {task} back for {span}."),
        Kind::WakeDelay => format!("{task} was woken {span} before {cpu} started it{because}."),
        _ => format!("{task} waited {span} for {cpu}{because}."),
    }
}

/// How the parts add up: kinds with what there is to say of them, longest first.
fn shares(history: &History, parts: &[Part]) -> String {
    let all = sum_of(parts).max(1) as f64;
    let of = |kind: Kind| parts.iter().filter(move |part| part.kind == kind);
    let sums = Kind::ALL.map(|kind| (kind, sum_of(of(kind))));
    let mut sums: Vec<(Kind, u64)> =
        sums.into_iter().filter(|(_, ns)| *ns as f64 >= LEAST * all).collect();
    sums.sort_by_key(|(_, ns)| Reverse(*ns));
    let words = |(kind, ns): (Kind, u64)| {
        let first = of(kind).next();
        let why = |part: &Part| match (part.other, part.reason) {
            (Some(task), _) => Some(history.task_label(task)),
            (None, Some(it)) if kind != Kind::WakeDelay => Some(format!("because {}", it.about)),
            _ => None,
        };
        let why = first.and_then(|part| {
            let all = part.ns == ns;
            let of_it = if all { String::new() } else { format!("{} of it ", Span(part.ns)) };
            Some(format!(" ({of_it}{})", why(part)?))
        });
        let share = ns as f64 / all * 100.0;
        format!("{share:.0} % {}{}", doing(kind), why.unwrap_or_default())
    };
    sums.into_iter().map(words).collect::<Vec<_>>().join(", ")
}

fn why(part: &Part) -> String {
    part.reason.map_or(String::new(), |reason| format!(" because {}", reason.about))
}

fn doing(kind: Kind) -> &'static str {
    match kind {
        Kind::Run => "running",
        Kind::RunOther => "waiting while other tasks ran",
        Kind::Wait => "waiting for a CPU",
        Kind::WaitOther => "waiting for other tasks while they waited for a CPU",
        Kind::WakeDelay => "waking up",
        Kind::Held => "held back by quotas",
        Kind::Io => "in I/O",
        Kind::TimerOrDevice => "waiting for a timer or device",
        Kind::Unknown => "unknown",
    }
}

/// What the first has more of than the second, most first.
pub(super) fn more(parts: &[Part], than: &[Part]) -> Vec<(Part, u64)> {
    let same = |part: &Part| than.iter().find(|it| it.is_like(part)).map_or(0, |it| it.ns);
    let mut more: Vec<(Part, u64)> =
        parts.iter().map(|part| (*part, part.ns.saturating_sub(same(part)))).collect();
    more.sort_by_key(|(_, more)| Reverse(*more));
    more
}

pub(super) fn sum_of<'p>(parts: impl IntoIterator<Item = &'p Part>) -> u64 {
    parts.into_iter().fold(0, |sum, part| sum.saturating_add(part.ns))
}

/// How much of `steps` is of which other task: what it ran, what it waited, and the rest.
pub(super) fn others(account: &Account) -> Vec<(TaskId, [u64; 3])> {
    let mut found = std::collections::BTreeMap::<TaskId, [u64; 3]>::new();
    for step in &account.path {
        if account.tasks.binary_search(&step.task).is_ok() {
            continue;
        }
        let which = match step.kind {
            Kind::Run | Kind::RunOther => 0,
            kind if kind.is_wait() => 1,
            _ => 2,
        };
        found.entry(step.task).or_default()[which] += sum([step].into_iter());
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, ns)| Reverse(ns.iter().sum::<u64>()));
    found
}
