//! Numbers in a readable form.

use std::fmt::Display;

/// Three digits that matter or a little more, and as many as it takes to see whether it lies in
/// `band`: 0.597 is `0.60`, but beside a band from 0.6 it is `0.597`.
pub fn number(value: f64, band: Option<(f64, f64)>) -> String {
    const MOST: usize = 17;
    let value = value + 0.0; // no -0
    let usual = match value.abs() {
        0.0 => 0,
        small if small < 0.01 => 4,
        small if small < 10.0 => 2,
        large if large < 100.0 => 1,
        _ => 0,
    };
    let inside = |value: f64| band.is_none_or(|(low, high)| (low..=high).contains(&value));
    let tells = |digits: &usize| {
        let rounded = format!("{value:.digits$}").parse().unwrap_or(value);
        inside(rounded) == inside(value)
    };
    let digits = (usual..=MOST).find(tells).unwrap_or(usual);
    format!("{value:.digits$}")
}

/// A number of things: `1 CPU`, `8 CPUs`.
pub fn counted<N: Display + PartialEq + From<u8> + Copy>(count: N, noun: &str) -> String {
    let s = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// Whole numbers with runs of them as ranges: `1-5, 9`.
pub fn ranges(numbers: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_never_moves_a_value_into_its_band_or_out_of_it() {
        for (value, band, text) in [
            (0.597, Some((0.6, 1.05)), "0.597"),
            (0.597, Some((0.5, 1.05)), "0.60"),
            (0.6, Some((0.6, 1.05)), "0.60"),
            (0.604, Some((0.604, 1.05)), "0.604"),
            (1.050_000_1, Some((0.6, 1.05)), "1.0500001"),
            (1.054, Some((0.6, 1.05)), "1.054"),
            (2.745_3, Some((2.3, 3.3)), "2.75"),
            (2000.4, Some((0.0, 2000.0)), "2000.4"),
            (99.96, Some((100.0, 200.0)), "99.96"),
            (0.000_04, Some((0.0, 0.1)), "0.0000"),
            (-0.000_04, Some((0.0, 0.1)), "-0.00004"),
            (0.0, None, "0"),
            (-0.0, None, "0"),
            (0.1 + 0.2, Some((0.0, 0.3)), "0.30000000000000004"),
        ] {
            assert_eq!(number(value, band), text, "{value} beside {band:?}");
        }
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!([0, 1, 8].map(|count| counted(count, "CPU")), ["0 CPUs", "1 CPU", "8 CPUs"]);
    }

    #[test]
    fn runs_of_seeds_are_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 4, 5]), "1-5");
        assert_eq!(ranges(&[7]), "7");
        assert_eq!(ranges(&[1, 2, 9, u64::MAX]), format!("1-2, 9, {}", u64::MAX));
    }
}
