//! The packages that hold kernels.

use serde::{Deserialize, Serialize};

use super::version::Version;

/// A package of Debian that holds a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Its name: `linux-binary-7.2.13+deb14-cloud-amd64`.
    pub name: String,
    /// Its version, and that of the kernel.
    pub version: Version,
    /// What `uname -r` says: `7.2.13+deb14-cloud-amd64`.
    pub release: String,
    /// The suite of Debian that has it.
    pub suite: String,
    /// Where it is.
    pub uri: String,
    /// How much there is to download.
    pub size_bytes: u64,
    /// Its checksum, from lists that Debian signed.
    pub sha256: String,
}

impl Package {
    /// Whether `wanted` names it: the first components of the kernel's version (`7.2`), the version
    /// of the package, what `uname -r` says, or the suite, with its security updates or without.
    pub fn matches(&self, wanted: &str) -> bool {
        let suite = self.suite.strip_suffix("-security").unwrap_or(&self.suite);
        self.version.matches(wanted) || [&self.release, suite, &self.suite].contains(&wanted)
    }

    /// As apt names it.
    pub(super) fn title(&self) -> String {
        format!("{}={}", self.name, self.version)
    }

    /// The folder of its kernel. A release can be built twice.
    pub(super) fn folder(&self) -> String {
        format!("{}_{}", self.release, self.version)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn package(version: &str, suite: &str) -> Package {
        let version = Version::from(version);
        let release = format!("{}+deb14-cloud-amd64", version.kernel());
        Package {
            name: format!("linux-binary-{release}"),
            uri: format!("http://mirror.test/{release}.deb"),
            suite: suite.to_owned(),
            size_bytes: 13_717_736,
            sha256: "03e41f1c".to_owned(),
            version,
            release,
        }
    }

    #[test]
    fn a_package_has_several_names() {
        let backport = package("6.16.3-1~bpo13+1", "trixie-backports");
        let update = package("6.12.118-1", "trixie-security");
        for (package, wanted, is_it) in [
            (&backport, "6.16", true),
            (&backport, "6.16.3-1~bpo13+1", true),
            (&backport, "6.16.3+deb14-cloud-amd64", true),
            (&backport, "trixie-backports", true),
            (&backport, "trixie", false),
            (&backport, "6.1", false),
            (&backport, "", false),
            (&update, "trixie", true),
            (&update, "trixie-security", true),
            (&update, "bookworm", false),
        ] {
            assert_eq!(package.matches(wanted), is_it, "{wanted} {}", package.title());
        }
    }
}
