//! `wastenot completions` and `wastenot man`: for the shell and for `man`.

use clap::Args;
use clap_complete::Shell;

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  source <(wastenot completions bash)
  wastenot completions fish > wastenot.fish")]
pub(crate) struct Completions {
    /// Name of the shell
    pub(crate) shell: Shell,
}

/// Print the man page of wastenot or of a verb
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wastenot man > wastenot.1
  wastenot man check > wastenot-check.1
  wastenot man bounds sweep > wastenot-bounds-sweep.1")]
pub(crate) struct Man {
    /// Verb, and its subcommand if it has one [default: the page of wastenot itself]
    pub(crate) verb: Vec<String>,
}
