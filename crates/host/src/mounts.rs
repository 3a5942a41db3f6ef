//! The mounts and their places (`/proc/self/mountinfo`, proc_pid_mountinfo(5)).

use std::path::PathBuf;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount<'t> {
    pub(crate) path: PathBuf,
    /// The file system type: `tracefs`, `cgroup2`.
    pub(crate) kind: &'t str,
    /// Options of the file system, not of this mount.
    pub(crate) options: &'t str,
}

/// The mounts in the text of a mountinfo, oldest first.
pub(crate) fn mounts(text: &str) -> impl Iterator<Item = Mount<'_>> {
    text.lines().filter_map(|line| {
        // Optional fields come before the dash, so the fields after it are counted from there.
        let (place, rest) = line.split_once(" - ")?;
        let path = unescaped(place.split(' ').nth(4)?);
        let mut rest = rest.split(' ');
        let (kind, options) = (rest.next()?, rest.nth(1).unwrap_or_default());
        Some(Mount { path: path.into(), kind, options })
    })
}

/// The kernel writes space, tab, line break and backslash as three octal digits.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (code, plain)| path.replace(code, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_fields_move_nothing() {
        let text = "42 23 0:13 / /sys/kernel/tracing rw,relatime - tracefs none rw\n\
                    31 23 0:26 / /mnt/a\\040b rw shared:9 master:1 - cgroup cg rw,cpu,cpuacct\n\
                    garbage\n36 35 98:0 / /x rw - ext4\n";
        let mount = |path: &str, kind, options| Mount { path: path.into(), kind, options };
        let want = [
            mount("/sys/kernel/tracing", "tracefs", "rw"),
            mount("/mnt/a b", "cgroup", "rw,cpu,cpuacct"),
            mount("/x", "ext4", ""),
        ];
        assert_eq!(mounts(text).collect::<Vec<_>>(), want);
    }
}
