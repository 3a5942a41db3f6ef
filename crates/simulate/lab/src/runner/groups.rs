//! The cgroups of a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wastenot_host::Hierarchy;
use wastenot_model::Workload;
use wastenot_model::workload::{Group, Quota};

use crate::runner::{Error, Unfit};

/// What a group of a workload needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wanted {
    /// Its name in the scenario, as far as a folder can have it: policies look at it.
    name: String,
    /// Whether it is a cgroup; else it is a session, or the root.
    is_cgroup: bool,
    parent: Option<usize>,
    /// `cpu.weight`.
    weight: u64,
    /// `cpu.max`.
    quota: Option<String>,
    /// `cpuset.cpus`.
    cpus: Option<String>,
}

impl Wanted {
    /// What the groups of `workload` need.
    ///
    /// # Errors
    /// Tasks are in a group that has groups below it: cgroups do not allow that.
    pub(crate) fn of(workload: &Workload) -> Result<Vec<Wanted>, Unfit> {
        let groups = &workload.groups;
        let mut all = Vec::new();
        for (n, group) in groups.iter().enumerate() {
            let is_cgroup = |group: &Group| group.parent.is_some() && !group.session;
            let has_tasks = workload.templates.iter().any(|it| it.group.index() == n);
            let is_below =
                |it: &Group| is_cgroup(it) && it.parent.is_some_and(|it| it.index() == n);
            if has_tasks && is_cgroup(group) && groups.iter().any(is_below) {
                return Err(Unfit::InnerTasks { name: group.name.clone() });
            }
            let quota = |it: Quota| format!("{} {}", it.runtime.0 / 1000, it.period.0 / 1000);
            all.push(Wanted {
                name: folder(&group.name),
                is_cgroup: is_cgroup(group),
                parent: group.parent.map(|it| it.index()),
                // 100 is 1024 shares (kernel/sched/core.c, sched_weight_from_cgroup).
                weight: (u64::from(group.shares) * 100).div_ceil(1024).clamp(1, 10_000),
                quota: group.quota.map(quota),
                cpus: group.cpus.as_ref().map(ToString::to_string),
            });
        }
        Ok(all)
    }
}

/// So long may the name of a folder be: paths have a limit in the plan.
const LETTERS: usize = 32;

/// The name of a group without what paths mean something by.
fn folder(name: &str) -> String {
    let plain = |letter: char| match letter {
        '/' => '-',
        letter if letter.is_ascii_graphic() => letter,
        _ => '_',
    };
    name.chars().map(plain).take(LETTERS).collect::<String>().trim_start_matches('.').to_owned()
}

/// The cgroups of a run, which are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Below which all are; none if there are sessions only.
    base: Option<PathBuf>,
    /// Each group's folder; empty for one without a cgroup.
    pub(crate) paths: Vec<String>,
    /// The controllers that were enabled for this in the root.
    enabled: Vec<(PathBuf, &'static str)>,
}

/// How the folders of runs begin.
const NAME: &str = "wastenot-run.";

impl Groups {
    /// Creates the cgroups in the unified hierarchy of this machine.
    ///
    /// # Errors
    /// A cgroup cannot be made or set.
    pub(crate) fn new(wanted: &[Wanted]) -> Result<Groups, Error> {
        let paths = vec![String::new(); wanted.len()];
        let mut groups = Groups { base: None, paths, enabled: Vec::new() };
        if !wanted.iter().any(|it| it.is_cgroup) {
            return Ok(groups);
        }
        let Hierarchy::V2(root) = Hierarchy::here() else { return Err(Error::NoCgroups) };
        remove_leftovers(&root);
        let controllers = match wanted.iter().any(|it| it.cpus.is_some()) {
            true => &["cpu", "cpuset"][..],
            false => &["cpu"],
        };
        groups.enable(&root, controllers)?;
        let own = std::process::id();
        let base = root.join(format!("{NAME}{own}.{}", started(own).unwrap_or_default()));
        make(&base)?;
        groups.base = Some(base.clone());
        let enable = |folder: &Path| {
            let control = folder.join("cgroup.subtree_control");
            controllers.iter().try_for_each(|it| set(&control, &format!("+{it}")))
        };
        enable(&base)?;
        for (n, it) in wanted.iter().enumerate() {
            let above = it.parent.map(|above| groups.paths[above].clone()).unwrap_or_default();
            if !it.is_cgroup {
                groups.paths[n] = above;
                continue;
            }
            let parent = if above.is_empty() { base.clone() } else { PathBuf::from(above) };
            enable(&parent)?;
            let mut path = parent.join(&it.name);
            if it.name.is_empty() || path.exists() {
                path = parent.join(format!("{}.{n}", it.name));
            }
            make(&path)?;
            set(&path.join("cpu.weight"), &it.weight.to_string())?;
            if let Some(quota) = &it.quota {
                set(&path.join("cpu.max"), quota)?;
            }
            if let Some(cpus) = &it.cpus {
                set(&path.join("cpuset.cpus"), cpus)?;
            }
            groups.paths[n] = path.display().to_string();
        }
        Ok(groups)
    }

    fn enable(&mut self, root: &Path, controllers: &[&'static str]) -> Result<(), Error> {
        let control = root.join("cgroup.subtree_control");
        let on = fs::read_to_string(&control).unwrap_or_default();
        for controller in controllers {
            if !on.split_whitespace().any(|it| it == *controller) {
                set(&control, &format!("+{controller}"))?;
                self.enabled.push((control.clone(), controller));
            }
        }
        Ok(())
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.base.iter().for_each(|base| remove(base));
        for (control, controller) in &self.enabled {
            let _ = fs::write(control, format!("-{controller}"));
        }
    }
}

fn make(path: &Path) -> Result<(), Error> {
    let failed = |error| Error::Cgroup { doing: "make", path: path.display().to_string(), error };
    fs::create_dir(path).map_err(failed)
}

fn set(file: &Path, value: &str) -> Result<(), Error> {
    let failed = |error| Error::Cgroup { doing: "set", path: file.display().to_string(), error };
    fs::write(file, value).map_err(failed)
}

/// Removes a cgroup and all below it; what runs there is ended.
fn remove(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    // A task that has just ended may still be there for a moment.
    for _ in 0..100 {
        match fs::remove_dir(base) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                let _ = fs::write(base.join("cgroup.kill"), "1");
                sleep(Duration::from_millis(10));
            }
            _ => return,
        }
    }
}

/// Removes what runs left that were killed.
fn remove_leftovers(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(is_left) {
            remove(&entry.path());
        }
    }
}

/// Whether a folder is of a run that is gone: there is no such process, or another one has its
/// number by now. Containers that share a hierarchy often have the same numbers.
fn is_left(folder: &str) -> bool {
    let Some(who) = folder.strip_prefix(NAME) else { return false };
    let (number, start) = who.split_once('.').unwrap_or((who, ""));
    let Ok(number) = number.parse() else { return false };
    started(number).is_none_or(|it| it != start)
}

/// When a process started, in the kernel's ticks since boot (proc(5), `starttime`).
fn started(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second word is a name in parentheses; this is the 22nd.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_left_if_its_process_is_gone_or_another_one_has_its_number() {
        let own = std::process::id();
        let start = started(own).expect("a start");
        assert!(start.parse::<u64>().is_ok_and(|it| it > 0), "{start}");
        assert!(!is_left(&format!("{NAME}{own}.{start}")));
        assert!(is_left(&format!("{NAME}{own}.1")) && is_left(&format!("{NAME}{own}")));
        assert!(is_left(&format!("{NAME}{}.1", u32::MAX)));
        assert!(!is_left("system.slice") && !is_left("wastenot-run.mine"));
    }
}
