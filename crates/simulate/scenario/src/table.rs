//! A table of numbers in CSV, read line by line: its columns, and the position of each cell.

use std::io::{BufRead, BufReader, Read};

use csv::{ReaderBuilder, StringRecord, Trim};
use wastenot_model::report::counted;
use wastenot_model::{shortened, suggest};

use crate::error::Error;

/// The maximum length of a line, in bytes.
const LONGEST: u64 = 4096;

/// A column that a table may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Whether the table must have it.
    pub(crate) needed: bool,
}

/// A table that is being read. Lines that are blank or begin with `#` are skipped, and so are
/// repeated headers, as in tables that were concatenated with `cat`.
pub(crate) struct Table<'n, R> {
    file: &'n str,
    columns: &'static [Column],
    read: BufReader<R>,
    /// The number of the last line read, counted from 1.
    line: usize,
    /// By column: the index of its cell in a row.
    places: Vec<Option<usize>>,
    header: StringRecord,
}

/// A row.
pub(crate) struct Row<'n> {
    file: &'n str,
    columns: &'static [Column],
    line: usize,
    /// By column; empty if there is none.
    cells: Vec<String>,
}

impl<'n, R: Read> Table<'n, R> {
    /// Reads the header.
    pub(crate) fn begin(
        file: &'n str,
        read: R,
        columns: &'static [Column],
    ) -> Result<Table<'n, R>, Error> {
        let places = vec![None; columns.len()];
        let read = BufReader::new(read);
        let header = StringRecord::new();
        let mut table = Table { file, columns, read, line: 0, places, header };
        let Some(header) = table.record()? else {
            let help =
                format!("begin the file with a line that names the columns: {}", names(columns));
            return Err(table.wrong("the file is empty", help));
        };
        table.header(&header)?;
        table.header = header;
        Ok(table)
    }

    fn header(&mut self, header: &StringRecord) -> Result<(), Error> {
        for (place, name) in header.iter().enumerate() {
            let Some(column) = self.columns.iter().position(|it| it.name == name) else {
                return Err(self.no_column(name));
            };
            if self.places[column].replace(place).is_some() {
                let what = format!("two columns have the name `{name}`");
                return Err(self.wrong(what, "remove one of the two columns"));
            }
        }
        let mut lacks = self.columns.iter().zip(&self.places);
        match lacks.find(|(column, place)| column.needed && place.is_none()) {
            None => Ok(()),
            Some((column, _)) => {
                let what = format!("there is no column `{}`", column.name);
                Err(self.wrong(what, format!("use the columns {}", names(self.columns))))
            }
        }
    }

    fn no_column(&self, name: &str) -> Error {
        let all = names(self.columns);
        let help = if name.contains([';', '\t', ' ']) {
            format!("put commas between the columns: {all}")
        } else if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("begin the file with a line that names the columns: {all}")
        } else {
            let known = self.columns.iter().map(|it| it.name);
            suggest(name, known, &format!("use the columns {all}"))
        };
        self.wrong(format!("unknown column `{}`", shortened(name)), help)
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'n>>, Error> {
        let record = loop {
            match self.record()? {
                None => return Ok(None),
                Some(again) if again == self.header => {}
                Some(record) => break record,
            }
        };
        if record.len() != self.header.len() {
            let (has, of) = (counted(record.len(), "cell"), self.header.len());
            let what = format!("the row has {has}, but the header has {of} columns");
            return Err(self.wrong(what, "write one cell for each column"));
        }
        let cell = |place: &Option<usize>| {
            place.and_then(|place| record.get(place)).unwrap_or_default().to_owned()
        };
        let cells = self.places.iter().map(cell).collect();
        Ok(Some(Row { file: self.file, columns: self.columns, line: self.line, cells }))
    }

    /// The cells of the next line that is not empty.
    fn record(&mut self) -> Result<Option<StringRecord>, Error> {
        let mut bytes = Vec::new();
        loop {
            self.line += 1;
            bytes.clear();
            let read = self.read.by_ref().take(LONGEST + 1).read_until(b'\n', &mut bytes);
            if let Err(error) = read {
                let what = format!("the file cannot be read further: {error}");
                return Err(
                    self.wrong(what, "check that the path is a file and that you may read it")
                );
            }
            if bytes.is_empty() {
                return Ok(None);
            }
            if bytes.len() as u64 > LONGEST {
                let what = format!("the line is longer than {LONGEST} bytes");
                return Err(
                    self.wrong(what, "write one row per line, with commas between its cells")
                );
            }
            let Ok(text) = std::str::from_utf8(&bytes) else {
                return Err(
                    self.wrong("the file is not UTF-8 text", "save the file as CSV in UTF-8")
                );
            };
            // The byte order mark that some programs write first.
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            return Ok(Some(split(text)));
        }
    }

    pub(crate) fn wrong(&self, what: impl Into<String>, help: impl Into<String>) -> Error {
        wrong(self.file, self.line, what, help)
    }
}

impl Row<'_> {
    /// The text of a column's cell, if it is not empty.
    pub(crate) fn text(&self, column: usize) -> Option<&str> {
        Some(self.cells[column].as_str()).filter(|text| !text.is_empty())
    }

    /// An error in a column's cell.
    pub(crate) fn wrong(
        &self,
        column: usize,
        what: impl std::fmt::Display,
        help: impl Into<String>,
    ) -> Error {
        let name = self.columns[column].name;
        wrong(self.file, self.line, format!("{name}: {what}"), help)
    }
}

/// The cells of a line.
fn split(line: &str) -> StringRecord {
    // Making a CSV reader takes longer than reading a line, and only quotes need one.
    if !line.contains('"') {
        return line.split(',').map(str::trim).collect();
    }
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .trim(Trim::All)
        .buffer_capacity(line.len())
        .from_reader(line.as_bytes());
    let mut record = StringRecord::new();
    // Any line of text has cells.
    let _ = reader.read_record(&mut record);
    record
}

fn names(columns: &[Column]) -> String {
    let name = |column: &Column| match column.needed {
        true => column.name.to_owned(),
        false => format!("{} (optional)", column.name),
    };
    columns.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn wrong(file: &str, line: usize, what: impl Into<String>, help: impl Into<String>) -> Error {
    Error::Wrong { file: file.into(), line, what: what.into(), help: help.into() }
}
