//! Selects the functions and structs in `text/` that a file needs.

/// The functions and structs of `text` that are used by `after`, or by each other.
pub(super) fn needed(text: &str, after: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for piece in pieces(text).into_iter().rev() {
        let texts = || std::iter::once(after).chain(kept.iter().copied());
        let used = match defines(piece) {
            Some(Defined::Function(name)) => texts().any(|text| mentions(text, name)),
            Some(Defined::Struct(head)) => texts().any(|text| text.contains(head)),
            None => true,
        };
        if used {
            kept.push(piece);
        }
    }
    kept.reverse();
    kept.concat()
}

/// A text cut after every function and struct.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(end) = ["\n}\n", "\n};\n"]
        .into_iter()
        .filter_map(|end| rest.find(end).map(|at| at + end.len()))
        .min()
    {
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// What a piece of text defines.
enum Defined<'t> {
    Function(&'t str),
    /// `struct NAME`
    Struct(&'t str),
}

fn defines(piece: &str) -> Option<Defined<'_>> {
    piece.lines().find_map(|line| {
        let function = line.starts_with("static ") || line.starts_with("ONCE ");
        if function && line.ends_with(')') {
            return Some(Defined::Function(line.split('(').next()?.rsplit([' ', '*']).next()?));
        }
        let head = line.strip_suffix(" {").filter(|line| line.starts_with("struct "));
        head.map(Defined::Struct)
    })
}

/// Whether a text calls a function, or passes it as an argument.
fn mentions(text: &str, name: &str) -> bool {
    let alone = |at: usize| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        let after = &text[at + name.len()..];
        !text[..at].ends_with(letter) && after.starts_with(['(', ',', ')'])
    };
    text.match_indices(name).any(|(at, _)| alone(at))
}
