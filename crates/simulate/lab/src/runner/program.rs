//! Programs of the user that tasks run.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wastenot_model::Workload;
use wastenot_model::workload::{Command, Step};

use crate::runner::Unfit;
use crate::runner::bytes::Writer;
use crate::runner::class;

/// Where the plan is mapped: `c/plan.h`.
const PLAN: u64 = 0x1000_0000_0000;
/// Bytes of a command.
const COMMAND: usize = 24;

/// A program of the user, found on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its file: an absolute path.
    pub file: String,
    /// The folder in which it runs: an absolute path.
    pub folder: String,
    /// Its name as the user wrote it, and its arguments.
    pub words: Vec<String>,
}

impl Program {
    /// Finds the programs of a workload, in its order.
    ///
    /// # Errors
    /// A program or a folder is not there.
    pub(crate) fn all_of(workload: &Workload) -> Result<Vec<Program>, Unfit> {
        let find = |(n, it): (usize, &Command)| {
            let missing = |why: &io::Error| {
                let is_run = |step: &Step| matches!(step, Step::Run(id) if id.index() == n);
                let mut tasks = workload.templates.iter();
                let task = tasks.find(|task| task.program.steps().iter().any(is_run));
                Unfit::NoProgram {
                    name: task.map_or_else(String::new, |it| it.name.clone()),
                    program: it.words.first().cloned().unwrap_or_default(),
                    why: wastenot_host::reason(why),
                }
            };
            Program::find(it).map_err(|error| missing(&error))
        };
        workload.commands.iter().enumerate().map(find).collect()
    }

    fn find(command: &Command) -> io::Result<Program> {
        let name = command.words.first().ok_or(io::ErrorKind::InvalidInput)?;
        // A task has no working folder of its own until it runs the program.
        let folder = std::path::absolute(Path::new(&command.folder).join("."))?;
        let file = match name.contains('/') {
            true => class::find(folder.join(name).as_os_str())?,
            false => class::find(OsStr::new(name))?,
        };
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let odd = || io::Error::from(io::ErrorKind::InvalidFilename);
        let file = text(&std::path::absolute(file)?).ok_or_else(odd)?;
        let folder = text(&folder).ok_or_else(odd)?;
        Ok(Program { file, folder, words: command.words.clone() })
    }
}

/// The programs as `c/plan.h` has them, `at` bytes from the beginning of the plan: of each its
/// file, its folder and its words, which are texts that end with a zero.
pub(crate) fn write(programs: &[Program], at: usize) -> Writer {
    let mut lists = Writer::default();
    let mut texts = Writer::default();
    let mut heads = Writer::default();
    let count = |it: &Program| it.words.len() + 1;
    let lists_at = at + programs.len() * COMMAND;
    let texts_at = lists_at + programs.iter().map(count).sum::<usize>() * 8;
    let mut text = |text: &str| {
        let place = PLAN + (texts_at + texts.0.len()) as u64;
        texts.text(text, text.len() + 1);
        place
    };
    for it in programs {
        let list = PLAN + (lists_at + lists.0.len()) as u64;
        heads.u64(text(&it.file)).u64(text(&it.folder)).u64(list);
        for word in &it.words {
            lists.u64(text(word));
        }
        lists.u64(0);
    }
    heads.0.extend(lists.0);
    heads.0.extend(texts.0);
    heads
}
