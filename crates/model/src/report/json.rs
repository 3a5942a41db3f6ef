//! The JSON form of a report: one object; names are nested at their dots.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value as Json, json};

use super::{Column, Finding, Report, Table, Value};
use crate::Loss;

impl Serialize for Value {
    /// The bare value: units are in the names.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Bool(value) => value.serialize(to),
            Value::Int(value) => value.serialize(to),
            Value::Num(value) if value.is_finite() => value.serialize(to),
            Value::Unknown | Value::Num(_) => to.serialize_unit(),
            Value::Text(value) => value.serialize(to),
            Value::List(values) => values.serialize(to),
            Value::Map(values) => to.collect_map(values.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl Serialize for Table {
    /// A list with one object a row.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.rows.iter().map(|cells| Row { columns: &self.columns, cells }))
    }
}

/// A row with the names of its cells.
struct Row<'a> {
    columns: &'a [Column],
    cells: &'a [Value],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let cells = self.columns.iter().zip(self.cells);
        let cells = cells.filter(|(column, _)| column.audience.has_programs());
        to.collect_map(cells.map(|(column, cell)| (&column.key, cell)))
    }
}

/// Keys that every report has.
const OWN: [&str; 6] = ["schema", "verdict", "summary", "findings", "losses", "assumptions"];

/// The whole report. Keys: `schema`, `verdict`, the measures, the tables by name, `findings`,
/// `losses`, `assumptions`; what has no name is only for people. Tables may have a row for each of
/// a million tasks, so nothing is built of them on the way.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut measures = Map::new();
        for measure in self.measures.iter().filter(|measure| !measure.name.is_empty()) {
            insert(&mut measures, &measure.name, json!(measure.value));
        }
        let tables = self.tables.iter().filter(|table| !table.name.is_empty());
        debug_assert!(
            tables.clone().all(|it| !OWN.contains(&&*it.name) && !measures.contains_key(&it.name)),
            "two parts of an answer have the same name"
        );
        let findings: Vec<Json> = self.findings.iter().map(finding).collect();
        let losses: Vec<Json> = self.losses.iter().map(loss).collect();
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("schema", &format!("wastenot.{}", self.schema))?;
        match self.word {
            None => object.serialize_entry("verdict", &self.whole_verdict())?,
            Some(word) => {
                object.serialize_entry("verdict", word)?;
                object.serialize_entry("summary", &self.whole_verdict())?;
            }
        }
        for (name, value) in &measures {
            object.serialize_entry(name, value)?;
        }
        for table in tables {
            object.serialize_entry(&table.name, table)?;
        }
        object.serialize_entry("findings", &findings)?;
        object.serialize_entry("losses", &losses)?;
        object.serialize_entry("assumptions", &self.assumptions)?;
        object.end()
    }
}

impl Report {
    /// The verdict, ending with the worst moment.
    pub fn whole_verdict(&self) -> String {
        let worst = self.worst.as_ref().map(|worst| format!(" Worst moment: {}", worst.message));
        format!("{}{}", self.verdict, worst.unwrap_or_default())
    }
}

fn finding(finding: &Finding) -> Json {
    json!({
        "code": finding.code,
        "from_ns": finding.window.from.0,
        "to_ns": finding.window.to.0,
        "message": finding.message,
        "help": finding.help,
    })
}

fn loss(loss: &Loss) -> Json {
    json!({
        "kind": loss.kind.name(),
        "cpu": loss.cpu.map(|cpu| cpu.0),
        "time_ns": loss.time.map(|time| time.0),
        "count": loss.count,
        "note": loss.note,
    })
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

#[cfg(test)]
mod tests {
    use super::super::{Column, Report, Table, Unit};

    #[test]
    fn what_has_no_name_is_only_for_people() {
        let mut report = Report::new("try/1", "a try");
        report.measure("seeds", "", vec![1, 2], Unit::None);
        report.measure("", "seeds", "1-2", Unit::None);
        let columns =
            [Column::for_programs("n", Unit::None), Column::for_people("number", Unit::None)];
        for name in ["t", ""] {
            let mut table = Table::new(name, "Table", columns.clone());
            table.push(vec![5.into(), "five".into()]);
            report.tables.push(table);
        }
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(json["seeds"], serde_json::json!([1, 2]));
        assert_eq!(json["t"], serde_json::json!([{ "n": 5 }]));
        assert!(json.get("").is_none(), "{json}");
        let text = report.text();
        assert!(text.contains("seeds  1-2") && text.matches("five").count() == 2, "{text}");
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "two parts of an answer have the same name")]
    fn a_table_with_the_name_of_another_part_is_a_bug() {
        let mut report = Report::new("try/1", "a try");
        report.tables.push(Table::new("losses", "Losses", []));
        let _ = serde_json::to_value(&report);
    }

    #[test]
    fn a_verdict_in_a_word_is_for_programs() {
        let mut report = Report::new("try/1", "a try");
        (report.verdict, report.word) = ("It holds.".into(), Some("yes"));
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!((&json["verdict"], &json["summary"]), (&"yes".into(), &"It holds.".into()));
        assert!(report.text().contains("It holds."), "{}", report.text());
    }
}
