//! `wastenot doctor`

use clap::Args;

/// Show what this machine supports and how to record it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wastenot doctor
  wastenot doctor --json")]
pub(crate) struct Doctor {
    /// Print one JSON object (wastenot.doctor/1)
    #[arg(long)]
    pub(crate) json: bool,
}
