//! The options that select a scheduler, which all simulating verbs share.

use std::str::FromStr;

use clap::Args;
use wastenot_scenario::scenario::Choice;

/// The scheduler of all runs.
#[derive(Args, Debug)]
pub(crate) struct Under {
    /// Use this scheduler in all runs: NAME or FILE.rota, or NAME,TUNABLE=VALUE,...
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<Scheduler>,
    /// Accept policies with `unsafe protocol`
    #[arg(long)]
    pub(crate) allow_unsafe: bool,
}

/// A scheduler as typed.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler(pub(crate) Choice);

impl FromStr for Scheduler {
    type Err = String;

    fn from_str(text: &str) -> Result<Scheduler, String> {
        let mut words = text.split(',').map(str::trim);
        let name = words.next().filter(|name| !name.is_empty() && !name.contains('='));
        let name = name.ok_or("expected a name before the tunables: cfs-4.1,hz=250")?.to_owned();
        let pair = |word: &str| {
            let (tunable, value) = word.split_once('=')?;
            Some((tunable.trim().to_owned(), value.trim().to_owned()))
        };
        let tunables: Option<Vec<_>> = words.map(pair).collect();
        let tunables = tunables.ok_or("expected tunables as NAME=VALUE: cfs-4.1,hz=250")?;
        let twice = |(n, (name, _)): (usize, &(String, String))| {
            tunables[..n].iter().any(|(before, _)| before == name)
        };
        match tunables.iter().enumerate().find(|&at| twice(at)) {
            Some((_, (name, _))) => {
                Err(format!("`{name}` is set twice: remove one of the two settings"))
            }
            None => Ok(Scheduler(Choice { tunables, ..Choice::named(&name) })),
        }
    }
}
