//! What a text is called by its content: SHA-256, in hexadecimal digits.

use sha2::{Digest, Sha256};

pub(crate) fn digest(text: &[u8]) -> String {
    wastenot_host::hex(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4, example of one block.
    #[test]
    fn it_is_sha_256() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(b"abc"), abc);
    }
}
