//! The ends of the values in JSON.

/// The positions of the long lists and objects in a value, in the order of their starts. Without them, the content of a list would be
/// scanned once for each enclosing level.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Containers(Vec<(u32, u32)>);

/// The smallest length in bytes of a list or an object whose end is stored.
const LONG: u32 = 128;

impl Containers {
    /// Scans a well-formed value that starts at a position of a document.
    pub(super) fn of(value: &str, start: usize) -> Self {
        let bytes = value.as_bytes();
        let mut long: Vec<(u32, u32)> = Vec::new();
        // The indices in `long` of the open containers.
        let mut open: Vec<u32> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if *byte == b'"' {
                at = string_end(bytes, at);
                continue;
            }
            at += 1;
            if !matches!(byte, b'[' | b'{' | b']' | b'}') {
                continue;
            }
            // A document is shorter than 4 GiB. Longer values are scanned again.
            let (Ok(end), Ok(next)) = (u32::try_from(start + at), u32::try_from(long.len())) else {
                return Self(Vec::new());
            };
            if matches!(byte, b'[' | b'{') {
                open.push(next);
                long.push((end - 1, end));
            } else if let Some(place) = open.pop()
                && let Some(container) = long.get_mut(place as usize)
            {
                container.1 = end;
                // All containers inside are shorter, and already removed.
                if end - container.0 < LONG {
                    long.truncate(place as usize);
                }
            }
        }
        Self(long)
    }

    /// Returns the end of a list or an object in the bytes of a value that starts at `around`.
    pub(super) fn end(&self, bytes: &[u8], start: usize, around: usize) -> usize {
        let known = u32::try_from(around + start).ok().and_then(|place| {
            let known = self.0.binary_search_by_key(&place, |(start, _)| *start);
            self.0.get(known.ok()?)
        });
        match known {
            Some((_, end)) => *end as usize - around,
            None => short_end(bytes, start),
        }
    }
}

/// Scans for the end of a short list or object.
fn short_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the end of a value at `start` that is not a list or an object. Returns `start` itself if no value starts
/// there.
pub(super) fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    if rest.first() == Some(&b'"') {
        return string_end(bytes, start);
    }
    let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
    start + rest.iter().position(ends).unwrap_or(rest.len())
}

/// Returns the end of the string that starts at `start`.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans for the end of each list and object.
    fn places(value: &str) -> Vec<(usize, usize)> {
        let bytes = value.as_bytes();
        let starts = (0..bytes.len()).filter(|at| matches!(bytes[*at], b'[' | b'{'));
        starts.map(|at| (at, short_end(bytes, at))).collect()
    }

    #[test]
    fn all_that_is_long_is_kept_and_nothing_else() {
        let most = LONG as usize;
        let long = format!("[{}]", "1,".repeat(most));
        let values = [
            "1".to_owned(),
            "[]".to_owned(),
            "[".repeat(1_000) + &"]".repeat(1_000),
            format!("[[1],{long},{{\"a\":{long}}},[[],[2]]]"),
            format!("{{\"\\\"]}}\":[{}],\"b\":{{\"c\":[]}}}}", "[3],".repeat(40)),
            "[".repeat(most / 2 - 1) + &"]".repeat(most / 2 - 1),
            "[".repeat(most / 2) + &"]".repeat(most / 2),
        ];
        for value in values {
            let value = value.replace(",]", "]");
            let found = places(&value);
            let containers = Containers::of(&value, 7);
            let long = found.iter().filter(|(start, end)| end - start >= most);
            let kept = containers.0.iter();
            let kept: Vec<_> = kept
                .map(|(a, b)| (*a as usize - 7, *b as usize - 7))
                .collect();
            assert_eq!(kept, long.copied().collect::<Vec<_>>(), "{value}");
            for (start, end) in found {
                assert_eq!(containers.end(value.as_bytes(), start, 7), end);
            }
        }
    }
}
