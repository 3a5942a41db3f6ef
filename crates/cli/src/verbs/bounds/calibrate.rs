//! `wastenot bounds calibrate`: fits the costs of the simulated machine to measured figures.

use wastenot_model::Help;
use wastenot_realtime::calibrate::{Calibrated, Question, published};
use wastenot_scenario::measured::{Figure, figures};
use wastenot_scenario::profile;

use crate::args::bounds::Calibrate as Args;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, out, progress};

/// The help if standard input is a terminal.
const PIPED: &str = "run `wastenot bounds measure -o - | wastenot bounds calibrate -`";

/// Fits the lock's parameters to figures.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let help = "use a name that ends in .toml";
    let target = |path: &_| super::target(path, "toml", args.force, "a profile is TOML", help);
    let target = args.output.as_deref().map(target).transpose()?;
    let question = Question {
        base: open::profile("--profile", &args.profile)?,
        base_name: args.profile.clone(),
        machine: args.machine.clone(),
        designs: args.designs.clone(),
        of: args.figure,
        socket: args.socket,
        within: args.within,
    };
    let (names, all) = told(args)?;
    let asked = progress::during(&format!("fitting {names}"), || question.ask(&all));
    let calibrated = asked.map_err(|error| Stop::new(format!("{names}: {error}"), error.help()))?;
    match target {
        Some(target) => written(args, &names, &target, &calibrated)?,
        None => args.face.print(&calibrated.report(&names))?,
    }
    Ok(if calibrated.fits() { Answer::Yes } else { Answer::No })
}

/// All figures, and the names of their sources.
fn told(args: &Args) -> Result<(String, Vec<Figure>), Stop> {
    let (mut names, mut all) = (Vec::new(), Vec::new());
    for file in &args.files {
        let name = open::shown(file);
        all.extend(figures(&name, open::once(file, PIPED)?, args.cycles_per_us)?);
        names.push(name);
    }
    for (cpus, span) in &args.points {
        all.push(published(*cpus, *span));
        names.push(format!("{span} on {cpus} CPUs"));
    }
    Ok((names.join(", "), all))
}

/// Prints the report, and writes the profile if a pair fits.
fn written(args: &Args, names: &str, to: &Target, calibrated: &Calibrated) -> Result<(), Stop> {
    if to.is_file() || !calibrated.fits() {
        args.face.print(&calibrated.report(names))?;
    }
    if !calibrated.fits() {
        out::note("no profile is written, because no pair fits");
        return Ok(());
    }
    let text = profile::written(&calibrated.nearest().profile, &calibrated.about());
    to.write(|file| file.write_all(text.as_bytes()))
}
