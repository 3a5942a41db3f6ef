//! The first screen, and what a wrong command line is told. clap cannot group subcommands
//! (clap #1553), so the overview is written here from the verbs' own one-line descriptions.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::fail::Stop;
use crate::out;

/// Every verb, once, in the order in which a newcomer needs them.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["doctor"]),
    ("Observe", &["record", "watch"]),
    ("Analyse", &["check", "compare", "explain"]),
    ("See", &["view", "report", "draw"]),
    ("Try", &["run", "what-if", "hunt"]),
    ("Write", &["rota", "prove", "deploy"]),
    ("Real time", &["bounds"]),
    ("Data", &["convert", "list"]),
    ("Also", &["lab", "completions", "man"]),
];

/// `wastenot --help`.
pub(crate) fn overview(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = "wastenot VERB ...; `wastenot VERB --help` has options and examples";
    let mut text = format!("{about}\nUsage: {usage}\n");
    for (mut group, verbs) in GROUPS.iter().copied() {
        for verb in verbs.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "{group:<10}{:<12}{about}", verb.get_name());
            group = "";
        }
    }
    text
}

/// Turns an error of clap into output (help, version) or into an error message of two lines.
pub(crate) fn answer<T>(error: &Error, words: &[OsString]) -> Result<T, Stop> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            out::print(&error.to_string())?;
            Err(Stop::Pipe) // the output is complete: print no error, exit code 0
        }
        _ => Err(misuse(error, words)),
    }
}

fn misuse(error: &Error, words: &[OsString]) -> Stop {
    let verb = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let page = page(words);
    let missing = matches!(
        error.kind(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if missing && matches!(verb, "rota" | "bounds" | "lab") {
        return Stop::new(format!("{verb} needs a subcommand"), subcommands(verb));
    }
    if missing {
        return Stop::new(
            "no verb given",
            "start with `wastenot doctor`; all verbs: `wastenot --help`",
        );
    }
    if let Some(stop) = untested(error, verb, words).or_else(|| forgotten(error, verb, words)) {
        return stop;
    }
    let what = first_line(error);
    if let Some(line) = a_command(error, verb, words) {
        return Stop::new(what, format!("put the command after `--`: `{line}`"));
    }
    match suggestion(error) {
        Some(near) => Stop::new(what, format!("did you mean `{near}`? See `{page}`")),
        None => Stop::new(what, format!("see `{page}`")),
    }
}

/// `wastenot rota check`, `fmt`, `error` or `emit`: the subcommands of a verb.
fn subcommands(verb: &str) -> String {
    let command = super::command();
    let nested = command.find_subcommand(verb).into_iter().flat_map(Command::get_subcommands);
    let nested = nested.filter(|it| !it.is_hide_set());
    let names: Vec<&str> = nested.map(Command::get_name).filter(|name| *name != "help").collect();
    let (last, others) = names.split_last().unwrap_or((&"help", &[]));
    format!("`wastenot {verb} {}` or `{last}`", others.join("`, `"))
}

/// `wastenot record make -j`: the line with the command where it belongs.
fn a_command(error: &Error, verb: &str, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(first)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_command = verb == "record" && error.kind() == ErrorKind::UnknownArgument;
    let at = words.iter().position(|word| word.to_str() == Some(first))?;
    if !is_command || first.starts_with('-') || words.iter().any(|word| word == "--") {
        return None;
    }
    let mut typed: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    typed[0] = "wastenot".into();
    typed.insert(at, "--".into());
    Some(typed.join(" "))
}

/// The page on the verb that was typed: `wastenot bounds sweep ...` has its own.
fn page(words: &[OsString]) -> String {
    let mut command = &super::command();
    let mut page = "wastenot".to_owned();
    for word in words.iter().skip(1) {
        let Some(verb) = command.find_subcommand(word) else { break };
        page = format!("{page} {}", verb.get_name());
        command = verb;
    }
    page + " --help"
}

/// `wastenot bounds tasks.csv --cpus 4`: a task set where a subcommand belongs.
fn untested(error: &Error, verb: &str, words: &[OsString]) -> Option<Stop> {
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    };
    let is_word = word.is_some_and(|word| is_file(word) || suggestion(error).is_none());
    let is_option = error.kind() == ErrorKind::UnknownArgument
        && words.get(2).is_some_and(|word| word.to_string_lossy().starts_with('-'));
    if verb != "bounds" || !(is_word || is_option) {
        return None;
    }
    let typed: Vec<_> = words.iter().skip(2).map(|word| word.to_string_lossy()).collect();
    let what = "bounds needs a subcommand before the task set";
    Some(Stop::new(what, format!("`wastenot bounds test {}`", typed.join(" "))))
}

/// Something was left out: the line that was typed, completed.
fn forgotten(error: &Error, verb: &str, words: &[OsString]) -> Option<Stop> {
    let mut typed: Vec<_> = words.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    if let Some(file) = file_for_a_picture(error) {
        typed.insert(1, "cores".into());
        if file.ends_with(".csv") {
            let what = format!("{file} needs a picture; a sweep has curves");
            return Some(Stop::new(what, format!("`wastenot draw curves {file}`")));
        }
        let what = format!("{file} needs a picture: cores, waiting or queues");
        return Some(Stop::new(what, format!("`wastenot {}`", typed.join(" "))));
    }
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let (picture, file, output) =
        (lacks(error, "<PICTURE>"), lacks(error, "<FILE>"), lacks(error, "--output"));
    let output = output && verb != "bounds"; // there it is what another option goes with
    let cpus = lacks(error, "--cpus");
    if lacks(error, "<SCENARIO>") {
        let line = "`wastenot run scenarios/seeds/workpile.toml`; how to write one: \
                    docs/reference/scenario.md";
        return Some(Stop::new("run needs a scenario", line));
    }
    if lacks(error, "<WHAT>") {
        let line = "`wastenot list schedulers`, `machines`, `workloads`, `claims` or `causes`";
        return Some(Stop::new("list needs the kind of names to list", line));
    }
    if lacks(error, "<TRACE>") {
        let line = format!("`wastenot {verb} trace.dat`; to record one: `wastenot doctor`");
        return Some(Stop::new(format_args!("{verb} needs a trace file"), line));
    }
    if lacks(error, "<EXPERIMENT>") {
        let line = "`wastenot bounds sweep scenarios/sweeps/small.toml`; how to write one: \
                    docs/reference/sweep.md";
        return Some(Stop::new("sweep needs an experiment", line));
    }
    if lacks(error, "<TABLE>") {
        let line =
            "`wastenot bounds measure -o here.csv`, then `wastenot bounds calibrate here.csv`";
        return Some(Stop::new("calibrate needs measured figures", line));
    }
    if lacks(error, "<RESULT>") {
        let line =
            "`wastenot draw curves small.csv`; `bounds sweep E.toml -o small.csv` writes one";
        return Some(Stop::new("draw curves needs a result of `bounds sweep`", line));
    }
    if verb == "bounds" && (file || cpus) {
        let mut line = "wastenot bounds test".to_owned();
        line += if file { " tasks.csv" } else { "" };
        typed.iter().skip(2).for_each(|word| line += &format!(" {word}"));
        line += if cpus { " --cpus 4" } else { "" };
        let lacks = if file { "a task set" } else { "--cpus" };
        return Some(Stop::new(format!("bounds test needs {lacks}"), format!("`{line}`")));
    }
    if !file && !output {
        return None;
    }
    if picture {
        typed.push("cores".into());
    }
    if file {
        let file = match verb {
            "compare" => "before.dat after.dat",
            "rota" | "prove" => "my.rota",
            _ => "trace.dat",
        };
        typed.push(file.into());
    }
    if output {
        typed.push("-o trace.pftrace".into());
    }
    let line = format!("`wastenot {}`", typed.join(" "));
    Some(match (file, verb) {
        (true, "compare") => Stop::new("compare needs at least two traces", line),
        (true, "rota") => Stop::new("rota needs a file", line),
        (true, "prove") => Stop::new(
            "prove needs a policy file",
            format_args!("{line}; how to write one: docs/reference/rota.md"),
        ),
        (true, _) => Stop::new(
            format_args!("{verb} needs a trace file"),
            format_args!("{line}; to record one: `wastenot doctor`"),
        ),
        (false, _) => Stop::new(format_args!("{verb} needs an output file"), line),
    })
}

/// `wastenot draw trace.dat`: what stands where the picture belongs is a file.
fn file_for_a_picture(error: &Error) -> Option<&str> {
    let (Some(ContextValue::String(place)), Some(ContextValue::String(typed))) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
    else {
        return None;
    };
    (place == "<PICTURE>" && is_file(typed)).then_some(typed)
}

fn is_file(word: &str) -> bool {
    word == "-" || word.contains(['.', '/']) || Path::new(word).exists()
}

/// Whether a positional argument was left out.
fn lacks(error: &Error, name: &str) -> bool {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return false;
    };
    missing.iter().any(|argument| argument.starts_with(name))
}

/// clap's sentence on one line, without its `error: ` and the usage below it.
fn first_line(error: &Error) -> String {
    let text = error.to_string();
    let sentence = text.split("\n\n").next().unwrap_or(&text);
    let words: Vec<&str> = sentence.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

fn suggestion(error: &Error) -> Option<String> {
    let kinds =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(near) => Some(near.clone()),
        ContextValue::Strings(near) => near.first().cloned(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::GROUPS;
    use crate::args::command;

    #[test]
    fn each_verb_stands_in_exactly_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        let command = command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(|verb| verb.get_name()).collect();
        grouped.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
    }

    #[test]
    fn the_overview_fits_a_screen() {
        let text = super::overview(&command());
        assert!(text.lines().count() <= 24, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn whoever_errs_is_sent_to_the_page_of_the_verb_that_was_typed() {
        for (typed, page) in [
            ("", "wastenot --help"),
            ("shout", "wastenot --help"),
            ("bounds --shard 1/3", "wastenot bounds --help"),
            ("bounds sweep E.toml --shard 1/3", "wastenot bounds sweep --help"),
            ("bounds measure --design lin", "wastenot bounds measure --help"),
            ("rota check --strict", "wastenot rota check --help"),
            ("check sweep", "wastenot check --help"),
        ] {
            let words: Vec<_> =
                std::iter::once("wastenot").chain(typed.split(' ')).map(Into::into).collect();
            assert_eq!(super::page(&words), page, "{typed}");
        }
    }

    /// What is longer, clap breaks anywhere: within backquotes, and with a short line after it.
    #[test]
    fn what_stands_below_options_is_no_wider_than_a_page() {
        fn wide(command: &clap::Command) -> Vec<String> {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let own = text.lines().filter(|line| line.chars().count() > 80);
            let own = own.map(|line| format!("{}: {line}", command.get_name()));
            own.chain(command.get_subcommands().flat_map(wide)).collect()
        }
        assert_eq!(wide(&command()), Vec::<String>::new());
    }

    #[test]
    fn clap_accepts_the_whole_command_line() {
        command().debug_assert();
    }
}
