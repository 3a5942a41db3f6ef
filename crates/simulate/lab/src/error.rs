//! Why a run in a real kernel came to no end.

use std::time::Duration;

use wastenot_model::Help;
use wastenot_scenario::scenario::Variant;
use wastenot_sim::Options;

use crate::Unbuildable;

/// Why a run in a real kernel came to no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its tasks cannot be run.
    #[error("{0}")]
    Runner(#[from] crate::runner::Error),
    /// It cannot be recorded.
    #[error("{0}")]
    Record(#[from] wastenot_record::Error),
    /// A policy cannot be loaded.
    #[error("{0}")]
    Deploy(#[from] wastenot_deploy::Error),
    /// A policy that means nothing here.
    #[error("the policy {policy} has errors")]
    Faulty {
        /// Which.
        policy: String,
    },
    /// No guest has the machine.
    #[error("QEMU cannot build a guest with this machine: {0}")]
    Unbuildable(#[from] Unbuildable),
    /// There is no such program.
    #[error("there is no file {program}")]
    NoProgram {
        /// Which.
        program: String,
    },
    /// A program that needs another one, which is not known.
    #[error("{program} is not an executable of this machine, so a guest cannot run it")]
    Script {
        /// Which.
        program: String,
    },
    /// There is no QEMU.
    #[error("cannot boot a guest: qemu-system-x86_64 is missing")]
    NoQemu,
    /// It cannot be used.
    #[error("cannot {doing}: {why}")]
    Qemu {
        /// What was tried.
        doing: &'static str,
        /// Why not.
        why: String,
    },
    /// It ended otherwise than by the guest's wish.
    #[error("QEMU failed ({how}): {}", last(console))]
    QemuFailed {
        /// How.
        how: String,
        /// The end of the console.
        console: String,
    },
    /// The guest ended in the middle of its work.
    #[error("the guest ended unexpectedly: {}", last(console))]
    Dead {
        /// The end of the console.
        console: String,
    },
    /// The guest says nothing.
    #[error("the guest printed nothing during the last {} s; before this time, it printed: \
             {}", patience.as_secs(), last(console))]
    Hangs {
        /// For how long.
        patience: Duration,
        /// The end of the console.
        console: String,
    },
    /// A signal came.
    #[error("it was killed by a signal")]
    Interrupted,
}

impl Error {
    /// Whether a guest was ended from outside.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self, Error::Interrupted)
    }

    /// As what went wrong with a cell.
    pub(crate) fn of(&self, variant: &Variant, options: &Options) -> wastenot_experiment::Error {
        wastenot_experiment::Error::Run {
            variant: variant.name.clone(),
            seed: options.seed,
            what: self.to_string(),
            help: self.help().into_owned(),
        }
    }
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::Runner(error) => return error.help(),
            Error::Record(error) => return error.help(),
            Error::Deploy(error) => return error.help(),
            Error::Faulty { .. } => "show the errors with `wastenot rota check`",
            Error::Unbuildable(_) => "choose another machine with `--machine`",
            Error::NoProgram { .. } => "give the program that loads the scheduler",
            Error::Script { .. } => {
                "give an ELF file; for a script, give its interpreter, for example \"run sh \
                 script.sh\""
            }
            Error::NoQemu => "install QEMU: `apt install qemu-system-x86`",
            Error::Qemu { .. }
            | Error::QemuFailed { .. }
            | Error::Dead { .. }
            | Error::Hangs { .. } => "boot the same kernel with a shell: `wastenot lab shell`",
            Error::Interrupted => "run the command again with `--resume` to keep the finished runs",
        }
        .into()
    }
}

/// The end of a console on one line; where the kernel complains, the first complaint before it.
fn last(console: &str) -> String {
    const LINES: usize = 3;
    const COMPLAINTS: [&str; 4] = ["BUG:", "Oops", "general protection", "Kernel panic"];
    let lines: Vec<&str> = console.lines().filter(|line| !line.trim().is_empty()).collect();
    let complains = |line: &&&str| COMPLAINTS.iter().any(|it| line.contains(it));
    let last = &lines[lines.len().saturating_sub(LINES)..];
    match (lines.iter().find(complains), last) {
        (_, []) => "no output".into(),
        (Some(first), _) if !last.contains(first) => {
            format!("{first}; ...; {}", last.join("; "))
        }
        _ => last.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::last;

    #[test]
    fn the_first_complaint_of_a_kernel_is_shown_with_the_end() {
        assert_eq!(last("\n \n"), "no output");
        assert_eq!(last("a\n\nb\nc\nd"), "b; c; d");
        assert_eq!(last("a\nBUG: x\nc\nKernel panic\ne\nf"), "BUG: x; ...; Kernel panic; e; f");
    }
}
