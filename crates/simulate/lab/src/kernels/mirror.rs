//! Where Debian's archive is: the mirrors that the apt of this machine uses.

use std::process::Stdio;

use super::tool::{self, Tool};

/// Mirrors of Debian's archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mirrors {
    /// Of the suites.
    pub(super) debian: String,
    /// Of their security updates.
    pub(super) security: String,
}

impl Mirrors {
    /// Those of this machine, or Debian's own where it has none.
    pub(super) fn of_machine() -> Mirrors {
        let ask = |option: &str| {
            let format = "$(ORIGIN)\t$(RELEASE)\t$(REPO_URI)";
            let args = ["indextargets", option, "--format", format, "Created-By: Packages"];
            // Without an answer there is still Debian's own.
            tool::run(Tool::AptGet, args, Stdio::null()).unwrap_or_default()
        };
        // Before the first `apt-get update` no origin is known, and nothing is listed.
        Mirrors::among(&(ask("--release-info") + &ask("--no-release-info")))
    }

    /// The first of each among `lines`, which are [`Target`]s.
    fn among(lines: &str) -> Mirrors {
        let first = |wanted: Kind, path: &str| {
            let targets = || lines.lines().filter_map(Target::of).filter(|it| it.kind() == wanted);
            let sure = targets().find(|target| target.origin == "Debian");
            // Others who publish for Debian have no suite of updates.
            let likely = || targets().find(|it| it.is_update() && it.uri.ends_with(path));
            let found = sure.or_else(likely).map(|target| target.uri.to_owned());
            found.unwrap_or_else(|| format!("http://deb.debian.org{path}"))
        };
        Mirrors {
            debian: first(Kind::Suite, "/debian"),
            security: first(Kind::Security, "/debian-security"),
        }
    }

    /// The mirror that has a suite.
    pub(super) fn of(&self, suite: &str) -> &str {
        match Kind::of(suite) {
            Kind::Suite => &self.debian,
            Kind::Security => &self.security,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Suite,
    Security,
}

impl Kind {
    fn of(suite: &str) -> Kind {
        if suite.ends_with("-security") { Kind::Security } else { Kind::Suite }
    }
}

/// What apt reads from one place.
struct Target<'a> {
    origin: &'a str,
    suite: &'a str,
    uri: &'a str,
}

impl Target<'_> {
    fn of(line: &str) -> Option<Target<'_>> {
        let mut cells = line.split('\t');
        let (origin, suite) = (cells.next()?, cells.next()?);
        let uri = cells.next()?.trim_end_matches('/');
        // A disc has one suite, and may not be there.
        (!uri.starts_with("cdrom:")).then_some(Target { origin, suite, uri })
    }

    fn kind(&self) -> Kind {
        Kind::of(self.suite)
    }

    fn is_update(&self) -> bool {
        self.suite.ends_with("-updates") || self.kind() == Kind::Security
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(lines: &str) -> (String, String) {
        let Mirrors { debian, security } = Mirrors::among(lines);
        (debian, security)
    }

    #[test]
    fn the_mirrors_of_the_machine_are_used() {
        let lines = "\
Docker\tbookworm\thttps://docker.test/linux/debian/
Debian\tbookworm\tcdrom:[Debian 12]/
Debian\tbookworm\thttps://near.test/proxy/
Debian\tbookworm-updates\thttps://far.test/debian/
Debian\tbookworm-security\thttps://near.test/security/
";
        let (debian, security) = among(lines);
        assert_eq!(debian, "https://near.test/proxy");
        assert_eq!(security, "https://near.test/security");
    }

    #[test]
    fn before_the_first_update_mirrors_are_known_by_their_suites() {
        let lines = "\
$(ORIGIN)\tbookworm\thttps://other.test/stable/debian/
$(ORIGIN)\tbookworm\thttps://near.test/debian/
$(ORIGIN)\tbookworm-updates\thttps://near.test/debian/
$(ORIGIN)\tjammy-updates\thttps://near.test/ubuntu/
$(ORIGIN)\tjammy-security\thttps://near.test/ubuntu/
";
        let (debian, security) = among(lines);
        assert_eq!(debian, "https://near.test/debian");
        assert_eq!(security, "http://deb.debian.org/debian-security");
    }

    #[test]
    fn a_machine_without_mirrors_uses_those_of_debian() {
        let (debian, security) = among("");
        assert_eq!(debian, "http://deb.debian.org/debian");
        assert_eq!(security, "http://deb.debian.org/debian-security");
    }

    #[test]
    fn a_suite_is_at_its_mirror() {
        let mirrors = Mirrors { debian: "d".to_owned(), security: "s".to_owned() };
        assert_eq!(mirrors.of("sid"), "d");
        assert_eq!(mirrors.of("trixie-security"), "s");
    }
}
