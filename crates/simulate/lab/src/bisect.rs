//! Which version of a kernel changed a figure.

use wastenot_experiment::ranks::{self, CHANCE};

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Values of each version that was tried, in the order of the versions: its index first.
    pub tried: Vec<(usize, Vec<f64>)>,
    /// How it ended.
    pub end: End,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The values of the first and of the last version may be from one distribution.
    Alike {
        /// The chance of a difference like this in that case.
        chance: f64,
    },
    /// It changed between these two neighbours, or, if they are not told apart, little by little
    /// around them.
    Changed {
        /// The last one that is like the first.
        before: usize,
        /// The first one that is like the last.
        after: usize,
        /// The chance of a difference like theirs by chance alone.
        chance: f64,
    },
}

/// Looks for the version, of `count` in their order, from which on the values are like those of the
/// last one and unlike those of the first. It halves the versions, so it finds one change where
/// there are several. `measure` gives the values of a version.
///
/// # Errors
/// Those of `measure`.
pub fn bisect<E>(
    count: usize,
    mut measure: impl FnMut(usize) -> Result<Vec<f64>, E>,
) -> Result<Found, E> {
    let (mut before, mut after) = (0, count.saturating_sub(1));
    let mut tried = vec![(before, measure(before)?), (after, measure(after)?)];
    let chance = ranks::chance(&tried[0].1, &tried[1].1);
    if chance >= CHANCE {
        return Ok(Found { tried, end: End::Alike { chance } });
    }
    let (first, last) = (tried[0].1.clone(), tried[1].1.clone());
    while after - before > 1 {
        let middle = usize::midpoint(before, after);
        let values = measure(middle)?;
        // Like the one from which it differs less surely.
        let like_first = ranks::chance(&values, &first) >= ranks::chance(&values, &last);
        tried.push((middle, values));
        if like_first {
            before = middle;
        } else {
            after = middle;
        }
    }
    tried.sort_by_key(|(version, _)| *version);
    let of = |version| tried.iter().find(|(it, _)| *it == version).map(|(_, values)| values);
    let chance = of(before).zip(of(after)).map_or(1.0, |(a, b)| ranks::chance(a, b));
    Ok(Found { end: End::Changed { before, after, chance }, tried })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn search(values: &[f64]) -> Found {
        let measure = |version: usize| {
            let noise = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];
            Ok::<_, Infallible>(noise.map(|noise| values[version] + noise).to_vec())
        };
        bisect(values.len(), measure).expect("values")
    }

    #[test]
    fn the_version_that_changed_is_found_in_few_steps() {
        for change in 1..17 {
            let values: Vec<f64> = (0..17).map(|it| if it < change { 1.0 } else { 2.0 }).collect();
            let found = search(&values);
            let End::Changed { before, after, chance } = found.end else { panic!("{found:?}") };
            assert_eq!((before, after), (change - 1, change));
            assert!(chance < 0.01 && found.tried.len() <= 7, "{found:?}");
            assert!(found.tried.is_sorted_by_key(|(version, _)| *version));
        }
    }

    #[test]
    fn where_the_ends_are_alike_nothing_is_looked_for() {
        let found = search(&[1.0, 5.0, 1.0]);
        assert_eq!(found.tried.len(), 2);
        assert!(matches!(found.end, End::Alike { chance } if chance == 1.0));
        let one = search(&[1.0]);
        assert!(matches!(one.end, End::Alike { .. }));
    }
}
