//! What people see of a sweep: two short tables for each number of CPUs and each criterion.

use wastenot_model::report::Unit;
use wastenot_model::{Table, Value};

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

fn accepted(title: &str, rows: &[Vec<Value>]) -> Table {
    let is_cut = rows.iter().any(|row| row[9] != Value::from(0));
    Table::of("", title, rows, |row, it| {
        // Without overheads there is no cache delay.
        let counts = matches!(&it[GUARANTEE], Value::Text(it) if it.starts_with("none"));
        let row = row
            .cell("", "curve", it[1].clone())
            .words("", "cache delay", if counts { factor(&it[3]) } else { "-".into() })
            .words("", "accepted", format!("{} %", per_cent(&it[5])))
            .words("", "95 % interval", format!("{} - {} %", per_cent(&it[6]), per_cent(&it[7])))
            .words("", "weighted", format!("{} %", per_cent(&it[8])));
        if is_cut { row.cell("", "unknown", it[9].clone()) } else { row }
    })
    .shown(usize::MAX)
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
    Table::of("", title, rows, |row, it| {
        let p = match it[9] {
            Value::Num(p) if p < 0.001 => "< 0.001".to_owned(),
            ref p => p.show(Unit::None),
        };
        let row = row
            .cell("", "curve", it[1].clone())
            .words("", "cache delay", factor(&it[3]))
            .cell("", "is", it[5].clone())
            .cell("", "compared with", it[4].clone())
            .cell("", "only this curve accepts", it[6].clone())
            .cell("", "only the other accepts", it[7].clone());
        let row = if is_cut { row.cell("", "unknown", it[8].clone()) } else { row };
        row.words("", "p", p)
    })
    .shown(usize::MAX)
}
