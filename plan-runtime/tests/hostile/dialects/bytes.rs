//! Bytes that are not UTF-8, byte order marks, and rare characters.

use plan_runtime::dynamic::{Code, DocumentLimits, Findings, Reader, Toolbox};
use plan_runtime::plan::Template;
use plan_runtime::{Result, tool};
use proptest::prelude::*;

/// Returns the text.
#[tool(read_only)]
async fn echo(text: String) -> Result<String> {
    Ok(text)
}

const PLAN: &str = "[\n{\"id\": \"a\", \"tool\": \"echo\", \"arguments\": {\"text\": \"é\"}}]";

fn refused(bytes: &[u8]) -> Findings {
    let findings = Reader::new().read_slice(bytes).unwrap_err();
    assert_eq!(findings.len(), 1, "{findings}");
    assert_eq!(findings[0].code, Code::InvalidJson);
    findings
}

#[test]
fn bytes_that_are_not_text_have_their_place() {
    let mut bytes = PLAN.as_bytes().to_vec();
    let at = PLAN.find('é').unwrap();
    bytes[at + 1] = b'"';
    let findings = refused(&bytes);
    assert_eq!(
        findings.to_string(),
        format!(
            "error[invalid-json]: the document is not UTF-8: byte {at}, 0xc3, does not begin a character\n  \
             --> 2:{}\n   = help: save the document as UTF-8\n",
            at - 1
        )
    );
    assert_eq!(findings[0].label.span, at..at);
    assert_eq!(findings.text(), &PLAN[..at]);
    // An overlong form, a surrogate, and a byte that no UTF-8 has.
    for wrong in [&b"\xc0\xaf"[..], b"\xed\xa0\x80", b"\xf5", b"\x80"] {
        let bytes = [b"[\"", wrong, b"\"]"].concat();
        assert_eq!(refused(&bytes)[0].label.span, 2..2);
    }
    let cut = refused(&PLAN.as_bytes()[..at + 1]);
    assert_eq!(
        cut[0].message,
        format!("the document ends within the character at byte {at}")
    );
}

#[test]
fn other_encodings_are_named() {
    let units: Vec<u16> = PLAN.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let wide = |bytes: fn(u32) -> [u8; 4]| -> Vec<u8> {
        PLAN.chars().flat_map(|c| bytes(u32::from(c))).collect()
    };
    for (mark, bytes, name) in [
        (&b"\xff\xfe"[..], little, "UTF-16 (little-endian)"),
        (b"\xfe\xff", big, "UTF-16 (big-endian)"),
        (
            b"\xff\xfe\0\0",
            wide(u32::to_le_bytes),
            "UTF-32 (little-endian)",
        ),
        (
            b"\0\0\xfe\xff",
            wide(u32::to_be_bytes),
            "UTF-32 (big-endian)",
        ),
    ] {
        for bytes in [[mark, &bytes].concat(), bytes] {
            let expected = format!("the document is in {name}, and JSON is in UTF-8");
            assert_eq!(refused(&bytes)[0].message, expected);
        }
    }
}

#[test]
fn the_mark_of_utf_8_is_skipped_and_places_are_those_without_it() {
    let marked = format!("\u{feff}{PLAN}");
    let plain = Reader::new().read(PLAN).unwrap();
    let read = Reader::new().read(&marked).unwrap();
    assert_eq!(read.plan(), plain.plan());
    let read = Reader::new().read_slice(marked.as_bytes()).unwrap();
    assert_eq!(read.plan(), plain.plan());
    assert_eq!(read.text(), marked);
    let toolbox = Toolbox::<()>::new().with::<Echo>();
    let read = toolbox.read_slice(marked.as_bytes()).unwrap();
    assert_eq!(read.plan().steps.len(), 1);

    let wrong = r#"[{"id": "", "tool": "echo", "arguments": {}}]"#;
    let plain = Reader::new().read(wrong).unwrap_err();
    let marked = format!("\u{feff}{wrong}");
    let findings = Reader::new().read(&marked).unwrap_err();
    assert_eq!(findings.to_string(), plain.to_string());
    let at = findings[0].label.span.clone();
    assert_eq!(&marked[at], r#""""#);
    #[cfg(feature = "diagnostics")]
    assert_eq!(findings.render("plan.json"), plain.render("plan.json"));

    // There is one, and none in the middle.
    for text in ["\u{feff}\u{feff}[]", "[\u{feff}]"] {
        let findings = refused(text.as_bytes());
        assert!(
            findings[0].message.contains(r"found `\u{feff}`"),
            "{findings}"
        );
    }
}

#[test]
fn bytes_are_counted_before_they_are_looked_at() {
    let limits = DocumentLimits::DEFAULT.bytes(4);
    let reader = Reader::new().limits(limits);
    let findings = reader.read_slice(b"[\"a\xc3\xa9\xff\xff").unwrap_err();
    assert_eq!(findings[0].code, Code::LimitPassed);
    assert_eq!(findings.text(), "[\"a");
}

#[test]
fn signs_that_few_texts_have_are_read_as_they_are_or_refused() {
    let read = |string: &str| {
        let text = format!(
            r#"[{{"id": "a", "tool": "echo", "arguments": {{"text": {string}, "k\u2028\u0000": 1}}}}]"#
        );
        Reader::new().read_slice(text.as_bytes()).map(|document| {
            let Template::Object(entries) = &document.plan().steps[0].action().unwrap().args else {
                panic!("an object");
            };
            match &entries[0].value {
                Template::String(text) => text.to_string(),
                other => panic!("{other:?}"),
            }
        })
    };
    for (written, text) in [
        (r#""\u0000""#, "\0"),
        ("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"),
        (r#""\u2028""#, "\u{2028}"),
        (
            "\"\u{7f}\u{9f}\u{200b}\u{202e}\"",
            "\u{7f}\u{9f}\u{200b}\u{202e}",
        ),
        (r#""\ud83d\ude00""#, "😀"),
        (r#""\ufffe\uffff""#, "\u{fffe}\u{ffff}"),
    ] {
        assert_eq!(read(written).unwrap(), text);
    }
    for (written, message) in [
        (
            "\"\0\"",
            r"the document is not JSON: `\0` must be escaped in a string",
        ),
        (
            "\"\u{1b}\"",
            r"the document is not JSON: `\u{1b}` must be escaped in a string",
        ),
        (
            "\"\n\"",
            r"the document is not JSON: `\n` must be escaped in a string",
        ),
        (
            r#""\ud800""#,
            "the string contains half of a surrogate pair, which is not valid text",
        ),
        (
            r#""\ude00\ud83d""#,
            "the string contains half of a surrogate pair, which is not valid text",
        ),
        (
            r#""\u12""#,
            r"the document is not JSON: `\u12` is not an escape",
        ),
        (
            r#""\x41""#,
            r"the document is not JSON: `\x` is not an escape",
        ),
        (
            "\0",
            r"the document is not JSON: expected value, found `\0`",
        ),
        ("01", "the document is not JSON: `01` is not a number"),
        (".5", "the document is not JSON: expected value, found `.5`"),
        (
            "NaN",
            "the document is not JSON: expected value, found `NaN`",
        ),
        (
            "1 2",
            "the document is not JSON: expected `,` or `}`, found `2`",
        ),
    ] {
        let findings = read(written).unwrap_err();
        assert_eq!(findings[0].message, message);
        assert_eq!(findings[0].code, Code::InvalidJson);
    }
}

proptest! {
    /// Any bytes are read as the string that they encode, or refused at an existing position.
    #[test]
    fn bytes_are_read_as_text_or_refused(
        start in prop::sample::select(vec![&b""[..], b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"[", b"\0", b"[{\"id\": \""]),
        rest in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let bytes = [start, &rest].concat();
        let findings = Reader::new().read_slice(&bytes).map(drop);
        match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains('\0') => {
                prop_assert_eq!(findings, Reader::new().read(text).map(drop));
            }
            _ => {
                let findings = findings.unwrap_err();
                prop_assert!(findings.text().as_bytes() == &bytes[..findings.text().len()]);
                prop_assert!(findings[0].label.span.end <= bytes.len());
                prop_assert!(findings[0].label.line > 0 && findings[0].label.column > 0);
            }
        }
    }
}
