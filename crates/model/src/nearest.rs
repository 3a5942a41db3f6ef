//! Finds the name that was probably meant: the known name that takes the fewest edits. Errors name
//! it in their help.

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

/// The help line for an unknown name: the nearest known name, or else `otherwise`.
pub fn suggest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    nearest(typed, known)
        .map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
}

/// The help line for an unknown name: the nearest known name, or else all known names after `all`.
pub fn suggest_of<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>, all: &str) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    suggest(typed, known.iter().copied(), &format!("{all} {}", known.join(", ")))
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
        assert_eq!(suggest_of("Compte", known, "use one of"), "did you mean `compute`?");
        assert_eq!(suggest_of("a", ["b", "c"], "use one of"), "use one of b, c");
    }
}
