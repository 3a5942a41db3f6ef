//! The errors of a text, by code: for `wastenot rota error R101`, and for the table in
//! docs/reference/rota.md. One file for each family; the tests compile every example.

mod balance;
mod claims;
mod emitted;
mod handlers;
mod names;
mod partitions;
mod text;
mod types;

/// One kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code, such as `R101`.
    pub code: &'static str,
    /// The error, in a few words.
    pub title: &'static str,
    /// Why it is an error, and what to write instead: Markdown.
    pub about: &'static str,
    /// An example with this error and no other: a file, items of a policy, or partitions
    /// ([`whole`]).
    pub wrong: &'static str,
    /// The same without the error.
    pub right: &'static str,
}

/// The families, by the second character of their codes.
const FAMILIES: [(&str, &[Code]); 8] = [
    ("Text and grammar", text::CODES),
    ("Names", names::CODES),
    ("Dimensions and types", types::CODES),
    ("Handlers and placement", handlers::CODES),
    ("Queues, balance and levels", balance::CODES),
    ("Partitions and protocol", partitions::CODES),
    ("Claims", claims::CODES),
    ("What cannot be emitted", emitted::CODES),
];

/// Every family with its codes, in order.
pub fn families() -> impl Iterator<Item = (&'static str, &'static [Code])> {
    FAMILIES.into_iter()
}

/// Every code, in order.
pub fn all() -> impl Iterator<Item = &'static Code> {
    families().flat_map(|(_, codes)| codes)
}

/// The code with this name: `R008`, `r8`, `8`.
pub fn named(name: &str) -> Option<&'static Code> {
    let number: u32 = name.strip_prefix(['R', 'r']).unwrap_or(name).parse().ok()?;
    all().find(|code| code.code[1..].parse() == Ok(number))
}

impl Code {
    /// The title, explanation and examples, as Markdown.
    pub fn page(&self) -> String {
        let Code { code, title, about, wrong, right } = self;
        let (about, wrong, right) = (wrapped(about), shown(wrong), shown(right));
        format!(
            "# {code}: {title}\n\n{about}\n\nWrong:\n\n```rota\n{wrong}```\n\n\
             Right:\n\n```rota\n{right}```\n"
        )
    }
}

/// Wraps words in lines that fit a terminal.
fn wrapped(text: &str) -> String {
    let (mut lines, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        let fits = width + 1 + letters <= 78;
        match (width, fits) {
            (0, _) => {}
            (_, true) => lines.push(' '),
            (_, false) => lines.push('\n'),
        }
        width = if fits && width > 0 { width + 1 + letters } else { letters };
        lines += word;
    }
    lines
}

/// Items that a policy needs and an example may lack, by the words that show that it has the item.
const NEEDED: [(&str, &str); 11] = [
    ("task {", "task { vt: time = 0 owner queue }"),
    ("cpu {", "cpu { jobs: count = 0 owner cpu }"),
    ("queue ready", "queue ready : fifo per cpu"),
    ("queue q", "queue q : ordered(vt) per llc"),
    ("on new(", "on new(t) { put t in home(t).ready }"),
    ("on wake(", "on wake(t) { put t in home(t).ready }"),
    ("on preempt(", "on preempt(t) { put t in home(t).ready }"),
    ("on yield(", "on yield(t) { put t in home(t).q }"),
    ("on block(", "on block(t) { }"),
    ("on exit(", "on exit(t) { }"),
    ("on dispatch(", "on dispatch(c) { take c.ready else take c.q else balance idle }"),
];
const BALANCE: &str = "balance idle {\n    level machine\n    filter(me, v) = queued(v.ready) >= \
                       1\n    choose any\n    steal 1 where me in allowed(t)\n    retry \
                       untried\n}";

/// An example as a whole file: items are put in a policy `p` with all the rest, partitions after
/// it. An example that begins with a policy or a comment is a file already.
pub fn whole(example: &str) -> String {
    if ["policy", "//"].iter().any(|begin| example.starts_with(begin)) {
        return example.to_owned();
    }
    let (items, partitions) = match example.starts_with("partition") {
        true => ("", example),
        false => (example, ""),
    };
    let lacks = |word: &str| !items.contains(word);
    let needed = NEEDED.iter().filter(|(word, _)| lacks(word)).map(|(_, item)| *item);
    let mut text = format!("policy p {{\n{}\n{items}", needed.collect::<Vec<_>>().join("\n"));
    if lacks("balance idle {") && (lacks("on dispatch(") || !lacks("balance idle")) {
        text += &format!("\n{BALANCE}");
    }
    text + "\n}\n" + partitions
}

/// A text for printing: control characters are escaped.
fn shown(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\n' => "\n".to_string(),
        letter if letter.is_control() => letter.escape_default().to_string(),
        letter => letter.to_string(),
    };
    text.chars().map(shown).collect()
}
