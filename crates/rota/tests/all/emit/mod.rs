//! Emitted C: what clang makes of it, and what holds of its text.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use wastenot_rota::emit::emit;

mod compiles;
