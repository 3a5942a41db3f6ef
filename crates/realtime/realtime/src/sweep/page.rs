//! What people see of a sweep: two short tables for each number of CPUs and each criterion.

use wastenot_model::report::Unit;
use wastenot_model::{Column, Table, Value};

/// What programs get of each curve.
pub(super) const CURVES: [&str; 11] = [
    "cpus",
    "curve",
    "criterion",
    "cache_delay",
    "sets",
    "share",
    "share_low",
    "share_high",
    "weighted",
    "unknown",
    "guarantee",
];
/// What they get of each curve beside another.
pub(super) const PAIRS: [&str; 10] = [
    "cpus",
    "curve",
    "criterion",
    "cache_delay",
    "than",
    "is",
    "only_curve",
    "only_than",
    "unknown",
    "p",
];

/// Where the number of CPUs, the criterion, and a curve's guarantee and sets stand.
const CPUS: usize = 0;
const CRITERION: usize = 2;
const SETS: usize = 4;
const GUARANTEE: usize = 10;

/// Both tables, each in parts.
pub(super) fn tables(curves: &Table, pairs: &Table) -> Vec<Table> {
    let mut tables = Vec::new();
    for (cpus, criterion) in parts(curves) {
        let part = |table: &Table| -> Vec<Vec<Value>> {
            let rows = table.rows.iter();
            rows.filter(|row| (&row[CPUS], &row[CRITERION]) == (&cpus, &criterion))
                .cloned()
                .collect()
        };
        let show = |value: &Value| value.show(Unit::None);
        let s = if cpus == Value::from(1) { "" } else { "s" };
        let on = format!("on {} CPU{s}, {}", show(&cpus), show(&criterion));
        let (curves, pairs) = (part(curves), part(pairs));
        let sets = curves.first().map(|row| show(&row[SETS])).unwrap_or_default();
        tables.push(accepted(&format!("Accepted shares {on}, of {sets} sets"), &curves));
        if !pairs.is_empty() {
            tables.push(above(&format!("Comparison of curves {on}"), &pairs));
        }
    }
    tables
}

/// Numbers of CPUs with criteria, in their order.
fn parts(curves: &Table) -> Vec<(Value, Value)> {
    let mut parts = Vec::new();
    let mut numbers: Vec<&Value> = curves.rows.iter().map(|row| &row[CPUS]).collect();
    numbers.dedup();
    for cpus in numbers {
        for row in curves.rows.iter().filter(|row| row[CPUS] == *cpus) {
            let part = (cpus.clone(), row[CRITERION].clone());
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    parts
}

/// A table for people.
fn table(title: &str, columns: Vec<Column>) -> Table {
    let mut table = Table::new("", title, columns);
    table.shown = usize::MAX;
    table
}

fn accepted(title: &str, rows: &[Vec<Value>]) -> Table {
    let is_cut = rows.iter().any(|row| row[9] != Value::from(0));
    let mut columns = vec![
        Column::for_people("curve", Unit::None),
        Column::for_people("cache delay", Unit::Words),
        Column::for_people("accepted", Unit::Words),
        Column::for_people("95 % interval", Unit::Words),
        Column::for_people("weighted", Unit::Words),
    ];
    if is_cut {
        columns.push(Column::for_people("unknown", Unit::None));
    }
    let mut table = table(title, columns);
    for row in rows {
        // Without overheads there is no cache delay.
        let counts = matches!(&row[GUARANTEE], Value::Text(it) if it.starts_with("none"));
        let delay = if counts { factor(&row[3]) } else { "-".into() };
        let interval = format!("{} - {} %", per_cent(&row[6]), per_cent(&row[7]));
        let share = |share: &Value| Value::from(format!("{} %", per_cent(share)));
        let mut cells =
            vec![row[1].clone(), delay, share(&row[5]), interval.into(), share(&row[8])];
        if is_cut {
            cells.push(row[9].clone());
        }
        table.push(cells);
    }
    table
}

/// Without its sign, to the tenth.
fn per_cent(share: &Value) -> String {
    match share {
        Value::Num(share) => format!("{:.1}", share * 100.0),
        other => other.show(Unit::None),
    }
}

/// With as many digits as it has.
fn factor(delay: &Value) -> Value {
    match delay {
        Value::Num(factor) => factor.to_string().into(),
        other => other.show(Unit::None).into(),
    }
}

fn above(title: &str, rows: &[Vec<Value>]) -> Table {
    let is_cut = rows.iter().any(|row| row[8] != Value::from(0));
    let mut columns = vec![
        Column::for_people("curve", Unit::None),
        Column::for_people("cache delay", Unit::Words),
        Column::for_people("is", Unit::None),
        Column::for_people("compared with", Unit::None),
        Column::for_people("only this curve accepts", Unit::None),
        Column::for_people("only the other accepts", Unit::None),
        Column::for_people("p", Unit::Words),
    ];
    if is_cut {
        columns.insert(6, Column::for_people("unknown", Unit::None));
    }
    let mut table = table(title, columns);
    for row in rows {
        let p = match row[9] {
            Value::Num(p) if p < 0.001 => "< 0.001".into(),
            ref p => p.show(Unit::None).into(),
        };
        let [curve, than, is, only_it, only_other] = [1, 4, 5, 6, 7].map(|n| row[n].clone());
        let mut cells = vec![curve, factor(&row[3]), is, than, only_it, only_other, p];
        if is_cut {
            cells.insert(6, row[8].clone());
        }
        table.push(cells);
    }
    table
}
