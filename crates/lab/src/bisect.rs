//! Which version of a kernel changed a figure.

/// Two sets of values are told apart below this chance of being from one distribution.
const CHANCE: f64 = 0.05;

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
    /// It changed between these two, which are neighbours if all versions between them were told
    /// apart.
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
    let chance = chance(&tried[0].1, &tried[1].1);
    if chance >= CHANCE {
        return Ok(Found { tried, end: End::Alike { chance } });
    }
    let (first, last) = (tried[0].1.clone(), tried[1].1.clone());
    while after - before > 1 {
        let middle = usize::midpoint(before, after);
        let values = measure(middle)?;
        // Like the one from which it differs less surely.
        let like_first = self::chance(&values, &first) >= self::chance(&values, &last);
        tried.push((middle, values));
        if like_first {
            before = middle;
        } else {
            after = middle;
        }
    }
    tried.sort_by_key(|(version, _)| *version);
    let of = |version| tried.iter().find(|(it, _)| *it == version).map(|(_, values)| values);
    let chance = of(before).zip(of(after)).map_or(1.0, |(a, b)| self::chance(a, b));
    Ok(Found { end: End::Changed { before, after, chance }, tried })
}

/// The chance that two sets from one distribution differ in their ranks at least as much as these:
/// the exact rank-sum test, two-sided, equal values sharing their ranks (Wilcoxon 1945; Mann and
/// Whitney 1947). 1 where there are too few values to tell.
pub fn chance(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    // Twice the mean rank of equal values is whole.
    let rank = |value: f64| {
        let below = all.partition_point(|it| it.total_cmp(&value).is_lt());
        let up_to = all.partition_point(|it| it.total_cmp(&value).is_le());
        (below + up_to + 1) as u64
    };
    let sum: u64 = a.iter().map(|&value| rank(value)).sum();
    let ranks: Vec<u64> = all.iter().map(|&value| rank(value)).collect();
    let total: u64 = ranks.iter().sum();
    let ways = ways(&ranks, a.len());
    let count: f64 = ways.iter().sum();
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    // How far from the mean, times the number of values, so that it is whole.
    let off = |sum: u64| (sum * all.len() as u64).abs_diff(total * a.len() as u64);
    let as_far = ways.iter().enumerate().filter(|(it, _)| off(*it as u64) >= off(sum));
    as_far.map(|(_, ways)| ways).sum::<f64>() / count
}

/// In how many ways `of` of the ranks have each sum.
fn ways(ranks: &[u64], of: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum::<u64>() as usize;
    let mut ways = vec![vec![0.0; most + 1]; of + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        let rank = rank as usize;
        for taken in (0..of).rev() {
            for sum in (0..=most - rank).rev() {
                let more = ways[taken][sum];
                ways[taken + 1][sum + rank] += more;
            }
        }
    }
    ways.swap_remove(of)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn the_chance_is_that_of_the_tables() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0];
        // All of five below all of five: 2 of 252 ways.
        assert_eq!(chance(&a, &[6.0, 7.0, 8.0, 9.0, 10.0]), 2.0 / 252.0);
        // Three and three: 2 of 20, so three repeats decide nothing at 5 %.
        assert_eq!(chance(&a[..3], &[6.0, 7.0, 8.0]), 0.1);
        assert_eq!(chance(&a, &a), 1.0);
        assert_eq!(chance(&[], &a), 1.0);
        // U = 4 of five and five: 0.048 on one side (Mann and Whitney 1947, table I).
        let b = [2.5, 4.5, 6.0, 7.0, 8.0];
        let u = a.iter().map(|a| b.iter().filter(|b| a > b).count()).sum::<usize>();
        assert_eq!((u, (chance(&a, &b) * 1000.0).round()), (4, 95.0));
        assert_eq!(chance(&[1.0; 5], &[1.0; 5]), 1.0);
    }

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
