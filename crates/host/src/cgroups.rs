//! The paths of cgroups. The kernel identifies a cgroup by the number of its node in cgroupfs.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::mounts::mounts;

/// The cgroups of the hierarchy that schedules CPU time.
#[derive(Debug)]
pub struct Cgroups {
    hierarchy: Hierarchy,
    paths: HashMap<u64, String>,
    unknown: HashMap<u64, String>,
}

/// How many removed cgroups are remembered.
const GONE: usize = 1024;

/// The place of that hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hierarchy {
    /// The cpu controller has a hierarchy of its own.
    V1(PathBuf),
    /// The unified hierarchy.
    V2(PathBuf),
    /// No hierarchy is mounted.
    None,
}

impl Hierarchy {
    /// The hierarchy of this machine.
    pub fn here() -> Hierarchy {
        Hierarchy::of(&crate::read("/proc/self/mountinfo").unwrap_or_default())
    }

    /// From the text of a mountinfo.
    fn of(text: &str) -> Hierarchy {
        let mut unified = None;
        for mount in mounts(text) {
            match mount.kind {
                "cgroup" if mount.options.split(',').any(|option| option == "cpu") => {
                    return Hierarchy::V1(mount.path);
                }
                "cgroup2" if unified.is_none() => unified = Some(mount.path),
                _ => {}
            }
        }
        unified.map_or(Hierarchy::None, Hierarchy::V2)
    }

    /// Calls `each` with the path within the hierarchy, and the folder, of every cgroup.
    pub fn each(&self, mut each: impl FnMut(String, &Path)) {
        let (Hierarchy::V1(root) | Hierarchy::V2(root)) = self else { return };
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            let path = folder.strip_prefix(root).unwrap_or(&folder);
            each(format!("/{}", path.display()), &folder);
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(inner.map(|entry| entry.path()));
        }
    }
}

impl Cgroups {
    /// The cgroups that exist now.
    pub fn of(hierarchy: &Hierarchy) -> Cgroups {
        let hierarchy = hierarchy.clone();
        let mut cgroups = Cgroups { hierarchy, paths: HashMap::new(), unknown: HashMap::new() };
        cgroups.scan();
        cgroups
    }

    fn scan(&mut self) {
        let mut paths = HashMap::new();
        self.hierarchy.each(|path, folder| {
            if let Ok(meta) = fs::metadata(folder) {
                paths.insert(meta.ino(), path);
            }
        });
        // Events may still refer to a cgroup that was just removed, but not to every one that ever
        // existed.
        if self.paths.len() > 2 * paths.len() + GONE {
            self.paths.clear();
        }
        self.paths.extend(paths);
        if self.unknown.len() > GONE {
            self.unknown.clear();
        }
    }

    /// The path of a cgroup within its hierarchy; `cgroup:ID` if it was removed before it was seen.
    /// An autogroup (sched(7)) is a task group without a node: its tasks are in the root.
    pub fn path(&mut self, id: u64) -> &str {
        if id == 0 {
            return "/";
        }
        if !self.paths.contains_key(&id) && !self.unknown.contains_key(&id) {
            self.scan();
            if !self.paths.contains_key(&id) {
                self.unknown.insert(id, format!("cgroup:{id}"));
            }
        }
        self.paths.get(&id).or_else(|| self.unknown.get(&id)).map_or("", |path| path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_group_without_a_node_is_in_the_root() {
        let mut cgroups = Cgroups::of(&Hierarchy::None);
        assert_eq!((cgroups.path(0).to_owned(), cgroups.path(7)), ("/".into(), "cgroup:7"));
    }

    #[test]
    fn a_cpu_controller_of_its_own_goes_before_the_unified_hierarchy() {
        let line = |path: &str, kind: &str, options: &str| {
            format!("30 20 0:5 / {path} rw,relatime shared:1 - {kind} none rw,{options}\n")
        };
        let unified = line("/sys/fs/cgroup/unified", "cgroup2", "");
        let cpu = line("/sys/fs/cgroup/cpu", "cgroup", "cpu,cpuacct");
        let cpuset = line("/sys/fs/cgroup/cpuset", "cgroup", "cpuset");
        let v1 = Hierarchy::V1("/sys/fs/cgroup/cpu".into());
        assert_eq!(Hierarchy::of(&[&*unified, &cpuset, &cpu].concat()), v1);
        let v2 = Hierarchy::V2("/sys/fs/cgroup/unified".into());
        assert_eq!(Hierarchy::of(&[&*cpuset, &unified].concat()), v2);
        assert_eq!(Hierarchy::of("nonsense\n"), Hierarchy::None);
    }
}
