//! From a file to its variants: merges patches, substitutes parameters, reads the result.

use super::build;
use super::fields::{Fields, expected, list, text};
use super::node::{Entry, Node, Table, Value, Wrong, wrong};
use super::schema::{HEAD, SCENARIO, VARIANT};
use super::{Draft, Fits, Variant};
use wastenot_model::{Machine, shortened, suggest};

/// The maximum number of variants of a scenario.
const VARIANTS: usize = 256;
/// The maximum length of a parameter's value.
const VALUE: usize = 256;

/// The variants of a file, before their text is parsed; `set` is merged over each.
pub(super) fn of(file: &Fields, table: &Table, set: &Table) -> Result<Vec<Draft>, Wrong> {
    let base = table.without(HEAD);
    let mut drafts = Vec::new();
    for node in file.list("variants")? {
        let patchable = SCENARIO.keys.iter().map(|key| key.name);
        let fields = Fields::of(&VARIANT, node)?.and(patchable.filter(|key| !HEAD.contains(key)));
        fields.check()?;
        let name = text(fields.need("name", "\"fix\"")?, "name")?.to_owned();
        if drafts.iter().any(|draft: &Draft| draft.name == name) {
            let what = format!("there is already a variant `{}`", shortened(&name));
            return Err(wrong(node.at, what, "give each variant a different name"));
        }
        if name.is_empty() || name.len() > 64 {
            return Err(wrong(node.at, "the variant has an empty name", "write a word or two"));
        }
        let Value::Table(patch) = &node.value else { continue };
        let mut table = base.clone();
        apply(&mut table, &patch.without(&["name"]));
        drafts.push(Draft { name, at: node.at, table });
        fits(drafts.len(), node.at)?;
    }
    if drafts.is_empty() {
        drafts.push(Draft { name: String::new(), at: 0, table: base });
    }
    drafts.iter_mut().for_each(|draft| apply(&mut draft.table, set));
    let mut drafts = sweep(file, drafts, set)?;
    for draft in drafts.iter_mut().filter(|draft| draft.name.is_empty()) {
        draft.name = "default".into();
    }
    Ok(drafts)
}

/// The variants of the file that are none of `drafts`: a parameter that is set is not swept.
pub(super) fn gone(file: &Fields, table: &Table, drafts: &[Draft]) -> Result<Vec<String>, Wrong> {
    let before = of(file, table, &Table::default())?;
    let is_gone = |name: &String| !drafts.iter().any(|draft| draft.name == *name);
    Ok(before.into_iter().map(|draft| draft.name).filter(is_gone).collect())
}

/// Merges a patch into a variant.
fn apply(table: &mut Table, patch: &Table) {
    // If the patch names another scheduler, the tunables of the old one are dropped.
    let is_named = matches!(patch.get("scheduler"),
        Some(Node { value: Value::Table(scheduler), .. }) if scheduler.get("name").is_some());
    if is_named {
        *table = table.without(&["scheduler"]);
    }
    table.merge(patch);
}

fn fits(variants: usize, at: usize) -> Result<(), Wrong> {
    let help = "sweep fewer values, or split the scenario";
    let many = || wrong(at, format!("there are more than {VARIANTS} variants"), help);
    (variants <= VARIANTS).then_some(()).ok_or_else(many)
}

/// Each variant for each combination of the values in `[sweep]`; the last key varies fastest. A
/// parameter that is `set` has one value.
fn sweep(file: &Fields, mut drafts: Vec<Draft>, set: &Table) -> Result<Vec<Draft>, Wrong> {
    let Some((_, sweep)) = file.table("sweep")? else { return Ok(drafts) };
    let is_set = |key: &str| match set.get("parameters").map(|node| &node.value) {
        Some(Value::Table(parameters)) => parameters.get(key).is_some(),
        _ => false,
    };
    for Entry { key, at, node } in sweep.entries.iter().filter(|entry| !is_set(&entry.key)) {
        let values = list(node, key)?;
        if values.is_empty() {
            return Err(wrong(
                *at,
                format!("the list of values for `{}` is empty", shortened(key)),
                "write at least one value",
            ));
        }
        fits(drafts.len().saturating_mul(values.len()), *at)?;
        let mut combined = Vec::with_capacity(drafts.len() * values.len());
        for draft in &drafts {
            for value in values {
                combined.push(with_value(draft, key, *at, value)?);
            }
        }
        drafts = combined;
    }
    Ok(drafts)
}

fn with_value(draft: &Draft, key: &str, at: usize, value: &Node) -> Result<Draft, Wrong> {
    let word = value.word().ok_or_else(|| expected(value, key, "a list of texts or numbers"))?;
    let mut table = draft.table.clone();
    let parameters = table.entries.iter_mut().find(|entry| entry.key == "parameters");
    let mut known = Vec::new();
    if let Some(Entry { node: Node { value: Value::Table(parameters), .. }, .. }) = parameters {
        if let Some(entry) = parameters.entries.iter_mut().find(|entry| entry.key == key) {
            entry.node = value.clone();
            let space = if draft.name.is_empty() { "" } else { " " };
            let name = format!("{}{space}{key}={}", draft.name, shortened(&word));
            return Ok(Draft { name, at: draft.at, table });
        }
        known = parameters.entries.iter().map(|entry| entry.key.clone()).collect();
    }
    Err(unknown_parameter(key, at, &known))
}

fn unknown_parameter(name: &str, at: usize, known: &[String]) -> Wrong {
    let help = suggest(
        name,
        known.iter().map(String::as_str),
        "add the parameter to [parameters], with a value",
    );
    wrong(at, format!("there is no parameter `{}`", shortened(name)), help)
}

/// Reads every variant; on the machine in `instead`, if there is one.
pub(super) fn resolve(
    drafts: &[Draft],
    fits: &Fits,
    instead: Option<&Machine>,
) -> Result<Vec<Variant>, Wrong> {
    let mut maker = build::Variants::new(fits, instead);
    let mut variants = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let mut table = draft.table.clone();
        substitute(&mut table)?;
        variants.push(maker.read(&draft.name, draft.at, &table)?);
    }
    Ok(variants)
}

/// Replaces every `${name}` by the value of the parameter.
fn substitute(table: &mut Table) -> Result<(), Wrong> {
    let mut values: Vec<(String, String)> = Vec::new();
    match table.get("parameters").map(|node| (node, &node.value)) {
        None => {}
        Some((_, Value::Table(parameters))) => {
            for Entry { key, at, node } in &parameters.entries {
                let value = node.word().filter(|word| word.len() <= VALUE);
                let help = format!("write a number, or a text of up to {VALUE} bytes");
                let value = value
                    .ok_or_else(|| wrong(*at, "the value is not valid for a parameter", help))?;
                if value.contains("${") {
                    let what = format!(
                        "the value of the parameter `{}` refers to another parameter",
                        shortened(key)
                    );
                    return Err(wrong(
                        *at,
                        what,
                        "write the value itself: parameters cannot be nested",
                    ));
                }
                values.push((key.clone(), value));
            }
        }
        Some((node, _)) => return Err(expected(node, "parameters", "a table")),
    }
    let known: Vec<String> = values.iter().map(|(name, _)| name.clone()).collect();
    table.each_text(&mut |at, text| {
        if !text.contains("${") {
            return Ok(());
        }
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(begin) = rest.find("${") {
            out += &rest[..begin];
            let inside = &rest[begin + 2..];
            let open = || wrong(at, "`${` has no `}`", "write `${name}`");
            let end = inside.find('}').ok_or_else(open)?;
            let value = values.iter().find(|(name, _)| *name == inside[..end]);
            out += &value.ok_or_else(|| unknown_parameter(&inside[..end], at, &known))?.1;
            rest = &inside[end + 1..];
        }
        out += rest;
        *text = out;
        Ok(())
    })
}
