//! The CSV and Markdown faces of a table.

use super::{Table, Unit, Value};

impl Table {
    /// RFC 4180: a header line, then a line a row, bare numbers.
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\r\n";
        let header = line(self.columns.iter().map(|column| quote(&column.name)).collect());
        let rows = self.rows.iter().map(|row| {
            line(
                row.iter()
                    .map(|cell| {
                        if *cell == Value::Unknown {
                            String::new()
                        } else {
                            quote(&cell.show(Unit::None))
                        }
                    })
                    .collect(),
            )
        });
        header + &rows.collect::<String>()
    }

    /// A Markdown table, values as people read them.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.iter().map(|column| column.label.clone()).collect());
        text += &line(self.columns.iter().map(|_| "---".to_owned()).collect());
        for row in &self.rows {
            let cells = self.columns.iter().zip(row);
            text += &line(
                cells.map(|(column, cell)| cell.show(column.unit).replace('|', "\\|")).collect(),
            );
        }
        text
    }
}

fn quote(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}
