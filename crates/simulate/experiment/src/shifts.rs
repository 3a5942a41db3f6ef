//! Whether figures of a guest depend on how long QEMU lets an instruction take.
//!
//! Without KVM each instruction takes 2^shift ns of the guest's time. Work of tasks is CPU time and
//! stays as it is, so the shift is the price of what the kernel does. A figure that moves with it
//! says more about the emulator than about the scheduler.

use wastenot_model::Table;

use crate::experiment::{Experiment, Worked};
use crate::kernels::least_runs;
use crate::ranks::{self, CHANCE};

/// The shift that a bench has unless its name says another one.
pub const USUAL: u8 = 1;

/// The name of a bench with this shift: `7.2.13`, `7.2.13 shift=0`.
pub fn named(kernel: &str, shift: u8) -> String {
    if shift == USUAL { kernel.to_owned() } else { format!("{kernel} shift={shift}") }
}

/// What a name says: that of the usual shift, and the shift.
fn read(bench: &str) -> (String, u8) {
    let words = || bench.split(' ');
    let shift = words().find_map(|it| it.strip_prefix("shift=")?.parse().ok());
    let others: Vec<&str> = words().filter(|it| !it.starts_with("shift=")).collect();
    (others.join(" "), shift.unwrap_or(USUAL))
}

/// What is known of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Two shifts are told apart.
    Moves,
    /// No two are, though there are enough runs to tell.
    Stands,
    /// There are too few runs.
    TooFew(usize),
}

/// Each figure of each kernel that ran with several shifts.
pub(crate) fn table(all: &[Experiment]) -> Table {
    let mut table = Table::new("shifts", "Figures for several instruction times", []).shown(60);
    let mut done: Vec<String> = Vec::new();
    for experiment in all {
        let (bench, _) = read(&experiment.bench);
        if done.contains(&bench) {
            continue;
        }
        let mut same: Vec<(u8, &Experiment)> = all
            .iter()
            .map(|it| (read(&it.bench), it))
            .filter(|((other, _), _)| *other == bench)
            .map(|((_, shift), it)| (shift, it))
            .collect();
        same.sort_by_key(|(shift, _)| *shift);
        if same.len() > 1 {
            rows(&mut table, &bench, &same);
        }
        done.push(bench);
    }
    table
}

fn rows(table: &mut Table, bench: &str, same: &[(u8, &Experiment)]) {
    for figure in &same[0].1.figures {
        let all = same.iter().map(|(_, it)| it.figure(&figure.figure.name));
        let Some(all) = all.collect::<Option<Vec<&Worked>>>() else { continue };
        let shown: Vec<String> = all
            .iter()
            .map(|it| it.value.map_or_else(|| "unknown".to_owned(), |value| it.show(value)))
            .collect();
        let values: Vec<Vec<f64>> =
            all.iter().map(|it| it.values.iter().flatten().copied().collect()).collect();
        let found = match judge(&values) {
            Found::Moves => "depends on the time".to_owned(),
            Found::Stands => "no difference".to_owned(),
            Found::TooFew(least) => format!("unknown: use --repeat {least}"),
        };
        table.row(|row| {
            row.cell("bench", "on", bench)
                .cell("figure", "figure", figure.figure.name.as_str())
                .cell("values", "at 1, 2, 4 ... ns per instruction", shown.join(", "))
                .cell("found", "result", found)
        });
    }
}

/// Whether a figure depends on it, by its values at each shift; `None` if they are too few.
pub fn moves(values: &[Vec<f64>]) -> Option<bool> {
    match judge(values) {
        Found::Moves => Some(true),
        Found::Stands => Some(false),
        Found::TooFew(_) => None,
    }
}

/// Every two sets of values are looked at, so each must be less likely by chance, by their number.
fn judge(values: &[Vec<f64>]) -> Found {
    let pairs = values.len() * values.len().saturating_sub(1) / 2;
    let mut chances = values
        .iter()
        .enumerate()
        .flat_map(|(n, a)| values[n + 1..].iter().map(move |b| ranks::chance(a, b) * pairs as f64));
    let least = least_runs(pairs);
    match chances.any(|chance| chance < CHANCE) {
        true => Found::Moves,
        false if values.iter().any(|it| it.len() < least) => Found::TooFew(least),
        false => Found::Stands,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_its_shift() {
        for (kernel, shift) in [("7.2.13", 1), ("7.2.13", 0), ("7.2.13", 2)] {
            assert_eq!(read(&named(kernel, shift)), (kernel.to_owned(), shift));
        }
        assert_eq!(read("7.2.13 shift=0 scx_foo"), ("7.2.13 scx_foo".to_owned(), 0));
        assert_eq!(read("sim"), ("sim".to_owned(), USUAL));
    }

    #[test]
    fn a_figure_moves_if_two_shifts_are_told_apart() {
        let low = vec![1.0, 2.0, 3.0, 4.0, 5.0];
        let high: Vec<f64> = low.iter().map(|it| it + 10.0).collect();
        assert_eq!(judge(&[low.clone(), low.clone(), high]), Found::Moves);
        assert_eq!(judge(&[low.clone(), low.clone(), low.clone()]), Found::Stands);
        let few = low[..3].to_vec();
        // The least chance of five and five is 0.008, of four and four 0.029.
        assert_eq!(judge(&[few.clone(), few.clone(), few]), Found::TooFew(5));
    }
}
