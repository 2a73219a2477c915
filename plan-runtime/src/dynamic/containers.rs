//! The end positions of lists and objects in JSON, found in one pass.

/// The positions of the lists and objects in a value, in the order of their starts. Without them, the content of a list would be
/// scanned once for each enclosing level.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Containers(Vec<(u32, u32)>);

impl Containers {
    /// Scans a well-formed value that starts at a position of a document, which is shorter than 4 GiB.
    pub(super) fn of(value: &str, start: usize) -> Self {
        let bytes = value.as_bytes();
        let position = |at: usize| u32::try_from(start + at).unwrap_or(u32::MAX);
        let mut all = Vec::new();
        let mut open = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at = string_end(bytes, at);
                    continue;
                }
                b'[' | b'{' => {
                    open.push(all.len());
                    all.push((position(at), position(at)));
                }
                b']' | b'}' => {
                    if let Some(container) = open.pop() {
                        all[container].1 = position(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Self(all)
    }

    /// Returns the end of a list or an object in a value that starts at `around`.
    pub(super) fn end(&self, start: usize, around: usize) -> usize {
        let found = u32::try_from(around + start).ok().and_then(|place| {
            let found = self.0.binary_search_by_key(&place, |(start, _)| *start);
            self.0.get(found.ok()?)
        });
        found.map_or(start, |(_, end)| *end as usize - around)
    }
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
