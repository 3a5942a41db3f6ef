//! `wastenot bounds calibrate`: which costs of the simulated machine fit what was measured.

use std::path::Path;

use wastenot_lab::calibrate::{Calibrated, Question, Statistic};
use wastenot_scenario::measured::{By, Figure, figures};
use wastenot_scenario::profile;
use wastenot_sim::Overhead;

use crate::args::bounds::{Calibrate as Args, Figure as Of};
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::verbs::check::print;
use crate::{open, out, progress};

/// How figures come from another program.
const PIPED: &str = "`wastenot bounds measure -o - | wastenot bounds calibrate -`";

/// Fits the lock's parameters to figures.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let target = args.output.as_deref().map(|path| target(path, args.force)).transpose()?;
    let question = Question {
        base: open::profile("--profile", &args.profile)?,
        base_name: args.profile.clone(),
        machine: args.machine.clone(),
        designs: args.designs.clone(),
        of: args.figure.map(|of| match of {
            Of::Mean => Statistic::Mean,
            Of::Median => Statistic::Median,
            Of::Max => Statistic::Max,
        }),
        socket: args.socket,
        within: args.within,
    };
    let (names, all) = told(args)?;
    let asked = progress::during(&format!("fitting {names}"), || question.ask(&all));
    let calibrated = asked.map_err(|error| Stop::new(format!("{names}: {error}"), error.help()))?;
    match target {
        Some(target) => written(args, &names, &target, &calibrated)?,
        None => print(&calibrated.report(&names), &args.face)?,
    }
    Ok(if calibrated.fits() { Answer::Yes } else { Answer::No })
}

fn target(path: &Path, force: bool) -> Result<Target, Stop> {
    let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    if !is_toml && path != Path::new("-") {
        let what = format!("a profile is TOML, but {} does not end in .toml", path.display());
        return Err(Stop::new(what, "use a name that ends in .toml"));
    }
    Target::new(path, force)
}

/// All figures, and where they are from.
fn told(args: &Args) -> Result<(String, Vec<Figure>), Stop> {
    let (mut names, mut all) = (Vec::new(), Vec::new());
    for file in &args.files {
        let name = open::shown(file);
        let read = figures(&name, open::table(file, PIPED)?, args.cycles_per_us);
        all.extend(read.map_err(|error| Stop::new(&error, error.help()))?);
        names.push(name);
    }
    for (cpus, span) in &args.points {
        all.push(Figure {
            by: By::FeatherTrace,
            machine: String::new(),
            design: "GSN-EDF".into(),
            kind: Overhead::Schedule.name().into(),
            cpus: *cpus,
            sockets: None,
            samples: 1,
            mean_ns: 0,
            median_ns: 0,
            max_ns: span.0,
        });
        names.push(format!("{span} on {cpus} CPUs"));
    }
    Ok((names.join(", "), all))
}

/// The report, and beside it the profile if the pair fits.
fn written(args: &Args, names: &str, to: &Target, calibrated: &Calibrated) -> Result<(), Stop> {
    if to.is_file() || !calibrated.fits() {
        print(&calibrated.report(names), &args.face)?;
    }
    if !calibrated.fits() {
        out::note("no profile is written: no pair fits");
        return Ok(());
    }
    let text = profile::written(&calibrated.nearest().profile, &calibrated.about());
    to.write(|file| file.write_all(text.as_bytes()))
}
