//! Which path a cgroup has. The kernel names cgroups by the number of their node in cgroupfs.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::mounts::mounts;

/// The cgroups of the hierarchy that schedules CPU time.
#[derive(Debug)]
pub(crate) struct Cgroups {
    root: Option<PathBuf>,
    paths: HashMap<u64, String>,
    unknown: HashMap<u64, String>,
}

/// Where that hierarchy is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hierarchy {
    /// The cpu controller has one of its own.
    V1(PathBuf),
    /// The unified one.
    V2(PathBuf),
    None,
}

impl Hierarchy {
    /// By the text of a mountinfo.
    pub(crate) fn of(text: &str) -> Hierarchy {
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

    pub(crate) fn root(&self) -> Option<&Path> {
        match self {
            Hierarchy::V1(path) | Hierarchy::V2(path) => Some(path),
            Hierarchy::None => None,
        }
    }
}

impl Cgroups {
    /// Those that there are now.
    pub(crate) fn of(hierarchy: &Hierarchy) -> Cgroups {
        let root = hierarchy.root().map(Path::to_owned);
        let mut cgroups = Cgroups { root, paths: HashMap::new(), unknown: HashMap::new() };
        cgroups.scan();
        cgroups
    }

    fn scan(&mut self) {
        let Some(root) = self.root.clone() else { return };
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            if let Ok(meta) = fs::metadata(&folder) {
                let path = folder.strip_prefix(&root).unwrap_or(&folder);
                self.paths.insert(meta.ino(), format!("/{}", path.display()));
            }
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(inner.map(|entry| entry.path()));
        }
    }

    /// The path of a cgroup within its hierarchy; `cgroup:ID` where it went before it was seen.
    pub(crate) fn path(&mut self, id: u64) -> &str {
        if !self.paths.contains_key(&id) && !self.unknown.contains_key(&id) {
            self.scan();
            if !self.paths.contains_key(&id) {
                self.unknown.insert(id, format!("cgroup:{id}"));
            }
        }
        self.paths.get(&id).or_else(|| self.unknown.get(&id)).map_or("", |path| path)
    }
}
