//! The cgroups of a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use wastenot_model::Workload;
use wastenot_model::workload::Group;

use crate::{Error, Unfit};

/// The cgroups of a workload, which are removed when this is dropped.
#[derive(Debug)]
pub struct Groups {
    /// Below which all are; none if the workload has sessions only.
    base: Option<PathBuf>,
    /// Each group's folder; empty for one without a cgroup.
    paths: Vec<String>,
    /// `cgroup.subtree_control` of the root, if it was changed.
    enabled: Option<PathBuf>,
}

/// How the folders of runs begin.
const NAME: &str = "wastenot-run.";

impl Groups {
    /// Creates the cgroups of `workload` below `root`, where cgroup2 is mounted. Sessions have none.
    ///
    /// # Errors
    /// A cgroup cannot be made or set.
    pub fn new(workload: &Workload, root: Option<&Path>) -> Result<Groups, Error> {
        let paths = vec![String::new(); workload.groups.len()];
        let mut groups = Groups { base: None, paths, enabled: None };
        if !workload.groups.iter().skip(1).any(is_cgroup) {
            return Ok(groups);
        }
        let root = root.ok_or(Error::NoCgroups)?;
        remove_leftovers(root);
        groups.enable(root)?;
        let base = root.join(format!("{NAME}{}", std::process::id()));
        make(&base)?;
        groups.base = Some(base.clone());
        set(&base.join("cgroup.subtree_control"), "+cpu")?;
        for n in 1..workload.groups.len() {
            let group = &workload.groups[n];
            let parent = group.parent.map_or("", |it| groups.paths[it.index()].as_str());
            if !is_cgroup(group) {
                groups.paths[n] = parent.to_owned();
                continue;
            }
            let parent = if parent.is_empty() { &base } else { Path::new(parent) };
            if parent != base.as_path() {
                set(&parent.join("cgroup.subtree_control"), "+cpu")?;
            }
            let path = parent.join(format!("g{n}"));
            make(&path)?;
            // `cpu.weight` 100 is 1024 shares (kernel/sched/core.c, sched_weight_from_cgroup).
            let weight = (u64::from(group.shares) * 100).div_ceil(1024).clamp(1, 10_000);
            set(&path.join("cpu.weight"), &weight.to_string())?;
            if let Some(quota) = group.quota {
                let text = format!("{} {}", quota.runtime.0 / 1000, quota.period.0 / 1000);
                set(&path.join("cpu.max"), &text)?;
            }
            groups.paths[n] = path.display().to_string();
        }
        Ok(groups)
    }

    /// Each group's folder; empty for one without a cgroup.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Refuses what cgroups do not allow: tasks in a group that has groups below it.
    ///
    /// # Errors
    /// There is such a group.
    pub fn fits(workload: &Workload) -> Result<(), Unfit> {
        for (n, group) in workload.groups.iter().enumerate().skip(1) {
            let has_tasks = workload.templates.iter().any(|it| it.group.index() == n);
            let is_above =
                |it: &Group| is_cgroup(it) && it.parent.is_some_and(|it| it.index() == n);
            if has_tasks && is_cgroup(group) && workload.groups.iter().any(is_above) {
                return Err(Unfit::InnerTasks { name: group.name.clone() });
            }
        }
        Ok(())
    }

    fn enable(&mut self, root: &Path) -> Result<(), Error> {
        let control = root.join("cgroup.subtree_control");
        let on = fs::read_to_string(&control).unwrap_or_default();
        if !on.split_whitespace().any(|it| it == "cpu") {
            set(&control, "+cpu")?;
            self.enabled = Some(control);
        }
        Ok(())
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.base.iter().for_each(|base| remove(base));
        if let Some(control) = &self.enabled {
            let _ = fs::write(control, "-cpu");
        }
    }
}

fn is_cgroup(group: &Group) -> bool {
    !group.session
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

/// What a run left that was killed: its number is that of no process.
fn remove_leftovers(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(NAME));
        if number.is_some_and(|number| !Path::new("/proc").join(number).exists()) {
            remove(&entry.path());
        }
    }
}
