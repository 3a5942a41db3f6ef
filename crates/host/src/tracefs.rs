//! The place of tracefs.

use std::path::PathBuf;

use crate::mounts::mounts;

/// The root of tracefs. `None` if it is not mounted: mounting it would change the system.
pub fn find() -> Option<PathBuf> {
    place(&crate::read("/proc/self/mountinfo")?)
}

/// From the text of a mountinfo. Within debugfs, the first access mounts tracefs (since Linux 4.1;
/// before, it was a folder there).
pub(crate) fn place(text: &str) -> Option<PathBuf> {
    let of = |kind| mounts(text).find(move |mount| mount.kind == kind).map(|mount| mount.path);
    of("tracefs").or_else(|| Some(of("debugfs")?.join("tracing")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_own_mount_comes_before_the_one_in_debugfs() {
        let debugfs = "43 23 0:8 / /sys/kernel/debug rw - debugfs nodev rw\n";
        let tracefs = "42 23 0:13 / /sys/kernel/tracing rw - tracefs none rw\n";
        let both = format!("{debugfs}{tracefs}");
        assert_eq!(place(&both), Some("/sys/kernel/tracing".into()));
        assert_eq!(place(debugfs), Some("/sys/kernel/debug/tracing".into()));
        assert_eq!(place("24 1 0:5 / /proc rw - proc none rw\n"), None);
    }
}
