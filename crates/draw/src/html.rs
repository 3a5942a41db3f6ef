//! The HTML face of a report: one file that opens from disk, with its pictures.
//!
//! Nothing is loaded from anywhere. Everything that comes from a trace is escaped: a task may call
//! itself `<script>`. The only script sorts tables.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wastenot_model::{Loss, Report, Table, Unit, Value, printable};

use crate::backend::svg::escape;

/// A picture in a report.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Its heading.
    pub title: String,
    /// What it shows and how to read it.
    pub caption: String,
    /// The picture.
    pub image: Image,
}

/// What a picture is made of.
#[derive(Clone, Debug)]
pub enum Image {
    /// An SVG document.
    Svg(String),
    /// A PNG file.
    Png(Vec<u8>),
}

/// Rows of a table that the page holds; the rest is in JSON and CSV.
const ROWS: usize = 1000;
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/sort.js");

/// The report as one HTML file.
pub fn html(report: &Report, pictures: &[Picture]) -> String {
    let title = text(&report.title);
    // What a page may load is stated, so that even a mistake in escaping could fetch nothing.
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p class=\"verdict\">{}</p>\n",
        text(&report.verdict)
    );
    out += &losses(&report.losses);
    out += &measures(report);
    for picture in pictures {
        out += &figure(picture);
    }
    out += &findings(report);
    report.tables.iter().filter(|table| !table.rows.is_empty()).for_each(|t| out += &table(t));
    if !report.assumptions.is_empty() {
        out += "<section>\n<h2>Assumptions</h2>\n<ul>\n";
        report.assumptions.iter().for_each(|line| out += &format!("<li>{}</li>\n", text(line)));
        out += "</ul>\n</section>\n";
    }
    if let Some(next) = &report.next {
        out += &format!("<p class=\"next\">Next: <code>{}</code></p>\n", text(next));
    }
    out += &format!(
        "<footer>Made by wastenot; times are of the recording's clock.</footer>\n</main>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    );
    out
}

/// Text of a trace as text of the page.
fn text(text: &str) -> String {
    escape(&printable(text))
}

fn losses(losses: &[Loss]) -> String {
    if losses.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section class=\"losses\">\n<h2>Losses</h2>\n<ul>\n");
    for loss in losses {
        let cpu = loss.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
        let count = loss.count.map_or(String::new(), |count| format!(", {count} in all"));
        let time = loss.time.map_or(String::new(), |time| format!(", first at {time}"));
        let name = loss.kind.name().replace('_', " ");
        let line = format!("{cpu}: {}{count}{time}", text(&loss.note));
        out += &format!("<li><strong>{name}</strong>{line}</li>\n");
    }
    out + "</ul>\n</section>\n"
}

fn measures(report: &Report) -> String {
    let shown: Vec<_> = report.shown_measures().collect();
    if shown.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section>\n<dl class=\"measures\">\n");
    for (label, measure) in shown {
        let value = measure.value.show(measure.unit);
        out += &format!(
            "<div title=\"{}\"><dt>{}</dt><dd>{}</dd></div>\n",
            text(&measure.name),
            text(&label),
            text(&value)
        );
    }
    out + "</dl>\n</section>\n"
}

fn figure(picture: &Picture) -> String {
    let title = text(&picture.title);
    let image = match &picture.image {
        // As an image, an SVG can run nothing and its ids are its own.
        Image::Svg(svg) => ("svg+xml", STANDARD.encode(svg)),
        Image::Png(png) => ("png", STANDARD.encode(png)),
    };
    format!(
        "<section>\n<h2>{title}</h2>\n<figure>\n<img alt=\"{title}\" \
         src=\"data:image/{};base64,{}\">\n<figcaption>{}</figcaption>\n</figure>\n</section>\n",
        image.0,
        image.1,
        text(&picture.caption)
    )
}

fn findings(report: &Report) -> String {
    if report.findings.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section>\n<h2>Findings</h2>\n<ol class=\"findings\">\n");
    for finding in report.findings.iter().take(ROWS) {
        let help = finding.help.as_ref().map_or(String::new(), |help| {
            format!("<br><span class=\"help\">{}</span>", text(help))
        });
        out += &format!(
            "<li><code>{}</code> {} <span class=\"when\">{} for {}</span>{help}</li>\n",
            text(&finding.code),
            text(&finding.message),
            finding.window.from,
            finding.window.span()
        );
    }
    out += "</ol>\n";
    out + &rest(report.findings.len()) + "</section>\n"
}

fn table(table: &Table) -> String {
    let mut out = format!("<section>\n<h2>{}</h2>\n<div class=\"wide\">\n", text(&table.label));
    out += "<table>\n<thead><tr>";
    for (index, column) in table.shown_columns() {
        let number = |row: &Vec<Value>| matches!(row[index], Value::Int(_) | Value::Num(_));
        let class = if table.rows.iter().any(number) { " class=\"n\"" } else { "" };
        // A button, so that a keyboard can sort, too.
        let label = text(&column.label);
        out += &format!("<th scope=\"col\"{class}><button type=\"button\">{label}</button></th>");
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in table.rows.iter().take(ROWS) {
        out += "<tr>";
        for (index, column) in table.shown_columns() {
            out += &cell(&row[index], column.unit);
        }
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n";
    out + &rest(table.rows.len()) + "</section>\n"
}

/// A cell; numbers carry their bare value to sort by.
fn cell(value: &Value, unit: Unit) -> String {
    let shown = text(&value.show(unit));
    match value {
        Value::Int(n) => format!("<td class=\"n\" data-v=\"{n}\">{shown}</td>"),
        Value::Num(n) if n.is_finite() => format!("<td class=\"n\" data-v=\"{n}\">{shown}</td>"),
        Value::Num(_) | Value::Unknown => format!("<td class=\"unknown\">{shown}</td>"),
        _ => format!("<td>{shown}</td>"),
    }
}

fn rest(count: usize) -> String {
    match count.saturating_sub(ROWS) {
        0 => String::new(),
        more => format!("<p class=\"help\">{more} more are in the JSON form.</p>\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::{LossKind, Time};

    fn report() -> Report {
        let hostile = "<script>alert(1)</script>\"'&\u{1b}[2J";
        let mut report = Report::new("check/1", hostile);
        report.verdict = hostile.into();
        report.measure("waste.cpu_ns", hostile, 5u64, Unit::Ns);
        report.losses.push(Loss { time: Some(Time(3)), ..Loss::new(LossKind::Cut, hostile) });
        report.assumptions.push(hostile.into());
        report.next = Some(hostile.into());
        let mut table = Table::new("t", hostile, &[("a", hostile, Unit::None)]);
        table.push(vec![hostile.into()]);
        table.push(vec![Value::Num(f64::NAN)]);
        report.tables.push(table);
        report
    }

    #[test]
    fn names_of_tasks_never_become_markup() {
        let svg = Image::Svg("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".into());
        let hostile = "\"><script>x</script>".to_owned();
        let picture = Picture { title: hostile.clone(), caption: hostile, image: svg };
        let page = html(&report(), &[picture]);
        assert_eq!(page.matches("<script").count(), 1, "only our own script");
        assert!(!page.contains("alert(1)</script>"));
        assert!(!page.contains('\u{1b}'));
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\x1b[2J"));
    }

    #[test]
    fn a_page_asks_for_nothing_from_outside() {
        let page = html(&report(), &[]);
        for outside in ["http://", "https://", "url(", "@import", "<link", "fetch("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn columns_without_a_label_are_not_for_people() {
        let columns = [("a", "first", Unit::None), ("b", "", Unit::Ns), ("c", "third", Unit::Ns)];
        let mut table = Table::new("t", "A table", &columns);
        table.push(vec!["x".into(), 12_345u64.into(), 3u64.into()]);
        let mut report = Report::new("check/1", "title");
        report.tables.push(table);
        let page = html(&report, &[]);
        assert!(!page.contains("<button type=\"button\"></button>"));
        assert!(page.contains("third") && !page.contains("12345"), "{page}");
    }

    #[test]
    fn losses_come_before_figures() {
        let page = html(&report(), &[]);
        assert!(page.find("Losses").expect("losses") < page.find("5 ns").expect("the figure"));
    }
}
