//! A hash that every build has the same of.

use std::hash::Hasher;
use std::io;

/// FNV-1a with 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>). That of the standard library may change with the compiler, and a run that goes on under a newer
/// program draws the same random numbers.
pub(super) struct StableHasher(u64);

impl StableHasher {
    pub(super) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for StableHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl io::Write for StableHasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Hasher::write(self, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        let of = |text: &str| {
            let mut hasher = StableHasher::new();
            Hasher::write(&mut hasher, text.as_bytes());
            hasher.finish()
        };
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }
}
