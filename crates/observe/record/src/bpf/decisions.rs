//! The programs that record what the fair class decides, and the scheduling domains of each CPU: on
//! functions of the kernel, and on tracepoints.

use libbpf_rs::Link;
use libbpf_rs::skel::{OpenSkel, Skel};
use wastenot_model::policy::Note;
use wastenot_model::{Annex, Sink, Time, decisions};

use super::failed;
use super::kernel::Kernel;
use super::skeleton::{OpenRecordSkel, RecordSkel};
use crate::Error;

/// A function that has a program, by the names that it has or had.
type Function = &'static [&'static str];

/// Without these, selections and passes cannot be recorded.
const NEEDED: [Function; 4] = [
    &["select_task_rq_fair"],
    &["sched_balance_rq", "load_balance"],
    &["sched_balance_find_src_group", "find_busiest_group"],
    &["can_migrate_task"],
];
/// Shows whether a pass found a single busier CPU, and whether it pushes that one's running task.
const NEED: &str = "need_active_balance";
/// Gives a CPU its domains. Without it nothing shows when they are replaced, so none are recorded.
const ATTACH: &str = "cpu_attach_domain";
/// Without these, rows contain less. The first shows which CPUs a selection looks at.
const USEFUL: [Function; 3] = [&["available_idle_cpu"], &[NEED], &[ATTACH]];

/// Tracepoints of which each records decisions of its own.
const TRACEPOINTS: [&str; 8] = [
    "sched_set_need_resched_tp",
    "sched_move_numa",
    "sched_stick_numa",
    "sched_swap_numa",
    "sched_skip_vma_numa",
    "sched_skip_cpuset_numa",
    "sched_dl_server_start_tp",
    "sched_dl_server_stop_tp",
];

/// What a program that records decisions is on.
enum Place<'a> {
    Function(&'a str),
    Tracepoint(&'a str),
}

impl Place<'_> {
    /// That of a program of this section, if it records decisions.
    fn of(section: &str) -> Option<Place<'_>> {
        let (_, name) = section.split_once('/')?;
        let is_function = NEEDED.iter().chain(&USEFUL).any(|names| names.contains(&name));
        match is_function {
            true => Some(Place::Function(name)),
            false => TRACEPOINTS.contains(&name).then_some(Place::Tracepoint(name)),
        }
    }

    fn is_in(&self, kernel: &Kernel) -> bool {
        match self {
            Place::Function(name) => kernel.calls(name),
            Place::Tracepoint(name) => kernel.traces(name),
        }
    }
}

/// The first needed function that the kernel lacks.
fn lacking(kernel: &Kernel) -> Option<Function> {
    NEEDED.into_iter().find(|names| !names.iter().any(|name| kernel.calls(name)))
}

/// Returns an error if the kernel lacks a function without which decisions cannot be recorded.
pub(super) fn can_record(kernel: &Kernel) -> Result<(), Error> {
    match lacking(kernel) {
        None => Ok(()),
        Some(names) => {
            let why = format!("its type information (BTF) lacks {}", names.join(" or "));
            Err(Error::NoDecisions { why })
        }
    }
}

/// Selects the programs to load: those whose function the kernel has, or none.
pub(super) fn choose(open: &mut OpenRecordSkel<'_>, kernel: &Kernel, wanted: bool) {
    for mut program in open.open_object_mut().progs_mut() {
        let section = program.section().to_string_lossy().into_owned();
        if let Some(place) = Place::of(&section) {
            program.set_autoload(wanted && place.is_in(kernel));
        }
    }
    open.progs.tell_domains.set_autoload(wanted && kernel.calls(ATTACH));
    if let Some(set) = open.maps.rodata_data.as_mut() {
        set.knows_stuck = u32::from(kernel.calls(NEED));
    }
}

/// Attaches the programs that are loaded.
pub(super) fn attach(skel: &RecordSkel<'_>) -> Result<Vec<Link>, Error> {
    let mut links = Vec::new();
    for program in skel.object().progs_mut().filter(|program| program.autoload()) {
        let section = program.section().to_string_lossy();
        let Some(place) = Place::of(&section) else { continue };
        match (program.attach().map_err(failed("attach a BPF program")), place) {
            (Ok(link), _) => links.push(link),
            // Each of them only adds rows of its own.
            (Err(_), Place::Tracepoint(_)) => {}
            (Err(error), Place::Function(_)) => return Err(refused(&error)),
        }
    }
    Ok(links)
}

/// The kernel loads our other programs, but not those on functions.
pub(super) fn refused(error: &Error) -> Error {
    let why = match error {
        Error::NotAllowed => "operation not permitted".to_owned(),
        error => error.to_string(),
    };
    let why = format!("the kernel refuses BPF programs that attach to functions: {why}");
    Error::NoDecisions { why }
}

/// What was decided and is not written yet.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    rows: Vec<(Time, Note)>,
    told: bool,
}

impl Decisions {
    pub(super) fn push(&mut self, time: Time, note: Note) {
        self.rows.push((time, note));
    }

    /// Writes the rows; at first also if there are none, so that they are known to be recorded.
    pub(super) fn tell(&mut self, sink: &mut dyn Sink) {
        if !self.told || !self.rows.is_empty() {
            let table = decisions::table(self.rows.iter().map(|(time, note)| note.at(*time)));
            sink.annex(Annex { table });
            self.rows.clear();
            self.told = true;
        }
    }
}
