//! Whether two sets of values differ by more than chance.

/// Two sets of values are told apart below this chance of being from one distribution.
pub const CHANCE: f64 = 0.05;

/// Up to so many values the test is exact: it takes time with the cube of their number.
const EXACT: usize = 100;

/// The chance that two sets from one distribution differ in their ranks at least as much as these:
/// the rank-sum test, two-sided, equal values sharing their ranks (Wilcoxon 1945; Mann and Whitney
/// 1947). It is exact up to 100 values; of more the sum of ranks is taken as normal. 1 where there
/// are too few values to tell.
pub fn chance(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    let ranked = |of: &[f64]| of.iter().map(|&value| rank(&all, value)).collect::<Vec<u64>>();
    let (sum, ranks) = (ranked(a).iter().sum(), ranked(&all));
    let total: u64 = ranks.iter().sum();
    if all.len() > EXACT {
        return normal(&ranks, sum, a.len());
    }
    let ways = ways(&ranks, a.len());
    let count: f64 = ways.iter().sum();
    // How far from the mean, times the number of values, so that it is whole.
    let off = |sum: u64| (sum * all.len() as u64).abs_diff(total * a.len() as u64);
    let as_far = ways.iter().enumerate().filter(|(it, _)| off(*it as u64) >= off(sum));
    as_far.map(|(_, ways)| ways).sum::<f64>() / count
}

/// The rank of a value among `all`, which are sorted: twice the mean of those of equal values,
/// which is whole.
fn rank(all: &[f64], value: f64) -> u64 {
    let below = all.partition_point(|it| it.total_cmp(&value).is_lt());
    let up_to = all.partition_point(|it| it.total_cmp(&value).is_le());
    (below + up_to + 1) as u64
}

/// The chance that the sum of `of` of the ranks is at least as far from its mean as `sum`, if it is
/// normal. The ranks, and so the sum, are twice what they are called; equal ones are together.
fn normal(ranks: &[u64], sum: u64, of: usize) -> f64 {
    let (all, of) = (ranks.len() as f64, of as f64);
    let mean = of * (all + 1.0);
    let equal: f64 = ranks
        .chunk_by(|one, next| one == next)
        .map(|it| (it.len() as f64).powi(3) - it.len() as f64)
        .sum();
    let variance = of * (all - of) / 3.0 * (all + 1.0 - equal / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    // Half a step of the sum less: it is whole.
    let off = ((sum as f64 - mean).abs() - 1.0).max(0.0);
    libm::erfc(off / (2.0 * variance).sqrt())
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

    #[test]
    fn many_values_are_judged_at_once_and_much_as_few() {
        let values = |from: usize, count: usize| (from..from + count).map(|it| it as f64 / 7.0);
        let of = |count, shift| {
            let [a, b]: [Vec<f64>; 2] =
                [values(0, count).collect(), values(shift, count).collect()];
            (chance(&a, &b), a, b)
        };
        // Exact and normal, side by side, of 50 and 50 with equal values.
        let (exact, a, b) = of(50, 12);
        let mut all: Vec<f64> = a.iter().chain(&b).copied().collect();
        all.sort_by(f64::total_cmp);
        let ranks: Vec<u64> = all.iter().map(|&it| rank(&all, it)).collect();
        let near = normal(&ranks, a.iter().map(|&it| rank(&all, it)).sum(), 50);
        assert!((exact - near).abs() < 0.002, "{exact} and {near}");
        assert!(of(5_000, 0).0 == 1.0 && of(5_000, 300).0 < CHANCE);
        assert_eq!(chance(&[1.0; 500], &[1.0; 500]), 1.0);
    }
}
