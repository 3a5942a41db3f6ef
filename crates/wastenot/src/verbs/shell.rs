//! `wastenot completions`, `wastenot man`: written from the same tree as the help.

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
    let whole = args::command();
    let command = match &args.verb {
        None => whole,
        Some(name) => match whole.find_subcommand(name) {
            // A page is named as one calls it: `man wastenot-check`.
            Some(verb) => {
                let page = format!("wastenot-{name}");
                verb.clone().display_name(page).bin_name(format!("wastenot {name}"))
            }
            None => {
                let what = format!("there is no verb `{name}`");
                return Err(Stop::new(what, "all verbs: `wastenot --help`"));
            }
        },
    };
    let mut page = Vec::new();
    let render = clap_mangen::Man::new(command).render(&mut page);
    render.map_err(|error| Stop::io("cannot write the page", &error, "try again"))?;
    out::print_as_is(&String::from_utf8_lossy(&page))?;
    Ok(Answer::Yes)
}
