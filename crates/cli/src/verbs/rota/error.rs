//! `wastenot rota error`: explains error codes.

use wastenot_model::nearest;
use wastenot_rota::codes;

use crate::args::rota::Code;
use crate::fail::{Answer, Stop};
use crate::out;

/// Explains one code, or lists all codes.
pub(super) fn run(args: &Code) -> Result<Answer, Stop> {
    let Some(name) = &args.code else {
        out::print(&list())?;
        return Ok(Answer::Yes);
    };
    let Some(code) = codes::named(name) else {
        let number = name.trim_start_matches(['R', 'r']);
        let near = nearest(number, codes::all().map(|code| &code.code[1..]));
        let help = match near {
            Some(near) => format!("did you mean `R{near}`? All codes: `wastenot rota error`"),
            None => "list all codes with `wastenot rota error`".to_owned(),
        };
        return Err(Stop::new(format_args!("there is no code `{name}`"), help));
    };
    out::print(&code.page())?;
    Ok(Answer::Yes)
}

fn list() -> String {
    let mut text = String::new();
    for (family, codes) in codes::families().filter(|(_, codes)| !codes.is_empty()) {
        text += &format!("{family}\n");
        for code in codes {
            text += &format!("  {}  {}\n", code.code, code.title);
        }
    }
    text + "\n`wastenot rota error CODE` explains a code and how to correct the fault.\n"
}
