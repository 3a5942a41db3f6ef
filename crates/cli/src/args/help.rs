//! The overview of all verbs, and the errors for a wrong command line. clap cannot group
//! subcommands (clap #1553), so this file builds the overview from the descriptions of the verbs.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::fail::Stop;
use crate::out;

/// Every verb, once, in the order in which a new user needs them.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["doctor"]),
    ("Observe", &["record", "watch"]),
    ("Analyse", &["check", "compare", "explain"]),
    ("Show", &["view", "report", "draw"]),
    ("Try", &["run", "what-if", "hunt"]),
    ("Policies", &["rota", "prove", "deploy"]),
    ("Real time", &["bounds"]),
    ("Data", &["convert", "list"]),
    ("Other", &["lab", "completions", "man"]),
];

/// `wastenot --help`.
pub(crate) fn overview(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = "wastenot VERB ...; `wastenot VERB --help` shows options and examples";
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
        return Stop::new(format!("`{verb}` needs a subcommand"), subcommands(verb));
    }
    if missing {
        return Stop::new(
            "no verb given",
            "start with `wastenot doctor`, or list all verbs with `wastenot --help`",
        );
    }
    if let Some(stop) = untested(error, verb, words).or_else(|| forgotten(error, verb, words)) {
        return stop;
    }
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && suggestion(error).is_none()
    {
        return no_verb(word, verb);
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

/// `wastenot trace.dat`, `wastenot rota explain`: a word in the place of a verb or a subcommand.
fn no_verb(word: &str, verb: &str) -> Stop {
    if word != verb {
        let what = format!("`{verb}` has no subcommand `{word}`");
        return Stop::new(what, subcommands(verb));
    }
    let help = match is_file(word) {
        true => format!("to read a trace, run `wastenot check {word}`"),
        false => "list all verbs with `wastenot --help`".to_owned(),
    };
    Stop::new(format!("there is no verb `{word}`"), help)
}

/// `wastenot rota check`, `fmt`, `error` or `emit`: the subcommands of a verb.
fn subcommands(verb: &str) -> String {
    let command = super::command();
    let nested = command.find_subcommand(verb).into_iter().flat_map(Command::get_subcommands);
    let nested = nested.filter(|it| !it.is_hide_set());
    let names: Vec<&str> = nested.map(Command::get_name).filter(|name| *name != "help").collect();
    let (last, others) = names.split_last().unwrap_or((&"help", &[]));
    format!("use `wastenot {verb} {}` or `{last}`", others.join("`, `"))
}

/// `wastenot record make -j`: the same line with `--` before the command.
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

/// The help page of the verb in the command line: `wastenot bounds sweep ...` has its own page.
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

/// `wastenot bounds tasks.csv --cpus 4`: a task set is in the place of a subcommand.
fn untested(error: &Error, verb: &str, words: &[OsString]) -> Option<Stop> {
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    };
    let is_word = word.is_some_and(|word| is_file(word) || suggestion(error).is_none());
    let is_option = error.kind() == ErrorKind::UnknownArgument
        && words.get(2).is_some_and(|word| is_of_test(&word.to_string_lossy()));
    if verb != "bounds" || !(is_word || is_option) {
        return None;
    }
    let typed: Vec<_> = words.iter().skip(2).map(|word| word.to_string_lossy()).collect();
    let what = "`bounds` needs a subcommand before the name of the task set";
    Some(Stop::new(what, format!("run `wastenot bounds test {}`", typed.join(" "))))
}

/// Returns true if `word` is an option of `bounds test`.
fn is_of_test(word: &str) -> bool {
    let option = word.strip_prefix("--").and_then(|word| word.split('=').next());
    let command = super::command();
    let test = command.find_subcommand("bounds").and_then(|it| it.find_subcommand("test"));
    test.is_some_and(|test| {
        test.get_arguments().any(|it| option.is_some() && it.get_long() == option)
    })
}

/// The end of a help line if a trace is missing.
const TO_RECORD: &str = "`wastenot doctor` shows how to record a trace";

/// An error for a command line that lacks an argument. The help is the completed command line.
fn forgotten(error: &Error, verb: &str, words: &[OsString]) -> Option<Stop> {
    let mut typed: Vec<_> = words.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    if let Some(file) = file_for_a_picture(error) {
        typed.insert(1, "cores".into());
        if file.ends_with(".csv") {
            let what = format!("`draw` needs the kind of picture before {file}: `curves`");
            return Some(Stop::new(what, format!("run `wastenot draw curves {file}`")));
        }
        let names = "`cores`, `waiting` or `queues`";
        let what = format!("`draw` needs the kind of picture before {file}: {names}");
        return Some(Stop::new(what, format!("run `wastenot {}`", typed.join(" "))));
    }
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    if let Some(stop) = without_argument(error, verb) {
        return Some(stop);
    }
    let (picture, file, output) =
        (lacks(error, "<PICTURE>"), lacks(error, "<FILE>"), lacks(error, "--output"));
    let output = output && verb != "bounds"; // there, another option requires `--output`
    let cpus = lacks(error, "--cpus");
    if verb == "bounds" && (file || cpus) {
        let mut line = "wastenot bounds test".to_owned();
        line += if file { " tasks.csv" } else { "" };
        typed.iter().skip(2).for_each(|word| line += &format!(" {word}"));
        line += if cpus { " --cpus 4" } else { "" };
        let lacks = if file { "a task set" } else { "--cpus" };
        return Some(Stop::new(format!("`bounds test` needs {lacks}"), format!("run `{line}`")));
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
    let line = format!("run `wastenot {}`", typed.join(" "));
    Some(match (file, verb) {
        (true, "compare") => Stop::new("`compare` needs at least two traces", line),
        (true, "rota") => Stop::new("`rota` needs a file with a policy", line),
        (true, "prove") => Stop::new(
            "`prove` needs a policy file",
            format_args!("{line}; docs/reference/rota.md describes the language"),
        ),
        (true, _) => Stop::new(
            format_args!("`{verb}` needs a trace file"),
            format_args!("{line}; {TO_RECORD}"),
        ),
        (false, _) => Stop::new(format_args!("`{verb}` needs an output file"), line),
    })
}

/// An error for a command line that lacks the one argument of its verb.
fn without_argument(error: &Error, verb: &str) -> Option<Stop> {
    if lacks(error, "<SCENARIO>") {
        let line = "run `wastenot run scenarios/seeds/workpile.toml`; docs/reference/scenario.md describes \
                    the format";
        return Some(Stop::new("`run` needs a scenario", line));
    }
    if lacks(error, "--exact") {
        return Some(Stop::new(
            "`--also`, `--last` and `--memory` need `--exact`",
            "add `--exact`",
        ));
    }
    if lacks(error, "<POLICY>") {
        let line = "run `wastenot deploy my.rota`; docs/how-to/deploy.md describes the verb";
        return Some(Stop::new("`deploy` needs a policy file", line));
    }
    if lacks(error, "<WHAT>") {
        let line = "use `wastenot list schedulers`, `machines`, `workloads`, `claims` or `causes`";
        return Some(Stop::new("`list` needs the kind of names that it prints", line));
    }
    if lacks(error, "<TRACE>") {
        let line = format!("run `wastenot {verb} trace.dat`; {TO_RECORD}");
        return Some(Stop::new(format_args!("`{verb}` needs a trace file"), line));
    }
    if lacks(error, "<EXPERIMENT>") {
        let line = "run `wastenot bounds sweep scenarios/sweeps/small.toml`; docs/reference/sweep.md \
                    describes the format";
        return Some(Stop::new("`sweep` needs an experiment", line));
    }
    if lacks(error, "<TABLE>") {
        let line =
            "run `wastenot bounds measure -o here.csv`, then `wastenot bounds calibrate here.csv`";
        return Some(Stop::new("`calibrate` needs a table of measured figures", line));
    }
    if lacks(error, "<RESULT>") {
        let line = "run `wastenot bounds sweep E.toml -o small.csv`, then \
                    `wastenot draw curves small.csv`";
        return Some(Stop::new("`draw curves` needs the result of a sweep", line));
    }
    None
}

/// `wastenot draw trace.dat`: a file is in the place of the picture's name.
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

/// Returns true if a required argument is missing.
fn lacks(error: &Error, name: &str) -> bool {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return false;
    };
    missing.iter().any(|argument| argument.starts_with(name))
}

/// The message of clap on one line, without `error: ` and without the usage.
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

    /// clap breaks longer lines at any space, even within backquotes, and leaves a short line.
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
