//! No circle of files: what a module imports does not import it, through however many others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What each imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The names that stand first in paths which begin with `word::`, also in `word::{a::b, c}`.
fn named(text: &str, word: &str) -> BTreeSet<String> {
    let first =
        |path: &str| path.trim_start().split(|c: char| !is_letter(c)).next().map(str::to_owned);
    let mut names = BTreeSet::new();
    let begins = format!("{word}::");
    for (at, _) in text.match_indices(&begins) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| is_letter(c) || c == ':') {
            continue;
        }
        let rest = &text[at + begins.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.extend(first(rest));
            continue;
        };
        let mut depth = 0;
        let deeper = |c: char, depth: &mut i32| match c {
            '{' => *depth += 1,
            '}' => *depth -= 1,
            _ => {}
        };
        let end = group.find(|c| {
            deeper(c, &mut depth);
            depth < 0
        });
        let mut depth = 0;
        let parts = group[..end.unwrap_or(group.len())].split(|c| {
            deeper(c, &mut depth);
            depth == 0 && c == ','
        });
        names.extend(parts.filter_map(first));
    }
    names.remove("");
    names
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A file without comments and unit tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a source file");
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path()).collect();
    all.sort();
    all
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

/// Those that are in a circle, or import one that is.
fn circle(mut graph: Graph) -> Vec<String> {
    loop {
        let free = |(_, imports): &(&String, &BTreeSet<String>)| {
            !imports.iter().any(|it| graph.contains_key(it))
        };
        let free: Vec<String> = graph.iter().filter(free).map(|(name, _)| name.clone()).collect();
        if free.is_empty() {
            return graph.into_keys().collect();
        }
        free.iter().for_each(|name| _ = graph.remove(name));
    }
}

#[test]
fn no_module_imports_one_that_imports_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let library = code(&root.join("lib.rs"));
    // What the root of the crate re-exports is its module's.
    let modules = files(&root).into_iter().map(|path| stem(&path)).filter(|name| name != "lib");
    let modules: Vec<String> = modules.collect();
    let exports = |name: &str| {
        let owner = modules.iter().find(|module| {
            let list = library.split(&format!("pub use {module}::")).nth(1).unwrap_or_default();
            let list = list.split(';').next().unwrap_or_default();
            list.split(|c| !is_letter(c)).any(|it| it == name)
        });
        owner.cloned().unwrap_or_else(|| name.to_owned())
    };
    let mut whole = Graph::new();
    for path in files(&root).into_iter().filter(|path| stem(path) != "lib") {
        let mut todo = vec![path.clone()];
        let imports = whole.entry(stem(&path)).or_default();
        while let Some(path) = todo.pop() {
            if path.is_dir() {
                let inside = files(&path);
                let siblings: BTreeSet<String> = inside.iter().map(|it| stem(it)).collect();
                let of = |it: &PathBuf| {
                    named(&code(it), "super").intersection(&siblings).cloned().collect()
                };
                let plain = inside.iter().filter(|it| it.is_file() && stem(it) != "mod");
                let graph: Graph = plain.map(|it| (stem(it), of(it))).collect();
                assert_eq!(circle(graph), Vec::<String>::new(), "{}", path.display());
                todo.extend(inside);
            } else {
                imports.extend(named(&code(&path), "crate").iter().map(|name| exports(name)));
            }
        }
        imports.remove(&stem(&path));
    }
    assert!(whole["engine"].contains("explore"), "{whole:?}");
    assert_eq!(circle(whole), Vec::<String>::new());
}

#[test]
fn a_circle_is_found() {
    let text = "use crate::{a::b, c::{d, e}, F};\nfn g() { crate::h::i(super::j); }";
    let names = ["F", "a", "c", "h"].map(str::to_owned);
    assert_eq!(named(text, "crate"), BTreeSet::from(names));
    let graph = |pairs: &[(&str, &str)]| -> Graph {
        pairs.iter().map(|(a, b)| (a.to_string(), BTreeSet::from([b.to_string()]))).collect()
    };
    assert_eq!(circle(graph(&[("a", "b"), ("b", "c"), ("c", "d")])), Vec::<String>::new());
    assert_eq!(circle(graph(&[("a", "b"), ("b", "c"), ("c", "a")])), ["a", "b", "c"]);
}
