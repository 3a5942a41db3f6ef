//! The HTML face of a report: one file that opens from disk, with its pictures.
//!
//! Nothing is loaded from anywhere. Everything that comes from a trace is escaped: a task may call
//! itself `<script>`. The only script sorts tables and unfolds what a link leads to.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wastenot_model::{Picture, Proportion, Report, Table, Time, Unit, Value, Window, printable};

use crate::backend::svg::escape;

/// Rows of a table that the page holds; the rest is in JSON and CSV.
const ROWS: usize = 1000;
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The report as one HTML file: a first screen, and the rest folded.
pub fn html(report: &Report) -> String {
    page(&report.title, &(first(report) + &rest(report, None)), &Extra::default())
}

/// What a page has beside the words of reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra<'a> {
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
pub fn page(title: &str, content: &str, extra: &Extra<'_>) -> String {
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
         {content}<footer>Made by wastenot; times are of the recording's clock.</footer>\n</main>\n\
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
/// what has a time says so, and can be chosen: `data-from` and `data-to` in ns since then.
pub fn rest(report: &Report, begin: Option<Time>) -> String {
    let mut out = worst(report, begin);
    if let Some(next) = &report.next {
        out += &format!("<p class=\"next\">Next: <code>{}</code></p>\n", text(next));
    }
    // A report of which nothing stands first is read as it is.
    let fold = |title: &str, hint: &str, content: &str| {
        if content.is_empty() {
            return String::new();
        }
        section(title, hint, content, report.proportions.is_empty())
    };
    out += &fold("Findings", &report.findings.len().to_string(), &findings(report, begin));
    for (n, picture) in report.pictures.iter().enumerate() {
        out += &fold(&picture.title, "", &figure(picture, &moments(report, n)));
    }
    let count = report.shown_measures().count();
    out += &fold("All measures", &count.to_string(), &measures(report));
    for it in report.tables.iter().filter(|table| table.is_shown()) {
        out += &fold(&it.title, &it.rows.len().to_string(), &table(it, begin));
    }
    if !report.assumptions.is_empty() {
        let lines = report.assumptions.iter().map(|line| format!("<li>{}</li>\n", text(line)));
        let lines = format!("<ul>\n{}</ul>\n", lines.collect::<String>());
        out += &fold("Assumptions", &report.assumptions.len().to_string(), &lines);
    }
    out
}

/// Columns that say from when to when a row is, or for how long.
const WHEN: [(&str, &str, &str); 2] =
    [("from_ns", "to_ns", "length_ns"), ("worst_from_ns", "worst_to_ns", "")];

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
    let (from, to) = WHEN.iter().find_map(|(from, to, length)| {
        let from = number(from)?;
        Some((from, number(to).or_else(|| Some(from + number(length)?)).unwrap_or(from)))
    })?;
    Some(Window { from: Time(from), to: Time(to.max(from)) })
}

/// Attributes of what leads to a time.
fn leads_to(window: Option<Window>, begin: Option<Time>) -> String {
    let Some((window, begin)) = window.zip(begin) else { return String::new() };
    let [from, to] = [window.from, window.to].map(|time| time.since(begin).0);
    format!(" data-from=\"{from}\" data-to=\"{to}\" tabindex=\"0\"")
}

/// A section that folds away; `hint` says how much is in it.
fn section(title: &str, hint: &str, content: &str, is_open: bool) -> String {
    let open = if is_open { " open" } else { "" };
    let hint = match hint {
        "" => String::new(),
        hint => format!(" <span class=\"hint\">{}</span>", text(hint)),
    };
    let title = text(title);
    format!("<details{open}>\n<summary><h2>{title}</h2>{hint}</summary>\n{content}</details>\n")
}

/// Text of a trace as text of the page.
fn text(text: &str) -> String {
    escape(&printable(text))
}

fn losses(report: &Report) -> String {
    let losses = &report.losses;
    if losses.is_empty() {
        return String::new();
    }
    let mut out = String::from("<ul>\n");
    for loss in losses {
        let cpu = loss.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
        let count = loss.count.map_or(String::new(), |count| format!(", {count} in all"));
        let time = loss.time.map_or(String::new(), |time| format!(", first at {time}"));
        let name = loss.kind.name().replace('_', " ");
        let line = format!("{cpu}: {}{count}{time}", text(&loss.note));
        out += &format!("<li><strong>{name}</strong>{line}</li>\n");
    }
    // A few are read at once; many would push the figures off the screen.
    let section = section("Losses", &report.loss_counts(), &(out + "</ul>\n"), losses.len() < 3);
    format!("<div class=\"losses\">\n{section}</div>\n")
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

fn findings(report: &Report, begin: Option<Time>) -> String {
    if report.findings.is_empty() {
        return String::new();
    }
    let mut out = String::from("<ol class=\"findings\">\n");
    for (n, finding) in report.findings.iter().enumerate().take(ROWS) {
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
        out += &format!(
            "<li{id}><code>{}</code> {} {when}{help}</li>\n",
            text(&finding.code),
            text(&finding.message),
        );
    }
    out += "</ol>\n";
    out + &more(report.findings.len())
}

fn table(table: &Table, begin: Option<Time>) -> String {
    let name = text(&table.name);
    let mut out = format!("<div class=\"wide\">\n<table data-name=\"{name}\">\n<thead><tr>");
    for (index, column) in table.shown_columns() {
        let number = |row: &Vec<Value>| matches!(row[index], Value::Int(_) | Value::Num(_));
        let number = column.unit != Unit::None || table.rows.iter().any(number);
        let class = if number { " class=\"n\"" } else { "" };
        // A button, so that a keyboard can sort, too.
        let label = text(&column.title);
        out += &format!("<th scope=\"col\"{class}><button type=\"button\">{label}</button></th>");
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in table.rows.iter().take(ROWS) {
        out += &format!("<tr{}>", leads_to(when(table, row), begin));
        for (index, column) in table.shown_columns() {
            out += &cell(&row[index], column.unit);
        }
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n";
    out + &more(table.rows.len())
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
        more => format!("<p class=\"help\">{more} more are in the JSON form.</p>\n"),
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
        let mut table = Table::new("t", "A table", columns);
        table.push(vec![30u64.into(), 5u64.into(), "x".into()]);
        table.push(vec![Value::Unknown, 5u64.into(), "y".into()]);
        let mut report = Report::new("check/1", "title");
        report.tables.push(table);
        report.findings.push(finding(50, "a finding"));
        let page = rest(&report, Some(Time(20)));
        assert!(page.contains("<tr data-from=\"10\" data-to=\"15\" tabindex=\"0\">"), "{page}");
        assert!(page.contains("<li data-from=\"30\" data-to=\"40\" tabindex=\"0\">"), "{page}");
        assert_eq!(page.matches("data-from").count(), 2, "not where no time is known: {page}");
        assert!(!rest(&report, None).contains("data-from"));
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
