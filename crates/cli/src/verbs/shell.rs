//! `wastenot completions` and `wastenot man`, generated from the same definitions as the help.

use crate::args;
use crate::args::shell::{Completions, Man};
use crate::fail::{Answer, Stop};
use crate::out;

/// Prints completions.
pub(crate) fn completions(args: &Completions) -> Result<Answer, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "wastenot", &mut script);
    out::print_as_is(&String::from_utf8_lossy(&script))?;
    Ok(Answer::Yes)
}

/// Prints a man page.
pub(crate) fn man(args: &Man) -> Result<Answer, Stop> {
    let mut command = args::command();
    for name in &args.verb {
        let Some(verb) = command.find_subcommand(name) else {
            let what = format!("there is no verb `{name}`");
            return Err(Stop::new(what, "list all verbs with `wastenot --help`"));
        };
        command = verb.clone();
    }
    // The name of a page is the name for man: `man wastenot-check`.
    let words = [&["wastenot".to_owned()], &args.verb[..]].concat();
    command = command.display_name(words.join("-")).bin_name(words.join(" "));
    // The verb `help` of clap has no page.
    command = command.disable_help_subcommand(true);
    let mut page = Vec::new();
    let render = clap_mangen::Man::new(command).render(&mut page);
    render.map_err(|error| Stop::io("cannot write the page", &error, "try again"))?;
    out::print_as_is(&String::from_utf8_lossy(&page))?;
    Ok(Answer::Yes)
}
