//! A kernel in its folder: the image, perhaps its configuration, and a note of what they are.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wastenot_host::{hex, sha256};

use super::Error;
use super::image;
use super::package::Package;

/// The note is written last: a folder without it is no kernel.
const NOTE: &str = "kernel.toml";
const CONFIG: &str = "config";

/// A kernel that can be booted.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Where it is from.
    pub package: Package,
    /// What to boot.
    pub image: Image,
    /// How it was built, if the package says.
    pub config: Option<PathBuf>,
    /// The checksum of the image.
    pub sha256: String,
}

/// The image of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Image {
    /// The kernel itself, an ELF file: QEMU starts it at once.
    Elf(PathBuf),
    /// As it is in the package: it unpacks itself when it boots, or is of another format.
    Packed(PathBuf),
}

impl Image {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Image::Elf(path) | Image::Packed(path) => path,
        }
    }

    fn in_folder(folder: &Path, is_packed: bool) -> Image {
        match is_packed {
            true => Image::Packed(folder.join("vmlinuz")),
            false => Image::Elf(folder.join("vmlinux")),
        }
    }
}

/// What is in a folder.
#[derive(Serialize, Deserialize)]
struct Note {
    is_packed: bool,
    image_bytes: u64,
    image_sha256: String,
    package: Package,
}

impl Kernel {
    /// The version: `7.2.13`.
    pub fn version(&self) -> &str {
        self.package.version.kernel()
    }

    /// The kernel in a folder, if it holds a whole one. The image is not read, only measured: a
    /// list of kernels must not take seconds.
    pub(super) fn open(folder: &Path) -> Option<Kernel> {
        let note = fs::read_to_string(folder.join(NOTE)).ok()?;
        let note: Note = toml::from_str(&note).ok()?;
        let image = Image::in_folder(folder, note.is_packed);
        let is_whole = fs::metadata(image.path()).ok()?.len() == note.image_bytes;
        let config = Some(folder.join(CONFIG)).filter(|path| path.exists());
        let Note { package, image_sha256: sha256, .. } = note;
        is_whole.then_some(Kernel { package, image, config, sha256 })
    }

    /// Whether the image is as it was written. That takes a tenth of a second, booting it takes
    /// ten, and a damaged kernel that boots wastes hours.
    pub(super) fn is_sound(&self) -> bool {
        checksum(self.image.path()).is_ok_and(|sha256| sha256 == self.sha256)
    }
}

/// Makes the folder `to` of the kernel in `tree`, an unpacked package. Says why its image stays
/// packed, if it does.
pub(super) fn make(
    package: &Package,
    tree: &Path,
    to: &Path,
    progress: &dyn Fn(&str),
) -> Result<(), Error> {
    let bad = |why: &str| Error::BadPackage { package: package.title(), why: why.to_owned() };
    fs::create_dir_all(to).map_err(|error| Error::file(to, error))?;
    let packed = find(tree, "vmlinuz").ok_or_else(|| bad("it contains no vmlinuz"))?;
    let bytes = read(&packed)?.ok_or_else(|| bad("its vmlinuz is too large"))?;
    let (is_packed, bytes) = match image::unpack(&bytes) {
        Ok(elf) => (false, elf),
        Err(why) => {
            progress(&format!("{} stays compressed: {why}", package.release));
            (true, bytes)
        }
    };
    let image = Image::in_folder(to, is_packed);
    write(image.path(), &bytes)?;
    if let Some(config) = find(tree, "config") {
        let to = to.join(CONFIG);
        fs::copy(config, &to).map_err(|error| Error::file(&to, error))?;
    }
    let note = Note {
        is_packed,
        image_bytes: bytes.len() as u64,
        image_sha256: sha256(&bytes),
        package: package.clone(),
    };
    let file = to.join(NOTE);
    let text = toml::to_string(&note);
    let text = text.map_err(|error| Error::file(&file, io::Error::other(error)))?;
    write(&file, text.as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(|error| Error::file(path, error))
}

/// A file of the kernel in an unpacked package: `/boot/NAME-RELEASE` before 6.19, then
/// `/usr/lib/modules/RELEASE/NAME`.
fn find(tree: &Path, name: &str) -> Option<PathBuf> {
    let folders = |path: &str| {
        let entries = fs::read_dir(tree.join(path)).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let is_it = |path: &PathBuf| {
        let own = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        own.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
    };
    let in_boot = folders("boot").into_iter().filter(is_it);
    let in_modules = ["usr/lib/modules", "lib/modules"].into_iter().flat_map(folders);
    let mut all = in_boot.chain(in_modules.map(|folder| folder.join(name)));
    // A link may lead out of the package.
    all.find(|path| fs::symlink_metadata(path).is_ok_and(|file| file.is_file()))
}

/// A file, unless no kernel is as large.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let failed = |error| Error::file(path, error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(image::BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= image::BYTES_MAX))
}

fn checksum(path: &Path) -> io::Result<String> {
    let mut sum = Sha256::new();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&sum.finalize())),
            length => sum.update(&buffer[..length]),
        }
    }
}
