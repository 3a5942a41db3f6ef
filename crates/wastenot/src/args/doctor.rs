//! `wastenot doctor`

use clap::Args;

/// Tell what this machine can record, and the exact command for it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wastenot doctor
  wastenot doctor --json")]
pub(crate) struct Doctor {
    /// One JSON object: wastenot.doctor/1
    #[arg(long)]
    pub(crate) json: bool,
}
