//! Whether two Histories tell the same, up to what both carry.

use std::collections::HashMap;

use crate::{By, Carries, Change, Context, Entry, Event, History, How, Left, Prio, TaskId};

/// The first place where two Histories differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which entry, counted in those that both can tell.
    pub index: usize,
    /// One line: what the left one says and what the right one says.
    pub note: String,
}

impl History {
    /// Compares event by event under the AND of what both carry. Task ids may be numbered
    /// differently; tids, names (where carried) and order may not.
    pub fn same(&self, other: &History) -> Result<(), Difference> {
        let carries = self.head.carries & other.head.carries;
        let mut pairs = Pairs { ours: HashMap::new(), theirs: HashMap::new() };
        let mut ours = self.entries().filter_map(|entry| reduce(entry, carries));
        let mut theirs = other.entries().filter_map(|entry| reduce(entry, carries));
        for index in 0.. {
            let (a, b) = (ours.next(), theirs.next());
            let note = match (a, b) {
                (None, None) => return Ok(()),
                (Some(a), Some(b)) => match self.differ(a, other, b, carries, &mut pairs) {
                    None => continue,
                    Some(note) => note,
                },
                (Some(a), None) => format!("only in the left trace: {a:?}"),
                (None, Some(b)) => format!("only in the right trace: {b:?}"),
            };
            return Err(Difference { index, note });
        }
        Ok(())
    }

    fn differ(
        &self,
        a: Entry,
        other: &History,
        b: Entry,
        carries: Carries,
        pairs: &mut Pairs,
    ) -> Option<String> {
        let renamed = b.with_tasks(|task| pairs.ours_for(task));
        let tasks_a = tasks_of(&a);
        let tasks_b = tasks_of(&b);
        for (&ours, &theirs) in tasks_a.iter().zip(&tasks_b) {
            if pairs.pair(ours, theirs) {
                continue;
            }
            let tids = (self.task(ours).map(|t| t.tid), other.task(theirs).map(|t| t.tid));
            let names = (self.task_name(ours), other.task_name(theirs));
            let same_name = !carries.has(Carries::NAMES) || names.0 == names.1;
            if tids.0 != tids.1 || !same_name || !pairs.join(ours, theirs) {
                return Some(format!("task {names:?} {tids:?} in {a:?} and {b:?}"));
            }
        }
        let renamed = match tasks_a.len() == tasks_b.len() {
            true => b.with_tasks(|task| pairs.ours_for(task)),
            false => renamed,
        };
        (a != renamed).then(|| format!("left {a:?}, right {renamed:?}"))
    }
}

/// Which task here is which task there.
struct Pairs {
    ours: HashMap<TaskId, TaskId>,
    theirs: HashMap<TaskId, TaskId>,
}

impl Pairs {
    fn pair(&self, ours: TaskId, theirs: TaskId) -> bool {
        ours.is_idle() && ours == theirs || self.ours.get(&ours) == Some(&theirs)
    }
    fn join(&mut self, ours: TaskId, theirs: TaskId) -> bool {
        if ours.is_idle() || theirs.is_idle() {
            return false;
        }
        let new = !self.ours.contains_key(&ours) && !self.theirs.contains_key(&theirs);
        self.ours.insert(ours, theirs);
        self.theirs.insert(theirs, ours);
        new
    }
    fn ours_for(&self, theirs: TaskId) -> TaskId {
        self.theirs.get(&theirs).copied().unwrap_or(theirs)
    }
}

fn tasks_of(entry: &Entry) -> Vec<TaskId> {
    let mut tasks = Vec::new();
    entry.each_task(|task| tasks.push(task));
    tasks
}

/// The entry as a source with these abilities would tell it; `None` when it would not.
fn reduce(mut entry: Entry, carries: Carries) -> Option<Entry> {
    let needs = match entry.event {
        Event::Switch { .. } => Carries::NONE,
        Event::Waking { .. } => Carries::WAKINGS,
        Event::Queued { how: How::New, .. } => Carries::NEW,
        Event::Queued { .. } => Carries::WAKEUPS,
        Event::Migrate { .. } => Carries::MIGRATIONS,
        Event::Fork { .. } => Carries::FORKS,
        Event::Exec { .. } => Carries::EXECS,
        Event::Exit { .. } => Carries::EXITS,
        Event::Cpu { .. } => Carries::HOTPLUG,
        Event::Freq { .. } => Carries::FREQ,
        Event::Lost { .. } => Carries::LOSSES,
        // Names are compared with the task; when a source notices a new one differs.
        Event::Changed { what: Change::Name(_) | Change::Cgroup(_), .. } => return None,
        Event::Changed { what, .. } => match what {
            Change::Throttled(_) => Carries::THROTTLING,
            Change::Policy(_) | Change::Nice(_) => Carries::POLICY,
            _ => Carries::AFFINITY,
        },
        Event::Decided { .. } => return None,
    };
    if !carries.has(needs) {
        return None;
    }
    if !carries.has(Carries::WAKERS) && !matches!(entry.event, Event::Switch { .. }) {
        entry.by = By::UNKNOWN;
    }
    if !carries.has(Carries::CONTEXT) {
        entry.by.context = Context::Unknown;
    }
    match &mut entry.event {
        Event::Switch { left, prev_prio, next_prio, .. } => {
            if !carries.has(Carries::LEFT) {
                *left = Left::Unknown;
            }
            if !carries.has(Carries::PRIO) {
                (*prev_prio, *next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
            }
        }
        Event::Waking { prio, .. } | Event::Queued { prio, .. } if !carries.has(Carries::PRIO) => {
            *prio = Prio::UNKNOWN;
        }
        _ => {}
    }
    if let Event::Queued { how, .. } = &mut entry.event
        && !carries.has(Carries::NO_SELECTION)
        && *how == How::NoSelection
    {
        *how = How::Wakeup;
    }
    // An affinity is compared as a change only: masks are interned per History.
    if let Event::Changed { what: Change::Affinity(mask), .. } = &mut entry.event {
        mask.0 = 0;
    }
    Some(entry)
}
