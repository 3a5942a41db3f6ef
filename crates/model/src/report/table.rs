//! Tables: typed columns for people, programs or both, and rows with matching cells.

use super::{Unit, Value};

/// Who sees a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// People and programs: every face.
    #[default]
    All,
    /// People only: text and HTML.
    People,
    /// Programs only: JSON and CSV.
    Programs,
    /// Neither: of this answer it holds nothing.
    Nobody,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in JSON and CSV.
    pub key: String,
    /// Its heading for people.
    pub title: String,
    /// What its cells count: their type, and how they are shown.
    pub unit: Unit,
    /// Who sees it.
    pub audience: Audience,
    /// Whether text has its cells below their rows, as wide as the table: sentences.
    pub below: bool,
}

/// A table with declared columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its name in JSON; empty if it is only for people.
    pub name: String,
    /// Its heading for people.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows; as many cells as columns.
    pub rows: Vec<Vec<Value>>,
    /// Rows that a text face shows before it says how many more there are; all in JSON and CSV.
    pub shown: usize,
    /// Whether it was asked for, and is on the first screen.
    pub first: bool,
}

impl Audience {
    /// Whether people see it.
    pub fn has_people(self) -> bool {
        matches!(self, Audience::All | Audience::People)
    }
    /// Whether programs see it.
    pub fn has_programs(self) -> bool {
        matches!(self, Audience::All | Audience::Programs)
    }
    /// The same without people.
    fn without_people(self) -> Audience {
        if self.has_programs() { Audience::Programs } else { Audience::Nobody }
    }
}

impl Column {
    /// A column for all.
    pub fn new(key: &str, title: &str, unit: Unit) -> Column {
        let (key, title) = (key.to_owned(), title.to_owned());
        Column { key, title, unit, audience: Audience::All, below: false }
    }
    /// A column that only people see, so it has no key.
    pub fn for_people(title: &str, unit: Unit) -> Column {
        Column { audience: Audience::People, ..Column::new("", title, unit) }
    }
    /// A column that only programs see, so it has no title.
    pub fn for_programs(key: &str, unit: Unit) -> Column {
        Column { audience: Audience::Programs, ..Column::new(key, "", unit) }
    }
    /// A column of sentences, which text has below their rows.
    pub fn below(key: &str, title: &str) -> Column {
        Column { below: true, ..Column::new(key, title, Unit::None) }
    }
    /// The same column, which people see only if `shown`.
    pub fn shown_if(mut self, shown: bool) -> Column {
        if !shown {
            self.audience = self.audience.without_people();
        }
        self
    }
}

impl Table {
    /// An empty table.
    pub fn new(name: &str, title: &str, columns: impl Into<Vec<Column>>) -> Table {
        Table {
            name: name.to_owned(),
            title: title.to_owned(),
            columns: columns.into(),
            rows: Vec::new(),
            shown: 10,
            first: false,
        }
    }
    /// A table of names, shown whole. Of each column its name in JSON and its title; without a
    /// title it is in JSON only.
    pub fn listing(name: &str, title: &str, columns: &[(&str, &str)]) -> Table {
        let columns = columns.iter().map(|&(name, title)| match title {
            "" => Column::for_programs(name, Unit::None),
            title => Column::new(name, title, Unit::None),
        });
        let mut table = Table::new(name, title, columns.collect::<Vec<_>>());
        table.shown = usize::MAX;
        table
    }
    /// The columns that people see, with their places in the rows.
    pub fn shown_columns(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(|(_, column)| column.audience.has_people())
    }
    /// Whether people see any of it.
    pub fn is_shown(&self) -> bool {
        !self.rows.is_empty() && self.shown_columns().next().is_some()
    }
    /// Adds a row.
    ///
    /// # Panics
    /// If it lacks a cell or has one too many; in debug builds also if a cell is not of the type of
    /// its column. What is read from a file is checked by its reader and not pushed.
    pub fn push(&mut self, row: Vec<Value>) {
        assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column");
        for (column, cell) in self.columns.iter().zip(&row) {
            debug_assert!(column.unit.counts(cell), "{cell:?} in {column:?} of {}", self.name);
        }
        self.rows.push(row);
    }
    /// Hides columns of which nothing is known from people.
    pub fn hide_unknown(&mut self) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            if self.rows.iter().all(|row| row[at] == Value::Unknown) {
                column.audience = column.audience.without_people();
            }
        }
    }
}

impl Unit {
    /// Whether a value may have this unit: times and shares are numbers. Any may be
    /// unknown.
    pub(crate) fn counts(self, value: &Value) -> bool {
        match (self, value) {
            (Unit::None, _) | (_, Value::Unknown) => true,
            (Unit::Words, value) => matches!(value, Value::Text(_)),
            (Unit::Ns | Unit::At, value) => matches!(value, Value::Int(_) | Value::Num(_)),
            (Unit::Share, value) => matches!(value, Value::Num(_)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [Column::new("task", "task", Unit::None), Column::new("ns", "ran", Unit::Ns)];
        Table::new("t", "Table", columns)
    }

    #[test]
    fn a_row_that_fits_its_columns_is_taken() {
        let mut table = table();
        table.push(vec!["make".into(), 5_u64.into()]);
        table.push(vec![7.into(), Value::Unknown]);
        assert_eq!(table.rows.len(), 2);
    }

    #[test]
    #[should_panic(expected = "a row has a cell for each column")]
    fn a_row_with_too_few_cells_is_a_bug() {
        table().push(vec!["make".into()]);
    }

    #[test]
    #[should_panic(expected = "a row has a cell for each column")]
    fn a_row_with_too_many_cells_is_a_bug() {
        table().push(vec!["make".into(), 5_u64.into(), 6_u64.into()]);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "Text(\"5 ns\")")]
    fn a_cell_of_another_type_than_its_column_is_a_bug() {
        table().push(vec!["make".into(), "5 ns".into()]);
    }

    #[test]
    fn a_column_of_which_nothing_is_known_is_left_to_programs() {
        let mut table = table();
        table.push(vec!["make".into(), Value::Unknown]);
        table.hide_unknown();
        let shown: Vec<_> = table.shown_columns().map(|(_, column)| &column.key).collect();
        assert_eq!(shown, ["task"]);
        assert!(table.columns[1].audience.has_programs());
    }

    #[test]
    fn what_is_hidden_from_people_is_not_shown_to_programs_instead() {
        for (column, has_programs) in [
            (Column::new("key", "title", Unit::None), true),
            (Column::for_programs("key", Unit::None), true),
            (Column::for_people("title", Unit::None), false),
        ] {
            assert_eq!(column.clone().shown_if(true), column);
            let hidden = column.shown_if(false).audience;
            assert_eq!((hidden.has_people(), hidden.has_programs()), (false, has_programs));
        }
    }
}
