//! Cpusets: what the `cpus` of a group leave of the affinities of its tasks.

use wastenot_model::workload::{GroupId, Program, Step};
use wastenot_model::{CpuSet, Workload};

/// Narrows the affinities of tasks, and those that they change to, to the CPUs of their groups.
pub(super) fn confine(workload: &mut Workload) {
    let cpusets: Vec<Option<CpuSet>> =
        (0..workload.groups.len()).map(|n| cpuset(workload, GroupId(n as u32))).collect();
    for n in 0..workload.templates.len() {
        let template = &workload.templates[n];
        let Some(cpus) = &cpusets[template.group.index()] else { continue };
        let affinity = template.affinity.as_ref().map_or_else(|| cpus.clone(), |it| left(it, cpus));
        let steps = template.program.steps().to_vec();
        let steps: Vec<Step> = steps.into_iter().map(|it| narrowed(it, cpus, workload)).collect();
        let template = &mut workload.templates[n];
        template.affinity = Some(affinity);
        // They were nested before.
        template.program = Program::new(steps).unwrap_or_default();
    }
}

/// The CPUs of a group: those that it and all groups above it may use.
fn cpuset(workload: &Workload, group: GroupId) -> Option<CpuSet> {
    let up = |group: &GroupId| workload.groups[group.index()].parent;
    let own = |group: GroupId| workload.groups[group.index()].cpus.clone();
    let all = std::iter::successors(Some(group), up).filter_map(own);
    all.reduce(|below, above| left(&below, &above))
}

/// An affinity without a CPU of its cpuset does not count (kernel/cgroup/cpuset.c).
fn left(affinity: &CpuSet, cpus: &CpuSet) -> CpuSet {
    let both = affinity.and(cpus);
    if both.is_empty() { cpus.clone() } else { both }
}

fn narrowed(step: Step, cpus: &CpuSet, workload: &mut Workload) -> Step {
    let Step::Affinity(id) = step else { return step };
    let narrow = left(&workload.affinities[id.index()], cpus);
    Step::Affinity(workload.affinity_of(narrow))
}
