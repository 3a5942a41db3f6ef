//! `wastenot lab`: kernels and guests.

mod bisect;

use std::time::Duration;

use wastenot_lab::kernels::{Image, Kernels, Lists, Offer, Version};
use wastenot_lab::{Guests, Options, Qemu};
use wastenot_model::{Report, Table};

use super::signals;
use crate::args::lab::{Fetch, Lab, List, Load, Shell, What};
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Runs the subcommand.
pub(crate) fn run(args: &Lab) -> Result<Answer, Stop> {
    match &args.what {
        What::List(args) => list(args),
        What::Fetch(args) => fetch(args),
        What::Shell(args) => shell(args),
        What::Bisect(args) => bisect::run(args),
        What::Guest => {
            let failed = |error| Stop::io("lab guest", &error, "boot one: `wastenot run --on 7.2`");
            wastenot_lab::guest().map(|()| Answer::Yes).map_err(failed)
        }
        What::Load(args) => load(args),
        What::Qemu(args) => Ok(Answer::OfCommand(wastenot_lab::exec(&args.arguments))),
    }
}

/// The kernel with the name `wanted`, which is fetched if the cache lacks it.
pub(super) fn kernel(wanted: &str, lists: Lists) -> Result<wastenot_lab::kernels::Kernel, Stop> {
    let kernels = Kernels::of_user()?;
    let get = || kernels.fetch(wanted, lists, &|_| ());
    Ok(progress::during(&format!("fetching Linux {wanted}"), get)?)
}

/// The command that starts QEMU: this program, which then executes QEMU.
pub(super) fn qemu() -> Result<Qemu, Stop> {
    let failed = |error| Stop::io("cannot find the program wastenot", &error, "try again");
    let program = std::env::current_exe().map_err(failed)?;
    Ok(Qemu { starter: (program, ["lab", "qemu", "--"].map(str::to_owned).into()) })
}

/// Guests with the kernel `wanted`.
pub(super) fn guests(
    wanted: &str,
    shift: u8,
    (called, command): (Option<String>, Vec<String>),
    steps: bool,
) -> Result<Guests, Stop> {
    let kernel = kernel(wanted, Lists::Kept)?;
    let release = kernel.package.release.clone();
    let of = Options {
        version: kernel.package.version.kernel().to_owned(),
        kernel: kernel.image.path().to_owned(),
        shift,
        command,
        steps,
        called,
        config: kernel.config.map(|path| (release, path)),
    };
    Ok(Guests::new(of, qemu()?, signals::is_over()?)?)
}

/// The available kernels.
fn offer(kernels: &Kernels, lists: Lists) -> Result<Offer, Stop> {
    let read = || kernels.available(lists, &|_| ());
    Ok(progress::during("reading the package lists of Debian", read)?)
}

/// Boots a kernel with a shell.
fn shell(args: &Shell) -> Result<Answer, Stop> {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let busybox = std::env::split_paths(&places).map(|it| it.join("busybox"));
    let Some(busybox) = busybox.into_iter().find(|it| it.is_file()) else {
        return Err(Stop::new(
            "the shell needs busybox, which is not installed",
            "run `apt install busybox-static`",
        ));
    };
    let machine = open::machine("--machine", &args.machine)?;
    let kernel = kernel(&args.kernel, Lists::Kept)?;
    wastenot_lab::shell(&qemu()?, kernel.image.path(), &machine, &busybox)?;
    Ok(Answer::Yes)
}

/// Loads the scheduler of a BPF object, until a signal arrives or the kernel ends the scheduler.
fn load(args: &Load) -> Result<Answer, Stop> {
    const LOOK: Duration = Duration::from_millis(100);
    let help = "read the messages above";
    let signals = signals::listen().map_err(|error| Stop::new(error, "try again"))?;
    let loaded = wastenot_lab::Scheduler::load(&args.object);
    let _loaded = loaded.map_err(|error| Stop::new(error, help))?;
    let mut began = false;
    while !signals::comes_within(&signals, LOOK) {
        let is_enabled = wastenot_host::sched_ext::is_enabled();
        if began && !is_enabled {
            return Ok(Answer::No);
        }
        began |= is_enabled;
    }
    Ok(Answer::Yes)
}

fn lists(refresh: bool) -> Lists {
    if refresh { Lists::New } else { Lists::Kept }
}

fn fetch(args: &Fetch) -> Result<Answer, Stop> {
    for wanted in &args.kernels {
        let kernel = kernel(wanted, lists(args.refresh))?;
        let how = match kernel.image {
            Image::Elf(_) => "",
            Image::Packed(_) => " (compressed; it unpacks itself when it boots)",
        };
        let path = kernel.image.path().display();
        out::note(&format!("{wanted}: Linux {}: {path}{how}", kernel.package.version.kernel()));
    }
    Ok(Answer::Yes)
}

/// Whether a kernel runs policies, as text.
fn runs_policies(version: &Version) -> &'static str {
    match version.has_sched_ext() {
        false => "no",
        // In 7.1, libbpf refuses all schedulers that create a queue: docs/results/kernels.md.
        true if version.kernel().starts_with("7.1.") => "no, wrong BTF",
        true => "yes",
    }
}

fn list(args: &List) -> Result<Answer, Stop> {
    let kernels = Kernels::of_user()?;
    let offer = offer(&kernels, lists(args.refresh))?;
    let cached = kernels.cached();
    let mut packages = offer.kernels.clone();
    for kernel in &cached {
        // The archive drops old versions, but the cache keeps them.
        if !packages.iter().any(|it| it.release == kernel.package.release) {
            packages.push(kernel.package.clone());
        }
    }
    packages.sort_by(|a, b| b.version.cmp(&a.version));
    let table = Table::of("kernels", "Kernels", &packages, |row, package| {
        let is_here = cached.iter().any(|it| it.package.release == package.release);
        row.cell("version", "version", package.version.kernel())
            .cell("suite", "suite", package.suite.as_str())
            .cell("release", "release", package.release.as_str())
            .cell("policies", "runs policies", runs_policies(&package.version))
            .cell("package", "", package.name.as_str())
            .cell("fetched", "", is_here)
            .cell("", "", if is_here { "fetched" } else { "" })
    })
    .shown(usize::MAX);
    let mut report = Report::new("lab/1", "Kernels");
    report.verdict = format!("{} kernels; the cache has {} of them.", packages.len(), cached.len());
    report.tables.push(table);
    let left_out = offer.left_out.iter();
    report.assumptions.extend(left_out.map(|it| format!("{} was left out: {}", it.suite, it.why)));
    args.face.print(&report)?;
    Ok(Answer::Yes)
}
