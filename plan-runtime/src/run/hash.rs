//! A hash with equal values in every build.

use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// FNV-1a with 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>). The standard library's hash may change with the compiler, and a resumed run
/// must draw equal random numbers under a newer program.
///
/// The hasher does not accept `Hash` types, whose bytes may differ between platforms.
pub(super) struct StableHasher(u64);

impl StableHasher {
    pub(super) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Writes a string with an end marker.
    pub(super) fn text(&mut self, text: &str) {
        self.write(text.as_bytes());
        self.write(&[0xff]);
    }

    /// Writes a JSON value, independently of the order of its members.
    pub(super) fn json(&mut self, value: &Value) {
        match value {
            Value::Array(elements) => {
                self.text("[");
                elements.iter().for_each(|element| self.json(element));
                self.text("]");
            }
            Value::Object(members) => {
                // The order of a `serde_json` map depends on a feature of that crate.
                let members: BTreeMap<&String, &Value> = members.iter().collect();
                self.text("{");
                for (name, value) in members {
                    self.text(name);
                    self.json(value);
                }
                self.text("}");
            }
            // Quoted, so that no string equals a bracket.
            scalar => self.text(&scalar.to_string()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        let of = |text: &str| {
            let mut hasher = StableHasher::new();
            hasher.write(text.as_bytes());
            hasher.finish()
        };
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }
}
