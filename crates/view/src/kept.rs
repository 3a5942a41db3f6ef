//! A recording as bytes, to be kept in a file and shown again without a check.
//!
//! ```text
//! what tiles spilled   the most of it; read in place
//! tail                 words as JSON behind their length, and the rest of the tiles
//! length of the tail   8 bytes, the lowest first
//! MAGIC
//! ```

use serde_json::{Value, json};
use wastenot_model::{CpuId, Time, Window};
use wastenot_tiles::{Bytes, Tiles};

use crate::Recording;
use crate::folds::{Fold, Lane};

/// What such bytes end with; it changes with what stands before.
const MAGIC: &[u8; 8] = b"wnview2\n";

impl Recording {
    /// What stands behind that which its tiles spilled.
    pub fn tail(&self) -> Vec<u8> {
        let worst = self.worst.iter().map(|it| json!([it.from.0, it.to.0]));
        let words = json!({
            "head": self.head,
            "title": self.title,
            "words": self.words,
            "worst": worst.collect::<Vec<_>>(),
            "events": self.events,
        });
        let words = words.to_string();
        let mut bytes = (words.len() as u64).to_le_bytes().to_vec();
        bytes.extend(words.as_bytes());
        bytes.extend(self.tiles.tail());
        bytes.extend((bytes.len() as u64).to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }

    /// Of bytes that hold what its tiles spilled, and then [`Recording::tail`]; `None` where they
    /// do not.
    pub fn from_bytes(bytes: Bytes) -> Option<Recording> {
        let number = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).ok();
        let (rest, magic) = bytes.split_last_chunk()?;
        let (rest, length) = rest.split_last_chunk().filter(|_| magic == MAGIC)?;
        let tail = &rest[rest.len().checked_sub(number(length)?)?..];
        let (length, tail) = tail.split_first_chunk()?;
        let (words, tiles) = tail.split_at_checked(number(length)?)?;
        let words: Value = serde_json::from_slice(words).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let worst = words["worst"].as_array()?.iter().map(|it| {
            let (from, to) = (Time(it[0].as_u64()?), Time(it[1].as_u64()?));
            (from <= to).then_some(Window { from, to })
        });
        let head = words["head"].clone();
        let folds = head["folds"].as_array()?.iter().map(fold).collect::<Option<Vec<Fold>>>()?;
        Some(Recording {
            tiles: Tiles::from_parts(bytes.clone(), tiles)?,
            folds,
            title: text(&words["title"])?,
            words: [text(&words["words"][0])?, text(&words["words"][1])?],
            worst: worst.collect::<Option<Vec<Window>>>()?,
            events: usize::try_from(words["events"].as_u64()?).ok()?,
            head,
        })
    }
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
