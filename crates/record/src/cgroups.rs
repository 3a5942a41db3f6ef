//! Which path a cgroup has. The kernel names cgroups by the number of their node in cgroupfs.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
    /// By what is mounted; `mounts` is /proc/self/mountinfo.
    pub(crate) fn of(mounts: &str) -> Hierarchy {
        let mut unified = None;
        for line in mounts.lines() {
            let Some((place, kind)) = line.split_once(" - ") else { continue };
            let Some(path) = place.split(' ').nth(4) else { continue };
            let mut kind = kind.split(' ');
            let (name, options) = (kind.next(), kind.nth(1).unwrap_or_default());
            match name {
                Some("cgroup") if options.split(',').any(|option| option == "cpu") => {
                    return Hierarchy::V1(path.into());
                }
                Some("cgroup2") if unified.is_none() => unified = Some(path),
                _ => {}
            }
        }
        unified.map_or(Hierarchy::None, |path| Hierarchy::V2(path.into()))
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
