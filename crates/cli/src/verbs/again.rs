//! Reads a trace again later, to answer queries of the page of `view`.

use std::path::{Path, PathBuf};

use wastenot_check::Options;
use wastenot_model::History;
use wastenot_view::Events;

use super::select;
use crate::args::check::Select;
use crate::args::input::Reading;
use crate::fail::Stop;
use crate::known::Known;
use crate::{open, out};

/// A file, and its identity when it was first read.
pub(super) struct Again {
    file: PathBuf,
    reading: Reading,
    select: Select,
    was: Known,
}

impl Again {
    /// Call this before the file is read. `None` if it is not a regular file.
    pub(super) fn of(file: &Path, reading: &Reading, select: &Select) -> Option<Again> {
        let was = Known::of(file)?;
        let (file, reading, select) = (file.to_owned(), reading.clone(), select.clone());
        Some(Again { file, reading, select, was })
    }

    pub(super) fn events(self) -> Events {
        let explain = explain(&self.file, &self.reading);
        Events::new(Box::new(move || self.read()), explain)
    }

    /// The events. Fails if the file has changed, because the events would belong to another trace.
    fn read(&self) -> Result<(History, Options), String> {
        let is_same = || match Known::of(&self.file).as_ref() == Some(&self.was) {
            true => Ok(()),
            false => {
                let file = open::shown(&self.file);
                Err(format!("{file} has changed since `view` read it: start `view` again."))
            }
        };
        is_same()?;
        let words = |stop: Stop| match stop {
            Stop::Failure { what, help, .. } => format!("Cannot read the events: {what}; {help}"),
            Stop::Pipe => String::new(),
        };
        let history = open::history(&self.file, &self.reading).map_err(words)?;
        let options = select::options(&history, history.window(), &self.select).map_err(words)?;
        is_same()?;
        Ok((history, options))
    }
}

/// The command that explains the same trace.
fn explain(file: &Path, reading: &Reading) -> String {
    let path = |path: &Path| out::quoted(path).unwrap_or("FILE".into());
    let Reading { machine, buffer, formats_from, clock_hz } = reading;
    let mut command = format!("wastenot explain {}", path(file));
    for (option, value) in [("machine", machine), ("buffer", buffer)] {
        if let Some(value) = value {
            command += &format!(" --{option} {}", path(Path::new(value)));
        }
    }
    if let Some(formats) = formats_from {
        command += &format!(" --formats-from {}", path(formats));
    }
    if let Some(hertz) = clock_hz {
        command += &format!(" --clock-hz {hertz}");
    }
    command
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::args::check::SilentCpus;

    #[test]
    fn a_file_that_changed_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a b.txt");
        let row = |task: &str| {
            format!(
                "          <idle>-0     [000] d..2.   1.000010: sched_switch: prev_comm=swapper/0 \
                 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm={task} next_pid=7 \
                 next_prio=120\n"
            )
        };
        fs::write(&file, format!("# tracer: nop\n#\n{}", row("x"))).expect("written");
        let (reading, select) = (Reading::default(), Select::all(SilentCpus::Unknown));
        let again = Again::of(&file, &reading, &select).expect("a file");
        let (history, _) = again.read().expect("it is as it was");
        assert_eq!(history.task_count(), 1);
        fs::write(&file, format!("# tracer: nop\n#\n{}", row("other"))).expect("written");
        let why = again.read().expect_err("it changed");
        assert!(why.contains("has changed since"), "{why}");
        fs::remove_file(&file).expect("removed");
        assert!(again.read().is_err());
        assert!(Again::of(folder.path(), &reading, &select).is_none(), "no file");
        let command = explain(Path::new("a b"), &Reading { clock_hz: Some(5), ..reading });
        assert_eq!(command, "wastenot explain 'a b' --clock-hz 5");
    }
}
