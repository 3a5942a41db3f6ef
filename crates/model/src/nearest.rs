//! Finds the name that was probably meant: the known name that takes the fewest edits.

/// Longer names are compared by their beginning, so that a message costs little.
const CHARS: usize = 64;

/// The nearest of the known names, if at most a third of the typed text has to be edited
/// (Levenshtein), and some of it remains.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let cut = |name: &str| name.chars().take(CHARS).collect::<String>();
    let typed = cut(&typed.to_lowercase());
    let distance = |name: &str| strsim::levenshtein(&typed, &cut(name));
    let best = known.into_iter().map(|name| (distance(name), name)).min()?;
    let length = typed.chars().count();
    (best.0 <= length.div_ceil(3) && best.0 < length).then_some(best.1)
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
