//! Whether two sets of values differ by more than chance.

/// Two sets of values are told apart below this chance of being from one distribution.
pub const CHANCE: f64 = 0.05;

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
}
