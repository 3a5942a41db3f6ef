//! Guests of a kernel, which boot this program as their first process.

use wastenot_lab::kernels::{Kernels, Lists};
use wastenot_lab::{Guests, Options, Qemu};

/// Guests of the kernel that is `wanted`, and its version. `say` gets the progress. An instruction
/// takes 2^`shift` ns.
pub(crate) fn of(wanted: &str, shift: u8, say: &dyn Fn(&str)) -> Result<(Guests, String), String> {
    let kernels = Kernels::of_user().map_err(|error| error.to_string())?;
    let kernel = kernels.fetch(wanted, Lists::Kept, say).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let qemu = Qemu { starter: (program, ["lab", "qemu", "--"].map(str::to_owned).into()) };
    let version = kernel.version().to_owned();
    let of = Options {
        version: version.clone(),
        kernel: kernel.image.path().to_owned(),
        shift,
        command: Vec::new(),
        called: None,
        config: None,
        steps: false,
    };
    let guests = Guests::new(of, qemu, || false).map_err(|error| error.to_string())?;
    Ok((guests, version))
}
