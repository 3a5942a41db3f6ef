//! What was probably meant: the known name that takes the fewest edits.

/// Longer names are compared by their beginning, so that a message costs little.
const CHARS: usize = 64;

/// The nearest of the known names, if at most a third of what was typed has to be edited, and
/// something of it is left.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = typed.to_lowercase().chars().take(CHARS).collect();
    let distance = |name: &str| edits(&typed, &name.chars().take(CHARS).collect::<Vec<_>>());
    let best = known.into_iter().map(|name| (distance(name), name)).min()?;
    (best.0 <= typed.len().div_ceil(3) && best.0 < typed.len()).then_some(best.1)
}

/// Insertions, deletions and replacements between two words (Levenshtein).
fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word_and_another_word_does_not() {
        let known = ["compute", "sleep", "barrier"];
        assert_eq!(nearest("Compte", known), Some("compute"));
        assert_eq!(nearest("barier", known), Some("barrier"));
        assert_eq!(nearest("unlock", known), None);
        assert_eq!(nearest("a", ["b"]), None);
        assert_eq!(nearest("", [""]), None);
    }
}
