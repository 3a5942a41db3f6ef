//! No circle of modules in a crate: what a module imports does not import it, through however many
//! others. A folder counts with all that is in it, and each folder is a graph of its own, so a
//! module may import its parent, and a parent its modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::{metadata, tidy};

/// Imports that close a circle and cannot go: the crate, who imports what, and why.
const INHERENT: &[(&str, &str, &str, &str)] =
    &[("sim", "mechanism", "engine", "the trait Mechanism takes `&mut Kernel`, which calls it")];

/// A path of names. That of a module begins below the root of its crate.
type Names = Vec<String>;

/// Imports of a crate: the folder, who imports what there, and the file and path that show it.
type Imports = BTreeMap<(Names, String, String), String>;

/// A module: its code without comments and unit tests, and what its `use` gives each name.
struct Module {
    code: String,
    named: BTreeMap<String, Names>,
}

type Crate = BTreeMap<Names, Module>;

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The paths of a text that begins like `a::{b, c::d as e}`, each with the name that it gets.
fn paths(text: &str) -> Vec<(Names, String)> {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        let mut depth = 1;
        let mut deeper = |c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth
        };
        let end = group.find(|c| deeper(c) == 0).unwrap_or(group.len());
        // It ended at depth 0.
        let parts = group[..end].split(|c| deeper(c) == 0 && c == ',');
        return parts.flat_map(paths).collect();
    }
    let (name, rest) = text.split_at(text.find(|c| !is_letter(c)).unwrap_or(text.len()));
    if name.is_empty() {
        return Vec::new();
    }
    let inner = rest.strip_prefix("::").map(paths).unwrap_or_default();
    if inner.is_empty() {
        let alias = rest.strip_prefix(" as ").and_then(|it| it.split(|c| !is_letter(c)).next());
        return vec![(vec![name.to_owned()], alias.unwrap_or(name).to_owned())];
    }
    let outer = |(mut path, mut alias): (Names, String)| {
        path.insert(0, name.to_owned());
        if path[1] == "self" {
            path.remove(1);
            alias = name.to_owned();
        }
        (path, alias)
    };
    inner.into_iter().map(outer).collect()
}

/// A file without comments and unit tests.
pub(crate) fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The rest of the text from each place of the word on.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let begins = |at: &usize| !text[..*at].ends_with(|c| is_letter(c) || c == ':');
    text.match_indices(word).map(|(at, _)| at).filter(begins).map(|at| &text[at..])
}

impl Module {
    fn new(text: &str) -> Module {
        let code = code(text);
        let named = places(&code, "use ").flat_map(|it| paths(&it["use ".len()..]));
        let named = named.map(|(path, alias)| (alias, path)).collect();
        Module { code, named }
    }

    /// The paths in the code that begin at the root of the crate or in the parent.
    fn imports(&self) -> impl Iterator<Item = Names> {
        let all = ["crate::", "super::"].into_iter().flat_map(|word| places(&self.code, word));
        all.flat_map(paths).map(|(path, _)| path)
    }
}

/// The modules of a crate, from the files below `src`.
fn modules(src: &Path) -> Crate {
    let mut files = Vec::new();
    tidy::sources(src, &mut files);
    let module = |file: PathBuf| {
        let path = file.strip_prefix(src).expect("a file below it").with_extension("");
        let names = path.iter().map(|it| it.to_string_lossy().into_owned());
        let names = names.filter(|it| !["lib", "main", "mod"].contains(&it.as_str()));
        (names.collect(), Module::new(&fs::read_to_string(&file).expect("a source file")))
    };
    files.into_iter().filter(|it| !it.ends_with("tests.rs")).map(module).collect()
}

/// The module that declares what a path from a module leads to, if it is of this crate.
fn owner(all: &Crate, from: &Names, path: &[String], hops: usize) -> Option<Names> {
    let mut at = from.clone();
    for (passed, name) in path.iter().enumerate() {
        let inner = [at.as_slice(), std::slice::from_ref(name)].concat();
        match name.as_str() {
            "crate" => at.clear(),
            "super" => _ = at.pop(),
            "self" => {}
            _ if all.contains_key(&inner) => at = inner,
            _ => {
                let Some(target) = all.get(&at).and_then(|it| it.named.get(name)) else {
                    return (passed > 0).then_some(at);
                };
                let target = [target, &path[passed + 1..]].concat();
                return if hops > 9 { None } else { owner(all, &at, &target, hops + 1) };
            }
        }
    }
    Some(at)
}

/// The imports between the modules of each folder. An import counts for the module of the folder
/// that contains it.
fn imports(all: &Crate) -> Imports {
    let mut found = Imports::new();
    for (name, module) in all {
        for path in module.imports() {
            let Some(to) = owner(all, name, &path, 0) else { continue };
            let shared = name.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(into)) = (name.get(shared), to.get(shared)) {
                let shown = format!("{} has {}", name.join("::"), path.join("::"));
                found.insert((name[..shared].to_vec(), from.clone(), into.clone()), shown);
            }
        }
    }
    found
}

/// The imports that are part of a circle, each with what shows it.
fn circles(imports: &Imports) -> Vec<String> {
    let is_back = |(folder, from, to): &(Names, String, String)| {
        let mut seen = BTreeSet::from([to]);
        let mut todo = vec![to];
        while let Some(at) = todo.pop() {
            let next = imports.keys().filter(|it| it.0 == *folder && it.1 == *at);
            todo.extend(next.map(|it| &it.2).filter(|it| seen.insert(it)));
        }
        seen.contains(from)
    };
    let circles = imports.iter().filter(|(import, _)| is_back(import));
    circles.map(|((_, from, to), shown)| format!("{from} -> {to}: {shown}")).collect()
}

#[test]
fn no_module_imports_one_that_imports_it() {
    let (mut found, mut known) = (Vec::new(), 0);
    for package in metadata().workspace_packages() {
        let root = package.manifest_path.parent().expect("a folder").join("src");
        let mut imports = imports(&modules(root.as_std_path()));
        let name = package.name.trim_start_matches("wastenot-");
        imports.retain(|(_, from, to), _| {
            let is_known = INHERENT.iter().any(|it| (it.0, it.1, it.2) == (name, from, to));
            known += usize::from(is_known);
            !is_known
        });
        found.extend(circles(&imports).into_iter().map(|it| format!("{name}: {it}")));
    }
    assert!(found.is_empty(), "circles of modules: {found:#?}");
    assert_eq!(known, INHERENT.len(), "imports that are taken for inherent are no more");
}

#[test]
fn a_circle_is_found() {
    let a = "use crate::{b::{self, c}, d::E as F};\nfn g() { super::h::i(c) }";
    let a: BTreeSet<String> = Module::new(a).imports().map(|it| it.join("::")).collect();
    let expected = ["crate::b", "crate::b::c", "crate::d::E", "super::h::i"];
    assert_eq!(a, BTreeSet::from(expected.map(str::to_owned)));
    let found = |files: &[(&str, &str)]| {
        let name = |path: &str| path.split("::").map(str::to_owned).collect();
        circles(&imports(&files.iter().map(|(it, text)| (name(it), Module::new(text))).collect()))
    };
    let (a, b) = (("a", "use crate::b;"), ("b", "use crate::c;"));
    assert_eq!(found(&[a, b, ("c", "")]), [""; 0]);
    let expected =
        ["a -> b: a has crate::b", "b -> c: b has crate::c", "c -> a: c has super::a::i"];
    assert_eq!(found(&[a, b, ("c", "use super::a::i;")]), expected);
    // A name that a parent exports is of the module that declares it.
    let inner = [("b::c", "use super::e::f;"), ("b::e", "fn f() { super::D::new() }")];
    let expected = ["c -> e: b::c has super::e::f", "e -> c: b::e has super::D::new"];
    assert_eq!(found(&[a, ("b", "pub use c::D;"), inner[0], inner[1]]), expected);
}
