//! What a guest needs is packed into its first file system.

use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use crate::runner::Program;

use crate::Error;
use crate::image::Image;
use crate::job::{self, Job};

/// Where the program of a scheduler is in a guest.
pub(crate) const SCHEDULER: &str = "/scheduler";

/// The first file system of a guest with this job, with the configuration of a kernel that has this
/// release, and with the program of a scheduler.
pub(crate) fn image_of(
    job: &Job,
    config: Option<&(String, PathBuf)>,
    scheduler: Option<&String>,
) -> Result<Vec<u8>, Error> {
    let failed = |why: String| Error::Qemu { doing: "create the image", why };
    let mut image = Image::with_this_program().map_err(|error| failed(error.to_string()))?;
    if let Some((release, path)) = config {
        let config = fs::read(path).map_err(|error| failed(error.to_string()))?;
        image.file(&format!("/boot/config-{release}"), &config);
    }
    if let Some(program) = scheduler {
        let added = image.program(SCHEDULER, Path::new(program));
        added.map_err(|error| failed(format!("{program}: {error}")))?;
    }
    for program in job.cells.iter().flat_map(|cell| &cell.plan.programs) {
        pack(&mut image, program)?;
    }
    let job = serde_json::to_vec(job).map_err(|error| failed(error.to_string()))?;
    image.file(job::FILE, &job);
    Ok(image.finish())
}

/// Adds a program of the user where this machine has it, with the files of its folder that its
/// words name.
fn pack(image: &mut Image, program: &Program) -> Result<(), Error> {
    let failed = |path: &str, why: std::io::Error| Error::Qemu {
        doing: "create the image",
        why: format!("{path}: {why}"),
    };
    let from = Path::new(&program.file);
    let file = &*plain(image, from).display().to_string();
    let begin = begin(from).map_err(|error| failed(file, error))?;
    if !begin.starts_with(ELF) {
        return Err(Error::Script { program: file.to_owned() });
    }
    if !image.has(file) {
        image.program(file, from).map_err(|error| failed(file, error))?;
    }
    let folder = plain(image, Path::new(&program.folder));
    image.folder(&folder.display().to_string());
    for word in program.words.iter().skip(1) {
        let from = Path::new(&program.folder).join(word);
        // What the kernel shows there is of this machine.
        let is_of_kernel = ["/proc", "/sys", "/dev"].iter().any(|it| from.starts_with(it));
        if is_of_kernel || !from.is_file() {
            continue;
        }
        let path = &*plain(image, &from).display().to_string();
        if !image.has(path) {
            let content = fs::read(&from).map_err(|error| failed(path, error))?;
            image.file(path, &content);
        }
    }
    Ok(())
}

/// A path without `.` and `..`. The folders that it goes through and leaves have to be there.
fn plain(image: &mut Image, path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                image.folder(&plain.display().to_string());
                plain.pop();
            }
            Component::Normal(name) => plain.push(name),
            _ => {}
        }
    }
    plain
}

/// What ELF files begin with.
pub(crate) const ELF: &[u8] = b"\x7fELF";

/// The begin of a file: as much as an ELF header up to its `e_machine`.
fn begin(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(20).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a file is an object for BPF.
pub(crate) fn is_object(file: &Path) -> bool {
    const BPF: [u8; 2] = [247, 0];
    begin(file).is_ok_and(|it| it.starts_with(ELF) && it.get(18..20) == Some(&BPF))
}
