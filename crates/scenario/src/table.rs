//! A table of numbers in CSV, read a line at a time: which columns it has, and where a cell is.

use std::io::{BufRead, BufReader, Read};

use csv::{ReaderBuilder, StringRecord, Trim};
use wastenot_model::nearest;

use crate::error::{Error, shown};

/// No line is longer, in bytes.
const LONGEST: u64 = 4096;

/// A column that a table may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Whether a table without it is none.
    pub(crate) needed: bool,
}

/// A table that is being read: lines that are blank or begin with `#` are left out, and so is its
/// header where it comes again, as in tables that were put together with `cat`.
pub(crate) struct Table<'n, R> {
    file: &'n str,
    columns: &'static [Column],
    read: BufReader<R>,
    /// Counted from 1: the line that was read last.
    line: usize,
    /// By column: where its cells are in a row.
    places: Vec<Option<usize>>,
    header: StringRecord,
}

/// A row.
pub(crate) struct Row<'n> {
    file: &'n str,
    columns: &'static [Column],
    line: usize,
    /// By column; empty where there is none.
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
            let help = format!("begin with a line that names the columns: {}", names(columns));
            return Err(table.wrong("there is nothing in it", help));
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
                let what = format!("two columns are called `{name}`");
                return Err(self.wrong(what, "leave one of them out"));
            }
        }
        let mut lacks = self.columns.iter().zip(&self.places);
        match lacks.find(|(column, place)| column.needed && place.is_none()) {
            None => Ok(()),
            Some((column, _)) => {
                let what = format!("there is no column `{}`", column.name);
                Err(self.wrong(what, format!("the columns are {}", names(self.columns))))
            }
        }
    }

    fn no_column(&self, name: &str) -> Error {
        let near = nearest(name, self.columns.iter().map(|it| it.name));
        let help = match near {
            _ if name.contains([';', '\t', ' ']) => "put commas between columns".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("begin with a line that names the columns: {}", names(self.columns))
            }
            None => format!("the columns are {}", names(self.columns)),
        };
        self.wrong(format!("there is no column `{}`", shown(name)), help)
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
            let s = if record.len() == 1 { "" } else { "s" };
            let (has, of) = (record.len(), self.header.len());
            let what = format!("{has} cell{s}, and the header names {of} columns");
            return Err(self.wrong(what, "give each column a cell"));
        }
        let cell = |place: &Option<usize>| {
            place.and_then(|place| record.get(place)).unwrap_or_default().to_owned()
        };
        let cells = self.places.iter().map(cell).collect();
        Ok(Some(Row { file: self.file, columns: self.columns, line: self.line, cells }))
    }

    /// The cells of the next line that has any.
    fn record(&mut self) -> Result<Option<StringRecord>, Error> {
        let mut bytes = Vec::new();
        loop {
            self.line += 1;
            bytes.clear();
            let read = self.read.by_ref().take(LONGEST + 1).read_until(b'\n', &mut bytes);
            if let Err(error) = read {
                let what = format!("cannot be read further: {error}");
                return Err(self.wrong(what, "is it a file, and yours?"));
            }
            if bytes.is_empty() {
                return Ok(None);
            }
            if bytes.len() as u64 > LONGEST {
                let what = format!("the line is longer than {LONGEST} bytes");
                return Err(self.wrong(what, "write a row a line, with commas between its cells"));
            }
            let Ok(text) = std::str::from_utf8(&bytes) else {
                return Err(self.wrong("this is no text in UTF-8", "save it as CSV in UTF-8"));
            };
            // A mark of the byte order, with which some programs begin.
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
    /// The text of a column's cell, unless it is empty.
    pub(crate) fn text(&self, column: usize) -> Option<&str> {
        Some(self.cells[column].as_str()).filter(|text| !text.is_empty())
    }

    /// What is wrong with a column's cell.
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
    // A reader takes longer to make than a line to read; only quotes need one.
    if !line.contains('"') {
        return line.split(',').map(str::trim).collect();
    }
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .trim(Trim::All)
        .buffer_capacity(line.len())
        .from_reader(line.as_bytes());
    let mut record = StringRecord::new();
    // A line of text has cells, whatever it is.
    let _ = reader.read_record(&mut record);
    record
}

fn names(columns: &[Column]) -> String {
    let name = |column: &Column| match column.needed {
        true => column.name.to_owned(),
        false => format!("{} (may be left out)", column.name),
    };
    columns.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn wrong(file: &str, line: usize, what: impl Into<String>, help: impl Into<String>) -> Error {
    Error::Wrong { file: file.into(), line, what: what.into(), help: help.into() }
}
