//! Tables: typed columns for people, programs or both, and rows with matching cells.
//!
//! Rows of one kind declare their columns: [`Table::of`] has each column on one line with its cell.

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

/// A row under construction. Each method adds a cell and declares its column: its name in JSON, and
/// its title. A column without a title is for programs only; without a name, for people only.
#[derive(Debug)]
pub struct Row<'t> {
    table: &'t mut Table,
    cells: Vec<Value>,
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
    /// A table with a row for each item. It has no columns until it has a row: no face shows them.
    pub fn of<T>(
        name: &str,
        title: &str,
        items: impl IntoIterator<Item = T>,
        mut row: impl FnMut(Row<'_>, T) -> Row<'_>,
    ) -> Table {
        let mut table = Table::new(name, title, []);
        items.into_iter().for_each(|item| table.row(|of| row(of, item)));
        table
    }
    /// The same table, of which a text face shows so many rows.
    pub fn shown(mut self, rows: usize) -> Table {
        self.shown = rows;
        self
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
    /// Adds a row. The first one declares the columns.
    ///
    /// # Panics
    /// As [`Table::push`]; in debug builds also if it declares other columns than the first.
    pub fn row(&mut self, cells: impl FnOnce(Row<'_>) -> Row<'_>) {
        let row = Row { cells: Vec::with_capacity(self.columns.len()), table: self };
        let cells = cells(row).cells;
        self.push(cells);
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

impl Row<'_> {
    /// A cell that counts nothing: a name, a count.
    pub fn cell(self, key: &str, title: &str, cell: impl Into<Value>) -> Self {
        self.add(key, title, Unit::None, cell)
    }
    /// A length of time.
    pub fn ns(self, key: &str, title: &str, cell: impl Into<Value>) -> Self {
        self.add(key, title, Unit::Ns, cell)
    }
    /// An instant.
    pub fn at(self, key: &str, title: &str, cell: impl Into<Value>) -> Self {
        self.add(key, title, Unit::At, cell)
    }
    /// A fraction of 1.
    pub fn share(self, key: &str, title: &str, cell: impl Into<Value>) -> Self {
        self.add(key, title, Unit::Share, cell)
    }
    /// Numbers in words.
    pub fn words(self, key: &str, title: &str, cell: impl Into<Value>) -> Self {
        self.add(key, title, Unit::Words, cell)
    }
    /// Sentences, which text has below their rows.
    pub fn below(self, key: &str, title: &str, cell: impl Into<Value>) -> Self {
        let row = self.add(key, title, Unit::None, cell);
        row.table.columns[row.cells.len() - 1].below = true;
        row
    }
    /// People see the last column only if `shown`.
    pub fn shown_if(self, shown: bool) -> Self {
        let column = &mut self.table.columns[self.cells.len() - 1];
        if !shown {
            column.audience = column.audience.without_people();
        }
        self
    }
    fn add(mut self, key: &str, title: &str, unit: Unit, cell: impl Into<Value>) -> Self {
        if self.table.rows.is_empty() {
            let column = match (key, title) {
                ("", title) => Column::for_people(title, unit),
                (key, "") => Column::for_programs(key, unit),
                (key, title) => Column::new(key, title, unit),
            };
            self.table.columns.push(column);
        }
        let column = self.table.columns.get(self.cells.len());
        debug_assert!(
            column.is_some_and(|it| (&*it.key, &*it.title, it.unit) == (key, title, unit)),
            "a row declares {key} ({title}), not {column:?}"
        );
        self.cells.push(cell.into());
        self
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
    fn a_column_that_a_row_declares_is_for_who_has_a_word_for_it() {
        let table = Table::of("t", "Table", [None, Some(1)], |row, it| {
            row.cell("all", "all", "a").ns("program", "", it).at("", "people", it)
        });
        let columns = [
            Column::new("all", "all", Unit::None),
            Column::for_programs("program", Unit::Ns),
            Column::for_people("people", Unit::At),
        ];
        let mut pushed = Table::new("t", "Table", columns);
        pushed.push(vec!["a".into(), Value::Unknown, Value::Unknown]);
        pushed.push(vec!["a".into(), 1.into(), 1.into()]);
        assert_eq!(table, pushed);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "a row declares b (B)")]
    fn a_row_with_another_column_than_the_first_is_a_bug() {
        Table::of("t", "Table", ["a", "b"], |row, it| row.cell(it, &it.to_uppercase(), it));
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
