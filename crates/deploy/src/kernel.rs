//! What the kernel says of sched_ext (/sys/kernel/sched_ext).

use std::collections::BTreeMap;

use wastenot_host::read;

const ROOT: &str = "/sys/kernel/sched_ext";

/// Whether there is sched_ext at all.
pub(crate) fn is_there() -> bool {
    read(&format!("{ROOT}/state")).is_some()
}

/// The name of the scheduler that is loaded now.
pub fn loaded() -> Option<String> {
    let state = read(&format!("{ROOT}/state")).filter(|it| it != "disabled");
    state.map(|_| read(&format!("{ROOT}/root/ops")).unwrap_or_default())
}

/// How often CPUs came and went since boot: a scheduler with an older number is refused. To be read
/// before the CPUs.
pub fn hotplugs() -> Option<u64> {
    read(&format!("{ROOT}/hotplug_seq"))?.parse().ok()
}

/// What sched_ext counted of the scheduler that is loaded: `SCX_EV_...`, by name. Kernels before
/// 6.15 do not say.
pub fn events() -> BTreeMap<String, u64> {
    let text = read(&format!("{ROOT}/root/events")).unwrap_or_default();
    let event = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    };
    text.lines().filter_map(event).collect()
}
