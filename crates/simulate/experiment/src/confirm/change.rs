//! Changes, and which of them should remove the loss of a cause.

use crate::extract::Extracted;
use wastenot_check::causes::is_within;
use wastenot_model::workload::{Program, Step};
use wastenot_model::{History, Workload};
use wastenot_scenario::scenario::Choice;
use wastenot_sim::{Scheduler, Settings};

use crate::{Error, choice, what_if};

/// One change to what ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another value of a tunable of the model.
    Tunable {
        /// Its name.
        name: &'static str,
        /// The value that it must have before.
        from: &'static str,
        /// The value that it gets.
        to: &'static str,
        /// What that is on a machine, in a sentence.
        how: &'static str,
    },
    /// Tasks other than kernel threads may run on all CPUs.
    Affinities,
    /// No quota holds a task back.
    Quotas,
    /// Another scheduler.
    Scheduler(&'static str),
}

const OWN_GROUPS: Change = Change::Tunable {
    name: "groups",
    from: "core0",
    to: "own-balanced",
    how: "Since version 4.13, Linux builds the scheduling groups of each CPU from that CPU's own \
          view of the nodes.",
};
const MINIMUM: Change = Change::Tunable {
    name: "imbalance",
    from: "average",
    to: "minimum",
    how: "When the balancer compares two groups of CPUs, it uses the load of the least loaded CPU \
          of each group. Lozi et al. (EuroSys 2016, section 3.1) have a patch for this. Since \
          version 5.5, Linux compares two groups by their numbers of tasks and by their numbers of \
          idle CPUs (0b0695f2b34a).",
};
const NO_AUTOGROUP: Change = Change::Tunable {
    name: "autogroup",
    from: "on",
    to: "off",
    how: "Set sysctl kernel.sched_autogroup_enabled=0, or boot with noautogroup.",
};
const KEPT_LEVELS: Change = Change::Tunable {
    name: "numa-levels",
    from: "lose",
    to: "keep",
    how: "Since version 4.9, Linux rebuilds the domains between nodes when a CPU comes back online \
          (8f37961cf223). On older kernels, do not take CPUs offline.",
};
const PREVIOUS_IDLE: Change = Change::Tunable {
    name: "wake-affine-idle",
    from: "before",
    to: "after",
    how: "Linux 5.11 and later place a woken task on its previous CPU if that CPU is idle \
          (d8fcb81f1acf).",
};
const LONGEST_IDLE: Change = Change::Tunable {
    name: "wakeup",
    from: "llc",
    to: "longest-idle",
    how: "A woken task goes to its previous CPU if that CPU is idle. Otherwise, the task goes to \
          the CPU of the machine that has been idle longest. Lozi et al. (EuroSys 2016, section \
          3.3) have a patch for this. No release of Linux does this.",
};
const OTHER: Change = Change::Scheduler(what_if::YARDSTICK);

/// Nodes of the tree of causes with the changes that should remove their loss, the most specific
/// node first. What stands with a node goes for those below and above it, too.
const KNOWN: &[(&str, &[Change])] = &[
    ("configuration/affinity", &[Change::Affinities]),
    ("configuration/quota", &[Change::Quotas]),
    ("scheduler/balancing/after-hotplug", &[KEPT_LEVELS]),
    ("scheduler/balancing/missing-domains", &[KEPT_LEVELS]),
    ("scheduler/balancing/beyond-one-hop", &[OWN_GROUPS]),
    ("scheduler/balancing/beside-group", &[MINIMUM, NO_AUTOGROUP]),
    ("scheduler/balancing", &[MINIMUM, OWN_GROUPS, KEPT_LEVELS, LONGEST_IDLE]),
    ("scheduler/placement/previous-idle", &[PREVIOUS_IDLE]),
    ("scheduler/placement", &[LONGEST_IDLE]),
    ("scheduler", &[OTHER]),
    ("design", &[OTHER]),
];

/// The changes to the tunables of a scheduler that should remove the loss of `cause`, a node of the
/// tree, and the scheduler with each: those of the most specific node above it that has some. None
/// where the scheduler has no such tunable, or has it set so already.
pub fn removing(cause: &str, model: &Choice) -> Vec<(Change, Choice)> {
    let rows = KNOWN.iter().filter(|(node, _)| is_within(cause, node));
    let tuned = |change: &Change| Some((*change, change.tuned(model)?));
    let mut rows = rows.map(|(_, changes)| changes.iter().filter_map(tuned).collect::<Vec<_>>());
    rows.find(|changes| !changes.is_empty()).unwrap_or_default()
}

/// The changes that should remove the loss of `cause`, a node of the tree, and that are changes:
/// those that `model` and `work` have.
pub(super) fn known(cause: &str, model: &Choice, work: &Extracted) -> Vec<Change> {
    let rows = KNOWN.iter().filter(|(node, _)| is_within(cause, node) || is_within(node, cause));
    let mut found: Vec<Change> = Vec::new();
    for change in rows.flat_map(|(_, changes)| *changes) {
        if change.changes(model, work) && !found.contains(change) {
            found.push(*change);
        }
    }
    found
}

impl Change {
    /// A scheduler with another value of the tunable, if it is such a change to it.
    fn tuned(&self, model: &Choice) -> Option<Choice> {
        let Change::Tunable { name, from, to, .. } = *self else { return None };
        let kind = Scheduler::named(&model.name)?;
        kind.tunable(name)?;
        let set = Settings::of(kind, &model.tunables).ok()?;
        let mut changed = model.clone();
        changed.tunables.retain(|(known, _)| known != name);
        changed.tunables.push((name.to_owned(), to.to_owned()));
        (set.word(name) == from).then_some(changed)
    }

    fn changes(&self, model: &Choice, work: &Extracted) -> bool {
        match *self {
            Change::Tunable { .. } => self.tuned(model).is_some(),
            Change::Affinities => {
                let bound = |step: &Step| matches!(step, Step::Affinity(_));
                let mut tasks = work.workload.templates.iter().filter(|task| !task.kthread);
                tasks.any(|it| it.affinity.is_some() || it.program.steps().iter().any(bound))
            }
            Change::Quotas => work.held.0 > 0,
            Change::Scheduler(name) => model.name != name,
        }
    }

    /// The scheduler and the work with this change.
    pub(super) fn apply(
        &self,
        history: &History,
        model: &Choice,
        work: &Extracted,
    ) -> Result<(Choice, Extracted), Error> {
        let (mut model, mut work) = (model.clone(), work.clone());
        match *self {
            Change::Tunable { .. } => model = self.tuned(&model).unwrap_or(model),
            Change::Affinities => free(&mut work.workload),
            Change::Quotas => work = what_if::work(history, None, false)?,
            Change::Scheduler(name) => model = Choice::named(name),
        }
        choice::policy(&model)?;
        Ok((model, work))
    }

    /// In words, as in `--scheduler`.
    pub fn label(&self) -> String {
        match *self {
            Change::Tunable { name, to, .. } => format!("{name}={to}"),
            Change::Affinities => "no affinities".into(),
            Change::Quotas => "no quotas".into(),
            Change::Scheduler(name) => format!("scheduler {name}"),
        }
    }

    /// What it is on a machine.
    pub fn how(&self) -> &'static str {
        match self {
            Change::Tunable { how, .. } => how,
            Change::Affinities => {
                "All tasks except kernel threads may run on every CPU: change taskset(1), \
                 cpuset.cpus of the cgroup, or isolcpus=."
            }
            Change::Quotas => {
                "CPU time has no limit: change cpu.max of the cgroup and of its ancestors."
            }
            Change::Scheduler(_) => {
                "A waiting task starts at once on any idle CPU. No release of Linux does this, but \
                 a BPF scheduler can do it (sched_ext, `wastenot rota emit`)."
            }
        }
    }

    /// Whether nothing is lost with it by definition, so that only the makespan tells what the loss
    /// cost.
    pub(super) fn ends_it_by_definition(&self) -> bool {
        !matches!(self, Change::Tunable { .. })
    }
}

/// Unbinds all tasks but kernel threads.
fn free(workload: &mut Workload) {
    for task in workload.templates.iter_mut().filter(|task| !task.kthread) {
        task.affinity = None;
        let steps = task.program.steps().iter().copied();
        let steps = steps.filter(|step| !matches!(step, Step::Affinity(_))).collect();
        task.program = Program::new(steps).expect("as nested as it was");
    }
}

#[cfg(test)]
mod tests {
    use wastenot_check::causes::{TREE, node};

    use super::*;

    #[test]
    fn every_node_is_one_of_the_tree_and_every_value_one_of_its_tunable() {
        for (path, changes) in KNOWN {
            assert_eq!(node(path), Ok(*path));
            for change in *changes {
                match *change {
                    Change::Tunable { name, from, to, .. } => {
                        let model = Choice {
                            tunables: vec![(name.to_owned(), from.to_owned())],
                            ..Choice::named("cfs-4.1")
                        };
                        choice::policy(&model).unwrap_or_else(|error| panic!("{error}"));
                        let tunables = vec![(name.to_owned(), to.to_owned())];
                        choice::policy(&Choice { tunables, ..model }).map(drop).expect("a value");
                    }
                    Change::Scheduler(name) => drop(choice::policy(&Choice::named(name))),
                    Change::Affinities | Change::Quotas => {}
                }
            }
        }
    }

    #[test]
    fn nodes_stand_before_those_above_them() {
        for (n, (path, _)) in KNOWN.iter().enumerate() {
            assert!(KNOWN[..n].iter().all(|(before, _)| !is_within(path, before)), "{path}");
        }
        let of_the_kernel = TREE.iter().filter(|cause| cause.is_within("scheduler"));
        assert!(of_the_kernel.count() > 10);
    }
}
