//! apt, with a state of its own below one folder. That of the system is not touched, but its
//! proxies and mirrors are used.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{self, Path, PathBuf};

use super::Error;
use super::lists::{self, PREFIXES};
use super::lock::Lock;
use super::mirror::Mirrors;
use super::offer::LeftOut;
use super::package::Package;
use super::tool::{self, Said, Tool};

/// Where kernels are looked for. Of several that have the same package the first counts.
pub(super) const SUITES: [&str; 9] = [
    "bullseye",
    "bullseye-security",
    "bookworm",
    "bookworm-security",
    "bookworm-backports",
    "trixie",
    "trixie-security",
    "trixie-backports",
    "sid",
];

/// The keys that sign Debian's archive: since trixie with another ending.
const KEYS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// Only the lists of packages are read. An old suite is no longer signed anew, and old kernels are
/// what it is for.
const OPTIONS: &str = "target=Packages check-valid-until=no";

const SOURCES: &str = "sources.list";
const SOURCES_OPTION: &str = "Dir::Etc::SourceList=";
const SETTINGS: &str = "apt.conf";
/// Read after those of the system: what else is to be done after an update is about the system, the
/// user of apt cannot write in a folder of root's, and containers switch off the index that several
/// programs read here one after the other.
const SETTINGS_TEXT: &str = r#"#clear APT::Update;
APT::Sandbox::User "root";
Acquire::GzipIndexes "true";
Dir::State::status "/dev/null";
Dir::Etc::SourceParts "/dev/null";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "";
"#;

/// apt, with a state of its own.
pub(super) struct Apt<'a> {
    dir: PathBuf,
    lock: &'a Lock,
}

impl<'a> Apt<'a> {
    /// apt with its state in `dir`, below the folder that is locked.
    pub(super) fn open(dir: &Path, lock: &'a Lock) -> Result<Apt<'a>, Error> {
        // A relative path would be one below apt's own root.
        let dir = path::absolute(dir).map_err(|error| Error::file(dir, error))?;
        for folder in ["state/lists/partial", "cache/archives/partial"] {
            let folder = dir.join(folder);
            fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
        }
        let apt = Apt { dir, lock };
        apt.write(SETTINGS, SETTINGS_TEXT)?;
        Ok(apt)
    }

    /// Reads the lists of all suites anew: the kernels in them, newest first, and the suites that
    /// could not be read.
    pub(super) fn update(&self) -> Result<(Vec<Package>, Vec<LeftOut>), Error> {
        self.write(SOURCES, &sources()?)?;
        let said = self.output(Tool::AptGet, ["update", "-q"])?;
        let left_out = lists::left_out(&said.errors, &SUITES);
        if left_out.is_empty() && !said.is_good {
            return Err(Tool::AptGet.failure(&said.errors));
        }
        if left_out.len() == SUITES.len() {
            return Err(match Tool::AptGet.failure(&said.errors) {
                Error::Failed { why, .. } => Error::NoLists { why },
                other => other,
            });
        }
        let packages = self.packages();
        // It is as large as all the lists, and saves no time between two updates.
        let _ = fs::remove_file(self.dir.join("cache/pkgcache.bin"));
        Ok((packages?, left_out))
    }

    fn packages(&self) -> Result<Vec<Package>, Error> {
        let mut names = String::new();
        for prefix in PREFIXES {
            names += &self.run(Tool::AptCache, ["pkgnames", prefix])?;
        }
        let names = lists::kernels(&names, arch());
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let madison = self.run(Tool::AptCache, ["madison"].into_iter().chain(names))?;
        let named = lists::rows(&madison).map(|(name, version, _)| format!("{name}={version}"));
        let all = ["--print-uris", "download"].map(str::to_owned).into_iter().chain(named);
        let uris = self.run(Tool::AptGet, all)?;
        Ok(lists::packages(&madison, &uris, &SUITES, arch()))
    }

    /// Downloads a package, and checks it against its checksum.
    pub(super) fn download(&self, package: &Package, to: &Path) -> Result<(), Error> {
        let sum = format!("SHA256:{}", package.sha256);
        let args = [OsStr::new("download-file"), package.uri.as_ref(), to.as_ref(), sum.as_ref()];
        let said = self.output(Tool::AptHelper, args)?;
        match said.is_good {
            true => Ok(()),
            false if said.errors.contains("404  Not Found") => {
                Err(Error::Gone { package: package.title() })
            }
            false => Err(Tool::AptHelper.failure(&said.errors)),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let file = self.dir.join(name);
        fs::write(&file, text).map_err(|error| Error::file(&file, error))
    }

    fn run<T: AsRef<OsStr>>(
        &self,
        tool: Tool,
        args: impl IntoIterator<Item = T>,
    ) -> Result<String, Error> {
        tool::run(tool, self.args(args), self.lock.share())
    }

    fn output<T: AsRef<OsStr>>(
        &self,
        tool: Tool,
        args: impl IntoIterator<Item = T>,
    ) -> Result<Said, Error> {
        tool::output(tool, self.args(args), self.lock.share())
    }

    /// `args` after the options that give apt its own state.
    fn args<T: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = T>) -> Vec<OsString> {
        let own = [("Dir::State=", "state"), ("Dir::Cache=", "cache"), (SOURCES_OPTION, SOURCES)];
        let option = |(option, path): (&str, &str)| {
            let mut option = OsString::from(option);
            option.push(self.dir.join(path));
            ["-o".into(), option]
        };
        let settings = ["-c".into(), self.dir.join(SETTINGS).into_os_string()];
        let options = settings.into_iter().chain(own.into_iter().flat_map(option));
        options.chain(args.into_iter().map(|arg| arg.as_ref().to_owned())).collect()
    }
}

/// All suites, each at its mirror.
fn sources() -> Result<String, Error> {
    let keys = KEYS.iter().map(Path::new).find(|path| path.exists());
    let keys = keys.ok_or_else(|| Error::NoKeys { path: PathBuf::from(KEYS[0]) })?.display();
    let (mirrors, arch) = (Mirrors::of_machine(), arch());
    let line = |suite: &&str| {
        let uri = mirrors.of(suite);
        format!("deb [arch={arch} signed-by={keys} {OPTIONS}] {uri} {suite} main\n")
    };
    Ok(SUITES.iter().map(line).collect())
}

/// The architecture of this machine, as Debian calls it.
fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
