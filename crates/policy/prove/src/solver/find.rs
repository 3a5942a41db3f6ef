//! Finds solvers: those that the user names, else those on PATH, else those in Python's wheels.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Kind, Solver, process};
use crate::Error;

/// cvc5's wheel holds no program, so Python is told how to be one.
pub(super) const DRIVER: &str = include_str!("driver.py");

const VERSION_OF_MODULE: &str = "import sys; sys.path = [p for p in sys.path if p]; \
                                 import cvc5; cvc5.InputParser; print(cvc5.__version__)";

/// A version is told at once; loading a module from a cold disk takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// A z3 to take before all others. Empty: none at all.
    pub z3: Option<OsString>,
    /// A cvc5, or a Python that has it as a module, to take before all others. Empty: none at all.
    pub cvc5: Option<OsString>,
    /// Folders, as in PATH.
    pub path: OsString,
}

impl Places {
    /// WASTENOT_Z3, WASTENOT_CVC5 and PATH. The one place here that reads the environment.
    pub fn from_environment() -> Places {
        let read = |name| std::env::var_os(name);
        Places {
            z3: read("WASTENOT_Z3"),
            cvc5: read("WASTENOT_CVC5"),
            path: read("PATH").unwrap_or_default(),
        }
    }

    /// Those that are there, z3 first.
    ///
    /// # Errors
    /// A solver that was named but is none.
    pub fn solvers(&self) -> Result<Vec<Solver>, Error> {
        let found = [self.find(Kind::Z3)?, self.find(Kind::Cvc5)?];
        Ok(found.into_iter().flatten().collect())
    }

    /// One of this kind, if there is any.
    ///
    /// # Errors
    /// It was named but is none.
    pub fn find(&self, kind: Kind) -> Result<Option<Solver>, Error> {
        let named = match kind {
            Kind::Z3 => &self.z3,
            Kind::Cvc5 => &self.cvc5,
        };
        match named {
            Some(none) if none.is_empty() => Ok(None),
            Some(named) => {
                let program = self.on_path(named).unwrap_or_else(|| PathBuf::from(named));
                let found = probe(kind, &program);
                found.map(Some).ok_or(Error::NotASolver {
                    name: kind.name(),
                    recipe: kind.recipe(),
                    program,
                })
            }
            None => Ok(self.unnamed(kind)),
        }
    }

    fn unnamed(&self, kind: Kind) -> Option<Solver> {
        let names: &[&str] = match kind {
            Kind::Z3 => &["z3"],
            Kind::Cvc5 => &["cvc5", "python3"],
        };
        let mut programs = names.iter().filter_map(|name| self.on_path(OsStr::new(name)));
        programs.find_map(|program| probe(kind, &program))
    }

    /// The first file of this name. A name with a slash stands for itself.
    fn on_path(&self, name: &OsStr) -> Option<PathBuf> {
        if Path::new(name).components().count() > 1 {
            return None;
        }
        let candidates = std::env::split_paths(&self.path).map(|folder| folder.join(name));
        candidates.into_iter().find(|program| program.is_file())
    }
}

/// Asks a program for its version, and so whether it is what it is taken for.
fn probe(kind: Kind, program: &Path) -> Option<Solver> {
    let name = program.file_name()?.to_string_lossy().into_owned();
    let through_python = kind == Kind::Cvc5 && name.starts_with("python");
    let arguments: Vec<OsString> = match through_python {
        true => vec!["-c".into(), VERSION_OF_MODULE.into()],
        false => vec!["--version".into()],
    };
    let told = process::run(program, &arguments, "", PATIENCE).ok()?;
    let version = match (kind, through_python) {
        (Kind::Z3, _) => after(&told.out, "Z3 version "),
        (Kind::Cvc5, false) => after(&told.out, "This is cvc5 version "),
        (Kind::Cvc5, true) => told.out.split_whitespace().next().map(str::to_owned),
    }?;
    let good = !told.timed_out && version.starts_with(|c: char| c.is_ascii_digit());
    good.then(|| Solver { kind, version, program: program.to_owned(), through_python })
}

fn after(text: &str, words: &str) -> Option<String> {
    let rest = text.split_once(words)?.1;
    rest.split(|c: char| c.is_whitespace() || c == '[').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::Help;

    #[test]
    fn what_was_named_but_is_no_solver_is_an_error() {
        let places = Places { z3: Some("/bin/false".into()), ..Places::default() };
        let error = places.solvers().unwrap_err();
        assert_eq!(error.to_string(), "the program /bin/false is not z3");
        assert!(error.help().contains("WASTENOT_Z3"), "{}", error.help());
    }

    #[test]
    fn an_empty_name_means_none_and_an_empty_path_holds_none() {
        let none = Places { z3: Some("".into()), cvc5: Some("".into()), path: "/bin".into() };
        assert_eq!(none.solvers().unwrap(), []);
        assert_eq!(Places::default().solvers().unwrap(), []);
    }
}
