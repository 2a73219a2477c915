//! Decoding of documents as UTF-8.

use super::finding::{Code, Findings, Note, Notes};

/// Decodes bytes as UTF-8, or returns the position of the first invalid byte.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Findings> {
    // Any other encoding with a byte order mark, or with a zero in its first character of JSON, could decode to other characters.
    if let Some(encoding) = encoding(bytes) {
        let message = format!("the document is in {encoding}, and JSON is in UTF-8");
        return Err(finding(bytes, 0, message, "save the document as UTF-8"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        match error.error_len() {
            Some(_) => {
                let message = format!(
                    "the document is not UTF-8: byte {at}, {byte:#04x}, does not begin a character"
                );
                finding(bytes, at, message, "save the document as UTF-8")
            }
            None => {
                let message = format!("the document ends within the character at byte {at}");
                finding(bytes, at, message, "was the document cut off?")
            }
        }
    })
}

/// Returns an encoding other than UTF-8, by its byte order mark or by the zeros of JSON's first character.
fn encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [1..=0xff, 0, 0, 0, ..] => Some("UTF-32 (little-endian)"),
        [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, 1..=0xff, ..] => Some("UTF-32 (big-endian)"),
        [0xff, 0xfe, ..] | [1..=0xff, 0, 1..=0xff, 0, ..] => Some("UTF-16 (little-endian)"),
        [0xfe, 0xff, ..] | [0, 1..=0xff, 0, 1..=0xff, ..] => Some("UTF-16 (big-endian)"),
        _ => None,
    }
}

/// Returns the valid part of the bytes.
pub(super) fn valid(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// Returns a finding at the first invalid byte, where the findings' copy of the document ends.
fn finding(bytes: &[u8], at: usize, message: String, help: &str) -> Findings {
    let mut notes = Notes::default();
    let note = Note::error(Code::InvalidJson, at..at, message);
    notes.push(note.help(help.to_owned()));
    notes.into_findings(valid(&bytes[..at]))
}
