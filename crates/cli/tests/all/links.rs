//! Links: where those of the pages lead, and whether the pages that texts name exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// Folders with pages, besides the root itself.
const FOLDERS: [&str; 6] = ["bench", "crates", "docs", "fuzz", "scenarios", "traces"];
/// What builds and benchmarks leave behind.
const BUILT: [&str; 4] = ["big", "corpus", "node_modules", "target"];
/// Folders and files in which texts name pages of `docs`. The history of CHANGELOG.md names pages
/// where they were then.
const NAMING: [&str; 14] = [
    ".ci",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "bench",
    "contrib",
    "crates",
    "docs",
    "fuzz",
    "policies",
    "python",
    "scenarios",
    "testing",
    "xtask",
];

/// All files in a folder and below whose names satisfy `wanted`, in order.
fn files(folder: &Path, wanted: &dyn Fn(&str) -> bool, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !BUILT.contains(&name.as_str()) {
                files(&path, wanted, found);
            }
        } else if wanted(&name) {
            found.push(path);
        }
    }
}

fn is_page(name: &str) -> bool {
    name.ends_with(".md")
}

/// All pages of the repository.
pub(crate) fn pages() -> Vec<PathBuf> {
    let names = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md"];
    let mut found: Vec<PathBuf> = names.iter().map(|name| root().join(name)).collect();
    for folder in FOLDERS {
        files(&root().join(folder), &is_page, &mut found);
    }
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a page; those of fenced blocks are empty.
fn prose(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        found.push(if fenced || is_fence { "" } else { line });
    }
    found
}

/// The targets of the links of a page. Text between backticks has none.
fn targets(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for paragraph in prose(page).join("\n").split("\n\n") {
        let text: String = paragraph.split('`').step_by(2).collect();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(links.map(|(target, _)| target.to_owned()));
    }
    found
}

/// The anchors of a page: its headings, as GitHub makes them into links.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for line in prose(page) {
        let text = line.trim_start_matches('#');
        let level = line.len() - text.len();
        if !(1..=6).contains(&level) || !text.starts_with(' ') {
            continue;
        }
        let slug = slug(text.trim());
        let count = seen.entry(slug.clone()).or_default();
        found.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    found
}

/// Letters and digits in lower case, `-` and `_`; a hyphen for each space; nothing else.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|it| it.is_alphanumeric() || [' ', '-', '_'].contains(it));
    kept.map(|it| if it == ' ' { '-' } else { it }).flat_map(char::to_lowercase).collect()
}

/// Why a link of the page at `path` leads nowhere. `None`: it leads somewhere.
fn broken(path: &Path, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let to = match file {
        "" => path.to_owned(),
        _ => path.parent().expect("a folder").join(file),
    };
    if !to.exists() {
        return Some(format!("{}: {target}: no such file", path.display()));
    }
    if anchor.is_empty() {
        return None;
    }
    let exists = (file.is_empty() || is_page(file)) && anchors(&read(&to)).contains(anchor);
    (!exists).then(|| format!("{}: {target}: no such heading", path.display()))
}

#[test]
fn every_link_leads_to_a_file_and_every_anchor_to_a_heading() {
    let (mut all, mut found) = (Vec::new(), 0);
    for path in pages() {
        for target in targets(&read(&path)).iter().filter(|target| !target.contains("://")) {
            found += 1;
            all.extend(broken(&path, target));
        }
    }
    assert!(found > 100, "links are found");
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn the_map_of_the_documentation_names_every_page() {
    let docs = root().join("docs");
    let map = targets(&read(&docs.join("README.md")));
    let named: BTreeSet<PathBuf> = map
        .iter()
        .filter_map(|target| docs.join(target.split('#').next()?).canonicalize().ok())
        .collect();
    let mut pages = Vec::new();
    files(&docs, &is_page, &mut pages);
    pages.retain(|page| !page.ends_with("docs/README.md") && !named.contains(page));
    assert!(pages.is_empty(), "not in docs/README.md: {pages:#?}");
}

#[test]
fn every_page_that_a_text_names_exists() {
    let endings = [".c", ".csv", ".h", ".json", ".md", ".py", ".rota", ".rs", ".toml", ".ts"];
    let wanted = |name: &str| endings.iter().any(|ending| name.ends_with(ending));
    let mut texts = Vec::new();
    for name in NAMING.map(|name| root().join(name)) {
        if name.is_dir() {
            files(&name, &wanted, &mut texts);
        } else {
            texts.push(name);
        }
    }
    let (mut missing, mut found) = (Vec::new(), 0);
    for path in texts {
        for rest in read(&path).split("docs/").skip(1) {
            let is_end = |it: char| !it.is_ascii_alphanumeric() && !"./_-".contains(it);
            let name = rest.split(is_end).next().unwrap_or_default().trim_end_matches('.');
            if ![".csv", ".json", ".md", ".png"].iter().any(|ending| name.ends_with(ending)) {
                continue;
            }
            found += 1;
            if !root().join("docs").join(name).exists() {
                missing.push(format!("{}: docs/{name}", path.display()));
            }
        }
    }
    assert!(found > 100, "names of pages are found");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn anchors_are_those_of_github() {
    let page = "# Do `deadlines` hold?\n```\n# no\n```\n## bsp-alpha-2.4\n## To do\n### To do\n";
    let expected = ["bsp-alpha-24", "do-deadlines-hold", "to-do", "to-do-1"];
    assert_eq!(anchors(page), BTreeSet::from(expected.map(str::to_owned)));
    let links = "see [a](b.md#c), `[no](link)`\nand [`d`](e.md)\n```\n[f](g)\n```\n";
    assert_eq!(targets(links), ["b.md#c", "e.md"]);
}
