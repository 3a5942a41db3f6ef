//! What tests need of the machine that they run on, and how it is left as it was.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::TempDir;
use wastenot_needs::skipped;

/// One at a time: each makes the whole machine misbehave.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An address of the loopback that nobody listens on.
pub(super) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

/// Busy tasks. A shell keeps them, and ends them and restores everything when its standard input
/// ends: when this is dropped, when a test panics, and when it is killed with -9.
pub(super) struct Hogs {
    keeper: Child,
    _program: TempDir,
}

const CPUSET: &str = "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance";
const QUOTA: &str = "/sys/fs/cgroup/cpu/cpu.cfs_quota_us";

/// Two tasks that may run on CPUs 0 and 1 stay on CPU 0, since nobody balances. Whatever else is
/// busy is driven there first, by heavy tasks on CPU 1, while it is still balanced.
const STUCK: &str = r#"
    flags=$(find /sys/fs/cgroup/cpuset -name cpuset.sched_load_balance)
    heavy=/sys/fs/cgroup/cpu/wastenot-test-$$
    restore() {
        kill $a $b $c $d 2>/dev/null; wait
        for f in $on; do echo 1 > "$f"; done
        [ -d "$heavy" ] && rmdir "$heavy"
    }
    on= a= b= c= d=
    for f in $flags; do [ "$(cat "$f")" = 1 ] && on="$on $f"; done
    trap restore EXIT
    taskset -c 0 "$HOG" -c 'while :; do :; done' & a=$!
    taskset -c 0 "$HOG" -c 'while :; do :; done' & b=$!
    if mkdir "$heavy" 2>/dev/null; then
        echo 262144 > "$heavy/cpu.shares"
        taskset -c 1 sh -c 'while :; do :; done' & c=$!
        taskset -c 1 sh -c 'while :; do :; done' & d=$!
        echo $c > "$heavy/cgroup.procs"; echo $d > "$heavy/cgroup.procs"
    fi
    sleep 0.5
    for f in $on; do echo 0 > "$f"; done
    [ -n "$c" ] && kill $c $d
    taskset -pc 0,1 $a >/dev/null; taskset -pc 0,1 $b >/dev/null
    echo ready
    if [ -n "$LENGTH" ]; then sleep "$LENGTH"; kill $a $b; fi
    read -r line
"#;

/// Two tasks share a tenth of a CPU.
const THROTTLED: &str = r#"
    group=/sys/fs/cgroup/cpu/wastenot-test-$$
    restore() { kill $a $b 2>/dev/null; wait $a $b 2>/dev/null; rmdir "$group"; }
    mkdir "$group"
    trap restore EXIT
    echo 100000 > "$group/cpu.cfs_period_us"
    echo 10000 > "$group/cpu.cfs_quota_us"
    "$HOG" -c 'while :; do :; done' & a=$!
    "$HOG" -c 'while :; do :; done' & b=$!
    echo $a > "$group/cgroup.procs"; echo $b > "$group/cgroup.procs"
    echo ready
    read -r line
"#;

impl Hogs {
    /// Two tasks of this name share a CPU while another one that they may use idles, for this
    /// long or until it is dropped. `None` where that cannot be made; that is told.
    pub(super) fn stuck(test: &str, name: &str, length: Option<Duration>) -> Option<Hogs> {
        if !writable(CPUSET) || !Path::new("/sys/devices/system/cpu/cpu1").exists() {
            let how = "run as root, `mount -t cgroup -o cpuset none /sys/fs/cgroup/cpuset`";
            skipped(test, "no cpuset of cgroup v1 that can be written, or one CPU", how);
            return None;
        }
        Some(Hogs::begin(STUCK, name, length))
    }

    /// Two tasks of this name that are throttled nine tenths of the time.
    pub(super) fn throttled(test: &str, name: &str) -> Option<Hogs> {
        // The root group has no quota, its children do.
        let groups = Path::new(QUOTA).parent().expect("a folder");
        if !writable(&groups.join("cgroup.procs").display().to_string()) {
            skipped(test, "no cpu controller of cgroup v1", "run as root, mount it");
            return None;
        }
        Some(Hogs::begin(THROTTLED, name, None))
    }

    fn begin(script: &str, name: &str, length: Option<Duration>) -> Hogs {
        let program = TempDir::new().expect("a folder");
        let hog = program.path().join(name);
        symlink("/bin/sh", &hog).expect("a link");
        let mut keeper = Command::new("sh")
            .args(["-c", script])
            .env("HOG", &hog)
            .env("LENGTH", length.map_or(String::new(), |length| length.as_secs_f64().to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh");
        let mut ready = String::new();
        let out = keeper.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut ready).expect("text");
        assert_eq!(ready, "ready\n");
        Hogs { keeper, _program: program }
    }

    /// Whether CPU 1 idles nearly all of half a second: often enough interrupted, it idles never
    /// for as long as a violation must last.
    pub(super) fn still_stuck(&self) -> bool {
        let idle = || {
            let stat = fs::read_to_string("/proc/stat").expect("/proc/stat");
            let line = stat.lines().find(|line| line.starts_with("cpu1 ")).expect("CPU 1");
            line.split(' ').nth(4).and_then(|ticks| ticks.parse::<u64>().ok()).expect("ticks")
        };
        let before = idle();
        std::thread::sleep(Duration::from_millis(500));
        idle() - before >= 49
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.keeper.stdin.take();
        let _ = self.keeper.wait();
    }
}

fn writable(path: &str) -> bool {
    fs::OpenOptions::new().write(true).open(path).is_ok()
}
