//! What apt says about packages: which hold kernels, where they are, and what it could not read.

use std::collections::{BTreeMap, HashMap};

use super::offer::LeftOut;
use super::package::Package;
use super::tool;
use super::version::Version;

/// The forms of a kernel's name, before and after its release, best first. From 6.19 on, `image`
/// only depends on `binary`. What is not signed holds the same kernel, and may come earlier.
const FORMS: [(&str, &str); 4] = [
    ("linux-binary-", ""),
    ("linux-image-", ""),
    ("linux-binary-unsigned-", ""),
    ("linux-image-", "-unsigned"),
];

/// What all their names begin with.
pub(super) const PREFIXES: [&str; 2] = ["linux-binary-", "linux-image-"];

/// Those of `names` that are the kernels of an architecture, as apt calls it: not the packages of
/// debugging symbols, nor those that only depend on the newest kernel.
pub(super) fn kernels<'a>(names: &'a str, arch: &str) -> Vec<&'a str> {
    names.lines().filter(|name| form(name, arch).is_some()).collect()
}

/// The packages of `madison` (`apt-cache madison`), each with what `uris` (`apt-get --print-uris
/// download`) says of it, newest first. Of several that hold the same kernel the best is taken, and
/// of several suites the one that comes first in `suites`.
pub(super) fn packages(madison: &str, uris: &str, suites: &[&str], arch: &str) -> Vec<Package> {
    let files: HashMap<_, _> =
        uris.lines().filter_map(file).map(|file| (file.name, file)).collect();
    let mut best = BTreeMap::new();
    for (name, version, suite) in rows(madison) {
        let Some((form, release)) = form(name, arch) else { continue };
        let Some(file) = files.get(format!("{name}_{version}_{arch}.deb").as_str()) else {
            continue;
        };
        let package = Package {
            name: name.to_owned(),
            version: Version::from(version),
            release: release.to_owned(),
            suite: suite.to_owned(),
            uri: file.uri.to_owned(),
            size_bytes: file.size_bytes,
            sha256: file.sha256.to_owned(),
        };
        let rank = (form, suites.iter().position(|known| *known == suite));
        let key = (package.version.clone(), package.release.clone());
        let known = best.entry(key).or_insert_with(|| (rank, package.clone()));
        if rank < known.0 {
            *known = (rank, package);
        }
    }
    best.into_values().rev().map(|(_, package)| package).collect()
}

/// Name, version and suite of each package in what `apt-cache madison` says.
pub(super) fn rows(madison: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    madison.lines().filter_map(row)
}

/// The suites that `said`, the warnings and errors of `apt-get update`, is about.
pub(super) fn left_out(said: &str, suites: &[&str]) -> Vec<LeftOut> {
    let about = |suite: &str| {
        let is_word = |c: char| c.is_alphanumeric() || c == '-';
        let names = |line: &&str| line.split(|c| !is_word(c)).any(|word| word == suite);
        let line = said.lines().find(names)?;
        Some(LeftOut { suite: suite.to_owned(), why: tool::plain(line).to_owned() })
    };
    suites.iter().filter_map(|suite| about(suite)).collect()
}

/// Which of [`FORMS`] a name has, and the release in it.
fn form<'a>(name: &'a str, arch: &str) -> Option<(usize, &'a str)> {
    let release = |(before, after): &(&str, &str)| {
        let release = name.strip_prefix(before)?.strip_suffix(after)?;
        let flavour = release.strip_suffix(arch)?.strip_suffix("-cloud-")?;
        // `6.12-cloud-amd64` depends on the newest of them.
        let version = flavour.split(['-', '+']).next()?;
        let is_whole = version.split('.').filter(|part| part.parse::<u32>().is_ok()).count() == 3;
        is_whole.then_some(release)
    };
    FORMS.iter().enumerate().find_map(|(at, of)| Some((at, release(of)?)))
}

/// `NAME | VERSION | URI SUITE/COMPONENT ARCH Packages`
fn row(line: &str) -> Option<(&str, &str, &str)> {
    let mut cells = line.split('|').map(str::trim);
    let (name, version, from) = (cells.next()?, cells.next()?, cells.next()?);
    let (suite, _) = from.split_whitespace().nth(1)?.split_once('/')?;
    Some((name, version, suite))
}

/// A file of the archive.
struct File<'a> {
    name: &'a str,
    uri: &'a str,
    size_bytes: u64,
    sha256: &'a str,
}

/// `'URI' NAME SIZE SHA256:SUM`
fn file(line: &str) -> Option<File<'_>> {
    let mut words = line.split_whitespace();
    let uri = words.next()?.trim_matches('\'');
    let name = words.next()?;
    let size_bytes = words.next()?.parse().ok()?;
    let sha256 = words.next()?.strip_prefix("SHA256:")?;
    Some(File { name, uri, size_bytes, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITES: [&str; 5] = ["bookworm", "trixie", "trixie-security", "trixie-backports", "sid"];

    const NAMES: &str = "\
linux-binary-7.2.13+deb14-cloud-amd64
linux-binary-unsigned-7.2.13+deb14-cloud-amd64
linux-image-7.2.13+deb14-cloud-amd64
linux-image-7.2.13+deb14-cloud-amd64-dbg
linux-image-7.2.13+deb14-cloud-arm64
linux-image-7.2.13+deb14-amd64
linux-image-6.1.0-50-cloud-amd64-unsigned
linux-image-6.1.0-0.deb11.52-cloud-amd64
linux-image-6.12-cloud-amd64
linux-image-cloud-amd64
";

    const MADISON: &str = "\
linux-image-6.12.117+deb13-cloud-amd64 | 6.12.117-1 | http://m/s trixie-security/main amd64 Packages
linux-image-6.12.117+deb13-cloud-amd64 | 6.12.117-1 | http://m/d trixie/main amd64 Packages
linux-image-6.12.117+deb13-cloud-amd64-unsigned | 6.12.117-1 | http://m/d trixie/main amd64 Packages
linux-image-7.2.13+deb14-cloud-amd64 |   7.2.13-1 | http://m/d sid/main amd64 Packages
linux-binary-7.2.13+deb14-cloud-amd64 |   7.2.13-1 | http://m/d sid/main amd64 Packages
linux-image-6.1.0-50-cloud-amd64-unsigned |  6.1.176-1 | http://m/d bookworm/main amd64 Packages
linux-image-cloud-amd64 |   7.2.13-1 | http://m/d sid/main amd64 Packages
     linux | 7.2.13-1 | http://m/d sid/main Sources
";

    const URIS: &str = "\
'http://m/a%2b.deb' linux-image-6.12.117+deb13-cloud-amd64_6.12.117-1_amd64.deb 70 SHA256:aa
'http://m/b.deb' linux-image-6.12.117+deb13-cloud-amd64-unsigned_6.12.117-1_amd64.deb 71 SHA256:bb
'http://m/c.deb' linux-image-7.2.13+deb14-cloud-amd64_7.2.13-1_amd64.deb 72 SHA256:cc
'http://m/d.deb' linux-binary-7.2.13+deb14-cloud-amd64_7.2.13-1_amd64.deb 13717736 SHA256:dd
'http://m/e.deb' linux-image-6.1.0-50-cloud-amd64-unsigned_6.1.176-1_amd64.deb 73 SHA256:ee
";

    #[test]
    fn only_the_kernels_themselves_are_kernels() {
        let found = kernels(NAMES, "amd64");
        let lines: Vec<&str> = NAMES.lines().collect();
        assert_eq!(found, [lines[0], lines[1], lines[2], lines[6], lines[7]]);
        assert_eq!(kernels(NAMES, "arm64"), [lines[4]]);
    }

    #[test]
    fn of_one_kernel_the_signed_package_and_the_first_suite_are_taken() {
        let all = packages(MADISON, URIS, &SUITES, "amd64");
        let short = |p: &Package| format!("{} {} {} {}", p.release, p.version, p.suite, p.uri);
        let all: Vec<String> = all.iter().map(short).collect();
        assert_eq!(
            all,
            [
                "7.2.13+deb14-cloud-amd64 7.2.13-1 sid http://m/d.deb",
                "6.12.117+deb13-cloud-amd64 6.12.117-1 trixie http://m/a%2b.deb",
                "6.1.0-50-cloud-amd64 6.1.176-1 bookworm http://m/e.deb",
            ]
        );
    }

    #[test]
    fn what_apt_says_of_a_suite_is_found() {
        let said = "\
W: Failed to fetch http://m/debian/dists/bookworm/InRelease  Could not resolve 'm'
W: GPG error: http://m/debian sid InRelease: NO_PUBKEY 6ED0E7B82643E131
E: The repository 'http://m/debian sid InRelease' is not signed.
E: The repository 'http://m/debian trixie-backports Release' does not have a Release file.
";
        let found = left_out(said, &SUITES);
        let suites: Vec<&str> = found.iter().map(|left| left.suite.as_str()).collect();
        assert_eq!(suites, ["bookworm", "trixie-backports", "sid"]);
        assert!(found[2].why.starts_with("GPG error"), "{}", found[2].why);
    }
}
