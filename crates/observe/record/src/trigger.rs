//! What ends a flight recording: a bound on what `check` would find in the latest events.

use globset::{Glob, GlobMatcher};
use wastenot_check::trigger;
use wastenot_check::{Options, waste};
use wastenot_model::{
    Annex, CpuId, History, Observer, Phase, Silent, Span, State, TaskId, TaskState, Time, Window,
    replay,
};

/// A bound that, once exceeded, ends a flight recording.
///
/// ```text
/// waste > 5ms              an episode of waste longer than that
/// wait > 20ms              any task waits longer than that
/// task=NAME wait > 1ms     one of these tasks does; NAME may hold * and ?
/// ```
#[derive(Clone, Debug)]
pub struct Trigger {
    what: What,
    limit: Span,
    /// When an episode began that had not ended at the end of the last part.
    open: Option<Time>,
}

#[derive(Clone, Debug)]
enum What {
    Waste,
    Wait(Option<GlobMatcher>),
}

/// A bound that was exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fired {
    /// The episode or the wait, as far as it was seen.
    pub window: Window,
    /// What was seen, as a sentence.
    pub what: String,
    /// Which task waited, and where.
    waited: Option<(TaskId, Option<CpuId>)>,
}

impl Fired {
    /// For the file, so that `check` finds the moment. `part` is where it was seen.
    pub(crate) fn annex(&self, part: &History) -> Annex {
        trigger::annex(part, self.window, self.waited)
    }
}

impl std::str::FromStr for Trigger {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Trigger, &'static str> {
        const FORMS: &str = "expected `waste > 5ms`, `wait > 20ms` or `task=NAME wait > 1ms`";
        let (what, limit) = text.split_once('>').ok_or(FORMS)?;
        let limit = Span::parse(&limit.replace(' ', "")).ok_or(FORMS)?;
        let what = what.trim();
        let what = match what.strip_prefix("task=").and_then(|rest| rest.rsplit_once(' ')) {
            Some((name, "wait")) => {
                let glob = Glob::new(name.trim()).map_err(|_| "NAME is not a valid pattern")?;
                What::Wait(Some(glob.compile_matcher()))
            }
            None if what == "wait" => What::Wait(None),
            None if what == "waste" => What::Waste,
            _ => return Err(FORMS),
        };
        Ok(Trigger { what, limit, open: None })
    }
}

impl Trigger {
    /// Checks a part that begins where the last one ended.
    pub fn look(&mut self, part: &History) -> Option<Fired> {
        match &self.what {
            What::Waste => self.waste(part),
            What::Wait(name) => longest_wait(part, name.as_ref())
                .filter(|wait| wait.window.span() > self.limit)
                .map(|Wait { task, cpu, window }| Fired {
                    window,
                    what: format!("{} waited {}", part.task_label(task), window.span()),
                    waited: Some((task, cpu)),
                }),
        }
    }

    fn waste(&mut self, part: &History) -> Option<Fired> {
        let options = Options { limit: u32::MAX as usize, ..Options::default() };
        let window = part.window();
        let mut longest: Option<(Span, Time)> = None;
        let mut open = None;
        for episode in waste::measure(part, &options).worst {
            let goes_on = episode.window.from == window.from;
            let from = self.open.filter(|_| goes_on).unwrap_or(episode.window.from);
            longest = longest.max(Some((episode.window.to - from, episode.window.to)));
            if episode.window.to == window.to {
                open = Some(from);
            }
        }
        self.open = open;
        let (span, time) = longest.filter(|(span, _)| *span > self.limit)?;
        let window = Window { from: Time(time.0.saturating_sub(span.0)), to: time };
        Some(Fired { window, what: format!("CPUs wasted time for {span}"), waited: None })
    }
}

/// A wait of a task, as far as it was seen.
struct Wait {
    task: TaskId,
    cpu: Option<CpuId>,
    window: Window,
}

fn longest_wait(part: &History, name: Option<&GlobMatcher>) -> Option<Wait> {
    let counts = |task: TaskId| name.is_none_or(|name| name.is_match(part.task_name(task)));
    let mut waits = Waits { counts, longest: None };
    replay(part, Silent::Unknown, &mut waits);
    waits.longest
}

/// How long a task waited that runs `now`.
pub(crate) fn wait_that_ended(state: &State, was: &TaskState, now: &TaskState) -> Option<Span> {
    let ended = was.phase == Phase::Waiting && now.phase == Phase::Running;
    ended.then(|| state.now() - was.since)
}

struct Waits<F> {
    counts: F,
    longest: Option<Wait>,
}

impl<F: Fn(TaskId) -> bool> Waits<F> {
    fn see(&mut self, task: TaskId, waiting: &TaskState, now: Time) {
        let window = Window { from: waiting.since, to: now };
        let longest = self.longest.as_ref().map(|longest| longest.window.span());
        if longest.is_none_or(|longest| window.span() > longest) && (self.counts)(task) {
            self.longest = Some(Wait { task, cpu: waiting.cpu, window });
        }
    }
}

impl<F: Fn(TaskId) -> bool> Observer for Waits<F> {
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        if wait_that_ended(state, was, now).is_some() {
            self.see(task, was, state.now());
        }
    }
    fn end(&mut self, state: &State) {
        for cpu in (0..state.cpu_count()).map(|cpu| CpuId(cpu as u16)) {
            for task in state.waiting(cpu) {
                self.see(task, &state.task(task), state.now());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_is_meant() {
        for text in ["waste > 5ms", "waste>5ms", " wait > 20 ms", "task=nginx* wait > 1ms"] {
            assert!(text.parse::<Trigger>().is_ok(), "{text}");
        }
        for bad in ["", "waste", "waste > 5", "waste < 5ms", "idle > 5ms", "task=x waste > 1ms"] {
            assert!(bad.parse::<Trigger>().is_err(), "{bad}");
        }
    }
}
