//! What the kernel says of sched_ext (/sys/kernel/sched_ext).

use std::collections::BTreeMap;

use crate::read;

/// The folder of its files; one below it for each scheduler, `root` as a rule.
pub const ROOT: &str = "/sys/kernel/sched_ext";

/// `enabled`, `disabled`, or what is between them; `None` if the kernel has no sched_ext.
pub fn state() -> Option<String> {
    read(&format!("{ROOT}/state"))
}

/// Whether a scheduler schedules.
pub fn is_enabled() -> bool {
    state().is_some_and(|it| it == "enabled")
}

/// The name of the scheduler that is loaded now.
pub fn loaded() -> Option<String> {
    state().filter(|it| it != "disabled")?;
    Some(read(&format!("{ROOT}/root/ops")).unwrap_or_default())
}

/// Whether the scheduler that is loaded has only the tasks of the policy SCHED_EXT.
pub fn is_partial() -> bool {
    read(&format!("{ROOT}/switch_all")).is_some_and(|it| it != "1")
}

/// How often CPUs came and went since boot: a scheduler with an older number is refused. To be read
/// before the CPUs.
pub fn hotplugs() -> Option<u64> {
    read(&format!("{ROOT}/hotplug_seq"))?.parse().ok()
}

/// What sched_ext counted of the scheduler that is loaded: `SCX_EV_...`, by name. Kernels before
/// 6.15 do not say.
pub fn events() -> BTreeMap<String, u64> {
    let events = events_of("root").into_iter();
    events.filter_map(|(name, count)| Some((name, count.parse().ok()?))).collect()
}

/// The same of the scheduler with this folder below [`ROOT`], as the kernel writes it.
pub fn events_of(folder: &str) -> Vec<(String, String)> {
    let text = read(&format!("{ROOT}/{folder}/events")).unwrap_or_default();
    let events = text.lines().filter_map(|line| line.split_once(' '));
    events.map(|(name, count)| (name.to_owned(), count.trim().to_owned())).collect()
}
