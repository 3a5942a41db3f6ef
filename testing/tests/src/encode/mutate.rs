//! One random change to a file.

use crate::Rng;

/// Numbers at which code that counts tends to fail.
pub(crate) const ODD: [u64; 14] = [
    0,
    1,
    2,
    7,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x10_0000,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 40,
    i64::MAX as u64,
    u64::MAX,
];

/// Changes `bytes` a little; may copy a part of `other` into them.
pub fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    if bytes.is_empty() {
        bytes.extend(&rng.bits().to_le_bytes()[..1 + rng.below(8)]);
        return;
    }
    match rng.below(12) {
        0 => flip(rng, bytes),
        1 | 2 => overwrite(rng, bytes),
        3..=5 => nudge(rng, bytes),
        6 => remove(rng, bytes),
        7 => repeat(rng, bytes),
        8 => splice(rng, bytes, other),
        9 => digits(rng, bytes),
        10 => exchange(rng, bytes),
        _ => cut(rng, bytes),
    }
}

/// A place; mostly in the head, which holds the numbers that determine everything else.
fn place(rng: &mut Rng, bytes: &[u8]) -> usize {
    let near = if rng.one_in(2) { bytes.len().min(256) } else { bytes.len() };
    rng.below(near)
}

/// A short range.
fn range(rng: &mut Rng, bytes: &[u8]) -> std::ops::Range<usize> {
    let at = place(rng, bytes);
    let most = rng.pick(&[4, 64, 4096]);
    let size = 1 + rng.below(most);
    at..(at + size).min(bytes.len())
}

fn flip(rng: &mut Rng, bytes: &mut [u8]) {
    let at = place(rng, bytes);
    bytes[at] ^= 1 << rng.below(8);
}

/// Writes a number of 1, 2, 4 or 8 bytes in either order.
fn overwrite(rng: &mut Rng, bytes: &mut [u8]) {
    let odd = match rng.below(4) {
        0 => bytes.len() as u64 + rng.below(3) as u64,
        1 => rng.bits(),
        _ => rng.pick(&ODD),
    };
    let size = rng.pick(&[1, 2, 4, 8]);
    let number = match rng.one_in(2) {
        true => odd.to_le_bytes()[..size].to_vec(),
        false => odd.to_be_bytes()[8 - size..].to_vec(),
    };
    let at = place(rng, bytes);
    for (to, from) in bytes[at..].iter_mut().zip(number) {
        *to = from;
    }
}

/// Adds a little to an existing number.
fn nudge(rng: &mut Rng, bytes: &mut [u8]) {
    let at = place(rng, bytes);
    let by = 1 + rng.below(9) as u8;
    bytes[at] = match rng.one_in(2) {
        true => bytes[at].wrapping_add(by),
        false => bytes[at].wrapping_sub(by),
    };
}

fn remove(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let range = range(rng, bytes);
    bytes.drain(range);
}

fn repeat(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let range = range(rng, bytes);
    let part = bytes[range.clone()].to_vec();
    let at = if rng.one_in(2) { range.end } else { rng.below(bytes.len()) };
    let times = rng.pick(&[1, 1, 2, 30]);
    bytes.splice(at..at, part.repeat(times));
}

fn splice(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    if other.is_empty() {
        return exchange(rng, bytes);
    }
    let (to, from) = (range(rng, bytes), range(rng, other));
    bytes.splice(to, other[from].iter().copied());
}

/// Replaces a sequence of decimal digits, as in texts.
fn digits(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let from = rng.below(bytes.len());
    let Some(first) = bytes[from..].iter().position(u8::is_ascii_digit) else {
        return flip(rng, bytes);
    };
    let at = from + first;
    let size = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = match rng.below(4) {
        0 => "99999999999999999999".to_owned(),
        1 => format!("-{}", rng.below(10)),
        2 => String::new(),
        _ => rng.pick(&ODD).to_string(),
    };
    bytes.splice(at..at + size, number.into_bytes());
}

/// Swaps two parts of equal length.
fn exchange(rng: &mut Rng, bytes: &mut [u8]) {
    let size = 1 + rng.below(bytes.len().min(64));
    let room = bytes.len() - size + 1;
    let (a, b) = (rng.below(room), rng.below(room));
    for offset in 0..size {
        bytes.swap(a + offset, b + offset);
    }
}

fn cut(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = if rng.one_in(2) { place(rng, bytes) } else { bytes.len() - bytes.len() / 16 };
    bytes.truncate(at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_can_be_changed_for_ever() {
        let mut rng = Rng::new(3);
        let mut bytes = Vec::new();
        for _ in 0..20_000 {
            mutate(&mut rng, &mut bytes, b"12 34\0abc");
            bytes.truncate(10_000);
        }
    }
}
