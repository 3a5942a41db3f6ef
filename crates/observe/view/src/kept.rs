//! A recording as bytes, to be kept in a file and shown again without a check.
//!
//! ```text
//! what tiles spilled   the most of it; read in place
//! tail                 words as JSON, tasks and decisions, each behind its length; frequencies;
//!                      the rest of the tiles
//! length of the tail   8 bytes, the lowest first
//! MAGIC
//! ```

use crate::html::{Piece, Words};
use crate::tiles::bytes::{Reader, Writer};
use crate::tiles::{Bytes, Tiles};
use serde_json::{Value, json};
use wastenot_model::{CpuId, Time, Window};

use crate::Recording;
use crate::decisions::Decisions;
use crate::folds::{Fold, Lane};
use crate::frequency::Frequencies;

/// What such bytes end with; it changes with what stands before.
const MAGIC: &[u8; 8] = b"wnview6\n";

impl Recording {
    /// What stands behind that which its tiles spilled.
    pub fn tail(&self) -> Vec<u8> {
        let worst = self.worst.iter().map(|it| json!([it.from.0, it.to.0]));
        let rest = self.rest.0.iter().map(|piece| match piece {
            Piece::Text(text) => json!(text),
            Piece::List { name, rows } => json!([name, rows]),
        });
        let words = json!({
            "head": self.head,
            "title": self.title,
            "first": self.first,
            "rest": rest.collect::<Vec<_>>(),
            "worst": worst.collect::<Vec<_>>(),
            "events": self.events,
            "decisions": self.decisions.words,
        });
        let mut to = Writer::default();
        for part in [words.to_string().as_bytes(), &self.tasks, &self.decisions.rows] {
            to.bytes(part);
        }
        self.frequencies.write(&mut to);
        let mut bytes = to.done();
        bytes.extend(self.tiles.tail());
        bytes.extend((bytes.len() as u64).to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }

    /// Of bytes that hold what its tiles spilled, and then [`Recording::tail`]; `None` where they
    /// do not.
    pub fn from_bytes(bytes: &Bytes) -> Option<Recording> {
        let (rest, magic) = bytes.split_last_chunk()?;
        let (rest, length) = rest.split_last_chunk().filter(|_| magic == MAGIC)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let mut from = Reader::new(&rest[rest.len().checked_sub(length)?..]);
        let words: Value = serde_json::from_slice(from.bytes()?).ok()?;
        let (tasks, decisions) = (from.bytes()?, from.bytes()?);
        let frequencies = Frequencies::read_from(&mut from)?;
        let worst = words["worst"].as_array()?.iter().map(|it| {
            let (from, to) = (Time(it[0].as_u64()?), Time(it[1].as_u64()?));
            (from <= to).then_some(Window { from, to })
        });
        let head = words["head"].clone();
        let folds = head["folds"].as_array()?.iter().map(fold).collect::<Option<Vec<Fold>>>()?;
        Some(Recording {
            tiles: Tiles::from_parts(bytes.clone(), from.rest())?,
            frequencies,
            tasks: tasks.to_vec(),
            folds,
            title: text(&words["title"])?,
            first: text(&words["first"])?,
            rest: Words(words["rest"].as_array()?.iter().map(piece).collect::<Option<_>>()?),
            worst: worst.collect::<Option<Vec<Window>>>()?,
            events: usize::try_from(words["events"].as_u64()?).ok()?,
            is_glance: false,
            head,
            decisions: Decisions { rows: decisions.to_vec(), words: texts(&words["decisions"])? },
            source: None,
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(text).collect()
}

fn piece(value: &Value) -> Option<Piece> {
    let Some(list) = value.as_array() else { return text(value).map(Piece::Text) };
    let [name, rows] = &list[..] else { return None };
    Some(Piece::List { name: text(name)?, rows: texts(rows)? })
}

fn fold(value: &Value) -> Option<Fold> {
    let lanes = value["lanes"].as_array()?.iter().map(|lane| {
        let cpus = lane[1].as_array()?.iter();
        let cpus = cpus.map(|cpu| Some(CpuId(u16::try_from(cpu.as_u64()?).ok()?)));
        Some(Lane { label: lane[0].as_str()?.to_owned(), cpus: cpus.collect::<Option<_>>()? })
    });
    let name = value["name"].as_str()?.to_owned();
    Some(Fold { name, lanes: lanes.collect::<Option<Vec<Lane>>>()? })
}
