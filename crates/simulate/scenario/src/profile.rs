//! Profiles: the time that kernel code and hardware take, from TOML and back.
//!
//! ```text
//! schema = "wastenot.profile/1"
//! base = "x7550-assumed"
//! line_near = "60ns"
//! fetches = 2
//! coarse = { work = "800ns", lines = 100 }
//! ```
//!
//! Absent values come from `base`; without a base they are zero.

use std::fmt::Write;

use wastenot_model::machine::{Profile, Section as Stretch, Spin};
use wastenot_model::{Help, Span, nearest, shortened};

use crate::Error;
use crate::scenario::Section;
use crate::scenario::fields::{Fields, expected, text};
use crate::scenario::node::{self, Node, Wrong, wrong};
use crate::scenario::schema::key;

/// The maximum size of a file.
pub const BYTES: usize = 64 * 1024;
/// The longest transfer of a cache line: ten times that on the largest machines.
const LINE: Span = Span(10_000);
/// The maximum of all other times.
const LONGEST: Span = Span::ms(10);
/// The maximum number of times that a lock's line is fetched at a handover.
const FETCHES: i64 = 100;
/// The maximum number of lines that a piece of code writes.
const LINES: i64 = 100_000;

/// The required value of `schema`.
const VERSION: &str = "wastenot.profile/1";

/// The words for how a lock spins.
const SPINS: [(&str, Spin); 3] =
    [("own", Spin::Own), ("ticket", Spin::Ticket), ("test-and-set", Spin::TestAndSet)];

/// The tables, in the order of the documentation.
pub const SCHEMA: &[&Section] = &[&PROFILE, &STRETCH];

const PROFILE: Section = Section {
    title: "the file",
    about: "A profile is one TOML file. The longest valid TIME is 10us for `line_own`, `line_near` \
            and `line_far`, and 10ms for all other keys.",
    keys: &[
        key("schema", "\"wastenot.profile/1\"", "the version of this schema; required"),
        key("about", "text", "the source of its numbers"),
        key(
            "base",
            "`free`, `x7550-assumed`",
            "the profile that supplies all values that this file lacks; default: `free`",
        ),
        key(
            "line_own",
            "TIME",
            "time to access a cache line of which this CPU has a valid copy. A CPU has a valid \
             copy after it has read or written the line, until another CPU writes the line",
        ),
        key(
            "line_near",
            "TIME",
            "time to access a cache line that another CPU of the same node wrote last",
        ),
        key(
            "line_far",
            "TIME",
            "time to access a cache line that a CPU of another node wrote last",
        ),
        key(
            "spin",
            "`own`, `ticket`, `test-and-set`",
            "how CPUs spin on a lock. `own` (MCS): each CPU spins on its own cache line. `ticket`: \
             all CPUs spin on one line and get the lock in the order of their arrival. \
             `test-and-set`: all CPUs spin on one line and get the lock in any order",
        ),
        key("hand_off", "TIME", "time to hand over a lock, without the transfers of cache lines"),
        key(
            "fetches",
            "0 to 100",
            "number of times that each waiting CPU fetches the lock's cache line at a handover; no \
             effect if `spin` is `own`",
        ),
        key("message", "TIME", "time from writing a message until its reader is interrupted"),
        key("timer", "TIME", "time from the expiry of a timer until its CPU is interrupted"),
        key(
            "ipi",
            "TIME",
            "time from sending an interrupt to another CPU until that CPU is interrupted",
        ),
        key("isr", "TIME", "time to enter an interrupt"),
        key("send", "TIME", "time to send an interrupt to another CPU"),
        key("switch", "TIME", "time of a context switch"),
        key("heap_step", "TIME", "time of one step up or down in a heap"),
        key(
            "scan",
            "TIME",
            "time to examine one CPU while the code searches all CPUs for the latest deadline",
        ),
        key("coarse", "CODE", "`gsn-edf`: the code that runs while its CPU holds the global lock"),
        key(
            "run_queue",
            "CODE",
            "`sched-deadline`: the code that runs while its CPU holds the lock of a run queue",
        ),
        key(
            "client",
            "CODE",
            "`gedf-mp`: the code that a client (a CPU that runs tasks) runs while it holds its own \
             lock",
        ),
        key("mailbox", "CODE", "`gedf-mp`: the code that writes a message into a mailbox"),
        key(
            "handler",
            "CODE",
            "`gedf-mp`: the code with which the dedicated processor handles one message",
        ),
    ],
};

const STRETCH: Section = Section {
    title: "CODE",
    about: "The time of a piece of kernel code: `{ work = \"1us\", lines = 40 }`.",
    keys: &[
        key("work", "TIME", "time of the code itself, without line transfers"),
        key(
            "lines",
            "0 to 100000",
            "number of cache lines that the code writes; each line must first reach the CPU that \
             runs the code",
        ),
    ],
};

/// Reads a profile. `file` is the file's name in messages.
///
/// # Errors
/// The first error, with its line and what to write instead.
pub fn profile(file: &str, text: &str) -> Result<Profile, Error> {
    read(text).map_err(|wrong| wrong.into_error(file, text))
}

/// The profile with this name.
///
/// # Errors
/// If no profile has this name: the known names.
pub fn named(name: &str) -> Result<Profile, Error> {
    let found = Profile::NAMED.into_iter().find(|(known, _)| *known == name);
    let unknown = || {
        let nearest = nearest(name, Profile::NAMED.map(|(known, _)| known));
        Error::UnknownProfile { name: shortened(name), nearest }
    };
    found.map(|(_, profile)| profile).ok_or_else(unknown)
}

fn read(whole: &str) -> Result<Profile, Wrong> {
    if whole.len() > BYTES {
        let what = format!("the file has more than {} KiB", BYTES / 1024);
        return Err(wrong(BYTES, what, "check that the file is a profile"));
    }
    let table = node::parse(whole)?;
    let fields = Fields::new(&PROFILE, 0, &table);
    fields.version("profile", VERSION)?;
    fields.check()?;
    fields.text("about")?;
    let mut profile = Profile::FREE;
    if let Some(node) = fields.get("base") {
        let name = text(node, "base")?;
        let base = named(name).map_err(|error| wrong(node.at, error.to_string(), error.help()));
        profile = base?;
    }
    for (key, span, most) in spans(&mut profile) {
        let Some(read) = fields.span(key)? else { continue };
        if read > most {
            let at = fields.get(key).map_or(0, |node| node.at);
            let what = format!("`{key}` is longer than {} us", most.0 / 1_000);
            return Err(wrong(
                at,
                what,
                "write the time of a short code path, for example \"150ns\" or \"1us\"",
            ));
        }
        *span = read;
    }
    if let Some(fetches) = fields.integer("fetches", 0..=FETCHES)? {
        profile.hardware.fetches = fetches as u32;
    }
    if let Some(node) = fields.get("spin") {
        profile.spin = spin(node)?;
    }
    for (key, stretch) in stretches(&mut profile) {
        let Some(node) = fields.get(key) else { continue };
        let fields = Fields::of(&STRETCH, node)?;
        fields.check()?;
        stretch.work = fields.span("work")?.unwrap_or(stretch.work);
        if stretch.work > LONGEST {
            let what = format!("the work of `{key}` is longer than {} us", LONGEST.0 / 1_000);
            return Err(wrong(
                node.at,
                what,
                "write the time of a short code path, for example \"1us\"",
            ));
        }
        let lines = fields.integer("lines", 0..=LINES)?;
        stretch.lines = lines.map_or(stretch.lines, |lines| lines as u32);
    }
    Ok(profile)
}

fn spin(node: &Node) -> Result<Spin, Wrong> {
    let word = text(node, "spin")?;
    let found = SPINS.into_iter().find(|(name, _)| *name == word);
    let names = SPINS.map(|(name, _)| name).join("`, `");
    found.map(|(_, spin)| spin).ok_or_else(|| expected(node, "spin", &format!("one of `{names}`")))
}

/// Every time by its key, with its maximum.
fn spans(profile: &mut Profile) -> [(&'static str, &mut Span, Span); 12] {
    let Profile { hardware, ipi, isr, send, switch, heap_step, scan, .. } = profile;
    [
        ("line_own", &mut hardware.line_own, LINE),
        ("line_near", &mut hardware.line_near, LINE),
        ("line_far", &mut hardware.line_far, LINE),
        ("hand_off", &mut hardware.hand_off, LONGEST),
        ("message", &mut hardware.message, LONGEST),
        ("timer", &mut hardware.timer, LONGEST),
        ("ipi", ipi, LONGEST),
        ("isr", isr, LONGEST),
        ("send", send, LONGEST),
        ("switch", switch, LONGEST),
        ("heap_step", heap_step, LONGEST),
        ("scan", scan, LONGEST),
    ]
}

/// Every piece of code by its key.
fn stretches(profile: &mut Profile) -> [(&'static str, &mut Stretch); 5] {
    let Profile { coarse, run_queue, client, mailbox, handler, .. } = profile;
    [
        ("coarse", coarse),
        ("run_queue", run_queue),
        ("client", client),
        ("mailbox", mailbox),
        ("handler", handler),
    ]
}

/// The file from which [`profile`] reads this profile. `about` is the source of its numbers.
pub fn written(profile: &Profile, about: &str) -> String {
    let mut profile = *profile;
    let about = toml::Value::from(about);
    let mut file = format!("schema = \"{VERSION}\"\nabout = {about}\n");
    let spin = SPINS.iter().find(|(_, spin)| *spin == profile.spin).map_or("own", |it| it.0);
    // Writing into a string never fails.
    let _ = writeln!(file, "spin = \"{spin}\"\nfetches = {}", profile.hardware.fetches);
    for (key, span, _) in spans(&mut profile) {
        let _ = writeln!(file, "{key} = \"{}ns\"", span.0);
    }
    for (key, stretch) in stretches(&mut profile) {
        let (work, lines) = (stretch.work.0, stretch.lines);
        let _ = writeln!(file, "{key} = {{ work = \"{work}ns\", lines = {lines} }}");
    }
    file
}
