//! Kernels of Debian: found, fetched, unpacked, and kept in a folder.

mod apt;
mod error;
mod image;
mod kernel;
mod lists;
mod lock;
mod mirror;
mod offer;
mod package;
mod tool;
mod version;

use std::cmp::Reverse;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::statvfs;

use self::apt::Apt;
pub use self::error::Error;
pub use self::kernel::{Image, Kernel};
use self::lock::Lock;
pub use self::offer::{LeftOut, Offer};
pub use self::package::Package;
use self::tool::Tool;
pub use self::version::Version;

/// Whether `wanted` may name a kernel: it is a version, or a suite.
pub fn is_name(wanted: &str) -> bool {
    wanted.starts_with(|first: char| first.is_ascii_digit()) || apt::SUITES.contains(&wanted)
}

/// A folder of kernels, filled from Debian's archive.
///
/// Each kernel has a folder, which appears once it is whole. Beside them are the state of apt, the
/// lock, and what is being fetched.
#[derive(Clone, Debug)]
pub struct Kernels {
    dir: PathBuf,
}

/// Which lists and kernels are good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// Kernels that were fetched before, and lists that were read less than a day ago.
    Kept,
    /// Those that the archive has now.
    New,
}

impl Kernels {
    /// The kernels of the user: `$XDG_CACHE_HOME/wastenot/kernels`, or below `~/.cache`.
    ///
    /// # Errors
    /// The environment names no folder.
    pub fn of_user() -> Result<Kernels, Error> {
        wastenot_host::cache("kernels").map(Kernels::open).ok_or(Error::NoFolder)
    }

    /// The kernels in a folder. It is made when the first is fetched.
    pub(crate) fn open(dir: impl Into<PathBuf>) -> Kernels {
        Kernels { dir: dir.into() }
    }

    /// Those that were fetched, newest first.
    pub fn cached(&self) -> Vec<Kernel> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut kernels: Vec<Kernel> = entries
            .filter(|entry| entry.file_name() != UNFINISHED)
            .filter_map(|entry| Kernel::open(&entry.path()))
            .collect();
        kernels.sort_by_cached_key(|kernel| {
            Reverse((kernel.package.version.clone(), kernel.package.release.clone()))
        });
        kernels
    }

    /// Those to be had. `progress` is told what takes time.
    ///
    /// # Errors
    /// apt or Debian's keys are missing, the archive does not answer, or the folder cannot be
    /// written.
    pub fn available(&self, lists: Lists, progress: &dyn Fn(&str)) -> Result<Offer, Error> {
        if let Some(offer) = self.kept_offer(lists) {
            return Ok(offer);
        }
        let lock = Lock::take(&self.dir, progress)?;
        // Another process may have read them in the meantime.
        self.kept_offer(lists).map_or_else(|| self.update(&lock, progress), Ok)
    }

    /// The newest kernel that `wanted` names ([`Package::matches`]): of those that were fetched, or
    /// else of those to be had, which is fetched now. `progress` is told what takes time.
    ///
    /// # Errors
    /// As of [`Kernels::available`]; or no kernel has this name, or its package is of no use.
    pub fn fetch(
        &self,
        wanted: &str,
        lists: Lists,
        progress: &dyn Fn(&str),
    ) -> Result<Kernel, Error> {
        if let Some(kernel) = self.kept_kernel(wanted, lists) {
            return Ok(kernel);
        }
        let lock = Lock::take(&self.dir, progress)?;
        // Another process may have fetched it in the meantime.
        if let Some(kernel) = self.kept_kernel(wanted, lists) {
            return Ok(kernel);
        }
        if let Some(offer) = self.kept_offer(lists) {
            match self.get(&lock, &offer, wanted, progress) {
                // The archive has changed, or will be found to have.
                Err(Error::Unknown { .. } | Error::Gone { .. }) => {}
                got => return got,
            }
        }
        self.get(&lock, &self.update(&lock, progress)?, wanted, progress)
    }

    fn kept_kernel(&self, wanted: &str, lists: Lists) -> Option<Kernel> {
        let is_it = |kernel: &Kernel| kernel.package.matches(wanted);
        let kernels = (lists == Lists::Kept).then(|| self.cached())?;
        kernels.into_iter().find(is_it).filter(Kernel::is_sound)
    }

    fn kept_offer(&self, lists: Lists) -> Option<Offer> {
        (lists == Lists::Kept).then(|| Offer::read(&self.dir.join(OFFER)))?
    }

    fn update(&self, lock: &Lock, progress: &dyn Fn(&str)) -> Result<Offer, Error> {
        self.has_room()?;
        progress("reading the lists of Debian's archive");
        let (kernels, left_out) = Apt::open(&self.dir.join(APT), lock)?.update()?;
        let offer = Offer { kernels, left_out };
        offer.write(&self.dir.join(OFFER))?;
        Ok(offer)
    }

    fn get(
        &self,
        lock: &Lock,
        offer: &Offer,
        wanted: &str,
        progress: &dyn Fn(&str),
    ) -> Result<Kernel, Error> {
        let package = offer.newest(wanted)?;
        if let Some(kernel) = Kernel::open(&self.folder(package)).filter(Kernel::is_sound) {
            return Ok(kernel);
        }
        let work = self.dir.join(UNFINISHED);
        remove(&work)?;
        self.has_room()?;
        let kernel = self.download(lock, package, &work, progress);
        // An error says more than what is left of it, which may be what filled the disk.
        let removed = remove(&work);
        kernel.and_then(|kernel| removed.map(|()| kernel))
    }

    fn download(
        &self,
        lock: &Lock,
        package: &Package,
        work: &Path,
        progress: &dyn Fn(&str),
    ) -> Result<Kernel, Error> {
        let (deb, tree) = (work.join("deb"), work.join("tree"));
        fs::create_dir_all(work).map_err(|error| Error::file(work, error))?;
        let (title, mb) = (package.title(), package.size_bytes as f64 / 1e6);
        progress(&format!("downloading {title} ({mb:.1} MB)"));
        Apt::open(&self.dir.join(APT), lock)?.download(package, &deb)?;
        progress(&format!("unpacking {title}"));
        let args = ["-x".as_ref(), deb.as_os_str(), tree.as_os_str()];
        tool::run(Tool::DpkgDeb, args, lock.share())?;
        self.keep(package, &tree, &work.join("kernel"), progress)
    }

    /// The kernel in `tree`, an unpacked package: made in `part`, then moved to its folder.
    fn keep(
        &self,
        package: &Package,
        tree: &Path,
        part: &Path,
        progress: &dyn Fn(&str),
    ) -> Result<Kernel, Error> {
        kernel::make(package, tree, part, progress)?;
        let to = self.folder(package);
        // What is there is damaged.
        remove(&to)?;
        fs::rename(part, &to).map_err(|error| Error::file(&to, error))?;
        Kernel::open(&to).ok_or_else(|| Error::file(&to, ErrorKind::NotFound.into()))
    }

    /// Asked before: on a full disk apt may wait forever.
    fn has_room(&self) -> Result<(), Error> {
        let disk = statvfs(&self.dir).map_err(|error| Error::file(&self.dir, error.into()))?;
        let mb = disk.f_bavail.saturating_mul(disk.f_frsize) / 1_000_000;
        let why = || format!("{} has {mb} MB", self.dir.display());
        if mb < ROOM_MB { Err(Error::NoSpace { why: why() }) } else { Ok(()) }
    }

    fn folder(&self, package: &Package) -> PathBuf {
        self.dir.join(package.folder())
    }
}

/// What is being fetched. The next holder of the lock removes what an interrupted process left.
const UNFINISHED: &str = "unfinished";
/// What lists or a kernel take at most while they are fetched; what stays is less.
const ROOM_MB: u64 = 300;
/// The state of apt.
const APT: &str = "apt";
const OFFER: &str = "offer.json";

fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|error: io::Error| Error::file(folder, error)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::package::tests::package;
    use super::*;

    const ELF_BYTES: usize = 5000;

    struct Desk {
        temporary: TempDir,
        kernels: Kernels,
        said: RefCell<Vec<String>>,
    }

    impl Desk {
        fn new() -> Desk {
            let temporary = tempfile::tempdir().expect("a folder");
            let kernels = Kernels::open(temporary.path().join("kernels"));
            Desk { temporary, kernels, said: RefCell::default() }
        }

        /// An unpacked package.
        fn tree(&self, files: &[(&str, &[u8])]) -> PathBuf {
            let tree = self.temporary.path().join("tree");
            remove(&tree).expect("removed");
            for (path, bytes) in files {
                let path = tree.join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, bytes).expect("written");
            }
            tree
        }

        /// As `fetch` does with what it has downloaded.
        fn keep(&self, version: &str, files: &[(&str, &[u8])]) -> Result<Kernel, Error> {
            let (tree, part) = (self.tree(files), self.kernels.dir.join(UNFINISHED).join("kernel"));
            let said = |words: &str| self.said.borrow_mut().push(words.to_owned());
            self.kernels.keep(&package(version, "sid"), &tree, &part, &said)
        }

        fn keep_new(&self, version: &str) -> Kernel {
            let image = image::tests::image_of(ELF_BYTES);
            let files = [("usr/lib/modules/x/vmlinuz", image.as_slice())];
            self.keep(version, &files).expect("kept")
        }

        fn versions(&self) -> Vec<String> {
            let kernels = self.kernels.cached();
            kernels.iter().map(|kernel| kernel.package.version.to_string()).collect()
        }
    }

    #[test]
    fn a_kernel_is_unpacked_and_kept_with_its_configuration() {
        let desk = Desk::new();
        let image = image::tests::image_of(ELF_BYTES);
        let files = [("boot/vmlinuz-5.10.0-46", &image[..]), ("boot/config-5.10.0-46", b"A=y")];
        let kernel = desk.keep("5.10.262-1", &files).expect("kept");
        assert_eq!((kernel.version(), desk.said.take().len()), ("5.10.262", 0));
        let Image::Elf(elf) = &kernel.image else { panic!("{kernel:?}") };
        assert!(fs::read(elf).expect("an image").starts_with(b"\x7fELF"));
        let config = kernel.config.as_ref().expect("a configuration");
        assert_eq!(fs::read(config).expect("a configuration"), b"A=y");
        assert!(desk.keep_new("7.2.13-1").config.is_none());
    }

    #[test]
    fn an_image_that_cannot_be_unpacked_is_kept_as_it_is() {
        let desk = Desk::new();
        let kernel = desk.keep("7.2.13-1", &[("usr/lib/modules/x/vmlinuz", b"MZ")]).expect("kept");
        let Image::Packed(image) = &kernel.image else { panic!("{kernel:?}") };
        assert_eq!(fs::read(image).expect("an image"), b"MZ");
        let said = desk.said.take();
        assert_eq!(said, ["7.2.13+deb14-cloud-amd64 stays compressed: the image is not a bzImage"]);
    }

    #[test]
    fn a_package_without_a_kernel_is_refused() {
        let desk = Desk::new();
        let error = desk.keep("7.2.13-1", &[("boot/System.map", b"")]).expect_err("none");
        assert!(matches!(error, Error::BadPackage { .. }), "{error}");
        let tree = desk.tree(&[("boot/System.map", b"")]);
        symlink("/etc/passwd", tree.join("boot/vmlinuz-7.2.13")).expect("a link");
        let error = kernel::make(&package("7.2-1", "sid"), &tree, &tree.join("to"), &|_| ());
        assert!(error.is_err(), "a link out of the package");
        assert!(desk.kernels.cached().is_empty());
    }

    #[test]
    fn kernels_are_listed_newest_first_and_nothing_else_is() {
        let desk = Desk::new();
        assert!(desk.kernels.cached().is_empty());
        for version in ["6.9.1-1", "7.2.13-1", "6.10.1-1"] {
            desk.keep_new(version);
        }
        let dir = &desk.kernels.dir;
        fs::write(dir.join("notes.txt"), "mine").expect("written");
        fs::create_dir_all(dir.join("empty")).expect("a folder");
        fs::create_dir_all(dir.join("foreign")).expect("a folder");
        fs::write(dir.join("foreign/kernel.toml"), "a = 1").expect("written");
        assert_eq!(desk.versions(), ["7.2.13-1", "6.10.1-1", "6.9.1-1"]);
    }

    #[test]
    fn an_interrupted_fetch_leaves_nothing_that_counts() {
        let desk = Desk::new();
        let from = desk.keep_new("7.2.13-1").image.path().parent().expect("a folder").to_owned();
        let half = desk.kernels.dir.join(UNFINISHED);
        remove(&half).expect("removed");
        fs::rename(&from, &half).expect("moved");
        assert!(desk.kernels.cached().is_empty());
        desk.keep_new("7.2.13-1");
        assert_eq!(desk.versions(), ["7.2.13-1"]);
    }

    #[test]
    fn a_kernel_that_was_fetched_needs_no_network() {
        let desk = Desk::new();
        desk.keep_new("7.2.12-1");
        desk.keep_new("7.2.13-1");
        let silent = |said: &str| panic!("{said}");
        let fetch = |wanted| desk.kernels.fetch(wanted, Lists::Kept, &silent).expect(wanted);
        assert_eq!(fetch("7.2").version(), "7.2.13");
        assert_eq!(fetch("7.2.12").version(), "7.2.12");
        assert_eq!(fetch("sid").version(), "7.2.13");
        assert_eq!(fetch("7.2.12+deb14-cloud-amd64").version(), "7.2.12");
    }

    #[test]
    fn a_damaged_kernel_is_not_used() {
        let desk = Desk::new();
        let kernel = desk.keep_new("7.2.13-1");
        let path = kernel.image.path();
        let mut image = fs::read(path).expect("an image");
        image[ELF_BYTES / 2] ^= 1;
        fs::write(path, &image).expect("written");
        assert!(desk.kernels.kept_kernel("7.2", Lists::Kept).is_none());
        fs::write(path, &image[1..]).expect("written");
        assert!(desk.kernels.cached().is_empty());
        desk.keep_new("7.2.13-1");
        assert!(desk.kernels.kept_kernel("7.2", Lists::Kept).is_some());
        assert!(desk.kernels.kept_kernel("7.2", Lists::New).is_none());
    }
}
