//! Losses and annex tables as the JSON texts of their rows: they are few and have any form.

use serde_json::{Value as Json, json};
use wastenot_model::report::Column;
use wastenot_model::{CpuId, Loss, LossKind, Table, Time, Unit, Value};

const LOSSES: [LossKind; 9] = [
    LossKind::LostEvents,
    LossKind::Cut,
    LossKind::Missing,
    LossKind::Damaged,
    LossKind::ClockStep,
    LossKind::ClockSkew,
    LossKind::Contradiction,
    LossKind::UnknownUnit,
    LossKind::Unread,
];
const UNITS: [(Unit, &str); 4] =
    [(Unit::None, ""), (Unit::Ns, "ns"), (Unit::At, "at"), (Unit::Share, "share")];

pub(super) fn loss_to_json(loss: &Loss) -> String {
    json!({
        "kind": loss.kind.name(),
        "cpu": loss.cpu.map(|cpu| cpu.0),
        "time_ns": loss.time.map(|time| time.0),
        "count": loss.count,
        "note": loss.note,
    })
    .to_string()
}

pub(super) fn loss_from_json(text: &str) -> Option<Loss> {
    let json: Json = serde_json::from_str(text).ok()?;
    let name = json["kind"].as_str()?;
    let cpu = json["cpu"].as_u64().and_then(|cpu| u16::try_from(cpu).ok());
    Some(Loss {
        kind: LOSSES.into_iter().find(|kind| kind.name() == name)?,
        cpu: cpu.map(CpuId),
        time: json["time_ns"].as_u64().map(Time),
        count: json["count"].as_u64(),
        note: json["note"].as_str().unwrap_or_default().to_owned(),
    })
}

/// A table's declaration, without its rows.
pub(super) fn table_to_json(table: &Table) -> String {
    let unit = |unit: Unit| UNITS.iter().find(|(known, _)| *known == unit).map(|(_, name)| *name);
    // Which of the two names is missing is the audience.
    let column = |column: &Column| {
        let key = if column.audience.has_programs() { &column.key } else { "" };
        let title = if column.audience.has_people() { &column.title } else { "" };
        json!([key, title, unit(column.unit)])
    };
    json!({
        "name": table.name,
        "label": table.title,
        "shown": table.shown,
        "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
    })
    .to_string()
}

pub(super) fn table_from_json(text: &str) -> Option<Table> {
    let json: Json = serde_json::from_str(text).ok()?;
    let column = |column: &Json| {
        let unit = UNITS.iter().find(|(_, name)| column[2].as_str() == Some(name));
        let unit = unit.map_or(Unit::None, |(unit, _)| *unit);
        Some(match (column[0].as_str()?, column[1].as_str()?) {
            ("", title) => Column::for_people(title, unit),
            (key, "") => Column::for_programs(key, unit),
            (key, title) => Column::new(key, title, unit),
        })
    };
    let columns = json["columns"].as_array()?.iter().map(column).collect::<Option<Vec<_>>>()?;
    let mut table = Table::new(json["name"].as_str()?, json["label"].as_str()?, columns);
    table.shown = json["shown"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(10);
    Some(table)
}

/// The cells of one row of a table.
pub(super) fn cells_to_json(cells: &[Value]) -> String {
    Json::Array(cells.iter().map(cell_to_json).collect()).to_string()
}

pub(super) fn cells_from_json(text: &str) -> Option<Vec<Value>> {
    let json: Json = serde_json::from_str(text).ok()?;
    json.as_array()?.iter().map(cell_from_json).collect()
}

/// Numbers that are not whole are written as texts in an object: JSON numbers have no NaN, and only
/// their shortest text reads back to the last bit.
fn cell_to_json(cell: &Value) -> Json {
    match cell {
        Value::Unknown => Json::Null,
        Value::Bool(yes) => (*yes).into(),
        Value::Int(n) => (*n).into(),
        Value::Num(n) => json!({ "num": n.to_string() }),
        Value::Text(text) => text.as_str().into(),
        Value::List(cells) => Json::Array(cells.iter().map(cell_to_json).collect()),
        Value::Map(pairs) => {
            let pair = |(name, cell): &(String, Value)| json!([name, cell_to_json(cell)]);
            json!({ "map": pairs.iter().map(pair).collect::<Vec<_>>() })
        }
    }
}

fn cell_from_json(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Unknown,
        Json::Bool(yes) => Value::Bool(*yes),
        Json::Number(n) => Value::Int(n.as_i64()?),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(cells) => Value::List(cells.iter().map(cell_from_json).collect::<Option<_>>()?),
        Json::Object(object) => match (object.get("num"), object.get("map")) {
            (Some(num), _) => Value::Num(num.as_str()?.parse().ok()?),
            (_, Some(map)) => {
                let pair =
                    |pair: &Json| Some((pair[0].as_str()?.to_owned(), cell_from_json(&pair[1])?));
                Value::Map(map.as_array()?.iter().map(pair).collect::<Option<_>>()?)
            }
            _ => return None,
        },
    })
}
