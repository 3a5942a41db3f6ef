//! Facts about tasks that /proc has and events do not.

use std::collections::HashMap;
use std::fs;

use crate::{is_first_namespace, read};

/// The /proc that this process sees.
#[derive(Debug)]
pub struct Proc {
    /// Whether it numbers tasks as events do.
    alike: bool,
}

impl Proc {
    /// The /proc of this process.
    pub fn mounted() -> Proc {
        Proc { alike: is_first_namespace() }
    }

    /// Names and processes of the existing tasks, by tid.
    pub fn tasks(&self) -> (HashMap<i32, String>, HashMap<i32, i32>) {
        let (mut names, mut processes) = (HashMap::new(), HashMap::new());
        if !self.alike {
            return (names, processes);
        }
        for process in numbers("/proc") {
            for tid in numbers(&format!("/proc/{process}/task")) {
                let name = read(&format!("/proc/{process}/task/{tid}/comm"));
                names.extend(name.map(|name| (tid, name)));
                processes.insert(tid, process);
            }
        }
        (names, processes)
    }

    /// Whether it numbers tasks as the kernel does, outside of all namespaces.
    pub fn is_alike(&self) -> bool {
        self.alike
    }

    /// The processes and the names of their commands; none if it numbers them in another way.
    pub fn commands(&self) -> Vec<(i32, String)> {
        let name = |process| Some((process, read(&format!("/proc/{process}/comm"))?));
        if self.alike { numbers("/proc").filter_map(name).collect() } else { Vec::new() }
    }

    /// The process of a task; `None` if the task is gone already.
    pub fn process(&self, tid: i32) -> Option<i32> {
        let status = self.alike.then(|| read(&format!("/proc/{tid}/status"))).flatten()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
        line.trim().parse().ok()
    }
}

/// The entries of a folder that are numbers.
fn numbers(folder: &str) -> impl Iterator<Item = i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_belongs_to_the_process_that_has_it() {
        let own = std::process::id() as i32;
        let proc = Proc { alike: true };
        assert_eq!(proc.process(own), Some(own));
        let name = read("/proc/self/comm").expect("a name");
        assert!(proc.commands().contains(&(own, name)));
        assert_eq!(proc.process(i32::MAX), None);
        let thread = std::thread::spawn(move || {
            let this = fs::read_link("/proc/thread-self").expect("proc is mounted");
            let tid = this.file_name().and_then(|tid| tid.to_str()?.parse().ok());
            let tid = tid.expect("a number");
            let (names, processes) = Proc { alike: true }.tasks();
            assert_eq!(processes.get(&tid), Some(&own));
            assert!(names.contains_key(&tid));
            assert_eq!(Proc { alike: false }.tasks().0.len(), 0);
        });
        thread.join().expect("it ends");
    }
}
