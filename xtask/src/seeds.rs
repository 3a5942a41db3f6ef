//! docs/results/seeds.md: every published number of the seeds beside ours.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use indicatif::ProgressBar;
use toml::Table;
use wastenot_experiment::{Experiment, Worked};
use wastenot_scenario::scenario::Figure;

use crate::elsewhere::Elsewhere;
use crate::knobs::{self, TURN};
use crate::parts::files;
use crate::trial::Trial;

/// Seeds with which sensitivities are measured: of the same seed, so that one does.
const SENSITIVITY_SEEDS: u64 = 1;
/// A figure that changes by less of itself than this share of the turn does not count as sensitive.
const INSENSITIVE: f64 = 0.02;

/// A formula that is further off than this share does not predict the figure.
const NEAR: f64 = 0.25;
/// Where `docs/pictures/draw` draws, as links of the page say it.
const PICTURES: &str = "../pictures";
/// What `cargo test -p wastenot-tests seeds` holds Histories to.
const GOLDEN: &str = "testing/tests/golden/simulate.txt";
/// What one knob does to one figure: the elasticity.
struct Sensitivity {
    knob: String,
    elasticity: f64,
}

/// Runs all scenarios in `folder` and writes the page. The verdict in a line. `figures` only takes
/// a tenth of the time: then the page lacks what knobs and other fixes do.
pub(crate) fn write(folder: &Path, output: &Path, figures: bool) -> Result<String, String> {
    let files = files(folder, "toml")?;
    let bar = ProgressBar::new(files.len() as u64);
    let (mut page, mut count) = (String::new(), Count::default());
    let mut elsewhere = Elsewhere::default();
    let golden = fs::read_to_string(GOLDEN).map_err(|error| format!("{GOLDEN}: {error}"))?;
    for file in &files {
        bar.set_message(file.display().to_string());
        let trial = Trial::new(file)?;
        let experiment = trial.run(&[])?;
        check_digests(&experiment, &golden)?;
        let sensitivities = if figures { BTreeMap::new() } else { sensitivities(&trial)? };
        if !figures {
            elsewhere.look(&trial)?;
        }
        count.add(&experiment);
        section(&mut page, &experiment, &sensitivities);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let elsewhere = if figures { String::new() } else { elsewhere.section() };
    let whole = format!("{}{page}{elsewhere}", count.head(figures));
    let temporary = output.with_extension("md.part");
    fs::write(&temporary, whole).map_err(|e| format!("{}: {e}", temporary.display()))?;
    fs::rename(&temporary, output).map_err(|e| format!("{}: {e}", output.display()))?;
    Ok(format!(
        "{}: {} of {} figures lie in their band",
        output.display(),
        count.inside,
        count.banded
    ))
}

/// The first seed of each variant gives the History that the tests hold it to, which run in another
/// profile.
fn check_digests(experiment: &Experiment, golden: &str) -> Result<(), String> {
    for variant in &experiment.variants {
        let digest = variant.cells.first().map_or(0, |cell| cell.digest);
        let line = format!("{digest:016x} {} {}", experiment.scenario, variant.name);
        if !golden.lines().any(|known| known == line) {
            return Err(format!(
                "{GOLDEN} does not have `{line}`: this build gives another History than the tests"
            ));
        }
    }
    Ok(())
}

/// For each figure what turning each knob does to it, strongest first.
fn sensitivities(trial: &Trial) -> Result<BTreeMap<String, Vec<Sensitivity>>, String> {
    let table: Table = trial.text.parse().map_err(|e| format!("{}: {e}", trial.file))?;
    let seeds: Vec<u64> = (1..=SENSITIVITY_SEEDS).collect();
    let before = trial.run(&seeds)?;
    let mut all: BTreeMap<String, Vec<Sensitivity>> = BTreeMap::new();
    for knob in knobs::of(&table) {
        let Some(turned) = knob.turn(&table) else { continue };
        // What cannot be turned (a count that must divide another) is no knob.
        let Ok(after) = trial.with_text(turned.to_string()).run(&seeds) else { continue };
        for worked in &before.figures {
            let name = &worked.figure.name;
            let other = after.figure(name).and_then(|other| other.value);
            let Some((was, is)) = worked.value.zip(other).filter(|(was, _)| *was != 0.0) else {
                continue;
            };
            let elasticity = (is / was - 1.0) / TURN;
            if elasticity.abs() >= INSENSITIVE {
                let knob = knob.name.clone();
                all.entry(name.clone()).or_default().push(Sensitivity { knob, elasticity });
            }
        }
    }
    for list in all.values_mut() {
        list.sort_by(|a, b| b.elasticity.abs().total_cmp(&a.elasticity.abs()));
    }
    Ok(all)
}

/// How many figures there are, and which lie outside.
#[derive(Default)]
struct Count {
    inside: usize,
    banded: usize,
    /// Figures with a formula, and those that agree with it.
    formulas: usize,
    near: usize,
    /// Scenario and figure.
    out: Vec<(String, Worked)>,
}

impl Count {
    fn add(&mut self, experiment: &Experiment) {
        for worked in &experiment.figures {
            if worked.figure.band.is_some() {
                self.banded += 1;
                match worked.in_band() {
                    Some(true) => self.inside += 1,
                    _ => self.out.push((experiment.scenario.clone(), worked.clone())),
                }
            }
            if let Some(off) = off(worked) {
                self.formulas += 1;
                self.near += usize::from(off.abs() <= NEAR);
            }
        }
    }

    /// The beginning of the page; `figures`: nothing else was measured.
    fn head(&self, figures: bool) -> String {
        let mut text = format!(
            "# The table of the seeds\n\nThe *seeds* (scenarios/seeds) are scenarios that repeat \
             published experiments. This page compares every number in the\npapers and slides with \
             the result of the same experiment in Wastenot. `make long-seeds` writes this page; do \
             not edit it\nby hand. Of all figures with a band, {} of {} lie in their band. Of all \
             figures with a formula, {} of {} differ from\nthe formula by at most {:.0} %.\n\nA \
             figure is named after the parameters of its variants, such as g and s, or after the \
             quantity that it compares. Its\n*band* is the range in which we expect it. The column \
             *ours* gives our result, with its minimum and maximum. Unless a\nfigure states \
             another statistic, this result is the median over the random seeds in the scenario. \
             The column *formula*\ngives a prediction that needs no simulator. It also gives the \
             deviation of our result from this prediction. The column\n*sensitive to* names the \
             two parameters that change the figure most. For example, -0.5 after a parameter means \
             that the\nfigure is 0.5 % smaller if the parameter is 1 % larger. To measure this, we \
             made the parameter {:.0} % larger (seed 1).\nBelow each table, a list explains the \
             figures.\n",
            self.inside,
            self.banded,
            self.near,
            self.formulas,
            NEAR * 100.0,
            TURN * 100.0
        );
        if figures {
            text += "\nThis run measured only the figures, not the sensitivities or the effects of \
                     fixes elsewhere.\n";
        }
        if !self.out.is_empty() {
            text += "\n## Outside the band\n\n| scenario | figure | ours | band | formula \
                     |\n|---|---|---|---|---|\n";
        }
        for (scenario, worked) in &self.out {
            let figure = &worked.figure;
            let _ = writeln!(
                text,
                "| [{scenario}](#{}) | {} | {} | {} | {} |",
                // As GitHub names a heading: without dots.
                scenario.replace('.', ""),
                figure.name,
                ours(worked),
                worked.show_band().unwrap_or_default(),
                figure.formula.as_ref().map_or(String::new(), |it| worked.show_given(it.value)),
            );
        }
        text
    }
}

fn section(
    page: &mut String,
    experiment: &Experiment,
    sensitivities: &BTreeMap<String, Vec<Sensitivity>>,
) {
    let about = experiment.about.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = write!(
        page,
        "\n## {}\n\n{about}\n\nSource: {}.\n\n\
         | figure | published | ours | band | in | formula | sensitive to |\n\
         |---|---|---|---|---|---|---|\n",
        experiment.scenario,
        experiment.source.trim_end_matches('.'),
    );
    for worked in &experiment.figures {
        let figure = &worked.figure;
        let range = worked.show_range().map_or(String::new(), |range| format!(" ({range})"));
        let inside = worked.in_band().map_or("", |inside| if inside { "in" } else { "**out**" });
        let sensitive = sensitivities.get(&figure.name).map_or(String::new(), |list| {
            let two = list.iter().take(2).map(|it| format!("{} {:+.2}", it.knob, it.elasticity));
            two.collect::<Vec<_>>().join(", ")
        });
        let _ = writeln!(
            page,
            "| {} | {} | {}{range} | {} | {inside} | {} | {sensitive} |",
            figure.name,
            figure.published.map_or(String::new(), |value| worked.show_given(value)),
            ours(worked),
            worked.show_band().unwrap_or_default(),
            formula(worked),
        );
    }
    let mut whys: Vec<(&str, Vec<&str>)> = Vec::new();
    for Figure { name, why, .. } in experiment.figures.iter().map(|worked| &worked.figure) {
        match whys.iter_mut().find(|(known, _)| known == why) {
            Some((_, names)) => names.push(name),
            None => whys.push((why, vec![name])),
        }
    }
    whys.retain(|(why, _)| !why.is_empty());
    if !whys.is_empty() {
        page.push('\n');
    }
    for (why, names) in whys {
        let _ = match names.as_slice() {
            [name] => writeln!(page, "- {name}: {why}"),
            names => writeln!(page, "- {why} (Figures: {}.)", names.join(", ")),
        };
    }
    let picture = format!("{PICTURES}/{}.png", experiment.scenario);
    if Path::new("docs/results").join(&picture).exists() {
        let _ = writeln!(page, "\n![{}]({picture})", experiment.scenario);
    }
}

/// How far a figure is from its formula, as a share of that.
fn off(worked: &Worked) -> Option<f64> {
    Some(worked.value? / worked.figure.formula.as_ref()?.value - 1.0)
}

/// What reasoning predicts, and how far ours is from it.
fn formula(worked: &Worked) -> String {
    let Some(formula) = &worked.figure.formula else { return String::new() };
    let text = if formula.text.is_empty() { String::new() } else { format!(": {}", formula.text) };
    let off = off(worked).map_or(String::new(), |off| {
        let strong = if off.abs() > NEAR { "**" } else { "" };
        format!(" ({strong}{:+.0} %{strong})", off * 100.0)
    });
    format!("{}{off}{text}", worked.show_given(formula.value))
}

fn ours(worked: &Worked) -> String {
    worked.value.map_or("unknown".into(), |value| worked.show(value))
}
