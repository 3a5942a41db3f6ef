//! `docs/reference/scenario.schema.json`: the tables and keys of scenarios as JSON Schema (draft
//! 7), which editors of TOML use for completion and checks. Its own test, in `python/tests`, holds
//! it against every scenario.

use serde_json::{Map, Value, json};
use wastenot_scenario::scenario::{Key, MEASURES, SCHEMA, Section};
use wastenot_scenario::{CATALOGUE, ambient};

use super::seeds::root;

/// The tables that each key leads to.
const TABLES: &[(&str, &str)] = &[
    ("costs", "[costs]"),
    ("scheduler", "[scheduler]"),
    ("groups", "[groups.NAME]"),
    ("locks", "[locks.NAME]"),
    ("barriers", "[barriers.NAME]"),
    ("pipes", "[pipes.NAME]"),
    ("tasks", "[[tasks]]"),
    ("hotplug", "[[hotplug]]"),
    ("variants", "[[variants]]"),
    ("figures", "[[figures]]"),
    ("over", "over"),
    ("formula", "formula"),
];

/// The keys of the file that variants do not have.
const HEAD: &[&str] =
    &["schema", "about", "source", "seeds", "limit", "sweep", "variants", "figures"];

fn section(title: &str) -> &'static Section {
    SCHEMA.iter().find(|section| section.title == title).unwrap_or_else(|| panic!("{title}"))
}

/// A text, which every value may be: `${name}` stands for a parameter.
fn or_text(kind: &str) -> Value {
    json!({ "type": [kind, "string"] })
}

/// The schema of a value, by the form in the documentation.
fn value(key: &Key) -> Value {
    let table = || {
        let title = TABLES.iter().find(|(name, _)| *name == key.name).map(|(_, title)| *title);
        title.map_or(json!({ "type": "object" }), |title| json!({ "$ref": reference(title) }))
    };
    let words = |form: &str| -> Vec<String> {
        form.split(" | ").map(|word| word.trim_matches('"').to_owned()).collect()
    };
    match key.form {
        "true | false" => json!({ "enum": [true, false, "true", "false"] }),
        "number" => or_text("number"),
        "TIME" | "text" | "group" | "task or mark" | "PICK" | "\"10ms/100ms\"" => {
            json!({ "type": "string" })
        }
        "WAITING" => json!({ "type": "string", "pattern": "^(block|spin|\\$)" }),
        "CLASS" => {
            let pattern = "^(other|batch|idle|deadline|(fifo|rr) [1-9][0-9]?)$|\\$";
            json!({ "type": "string", "pattern": pattern })
        }
        "RECORDING" => {
            let names = ambient::all().into_iter().map(|ambient| ambient.name);
            json!({ "enum": names.chain(["none".into()]).collect::<Vec<_>>() })
        }
        "MEASURE" => {
            json!({ "enum": MEASURES.iter().map(|(_, name, _)| name).collect::<Vec<_>>() })
        }
        "CPU" | "node" => or_text("integer"),
        "\"0-3,8\" | \"all\"" | "\"1,2\" | \"all\"" => or_text("integer"),
        "table" => table(),
        "list of tables" => json!({ "type": "array", "items": table() }),
        "tables by name" => json!({ "type": "object", "additionalProperties": table() }),
        "lists by parameter" => {
            json!({ "type": "object", "additionalProperties": { "type": "array", "minItems": 1 } })
        }
        "list of steps" | "list of names" => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        "four TIMEs" => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 4, "maxItems": 4 })
        }
        "list of 0.1 to 1" => json!({ "type": "array", "items": or_text("number") }),
        "[low, high]" => {
            json!({ "type": "array", "items": or_text("number"), "minItems": 2, "maxItems": 2 })
        }
        "table | TIME | number" | "number | table" => {
            json!({ "anyOf": [table(), { "type": ["number", "string"] }] })
        }
        form if form.starts_with('"') => json!({ "enum": words(form) }),
        form => {
            let range: Option<Vec<f64>> = form.split(" to ").map(|n| n.parse().ok()).collect();
            let Some([low, high]) = range.as_deref() else { panic!("{}: {form}", key.name) };
            let whole = !form.contains('.');
            let mut value = or_text(if whole { "integer" } else { "number" });
            for (name, bound) in [("minimum", low), ("maximum", high)] {
                value[name] = if whole { json!(*bound as i64) } else { json!(bound) };
            }
            value
        }
    }
}

/// The reference to a table's definition.
fn reference(title: &str) -> String {
    let name = title.trim_matches(['[', ']']).split('.').next().unwrap_or_default();
    format!("#/definitions/{name}")
}

/// The schema of a table with these keys; the description of a required key contains `required`.
fn table(keys: &[&Key]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut value = value(key);
        value["description"] = key.about.into();
        properties.insert(key.name.to_owned(), value);
    }
    let required = keys.iter().filter(|key| key.about.ends_with("; required"));
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

#[test]
fn the_json_schema_is_that_of_the_code() {
    let mut definitions = Map::new();
    for (_, title) in TABLES {
        let section = section(title);
        let mut keys: Vec<&Key> = section.keys.iter().collect();
        if *title == "[[variants]]" {
            let of_file = section_of_file().keys.iter();
            keys.extend(of_file.filter(|key| !HEAD.contains(&key.name)));
        }
        let mut made = table(&keys);
        made["description"] = section.about.into();
        match *title {
            // Everything else may be in the file.
            "[[variants]]" => made["required"] = json!(["name"]),
            // Tunables and parameters of policies.
            "[scheduler]" => {
                made["additionalProperties"] = json!({ "type": ["string", "number", "boolean"] });
                // A variant may change tunables of the file's scheduler without its name.
                made["required"] = json!([]);
            }
            "[[tasks]]" => {
                let functions = CATALOGUE.iter().flat_map(|family| family.functions);
                let names: Vec<&str> = functions.clone().map(|function| function.name).collect();
                made["properties"]["use"]["enum"] = json!(names);
                for argument in functions.flat_map(|function| function.arguments) {
                    if made["properties"].get(argument.name).is_none() {
                        let value = json!({ "description": argument.about });
                        made["properties"][argument.name] = value;
                    }
                }
            }
            _ => {}
        }
        definitions.insert(reference(title).replace("#/definitions/", ""), made);
    }
    let keys: Vec<&Key> = section_of_file().keys.iter().collect();
    let mut schema = table(&keys);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = "A scenario of Wastenot".into();
    schema["description"] = section_of_file().about.into();
    // The machine and the scheduler may be in each variant instead.
    schema["required"] = json!(["schema"]);
    schema["definitions"] = definitions.into();
    let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
    wastenot_golden::holds(root().join("docs/reference/scenario.schema.json"), &text);
}

fn section_of_file() -> &'static Section {
    section("the file")
}
