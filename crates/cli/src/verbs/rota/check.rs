//! `wastenot rota check`: reports all faults of policies.

use serde_json::{Value, json};
use wastenot_model::printable;
use wastenot_rota::{Diagnostic, compile, ir::Program, line_and_column, syntax::Span};

use super::super::policy::{Source, faults};
use crate::args::rota::Check;
use crate::fail::{Answer, Stop};
use crate::out;

/// A file, and its meaning or its faults.
type Checked = (Source, Result<Program, Vec<Diagnostic>>);

/// Checks files.
pub(super) fn run(args: &Check) -> Result<Answer, Stop> {
    let mut all = Vec::new();
    for file in &args.files {
        let source = Source::read(file)?;
        let checked = match &source.fault {
            Some(fault) => Err(vec![fault.clone()]),
            None => compile(&source.text),
        };
        all.push((source, checked));
    }
    match args.json {
        true => out::print_json(&json(&all))?,
        false => out::print_as_is(&all.iter().map(said).collect::<String>())?,
    }
    let right = all.iter().all(|(_, checked)| checked.is_ok());
    Ok(if right { Answer::Yes } else { Answer::No })
}

/// The output for people.
fn said((source, checked): &Checked) -> String {
    match checked {
        Ok(program) => {
            let names = names(program).join(", ");
            let names = if names.is_empty() { "no policy".to_owned() } else { names };
            format!("{}: no faults ({names})\n", printable(&source.name))
        }
        Err(found) => source.refused(found),
    }
}

fn names(program: &Program) -> Vec<&str> {
    program.policies.iter().map(|policy| policy.name.as_str()).collect()
}

/// The output for programs: docs/reference/rota.md.
fn json(all: &[Checked]) -> Value {
    let files: Vec<Value> = all.iter().map(file).collect();
    let count: usize =
        all.iter().map(|(_, checked)| checked.as_ref().map_or_else(Vec::len, |_| 0)).sum();
    json!({ "schema": "wastenot.rota/1", "verdict": faults(count), "files": files })
}

fn file((source, checked): &Checked) -> Value {
    let policies = checked.as_ref().map_or_else(|_| Vec::new(), names);
    let found = checked.as_ref().err().map_or(&[][..], Vec::as_slice);
    let found: Vec<Value> = found.iter().map(|fault| diagnostic(fault, &source.text)).collect();
    json!({ "file": source.name, "policies": policies, "diagnostics": found })
}

fn diagnostic(fault: &Diagnostic, text: &str) -> Value {
    let others = fault.others.iter().map(|(span, label)| place(*span, label, text));
    let mut value = place(fault.span, &fault.label, text);
    value["code"] = fault.code.into();
    value["message"] = fault.message.as_str().into();
    value["help"] = fault.help.as_str().into();
    value["others"] = others.collect();
    value
}

/// Lines and columns count from 1, columns in characters; `start` and `end` are bytes.
fn place(span: Span, label: &str, text: &str) -> Value {
    let (line, column) = line_and_column(text, span.start);
    let (end_line, end_column) = line_and_column(text, span.end);
    json!({
        "label": label,
        "start": span.start,
        "end": span.end,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    })
}
