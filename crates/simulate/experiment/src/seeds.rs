//! Seeds of runs, as they are typed.

use std::str::FromStr;

/// Most seeds of one command.
const SEEDS: u64 = 10_000;

/// Seeds, in the order in which they were given, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub Vec<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let number = |text: &str| {
            text.trim()
                .parse::<u64>()
                .map_err(|_| format!("`{text}` is not a seed; write a whole number"))
        };
        let mut seeds: Vec<u64> = Vec::new();
        for part in text.split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(format!("the range starts with its higher seed; write {last}-{first}"));
            }
            if last - first >= SEEDS - seeds.len() as u64 {
                return Err(format!("there are too many seeds; the maximum is {SEEDS}"));
            }
            let before = seeds.len();
            seeds.extend(first..=last);
            if seeds[before..].iter().any(|seed| seeds[..before].contains(seed)) {
                return Err(format!("a seed of `{part}` is in the list twice"));
            }
        }
        Ok(Seeds(seeds))
    }
}

#[cfg(test)]
mod tests {
    use super::Seeds;

    #[test]
    fn seeds_are_numbers_and_ranges() {
        let seeds = |text: &str| text.parse::<Seeds>().map(|seeds| seeds.0);
        assert_eq!(seeds("7"), Ok(vec![7]));
        assert_eq!(seeds("0, 18446744073709551615"), Ok(vec![0, u64::MAX]));
        assert_eq!(seeds("9,1-3"), Ok(vec![9, 1, 2, 3]));
        assert_eq!(seeds("1-10000").map(|all| all.len()), Ok(10_000));
        for bad in ["", "1,", "-1", "1-", "x", "1.5", "3-1", "1-3,2", "0-10000", "0,1-10000"] {
            assert!(seeds(bad).is_err(), "{bad}");
        }
        assert!(seeds("0-18446744073709551615").is_err());
    }
}
