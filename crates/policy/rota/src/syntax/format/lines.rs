//! Builds lines, with comments at the end of consecutive lines aligned.

/// The indent of one level, in blanks.
const INDENT: usize = 4;

/// Lines, the last of which is not finished.
#[derive(Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    indent: usize,
    /// Whether a block was just opened: no blank line is kept there.
    opened: bool,
}

/// A line.
#[derive(Default)]
struct Line {
    /// Whether an empty line stands before it.
    blank: bool,
    indent: usize,
    text: String,
    comment: String,
}

impl Lines {
    /// Begins a line, one level deeper if it goes `on` with the line before.
    pub(super) fn begin(&mut self, on: bool, blank: bool) {
        let blank = blank && !self.opened && !self.lines.is_empty();
        let indent = self.indent + usize::from(on);
        self.lines.push(Line { blank, indent, ..Line::default() });
        self.opened = false;
    }

    /// Adds to the line.
    pub(super) fn push(&mut self, text: &str) {
        if self.lines.is_empty() {
            self.begin(false, false);
        }
        if let Some(line) = self.lines.last_mut() {
            line.text += text;
        }
    }

    /// Ends the line with a comment.
    pub(super) fn comment(&mut self, text: &str) {
        if let Some(line) = self.lines.last_mut() {
            line.comment = text.to_string();
        }
    }

    /// Whether a comment ended the line.
    pub(super) fn is_ended(&self) -> bool {
        self.lines.last().is_some_and(|line| !line.comment.is_empty())
    }

    /// Indents the following lines by one level.
    pub(super) fn indent(&mut self) {
        self.indent += 1;
        self.opened = true;
    }

    /// Indents the following lines by one level less.
    pub(super) fn dedent(&mut self) {
        self.indent = self.indent.saturating_sub(1);
    }

    /// The text. Comments at the end of consecutive lines are aligned in one column.
    pub(super) fn finish(self) -> String {
        let mut text = String::new();
        let mut column = 0;
        for (number, line) in self.lines.iter().enumerate() {
            let aligned = |other: Option<&Line>| other.is_some_and(|it| it.aligns_with(line));
            if number == 0 || !aligned(self.lines.get(number - 1)) || line.blank {
                let group = self.lines[number..].iter().enumerate();
                let group =
                    group.take_while(|(i, it)| *i == 0 || (it.aligns_with(line) && !it.blank));
                column = group.map(|(_, it)| it.text.chars().count()).max().unwrap_or(0);
            }
            line.write(column, &mut text);
        }
        text
    }
}

impl Line {
    /// Whether both have code and a comment at the same depth.
    fn aligns_with(&self, other: &Line) -> bool {
        let both = |line: &Line| !line.text.is_empty() && !line.comment.is_empty();
        both(self) && both(other) && self.indent == other.indent
    }

    fn write(&self, column: usize, text: &mut String) {
        if self.blank {
            text.push('\n');
        }
        let (indent, code) = (" ".repeat(self.indent * INDENT), &self.text);
        *text += &match (code.is_empty(), self.comment.is_empty()) {
            (_, true) => format!("{indent}{code}\n"),
            (true, false) => format!("{indent}{}\n", self.comment),
            (false, false) => format!("{indent}{code:column$}  {}\n", self.comment),
        };
    }
}
