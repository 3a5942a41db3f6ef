//! The kernels to be had, kept so that apt is asked once a day.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Error;
use super::package::Package;

/// How long lists are good enough.
const AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The kernels to be had.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Offer {
    /// Newest first.
    pub kernels: Vec<Package>,
    /// Suites that could not be read: what they have is not here, or not their newest.
    pub left_out: Vec<LeftOut>,
}

/// A suite that could not be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// Which.
    pub suite: String,
    /// Why, in apt's words.
    pub why: String,
}

impl Offer {
    /// The newest kernel that `wanted` names.
    ///
    /// # Errors
    /// No kernel matches.
    pub fn newest(&self, wanted: &str) -> Result<&Package, Error> {
        let found = self.kernels.iter().find(|package| package.matches(wanted));
        found.ok_or_else(|| Error::Unknown { wanted: wanted.to_owned(), there: self.to_words() })
    }

    /// What was kept in a file less than a day ago.
    pub(super) fn read(file: &Path) -> Option<Offer> {
        let age = fs::metadata(file).ok()?.modified().ok()?.elapsed().ok()?;
        let text = fs::read(file).ok().filter(|_| age < AGE_MAX)?;
        // What another version wrote is asked for again.
        serde_json::from_slice(&text).ok()
    }

    /// Keeps it in a file.
    pub(super) fn write(&self, file: &Path) -> Result<(), Error> {
        let failed = |error| Error::file(file, error);
        let text = serde_json::to_vec_pretty(self).map_err(|error| failed(error.into()))?;
        // Written whole or not at all: who lists kernels takes no lock.
        let part = file.with_extension("part");
        fs::write(&part, text).and_then(|()| fs::rename(&part, file)).map_err(failed)
    }

    /// The lines of kernels that there are, as in 6.12, and the suites that there are not.
    fn to_words(&self) -> String {
        let line = |package: &Package| {
            let parts: Vec<&str> = package.version.kernel().splitn(3, '.').take(2).collect();
            parts.join(".")
        };
        let mut lines: Vec<String> = self.kernels.iter().map(line).collect();
        lines.dedup();
        let mut words = match lines.is_empty() {
            true => "Debian has no kernel for this machine".to_owned(),
            false => format!("the available kernels are {}", lines.join(", ")),
        };
        for LeftOut { suite, why } in &self.left_out {
            words += &format!("; {suite} was skipped: {why}");
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;
    use crate::kernels::package::tests::package;

    fn offer() -> Offer {
        let kernels = [
            package("7.20.1-1", "experimental"),
            package("7.2.13-1", "sid"),
            package("7.2.12-1~bpo13+1", "trixie-backports"),
            package("6.12.118-1", "trixie-security"),
            package("6.12.117-1", "trixie"),
        ];
        Offer { kernels: kernels.to_vec(), left_out: Vec::new() }
    }

    #[test]
    fn the_newest_match_wins() {
        let offer = offer();
        for (wanted, version) in [
            ("7.2", "7.2.13-1"),
            ("7", "7.20.1-1"),
            ("6.12", "6.12.118-1"),
            ("6.12.117", "6.12.117-1"),
            ("trixie", "6.12.118-1"),
            ("trixie-backports", "7.2.12-1~bpo13+1"),
            ("sid", "7.2.13-1"),
        ] {
            let found = offer.newest(wanted).expect(wanted);
            assert_eq!(found.version.to_string(), version, "{wanted}");
        }
    }

    #[test]
    fn an_error_says_what_there_is() {
        let mut offer = offer();
        let left = LeftOut { suite: "bullseye".to_owned(), why: "404".to_owned() };
        offer.left_out.push(left);
        let error = offer.newest("5.10").expect_err("none");
        assert_eq!(
            error.to_string(),
            "no kernel matches 5.10; the available kernels are 7.20, 7.2, 6.12; bullseye was \
             skipped: 404"
        );
        let none = Offer { kernels: Vec::new(), left_out: Vec::new() };
        let error = none.newest("5.10").expect_err("none");
        assert_eq!(
            error.to_string(),
            "no kernel matches 5.10; Debian has no kernel for this machine"
        );
    }

    #[test]
    fn an_offer_is_kept_for_a_day() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("offer.json");
        assert!(Offer::read(&file).is_none());
        offer().write(&file).expect("written");
        assert_eq!(Offer::read(&file).expect("kept").kernels, offer().kernels);
        let age = |age: Duration| {
            let file = File::options().write(true).open(&file).expect("the file");
            file.set_modified(SystemTime::now() - age).expect("a time");
        };
        age(AGE_MAX + Duration::from_secs(1));
        assert!(Offer::read(&file).is_none());
        age(Duration::ZERO);
        assert!(Offer::read(&file).is_some());
        fs::write(&file, "{").expect("written");
        assert!(Offer::read(&file).is_none());
    }
}
