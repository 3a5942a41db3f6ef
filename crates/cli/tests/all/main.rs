//! The house and its front door: the law of layers, tidiness, licences, and the command line as
//! those who type it meet it. Files that are generated are rewritten with SNAPSHOTS=overwrite.
#![allow(clippy::print_stdout, reason = "tests say what they skipped")]

mod bounds;
mod circles;
mod clusters;
mod confirm;
mod convert;
mod curves;
mod draw;
mod examples;
mod failures;
mod first_screen;
mod formats;
mod hunt;
mod lab;
mod layers;
mod licences;
mod links;
mod measure;
mod printable;
mod proofs;
mod record;
mod reference;
mod replayed;
mod rota;
mod shell;
mod sweep;
mod tidy;
mod view;
mod watch;

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// What cargo knows of the workspace and all it depends on.
fn metadata() -> Metadata {
    // Of other platforms' dependencies nothing is downloaded, and nothing linked.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let manifest = root().join("Cargo.toml");
    MetadataCommand::new()
        .manifest_path(manifest)
        .other_options(["--locked", "--filter-platform", &platform].map(str::to_owned))
        .exec()
        .expect("cargo metadata")
}
