//! Cgroups to which the fair class gives more or less CPU time than to others: by a weight, or a
//! quota.

use std::path::Path;

use crate::Hierarchy;

/// A cgroup with processes whose weight is not the default, or that has a quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its path within the hierarchy.
    pub path: String,
    /// What is set, as in `cpu.weight 20`.
    pub set: Vec<String>,
}

/// Files that set it, with the text of the default: of version 2, then of version 1.
const FILES: [(&str, &[&str]); 5] = [
    ("cpu.weight", &["100", "0"]), // 0: cpu.idle
    ("cpu.idle", &["0"]),
    ("cpu.max", &["max"]),
    ("cpu.shares", &["1024"]),
    ("cpu.cfs_quota_us", &["-1"]),
];

impl Hierarchy {
    /// All cgroups with tasks, in them or below them, that have such a share.
    pub fn shares(&self) -> Vec<Share> {
        let mut all = Vec::new();
        self.each(|path, folder| {
            let set = set(folder);
            if !set.is_empty() && has_tasks(folder) {
                all.push(Share { path, set });
            }
        });
        all.sort_by(|a, b| a.path.cmp(&b.path));
        all
    }

    /// The same, of those that this process is in: what it starts is in them, too.
    pub fn shares_here(&self) -> Vec<Share> {
        let mut all = self.shares();
        let here = self.here_in(&crate::read("/proc/self/cgroup").unwrap_or_default());
        all.retain(|it| here.as_ref().is_some_and(|here| Path::new(here).starts_with(&it.path)));
        all
    }

    /// The path of a process in this hierarchy, by the text of its /proc/PID/cgroup (cgroups(7)).
    fn here_in(&self, text: &str) -> Option<String> {
        let is_ours = |controllers: &str| match self {
            Hierarchy::V1(_) => controllers.split(',').any(|it| it == "cpu"),
            Hierarchy::V2(_) => controllers.is_empty(),
            Hierarchy::None => false,
        };
        text.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            is_ours(controllers).then(|| path.to_owned())
        })
    }
}

fn set(folder: &Path) -> Vec<String> {
    let one = |(name, default): (&str, &[&str])| {
        let text = crate::read(folder.join(name).to_str()?)?;
        let first = text.split_whitespace().next()?;
        (!default.contains(&first)).then(|| format!("{name} {text}"))
    };
    FILES.into_iter().filter_map(one).collect()
}

fn has_tasks(folder: &Path) -> bool {
    crate::Cgroup::find(folder).is_some_and(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn weights_and_quotas_of_cgroups_with_tasks_are_found() {
        let root = tempfile::tempdir().expect("a folder");
        let group = |path: &str, files: &[(&str, &str)]| {
            let folder = root.path().join(path);
            fs::create_dir_all(&folder).expect("a folder");
            for (name, text) in files {
                fs::write(folder.join(name), text).expect("a file");
            }
        };
        let (tasks, none) = (("cgroup.procs", "17\n"), ("cgroup.procs", ""));
        group("", &[none]);
        group("plain", &[tasks, ("cpu.weight", "100\n"), ("cpu.max", "max 100000\n")]);
        group("web", &[tasks, ("cpu.weight", "20\n"), ("cpu.max", "50000 100000\n")]);
        group("empty", &[none, ("cpu.weight", "20\n")]);
        group("above", &[none, ("cpu.weight", "30\n")]);
        group("above/below", &[tasks, ("cpu.weight", "100\n"), ("cpu.idle", "0\n")]);
        group("idle", &[tasks, ("cpu.weight", "0\n"), ("cpu.idle", "1\n")]);
        let shares = Hierarchy::V2(root.path().to_owned()).shares();
        let found: Vec<String> =
            shares.iter().map(|it| format!("{}: {}", it.path, it.set.join(", "))).collect();
        let expected = [
            "/above: cpu.weight 30",
            "/idle: cpu.idle 1",
            "/web: cpu.weight 20, cpu.max 50000 100000",
        ];
        assert_eq!(found, expected);
        group("old", &[tasks, ("cpu.shares", "2\n"), ("cpu.cfs_quota_us", "-1\n")]);
        let shares = Hierarchy::V1(root.path().to_owned()).shares();
        assert!(shares.iter().any(|it| it.path == "/old" && it.set == ["cpu.shares 2"]));
    }

    #[test]
    fn a_process_is_in_one_cgroup_of_each_hierarchy() {
        let text = "12:cpu,cpuacct:/a/b\n1:name=systemd:/c\n0::/d\n";
        let path = |hierarchy: Hierarchy| hierarchy.here_in(text);
        assert_eq!(path(Hierarchy::V1("/x".into())).as_deref(), Some("/a/b"));
        assert_eq!(path(Hierarchy::V2("/x".into())).as_deref(), Some("/d"));
        assert_eq!((path(Hierarchy::None), Hierarchy::V2("/x".into()).here_in("")), (None, None));
    }
}
