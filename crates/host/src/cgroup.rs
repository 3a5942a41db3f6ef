//! One cgroup: its folder, and whether any process is left in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mounts::mounts;

/// A cgroup of this machine, of either version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// Finds it by its folder, or by its path below any mounted hierarchy; `None` if there is no
    /// such cgroup.
    pub fn find(path: &Path) -> Option<Cgroup> {
        Cgroup::below(path, &crate::read("/proc/self/mountinfo").unwrap_or_default())
    }

    /// With the hierarchies in the text of a mountinfo.
    fn below(path: &Path, text: &str) -> Option<Cgroup> {
        let inner = path.strip_prefix("/").unwrap_or(path);
        let hierarchies = mounts(text).filter(|mount| mount.kind.starts_with("cgroup"));
        let below = hierarchies.map(|mount| mount.path.join(inner));
        let mut folders = std::iter::once(path.to_owned()).chain(below);
        let folder = folders.find(|folder| folder.join("cgroup.procs").exists())?;
        Some(Cgroup { folder })
    }

    /// Whether no process is left in it and below it; a removed cgroup is empty, too.
    pub fn is_empty(&self) -> bool {
        // Version 2 has a count, which includes threads: cgroup.procs of a threaded cgroup cannot
        // be read (EOPNOTSUPP). The root of version 2 has no count, nor has version 1.
        match fs::read_to_string(self.folder.join("cgroup.events")) {
            Ok(events) => events.lines().any(|line| line == "populated 0"),
            Err(_) => has_nobody(&self.folder),
        }
    }
}

/// By the lists of processes. A list that cannot be read counts as not empty, unless it is gone.
fn has_nobody(folder: &Path) -> bool {
    let is_gone = || matches!(folder.try_exists(), Ok(false));
    match fs::read_to_string(folder.join("cgroup.procs")) {
        Ok(processes) if !processes.is_empty() => return false,
        Ok(_) => {}
        Err(_) => return is_gone(),
    }
    let Ok(entries) = fs::read_dir(folder) else { return is_gone() };
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.flatten().filter(is_folder).all(|inner| has_nobody(&inner.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with files of these names and texts.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    fn is_empty(files: &[(&str, &str)]) -> bool {
        let root = folder(files);
        Cgroup { folder: root.path().to_owned() }.is_empty()
    }

    #[test]
    fn it_is_empty_when_the_kernel_says_so() {
        let (none, some) = (("cgroup.procs", ""), ("cgroup.procs", "17\n"));
        assert!(is_empty(&[none, ("cgroup.events", "populated 0\nfrozen 0\n")]));
        // Threads of processes that are in another cgroup.
        assert!(!is_empty(&[none, ("cgroup.events", "populated 1\nfrozen 0\n")]));
        // Version 1.
        assert!(is_empty(&[none, ("inner/cgroup.procs", "")]));
        assert!(!is_empty(&[some]) && !is_empty(&[none, ("inner/deep/cgroup.procs", "")]));
        assert!(!is_empty(&[none, ("inner/cgroup.procs", "17\n")]));
    }

    #[test]
    fn what_cannot_be_read_is_not_empty_unless_it_is_gone() {
        // A list that is not text cannot be read.
        let root = folder(&[("group/cgroup.procs/file", "")]);
        let group = Cgroup { folder: root.path().join("group") };
        assert!(!group.is_empty());
        fs::remove_dir_all(&group.folder).expect("removed");
        assert!(group.is_empty());
    }

    #[test]
    fn it_is_found_by_its_folder_and_by_its_path() {
        let root = folder(&[("cg 1/build/cgroup.procs", ""), ("cg2/web/cgroup.procs", "")]);
        let place = root.path().display();
        let text = format!(
            "30 20 0:5 / {place}/cg\\0401 rw shared:1 - cgroup none rw,cpu\n\
             31 20 0:6 / {place}/cg2 rw - cgroup2 none rw\n"
        );
        let find = |path: &str| Cgroup::below(Path::new(path), &text).map(|it| it.folder);
        assert_eq!(find("/build"), Some(root.path().join("cg 1/build")));
        assert_eq!(find("web"), Some(root.path().join("cg2/web")));
        let folder = root.path().join("cg2/web");
        assert_eq!(Cgroup::below(&folder, "").map(|it| it.folder), Some(folder));
        assert_eq!(find("/nonesuch"), None);
    }
}
