//! Pseudonyms for names.

use std::collections::HashMap;

use sha2::{Digest, Sha256};
use wastenot_model::is_kernel_thread;

/// Placeholders for a name that the recorder did not have.
const NAMELESS: &[&str] = &["<...>", "<unknown>", ""];

/// Gives every name a pseudonym, always the same for the same name.
pub(super) struct Pseudonyms {
    salt: Option<String>,
    given: HashMap<String, String>,
}

impl Pseudonyms {
    /// With a salt, pseudonyms are the same in all files scrubbed with it; without, they are
    /// numbers in the order of their first use.
    pub(super) fn new(salt: Option<&str>) -> Pseudonyms {
        Pseudonyms { salt: salt.map(str::to_owned), given: HashMap::new() }
    }

    /// For a command. Kernel threads keep their names. A `/N` at the end of any other name stays,
    /// since a thread that is named after its CPU counts as pinned to it.
    pub(super) fn command(&mut self, name: &str) -> String {
        if NAMELESS.contains(&name) || is_kernel_thread(name) {
            return name.to_owned();
        }
        match per_cpu(name) {
            None => self.of("t", name),
            Some((stem, cpu)) => format!("{}/{cpu}", self.of("t", stem)),
        }
    }

    /// For a cgroup: each part of its path gets its own pseudonym, so that the tree is preserved.
    pub(super) fn cgroup(&mut self, path: &str) -> String {
        let parts = path.split('/').map(|part| match part {
            "" => String::new(),
            part => self.of("g", part),
        });
        parts.collect::<Vec<_>>().join("/")
    }

    /// The pseudonym of this command, if it has one.
    pub(super) fn known(&self, name: &str) -> Option<&str> {
        self.given.get(&key("t", name)).map(String::as_str)
    }

    fn of(&mut self, kind: &str, text: &str) -> String {
        let next = self.given.len() + 1;
        let salt = self.salt.as_deref();
        let given = self.given.entry(key(kind, text));
        let pseudonym = given.or_insert_with(|| match salt {
            None => format!("{kind}-{next}"),
            Some(salt) => format!("{kind}-{}", digest(salt, text)),
        });
        pseudonym.clone()
    }
}

fn key(kind: &str, text: &str) -> String {
    format!("{kind}:{text}")
}

/// `stem/N`, `stem/N:...`: the stem and N.
fn per_cpu(name: &str) -> Option<(&str, &str)> {
    let (stem, tail) = name.rsplit_once('/')?;
    let cpu = tail.split(':').next()?;
    cpu.parse::<u16>().is_ok().then_some((stem, cpu))
}

/// Forty bits of a keyed digest in eight letters: short enough for a command name. Without the salt
/// no dictionary of commands reveals the names.
fn digest(salt: &str, text: &str) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut hash = Sha256::new();
    hash.update((salt.len() as u64).to_le_bytes());
    hash.update(salt);
    hash.update(text);
    let hash = hash.finalize();
    let bits = hash.iter().take(5).fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    (0..8).map(|at| char::from(LETTERS[(bits >> (5 * at) & 31) as usize])).collect()
}
