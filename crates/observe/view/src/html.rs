//! The HTML form of a report: one file with its pictures, which opens from disk.
//!
//! The page loads nothing from outside. All text from a trace is escaped, because the name of a
//! task may be `<script>`. The only script sorts tables and unfolds the target of a link.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wastenot_model::{
    Picture, Proportion, Report, Table, Time, Unit, Value, Window, escape_markup, printable,
};

/// Rows of a table that a page may show; the rest is in JSON and CSV.
pub const ROWS: usize = 1000;
/// Rows of a table that one answer has at most.
pub(crate) const ROWS_AT_ONCE: usize = 200;
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The report as one HTML file: a first screen, and the rest folded.
pub fn html(report: &Report) -> String {
    page(&report.title, &(first(report) + &rest(report, None).whole()), &Extra::default())
}

/// Words of a report whose lists can be cut: a page may hold their first rows only, and ask for
/// the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(pub Vec<Piece>);

/// A part of [`Words`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// It is there in any case.
    Text(String),
    /// Rows of a table, or findings.
    List {
        /// As `data-name` on the page; no other list of a report has it.
        name: String,
        /// Each an element.
        rows: Vec<String>,
    },
}

impl Words {
    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }

    fn list(&mut self, name: &str, rows: impl Iterator<Item = String>) {
        self.0.push(Piece::List { name: name.to_owned(), rows: rows.take(ROWS).collect() });
    }

    fn words(&mut self, words: Words) {
        for piece in words.0 {
            match piece {
                Piece::Text(text) => self.text(&text),
                list @ Piece::List { .. } => self.0.push(list),
            }
        }
    }

    /// A section that folds away, unless it has nothing.
    fn fold(&mut self, title: &str, hint: &str, content: Words, is_open: bool) {
        if content.0.iter().any(|piece| *piece != Piece::Text(String::new())) {
            self.text(&opening(title, hint, is_open));
            self.words(content);
            self.text(CLOSING);
        }
    }

    /// All of it.
    pub fn whole(&self) -> String {
        self.cut(usize::MAX)
    }

    /// With so many rows of each list at most. How many there are is `data-rows` of the list.
    pub(crate) fn cut(&self, most: usize) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::List { rows, .. } => out.extend(rows.iter().take(most).map(|row| &**row)),
            }
        }
        out
    }

    /// So many rows of a list, from one on; `None` if there is no such list.
    pub fn rows(&self, list: &str, from: usize, most: usize) -> Option<String> {
        self.0.iter().find_map(|piece| match piece {
            Piece::List { name, rows } if name == list => {
                Some(rows.iter().skip(from).take(most).map(|row| &**row).collect())
            }
            _ => None,
        })
    }
}

/// What a page has beside the words of reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extra<'a> {
    /// Style sheet.
    pub style: &'a str,
    /// What it computes with: an element before the script. It is part of the page as it is.
    pub data: &'a str,
    /// Script.
    pub script: &'a str,
    /// Whether the script asks the server of the page; no other is ever asked.
    pub asks: bool,
}

/// A page with such a content.
pub(crate) fn page(title: &str, content: &str, extra: &Extra<'_>) -> String {
    let title = text(title);
    let Extra { style, data, script, asks } = *extra;
    let connect = if asks { "connect-src 'self'; " } else { "" };
    // What a page may load is stated, so that even a mistake in escaping could fetch nothing.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         {connect}img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n<main>\n\
         {content}<footer>Created by wastenot. Times are on the clock of the trace.</footer>\n\
         </main>\n\
         {data}<script>\n{SCRIPT}{script}</script>\n</body>\n</html>\n"
    )
}

/// What stands first: title, verdict, losses and figures.
pub fn first(report: &Report) -> String {
    let (title, verdict) = (text(&report.title), text(&report.verdict));
    format!("<h1>{title}</h1>\n<p class=\"verdict\">{verdict}</p>\n")
        + &losses(report)
        + &proportions(&report.proportions)
}

/// The rest: the worst moment, and sections that fold away. If the page shows time from `begin` on,
/// what has a time says so, and can be chosen: `data-from` and `data-to` in ns since then; else
/// what is about a task: `data-tid`.
pub fn rest(report: &Report, begin: Option<Time>) -> Words {
    let mut out = Words::default();
    out.text(&worst(report, begin));
    if let Some(next) = &report.next {
        out.text(&format!("<p class=\"next\">Next: <code>{}</code></p>\n", text(next)));
    }
    // A report of which nothing stands first is read as it is.
    let is_open = report.proportions.is_empty();
    let mut fold = |title: &str, hint: &str, content| out.fold(title, hint, content, is_open);
    let plain = |html: String| Words(vec![Piece::Text(html)]);
    fold("Findings", &report.findings.len().to_string(), findings(report, begin));
    for (n, picture) in report.pictures.iter().enumerate() {
        fold(&picture.title, "", plain(figure(picture, &moments(report, n))));
    }
    let count = report.shown_measures().count();
    fold("All measures", &count.to_string(), plain(measures(report)));
    out.words(tables(&report.tables, begin, is_open));
    if !report.assumptions.is_empty() {
        let lines = report.assumptions.iter().map(|line| format!("<li>{}</li>\n", text(line)));
        let lines = format!("<ul>\n{}</ul>\n", lines.collect::<String>());
        out.fold("Assumptions", &report.assumptions.len().to_string(), plain(lines), is_open);
    }
    out
}

/// Tables that fold away, as those of [`rest`].
pub fn tables<'t>(
    all: impl IntoIterator<Item = &'t Table>,
    begin: Option<Time>,
    is_open: bool,
) -> Words {
    let mut out = Words::default();
    for it in all.into_iter().filter(|table| table.is_shown()) {
        out.fold(&it.title, &it.rows.len().to_string(), table(it, begin), is_open);
    }
    out
}

/// Columns that say from when to when a row is, or for how long: those that stand first count. A
/// row that has a begin only is a moment.
const WHEN: [(&str, &str, &[&str]); 4] = [
    ("from_ns", "to_ns", &["length_ns", "ns"]),
    ("worst_from_ns", "worst_to_ns", &[]),
    ("longest_from_ns", "", &["longest_ns"]),
    ("time_ns", "", &[]),
];

/// From when to when a row is.
fn when(table: &Table, row: &[Value]) -> Option<Window> {
    // The bounds of a class of lengths are no moments.
    if table.name.ends_with("histogram") {
        return None;
    }
    let number = |key: &str| {
        let column = table.columns.iter().position(|column| column.key == key)?;
        row.get(column)?.int::<u64>()
    };
    let (from, to) = WHEN.iter().find_map(|(from, to, lengths)| {
        let from = number(from)?;
        let length = || lengths.iter().find_map(|length| number(length));
        Some((from, number(to).or_else(|| from.checked_add(length()?)).unwrap_or(from)))
    })?;
    Some(Window { from: Time(from), to: Time(to.max(from)) })
}

/// Attributes of what leads to a time.
fn leads_to(window: Option<Window>, begin: Option<Time>) -> String {
    let Some((window, begin)) = window.zip(begin) else { return String::new() };
    let [from, to] = [window.from, window.to].map(|time| time.since(begin).0);
    format!(" data-from=\"{from}\" data-to=\"{to}\" tabindex=\"0\"")
}

/// Attributes of a row that is about a task and has no time.
fn leads_to_task(table: &Table, row: &[Value]) -> String {
    let tid = table.columns.iter().position(|column| column.key == "tid");
    let tid = tid.and_then(|column| row.get(column)?.int::<i64>());
    tid.map_or(String::new(), |tid| format!(" data-tid=\"{tid}\" tabindex=\"0\""))
}

/// What a section that folds away begins with; `hint` says how much is in it.
fn opening(title: &str, hint: &str, is_open: bool) -> String {
    let open = if is_open { " open" } else { "" };
    let hint = match hint {
        "" => String::new(),
        hint => format!(" <span class=\"hint\">{}</span>", text(hint)),
    };
    let title = text(title);
    format!("<details{open}>\n<summary><h2>{title}</h2>{hint}</summary>\n")
}

/// What it ends with.
const CLOSING: &str = "</details>\n";

/// Text of a trace as text of the page.
pub fn text(text: &str) -> String {
    escape_markup(&printable(text))
}

fn losses(report: &Report) -> String {
    let losses = &report.losses;
    if losses.is_empty() {
        return String::new();
    }
    let mut out = String::from("<ul>\n");
    for loss in losses {
        let cpu = loss.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
        let count = loss.count.map_or(String::new(), |count| format!(", {count} in total"));
        let time = loss.time.map_or(String::new(), |time| format!(", first at {time}"));
        let name = loss.kind.name().replace('_', " ");
        let line = format!("{cpu}: {}{count}{time}", text(&loss.note));
        out += &format!("<li><strong>{name}</strong>{line}</li>\n");
    }
    // A few are read at once; many would push the figures off the screen.
    let opening = opening("Losses", &report.loss_counts(), losses.len() < 3);
    format!("<div class=\"losses\">\n{opening}{out}</ul>\n{CLOSING}</div>\n")
}

fn proportions(all: &[Proportion]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = String::from("<dl class=\"first\">\n");
    for it in all {
        let [sure, possible] = it.bar().map(|share| format!("{:.2}%", share * 100.0));
        out += &format!(
            "<div><dt>{}</dt><dd>{}</dd><dd class=\"bar\"><i style=\"width:{sure}\"></i>\
             <i class=\"possible\" style=\"width:{possible}\"></i></dd>\
             <dd class=\"of\">{} of {}</dd></div>\n",
            text(&it.label),
            text(&it.value.show(it.unit)),
            it.shares(),
            text(&it.of)
        );
    }
    out + "</dl>\n"
}

fn worst(report: &Report, begin: Option<Time>) -> String {
    let Some(worst) = &report.worst else { return String::new() };
    let (when, what) = (worst.window.from, text(&worst.message));
    let found = report.findings.iter().position(|finding| finding.window == worst.window);
    let place = found.filter(|&n| pictured(report, n).is_some());
    let when = match place {
        Some(n) => format!("<a href=\"#moment-{n}\">{when}</a>"),
        None => when.to_string(),
    };
    let leads = leads_to(Some(worst.window), begin);
    let picture = worst.picture.as_ref().map(|picture| figure(picture, ""));
    format!(
        "<section class=\"worst\">\n<h2>Worst moment</h2>\n<p{leads}>At {when}: {what}</p>\n{}\
         </section>\n",
        picture.unwrap_or_default()
    )
}

/// The first picture that shows the time of a finding.
fn pictured(report: &Report, finding: usize) -> Option<usize> {
    let window = report.findings.get(finding)?.window;
    report.pictures.iter().position(|picture| picture.place(window).is_some())
}

/// The findings that are shown in a picture, as links over it.
fn moments(report: &Report, picture: usize) -> String {
    let mut out = String::new();
    for (n, finding) in report.findings.iter().enumerate().take(ROWS) {
        if pictured(report, n) != Some(picture) {
            continue;
        }
        let Some(place) = report.pictures[picture].place(finding.window) else { continue };
        let [left, top, width, height] = [place.left, place.top, place.width, place.height]
            .map(|share| format!("{:.3}%", share * 100.0));
        let message = text(&finding.message);
        out += &format!(
            "<a id=\"moment-{n}\" href=\"#finding-{n}\" title=\"{message}\" \
             aria-label=\"{message}\" style=\"left:{left};top:{top};width:{width};\
             height:{height}\"></a>\n"
        );
    }
    out
}

fn measures(report: &Report) -> String {
    let shown: Vec<_> = report.shown_measures().collect();
    if shown.is_empty() {
        return String::new();
    }
    let mut out = String::from("<dl class=\"measures\">\n");
    for (label, measure) in &shown {
        let value = measure.value.show(measure.unit);
        out += &format!(
            "<div title=\"{}\"><dt>{}</dt><dd>{}</dd></div>\n",
            text(&measure.name),
            text(label),
            text(&value)
        );
    }
    out + "</dl>\n"
}

/// A picture, and what lies over it.
fn figure(picture: &Picture, over: &str) -> String {
    // As an image, an SVG can run nothing and its ids are its own.
    format!(
        "<figure>\n<div class=\"drawing\">\n<img alt=\"{}\" \
         src=\"data:image/svg+xml;base64,{}\">\n{over}</div>\n<figcaption>{}</figcaption>\n\
         </figure>\n",
        text(&picture.title),
        STANDARD.encode(&picture.svg),
        text(&picture.caption)
    )
}

fn findings(report: &Report, begin: Option<Time>) -> Words {
    let mut out = Words::default();
    if report.findings.is_empty() {
        return out;
    }
    let shown = report.findings.len().min(ROWS);
    out.text(&format!("<ol class=\"findings\" data-name=\"findings\" data-rows=\"{shown}\">\n"));
    let items = report.findings.iter().enumerate().map(|(n, finding)| {
        let help = finding.help.as_ref().map_or(String::new(), |help| {
            format!("<br><span class=\"help\">{}</span>", text(help))
        });
        let when = format!("{} for {}", finding.window.from, finding.window.span());
        let (id, when) = match pictured(report, n) {
            Some(_) => (
                format!(" id=\"finding-{n}\""),
                format!("<a class=\"when\" href=\"#moment-{n}\">{when}</a>"),
            ),
            None => (
                leads_to(Some(finding.window), begin),
                format!("<span class=\"when\">{when}</span>"),
            ),
        };
        let (code, message) = (text(&finding.code), text(&finding.message));
        format!("<li{id}><code>{code}</code> {message} {when}{help}</li>\n")
    });
    out.list("findings", items);
    out.text(&format!("</ol>\n{}", more(report.findings.len())));
    out
}

/// A table alone; `begin` is as for [`rest`].
pub(crate) fn table(table: &Table, begin: Option<Time>) -> Words {
    let (name, shown) = (text(&table.name), table.rows.len().min(ROWS));
    let mut head =
        format!("<div class=\"wide\">\n<table data-name=\"{name}\" data-rows=\"{shown}\">");
    head += "\n<thead><tr>";
    for (index, column) in table.shown_columns() {
        let number = |row: &Vec<Value>| matches!(row[index], Value::Int(_) | Value::Num(_));
        let number = column.unit != Unit::None || table.rows.iter().any(number);
        let class = if number { " class=\"n\"" } else { "" };
        // A button, so that a keyboard can sort, too.
        let label = text(&column.title);
        head += &format!("<th scope=\"col\"{class}><button type=\"button\">{label}</button></th>");
    }
    let mut out = Words::default();
    out.text(&(head + "</tr></thead>\n<tbody>\n"));
    let rows = table.rows.iter().map(|row| {
        let cells = table.shown_columns().map(|(index, column)| cell(&row[index], column.unit));
        let leads = match when(table, row) {
            None => begin.map_or(String::new(), |_| leads_to_task(table, row)),
            when => leads_to(when, begin),
        };
        format!("<tr{leads}>{}</tr>\n", cells.collect::<String>())
    });
    out.list(&table.name, rows);
    out.text(&format!("</tbody>\n</table>\n</div>\n{}", more(table.rows.len())));
    out
}

/// A cell; numbers carry their bare value to sort by.
fn cell(value: &Value, unit: Unit) -> String {
    let shown = text(&value.show(unit));
    match value {
        Value::Int(n) => format!("<td class=\"n\" data-v=\"{n}\">{shown}</td>"),
        Value::Num(n) if n.is_finite() => format!("<td class=\"n\" data-v=\"{n}\">{shown}</td>"),
        Value::Num(_) | Value::Unknown => format!("<td class=\"unknown\">{shown}</td>"),
        _ if unit == Unit::Words => format!("<td class=\"n\">{shown}</td>"),
        _ => format!("<td>{shown}</td>"),
    }
}

/// How many rows the page does not hold.
fn more(count: usize) -> String {
    match count.saturating_sub(ROWS) {
        0 => String::new(),
        more => format!("<p class=\"help\">{more} more are in the JSON output (--json).</p>\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::{Column, Finding, Frame, Loss, LossKind, Moment};

    fn report() -> Report {
        let hostile = "<script>alert(1)</script>\"'&\u{1b}[2J";
        let mut report = Report::new("check/1", hostile);
        report.verdict = hostile.into();
        report.measure("waste.cpu_ns", hostile, 5u64, Unit::Ns);
        report.losses.push(Loss { time: Some(Time(3)), ..Loss::new(LossKind::Cut, hostile) });
        report.assumptions.push(hostile.into());
        report.next = Some(hostile.into());
        let mut table = Table::new("t", hostile, [Column::new("a", hostile, Unit::None)]);
        table.push(vec![hostile.into()]);
        table.push(vec![Value::Num(f64::NAN)]);
        report.tables.push(table);
        report
    }

    fn picture() -> Picture {
        let (title, caption) = ("CPUs".into(), "One line per CPU.".into());
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>".into();
        let window = Window { from: Time(0), to: Time(100) };
        let frame = Frame { left: 0.1, top: 0.2, width: 0.8, height: 0.5 };
        Picture { title, caption, window, frame, svg }
    }

    fn finding(from: u64, message: &str) -> Finding {
        let window = Window { from: Time(from), to: Time(from + 10) };
        let (code, help) = ("waste".into(), Some(message.into()));
        Finding { code, window, message: message.into(), help }
    }

    fn proportion(label: &str) -> Proportion {
        let (value, unit) = (5u64.into(), Unit::Ns);
        let (label, of) = (label.to_owned(), label.to_owned());
        Proportion { label, value, unit, share: 0.25, share_max: 0.5, of }
    }

    #[test]
    fn names_of_tasks_never_become_markup() {
        let hostile = "\"><script>x</script>".to_owned();
        let mut report = report();
        let picture = Picture { title: hostile.clone(), caption: hostile.clone(), ..picture() };
        let (window, message) = (picture.window, hostile.clone());
        report.worst = Some(Moment { window, message, picture: Some(picture.clone()) });
        report.pictures.push(picture);
        report.proportions.push(proportion(&hostile));
        report.findings.push(finding(5, &hostile));
        let page = html(&report);
        assert_eq!(page.matches("<script").count(), 1, "only our own script");
        assert!(!page.contains("alert(1)</script>"));
        assert!(!page.contains('\u{1b}'));
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\x1b[2J"));
    }

    #[test]
    fn a_page_asks_for_nothing_from_outside() {
        let page = html(&report());
        for outside in ["http://", "https://", "url(", "@import", "<link", "fetch("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn columns_for_programs_are_not_on_the_page() {
        let columns = [
            Column::new("a", "first", Unit::None),
            Column::for_programs("b", Unit::Ns),
            Column::new("c", "third", Unit::Ns),
        ];
        let mut table = Table::new("t", "A table", columns);
        table.push(vec!["x".into(), 12_345u64.into(), 3u64.into()]);
        let mut report = Report::new("check/1", "title");
        report.tables.push(table);
        let page = html(&report);
        assert!(!page.contains("<button type=\"button\"></button>"));
        assert!(page.contains("third") && !page.contains("12345"), "{page}");
    }

    #[test]
    fn findings_and_their_moments_in_the_picture_link_to_each_other() {
        let mut report = Report::new("check/1", "title");
        report.pictures.push(picture());
        report.findings.extend([finding(50, "inside"), finding(500, "after the picture")]);
        let page = html(&report);
        assert!(page.contains("<li id=\"finding-0\">") && page.contains("href=\"#finding-0\""));
        assert!(page.contains("<a id=\"moment-0\"") && page.contains("href=\"#moment-0\""));
        assert!(page.contains("style=\"left:50.000%;top:20.000%;width:8.000%;"), "{page}");
        assert!(page.contains("after the picture") && !page.contains("moment-1"), "{page}");
    }

    #[test]
    fn what_has_a_time_leads_there_on_a_page_that_shows_time() {
        let columns = [
            Column::new("from_ns", "from", Unit::Ns),
            Column::for_programs("length_ns", Unit::Ns),
            Column::new("task", "task", Unit::None),
        ];
        let mut spans = Table::new("t", "A table", columns);
        spans.push(vec![30u64.into(), 5u64.into(), "x".into()]);
        spans.push(vec![Value::Unknown, 5u64.into(), "y".into()]);
        let mut report = Report::new("check/1", "title");
        report.tables.push(spans);
        report.findings.push(finding(50, "a finding"));
        let page = rest(&report, Some(Time(20))).whole();
        assert!(page.contains("<tr data-from=\"10\" data-to=\"15\" tabindex=\"0\">"), "{page}");
        assert!(page.contains("<li data-from=\"30\" data-to=\"40\" tabindex=\"0\">"), "{page}");
        assert_eq!(page.matches("data-from").count(), 2, "not where no time is known: {page}");
        assert!(!rest(&report, None).whole().contains("data-from"));
        let columns = [
            Column::new("longest_ns", "longest", Unit::Ns),
            Column::new("longest_from_ns", "at", Unit::At),
        ];
        let mut longest = Table::new("longest", "", columns);
        longest.push(vec![7u64.into(), 30u64.into()]);
        let mut moments = Table::new("moments", "", [Column::new("time_ns", "at", Unit::At)]);
        moments.push(vec![30u64.into()]);
        let page = [longest, moments].map(|it| table(&it, Some(Time(20))).whole());
        assert!(page[0].contains("<tr data-from=\"10\" data-to=\"17\""), "{}", page[0]);
        assert!(page[1].contains("<tr data-from=\"10\" data-to=\"10\""), "{}", page[1]);
    }

    #[test]
    fn a_row_about_a_task_leads_to_it_where_it_has_no_time() {
        let columns = [
            Column::new("task", "task", Unit::None),
            Column::for_programs("tid", Unit::None),
            Column::new("from_ns", "from", Unit::At),
        ];
        let mut table = Table::new("t", "A table", columns);
        table.push(vec!["x".into(), 5u64.into(), 30u64.into()]);
        table.push(vec!["x".into(), 7u64.into(), Value::Unknown]);
        table.push(vec!["x".into(), "\"><b>".into(), Value::Unknown]);
        let mut report = Report::new("check/1", "title");
        report.tables.push(table);
        let page = rest(&report, Some(Time(20))).whole();
        assert!(page.contains("<tr data-tid=\"7\" tabindex=\"0\">"), "{page}");
        assert_eq!((page.matches("data-tid").count(), page.matches("data-from").count()), (1, 1));
        assert!(!rest(&report, None).whole().contains("data-tid"));
    }

    #[test]
    fn lists_can_be_cut_and_what_is_left_out_asked_for() {
        let mut table = Table::new("t", "A table", [Column::new("a", "first", Unit::None)]);
        (0..ROWS as u64 + 5).for_each(|n| table.push(vec![n.into()]));
        let mut report = Report::new("check/1", "title");
        report.tables.push(table);
        report.findings.extend((0..7).map(|n| finding(n, "a finding")));
        let words = rest(&report, None);
        let count = |html: &str| [html.matches("<td").count(), html.matches("<li").count()];
        assert_eq!(count(&words.whole()), [ROWS, 7]);
        let cut = words.cut(3);
        assert_eq!(count(&cut), [3, 3]);
        assert!(cut.contains("data-name=\"t\" data-rows=\"1000\"") && cut.contains("5 more"));
        assert!(cut.contains("data-name=\"findings\" data-rows=\"7\""), "{cut}");
        let rows = |name, from, most| words.rows(name, from, most);
        let whole = words.whole();
        assert_eq!(cut.replace(&rows("t", 0, 3).expect("rows"), "").matches("<td").count(), 0);
        let all = rows("t", 0, 3).expect("rows") + &rows("t", 3, usize::MAX).expect("rows");
        assert!(whole.contains(&all) && whole.contains(&rows("findings", 2, 9).expect("rows")));
        assert_eq!((rows("t", 2000, 5), rows("x", 0, 5)), (Some(String::new()), None));
    }

    #[test]
    fn all_but_the_first_screen_is_folded_where_there_is_one() {
        let mut report = report();
        let open = html(&report);
        assert!(!open.contains("<details>") && open.contains("<details open>"), "{open}");
        report.proportions.push(proportion("wasted"));
        let folded = html(&report);
        let first = folded.split("<summary><h2>All measures").next().expect("a first screen");
        assert!(first.contains("25.0 - 50.0 % of wasted"), "{first}");
        assert_eq!(folded.matches("<details open>").count(), 1, "the loss alone: {folded}");
    }

    #[test]
    fn losses_come_before_figures() {
        let page = html(&report());
        assert!(page.find("Losses").expect("losses") < page.find("5 ns").expect("the figure"));
    }
}
