//! What tasks did, as the program noted it in its plan.

use std::collections::HashMap;
use std::io;

use serde::{Deserialize, Serialize};
use wastenot_model::Time;

use crate::runner::bytes::Reader;
use crate::runner::error::FILLING;
use crate::runner::plan::{self, at};
use crate::runner::{Error, Program};

/// What came of a run. Times are those of `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// When the first task was about to be created.
    pub start_ns: u64,
    /// When it was over.
    pub end_ns: u64,
    /// Why.
    pub end: End,
    /// The tasks, in the order of their creation.
    pub tasks: Vec<Did>,
    /// What they marked, in the order of time.
    pub marks: Vec<Marked>,
}

/// Why a run was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// All tasks that are awaited have ended.
    Done,
    /// The limit was reached.
    Limit,
}

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Did {
    /// Its thread's number; 0 if it has not begun.
    pub tid: i32,
    /// Its template.
    pub template: u32,
    /// When it was created.
    pub began_ns: u64,
    /// When its program was over.
    pub ended_ns: Option<u64>,
}

/// A moment that a task marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked {
    /// When.
    pub at_ns: u64,
    /// How long after the task's last beat.
    pub late_ns: u64,
    /// Which of the tasks.
    pub task: u32,
    /// The mark.
    pub mark: u32,
}

impl Told {
    /// How long it took.
    pub fn span_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
    /// A moment, since the start.
    pub(crate) fn since_start(&self, ns: u64) -> Time {
        Time(ns.saturating_sub(self.start_ns))
    }

    /// The tasks by the numbers of their threads. Where a number was used again it is the first.
    pub(crate) fn by_tid(&self) -> HashMap<i32, usize> {
        let mut all = HashMap::new();
        for (n, did) in self.tasks.iter().enumerate().filter(|(_, did)| did.tid > 0) {
            all.entry(did.tid).or_insert(n);
        }
        all
    }

    /// Reads the plan after the run. `names` are those of the templates, `said` is what programs
    /// of users said at last.
    pub(crate) fn read(
        plan: &[u8],
        names: &[String],
        programs: &[Program],
        said: impl FnOnce() -> String,
    ) -> Result<Told, Error> {
        let head = Reader(plan);
        let tasks = head.u32(at::BORN).min(plan::TASKS);
        let task = |n: u32| head.u64(at::TASKS) as usize + n as usize * plan::TASK;
        let template = |n: u32| head.u32(task(n) + 4);
        match head.u32(at::END) {
            1 | 2 => {}
            4 => {
                let which = head.u32(at::FAILED_TASK);
                let name = || names.get(template(which) as usize).map(|it| format!(" `{it}`"));
                let of = if which < tasks { name().unwrap_or_default() } else { String::new() };
                if head.u32(at::FAILED_WHAT) == plan::RAN {
                    let step = head.u32(task(which) + 16);
                    let command = program(head, template(which), step, programs);
                    let of = format!(" of the task{of}");
                    let how = how(head.u32(at::FAILED_ERRNO));
                    return Err(Error::Program { command, of, how, said: said() });
                }
                let error = io::Error::from_raw_os_error(head.u32(at::FAILED_ERRNO) as i32);
                let doing = plan::DOING.get(head.u32(at::FAILED_WHAT) as usize);
                if doing == Some(&FILLING) {
                    return Err(Error::Full { of });
                }
                return Err(Error::Refused { doing: doing.unwrap_or(&"run"), of, error });
            }
            _ => {
                return Err(Error::Ended {
                    how: "the program did not record how the run ended".into(),
                });
            }
        }
        let end = if head.u32(at::END) == 1 { End::Done } else { End::Limit };
        let did = (0..tasks).map(|n| Did {
            tid: head.u32(task(n)) as i32,
            template: template(n),
            began_ns: head.u64(task(n) + 88),
            ended_ns: Some(head.u64(task(n) + 96)).filter(|&ns| ns > 0),
        });
        let marked = head.u32(at::MARKED);
        if let Some(lost) = marked.checked_sub(plan::MARKS).filter(|&lost| lost > 0) {
            return Err(Error::LostMarks { lost, kept: plan::MARKS });
        }
        let mark = |n: u32| head.u64(at::MARKS) as usize + n as usize * plan::MARK;
        let marks = (0..marked).map(|n| Marked {
            at_ns: head.u64(mark(n)),
            late_ns: head.u64(mark(n) + 8),
            task: head.u32(mark(n) + 16),
            mark: head.u32(mark(n) + 20),
        });
        // A task that was ended while it marked leaves a place without a time.
        let mut marks: Vec<Marked> = marks.filter(|mark| mark.at_ns > 0).collect();
        marks.sort_by_key(|mark| mark.at_ns);
        Ok(Told {
            start_ns: head.u64(at::START),
            end_ns: head.u64(at::ENDED),
            end,
            tasks: did.collect(),
            marks,
        })
    }
}

/// The program that the step before `step` of a template runs, in words.
fn program(plan: Reader<'_>, template: u32, step: u32, programs: &[Program]) -> String {
    let template = plan.u64(at::TEMPLATES) as usize + template as usize * plan::TEMPLATE;
    let step = (plan.u32(template + 16) + step).saturating_sub(1);
    let step = plan.u64(at::STEPS) as usize + step as usize * plan::STEP;
    let program = programs.get(plan.u32(step + 4) as usize);
    program.map_or_else(String::new, |it| it.words.join(" "))
}

/// How a program ended, from its status (wait(2)).
fn how(status: u32) -> String {
    match (status & 0x7f, status >> 8 & 0xff) {
        (0, code) => format!("ended with exit status {code}"),
        (signal, _) => format!("was ended by signal {signal}"),
    }
}

/// The processes of a plan that have not ended, as far as it knows.
pub(crate) fn processes(plan: &[u8]) -> Vec<i32> {
    let head = Reader(plan);
    let tasks = 0..head.u32(at::BORN).min(plan::TASKS);
    let tasks = tasks.map(|n| (n, head.u64(at::TASKS) as usize + n as usize * plan::TASK));
    let lives = |&(n, task): &(u32, usize)| head.u32(task + 12) == n && head.u32(task + 128) > 0;
    tasks
        .filter(lives)
        .map(|(_, task)| head.u32(task + 116) as i32)
        .filter(|&pid| pid > 0)
        .collect()
}
