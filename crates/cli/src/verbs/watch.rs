//! `wastenot watch`: detects CPUs that are idle while tasks wait.

use std::os::fd::AsFd;

use wastenot_model::Time;
use wastenot_record::watch::{Events, Fate, Found, Limits, Metrics, Mode, Options, Shelf, Watch};
use wastenot_record::{Error, now};

use crate::args::{self, watch::Also};
use crate::fail::{Answer, Stop};
use crate::out;
use crate::verbs::signals;

/// Watches until a signal arrives, or the time is over.
pub(crate) fn run(args: &args::watch::Watch) -> Result<Answer, Stop> {
    if args.mode.is_none() && !args.exact && args.confirm >= args.period {
        let what =
            format!("--confirm {} is not shorter than --period {}", args.confirm, args.period);
        let help = "use a shorter --confirm, or record events all the time with --exact";
        return Err(Stop::new(what, help));
    }
    let signals = signals::listen().map_err(Error::from)?;
    let limits = Limits { an_hour: args.at_most, bytes: args.keep };
    let shelf = args.save.as_ref().map(|folder| Shelf::new(folder, limits, now())).transpose();
    let mut shelf = shelf?;
    let mut watch = Watch::begin(&options(args))?;
    let server = args.listen.map(|address| watch.serve(address)).transpose()?;
    if let Some(server) = &server {
        out::note(&format!("serving http://{}/metrics", server.address()));
    }
    if let Some(shelf) = &shelf {
        tidy(shelf, watch.metrics());
    }
    let begun = now();
    let end = args.time.map_or(Time::MAX, |time| begun + time);
    while let Some(mut found) = watch.next(signals.as_fd(), end)? {
        if let Some(shelf) = &mut shelf {
            save(shelf, &mut found, watch.metrics());
        }
        out::print_line(&found.violation)?;
    }
    out::note(&watch.metrics().summary(now() - begun));
    Ok(Answer::Yes)
}

fn options(args: &args::watch::Watch) -> Options {
    Options {
        look: args.look,
        mode: args.mode.map_or(Mode::Lasting, |mode| Mode::Consecutive(mode.0)),
        period: args.period,
        confirm: args.confirm,
        exact: args.exact.then(|| Events {
            last: args.last,
            memory: args.memory,
            deficits: args.also.contains(&Also::RunTimeDeficit),
            migrations: args.also.contains(&Also::UselessMigration),
        }),
        ..Options::default()
    }
}

/// A full disk does not end the watch.
fn save(shelf: &mut Shelf, found: &mut Found, metrics: &Metrics) {
    let saved = shelf.save(&found.history, now());
    tidy(shelf, metrics);
    match saved {
        Ok(Some(path)) => {
            metrics.recording(Fate::Saved);
            // A trace that is too large was deleted at once.
            found.violation.recording = path.exists().then(|| path.display().to_string());
        }
        Ok(None) => metrics.recording(Fate::OverRate),
        Err(error) => {
            metrics.recording(Fate::Failed);
            out::note(&format!("cannot save a trace: {error}"));
        }
    }
}

fn tidy(shelf: &Shelf, metrics: &Metrics) {
    match shelf.tidy() {
        Ok((removed, bytes)) => {
            (0..removed).for_each(|_| metrics.recording(Fate::Removed));
            metrics.kept(bytes);
        }
        Err(error) => out::note(&format!("cannot delete old traces: {error}")),
    }
}
