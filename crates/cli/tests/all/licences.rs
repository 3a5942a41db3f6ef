//! Every dependency's licence is in the list of `deny.toml`, and the font in the binary comes with
//! its own. The same list serves cargo-deny; this test needs no tool that takes minutes to compile.

use std::fs;

use spdx::{Expression, ParseMode};

use crate::{metadata, root};

#[test]
fn every_dependency_has_an_allowed_licence() {
    let text = fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let deny: toml::Table = text.parse().expect("TOML");
    let allowed: Vec<&str> = deny["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|id| id.as_str().expect("an SPDX id"))
        .collect();
    let mut refused = Vec::new();
    for package in metadata().packages {
        // Some old crates write `MIT/Apache-2.0`.
        let licence = package.license.clone().unwrap_or_default();
        let fits = Expression::parse_mode(&licence, ParseMode::LAX).is_ok_and(|expression| {
            expression
                .evaluate(|wanted| wanted.license.id().is_some_and(|id| allowed.contains(&id.name)))
        });
        if !fits {
            refused.push(format!("{} {}: {licence:?}", package.name, package.version));
        }
    }
    assert!(refused.is_empty(), "not in deny.toml: {refused:#?}");
}

#[test]
fn the_licence_of_the_font_in_the_binary_is_here() {
    let text = fs::read_to_string(root().join("licenses/OFL-NotoSans.txt")).expect("the licence");
    assert!(text.starts_with("Noto Sans\nCopyright 2012 Google Inc."));
    assert!(text.contains("SIL OPEN FONT LICENSE Version 1.1") && text.contains("TERMINATION"));
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    assert!(readme.contains("licenses/OFL-NotoSans.txt"), "README names it");
}
