//! The JSON face: one object, names nested at their dots.

use serde_json::{Map, Value as Json, json};

use super::{Report, Table, Value};

impl Value {
    /// The bare value: units are in the names.
    pub fn json(&self) -> Json {
        match self {
            Value::Unknown => Json::Null,
            Value::Bool(value) => json!(value),
            Value::Int(value) => json!(value),
            Value::Num(value) if value.is_finite() => json!(value),
            Value::Num(_) => Json::Null,
            Value::Text(value) => json!(value),
            Value::List(values) => values.iter().map(Value::json).collect(),
            Value::Map(values) => Json::Object(
                values.iter().map(|(name, value)| (name.clone(), value.json())).collect(),
            ),
        }
    }
}

impl Table {
    /// A list with one object a row.
    pub fn json(&self) -> Json {
        let row = |cells: &Vec<Value>| -> Json {
            let cells = self.columns.iter().zip(cells);
            Json::Object(cells.map(|(column, cell)| (column.name.clone(), cell.json())).collect())
        };
        self.rows.iter().map(row).collect()
    }
}

impl Report {
    /// The whole report. Keys: `schema`, `verdict`, the measures, the tables by name, `findings`,
    /// `losses`, `assumptions`.
    pub fn json(&self) -> Json {
        let mut object = Map::new();
        object.insert("schema".into(), json!(format!("wastenot.{}", self.schema)));
        object.insert("verdict".into(), json!(self.verdict));
        for measure in &self.measures {
            insert(&mut object, &measure.name, measure.value.json());
        }
        for table in &self.tables {
            insert(&mut object, &table.name, table.json());
        }
        let findings = self.findings.iter().map(|finding| {
            json!({
                "code": finding.code,
                "from_ns": finding.window.from.0,
                "to_ns": finding.window.to.0,
                "message": finding.message,
                "help": finding.help,
            })
        });
        object.insert("findings".into(), findings.collect());
        let losses = self.losses.iter().map(|loss| {
            json!({
                "kind": loss.kind.name(),
                "cpu": loss.cpu.map(|cpu| cpu.0),
                "time_ns": loss.time.map(|time| time.0),
                "count": loss.count,
                "note": loss.note,
            })
        });
        object.insert("losses".into(), losses.collect());
        object.insert("assumptions".into(), json!(self.assumptions));
        Json::Object(object)
    }
}

fn insert(object: &mut Map<String, Json>, name: &str, value: Json) {
    match name.split_once('.') {
        None => {
            object.insert(name.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = object.entry(first.to_owned()).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}
